"""What a formula computes with: the numbers that an operand selects, or one number.

Samples are integers and exact fractions, up to millions of them, and are reduced once for all
figures that select them: in memory where they are few, else by further passes over them.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, Final, Protocol, cast

from verifier.checks.receipt.numbers.intervals import Interval, UncomputableError
from verifier.checks.receipt.numbers.quantities import Number, exact
from verifier.checks.receipt.numbers.running import Rank, Root, Sum, key


class Numbers(Protocol):
    """One operand."""

    @property
    def kept(self) -> Sequence[int | Fraction] | None:
        """The numbers themselves, sorted; None of so many that they are not kept."""

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
    kept: Final = None

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


class Scaled:
    """The numbers of an operand in another unit: each multiplied by one positive factor."""

    def __init__(self, numbers: Numbers, factor: Fraction) -> None:
        """Hold them; nothing is multiplied before it is asked for."""
        self._numbers, self._factor = numbers, Interval.exact(factor)
        self.count = numbers.count

    @property
    def kept(self) -> Sequence[int | Fraction] | None:
        """The numbers, sorted, if they are kept."""
        kept = self._numbers.kept
        return None if kept is None else [each * self._factor.low for each in kept]

    @property
    def total(self) -> Interval:
        """Their sum."""
        return self._numbers.total.times(self._factor)

    @property
    def median(self) -> Interval:
        """The middle one, or the mean of the middle two."""
        return self._numbers.median.times(self._factor)

    @property
    def least(self) -> Interval:
        """The smallest."""
        return self._numbers.least.times(self._factor)

    @property
    def most(self) -> Interval:
        """The largest."""
        return self._numbers.most.times(self._factor)

    @property
    def geometric_mean(self) -> Interval:
        """The root of their product."""
        return self._numbers.geometric_mean.times(self._factor)

    def ranked(self, percent: int) -> Interval:
        """Return the number of that rank."""
        return self._numbers.ranked(percent).times(self._factor)


def middle(count: int) -> tuple[int, int]:
    """Return the ranks, from 0, whose mean is the median; of an odd count they are the same."""
    return (count - 1) // 2, count // 2


def nearest_rank(percent: int, count: int) -> int:
    """Return the rank of a percentile, from 0."""
    return max(-(-percent * count // 100), 1) - 1


class Column:
    """The numbers of one quantity at one place; many operands select it, each with others."""

    def __init__(self) -> None:
        """Begin with none."""
        self.numbers: list[Number] = []

    @cached_property
    def sum(self) -> Sum:
        """Their sum."""
        found = Sum()
        if self.whole:
            found.exact[1] = sum(cast("list[int]", self.numbers))
        else:
            found.add(self.numbers)
        return found

    @cached_property
    def whole(self) -> bool:
        """Whether all are integers, which need no key to be compared fast."""
        return {*map(type, self.numbers)} <= {int}

    @cached_property
    def ordered(self) -> list[Any]:
        """The integers in order, else pairs of key and number in order."""
        return sorted(self.numbers) if self.whole else sorted(map(_ordered, self.numbers))


class Samples:
    """Numbers read off samples; at least one."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Hold them, unsorted."""
        self._columns = columns
        self.count = sum(len(column.numbers) for column in columns)

    @cached_property
    def total(self) -> Interval:
        """Their sum."""
        running = Sum()
        for column in self._columns:
            running.merge(column.sum)
        return running.result

    @property
    def kept(self) -> Sequence[int | Fraction]:
        """The numbers, sorted."""
        return [self._at(rank) for rank in range(self.count)]

    @cached_property
    def _ordered(self) -> Sequence[Any]:
        """Sort what is sorted by column, which takes as long as to merge it."""
        if self._whole or not any(column.whole for column in self._columns):
            return sorted(chain.from_iterable(column.ordered for column in self._columns))
        numbers = chain.from_iterable(column.numbers for column in self._columns)
        return sorted(map(_ordered, numbers))

    @cached_property
    def _whole(self) -> bool:
        return all(column.whole for column in self._columns)

    def _at(self, rank: int) -> int | Fraction:
        found = self._ordered[rank]
        return exact(found if self._whole else found[1])

    @property
    def median(self) -> Interval:
        """The middle one, or the mean of the middle two."""
        left, right = middle(self.count)
        return Interval.exact(Fraction(self._at(left) + self._at(right)) / 2)

    def ranked(self, percent: int) -> Interval:
        """Return the number of that rank."""
        return Interval.exact(self._at(nearest_rank(percent, self.count)))

    @property
    def least(self) -> Interval:
        """The smallest."""
        return Interval.exact(self._at(0))

    @property
    def most(self) -> Interval:
        """The largest."""
        return Interval.exact(self._at(-1))

    @cached_property
    def geometric_mean(self) -> Interval:
        """Enclose the root."""
        root = Root()
        root.see_all(list(chain.from_iterable(column.numbers for column in self._columns)))
        return root.result


class Summary:
    """What is left of numbers that are not kept: how many, between which two, and their sum."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self.least: Number = 0
        self.most: Number = 0
        self.sum = Sum()

    def add(self, numbers: Sequence[Number]) -> None:
        """Take numbers in; at least one."""
        least, most = min(numbers, key=_ordered), max(numbers, key=_ordered)
        self._bound(least, most, len(numbers))
        self.sum.add(numbers)

    def merge(self, other: "Summary") -> None:
        """Take in what another one came to; it has at least one number."""
        self._bound(other.least, other.most, other.count)
        self.sum.merge(other.sum)

    def _bound(self, least: Number, most: Number, count: int) -> None:
        self.least = min(self.least, least) if self.count else least
        self.most = max(self.most, most) if self.count else most
        self.count += count


def _ordered(number: Number) -> tuple[int, Number]:
    return key(number), number


class Streamed:
    """Numbers that are not kept: what the first pass did not tell is looked for in further ones.

    `look` takes what has to see all numbers, and `go` passes over them, for all that was given to
    `look` at once. Whoever will ask for something says so by `foresee` before.
    """

    kept: Final = None

    def __init__(
        self, summary: Summary, look: Callable[[Rank | Root], None], go: Callable[[], None]
    ) -> None:
        """Hold the summary; at least one number."""
        self._summary = summary
        self._look, self._go = look, go
        self._ranks: dict[int, Rank] = {}
        self._root: Root | None = None
        self.count = summary.count

    @property
    def total(self) -> Interval:
        """Their sum."""
        return self._summary.sum.result

    @property
    def least(self) -> Interval:
        """The smallest."""
        return Interval.exact(exact(self._summary.least))

    @property
    def most(self) -> Interval:
        """The largest."""
        return Interval.exact(exact(self._summary.most))

    def foresee(self, formula: str) -> None:
        """Say that this formula will be computed, so that one pass serves for many."""
        if formula == "median":
            self._expect(middle(self.count))
        elif formula in _PERCENTS:
            self._expect((nearest_rank(_PERCENTS[formula], self.count),))
        elif formula == "geometricMean":
            self._rooted()

    def _expect(self, ranks: Iterable[int]) -> None:
        for rank in ranks:
            if rank not in self._ranks:
                summary = self._summary
                self._ranks[rank] = Rank(
                    rank, least=summary.least, most=summary.most, count=self.count
                )
                self._look(self._ranks[rank])

    def _rooted(self) -> Root:
        if self._root is None:
            self._root = Root()
            self._look(self._root)
        return self._root

    @property
    def median(self) -> Interval:
        """The middle one, or the mean of the middle two."""
        left, right = middle(self.count)
        self._expect((left, right))
        self._go()
        return Interval.exact(
            Fraction(exact(self._ranks[left].result) + exact(self._ranks[right].result)) / 2
        )

    def ranked(self, percent: int) -> Interval:
        """Return the number of that rank."""
        rank = nearest_rank(percent, self.count)
        self._expect((rank,))
        self._go()
        return Interval.exact(exact(self._ranks[rank].result))

    @property
    def geometric_mean(self) -> Interval:
        """Enclose the root."""
        root = self._rooted()
        self._go()
        return root.result


_PERCENTS: Final = {"p95": 95, "p99": 99}
