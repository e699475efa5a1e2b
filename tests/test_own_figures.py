"""The project's own figures: they follow from samples of a recorded commit, wherever quoted."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from support.own_benchmarks import Sample, receipts

from verifier.ask import verify_receipt
from verifier.ask.trusted import trust
from verifier.core.coverage import State
from verifier.core.outcome import Result
from verifier.core.verdict import Verdict

PROJECT: Final = Path(__file__).parents[1]
RECEIPTS: Final = sorted((PROJECT / "receipts").glob("*.json"))
PAGES: Final = (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")))
#: A figure of a receipt as pages quote it: `1.23 (cold.json, wallOverC2, at COMMIT)`.
QUOTED: Final = re.compile(r"([0-9.,]+) \(`([a-z]+)\.json`, `(\w+)`, at ([0-9a-f]{12})\)")


def verified(path: Path) -> Result:
    commit = json.loads(path.read_bytes())["subject"][0]["digest"]["gitCommit"]
    report = verify_receipt([str(path)], head=commit, trust=trust(policy="benchmark"))
    result = report.results[0]
    assert isinstance(result, Result)
    return result


@pytest.mark.parametrize("path", RECEIPTS, ids=lambda path: path.stem)
def test_every_receipt_verifies_at_its_commit(path: Path) -> None:
    result = verified(path)
    held = {each.facet: each.state for each in result.coverage}["figures"] is State.HELD
    assert result.verdict is (Verdict.VERIFIED if held else Verdict.UNDECIDED), result.findings
    assert result.study is not None
    assert {figure.state for figure in result.study.figures} == {"recomputed"}
    assert {rule.id: rule.answer for rule in result.study.rules}["B1"] == "holds"
    predicate = json.loads(path.read_bytes())["predicate"]
    assert predicate["runtime"]["dirtyTree"] is False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_quote_what_a_receipt_says(page: Path) -> None:
    for value, name, figure, commit in QUOTED.findall(page.read_text()):
        document = json.loads((PROJECT / "receipts" / f"{name}.json").read_bytes())
        assert document["subject"][0]["digest"]["gitCommit"].startswith(commit)
        figures = {each["id"]: each["value"] for each in document["predicate"]["derived"]}
        assert figures[figure] == value.replace(",", "")


def made(folder: Path, *, floor: int = 0) -> tuple[Path, Any]:
    samples = {
        name: [Sample(0, start + 7 * number, 0.25, 30_000_000 + number) for number in range(4)]
        for name, start in (("pinproof", 200_000_001), ("peer", 90_000_000))
    }
    path = receipts.write(
        folder,
        "cold",
        samples,
        version="1",
        hardware="made up",
        began=datetime(2026, 11, 29, tzinfo=UTC),
        load="none",
        floor=floor,
    )
    return path, json.loads(path.read_bytes())


def test_a_section_becomes_a_receipt_whose_figures_are_recomputed(tmp_path: Path) -> None:
    path, document = made(tmp_path)
    result = verified(path)
    assert result.study is not None
    values = {figure.id: (figure.value, figure.state) for figure in result.study.figures}
    assert values["wallC1"] == ("200000011.5", "recomputed")
    assert values["wallOverC2"] == ("2.22", "recomputed")
    assert values["peakOverC2"] == ("1.00", "recomputed")
    assert values["cpuC1"] == ("0.2500000", "recomputed")
    assert values["cpuOverC2"] == ("1.00", "recomputed")
    again, _ = made(tmp_path)
    assert again == path
    assert "supersedes" in json.loads(path.read_bytes())["predicate"]
    assert "supersedes" not in document["predicate"]


def test_a_changed_sample_is_seen(tmp_path: Path) -> None:
    path, document = made(tmp_path)
    document["predicate"]["samples"][1]["values"]["wall"] += 1_000
    path.write_text(json.dumps(document))
    result = verified(path)
    assert result.study is not None
    states = {figure.id: figure.state for figure in result.study.figures}
    assert states["wallC1"] == "inconsistent"
    assert states["peakC1"] == "recomputed"


def test_a_peak_that_is_not_known_is_null_and_no_figure(tmp_path: Path) -> None:
    path, document = made(tmp_path, floor=30_000_001)
    assert [row["values"]["peak"] for row in document["predicate"]["samples"][:3]] == [
        None,
        None,
        30_000_002,
    ]
    result = verified(path)
    assert result.study is not None
    known = ("wall", "cpu")
    names = {f"{what}{of}" for what in known for of in ("C1", "C2", "OverC2")}
    assert {figure.id for figure in result.study.figures} == names
