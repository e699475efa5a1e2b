"""Step 3: inserted ranges as sites, each a block of lines with the context it was written into.

An installer has its blocks as literals: a literal that stands in the patched host once, and without
its inserted lines in the pristine host once, is such a block, and its borders are the ones that
every later install uses. Markers are exchanged first, because later versions are often made from
the blocks of earlier ones. What no literal explains gets the least context that is unique.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from verifier.catalog.entries.helper import Inserted, Site
from verifier.checks.helper.pinning.literals import Literal
from verifier.checks.helper.regions import Range, Remainder, occurrences
from verifier.checks.helper.sightings import full_marker
from verifier.checks.python_scope import Insertion, Module, qualified
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.value import frozen

#: Lines of context that are tried on either side of a range.
_CONTEXT: Final = 8
#: Lines between a range without marker and the one with a marker that it is taken to.
_NEAR: Final = 8
_IMPORTS: Final = re.compile(rb"(?:import [A-Za-z_][A-Za-z0-9_.]*\n)+")


@frozen
class Block:
    """A block of the patched host: its place, its name if it has one, where an installer has it."""

    place: Range
    name: str
    order: int


class Host(NamedTuple):
    """A patched host without its helper, what was inserted into it, and what it was before."""

    data: bytes
    pristine: bytes
    inserted: tuple[Range, ...]
    seam: int
    """Where the helper was taken out: no block may lie on both sides of it."""

    def inside(self, place: Range) -> list[Range]:
        """Return the inserted ranges that lie whole in a block."""
        return [each for each in self.inserted if _holds(place, each)]

    def old(self, place: Range) -> bytes:
        """Return a block without what was inserted."""
        shifted = tuple((a - place[0], b - place[0]) for a, b in self.inside(place))
        return Remainder(self.data[place[0] : place[1]], shifted).data

    def crosses(self, place: Range) -> bool:
        """Whether a block cuts an inserted range in two, or lies on both sides of the helper."""
        return place[0] < self.seam < place[1] or any(
            _share(place, each) and not _holds(place, each) for each in self.inserted
        )

    def once(self, old: bytes) -> bool:
        """Whether a context stands in the pristine host exactly once."""
        return bool(old.strip()) and len(occurrences(self.pristine, old)) == 1


def find(
    host: Host, literals: Sequence[Literal], marker: bytes, prefix: bytes
) -> tuple[Block, ...] | Finding:
    """Return blocks that hold every inserted range once, in the order in which they are written."""
    data, inserted = host.data, host.inserted
    blocks = _published(host, literals, marker, prefix)
    if isinstance(blocks, Finding):
        return blocks
    left = [r for r in inserted if not any(_holds(b.place, r) for b in blocks)]
    for group in _grouped(data, left, marker):
        block = _least(host, group, [b.place for b in blocks])
        if block is None:
            return Finding(
                code="pin-site-context",
                where=Where.at(data, group[0][0], group[-1][1] - group[0][0]),
                expected=f"up to {_CONTEXT} lines around it that stand in the pristine host once",
                got="no such context that belongs to no other site",
                cause="the lines around it occur elsewhere, or two sites are too close",
                remedy="have the installer keep its blocks as literals, and name that file as path",
            )
        blocks.append(block)
    return tuple(sorted(blocks, key=lambda b: (b.order, b.place)))


def site(
    name: str, module: Module, place: Range, ranges: Sequence[Range], *, marker: bytes
) -> Site:
    """Describe a block of a whole patched host, with the ranges that were inserted into it."""
    host = module.data
    start, end = place
    new = host[start:end]
    within = tuple((a - start, b - start) for a, b in ranges)
    found = module.insertion(*ranges[0], block=place)
    scope = found.scope if isinstance(found, Insertion) else ()
    return Site(
        name=name,
        new=Pin.of(new),
        old=Pin.of(Remainder(new, within).data),
        inserted=tuple(Inserted(a, Pin.of(new[a:b])) for a, b in within),
        marker_offsets=_marker_offsets(new, marker, within),
        within=qualified(scope) or None,
        decorated=any(step.decorators for step in scope),
    )


def is_import(data: bytes, inserted: Range) -> bool:
    """Whether an inserted range is import lines at the margin, as an install adds them."""
    return _IMPORTS.fullmatch(data[inserted[0] : inserted[1]]) is not None


def _marker_offsets(new: bytes, marker: bytes, ranges: Sequence[Range]) -> tuple[int, ...]:
    """Return where markers stand in a block, if the first of them was inserted with it."""
    found = tuple(occurrences(new, marker))
    return found if found and any(a <= found[0] < b for a, b in ranges) else ()


# ── blocks of the installer ────────────────────────────────────────────────────────────────────


def _published(
    host: Host, literals: Sequence[Literal], marker: bytes, prefix: bytes
) -> list[Block] | Finding:
    """Find the installer's own blocks; those whose context it has as a literal too come first."""
    texts = {literal.text for literal in literals}
    markers = full_marker(prefix)
    fitting: list[tuple[bool, int, Block]] = []
    for order, literal in enumerate(literals):
        for text in dict.fromkeys((literal.text, markers.sub(lambda _: marker, literal.text))):
            at = occurrences(host.data, text) if len(text) > 1 else []
            if len(at) != 1:
                continue
            place = at[0], at[0] + len(text)
            if not host.inside(place) or host.crosses(place):
                continue
            old = host.old(place)
            if (old in texts or marker in text) and host.once(old):
                block = Block(place=place, name=literal.label, order=order)
                fitting.append((old not in texts, order, block))
    chosen: list[Block] = []
    for guessed, _, block in sorted(fitting, key=lambda each: each[:2]):
        shared = next((b for b in chosen if _share(b.place, block.place)), None)
        if shared is None:
            chosen.append(block)
        elif not guessed and not all(_holds(shared.place, r) for r in host.inside(block.place)):
            return _overlap(host.data, shared, block)
    return chosen


# ── least contexts ─────────────────────────────────────────────────────────────────────────────


def _grouped(data: bytes, ranges: Sequence[Range], marker: bytes) -> Iterator[list[Range]]:
    """Put ranges without a marker to the nearest one before them, or after, that has one."""
    groups: list[list[Range]] = []
    for each in ranges:
        marked = marker in data[each[0] : each[1]]
        near = groups and data.count(b"\n", groups[-1][-1][1], each[0]) <= _NEAR
        alone = is_import(data, each) or (groups and is_import(data, groups[-1][-1]))
        behind = groups and any(marker in data[a:b] for a, b in groups[-1])
        if near and not alone and not (marked and behind):
            groups[-1].append(each)
        else:
            groups.append([each])
    yield from groups


def _least(host: Host, group: Sequence[Range], taken: Sequence[Range]) -> Block | None:
    """Widen a range line by line, first behind it, until its context is unique."""
    start, end = group[0][0], group[-1][1]
    imports = is_import(host.data, (start, end))
    sides = [(1, 1)] if imports else []
    sides += sorted(
        ((b, a) for b in range(_CONTEXT + 1) for a in range(_CONTEXT + 1) if a or b),
        key=lambda side: (sum(side), side[0]),
    )
    for before, after in sides:
        place = _widened(host.data, start, end, before, after)
        old = host.old(place)
        if len(host.inside(place)) != len(group) or host.crosses(place):
            continue
        if any(_share(place, other) for other in taken):
            continue
        if host.once(old):
            return Block(place=place, name="", order=len(host.data) + place[0])
    return None


def _widened(data: bytes, start: int, end: int, before: int, after: int) -> Range:
    for _ in range(before):
        start = data.rfind(b"\n", 0, max(0, start - 1)) + 1
    for _ in range(after):
        at = data.find(b"\n", end)
        end = len(data) if at < 0 else at + 1
    return start, end


def _holds(place: Range, inner: Range) -> bool:
    return place[0] <= inner[0] and inner[1] <= place[1]


def _share(one: Range, other: Range) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _overlap(data: bytes, one: Block, other: Block) -> Finding:
    first, second = sorted((one, other), key=lambda block: block.place)
    return Finding(
        code="pin-site-overlap",
        where=Where.at(data, second.place[0], first.place[1] - second.place[0]),
        expected="no byte in two blocks of the installer",
        got=f"{first.name or 'a block'} and {second.name or 'a block'} share bytes",
        remedy="make one block of them in the installer",
    )
