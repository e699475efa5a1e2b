"""Rules N2 and N3: pairs of arms, and what ranges that do not touch are worth."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from verifier.checks.receipt.answer import Answer
from verifier.checks.receipt.document.model import DIRECTED, Arm, Claim, Figure, Operand
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.numbers.intervals import Interval, shown
from verifier.checks.receipt.rules import claimed
from verifier.checks.receipt.rules.claimed import NO_EFFECT, limit, listed
from verifier.checks.receipt.rules.movement import alone, controls, effect
from verifier.checks.receipt.study import Study

#: Samples of an arm at which ranges of an unchanged server were disjoint (N3; TheGrill's smoke).
_TINY: Final = 2


def n2_one_direction(study: Study) -> Answer:
    """Ask that all pairs of arms differ in one direction before a direction is claimed.

    The first candidate is paired with the first control and so on; unequal numbers of them are
    all paired. Comparisons that a claim cites side by side must agree as well.
    """

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.compared(study, claim)
        if not compared:
            return Missing("a comparison among its figures")
        cited = [*_cited(study, claim)]
        if opposed := _opposed(cited):
            return opposed
        missing = None
        for figure in compared:
            found = _paired(study, claim, figure)
            if isinstance(found, Missing):
                missing = found
            elif opposed := _opposed(found):
                return opposed
        return None if missing and _repeated(cited) else missing

    claims = study.claims(*DIRECTED)
    return limit(claims, ask, expected="differences of one sign in all pairs")


Named = tuple[str, Interval, int]


def _cited(study: Study, claim: Claim) -> Iterator[Named]:
    """Yield the comparisons that a claim cites itself, with "higher is better" as their sign."""
    for name in claim.figures:
        computed = study.figures.get(name)
        if computed is None or computed.result is None or computed.figure.formula not in NO_EFFECT:
            continue
        figure = computed.figure
        value = computed.result.minus(Interval.exact(NO_EFFECT[figure.formula]))
        if figure.better == "lower":
            value = Interval.exact(0).minus(value)
        yield name, value, figure.places + 1


def _repeated(cited: list[Named]) -> bool:
    """Whether a claim cites pairs itself; then they need not be taken apart."""
    return len(cited) > 1


def _paired(study: Study, claim: Claim, figure: Figure) -> list[Named] | Missing:
    candidates, _ = claimed.sides(claimed.measured(study, claim))
    ordered = claimed.in_order(study, candidates) or candidates
    left = _each(study, figure, "candidate", ordered)
    right = _each(study, figure, "baseline", controls(study, figure))
    if isinstance(left, Missing):
        return left
    if isinstance(right, Missing):
        return right
    if len(left) != len(right) and right:
        # Whoever lies above the least control and below the most one lies between two of them.
        ends = (min(right, key=_number), max(right, key=_number))
        pairs = [(candidate, control) for candidate in left for control in ends]
    else:
        pairs = list(zip(left, right, strict=False))
    if len(pairs) < 2:  # noqa: PLR2004
        return Missing("a second pair of arms")
    found = list[Named]()
    for (candidate, high), (control, low) in pairs:
        value = effect(figure.formula, high, low)
        if isinstance(value, Missing):
            return value
        found.append((f"{candidate} - {control}", value, figure.places + 1))
    return found


Value = tuple[str, Interval]


def _each(study: Study, figure: Figure, side: str, arms: tuple[Arm, ...]) -> list[Value] | Missing:
    """Return what an operand comes to in each arm alone."""
    found = list[Value]()
    for arm in arms:
        value = alone(study, figure, side, arm.id)
        if isinstance(value, Missing):
            return value
        found.append((arm.id, value))
    return found


def _number(value: Value) -> Interval:
    return value[1]


def _opposed(values: list[Named]) -> str | None:
    """Name a rise and a fall; what may be either is neither."""
    up = next((each for each in values if each[1].low > 0), None)
    down = next((each for each in values if each[1].high < 0), None)
    if up is None or down is None:
        return None
    return listed(f"{name} {shown(value.point, places)}" for name, value, places in (up, down))


def n3_not_significance(study: Study) -> Answer:
    """Ask that a direction does not rest on ranges that do not touch, at two samples an arm.

    An unchanged server rerun by TheGrill had disjoint ranges at n = 2.
    """

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.compared(study, claim)
        if not compared:
            return Missing("a comparison among its figures")
        missing = None
        for figure in compared:
            found = _disjoint(study, figure)
            if isinstance(found, str):
                return found
            missing = missing or found
        return missing

    claims = study.claims(*DIRECTED)
    return limit(claims, ask, expected=f"more than {_TINY} samples in each arm")


def _disjoint(study: Study, figure: Figure) -> str | Missing | None:
    """Say that a figure rests on few samples whose ranges are apart, also of the control alone."""
    for left in claimed.below(study, figure.operands["candidate"]):
        for right in claimed.below(study, figure.operands["baseline"]):
            if left.quantity is None or right.quantity is None:
                return Missing("the samples of its figures")
            if left.quantity == right.quantity and _fewest(study, left, right) <= _TINY:
                if not _apart(study, left, right):
                    continue
                too = (
                    ", and so are those of the control alone"
                    if _moved(study, figure, right)
                    else ""
                )
                return f"{left.quantity} of {figure.id}: ranges are disjoint{too}"
    return None


def _fewest(study: Study, *operands: Operand) -> int:
    places = (p for o in operands for p in study.tally.matching(o.arms, o.cases, o.membership))
    return min((study.tally.complete[place] for place in places), default=0)


def _apart(study: Study, left: Operand, right: Operand) -> bool:
    one, other = study.tally.selected(left).numbers, study.tally.selected(right).numbers
    if not one.count or not other.count:
        return False
    return one.most < other.least or other.most < one.least


def _moved(study: Study, figure: Figure, operand: Operand) -> bool:
    """Whether two unchanged controls are apart as well."""
    one_each = [replace(operand, arms=(arm.id,)) for arm in controls(study, figure)]
    return any(_apart(study, *pair) for pair in pairwise(one_each))
