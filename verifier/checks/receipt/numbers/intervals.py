"""Exact numbers and the intervals that displayed ones stand for (rule D2).

A number that is only displayed stands for every number that rounds to it; what is computed from
such numbers is an interval too. A published figure is consistent if some number of that interval
rounds to it, by half-even or by half-up (away from zero), the two roundings that programs use.
A fixed epsilon would refuse true figures, -20.6 % for a point value of -20.53 % among them
(seeds/003), and accept false ones.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, Self


class UncomputableError(ValueError):
    """A division by what may be zero, a root of what may be negative."""


class Interval(NamedTuple):
    """All numbers from `low` to `high`, both included; an exact number is one point."""

    low: Fraction
    high: Fraction

    @classmethod
    def exact(cls, value: Fraction | Decimal | int) -> Self:
        """Return the interval of one number."""
        point = Fraction(value)
        return cls(point, point)

    @classmethod
    def displayed(cls, value: Decimal, places: int) -> Self:
        """Return what a number that is shown with `places` decimals stands for."""
        half = Fraction(1, 2 * 10**places)
        return cls(Fraction(value) - half, Fraction(value) + half)

    @property
    def point(self) -> Fraction:
        """The number itself, or the middle of what it may be."""
        return (self.low + self.high) / 2

    def plus(self, other: "Interval") -> "Interval":
        """Add."""
        return Interval(self.low + other.low, self.high + other.high)

    def minus(self, other: "Interval") -> "Interval":
        """Subtract."""
        return Interval(self.low - other.high, self.high - other.low)

    def times(self, other: "Interval") -> "Interval":
        """Multiply."""
        return _hull(a * b for a in self for b in other)

    def over(self, other: "Interval") -> "Interval":
        """Divide. Raises `UncomputableError` if the divisor may be zero."""
        if other.low <= 0 <= other.high:
            raise UncomputableError("a division by zero")
        return _hull(a / b for a in self for b in other)

    def absolute(self) -> "Interval":
        """Return the interval without signs."""
        if self.low <= 0 <= self.high:
            return Interval(Fraction(0), max(-self.low, self.high))
        return _hull(map(abs, self))


def _hull(values: Iterable[Fraction]) -> Interval:
    found = list(values)
    return Interval(min(found), max(found))


def rounds_to(result: Interval, value: Decimal, places: int) -> bool:
    """Whether some number of `result` is shown as `value` with `places` decimals."""
    shown = Interval.displayed(value, places)
    low, high = max(result.low, shown.low), min(result.high, shown.high)
    if low != high:
        return low < high
    return _tie(low, value, places)


def _tie(number: Fraction, value: Decimal, places: int) -> bool:
    """Whether one number is shown as `value`; half a unit away it depends on the rounding."""
    unit = Fraction(1, 10**places)
    distance = abs(number - Fraction(value))
    if 2 * distance != unit:
        return 2 * distance < unit
    even = (Fraction(value) / unit) % 2 == 0
    return even or abs(number) < abs(Fraction(value))


def shown(value: Fraction, places: int) -> str:
    """Print a number with `places` decimals, half-even, for messages alone."""
    scaled = round(value * 10**places)
    sign, digits = "-" if scaled < 0 else "", str(abs(scaled)).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else f"{sign}{digits}"
