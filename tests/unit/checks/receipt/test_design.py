"""Rules A, one change of the sound study at a time."""

from typing import Final

import pytest
from support import receipt_steps, receipts
from support.receipt_steps import Step
from support.receipts import Json

from verifier.checks.receipt.answer import Broken, Consequence, Holds
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.rules.design import RULES

_SHORT: Final = receipts.digest("short")["sha256"][:12]
_COPIED: Final = {"receipt": receipts.digest("other"), "figure": "ttft", "value": "1"}
_UNTIMED: Final = tuple((f"arms.{n}.startedAt", ...) for n in range(4))
_UNSET: Final[tuple[Step, ...]] = tuple((f"arms.{n}.settings", {}) for n in range(4))
#: B1 and B2 with another depth, so that two settings differ.
_TWO: Final = tuple((f"arms.{n}.settings", {"FINE": "1", "DEPTH": "3"}) for n in (0, 3))
#: All four combinations of two settings.
_ALL_FOUR: Final = (
    ("arms.2.settings", {"FINE": "0", "DEPTH": "3"}),
    ("arms.3.settings", {"FINE": "1", "DEPTH": "3"}),
)
_INTERACTION: Final = ("claims.0.kind", "interaction")
_INTERLEAVED: Final = ("claims.0.kind", "interleaved")
_MEASURED: Final = ("claims.0.kind", "measured")
_FEWER: Final = ("", ..., {"arm": "A2", "repetition": 4})
_STATED: Final = ("deviations", [{"what": "A2 lost one request", "affects": ["A9"]}])
_SETTLE: Final = ("derived.0.operands.of.quantity", "settle")
_LESS: Final = ("usage.completionTokens", 110, {"arm": "B1", "repetition": 2})
_NO_REQUESTS: Final[Step] = ("request", ..., {})
_SEEDED: Final = tuple(
    (f"arms.{n}.settings", {"FINE": fine, "Temperature": "0", "Seed": "171"})
    for n, fine in enumerate("1001")
)
_BLOCKED: Final[tuple[Step, ...]] = (("arms.1.state", "invalid"), ("derived", []), ("claims", []))
_DIFFERENCE: Final[tuple[Step, ...]] = (
    ("derived.2.formula", "difference"),
    ("derived.2.unit", "us"),
    ("derived.2.value", "-40001"),
)


def _even(ttft: int) -> tuple[Step, ...]:
    """Let every core sample of both candidates have one time to first token, case "short"."""
    where = {"case": "short", "membership": "core"}
    return tuple(("timingUs.ttft", ttft, {**where, "arm": arm}) for arm in ("B1", "B2"))


def _capture(attempt: int, state: str, **more: str) -> Json:
    evidence = receipts.sound()["predicate"]["arms"][0]["captures"][0]["evidence"]
    return {"attempt": attempt, "state": state, "evidence": evidence, **more}


BROKEN: Final[dict[str, list[tuple[Step, ...]]]] = {
    "receipt-a1-arms-present": [
        (("claims.0.arms", ["B1", "A1", "B3"]),),
        (("design.order", ["B1", "A1", "A2", "B2", "B3"]),),
        (("derived.0.operands.of.arms", ["B1", "MTP3"]),),
        (("claims.0.arms", ["B1", "B2"]),),
        (("claims.0.arms", ["A1", "A2"]),),
        (("arms", []),),
    ],
    "receipt-a2-control": [
        (("arms.2.state", "incomplete"),),
        (("arms.2.role", "candidate"),),
        (("arms.1.role", "candidate"), ("arms.2.role", "candidate")),
        (("arms.2.settings.DEPTH", "3"),),
    ],
    "receipt-a3-order": [
        (("design.kind", "ABBA"),),
        (("design.kind", "single"),),
        (("design.order", ["A1", "B1", "B2", "A2"]),),
        (("design.order", ["B1", "A1", "A2"]),),
        (("design.order", ["B1", "A2", "A1", "B2"]),),
        (("arms.0.startedAt", "2026-11-20T12:10:00Z"),),
        (("arms.0.startedAt", ...), ("design.kind", "AAB")),
    ],
    "receipt-a4-fresh-boots": [
        (("arms.2.bootId", receipts.digest("boot A1")),),
        (("arms.1.processStartedAt", "2026-11-20T08:00:00Z"),),
        (("arms.1.processStartedAt", "2026-11-20T07:59:59Z"),),
        (("arms.1.processStartedAt", "2026-11-20T09:10:01Z"),),
    ],
    "receipt-a5-overlap": [
        (("arms.0.finishedAt", "2026-11-20T09:10:01Z"),),
        (("arms.0.finishedAt", "2026-11-20T08:09:59Z"),),
        (("arms.1.startedAt", "2026-11-20T08:10:00Z"),),
        (("arms.0.finishedAt", "2026-11-20T09:10:01Z"), ("arms.3.startedAt", ...)),
        (("arms.0.captures.0.startedAt", "2026-11-20T08:09:00Z"),),
        (("arms.0.captures.0.finishedAt", "2026-11-20T08:41:00Z"),),
        (
            ("arms.0.captures.0.startedAt", "2026-11-20T08:30:00Z"),
            ("arms.0.captures.0.finishedAt", "2026-11-20T08:20:00Z"),
        ),
        (
            (
                "arms.0.captures",
                [
                    _capture(1, "invalid", finishedAt="2026-11-20T08:30:00Z"),
                    _capture(2, "complete", startedAt="2026-11-20T08:29:00Z"),
                ],
            ),
        ),
    ],
    "receipt-a6-interleaved": [
        (_INTERLEAVED, *_UNTIMED, ("design.order", ["B1", "B2", "A1", "A2"])),
        (_INTERLEAVED, ("arms.0.startedAt", "2026-11-20T10:59:00Z")),
    ],
    "receipt-a7-attribution": [
        _TWO,
        (("claims.0.kind", "attribution"), *_TWO),
        (("claims.0.feature", "COALESCING"),),
        (*_TWO, ("arms.2.settings", {"FINE": "0", "DEPTH": "4"})),
    ],
    "receipt-a8-interaction": [
        (_INTERACTION,),
        (_INTERACTION, ("arms.3.settings", {"FINE": "1", "DEPTH": "3"})),
        (_INTERACTION, *_ALL_FOUR, ("arms.2.state", "invalid")),
    ],
    "receipt-a9-balance": [
        (_FEWER,),
        (("", ..., {"arm": "A2", "case": "long"}),),
        (("", ..., {"arm": "A2"}),),
        (_FEWER, _STATED, ("derived.1.operands.of.arms", ["A1"])),
    ],
    "receipt-a10-same-work": [
        (("usage.promptTokens", 8_195, {"arm": "B1", "case": "short", "repetition": 2}),),
        (("cap", 128, {"arm": "B1", "repetition": 2}),),
        (("arms.0.settings.temperature", "1"),),
        (("arms.0.settings.SEED", "172"),),
    ],
    "receipt-a10-same-work-output": [
        (_SETTLE, _LESS),
        (("claims.0.kind", "throughput"), _LESS),
    ],
    "receipt-a11-same-factor": [
        (("design.algorithmicSettings", ["DEPTH"]), *_TWO),
        (("arms.0.settings.DCP", "2"),),
        (("arms.0.settings.tensor_parallel_size", "2"),),
        (("design.algorithmicSettings", ["FINE"]), ("claims.0.feature", ...)),
    ],
    "receipt-a12-control-movement": [
        _even(4_010_000),
        (*_DIFFERENCE, *_even(3_982_500)),  # 40,000 us, as far as from A1 to A2
        (*_even(4_010_000), ("derived.2.formula", "ratio")),
        (*_even(4_010_000), ("derived.1.operands.of.arms", ["A1"])),
        (*_even(4_010_000), ("claims.0.kind", "attribution")),
    ],
    "receipt-a13-invalid-baseline": [
        (("arms.1.state", "invalid"),),
        (("arms.1.state", "invalid"), ("claims", []), ("outcomes", [])),
        (("arms.1.state", "invalid"), ("derived", []), ("outcomes", [])),
        _BLOCKED,
    ],
    "receipt-a14-advanced": [
        (("arms.1.captures.0.state", "invalid"),),
        (("arms.1.captures.0.state", "invalid"), ("arms.1.state", "invalid")),
        (("arms.1.captures", []), ("arms.1.state", "invalid")),
        (("arms.1.captures", [_capture(2, "invalid"), _capture(1, "complete")]),),
    ],
    "receipt-a15-same-condition": [
        (("arms.0.flags", ["capacityLimited"]),),
        (("arms.0.flags", ["underfilled"]),),
        (("arms.0.flags", ["warmupTimedOut"]),),
        (("arms.0.caseFlags", {"short": ["capacityLimited"]}),),
        (("arms.0.flags", ["underfilled"]), ("samples", [])),
    ],
    "receipt-a16-reference": [
        (("claims.0.reference", ...),),
        (("claims.0.reference", "the default"),),
        (("claims.0.reference", "Fastest tuned"),),
        (("arms.2.settings.DEPTH", "3"),),
    ],
}
UNCHECKABLE: Final[list[tuple[str, tuple[Step, ...]]]] = [
    ("A1", (("claims.0.arms", ...), ("claims.0.figures", []))),
    ("A1", (("arms", []), ("design.order", []), ("claims", []), ("derived", []))),
    ("A2", _UNSET),
    ("A2", (("arms.1.settings", {}),)),
    ("A3", (("design", ...),)),
    ("A3", (("arms.0.startedAt", ...),)),
    ("A4", (("design", ...),)),
    ("A4", (("arms.0.bootId", ...),)),
    ("A4", (("arms.0.bootId", {"sha256": _SHORT}),)),
    ("A4", (("arms.0.processStartedAt", ...),)),
    ("A5", (("arms.0.startedAt", ...),)),
    ("A5", (("arms.0.finishedAt", ...),)),
    ("A6", (_INTERLEAVED, *_UNTIMED, ("design", ...))),
    ("A6", (_INTERLEAVED, ("arms.0.settings", {}))),
    ("A7", (("arms.0.settings", {}),)),
    ("A8", (_INTERACTION, ("arms.0.settings", {}))),
    ("A9", (("samples", []),)),
    ("A10", (("samples", []),)),
    ("A10", (("usage", None, {"arm": "B1", "repetition": 2}),)),
    ("A10", (("cap", None, {"arm": "B1", "repetition": 2}),)),
    ("A10", (_NO_REQUESTS,)),
    ("A10", (_NO_REQUESTS, *_SEEDED, ("arms.0.settings", {}))),
    ("A11", (("design", ...),)),
    ("A11", (("arms.0.settings", {}), *((f"arms.{n}.settings.TP", "2") for n in (1, 2, 3)))),
    ("A12", (("derived.2.operands.baseline", {"value": "4022500"}),)),
    ("A12", (("arms.2.state", "incomplete"),)),
    ("A12", (("claims.0.figures", ["acceptanceOn"]),)),
    ("A12", (("timingUs", None, {"arm": "A2", "repetition": 2}),)),
    ("A12", (("samples", []),)),
    ("A13", (("arms", []),)),
    ("A14", (("arms", []),)),
    (
        "A14",
        (
            *_UNTIMED,
            ("design", ...),
            ("arms.0.state", "invalid"),
            ("arms.0.captures.0.state", "invalid"),
        ),
    ),
    ("A15", (("claims.0.arms", ...), ("claims.0.figures", []))),
    ("A16", (("arms.1.settings", {}),)),
]
HOLDS: Final[list[tuple[str, tuple[Step, ...]]]] = [
    ("A1", (("claims.0.arms", ["B1", "B2"]), ("derived.2.copiedFrom", _COPIED))),
    ("A1", (("claims.0.arms", ...),)),
    ("A2", (_MEASURED, ("arms.2.state", "incomplete"))),
    ("A3", (("design.kind", "sequential"),)),
    ("A3", (("arms.3.state", "notStarted"), ("arms.3.startedAt", ...))),
    ("A4", (("design.freshBootPerArm", False), ("arms.2.bootId", receipts.digest("boot A1")))),
    ("A5", (("arms.0.finishedAt", "2026-11-20T09:10:00Z"),)),
    ("A5", (("arms.3.state", "notStarted"), ("arms.3.startedAt", ...))),
    (
        "A5",
        (
            (
                "arms.0.captures",
                [
                    _capture(1, "invalid", finishedAt="2026-11-20T08:30:00Z"),
                    _capture(2, "complete", startedAt="2026-11-20T08:30:00Z"),
                ],
            ),
        ),
    ),
    ("A6", (_INTERLEAVED,)),
    ("A6", (("design.order", ["B1", "B2", "A1", "A2"]), *_UNTIMED)),
    ("A7", (*_TWO, ("claims.0.feature", ...))),
    ("A7", _ALL_FOUR),
    ("A8", (_INTERACTION, *_ALL_FOUR)),
    ("A9", (_FEWER, _STATED)),
    ("A9", (_FEWER, _MEASURED)),
    ("A10", (_LESS,)),  # a time to first token does not depend on how much follows
    ("A10", (_NO_REQUESTS, *_SEEDED)),
    ("A11", (("design.algorithmicSettings", ["FINE"]),)),  # it is the factor itself
    ("A11", (("arms.0.settings.DEPTH", "3"),)),
    ("A12", (("derived.2.formula", "ratio"),)),
    ("A12", (*_DIFFERENCE, *_even(3_982_499))),  # 40,001 us
    ("A12", (_MEASURED, ("samples", []))),
    (
        "A13",
        (("arms.1.state", "invalid"), ("derived", []), ("claims", []), ("outcomes", [])),
    ),
    ("A13", (*_BLOCKED, ("outcomes.0.state", "NOT_RUN"))),
    ("A13", (*_BLOCKED, ("outcomes.0", ...))),  # an output check scores no speed
    ("A13", (("arms.0.state", "invalid"),)),
    ("A14", (("arms.3.captures.0.state", "invalid"), ("arms.3.state", "invalid"))),
    ("A14", (("arms.1.captures", [_capture(1, "invalid"), _capture(2, "complete")]),)),
    ("A15", (("arms.0.caseFlags", {"long": ["capacityLimited"]}),)),
    ("A15", tuple((f"arms.{n}.flags", ["capacityLimited"]) for n in range(4))),
    ("A16", (("claims.0.reference", "the default of 4 KiB pages"),)),
]


@pytest.mark.parametrize(("code", "steps"), [(c, s) for c, each in BROKEN.items() for s in each])
def test_a_broken_design_is_named_by_its_rule(code: str, steps: tuple[Step, ...]) -> None:
    rule = receipt_steps.rule_of(code)
    document = receipt_steps.changed(*steps)
    assert receipt_steps.asked(rule, document) == code
    answer = receipts.answer(rule, document)
    assert isinstance(answer, Broken)
    row = next(each for each in RULES if each.id == rule)
    limits = row.consequences[answer.condition] is Consequence.LIMITS
    assert answer.claims == (frozenset({"faster"}) if limits else frozenset())


@pytest.mark.parametrize(("rule", "steps"), UNCHECKABLE)
def test_what_is_missing_is_no_pass(rule: str, steps: tuple[Step, ...]) -> None:
    assert receipt_steps.asked(rule, receipt_steps.changed(*steps)) == "uncheckable"


@pytest.mark.parametrize(("rule", "steps"), HOLDS)
def test_what_is_sound_is_let_through(rule: str, steps: tuple[Step, ...]) -> None:
    assert receipt_steps.asked(rule, receipt_steps.changed(*steps)) == "holds"


def test_every_rule_is_tried_in_every_way() -> None:
    ids = {rule.id for rule in RULES}
    assert {receipt_steps.rule_of(code) for code in BROKEN} == ids
    assert {rule for rule, _ in UNCHECKABLE} == ids
    assert {rule for rule, _ in HOLDS} == ids
    assert ids <= DOES_NOT_APPLY[Kind.TESTS]
    assert ids.isdisjoint(DOES_NOT_APPLY[Kind.SERVING])


def test_the_movement_of_the_control_is_told() -> None:
    answer = receipts.answer("A12", receipts.sound())
    # A2/A1 = 4042.5/4002.5 = 1.00999...
    assert answer == Holds(detail="ttftChange -25.109, control alone 0.999 %")


def test_the_order_of_samples_changes_no_answer() -> None:
    document = receipt_steps.changed(*_even(4_010_000), _FEWER, _LESS)
    backwards = receipt_steps.changed(*_even(4_010_000), _FEWER, _LESS)
    backwards["predicate"]["samples"].reverse()
    for rule in RULES:
        assert receipts.answer(rule.id, document) == receipts.answer(rule.id, backwards), rule.id
