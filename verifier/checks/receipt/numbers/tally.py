"""One pass over all samples: what is counted, collected for figures, and noted by row rules.

Memory does not grow with the rows: of more numbers than are kept only summaries stay, and what
figures need beyond them is looked for in further passes (`running`). What rows share that are
alike is found out once (`alike`) and counted when all were seen.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from verifier.checks.receipt.document.model import Operand
from verifier.checks.receipt.numbers.alike import Alike, Missing, RowRule, kind
from verifier.checks.receipt.numbers.operands import Column, Samples, Streamed, Summary
from verifier.checks.receipt.numbers.quantities import Number, reader
from verifier.checks.receipt.numbers.running import Rank, Root
from verifier.checks.receipt.numbers.samples import Row, mistake
from verifier.core.limits import NUMBERS_KEPT, ROW_KINDS, ROWS_NOTED, SAMPLE_PLACES

#: Where a row stands: arm, case, membership.
Place = tuple[str, str, str]
#: Amounts of which every place keeps count, least, most and sum.
WORK: Final = ("promptTokens", "completionTokens")
#: Rows of one kind whose amounts wait to be counted together.
_WAITING: Final = 64
_Key = tuple[str, Sequence[str], Sequence[str], str]
_Reader = Callable[[Row], Number | None]
_See = Callable[[Number], None]


class Noted:
    """How many rows were noted, and the first few of them with what was wrong."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self.first: list[tuple[int, str]] = []

    def add(self, number: int, text: str) -> None:
        """Note one row, counted from 0."""
        self.count += 1
        if len(self.first) < ROWS_NOTED:
            self.first.append((number, text))

    def add_all(self, count: int, first: Iterable[int], text: str) -> None:
        """Note rows of which all the same is wrong; `first` are the first of them."""
        self.count += count
        found = [*self.first, *((number, text) for number in first)]
        self.first = sorted(found, key=lambda each: each[0])[:ROWS_NOTED]

    def __str__(self) -> str:
        """Name the first rows, and say how many more there are."""
        told = "; ".join(f"samples[{number}]: {text}" for number, text in self.first)
        more = self.count - len(self.first)
        return f"{told}; and {more:,} more" if more else told


class Selected(NamedTuple):
    """The numbers that an operand selects, and how many of its rows have none."""

    numbers: Samples | Streamed
    rows: int
    missing: int


class Extent:
    """Count, least, most and sum of the numbers of one place, in constant memory.

    Whoever appends to `waiting` settles from time to time, and at the end.
    """

    __slots__ = ("count", "least", "most", "total", "waiting")

    def __init__(self) -> None:
        """Begin with none."""
        self.count = self.least = self.most = self.total = 0
        self.waiting: list[int] = []

    def settle(self) -> None:
        """Take in the numbers that wait."""
        if self.waiting:
            least, most = min(self.waiting), max(self.waiting)
            self.least = min(self.least, least) if self.count else least
            self.most = max(self.most, most) if self.count else most
            self.count += len(self.waiting)
            self.total += sum(self.waiting)
            self.waiting.clear()


def _extents() -> dict[str, Extent]:
    return {name: Extent() for name in (*WORK, "cap", "request")}


class MalformedSamplesError(ValueError):
    """Rows that break their format; the text names the first ones."""


class Tally:
    """What all samples together say."""

    def __init__(self, quantities: Iterable[str], rules: Iterable[RowRule]) -> None:
        """Collect these quantities of every place, and ask these rules of every row."""
        self._readers = [(name, reader(name)) for name in sorted(set(quantities))]
        self._rules = tuple(rules)
        self._alike: dict[tuple[Any, ...], Alike] = {}
        self._all: Iterable[Any] = ()
        self._numbers: dict[tuple[Place, str], Column] = defaultdict(Column)
        self._in_order: list[Place] = []
        self._of_arm: dict[str, list[Place]] = defaultdict(list)
        self._kept = 0
        self._folded: dict[tuple[Place, str], Summary] = defaultdict(Summary)
        self._selected: dict[_Key, Selected] = {}
        self._sought: list[tuple[Operand, Rank | Root]] = []
        self.rows = 0
        self.places: Counter[Place] = Counter()
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.complete: Counter[Place] = Counter()
        self.post_hoc: Counter[Place] = Counter()
        self.work: dict[Place, dict[str, Extent]] = defaultdict(_extents)
        self.rejected: dict[Place, set[tuple[int, int]]] = defaultdict(set)
        self.retried: dict[Place, Counter[tuple[int, int]]] = defaultdict(Counter)
        self.broken: dict[str, Noted] = defaultdict(Noted)
        self.uncheckable: dict[str, Noted] = defaultdict(Noted)

    def see_all(self, rows: Iterable[Any]) -> None:
        """Take every row in; `rows` gives the same ones again whenever it is iterated over.

        Raises `MalformedSamplesError` after the last, naming what is wrong. Rows that are malformed
        count for nothing, so nothing may be said once it raises.
        """
        self._all = rows
        wrong = Noted()
        for row in rows:
            try:
                alike = self._alike.get(kind(row))
            except (
                AttributeError,
                KeyError,
                TypeError,
            ):  # no row: what it is instead is told below
                alike = None
            if alike is None or not alike.sound(row):
                if problem := mistake(row):
                    wrong.add(self.rows, problem)
                    self.rows += 1
                    continue
                alike = alike or self._new(row)
            self._see(row, alike)
            self.rows += 1
        self._settle()
        if wrong.count:
            raise MalformedSamplesError(str(wrong))
        self._in_order = sorted(self.places)
        for place in self._in_order:
            self._of_arm[place[0]].append(place)
        if self._folded:
            self._fold()

    def _new(self, row: Row) -> Alike:
        """Find out what rows share that are like this one, the first of them."""
        if len(self._alike) >= ROW_KINDS:
            self._settle()
        found = Alike(row, self._rules)
        self.places[found.place] += 0
        if len(self.places) > SAMPLE_PLACES:
            most = f"more than {SAMPLE_PLACES:,} arms, cases and memberships"
            raise MalformedSamplesError(f"samples[{self.rows}]: {most}")
        if found.complete:
            found.reads = tuple(
                (read, self._numbers[found.place, name].numbers.append)
                for name, read in self._readers
            )
            work, usage = self.work[found.place], row.get("usage") or ()
            found.usage = tuple((name, work[name].waiting.append) for name in WORK if name in usage)
        self._alike[kind(row)] = found
        return found

    def _see(self, row: Row, alike: Alike) -> None:
        alike.rows += 1
        if alike.rows <= ROWS_NOTED:
            alike.first.append(self.rows)
        if alike.complete:
            for read, take in alike.reads:
                number = read(row)
                if number is not None:
                    take(number)
                    self._kept += 1
            if self._kept > NUMBERS_KEPT:
                self._fold()
            self._see_work(row, alike)
        if alike.flagged and row["postHoc"]:
            self.post_hoc[alike.place] += 1
        if alike.attempts:
            self._see_attempt(alike.place, row)
        if alike.asked:
            self._ask(row, alike)

    def _ask(self, row: Row, alike: Alike) -> None:
        for ask, rules in alike.asked:
            answer = ask(row)
            if answer is None:
                continue
            if isinstance(answer, Missing):
                for rule in rules:
                    self.uncheckable[rule].add(self.rows, answer.what)
            else:
                for rule in rules:
                    self.broken[rule].add(self.rows, answer)

    def _settle(self) -> None:
        """Count what is known of rows that are alike, and forget their kinds."""
        for alike in self._alike.values():
            place, rows = alike.place, alike.rows
            self.places[place] += rows
            self.statuses[place[0], alike.row["status"]] += rows
            if alike.complete:
                self.complete[place] += rows
            for rule, answer in alike.answers:
                if isinstance(answer, Missing):
                    self.uncheckable[rule].add_all(rows, alike.first, answer.what)
                else:
                    self.broken[rule].add_all(rows, alike.first, answer)
        self._alike.clear()
        for work in self.work.values():
            for extent in work.values():
                extent.settle()

    def checked(self, rule: str) -> int:
        """Count the rows on which a row rule holds."""
        noted = (self.broken.get(rule), self.uncheckable.get(rule))
        return self.rows - sum(each.count for each in noted if each)

    def _see_work(self, row: Row, alike: Alike) -> None:
        """Keep how much was asked for and given, and one number for all the requests (A10)."""
        if alike.usage:
            usage = row["usage"]
            for name, take in alike.usage:
                number = usage[name]
                if number is not None:
                    take(number)
        work, cap, request = self.work[alike.place], row.get("cap"), row.get("request")
        if cap is not None:
            work["cap"].waiting.append(cap)
        if request:
            work["request"].waiting.append(hash(request["sha256"]))
        if not alike.rows % _WAITING:
            for extent in work.values():
                extent.settle()

    def _see_attempt(self, place: Place, row: Row) -> None:
        """Keep (repetition, attempt) of what was rejected, and of what was tried again (E6)."""
        attempt, repetition = row["attempt"], row["repetition"]
        if attempt is None or repetition is None:
            return
        if attempt > 1:
            self.retried[place][repetition, attempt] += 1
        if row["status"] != "complete":
            self.rejected[place].add((repetition, attempt))

    def _fold(self) -> None:
        """Let all numbers go that are kept; a summary of each place and quantity stays."""
        for key, column in self._numbers.items():
            if column.numbers:
                self._folded[key].add(column.numbers)
                column.numbers.clear()  # and no other list: rows that are alike know this one
        self._kept = 0

    def selected(self, operand: Operand) -> Selected:
        """Return what an operand selects; only completed requests have numbers."""
        key = (operand.quantity or "", operand.arms, operand.cases, operand.membership)
        if key not in self._selected:
            self._selected[key] = self._select(operand)
        return self._selected[key]

    def _select(self, operand: Operand) -> Selected:
        places = list(self.matching(operand.arms, operand.cases, operand.membership))
        keys = [(place, operand.quantity or "") for place in places]
        rows = sum(self.complete[place] for place in places)
        if not self._folded:
            kept = Samples([self._numbers[key] for key in keys if key in self._numbers])
            return Selected(numbers=kept, rows=rows, missing=rows - kept.count)
        summary = Summary()
        for key in keys:
            if key in self._folded:
                summary.merge(self._folded[key])
        numbers = Streamed(summary, lambda sought: self._sought.append((operand, sought)), self._go)
        return Selected(numbers=numbers, rows=rows, missing=rows - summary.count)

    def foresee(self, operand: Operand, formula: str) -> None:
        """Say that a formula will be computed of an operand: one pass then serves for many."""
        found = self.selected(operand)
        if isinstance(found.numbers, Streamed) and found.rows and not found.missing:
            found.numbers.foresee(formula)

    def _go(self) -> None:
        """Pass over all rows again until everything is found that was looked for.

        They are examined again: what changed meanwhile is told by whoever reads them, after the
        last, and must not be taken for a sample before.
        """
        while self._sought:
            looking = _by_place(self._sought, self)
            for row in self._all:
                if mistake(row) or row["status"] != "complete":
                    continue
                for read, sees in looking.get((row["arm"], row["case"], row["membership"]), ()):
                    number = read(row)
                    if number is not None:
                        for see in sees:
                            see(number)
            self._sought = [each for each in self._sought if not each[1].closed()]

    def matching(
        self, arms: Sequence[str], cases: Sequence[str], membership: str
    ) -> Iterator[Place]:
        """Return the places that a selection means, in order; an empty list means all."""
        named = chain.from_iterable(self._of_arm.get(arm, ()) for arm in sorted(set(arms)))
        wanted = frozenset(cases)
        for place in named if arms else self._in_order:
            if place[2] == membership and (not wanted or place[1] in wanted):
                yield place

    def of_membership(self) -> Counter[str]:
        """Count rows by membership."""
        found: Counter[str] = Counter()
        for (_, _, membership), number in self.places.items():
            found[membership] += number
        return found


def _by_place(
    sought: Iterable[tuple[Operand, Rank | Root]], tally: Tally
) -> Mapping[Place, list[tuple[_Reader, list[_See]]]]:
    """Return what is looked for at each place: how a number is read, and what has to see it."""
    found: dict[Place, dict[str, list[_See]]] = defaultdict(lambda: defaultdict(list))
    for operand, each in sought:
        for place in tally.matching(operand.arms, operand.cases, operand.membership):
            found[place][operand.quantity or ""].append(each.see)
    return {
        place: [(reader(name), sees) for name, sees in wanted.items()]
        for place, wanted in found.items()
    }
