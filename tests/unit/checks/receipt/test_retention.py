"""Rules E, one change of the sound study at a time."""

from dataclasses import replace
from typing import Final

import pytest
from support import receipt_steps, receipts
from support.receipt_steps import Step
from support.receipts import Json

from verifier.checks.receipt.answer import Broken
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.rules.retention import RULES
from verifier.core.digest import Pin

#: One core sample, and the one that is tried again in its place.
_ONE: Final[Json] = {"arm": "B1", "case": "short", "repetition": 2}
_LATE: Final = {"case": "long", "addedAt": "2026-11-20T08:50:00Z"}
_EARLY: Final = {"case": "long", "addedAt": "2026-11-20T08:20:00Z"}
_ADDED: Final = (("design.cases", ["short"]), ("design.addedCases", [_LATE]))
_EXPLORED: Final[Step] = ("membership", "exploratory", {"case": "long", "membership": "core"})
_TAGGED: Final = (_EXPLORED, ("totals", {"core": 16, "warmup": 8, "exploratory": 16}))
_EXPLORATORY: Final[Step] = ("derived.0.operands.of.membership", "exploratory")
_WARM: Final[Step] = ("", ..., {"membership": "warmup", "arm": "B1"})
_TESTS: Final[Json] = {
    "run": 118,
    "passed": 107,
    "failed": 1,
    "errors": 0,
    "skipped": [{"test": f"gpu {n}", "reason": "no GPU"} for n in range(10)],
    "disclosedFailures": ["a failure of upstream's own"],
}
_PINNED: Final[Json] = receipts.sound()["predicate"]["evidence"][0]


def _capture(attempt: int, state: str) -> Json:
    return {"attempt": attempt, "state": state, "evidence": {**_PINNED, "role": "capture"}}


def _tests(**changes: object) -> tuple[Step, ...]:
    return (("tests", {**_TESTS, **changes}),)


def _again(*attempts: tuple[int, str], repetition: int | None = 2) -> Json:
    """Return the sound receipt with one request tried several times."""
    document = receipts.sound()
    rows = document["predicate"]["samples"]
    at = next(n for n, row in enumerate(rows) if _ONE.items() <= row.items())
    rows[at : at + 1] = [
        {**rows[at], "attempt": attempt, "status": status, "repetition": repetition}
        for attempt, status in attempts
    ]
    return document


BROKEN: Final[dict[str, list[tuple[Step, ...]]]] = {
    "receipt-e1-totals": [
        (("totals.core", 33),),
        (("sampleCount", 41),),
        (("totals", {"core": 40}),),
        (("totals", {"core": 31, "warmup": 8, "exploratory": 1}),),
        (_EXPLORED,),
        (("totals", {"core": 32, "warmup": 8, "pilot": 0}),),
        (("samples", []), ("totals.core", 33)),
    ],
    "receipt-e2-exploratory": [
        (*_TAGGED, _EXPLORATORY),
        (*_TAGGED, ("derived.0.operands.of.membership", "exploratory"), ("outcomes", [])),
        (
            *_TAGGED,
            _EXPLORATORY,
            ("derived.1.operands.of.membership", "exploratory"),
        ),
    ],
    "receipt-e3-post-hoc": [
        _ADDED,
        (*_ADDED, ("postHoc", True, {"case": "long", "arm": "B1"})),
        (*_ADDED, ("postHoc", True, {"case": "long"})),  # marked, and yet core
        (("postHoc", True, {"case": "long", "arm": "A2"}),),
    ],
    "receipt-e4-unaccounted": [
        (("arms.0.counts.complete", 9),),
        (("arms.0.counts.failed", 1),),
        (("arms.0.counts.planned", 9), ("arms.0.counts.complete", 9)),
        (("", ..., _ONE),),
        (("status", "timedOut", _ONE),),
        (("design.repetitions", 5),),
        (("arms.0.counts.complete", 9), ("arms.1.counts", ...)),
        (("arms.0.counts.complete", 9), ("samples", [])),
    ],
    "receipt-e5-captures": [
        (("arms.0.captures.0.state", "incomplete"),),
        (("arms.0.state", "invalid"),),
        (("arms.0.state", "incomplete"), ("arms.0.captures", [])),
        (
            ("arms.0.state", "invalid"),
            ("arms.0.captures.0.state", "invalid"),
            ("arms.0.captures.0.evidence.digest", ...),
        ),
    ],
    "receipt-e6-replaced": [
        (("arms.0.captures", [_capture(2, "complete")]),),
        (("arms.0.captures", [_capture(1, "invalid"), _capture(3, "complete")]),),
        (("arms.0.captures", [_capture(1, "complete"), _capture(2, "complete")]),),
        (("arms.0.captures", [_capture(1, "invalid"), _capture(1, "complete")]),),
        (("attempt", 2, _ONE),),
        (("attempt", 1_000_000_000, _ONE),),
        (("attempt", 0, _ONE),),
    ],
    "receipt-e7-warm-ups": [
        (("derived.0.operands.of.membership", "warmup"),),
        (("design.warmups", 2),),
        (("design.warmups", 0),),
        (_WARM,),
        (("status", "failed", {"arm": "B1", "membership": "warmup"}),),
    ],
    "receipt-e8-stripped": [
        (("response.sha256", receipts.digest("shorter")["sha256"], _ONE),),
        (("response.bytes", 899, _ONE),),
    ],
    "receipt-e9-cases-kept": [
        (("design.cases", ["short", "long", "no benefit"]),),
        (("", ..., {"arm": "A2", "case": "long"}),),
        (("membership", "warmup", {"arm": "A2", "case": "long", "membership": "core"}),),
    ],
    "receipt-e10-evidence": [
        (("evidence.0.digest", ...),),
        (("evidence.0.digest.sha256", "352053ad07cfaa5f"),),
        (("evidence.0.bytes", ...),),
        (("evidence.0.reason", ...),),
        (("arms.0.captures.0.evidence.bytes", ...),),
    ],
    "receipt-e11-tests": [
        _tests(passed=108),
        _tests(run=117, skipped=[*_TESTS["skipped"][:9], {"test": "gpu"}]),
        _tests(skipped=[*_TESTS["skipped"][:9], {"test": "gpu"}]),
        _tests(run=117, failed=0),  # the disclosed failure was subtracted
    ],
    "receipt-e12-sample-count": [
        (("sampleCount", 28),),
        (("", ..., _ONE),),
    ],
    "receipt-e13-role-reuse": [
        (("arms.3.captures.0.evidence.digest", receipts.digest("capture B1")),),
        (
            (
                "arms.0.captures",
                [_capture(1, "invalid"), _capture(2, "complete")],
            ),
        ),
        (("arms.3.activation.0.evidence", receipts.digest("log B1")),),
        (("evidence.0.role", "gates"), ("evidence.0.digest", receipts.digest("capture B1"))),
    ],
    "receipt-e14-deviations": [
        (("deviations", [{"what": "the coordinator had an extra import"}]),),
        (("deviations", [{"what": "an extra import", "affects": ["everything"]}]),),
        (("arms.0.settings.DEPTH", "3"),),
        (("runtime.loadedFiles.0.loaded", receipts.digest("another scheduler")),),
    ],
    "receipt-e15-zero": [
        (("status", "failed", _ONE), ("usage.completionTokens", 0, _ONE)),
        (("status", "timedOut", _ONE), ("timingUs.ttft", 0, _ONE)),
        (("status", "failed", _ONE), ("values", {"kld": "0.00"}, _ONE)),
        (("derived.0.value", "0"), ("status", "failed", {"arm": "B1"}), ("", ..., {"arm": "B2"})),
        (("outcomes.0.state", "NOT_RUN"), ("outcomes.0.observed", "0.0")),
    ],
}
UNCHECKABLE: Final[list[tuple[str, tuple[Step, ...]]]] = [
    ("E1", (("totals", ...),)),
    ("E1", (("samples", []), ("sampleCount", ...))),
    (
        "E2",
        (*_TAGGED, ("derived.0.operands.of", {"value": "3012500"})),
    ),
    ("E3", (("design", ...),)),
    ("E3", (("design.cases", ["short"]),)),
    ("E3", (*_ADDED, *((f"arms.{n}.finishedAt", ...) for n in range(4)))),
    ("E4", (("arms", []),)),
    ("E4", (("arms.1.counts", ...),)),
    ("E5", (("arms", []),)),
    ("E5", (("arms.0.captures", []),)),
    ("E6", (("attempt", ..., _ONE),)),
    ("E6", (("attempt", 2, _ONE), ("repetition", None, _ONE))),
    ("E6", (("samples", []), *((f"arms.{n}.captures", []) for n in range(4)))),
    ("E7", (("design", ...),)),
    ("E7", (("design.warmups", ...),)),
    ("E7", (("samples", []),)),
    ("E8", (("response", ..., _ONE),)),
    ("E8", (("response.name", ..., _ONE),)),
    ("E8", (("response.name", "elsewhere.bin", _ONE),)),
    ("E8", (("response.sha256", "352053ad07cfaa5f", _ONE),)),
    ("E8", (("samples", []),)),
    ("E9", (("design", ...),)),
    ("E9", (("samples", []),)),
    ("E10", (("evidence", []), *((f"arms.{n}.captures", []) for n in range(4)))),
    ("E10", (("evidence.0.role", "log"), *((f"arms.{n}.captures", []) for n in range(4)))),
    ("E11", (("kind", "cpu-suite"),)),
    ("E12", (("sampleCount", ...),)),
    ("E12", (("samples", []),)),
    (
        "E13",
        (
            ("evidence", []),
            *((f"arms.{n}.captures", []) for n in range(4)),
            *((f"arms.{n}.activation", []) for n in (0, 3)),
        ),
    ),
    ("E15", (("samples", []),)),
]
HOLDS: Final[list[tuple[str, tuple[Step, ...]]]] = [
    ("E1", _TAGGED),
    ("E1", (("samples", []), ("totals", {"core": 60, "exploratory": 6}), ("sampleCount", 66))),
    ("E2", (_EXPLORATORY, ("derived.1.operands.of.membership", "exploratory"), ("outcomes", []))),
    ("E2", (("derived.0.operands.of", {"value": "3012500"}),)),
    ("E3", (("design.cases", ["short"]), ("design.addedCases", [_EARLY]))),
    (
        "E3",
        (
            *_ADDED,
            ("postHoc", True, {"case": "long"}),
            ("membership", "exploratory", {"case": "long"}),
        ),
    ),
    ("E4", (("samples", []),)),
    (
        "E4",
        (
            ("status", "timedOut", _ONE),
            ("arms.0.counts.complete", 9),
            ("arms.0.counts.timedOut", 1),
        ),
    ),
    ("E5", (("arms.0.state", "invalid"), ("arms.0.captures.0.state", "invalid"))),
    ("E6", (("arms.0.captures", [_capture(1, "invalid"), _capture(2, "complete")]),)),
    ("E7", (("design.warmups", 0), ("", ..., {"membership": "warmup"}))),
    ("E8", (("status", "failed", _ONE), ("response", ..., _ONE))),
    ("E9", (("arms.2.state", "invalid"), ("", ..., {"arm": "A2"}))),
    ("E10", (("evidence.0.published", True), ("evidence.0.reason", ...))),
    ("E10", (*((f"arms.{n}.captures", []) for n in range(4)),)),
    ("E11", _tests()),
    ("E11", ()),
    ("E11", _tests(run=1008, passed=998, failed=1, skipped=_TESTS["skipped"][:9])),
    ("E12", (("", ..., _ONE), ("sampleCount", 39))),
    ("E13", (("evidence.0.digest", receipts.digest("capture B1")),)),  # the same raw file
    ("E14", (("arms.0.settings", {}),)),  # what was set is not known to be another thing
    ("E14", (("deviations", [{"what": "an extra import", "affects": ["B6", "E14"]}]),)),
    ("E14", (("deviations", [{"what": "a typing error in a note", "affects": ["none"]}]),)),
    ("E15", (("status", "failed", _ONE), ("usage", None, _ONE), ("timingUs", None, _ONE))),
    ("E15", (("outcomes.0.state", "FAIL"), ("outcomes.0.observed", "0"))),
]


@pytest.mark.parametrize(("code", "steps"), [(c, s) for c, each in BROKEN.items() for s in each])
def test_what_was_not_kept_is_named_by_its_rule(code: str, steps: tuple[Step, ...]) -> None:
    assert receipt_steps.asked(receipt_steps.rule_of(code), receipt_steps.changed(*steps)) == code


@pytest.mark.parametrize(("rule", "steps"), UNCHECKABLE)
def test_what_is_missing_is_no_pass(rule: str, steps: tuple[Step, ...]) -> None:
    assert receipt_steps.asked(rule, receipt_steps.changed(*steps)) == "uncheckable"


@pytest.mark.parametrize(("rule", "steps"), HOLDS)
def test_what_is_sound_is_let_through(rule: str, steps: tuple[Step, ...]) -> None:
    assert receipt_steps.asked(rule, receipt_steps.changed(*steps)) == "holds"


def test_a_gate_on_exploratory_samples_is_named() -> None:
    steps: tuple[Step, ...] = (_EXPLORATORY, ("derived.1.operands.of.membership", "exploratory"))
    answer = receipts.answer("E2", receipt_steps.changed(*_TAGGED, *steps))
    assert isinstance(answer, Broken)
    assert answer.got == "gate on the exploratory figure ttftChange"


def test_later_material_takes_away_what_rests_on_it() -> None:
    answer = receipts.answer("E3", receipt_steps.changed(*_ADDED))
    assert isinstance(answer, Broken)
    assert answer.claims == frozenset()  # its figure is of case "short" alone
    steps: tuple[Step, ...] = (*_ADDED, ("derived.0.operands.of.cases", ["long"]))
    answer = receipts.answer("E3", receipt_steps.changed(*steps))
    assert isinstance(answer, Broken)
    assert answer.claims == {"faster"}


def test_an_effect_that_is_not_stated_takes_everything_away() -> None:
    answer = receipts.answer(
        "E14", receipt_steps.changed(("deviations", [{"what": "another disk"}]))
    )
    assert isinstance(answer, Broken)
    assert answer.claims == {"faster"}


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ([(1, "failed"), (2, "complete")], "holds"),
        ([(1, "timedOut"), (2, "malformed"), (3, "complete")], "holds"),
        ([(2, "complete"), (1, "failed")], "holds"),
        ([(1, "failed"), (3, "complete")], "receipt-e6-replaced"),
        ([(2, "failed"), (3, "complete")], "receipt-e6-replaced"),
        ([(1, "complete"), (2, "complete")], "receipt-e6-replaced"),
        ([(1, "failed"), (2, "complete"), (2, "complete")], "receipt-e6-replaced"),
    ],
)
def test_attempts_at_one_request(attempts: list[tuple[int, str]], expected: str) -> None:
    assert receipt_steps.asked("E6", _again(*attempts)) == expected


def test_a_request_that_was_tried_again_is_counted_once() -> None:
    assert receipt_steps.asked("E4", _again((1, "failed"), (2, "complete"))) == "holds"
    assert (
        receipt_steps.asked("E4", _again((1, "failed"), (2, "failed"))) == "receipt-e4-unaccounted"
    )


def test_stored_responses_are_compared_with_their_record() -> None:
    beside = receipts.beside()
    assert beside.files is not None
    other = {**beside.files, "response-long-3.bin": Pin(sha256="0" * 64, length=900)}
    changed = replace(beside, files=other)
    assert receipt_steps.asked("E8", receipts.sound(), changed) == "receipt-e8-stripped"
    longer = {**beside.files, "response-long-3.bin": Pin.of(b"x" * 901)}
    changed = replace(beside, files=longer)
    assert receipt_steps.asked("E8", receipts.sound(), changed) == "receipt-e8-stripped"
    assert receipt_steps.asked("E8", receipts.sound(), replace(beside, files=None)) == "uncheckable"


def test_every_rule_is_tried_in_every_way() -> None:
    ids = {rule.id for rule in RULES}
    assert {receipt_steps.rule_of(code) for code in BROKEN} == ids
    assert {rule for rule, _ in HOLDS} == ids
    # A list of deviations may be empty: E14 lacks nothing that it could ask for.
    assert {rule for rule, _ in UNCHECKABLE} == ids - {"E14"}
    assert {"E1", "E4", "E5", "E8", "E12", "E13"} <= DOES_NOT_APPLY[Kind.TESTS]
    assert {"E8", "E11"} <= DOES_NOT_APPLY[Kind.TIMING]
    assert ids.isdisjoint(DOES_NOT_APPLY[Kind.SERVING])


def test_the_order_of_samples_changes_no_answer() -> None:
    document = receipt_steps.changed(("attempt", 3, _ONE), ("status", "failed", {"arm": "A2"}))
    backwards = receipt_steps.changed(("attempt", 3, _ONE), ("status", "failed", {"arm": "A2"}))
    backwards["predicate"]["samples"].reverse()
    for rule in RULES:
        one, other = receipts.answer(rule.id, document), receipts.answer(rule.id, backwards)
        assert type(one) is type(other), rule.id
