"""Everything that the documents show runs, and every link leads somewhere."""

import doctest
import functools
import hashlib
import importlib
import re
from pathlib import Path
from typing import Final

import pytest
from support import runs

from verifier.core.codes import CODES

PROJECT: Final = Path(__file__).parents[1]
_GROUPS: Final = (
    "verify",
    "check",
    "sign",
    "diff",
    "pin",
    "new",
    "rotate",
    "update",
    "scan",
    "import",
    "audit",
)
PAGES: Final = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(PROJECT)))
def test_examples_in_pages_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert failed == 0


@pytest.mark.parametrize("name", ["verifier", "verifier.ask", "verifier.core.digest"])
def test_examples_in_docstrings_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(PROJECT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


@functools.cache  # a verb is shown on hundreds of pages, and helps with the same words each time
def helped(*verb: str) -> runs.Ran:
    return runs.run([*verb, "--help"], cwd=PROJECT)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(PROJECT)))
def test_commands_in_pages_exist(page: Path) -> None:
    """Every `pinproof VERB …` that a page shows is a verb with such options."""
    text = page.read_text()
    blocks = re.findall(
        r"^ *```[a-z]*\n(.*?)^ *```$|`(pinproof [^`\n]+)`", text, re.MULTILINE | re.DOTALL
    )
    shown = "\n".join(part for block in blocks for part in block)
    for line in re.findall(r"^\s*(?:\$ )?pinproof ([a-z][^\n`]*)$", shown, re.MULTILINE):
        words = line.replace("\\|", " ").split()
        grouped = words[0] in _GROUPS or words[:2] in (["list", "tree"], ["list", "history"])
        verb = words[:2] if grouped else words[:1]
        ran = helped(*verb)
        assert ran.exit == 0, line
        for option in re.findall(r"--[a-z-]+", line):
            assert option.encode() in ran.stdout, f"{option}: {line}"


def test_readme_leads_with_the_two_commands() -> None:
    readme = (PROJECT / "README.md").read_text()
    assert readme.index("make demo") < readme.index("make test") < 2500


def test_what_the_table_of_checks_names_exists() -> None:
    page = (PROJECT / "docs" / "compositions.md").read_text()
    rows = [line for line in page.splitlines() if re.match(r"\| \d", line)]
    assert {"1", "24", "13-15"} <= {row.split("|")[1].strip() for row in rows}
    for row in rows:
        _, _, _, here, shown, _ = row.split("|")
        for code in re.findall("`([a-z]+-[a-z-]+)`", here):
            assert code in CODES, code
        for name in re.findall("`([a-z0-9_]+)`", shown):
            found = (PROJECT / "tests" / "cases" / "composition" / name).is_dir()
            sources = (PROJECT / "tests" / "unit").rglob("test_*.py")
            assert found or any(f"def {name}(" in p.read_text() or p.stem == name for p in sources)


def test_the_first_receipt_of_the_page_can_be_followed(tmp_path: Path) -> None:
    text = (PROJECT / "docs/receipts.md").read_text()
    name, given = re.findall(r"^```json (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
    (tmp_path / name).write_text(given)
    command, shown = re.findall(
        r"^\$ pinproof (import [^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )[0]
    ran = runs.run(command.split(), cwd=tmp_path)
    fingerprint = hashlib.sha256(given.encode()).hexdigest()
    assert (ran.exit, ran.stdout.decode()) == (0, shown.replace("FINGERPRINT", fingerprint))
    verified = runs.run(["verify", "receipt", "receipt.json"], cwd=tmp_path)
    assert verified.exit == 3
    assert b"1 recomputed" in verified.stdout
    again = runs.run(command.split(), cwd=tmp_path)
    assert again.exit == 4
    made = runs.run(["new", "receipt", "command-timing", "--to", "new.json"], cwd=tmp_path)
    assert made.exit == 0
    gaps = runs.run(["verify", "receipt", "new.json"], cwd=tmp_path)
    assert gaps.exit == 4
    assert b"receiptId: is empty" in gaps.stdout
