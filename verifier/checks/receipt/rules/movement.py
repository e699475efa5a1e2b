"""Rule A12, and a claimed effect taken apart by arms: how far the control moved on its own."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from verifier.checks.receipt.answer import Answer, Holds
from verifier.checks.receipt.document.model import Arm, Claim, ClaimKind, Figure, Operand
from verifier.checks.receipt.numbers import units
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.numbers.figures import compute
from verifier.checks.receipt.numbers.formulas import FORMULAS
from verifier.checks.receipt.numbers.intervals import Interval, UncomputableError, shown
from verifier.checks.receipt.numbers.operands import Single
from verifier.checks.receipt.rules import claimed
from verifier.checks.receipt.rules.claimed import NO_EFFECT, limit
from verifier.checks.receipt.study import Study

#: The id of no figure of a receipt: those are never empty.
_ALONE: Final = ""


def alone(study: Study, figure: Figure, side: str, arm: str) -> Interval | Missing:
    """Recompute an operand of a figure from the samples of one arm, in the figure's units."""
    operand = figure.operands[side]
    if any(leaf.quantity is None for leaf in claimed.below(study, operand)):
        return Missing("samples: a value is only displayed")
    top = Figure(
        id=_ALONE,
        formula="value",
        unit="",
        value=None,
        places=0,
        operands={"of": _of_arm(operand, arm)},
        better=None,
        scope=None,
        clock=None,
        copied=None,
        parameters={},
    )
    names = [operand.figure] if operand.figure else []
    below = [
        replace(each, operands={name: _of_arm(o, arm) for name, o in each.operands.items()})
        for each in claimed.reached(study, names)
    ]
    found = compute((*reversed(below), top), study.tally)[_ALONE]
    if found.result is None:
        return Missing(f"{found.missing}, in arm {arm}")
    scale = units.scales(figure, {each.id: each for each in study.receipt.figures})[side]
    return found.result.times(Interval.exact(scale))


def _of_arm(operand: Operand, arm: str) -> Operand:
    return operand if operand.quantity is None else replace(operand, arms=(arm,))


def effect(formula: str, candidate: Interval, baseline: Interval) -> Interval | Missing:
    """Set one value against another; no effect is 0, also of a ratio."""
    operands = {"candidate": Single(candidate), "baseline": Single(baseline)}
    try:
        result = FORMULAS[formula].compute(operands, {})
    except UncomputableError as error:
        return Missing(f"a comparison: {error}")
    return result.minus(Interval.exact(NO_EFFECT[formula]))


def controls(study: Study, figure: Figure) -> tuple[Arm, ...]:
    """Return the complete arms of the unchanged deployment that a figure has as its baseline."""
    below = claimed.below(study, figure.operands["baseline"])
    named = {arm for operand in below for arm in operand.arms}
    _, unchanged = claimed.sides(study.complete)
    settings = {claimed.setting(arm) for arm in unchanged if not named or arm.id in named}
    found = [arm for arm in unchanged if claimed.setting(arm) in settings]
    return claimed.in_order(study, found) or tuple(found)


def moved(study: Study, figure: Figure) -> Interval | Missing:
    """Return how far the baseline of a figure moved from an earlier control to a later one.

    Only the farthest move counts: from the least or the most so far, one step for each control.
    """
    values = list[Interval]()
    for arm in controls(study, figure):
        value = alone(study, figure, "baseline", arm.id)
        if isinstance(value, Missing):
            return value
        values.append(value)
    if len(values) < 2:  # noqa: PLR2004
        return Missing("a second unchanged control")
    moves, least, most = list[Interval](), values[0], values[0]
    for value in values[1:]:
        for earlier in (least, most):
            step = effect(figure.formula, value, earlier)
            if isinstance(step, Missing):
                return step
            moves.append(step.absolute())
        least, most = min(least, value), max(most, value)
    return max(moves, key=lambda move: move.high)


def a12_control_movement(study: Study) -> Answer:
    """Ask that a claimed effect is larger than the unchanged control moved on its own.

    The baseline of each figure is recomputed for every control, and set against itself with the
    formula of the claim (seeds/000 and 002: what an unchanged deployment does is the measure).
    """
    told = list[str]()

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.compared(study, claim)
        if not compared:
            return Missing("a change, a difference or a ratio among its figures")
        return _first(_larger(study, figure, told) for figure in compared)

    claims = study.claims(ClaimKind.IMPROVEMENT, ClaimKind.REGRESSION, ClaimKind.ATTRIBUTION)
    answer = limit(claims, ask, expected="an effect larger than the control's own movement")
    return Holds(detail=claimed.listed(told)) if told and isinstance(answer, Holds) else answer


def _first(answers: Iterable[str | Missing | None]) -> str | Missing | None:
    """Return the first objection, else the first thing that is missing."""
    found = [answer for answer in answers if answer is not None]
    return next((each for each in found if isinstance(each, str)), found[0] if found else None)


def _larger(study: Study, figure: Figure, told: list[str]) -> str | Missing | None:
    result, movement = study.figures[figure.id].result, moved(study, figure)
    if result is None:
        return Missing(f"what figure {figure.id} is made of")
    if isinstance(movement, Missing):
        return movement
    claimed_effect = result.minus(Interval.exact(NO_EFFECT[figure.formula]))
    size, own = claimed_effect.absolute(), movement
    places = figure.places + 1
    text = (
        f"{figure.id} {shown(claimed_effect.point, places)}, "
        f"control alone {shown(own.high, places)} {figure.unit}"
    )
    if size.low <= own.high:
        return text
    told.append(text)
    return None
