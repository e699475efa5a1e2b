"""Independent stages in every order: the same result, or the shortest order that shows otherwise.

Stages that are marked `independent` are taken in all n! orders if they are up to six, else in a
fixed list: each stage first, each last, both of every pair, the listed order and its reverse.
The state they start from is what the stages before the first of them leave. They are patches,
applied exactly, and region edits, applied by their pinned bytes: never programs.

An order is *refuted* if a stage does not apply in it, or if it leaves other bytes than the listed
order (or, where that is what was declared, other syntax). The shortest counter-example is the
smallest set of these stages, two where two suffice, whose orders disagree among themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import factorial
from typing import Final

from verifier.catalog.entries.composition import Agreement
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable
from verifier.core.value import frozen

#: Files by path, as far as the stages touch them; None where there is none.
Files = Mapping[bytes, bytes | None]
#: Takes one stage: the files afterwards, or why it does not apply, in words.
Step = Callable[[Files], Files | str]
#: Up to so many stages, every order is taken (6! is 720).
_ALL_ORDERS: Final = 6


class TooMuchError(Exception):
    """Trying orders would cost more than a limit, which it names."""


@frozen
class Edit:
    """One stage as an edit of files. It is called with the files of the tree that it may read."""

    name: str
    take: Step


@frozen
class Refuted:
    """One order that does not agree with the listed one, and the place where that shows."""

    order: tuple[str, ...]
    path: bytes | None
    byte: int | None
    why: str


@frozen
class Orders:
    """What trying the orders gave. `tried` of `possible` orders; `shortest` shows a dependence."""

    tried: int
    possible: int
    refuted: tuple[Refuted, ...]
    shortest: Refuted | None


def try_orders(
    edits: Sequence[Edit], files: Files, agreement: Agreement, facts: Callable[[bytes], object]
) -> Orders:
    """Take `edits` in their orders on `files`; `facts` says what of a file is its syntax."""
    listed = tuple(edits)
    same = _same_as(facts if agreement is Agreement.SYNTAX else None)
    orders = list(_orders(listed))
    refuted = list(_refuted(orders, files, same))
    shortest = None
    if refuted:
        shortest = next(_counter_examples(listed, files, same), refuted[0])
    return Orders(
        tried=len(orders),
        possible=factorial(len(listed)),
        refuted=tuple(refuted),
        shortest=shortest,
    )


def findings(orders: Orders) -> tuple[Finding, ...]:
    """Say which orders are refuted, and the shortest counter-example first of all."""
    short = orders.shortest
    if short is None:
        return ()
    names = ", then ".join(short.order)
    return tuple(
        Finding(
            code="order-impossible" if refuted.path is None else "order-different",
            where=Where(
                path=None if refuted.path is None else _shown(refuted.path),
                byte_offset=refuted.byte,
            ),
            expected="the result of the listed order",
            got=f"{', then '.join(refuted.order)}: {refuted.why}",
            cause=f"the shortest counter-example: {names}: {short.why}",
            remedy="do not call them independent: take them in the listed order, and say so in "
            "the entry",
        )
        for refuted in orders.refuted
    )


def _orders(edits: tuple[Edit, ...]) -> Iterator[tuple[Edit, ...]]:
    """List the orders that are tried, the listed one first."""
    if len(edits) <= _ALL_ORDERS:
        yield from permutations(edits)
        return
    found = {edits: None, edits[::-1]: None}
    for number, edit in enumerate(edits):
        rest = edits[:number] + edits[number + 1 :]
        found[(edit, *rest)] = found[(*rest, edit)] = None
    for first, second in combinations(range(len(edits)), 2):
        swapped = list(edits)
        swapped[first], swapped[second] = swapped[second], swapped[first]
        found[tuple(swapped)] = None
    yield from found


def _refuted(
    orders: Sequence[tuple[Edit, ...]],
    files: Files,
    same: Callable[[bytes | None, bytes | None], bool],
) -> Iterator[Refuted]:
    """Compare every order with the first of them; an impossible first refutes itself alone.

    The orders are sorted by their beginnings, and what two of them share is computed once.
    """
    walk = _Walk(files)
    measure: Files | None = None
    for order in orders:
        names = tuple(edit.name for edit in order)
        result = walk.take(order)
        if isinstance(result, str):
            yield Refuted(order=names, path=None, byte=None, why=result)
        elif measure is None:
            measure = result
        elif (place := _first_difference(measure, result, same)) is not None:
            path, byte = place
            why = f"{_shown(path)} differs from byte {byte:,}"
            yield Refuted(order=names, path=path, byte=byte, why=why)


class _Walk:
    """Takes orders one after the other, from what the one before has in common with it.

    Only the files along one order are held: of others, what they left has been compared.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._steps: list[tuple[str, Files | str]] = []

    def take(self, order: tuple[Edit, ...]) -> Files | str:
        """Return what an order leaves, or why it cannot be."""
        shared = 0
        for edit, (name, _) in zip(order, self._steps, strict=False):
            if edit.name != name:
                break
            shared += 1
        del self._steps[shared:]
        result = self._steps[-1][1] if self._steps else self._files
        for edit in order[shared:]:
            if isinstance(result, str):
                return result
            done = edit.take(result)
            result = f"{edit.name} does not apply: {done}" if isinstance(done, str) else done
            self._steps.append((edit.name, result))
        return result


def _counter_examples(
    edits: tuple[Edit, ...],
    files: Files,
    same: Callable[[bytes | None, bytes | None], bool],
) -> Iterator[Refuted]:
    """List what refutes the smallest sets of stages, taken alone, in their listed order."""
    for size in range(2, min(len(edits), _ALL_ORDERS) + 1):
        for chosen in combinations(edits, size):
            # Stages that need another one first do not disagree: alone they do not apply at all.
            if not isinstance(_Walk(files).take(chosen), str):
                yield from _refuted(list(permutations(chosen)), files, same)


def _first_difference(
    one: Files, other: Files, same: Callable[[bytes | None, bytes | None], bool]
) -> tuple[bytes, int] | None:
    for path in sorted(one.keys() | other.keys()):
        here, there = one.get(path), other.get(path)
        if not same(here, there):
            return path, _first_byte(here or b"", there or b"")
    return None


def _first_byte(one: bytes, other: bytes) -> int:
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    low, high = 0, shorter
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _same_as(
    facts: Callable[[bytes], object] | None,
) -> Callable[[bytes | None, bytes | None], bool]:
    def same(one: bytes | None, other: bytes | None) -> bool:
        if one == other:
            return True
        if facts is None or one is None or other is None:
            return False
        found = facts(one)
        return found is not None and found == facts(other)

    return same


def _shown(path: bytes) -> str:
    return printable(path.decode(errors="surrogateescape"))
