"""The arithmetic of the field's threads, as receipts: a test for each row of one table.

The rows are those of receipts.md, "Seeds as receipts"; S0, S2, S3 and S4 are seeds/000, 002, 003
and 004. Numbers, commits and digests are those that were published there; what the threads do not
say is as in the sound receipt. "Holds" is a tick in that table.
"""

from decimal import Decimal
from typing import Any, Final

import pytest
from support import receipts
from support.receipts import Json, beside_but, claim, digest

from verifier.checks.receipt.answer import Broken
from verifier.checks.receipt.rules import RULES

S0_MEASURED: Final = "18daea462848947dbd8999e121ca8ae9f7c56dcf"
S0_HEAD: Final = "4ee3f3d04fb7a61961af36ecb177a848d6e9ddff"
S2_VALIDATED: Final = "14b6a9f6" + "0" * 32  # the thread shortens it
S2_RUNTIME: Final = "f906ee990596486e10ddbe381efa6f0e496f77e3"
S2_HEAD: Final = "4ffef088edb18797ba2763a84e38fd520d39a0f7"

#: Answers that are no consequence.
HOLDS: Final = "holds"


def said(rule: str, document: Json, **beside: Any) -> str:
    """Return what one rule makes of a receipt: its consequence, "holds" or "uncheckable"."""
    asked = next(each for each in RULES if each.id == rule)
    answer = asked.answer(receipts.opened(document, beside_but(**beside)))
    if isinstance(answer, Broken):
        return str(asked.consequences[answer.condition])
    return type(answer).__name__.lower()


def lost(rule: str, document: Json) -> set[str]:
    """Return the claims that one rule takes away."""
    answer = receipts.answer(rule, document)
    assert isinstance(answer, Broken), answer
    return set(answer.claims)


def row(arm: str, case: str, number: int, *, membership: str = "core", **more: Any) -> Json:
    """Return one completed request."""
    made = {**receipts.samples()[1], "arm": arm, "case": case, "membership": membership}
    return {**made, "repetition": number, "epoch": digest(f"boot {arm}"), **more}


def figure(name: str, formula: str, value: str, unit: str, **more: Any) -> Json:
    return {"id": name, "formula": formula, "value": value, "unit": unit, **more}


def of(quantity: str, *arms: str, case: str, membership: str = "core") -> Json:
    return {"quantity": quantity, "arms": list(arms), "cases": [case], "membership": membership}


def shown(value: str) -> Json:
    return {"value": value}


def study_of_66() -> list[Json]:
    """Return 15 requests in each of four boots, 3 cold and 12 warm, and six more outside."""
    kinds = [("cold", 3), ("warm", 12)]
    core = [
        row(arm, case, number)
        for arm in ("B1", "A1", "A2", "B2")
        for case, most in kinds
        for number in range(most)
    ]
    more = [
        row(arm, case, 0, membership="exploratory")
        for arm in ("A1", "A2", "B2")
        for case in ("fill", "continuation")
    ]
    return [*core, *more]


def test_s0_sixty_requests_and_six_more() -> None:
    counts = [
        figure(
            "off", "count", "24", "count", operands={"of": of("settle", "A1", "A2", case="warm")}
        ),
        figure(
            "on", "count", "24", "count", operands={"of": of("settle", "B1", "B2", case="warm")}
        ),
    ]
    told = {"samples": study_of_66(), "totals": {"core": 60, "exploratory": 6}, "sampleCount": 66}
    document = receipts.made(**told, derived=counts)
    assert [said(rule, document) for rule in ("E1", "E12", "D1")] == [HOLDS] * 3
    document = receipts.made(**told, derived=[counts[0], {**counts[1], "value": "25"}])
    assert said("D1", document) == "inconsistent"
    for totals in ({"core": 59, "exploratory": 6}, {"core": 66}):
        assert said("E1", receipts.made(**{**told, "totals": totals}, derived=[])) == "inconsistent"


@pytest.mark.parametrize(("value", "expected"), [("43.426", HOLDS), ("43.427", "inconsistent")])
def test_s0_hit_fraction_of_both_settings(value: str, expected: str) -> None:
    counted = receipts.samples()[1]["counterDeltas"]
    hits = {**counted, "prefixHits": 7_168, "prefixQueries": 16_506}
    rest = {**counted, "prefixHits": 7_168, "prefixQueries": 16_508}
    rows = [
        row(arm, "warm", number, counterDeltas=rest if number < 2 else hits)
        for arm in ("A1", "B1")
        for number in range(16)
    ]
    fractions = [
        figure(
            arm,
            "fraction",
            value,
            "%",
            operands={
                "part": of("prefixHits", arm, case="warm"),
                "whole": of("prefixQueries", arm, case="warm"),
            },
        )
        for arm in ("A1", "B1")
    ]
    for arm in ("A1", "B1"):  # 114,688 of 264,100 in each
        own = [each["counterDeltas"] for each in rows if each["arm"] == arm]
        assert sum(each["prefixHits"] for each in own) == 114_688
        assert sum(each["prefixQueries"] for each in own) == 264_100
    assert said("D1", receipts.made(samples=rows, derived=fractions)) == expected


@pytest.mark.parametrize(
    ("hits", "grid", "expected"),
    [
        (7_168, 3_584, HOLDS),
        (11_904, 64, HOLDS),
        (11_904, 3_584, "limits"),
        (11_904 - 7_168, 64, HOLDS),  # 4,736 more
        (15_493 - 7_168, 64, "limits"),  # 8,325 computed anew is no hit
        (15_493 - 11_904, 64, "limits"),  # nor is 3,589
    ],
)
def test_s0_hits_on_their_grid(hits: int, grid: int, expected: str) -> None:
    counted = {**receipts.samples()[1]["counterDeltas"], "prefixHits": hits}
    hit = figure(
        "hits", "sum", str(hits), "count", operands={"of": of("prefixHits", "B2", case="c")}
    )
    document = receipts.made(
        samples=[row("B2", "c", 0, counterDeltas=counted)],
        derived=[hit],
        claims=[claim("it", "cacheHit", grid=grid, figures=["hits"])],
    )
    assert said("K10", document) == expected


@pytest.mark.parametrize(
    ("value", "d1", "d4"),
    [
        ("-54.6", HOLDS, HOLDS),
        ("-54.58", HOLDS, HOLDS),
        ("-54.7", "inconsistent", "inconsistent"),
        ("-120.2", "inconsistent", "inconsistent"),  # by the candidate
    ],
)
def test_s0_continuation_against_the_mean_of_its_controls(value: str, d1: str, d4: str) -> None:
    times = {"A1": 6_100_000, "A2": 6_097_000, "B2": 2_770_000}
    timing = receipts.samples()[1]["timingUs"]
    rows = [
        row(arm, "c", 0, membership="exploratory", timingUs={**timing, "ttft": ttft})
        for arm, ttft in times.items()
    ]
    on, off = (
        of("ttft", *arms, case="c", membership="exploratory") for arms in (["B2"], ["A1", "A2"])
    )
    figures = [
        figure("off", "mean", "6098500", "us", operands={"of": off}, better="lower"),
        figure("on", "value", "2770000", "us", operands={"of": on}, better="lower"),
        figure(
            "less",
            "change",
            value,
            "%",
            operands={"candidate": {"figure": "on"}, "baseline": {"figure": "off"}},
            better="lower",
        ),
    ]
    document = receipts.made(
        samples=rows, derived=figures, claims=[claim("it", "measured", figures=["less"])]
    )
    assert (said("D1", document), said("D4", document)) == (d1, d4)


def test_s0_acceptance_has_no_direction() -> None:
    pairs = [
        figure(
            name,
            "difference",
            str(Decimal(on) - Decimal(off)),
            "tokens/step",
            operands={"candidate": shown(on), "baseline": shown(off)},
            better="higher",
        )
        for name, on, off in (("first", "6.188", "6.100"), ("second", "6.130", "6.156"))
    ]
    assert [each["value"] for each in pairs] == ["0.088", "-0.026"]
    document = receipts.made(
        derived=pairs,
        outcomes=[],
        claims=[claim("accepted", "improvement", figures=["first", "second"])],
    )
    assert said("N2", document) == "limits"
    assert lost("N2", document) == {"accepted"}


_EXTRA: Final = {
    "runtime.loadedFiles.*.loaded": digest("coordinator with one more import"),
    "claims": [claim("hits", "cacheHit"), claim("head", "isolatedHead")],
}
_DISCLOSED: Final = [
    {
        "what": "the coordinator has one more import; the patcher's sources differ in B1",
        "affects": ["B6", "E14", "vllm/v1/core/sched/scheduler.py"],
    }
]


def test_s0_extra_import_is_a_disclosed_deviation() -> None:
    document = receipts.spoilt({**_EXTRA, "deviations": _DISCLOSED})
    assert (said("B6", document), said("E14", document)) == ("limits", HOLDS)
    assert lost("B6", document) == {"head"}


def test_s0_extra_import_that_nobody_discloses_is_none() -> None:
    document = receipts.spoilt(_EXTRA)
    assert said("B6", document) == "invalid"
    assert said("E14", document) != HOLDS


def test_s0_measured_at_an_earlier_commit_is_stale() -> None:
    measured = {"subject.source": {"digest": {"gitCommit": S0_MEASURED}}}
    own = receipts.spoilt({**measured, "claimHead": {"gitCommit": S0_MEASURED}})
    assert said("B1", own, head=S0_MEASURED) == HOLDS
    assert said("B1", own, head=S0_HEAD) == "stale"
    moved = receipts.spoilt({**measured, "claimHead": {"gitCommit": S0_HEAD}})
    assert (said("B1", moved, head=None), said("B2", moved, head=None)) == ("stale", "stale")


@pytest.mark.parametrize("measured", [S2_VALIDATED, S2_RUNTIME])
def test_s2_runtime_of_another_commit_leaves_source_checks_only(measured: str) -> None:
    document = receipts.spoilt(
        {
            "subject.source": {"digest": {"gitCommit": measured}},
            "claimHead": {"gitCommit": S2_HEAD},
        }
    )
    assert said("B1", document, head=S2_HEAD) == "stale"


def test_s2_invalid_baselines_leave_the_candidate_unscored() -> None:
    broken = {"samples.12.status": "truncated"} | {
        f"samples.{number}.status": "timedOut" for number in (13, 14)
    }
    baselines = {
        f"arms.{n}.{key}": value
        for n in (1, 2)
        for key, value in (("state", "invalid"), ("reason", "broken streams"))
    }
    document = receipts.spoilt({**broken, **baselines})
    assert (said("A13", document), said("G7", document)) == ("invalid", HOLDS)
    unmarked = receipts.spoilt(broken)
    assert said("G7", unmarked) == "invalid"


def test_s2_404_in_the_warm_up_measured_nothing() -> None:
    failed = {**receipts.samples()[0], "status": "failed", "httpStatus": 404}
    document = receipts.made(samples=[failed], derived=[])
    assert said("G9", document) == "incomplete"


_CHANGES: Final = [
    *(("51.18", "2947.3", "1949.6"), ("24.14", "2928.3", "2358.9"), ("11.82", "2923.5", "2614.5")),
    *(("15.9", "3406.0", "2938.8"), ("14.4", "3334.7", "2914.1"), ("14.9", "3326.6", "2895.5")),
    *(("-14.8", "4.83", "5.67"), ("-20.6", "2.71", "3.41"), ("-11.8", "5.31", "6.02")),
]


def displayed(formula: str, value: str, unit: str, **numbers: str) -> Json:
    operands = {name: shown(number) for name, number in numbers.items()}
    return receipts.made(derived=[figure("it", formula, value, unit, operands=operands)])


@pytest.mark.parametrize(("value", "candidate", "baseline"), _CHANGES)
def test_s3_changes_are_within_their_rounding(value: str, candidate: str, baseline: str) -> None:
    document = displayed("change", value, "%", candidate=candidate, baseline=baseline)
    assert said("D2", document) == HOLDS
    swapped = displayed("change", value, "%", candidate=baseline, baseline=candidate)
    assert said("D2", swapped) == "inconsistent"


_CELLS: Final = [
    *(("17.86", "49.17", "2.75"), ("17.91", "47.37", "2.65")),
    *(("17.86", "48.46", "2.71"), ("17.89", "46.29", "2.59")),
    *(("17.82", "46.18", "2.59"), ("17.73", "45.92", "2.59")),
    *(("17.62", "47.31", "2.68"), ("17.57", "47.11", "2.68")),
    *(("43.70", "122.19", "2.80"), ("44.54", "120.18", "2.70")),
    *(("44.99", "121.17", "2.69"), ("42.99", "119.37", "2.78")),
    *(("44.34", "123.44", "2.78"), ("45.64", "125.20", "2.74")),
    *(("45.84", "123.90", "2.70"), ("45.00", "124.25", "2.76")),
]


@pytest.mark.parametrize(("value", "rate", "length"), _CELLS)
def test_s3_sixteen_cells_of_normalised_decode(value: str, rate: str, length: str) -> None:
    document = displayed("normalisedDecode", value, "steps/s", rate=rate, acceptanceLength=length)
    assert said("D8", document) == HOLDS
    another = str(Decimal(value) + 1)
    document = displayed("normalisedDecode", another, "steps/s", rate=rate, acceptanceLength=length)
    assert said("D8", document) == "inconsistent"


@pytest.mark.parametrize(
    ("on", "off", "expected"),
    [
        ("0.127015", "0.000000", "fail"),  # DCP2, cached against cold
        ("-0.056797", "0.043350", HOLDS),  # 0.100147 <= 0.100867
        ("0.018938", "0.000000", HOLDS),
    ],
)
def test_s3_one_gate_of_tolerance_fails_and_the_others_pass(
    on: str, off: str, expected: str
) -> None:
    margin = figure(
        "logprob",
        "toleranceMargin",
        "0.000000",
        "nat",
        operands={"on": shown(on), "off": shown(off)},
        parameters={"absolute": "0.1", "relative": "0.02"},
    )
    document = receipts.made(derived=[{**margin, "value": None}], outcomes=[], claims=[])
    assert said("G3", document) == expected


def _both_flags(kind: str, **more: Any) -> Json:
    """Return the run in which coalescing and sharding were on together."""
    on, off = ({"COALESCING": flag, "SHARDING": flag} for flag in "10")
    settings = {f"arms.{n}.settings": each for n, each in enumerate((on, off, off, on))}
    return receipts.spoilt(
        {**settings, "claims": [claim("one", kind, arms=["B1", "A1", "A2", "B2"], **more)]}
    )


def test_s3_two_flags_at_once_attribute_nothing_to_one() -> None:
    assert lost("A7", _both_flags("attribution", feature="COALESCING")) == {"one"}
    assert said("A7", _both_flags("attribution", feature="COALESCING")) == "limits"


def test_s3_no_cell_has_one_flag_alone() -> None:
    assert said("A8", _both_flags("interaction")) == "limits"


def _suite(**changes: Any) -> Json:
    skipped = [{"test": f"test_gpu_{number}", "reason": "needs a GPU"} for number in range(9)]
    tests = {"run": 1008, "passed": 998, "failed": 1, "errors": 0, "skipped": skipped}
    return receipts.made(kind="cpu-suite", tests={**tests, **changes})


def test_s4_one_failure_is_disclosed_and_no_pass() -> None:
    assert said("E11", _suite(disclosedFailures=["test_elsewhere"])) == HOLDS
    assert said("E11", _suite(passed=999, disclosedFailures=["test_elsewhere"])) == "inconsistent"
    assert said("E11", _suite(failed=0)) == "inconsistent"


def test_s4_shortened_digests_bind_nothing() -> None:
    document = receipts.spoilt(
        {
            "runtime.loadedFiles.0.recorded": {"sha256": "ee03dc9c…"},
            "runtime.loadedFiles.0.loaded": {"sha256": "c5b83d38…"},
        }
    )
    assert said("B3", document) == "uncheckable"
