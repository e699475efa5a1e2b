"""What a formula computes with: the numbers that an operand selects, or one number.

Samples are integers and exact fractions, up to millions of them, and are reduced once for all
figures that select them. Sums over many different denominators, and roots, are enclosed to forty
digits instead of being written out: exact they would have as many digits as there are samples.
"""

from collections import defaultdict
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Final, Protocol

from verifier.checks.receipt.intervals import Interval, UncomputableError
from verifier.checks.receipt.quantities import Number

#: Digits behind the point to which what is not written out is enclosed.
_DIGITS: Final = 40
#: Sums over more denominators than these are enclosed.
_DENOMINATORS: Final = 256
#: Enough for logarithms of any sample, with digits to spare for the sum of millions of them.
_PRECISION: Final = 64
#: Numbers that are multiplied, exactly, before the logarithm of their product is taken.
_TOGETHER: Final = 64


class Numbers(Protocol):
    """One operand."""

    @property
    def count(self) -> int:
        """How many numbers there are."""

    @property
    def total(self) -> Interval:
        """Their sum; of one number, itself."""

    @property
    def median(self) -> Interval:
        """The middle one, or the mean of the middle two (rule D3)."""

    @property
    def least(self) -> Interval:
        """The smallest."""

    @property
    def most(self) -> Interval:
        """The largest."""

    @property
    def geometric_mean(self) -> Interval:
        """The n-th root of their product. Raises `UncomputableError`."""

    def ranked(self, percent: int) -> Interval:
        """Return the nearest-rank percentile: the smallest that `percent` of all do not exceed."""


class Single:
    """One number, or the interval that a displayed one stands for."""

    count: Final = 1

    def __init__(self, value: Interval) -> None:
        """Hold it."""
        self.total = self.median = self.least = self.most = value

    @property
    def geometric_mean(self) -> Interval:
        """Return the number, which has to be positive."""
        if self.total.low <= 0:
            raise UncomputableError("a geometric mean of what is not positive")
        return self.total

    def ranked(self, percent: int) -> Interval:  # noqa: ARG002
        """Return the number, whatever part of one it is."""
        return self.total


class Samples:
    """Numbers read off samples; at least one."""

    def __init__(self, numbers: Sequence[Number]) -> None:
        """Hold them, unsorted."""
        self._numbers = numbers
        self.count = len(numbers)

    @cached_property
    def total(self) -> Interval:
        """Their sum."""
        by_denominator: dict[int, int] = defaultdict(int)
        for number in self._numbers:
            by_denominator[number.denominator] += number.numerator
        parts = [(top, bottom) for bottom, top in sorted(by_denominator.items())]
        if len(parts) <= _DENOMINATORS:
            return Interval.exact(sum((Fraction(*part) for part in parts), Fraction(0)))
        return _enclosed(*_added(parts))

    @cached_property
    def _sorted(self) -> Sequence[Number]:
        # Fractions compare slowly: almost always their first 32 bits behind the point tell.
        return sorted(self._numbers, key=lambda n: ((n.numerator << 32) // n.denominator, n))

    @property
    def median(self) -> Interval:
        """The middle one, or the mean of the middle two."""
        left, right = (self.count - 1) // 2, self.count // 2
        return Interval.exact(Fraction(self._sorted[left] + self._sorted[right]) / 2)

    def ranked(self, percent: int) -> Interval:
        """Return the number of that rank."""
        rank = -(-percent * self.count // 100)
        return Interval.exact(self._sorted[max(rank, 1) - 1])

    @property
    def least(self) -> Interval:
        """The smallest."""
        return Interval.exact(self._sorted[0])

    @property
    def most(self) -> Interval:
        """The largest."""
        return Interval.exact(self._sorted[-1])

    @cached_property
    def geometric_mean(self) -> Interval:
        """Enclose the root by logarithms, each of which is off by its last digit at most."""
        if self._sorted[0] <= 0:
            raise UncomputableError("a geometric mean of what is not positive")
        context = Context(prec=_PRECISION)
        total = Decimal(0)
        for at in range(0, self.count, _TOGETHER):
            some = self._numbers[at : at + _TOGETHER]
            top, bottom = prod(n.numerator for n in some), prod(n.denominator for n in some)
            total = context.add(total, context.ln(context.divide(Decimal(top), Decimal(bottom))))
        mean = context.divide(total, Decimal(self.count))
        off = Decimal(1).scaleb(-_DIGITS)
        low, high = (Context(prec=_PRECISION, rounding=r) for r in (ROUND_FLOOR, ROUND_CEILING))
        return Interval(
            Fraction(low.subtract(low.exp(low.subtract(mean, off)), Decimal(0))),
            Fraction(high.add(high.exp(high.add(mean, off)), off)),
        )


def _added(parts: list[tuple[int, int]]) -> tuple[int, int]:
    """Add fractions by halves, without shortening them: all numbers stay of like size."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    (a, b), (c, d) = _added(parts[:half]), _added(parts[half:])
    return a * d + c * b, b * d


def _enclosed(top: int, bottom: int) -> Interval:
    scale = 10**_DIGITS
    low = top * scale // bottom
    return Interval(Fraction(low, scale), Fraction(low + 1, scale))
