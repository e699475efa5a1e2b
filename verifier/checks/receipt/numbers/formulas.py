"""The closed list of formulas: which operands each takes, and how it is computed, exactly.

Sources: receipts.md, rules D3 to D9 and G3, and the threads that they name.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from verifier.checks.receipt.numbers.intervals import Interval
from verifier.checks.receipt.numbers.operands import Numbers

_HUNDRED: Final = Interval.exact(100)
_ONE: Final = Interval.exact(1)


class Formula(NamedTuple):
    """`compute` takes every operand as its numbers, and the parameters."""

    operands: tuple[str, ...]
    compute: Callable[[Mapping[str, Numbers], Mapping[str, Decimal]], Interval]
    parameters: tuple[str, ...] = ()


def _of(compute: Callable[[Numbers], Interval]) -> Formula:
    """Make a formula of one operand, all of whose numbers count."""

    def over(operands: Mapping[str, Numbers], _: Mapping[str, Decimal]) -> Interval:
        return compute(operands["of"])

    return Formula(("of",), over)


def _two(names: tuple[str, str], compute: Callable[[Interval, Interval], Interval]) -> Formula:
    """Make a formula of two operands, each of them one number or a sum."""

    def over(operands: Mapping[str, Numbers], _: Mapping[str, Decimal]) -> Interval:
        return compute(operands[names[0]].total, operands[names[1]].total)

    return Formula(names, over)


def _mean(numbers: Numbers) -> Interval:
    return numbers.total.over(Interval.exact(numbers.count))


def _change(candidate: Interval, baseline: Interval) -> Interval:
    """100 (candidate / baseline - 1), in percent (D4)."""
    return _HUNDRED.times(candidate.over(baseline).minus(_ONE))


def _tolerance(operands: Mapping[str, Numbers], parameters: Mapping[str, Decimal]) -> Interval:
    """Return what is left of absolute + relative |off| after |on - off|; below 0 fails (G3)."""
    on, off = operands["on"].total, operands["off"].total
    relative, absolute = (Interval.exact(parameters[n]) for n in ("relative", "absolute"))
    bound = absolute.plus(relative.times(off.absolute()))
    return bound.minus(on.minus(off).absolute())


FORMULAS: Final[dict[str, Formula]] = {
    "median": _of(lambda numbers: numbers.median),
    "mean": _of(_mean),
    "geometricMean": _of(lambda numbers: numbers.geometric_mean),
    "sum": _of(lambda numbers: numbers.total),
    "minimum": _of(lambda numbers: numbers.least),
    "maximum": _of(lambda numbers: numbers.most),
    "p95": _of(lambda numbers: numbers.ranked(95)),
    "p99": _of(lambda numbers: numbers.ranked(99)),
    "count": _of(lambda numbers: Interval.exact(numbers.count)),
    "value": _of(lambda numbers: numbers.total),
    "difference": _two(("candidate", "baseline"), Interval.minus),
    "ratio": _two(("candidate", "baseline"), Interval.over),
    "change": _two(("candidate", "baseline"), _change),
    "fraction": _two(("part", "whole"), lambda part, whole: _HUNDRED.times(part.over(whole))),
    "rate": _two(
        ("amount", "microseconds"),
        lambda amount, time: Interval.exact(Fraction(1_000_000)).times(amount.over(time)),
    ),
    "acceptanceLength": _two(
        ("accepted", "drafts"), lambda accepted, drafts: _ONE.plus(accepted.over(drafts))
    ),
    "normalisedDecode": _two(("rate", "acceptanceLength"), Interval.over),
    "toleranceMargin": Formula(("on", "off"), _tolerance, ("absolute", "relative")),
}
