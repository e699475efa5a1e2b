"""Rows that are alike, and row rules asked of all of them at once.

Rows are alike if they have the same keys and stand for the same arm, case, membership and status.
A hundred thousand rows are of a few dozen kinds, and what all rows of a kind share is found out
once: whether the keys are known ones, and the answers of those rules that look at nothing else.
Whether a rule does is not declared, but seen: it is asked of a first row that notes what is read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from verifier.checks.receipt.numbers.quantities import Number
from verifier.checks.receipt.numbers.samples import GROUPS, INTEGERS, RARER, Row

#: What rows that are alike have in common beside their keys.
SHARED: Final = ("arm", "case", "membership", "status")


class Missing(NamedTuple):
    """What a row lacks for a rule to be checked."""

    what: str


Answer = str | Missing | None
#: A function of one row, which must tell the same of the same row, whatever came between.
Ask = Callable[[Row], Answer]


class RowRule(NamedTuple):
    """A rule that looks at one row: None (holds), a text (broken), `Missing` (not to be checked).

    `where` narrows it to rows of some arms, cases, memberships and statuses, and is told nothing
    else; elsewhere it holds. Rules with the same `ask` are asked once a row.
    """

    id: str
    ask: Ask
    where: Callable[[Row], bool] | None = None


class Alike:
    """What is known of all rows of one kind; `rows` counts them, `first` are the first of them."""

    __slots__ = (
        *("answers", "asked", "first", "groups", "integers", "rarer", "row", "rows"),
        *("attempts", "complete", "flagged", "place", "reads", "usage"),
    )

    def __init__(self, row: Row, rules: Iterable[RowRule]) -> None:
        """Ask the rules of a first row, which is sound (`samples.mistake`)."""
        self.row: Row = {name: row[name] for name in SHARED}
        self.place = (row["arm"], row["case"], row["membership"])
        self.complete = row["status"] == "complete"
        self.flagged = "postHoc" in row
        self.attempts = "attempt" in row and "repetition" in row
        #: How each quantity is read, and each number of `usage`, and what takes it.
        self.reads: tuple[tuple[Callable[[Row], Number | None], Callable[[Number], None]], ...] = ()
        self.usage: tuple[tuple[str, Callable[[int], None]], ...] = ()
        self.integers = tuple(name for name in INTEGERS if name in row)
        self.groups = tuple(name for name in GROUPS if row.get(name) is not None)
        self.rarer = not RARER.isdisjoint(row)
        self.rows = 0
        self.first: list[int] = []
        #: Answers that are those of every row.
        self.answers: list[tuple[str, str | Missing]] = []
        asked: dict[Ask, list[str]] = {}
        for rule in rules:
            if rule.where is not None and not rule.where(self.row):
                continue
            watched = Watched(row)
            answer = rule.ask(watched)
            if watched.told[0]:
                asked.setdefault(rule.ask, []).append(rule.id)
            elif answer is not None:
                self.answers.append((rule.id, answer))
        #: What has to be asked of each row, and for which rules.
        self.asked = tuple(asked.items())

    def sound(self, row: Row) -> bool:
        """Whether a row is surely sound; of one that is not, `samples.mistake` has to say.

        One by one is faster than all numbers in one set of types: half the time.
        """
        if self.rarer:
            return False
        for name in self.integers:
            value = row[name]
            if type(value) is not int or value < 0:
                return False
        for name in self.groups:
            group = row[name]
            if type(group) is not dict:  # a list of its keys would be alike
                return False
            for value in group.values():
                if type(value) is not int or value < 0:
                    return False
        return True


def kind(row: Any) -> tuple[Any, ...]:
    """Return what rows have in common that are alike.

    Raises `TypeError`, `AttributeError` or `KeyError` for some that are malformed.
    """
    usage, timing, counters = row.get("usage"), row.get("timingUs"), row.get("counterDeltas")
    return (
        row["arm"],
        row["case"],
        row["membership"],
        row["status"],
        tuple(row),
        None if usage is None else tuple(usage),
        None if timing is None else tuple(timing),
        None if counters is None else tuple(counters),
    )


class Watched(Mapping[str, Any]):
    """A row, or a group in it, that notes whether anything was read that rows of a kind differ in.

    Whether a key is there they have in common, and whether a group is null.
    """

    __slots__ = ("_common", "_row", "told")

    def __init__(self, row: Row, told: list[bool] | None = None) -> None:
        """Watch a row; `told` is given for a group in it, which shares no value with others."""
        self._row = row
        self._common = SHARED if told is None else ()
        self.told = [False] if told is None else told

    def __getitem__(self, name: str) -> Any:
        """Return a value; `get` and `in` come here too."""
        value = self._row[name]
        if name in self._common or (value is None and name in GROUPS):
            return value
        if self._common and name in GROUPS:
            return Watched(value, self.told)
        self.told[0] = True
        return value

    def __contains__(self, name: object) -> bool:
        """Whether a key is there."""
        return name in self._row

    def __iter__(self) -> Iterator[str]:
        """Go over the keys; values are then read one by one."""
        return iter(self._row)

    def __len__(self) -> int:
        """Count the keys."""
        return len(self._row)
