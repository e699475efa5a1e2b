"""Step 2: a patched host is its pristine host plus inserted lines, and nothing else.

Where the same lines could have been inserted at several places, the fewest ranges are taken, and
of those the ones that begin latest; the ranges of an installer's own blocks decide before that
(`blocks`). Lines are counted by LF only.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from verifier.checks.helper.regions import Range
from verifier.core.value import frozen

#: Places that are weighed against each other in one stretch of lines.
_WEIGHED: Final = 4_000_000


@frozen
class Otherwise:
    """Why a host is not what it was made of plus insertions: where it first departs, and how.

    `pristine` and `patched` are byte ranges of the two; what stands in the one was changed to, or
    is missing from, the other.
    """

    pristine: Range
    patched: Range


class _Step(NamedTuple):
    cost: int
    at: int
    before: int


def inserted(pristine: bytes, patched: bytes) -> tuple[Range, ...] | Otherwise:
    """Return the byte ranges of `patched` that `pristine` does not have, whole lines each."""
    old, new = _lines(pristine), _lines(patched)
    first = _matched(old, new)
    if first is None:
        return _departure(pristine, patched)
    last = _last_matched(old, new)
    places = _chosen(old, new, first, last)
    starts = [0]
    for line in new:
        starts.append(starts[-1] + len(line))
    kept = set(places)
    return tuple(_runs(starts, kept, len(new)))


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return [*(line + b"\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]


def _matched(old: Sequence[bytes], new: Sequence[bytes]) -> list[int] | None:
    """Match every old line as early as it can be; None if one has no place."""
    places, at = [], 0
    for line in old:
        while at < len(new) and new[at] != line:
            at += 1
        if at == len(new):
            return None
        places.append(at)
        at += 1
    return places


def _last_matched(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    found = _matched(list(reversed(old)), list(reversed(new))) or []
    return [len(new) - 1 - at for at in reversed(found)]


def _chosen(
    old: Sequence[bytes], new: Sequence[bytes], first: list[int], last: list[int]
) -> list[int]:
    """Choose, in every stretch whose lines have several places, those with the fewest gaps."""
    places = list(first)
    at = 0
    while at < len(old):
        if first[at] == last[at]:
            at += 1
            continue
        end = at
        while end < len(old) and first[end] != last[end]:
            end += 1
        if sum(last[i] - first[i] + 1 for i in range(at, end)) <= _WEIGHED:
            before = first[at - 1] if at else -1
            after = first[end] if end < len(old) else len(new)
            places[at:end] = _weighed(
                old[at:end], new, first[at:end], last[at:end], between=(before, after)
            )
        at = end
    return places


def _weighed(
    old: Sequence[bytes],
    new: Sequence[bytes],
    first: Sequence[int],
    last: Sequence[int],
    *,
    between: Range,
) -> list[int]:
    """Place a stretch of lines between two fixed ones, with as few gaps as there can be."""
    before, after = between
    levels: list[list[_Step]] = []
    earlier = [_Step(0, before, -1)]
    for line, low, high in zip(old, first, last, strict=True):
        level: list[_Step] = []
        best, taken = -1, 0
        for at in range(low, high + 1):
            if new[at] != line:
                continue
            while taken < len(earlier) and earlier[taken].at < at:
                if best < 0 or earlier[taken].cost < earlier[best].cost:
                    best = taken
                taken += 1
            if best < 0:
                continue
            step = _Step(earlier[best].cost + 1, at, best)
            if earlier[taken - 1].at == at - 1 and earlier[taken - 1].cost < step.cost:
                step = _Step(earlier[taken - 1].cost, at, taken - 1)
            level.append(step)
        levels.append(level)
        earlier = level
    ends = [(step.cost + (step.at + 1 != after), step.at, n) for n, step in enumerate(earlier)]
    at = min(ends)[2]
    places = []
    for level in reversed(levels):
        places.append(level[at].at)
        at = level[at].before
    return places[::-1]


def _runs(starts: Sequence[int], kept: set[int], lines: int) -> Iterator[Range]:
    at = 0
    while at < lines:
        if at in kept:
            at += 1
            continue
        end = at
        while end < lines and end not in kept:
            end += 1
        yield starts[at], starts[end]
        at = end


def _departure(pristine: bytes, patched: bytes) -> Otherwise:
    """Say where a host departs: the first lines that were changed or are missing."""
    from difflib import SequenceMatcher  # noqa: PLC0415  (only refusals pay)

    old, new = _lines(pristine), _lines(patched)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end_old, end_new = len(old), len(new)
    while min(end_old, end_new) > start and old[end_old - 1] == new[end_new - 1]:
        end_old, end_new = end_old - 1, end_new - 1
    ranges: list[int] = [start, end_old, start, end_new]
    if (end_old - start) * (end_new - start) <= _WEIGHED:
        matcher = SequenceMatcher(None, old[start:end_old], new[start:end_new], autojunk=False)
        changed = (op for op in matcher.get_opcodes() if op[0] in ("replace", "delete"))
        _, *found = next(changed, ("", 0, end_old - start, 0, end_new - start))
        ranges = [start + at for at in found]
    low, high, new_low, new_high = ranges
    return Otherwise(
        pristine=(_length(old[:low]), _length(old[:high])),
        patched=(_length(new[:new_low]), _length(new[:new_high])),
    )


def _length(lines: Sequence[bytes]) -> int:
    return sum(map(len, lines))
