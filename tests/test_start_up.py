"""Start-up: what the command line must not import (law 7, and reference figures of speed)."""

import subprocess
import sys
from pathlib import Path

import pytest
from support import hosts, runs

HEAVY = ("sigstore", "in_toto", "git", "requests", "pydantic")
#: Needed by a registry, not by --help, --version or a wrong call.
FOR_REGISTRIES = ("tuf", "securesystemslib", "cryptography")


def imported(*arguments: str) -> set[str]:
    code = "import sys; from verifier.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", "-c", code, *arguments],
        capture_output=True,
        check=False,
        text=True,
    )
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert "verifier.cli.app" in names, done.stderr
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["verify", "helper", "--help"]])
def test_help_pays_for_no_registry(arguments: list[str]) -> None:
    assert not imported(*arguments) & {*HEAVY, *FOR_REGISTRIES}


def test_a_run_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "host.py").write_bytes(hosts.host("v6"))
    names = imported("verify", "helper", str(tmp_path / "host.py"))
    assert "tuf" in names
    assert not names & {*HEAVY, "urllib3", "asyncio", "logging.handlers", "tomli_w"}


def test_a_helper_pays_for_no_composition(tmp_path: Path) -> None:
    (tmp_path / "host.py").write_bytes(hosts.host("v6"))
    code = (
        "import sys; from verifier.cli import main; main(sys.argv[1:]);"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "verify", "helper", str(tmp_path / "host.py")],
        capture_output=True,
        check=False,
        text=True,
    )
    assert "verifier.checks.helper" in done.stderr
    # of compositions and images only the rows of the table of codes, which is one
    loaded = {line for line in done.stderr.split("\n") if "verifier.core.codes" not in line}
    assert not [name for name in loaded if "composition" in name or "image" in name]
    assert "verifier.sources.within" not in done.stderr
    assert "verifier.catalog.entries.runtime" not in done.stderr


def test_the_version_is_the_wheel_s(tmp_path: Path) -> None:
    from importlib.metadata import version

    assert (
        runs.run(["--version"], cwd=tmp_path).stdout == f"pinproof {version('pinproof')}\n".encode()
    )
