"""Rules A: arms and design. A13 and A14 stand here, the others in the modules named below."""

from itertools import chain
from typing import Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.document.model import Arm, ArmState, Figure, GateState
from verifier.checks.receipt.rules import claimed, factors, movement, order, work
from verifier.checks.receipt.rules.claimed import listed
from verifier.checks.receipt.study import Study

#: States of a gate that score what was measured, whichever way.
_SCORING: Final = frozenset(
    {GateState.PASS, GateState.FAIL, GateState.INCONCLUSIVE, GateState.DESCRIPTIVE}
)
_MEASURE: Final = "measure again in that design, or shrink the claim to what was measured"
_DECLARE: Final = "declare it in the receipt if it was recorded, or shrink the claim"
_ALL: Final = "publish every arm and what became of it, and withdraw what cannot be compared"


def a13_baseline_first(study: Study) -> Answer:
    """Ask that nothing is scored against an invalid baseline (seeds/002: three invalid trials)."""
    if not study.receipt.arms:
        return Uncheckable(missing="arms")
    candidates, controls = claimed.sides(study.receipt.arms)
    invalid = [arm.id for arm in controls if arm.state is ArmState.INVALID]
    if not invalid:
        return Holds(detail="no invalid control")
    names = {arm.id for arm in candidates}
    scored = [f"figure {f.id}" for f in study.receipt.figures if _scores(study, f, names)]
    scored += [f"claim {claim.id}" for claim in claimed.comparing(study)]
    scored += [
        f"gate {result.gate} {result.state}"
        for result in study.receipt.results
        if result.kind == "performance" and result.state in _SCORING
    ]
    if not scored:
        return Holds(detail=f"nothing is scored against {listed(invalid)}")
    return Broken(expected=f"no score: {listed(invalid)} invalid", got=listed(scored), path="arms")


def _scores(study: Study, figure: Figure, candidates: set[str]) -> bool:
    """Whether a figure has a value that samples of candidates went into."""
    below = chain.from_iterable(claimed.below(study, o) for o in figure.operands.values())
    samples = (operand for operand in below if operand.quantity)
    return figure.value is not None and any(
        not operand.arms or candidates & set(operand.arms) for operand in samples
    )


def a14_stopped(study: Study) -> Answer:
    """Ask that no arm started after a capture was rejected, and none is complete in spite of it.

    A rejected capture may be taken again (E6); until one was accepted the next arm waits.
    """
    if not study.receipt.arms:
        return Uncheckable(missing="arms")
    rejected = [arm for arm in study.receipt.arms if _rejected(arm)]
    if wrong := [arm.id for arm in rejected if arm.state is ArmState.COMPLETE]:
        got = f"complete, although its last capture was rejected: {listed(wrong)}"
        return Broken(expected="an accepted capture", got=got, path="arms")
    if not rejected:
        return Holds(detail="no rejected capture was left behind")
    started = [arm for arm in study.receipt.arms if arm.state is not ArmState.NOT_STARTED]
    ordered = claimed.in_order(study, started)
    if ordered is None:
        return Uncheckable(missing="the order of the arms")
    first = min(ordered.index(arm) for arm in rejected)
    if later := [arm.id for arm in ordered[first + 1 :]]:
        got = f"{listed(later)} started after {ordered[first].id} was rejected"
        return Broken(expected="a stop at a rejected capture", got=got, path="arms")
    return Holds(detail=f"stopped at {ordered[first].id}")


def _rejected(arm: Arm) -> bool:
    """Whether the last capture of an arm was rejected, or the arm is invalid without any."""
    if arm.captures:
        last = max(arm.captures, key=lambda capture: capture.attempt)
        return last.state is ArmState.INVALID
    return arm.state is ArmState.INVALID


_ARMS: Final = "arms"
_LIMITS: Final = only(Consequence.LIMITS)
_INVALID: Final = only(Consequence.INVALID)
_INCOMPLETE: Final = only(Consequence.INCOMPLETE)
_WORK: Final = {"": Consequence.LIMITS, "output": Consequence.LIMITS}

RULES: Final = (
    Rule("A1", "arms-present", _ARMS, _INCOMPLETE, order.a1_arms_present, _ALL),
    Rule("A2", "control", _ARMS, _INCOMPLETE, order.a2_control, _MEASURE),
    Rule("A3", "order", _ARMS, only(Consequence.INCONSISTENT), order.a3_order, _DECLARE),
    Rule("A4", "fresh-boots", _ARMS, _LIMITS, order.a4_fresh_boots, _MEASURE),
    Rule("A5", "overlap", _ARMS, _INVALID, order.a5_no_overlap, _MEASURE),
    Rule("A6", "interleaved", _ARMS, _LIMITS, order.a6_interleaved, _MEASURE),
    Rule("A7", "attribution", _ARMS, _LIMITS, factors.a7_attribution, _MEASURE),
    Rule("A8", "interaction", _ARMS, _LIMITS, factors.a8_interaction, _MEASURE),
    Rule("A9", "balance", _ARMS, _LIMITS, work.a9_balanced, _DECLARE),
    Rule("A10", "same-work", _ARMS, _WORK, work.a10_same_work, _MEASURE),
    Rule("A11", "same-factor", _ARMS, _LIMITS, factors.a11_same_factor, _MEASURE),
    Rule("A12", "control-movement", _ARMS, _LIMITS, movement.a12_control_movement, _MEASURE),
    Rule("A13", "invalid-baseline", _ARMS, _INVALID, a13_baseline_first, _ALL),
    Rule("A14", "advanced", _ARMS, _INVALID, a14_stopped, _ALL),
    Rule("A15", "same-condition", _ARMS, _LIMITS, factors.a15_same_condition, _MEASURE),
    Rule("A16", "reference", _ARMS, _LIMITS, factors.a16_reference, _DECLARE),
)
