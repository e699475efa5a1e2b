"""Names inside a tree: which are refused, which are recorded, and which stand for the same file.

A name that would leave the root, or that two readers take for two different files, is refused.
A name that is harmless here and trouble on another file system is recorded (CHECKS, "trees and
archives"): people decide by their policy whether that matters. Every rule looks at one segment,
so a folder that was seen before costs nothing more.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, NamedTuple

from verifier.core.limits import TREE_DEPTH, TREE_NAMES_BYTES, TREE_PATH_BYTES

_PLAIN: Final = re.compile(rb"[A-Za-z0-9_+@=,~()\-.]*[A-Za-z0-9_+@=,~()\-]")
_DRIVE: Final = re.compile(rb"[A-Za-z]:")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
#: No Linux file system takes a longer segment (NAME_MAX).
_LONGEST_SEGMENT: Final = 255
#: Names that Windows gives to devices, whatever their extension.
_RESERVED: Final = re.compile(rb"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.DOTALL)
#: How tar names the root itself.
ROOT: Final = (b".", b"./")
#: What makes a name unusable; all other codes of this module only record it.
REFUSED: Final = frozenset(
    {
        "tree-name-absolute",
        "tree-name-dot",
        "tree-name-empty",
        "tree-name-escapes",
        "tree-name-long",
        "tree-name-nul",
    }
)


class Clash(NamedTuple):
    """Two names that cannot both be used: the code, the later name, the earlier one."""

    code: str
    path: bytes
    other: bytes


def within_root(raw: bytes, *, folder: bool) -> bytes:
    """Return `raw` relative to the root: tar writes `./a` for `a`, and `a/` for a folder."""
    path = raw.removesuffix(b"/") if folder and raw != b"/" else raw
    return path.removeprefix(b"./")


@lru_cache(maxsize=1 << 14)
def _segment(segment: bytes) -> tuple[str, ...]:
    """Name what is wrong with one segment."""
    if (
        len(segment) <= _LONGEST_SEGMENT
        and _PLAIN.fullmatch(segment)
        and not _RESERVED.fullmatch(segment)
    ):
        return ()
    fixed = {b"": "tree-name-empty", b".": "tree-name-dot", b"..": "tree-name-escapes"}
    if segment in fixed:
        return (fixed[segment],)
    text = segment.decode(errors="surrogateescape")
    rules = (
        (len(segment) > _LONGEST_SEGMENT, "tree-name-long"),
        (0 in segment, "tree-name-nul"),
        (b"\\" in segment, "tree-name-backslash"),
        (not _is_utf8(segment), "tree-name-not-utf8"),
        (_CONTROL.search(text.replace("\0", "")) is not None, "tree-name-control"),
        (segment.endswith((b".", b" ")), "tree-name-trailing"),
        (_RESERVED.fullmatch(segment) is not None, "tree-name-reserved"),
    )
    return tuple(code for broken, code in rules if broken)


def _is_utf8(segment: bytes) -> bool:
    try:
        segment.decode()
    except UnicodeDecodeError:
        return False
    return True


class Names:
    """Every name of one tree, in the order in which it was met."""

    def __init__(self) -> None:
        """Begin with the root alone."""
        self._folders: set[bytes] = {b""}
        self._entries: dict[bytes, bool] = {}
        self._bytes = 0

    @property
    def too_many(self) -> bool:
        """Whether the names are more than may be held in memory."""
        return self._bytes > TREE_NAMES_BYTES

    def plain(self, path: bytes) -> bool:
        """Tell quickly of most names that nothing is wrong with them."""
        parent, _, last = path.rpartition(b"/")
        return (
            parent in self._folders
            and len(path) <= _LONGEST_SEGMENT
            and path.count(b"/") < TREE_DEPTH
            and not _segment(last)
            and path[:1] != b"/"
            and path[1:2] != b":"
        )

    def problems(self, path: bytes) -> Iterator[str]:
        """Name what is wrong with `path` itself, each thing once."""
        if path.startswith(b"/"):
            yield "tree-name-absolute"
            return
        if len(path) > TREE_PATH_BYTES or path.count(b"/") >= TREE_DEPTH:
            yield "tree-name-long"
            return
        parent, _, last = path.rpartition(b"/")
        if parent in self._folders:
            yield from _segment(last)
        else:
            yield from dict.fromkeys(code for part in path.split(b"/") for code in _segment(part))
        if _DRIVE.match(path):
            yield "tree-name-drive"

    def add_folder(self, path: bytes) -> Clash | None:
        """Take in a folder and those above it; a folder may be met any number of times."""
        above = path
        while above not in self._folders:
            if above in self._entries:
                return Clash(self._in_the_way(above), path, above)
            self._folders.add(above)
            self._bytes += len(above)
            above = above.rpartition(b"/")[0]
        return None

    def add(self, path: bytes, *, link: bool) -> Clash | None:
        """Take in anything but a folder; of a clash only the earlier name is kept."""
        if path in self._entries:
            return Clash("tree-name-repeated", path, path)
        clash = self.add_folder(path.rpartition(b"/")[0])
        if clash:
            return clash._replace(path=path)
        if path in self._folders:
            return Clash("tree-link-on-the-way" if link else "tree-name-two-kinds", path, path)
        self._entries[path] = link
        self._bytes += len(path)
        return None

    def _in_the_way(self, path: bytes) -> str:
        return "tree-link-on-the-way" if self._entries[path] else "tree-name-two-kinds"

    def collisions(self) -> Iterator[Clash]:
        """Name the paths that file systems which fold case or normalise take for one.

        Two folders may fold together: their files meet only if those collide too. A file or link
        that meets a folder may not, because what is below the folder would go through it.
        """
        return collisions(self._entries, self._folders)


def collisions(entries: Iterable[bytes], folders: AbstractSet[bytes]) -> Iterator[Clash]:
    """Name the paths that meet where case is folded; folders may meet each other."""
    paths = sorted([*entries, *folders])
    if len(set(map(folded, paths))) == len(paths):
        return
    first: dict[bytes, bytes] = {}
    for path in paths:
        other = first.setdefault(folded(path), path)
        if other != path and not {path, other} <= folders:
            same = _normal(path) == _normal(other)
            yield Clash("tree-name-normalised" if same else "tree-name-case", path, other)


def folded(path: bytes) -> bytes:
    """Fold case as Unicode's canonical caseless match does: names that meet have one result."""
    if path.isascii():
        return path.lower()
    text = unicodedata.normalize("NFD", path.decode(errors="surrogateescape")).casefold()
    return unicodedata.normalize("NFD", text).encode(errors="surrogateescape")


def _normal(path: bytes) -> str:
    return unicodedata.normalize("NFC", path.decode(errors="surrogateescape"))


def refused(codes: Iterable[str]) -> bool:
    """Tell whether a name with these problems is left out of the tree."""
    return not REFUSED.isdisjoint(codes)
