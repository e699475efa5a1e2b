"""The closed list of formulas: which operands each takes, and how it is computed, exactly.

An operand is reduced to one number before it gets here: samples by what the formula says of that
operand (their sum, or all of them), a displayed value to the interval that it stands for, another
figure to its own result. Sources: receipts.md, rules D3 to D9 and G3, and the threads that they
name.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from verifier.checks.receipt.intervals import Interval, UncomputableError, geometric_mean

Numbers = list[Interval]
_HUNDRED: Final = Interval.exact(100)
_ONE: Final = Interval.exact(1)


class Formula(NamedTuple):
    """`compute` takes every operand as its numbers, and the parameters."""

    operands: tuple[str, ...]
    compute: Callable[[Mapping[str, Numbers], Mapping[str, Decimal]], Interval]
    parameters: tuple[str, ...] = ()


def _one(numbers: Numbers) -> Interval:
    """Return the sum of what an operand holds: one number is its own."""
    if not numbers:
        raise UncomputableError("no number")
    total = numbers[0]
    for number in numbers[1:]:
        total = total.plus(number)
    return total


def _of(compute: Callable[[Numbers], Interval]) -> Formula:
    """Make a formula of one operand, all of whose numbers count."""

    def over(operands: Mapping[str, Numbers], _: Mapping[str, Decimal]) -> Interval:
        if not operands["of"]:
            raise UncomputableError("no number")
        return compute(operands["of"])

    return Formula(("of",), over)


def _median(numbers: Numbers) -> Interval:
    """Return the middle one, or the mean of the middle two (D3)."""
    low, high = sorted(n.low for n in numbers), sorted(n.high for n in numbers)
    left, right = (len(numbers) - 1) // 2, len(numbers) // 2
    return Interval((low[left] + low[right]) / 2, (high[left] + high[right]) / 2)


def _mean(numbers: Numbers) -> Interval:
    return _one(numbers).over(Interval.exact(len(numbers)))


def _least(numbers: Numbers) -> Interval:
    return Interval(min(n.low for n in numbers), min(n.high for n in numbers))


def _most(numbers: Numbers) -> Interval:
    return Interval(max(n.low for n in numbers), max(n.high for n in numbers))


def _percentile(percent: int) -> Callable[[Numbers], Interval]:
    """Return the nearest rank: number ceil(percent n / 100) of n in ascending order (N5)."""

    def of(numbers: Numbers) -> Interval:
        low, high = sorted(n.low for n in numbers), sorted(n.high for n in numbers)
        rank = -(-percent * len(numbers) // 100) - 1
        return Interval(low[rank], high[rank])

    return of


def _two(names: tuple[str, str], compute: Callable[[Interval, Interval], Interval]) -> Formula:
    """Make a formula of two operands, each of them one number or a sum."""

    def over(operands: Mapping[str, Numbers], _: Mapping[str, Decimal]) -> Interval:
        return compute(_one(operands[names[0]]), _one(operands[names[1]]))

    return Formula(names, over)


def _change(candidate: Interval, baseline: Interval) -> Interval:
    """100 (candidate / baseline - 1), in percent (D4)."""
    return _HUNDRED.times(candidate.over(baseline).minus(_ONE))


def _tolerance(operands: Mapping[str, Numbers], parameters: Mapping[str, Decimal]) -> Interval:
    """Return what is left of absolute + relative |off| after |on - off|; below 0 fails (G3)."""
    on, off = _one(operands["on"]), _one(operands["off"])
    relative, absolute = (Interval.exact(parameters[n]) for n in ("relative", "absolute"))
    bound = absolute.plus(relative.times(off.absolute()))
    return bound.minus(on.minus(off).absolute())


FORMULAS: Final[dict[str, Formula]] = {
    "median": _of(_median),
    "mean": _of(_mean),
    "geometricMean": _of(geometric_mean),
    "sum": _of(_one),
    "minimum": _of(_least),
    "maximum": _of(_most),
    "p95": _of(_percentile(95)),
    "p99": _of(_percentile(99)),
    "count": _of(lambda numbers: Interval.exact(len(numbers))),
    "value": _of(_one),
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
