"""A valid study and one thing of it changed: the rule that names it finds it, through the files.

Each row changes a single digit, sample, arm, failure, time or identity, and nothing that would
follow from it; `support.written_receipts` proves that something changed. All facets but a signature
are demanded, and the gate file is proven to have stood first.
"""

from pathlib import Path
from typing import Any, Final

import pytest
from support import receipts, written_receipts

from verifier.ask import trust, verify_receipt
from verifier.ask.receipt_signed import GatesBundle
from verifier.core.outcome import Result
from verifier.core.verdict import Verdict

OTHER: Final = receipts.digest("another")
COMMIT: Final = {"gitCommit": f"{receipts.COMMIT[:-1]}b"}


def judged(folder: Path, recipe: dict[str, Any]) -> Result:
    """Write a study, and judge it with all that stands beside it."""
    signed = {"gates_bundle": {"at": "2026-11-19T11:00:05Z"}}
    written_receipts.make(folder / "study.json", {**signed, **recipe})
    report = verify_receipt(
        [str(folder / "study.json")],
        head=receipts.COMMIT,
        evidence=str(folder / "evidence"),
        gates=str(folder / "gates.json"),
        gates_bundle=GatesBundle(
            path=str(folder / "gates.bundle"),
            key=str(folder / "gates.pem"),
            signer=None,
            trusted_root=str(folder / "root.json"),
        ),
        trust=trust(policy=str(folder / "proving.toml")),
    )
    result = report.results[0]
    assert isinstance(result, Result), result
    return result


def change(**paths: Any) -> dict[str, Any]:
    return {"change": {path.replace("__", "."): value for path, value in paths.items()}}


DIGITS: Final = [
    (change(derived__0__value="3012501"), "D1"),
    (change(derived__0__value="3012501"), "D3"),
    (change(derived__2__value="-25.12"), "D4"),
    (change(derived__3__value="2.5"), "D5"),
    (change(samples__4__timingUs__ttft=3_004_003), "D3"),
    (change(samples__4__usage__completionTokens=121), "K12"),
    (change(samples__4__usage__promptTokens=8_195), "K3"),
    (change(samples__4__counterDeltas__localCompute=8_195), "K9"),
    (change(samples__4__counterDeltas__requestSuccess=2), "K2"),
    (change(samples__4__counterDeltas__acceptedTokens=71), "K4"),
    (change(samples__4__counterDeltas__draftTokens=199), "K5"),
    (change(samples__4__counterDeltas__drafts=70), "K6"),
    (change(sampleCount=41), "E12"),
    (change(totals__core=33), "E1"),
    (change(outcomes__0__observed="-25.12"), "G2"),
    (change(outcomes__1__rows={"passed": 39, "of": 40}), "G10"),
]
SAMPLES: Final = [
    ({"drop": ["samples.4"]}, "E4"),
    ({"drop": ["samples.4"]}, "E12"),
    ({"copy": [["samples.4", "samples.40"]]}, "E1"),
    (change(samples__4__arm="A1"), "K7"),
    (change(samples__4__membership="exploratory"), "E1"),
    (change(samples__0__membership="core"), "E7"),
    (change(samples__4__case="long"), "A9"),
    (change(samples__4__cap=121), "A10"),
    ({"files": {"response-short-4.bin": "response short 5"}}, "E8"),
    (change(samples__4__checks=[]), "X1"),
]
ARMS: Final = [
    ({"drop": ["arms.2"]}, "A2"),
    ({"drop": ["arms.0"]}, "A1"),
    (change(arms__2__role="candidate"), "A3"),
    (change(arms__1__settings__FINE="1"), "B17"),
    (change(arms__1__plannedSettings__FINE="1"), "B17"),
    (change(arms__0__state="invalid", arms__0__reason="a rank fell"), "E5"),
    (change(design__order=["B1", "A2", "A1", "B2"]), "A3"),
    (change(arms__1__bootId=receipts.digest("boot B1")), "A4"),
]
FAILURES: Final = [
    (change(samples__4__status="failed"), "E4"),
    (change(samples__4__status="truncated"), "G7"),
    (change(samples__4__status="cancelled"), "G8"),
    (change(samples__4__attempt=2), "E6"),
    (change(samples__4__httpStatus=500), "G8"),
    (change(arms__0__counts__failed=1), "E4"),
    (change(arms__0__restarts=1), "K13"),
    (change(arms__0__oomKills=1), "K13"),
    (change(arms__0__captures__0__state="incomplete"), "E5"),
    (change(arms__0__captures__0__attempt=2), "E6"),
    (change(outcomes__0__state="FAIL"), "G4"),
    (change(outcomes__0__state="WAIVED"), "G11"),
]
TIMES: Final = [
    (change(arms__1__startedAt="2026-11-20T08:39:59Z"), "A5"),
    (change(arms__1__finishedAt="2026-11-20T09:09:59Z"), "A5"),
    (change(arms__1__processStartedAt="2026-11-20T07:00:00Z"), "A4"),
    (change(gates__declaredAt="2026-11-20T08:10:01Z"), "G1"),
    (change(gates__declaredAt="2026-11-20T08:10:01Z"), "T1"),
    (change(plannedAt="2026-11-20T08:10:01Z"), "T1"),
    (change(verdictAt="2026-11-20T11:39:59Z"), "T1"),
    (change(publishedAt="2026-11-20T12:59:59Z"), "T1"),
    (change(design__budgetUs=1_799_999_999), "T2"),
]
IDENTITIES: Final = [
    (change(claimHead=COMMIT), "B1"),
    (change(subject__source=COMMIT), "B1"),
    (change(subject__image=OTHER), "B5"),
    (change(runtime__images__1__id=OTHER), "B5"),
    (change(runtime__loadedFiles__1__loaded=OTHER), "B6"),
    (change(models__0__revision={"gitCommit": receipts.COMMIT[:12]}), "B3"),
    (change(models__0__revision={"gitCommit": receipts.COMMIT[:12]}), "B7"),
    (change(arms__1__collector=OTHER), "B8"),
    (change(workloads__0__source=OTHER), "B10"),
    ({"files": {"workload.json": "workloae"}}, "B10"),
    (change(arms__1__workload=OTHER), "B11"),
    (change(baseCommit=COMMIT), "B14"),
    ({"files": {"capture.tar": "Capture"}}, "B16"),
    (change(evidence__0__digest=OTHER), "B16"),
    (change(approvedHead=COMMIT), "G14"),
    (change(gates__judged=OTHER), "G2"),
    (change(samples__4__epoch=OTHER), "K7"),
    (change(arms__0__containerAfter=OTHER), "K13"),
]


def test_the_study_is_valid(tmp_path: Path) -> None:
    result = judged(tmp_path, {})
    assert result.verdict is Verdict.VERIFIED
    assert result.study is not None
    assert [rule.id for rule in result.study.rules if rule.answer == "broken"] == ["B9"]


@pytest.mark.parametrize(
    ("recipe", "rule"), [*DIGITS, *SAMPLES, *ARMS, *FAILURES, *TIMES, *IDENTITIES]
)
def test_one_change_is_found_by_the_rule_that_names_it(
    recipe: dict[str, Any], rule: str, tmp_path: Path
) -> None:
    result = judged(tmp_path, recipe)
    assert result.verdict is not Verdict.VERIFIED
    assert result.study is not None
    answers = {each.id: each.answer for each in result.study.rules}
    assert answers[rule] == "broken"
