"""Every folder below tests/cases is a case: a command, its exit code, and all that it prints.

case.toml: `command`; `time` (the run's clock); `exit`; `codes` (of all findings); optional
`[mutate]` tables (support.hosts) that build inputs, by file name; `[tree]` tables
(support.compositions) that build trees and `[image]` tables (support.images) that build images, by
the name of the source; `[bundle]` tables (support.bundle_faults) that build bundles, by folder;
`[signed]` tables (support.statements) that write keys and envelopes, `[chain]` (support.chains) and
`[signed_repo]` ones (support.signed_commits) that build folders of evidence; `[receipt]` tables
(support.written_receipts) that write studies, `[release]` ones (support.written_releases) that
write downloads, a `[proposal]` (support.heads) that builds a repository with a pull request;
`[producer]`, `[recipe]` and `[project]` (support.pinning) that build what is pinned from; an
`[entry]` table (support.proofs) that builds what a proof reads; `stdin` (a file of the case);
`surfaces` (true: all renderings for a CI are compared too); `registry` ("embedded", "base" for that
of a proposal, or "none" for a call without one). The outcome is in the folder's name, and the exit
code must agree. After a change on purpose, `pytest tests/test_cases.py --accept` writes what is
printed now; review the difference like code.
"""

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from support import (
    bundle_faults,
    chains,
    compositions,
    heads,
    hosts,
    images,
    pinning,
    proofs,
    runs,
    signed_commits,
    statements,
    written_receipts,
    written_releases,
)
from support import registry as registries

CASES: Final = sorted(path.parent for path in (Path(__file__).parent / "cases").rglob("case.toml"))
#: What builds the inputs of a table of case.toml, by the table's name.
BUILDERS: Final[dict[str, Callable[[Path, Any], object]]] = {
    "image": images.make,
    "tree": compositions.make,
    "bundle": bundle_faults.put,
    "signed": statements.make,
    "chain": chains.make,
    "signed_repo": signed_commits.make,
    "receipt": written_receipts.make,
    "release": written_releases.make,
    "proposal": heads.make,
    "producer": pinning.producer,
    "recipe": pinning.recipe,
    "project": pinning.project,
    "lying": pinning.lying,
}
#: What each rendering of a report is kept as.
FILES: Final = {
    "text": "expected.txt",
    "json": "expected.json",
    "sarif": "expected.sarif",
    "junit": "expected.xml",
    "markdown": "expected.md",
    "github": "expected.log",
}
OUTCOMES: Final = {
    "verified": {0},
    "known": {0},
    "rejected": {1},
    "undecided": {3},
    "unknown": {3},
    "error": {2, 4},
}

#: Verbs that judge nothing, and so take no registry; but for those of `REPORTING` no format.
NO_TRUST: Final = (*([verb] for verb in ("explain", "pin", "new", "sign", "rotate", "update")), [])
REPORTING: Final = (["pin", "helper"], ["list", "history"], ["diff", "registry"])


def names(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


@pytest.mark.parametrize("folder", CASES, ids=names)
def test_case(
    folder: Path,
    tmp_path: Path,
    test_registry: registries.Registry,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    case = tomllib.loads((folder / "case.toml").read_text())
    outcome = folder.name.rpartition("_")[2]
    assert case["exit"] in OUTCOMES.get(outcome, ()), (
        f"the name ends in {outcome}, exit {case['exit']}"
    )
    inputs = prepare(folder, case, tmp_path / "inputs")
    registry = test_registry
    if "entry" in case:
        registry = proofs.make(inputs, case, tmp_path / "registry")
    if "signed" in case:
        registry = statements.registry(tmp_path / "registry")
    if "audited" in case:
        registry = pinning.registry(tmp_path / "registry", case["audited"])
    if "release" in case:
        facts = case.get("release_entry", {})
        registry = written_releases.registry(tmp_path / "registry", facts)
    before = runs.content(inputs)
    without = case["command"][:1] in NO_TRUST or case["command"][:2] in REPORTING
    embedded = "registry" in case or without
    trust = [] if embedded else runs.trusting(registry)
    forms = list(FILES) if case.get("surfaces") else ["text", "json"]
    for form in forms:
        reporting = case["command"][:1] not in NO_TRUST or case["command"][:2] in REPORTING
        if form != "text" and not reporting:
            continue
        command = heads.filled(case["command"], case)
        arguments = [*command, *(["--format", form] if form != "text" else [])]
        stdin = (inputs / case["stdin"]).read_bytes() if "stdin" in case else b""
        ran = runs.run([*arguments, *trust], cwd=inputs, clock=case["time"], stdin=stdin)
        assert ran.exit == case["exit"], ran
        assert b"Traceback" not in ran.stdout + ran.stderr
        if form == "text" and not ran.stdout:
            assert error_codes(ran.stderr) == set(case["codes"])
        printed = runs.neutral(ran.stdout + ran.stderr)
        if form == "json" and b'"results"' in ran.stdout:
            document = json.loads(ran.stdout)
            assert codes(document.get("report", document)) == set(case["codes"])
        expected = folder / FILES[form]
        if request.config.getoption("--accept"):
            expected.write_bytes(printed)
        assert expected.exists(), (
            f"no {expected.name}: run with --accept, and review what it writes"
        )
        assert printed == expected.read_bytes()
    assert runs.content(inputs) == before, "looking changed something"
    assert not (tmp_path / "state").exists(), "something was kept"


def prepare(folder: Path, case: dict[str, Any], inputs: Path) -> Path:
    """Put the case's stored and built inputs into a folder of their own."""
    shutil.copytree(
        folder, inputs, symlinks=True, ignore=shutil.ignore_patterns("case.toml", "expected.*")
    )
    for name, changes in case.get("mutate", {}).items():
        path = inputs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(hosts.mutated(changes))
    for kind, make in BUILDERS.items():
        for name, recipe in case.get(kind, {}).items():
            make(inputs / name, recipe)
    return inputs


def codes(report: dict[str, Any]) -> set[str]:
    results = report.get("results", [])
    found = {finding["code"] for result in results for finding in result.get("findings", [])}
    return found | {result["error"]["code"] for result in results if "error" in result}


def error_codes(stderr: bytes) -> set[str]:
    """Read the code from the second line of an error; what else is printed has none."""
    first, _, rest = stderr.decode().partition("\n")
    second = next((line for line in rest.split("\n") if re.match(r" {11}[a-z-]+: ", line)), "")
    return {second.split(":")[0].strip()} if first.startswith("error ") else set()


def test_cases_refuse_more_often_than_they_pass() -> None:
    outcomes = [case.name.rpartition("_")[2] for case in CASES]
    refusals = sum(outcome not in ("verified", "known") for outcome in outcomes)
    assert refusals > 2 * (len(outcomes) - refusals)
