"""What is made of numbers one at a time, in memory that does not grow with them: sum, root, rank.

Sums over many different denominators, and roots, are enclosed to forty digits instead of being
written out: exact they would have as many digits as there are samples.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import gcd, prod
from operator import attrgetter
from typing import Final

from verifier.checks.receipt.numbers.intervals import Interval, UncomputableError
from verifier.checks.receipt.numbers.quantities import Number
from verifier.core.limits import NUMBERS_COLLECTED

#: Digits behind the point to which a root is enclosed, and eight more for each term of a sum.
_DIGITS: Final = 40
_SCALE: Final = 10 ** (_DIGITS + 8)
#: Sums over more denominators than these are enclosed.
_DENOMINATORS: Final = 256
#: Enough for logarithms of any sample, with digits to spare for the sum of millions of them.
_PRECISION: Final = 64
#: Numbers that are multiplied, exactly, before the logarithm of their product is taken.
_TOGETHER: Final = 256
#: Parts into which the numbers around a rank are counted.
_BUCKETS: Final = 4096
_TOP: Final = attrgetter("numerator")
_BOTTOM: Final = attrgetter("denominator")
#: Bits behind the point that tell almost all numbers apart, faster than comparing fractions does.
_BITS: Final = 32


def key(number: Number, bits: int = _BITS) -> int:
    """Return the number with so many bits behind the point, cut off; equal or smaller, never more.

    What is smaller never has a larger key.
    """
    return (number.numerator << bits) // number.denominator


class Sum:
    """A sum. It is exact over up to 256 different denominators, else enclosed."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.exact: dict[int, int] = defaultdict(int)
        self.low = self.off = 0

    def add(self, numbers: Iterable[Number]) -> None:
        """Add numbers."""
        exact = self.exact
        for number in numbers:
            top, bottom = number.numerator, number.denominator
            common = gcd(top, bottom)  # a `Rate` is not reduced, and its denominators are many
            exact[bottom // common] += top // common
            if len(exact) > _DENOMINATORS:
                self._enclose()

    def merge(self, other: "Sum") -> None:
        """Add what another one came to."""
        self.low += other.low
        self.off += other.off
        self.add(Fraction(top, bottom) for bottom, top in other.exact.items())

    def _enclose(self) -> None:
        for bottom, top in self.exact.items():
            self.low += top * _SCALE // bottom
        self.off += len(self.exact)
        self.exact.clear()

    @property
    def result(self) -> Interval:
        """What all come to."""
        exact = sum((Fraction(top, bottom) for bottom, top in self.exact.items()), Fraction(0))
        low, high = (Fraction(self.low + off, _SCALE) for off in (0, self.off))
        return Interval(exact + low, exact + high)


class Root:
    """The geometric mean: the n-th root of a product of n, by logarithms.

    Each logarithm is off by its last digit at most.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._context = Context(prec=_PRECISION)
        self._total = Decimal(0)
        self._waiting: list[Number] = []
        self._count = 0
        self._positive = True

    def see(self, number: Number) -> None:
        """Multiply by one number."""
        self._count += 1
        self._positive = self._positive and number > 0
        self._waiting.append(number)
        if len(self._waiting) == _TOGETHER:
            self._take()

    def see_all(self, numbers: Sequence[Number]) -> None:
        """Multiply by all numbers, before any other: the same as one by one, and faster."""
        self._count = len(numbers)
        self._positive = min(map(_TOP, numbers)) > 0
        for start in range(0, len(numbers), _TOGETHER):
            self._waiting = list(numbers[start : start + _TOGETHER])
            self._take()

    def closed(self) -> bool:
        """Whether no further pass over the numbers is needed: never is one."""
        return True

    def _take(self) -> None:
        if self._positive and self._waiting:
            some, context = self._waiting, self._context
            top, bottom = prod(map(_TOP, some)), prod(map(_BOTTOM, some))
            part = context.ln(context.divide(Decimal(top), Decimal(bottom)))
            self._total = context.add(self._total, part)
        self._waiting.clear()

    @property
    def result(self) -> Interval:
        """The root. Raises `UncomputableError` unless all numbers are positive."""
        self._take()
        if not self._positive:
            raise UncomputableError("a geometric mean of what is not positive")
        mean = self._context.divide(self._total, Decimal(self._count))
        off = Decimal(1).scaleb(-_DIGITS)
        low, high = (Context(prec=_PRECISION, rounding=r) for r in (ROUND_FLOOR, ROUND_CEILING))
        return Interval(
            Fraction(low.subtract(low.exp(low.subtract(mean, off)), Decimal(0))),
            Fraction(high.add(high.exp(high.add(mean, off)), off)),
        )


class Rank:
    """The number of one rank, found exactly in as many passes over all numbers as it takes.

    A pass counts the numbers between two bounds in 4096 parts, and keeps the part that the rank
    falls into, with its smallest and largest number as the next bounds; once few enough are left,
    a pass collects them. What is equal is never told apart, and needs not be.
    """

    def __init__(self, rank: int, *, least: Number, most: Number, count: int) -> None:
        """Look for rank `rank`, counted from 0, of `count` numbers from `least` to `most`."""
        self._rank = rank
        self._narrow(least, most, count)

    def _narrow(self, least: Number, most: Number, count: int) -> None:
        self._least, self._most, self._count = least, most, count
        self._bits = _BITS
        self._low, self._high = key(least, _BITS), key(most, _BITS)
        while least != most and self._high - self._low < _BUCKETS:
            self._bits += _BITS
            self._low, self._high = key(least, self._bits), key(most, self._bits)
        self._collected: list[Number] = []
        self._parts: dict[int, tuple[Number, Number, int]] = {}

    @property
    def result(self) -> Number:
        """The number, once `closed`."""
        return self._least

    def see(self, number: Number) -> None:
        """Take one number in."""
        at = key(number, self._bits)
        if at < self._low or at > self._high:
            return
        if (at == self._low and number < self._least) or (at == self._high and number > self._most):
            return
        if self._count <= NUMBERS_COLLECTED:
            self._collected.append(number)
            return
        part = (at - self._low) * _BUCKETS // (self._high - self._low + 1)
        least, most, count = self._parts.get(part, (number, number, 0))
        self._parts[part] = (min(least, number), max(most, number), count + 1)

    def closed(self) -> bool:
        """End a pass over all numbers; whether the number of that rank is known now."""
        if self._least == self._most:
            return True
        if self._count <= NUMBERS_COLLECTED:
            self._collected.sort(key=lambda number: (key(number), number))
            found = self._collected[self._rank]
            self._narrow(found, found, 1)
            return True
        for _, (least, most, count) in sorted(self._parts.items()):
            if self._rank < count:
                self._narrow(least, most, count)
                break
            self._rank -= count
        return self._least == self._most
