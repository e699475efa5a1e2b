"""Byte ranges of a host: what a version owns, and what is left without it.

*Owned bytes* are the helper's span and every byte of each `new` block; *removed* bytes are the
span and the inserted ranges only, because an `old` context belongs to the host.
"""

from bisect import bisect_right
from itertools import accumulate

from verifier.catalog.entries.helper import EndAnchor, Published, Site, Version
from verifier.core.value import frozen

Range = tuple[int, int]


@frozen
class PlacedSite:
    """A site found in a host, at byte offset `start`."""

    site: Site
    start: int

    @property
    def end(self) -> int:
        """The offset right after the block."""
        return self.start + (self.site.new.length or 0)

    @property
    def inserted(self) -> tuple[Range, ...]:
        """The inserted ranges, as offsets of the host."""
        return tuple((self.start + p.offset, self.start + p.end) for p in self.site.inserted)


@frozen
class PlacedHelper:
    """A version's helper found in a host; `anchor` is what follows, None after a sentinel."""

    version: Version
    body: Published
    start: int
    end: int
    anchor: EndAnchor | None


@frozen
class Installed:
    """A version with all its sites, found in a host."""

    helper: PlacedHelper
    sites: tuple[PlacedSite, ...]

    @property
    def owned(self) -> tuple[Range, ...]:
        """Every byte that the version vouches for."""
        return tuple(
            sorted([(self.helper.start, self.helper.end), *((s.start, s.end) for s in self.sites)])
        )

    @property
    def removed(self) -> tuple[Range, ...]:
        """Every byte that an install put there, but for the import line."""
        parts = [part for site in self.sites for part in site.inserted]
        return tuple(sorted([(self.helper.start, self.helper.end), *parts]))


class Remainder:
    """A host without some ranges; offsets lead back to the host."""

    def __init__(self, data: bytes, removed: tuple[Range, ...]) -> None:
        """Take `removed` (sorted, disjoint) out of `data`."""
        starts = [0, *(end for _, end in removed)]
        ends = [*(start for start, _ in removed), len(data)]
        parts = [data[start:end] for start, end in zip(starts, ends, strict=True)]
        self.data = b"".join(parts)
        self._host_starts = starts
        self._starts = [0, *accumulate(map(len, parts))][:-1]

    def host_offset(self, offset: int) -> int:
        """Return the offset in the host of byte `offset` of the remainder."""
        part = bisect_right(self._starts, offset) - 1
        return self._host_starts[part] + offset - self._starts[part]


def occurrences(data: bytes, text: bytes) -> list[int]:
    """Return every offset at which `text` stands in `data`, overlapping ones too."""
    found, at = [], data.find(text)
    while at >= 0:
        found.append(at)
        at = data.find(text, at + 1)
    return found


def line_starts(data: bytes) -> list[int]:
    """Return the offset of every line, lines being counted by LF only."""
    return [0, *(at + 1 for at in occurrences(data, b"\n"))]
