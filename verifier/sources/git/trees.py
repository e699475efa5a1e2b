"""Tree objects of one repository: each hashed and parsed once, and where two of them differ.

Commits have most of their folders in common, and a tree object names what lies below it by id.
So a folder that was read for one commit is known for every other one, and where two commits
differ is found by looking only into folders whose ids differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from verifier.core.limits import GIT_TREE_BYTES, TREE_DEPTH, TREE_ENTRIES
from verifier.sources.git.objects import FOLDER_MODE, Fault, Item, parse_tree
from verifier.sources.git.reader import Got, Reader, Want

_TOO_MANY: Final = f"more than {TREE_ENTRIES:,} entries, or folders deeper than are read"


class Change(NamedTuple):
    """One path that is not the same on two sides; None where a side does not have it.

    Neither side is a folder: of folders, what lies in them is told.
    """

    path: bytes
    before: Item | None
    after: Item | None


class _Pair(NamedTuple):
    """Two folders of one path, by id; None where a side does not have one."""

    path: bytes
    before: str | None
    after: str | None


class Trees:
    """The tree objects that were read so far."""

    def __init__(self) -> None:
        """Know none yet."""
        self._known: dict[str, list[Item]] = {}
        self._faults: dict[str, tuple[Fault, ...]] = {}
        self._fresh: dict[str, bytes] = {}
        self._whole: set[str] = set()

    def read(self, reader: Reader, wanted: Iterable[str]) -> None:
        """Read those that are not known yet, together."""
        wants = [
            Want(oid, "tree", GIT_TREE_BYTES, keep=True)
            for oid in dict.fromkeys(wanted)
            if oid not in self._known
        ]
        for got in reader.read(wants):
            self._take(got)

    def _take(self, got: Got) -> None:
        items: list[Item] = []
        faults = [got.fault] if got.fault else []
        if got.data is not None:
            self._fresh[got.oid] = got.data
            items, faults = parse_tree(got.data, len(got.oid))
        self._known[got.oid] = items
        if faults:
            self._faults[got.oid] = tuple(faults)

    def items(self, oid: str) -> list[Item]:
        """Return the lines of a tree that was read; none of one that could not be."""
        return self._known[oid]

    def faults(self, oid: str) -> tuple[Fault, ...]:
        """Return what is wrong with a tree that was read."""
        return self._faults.get(oid, ())

    def fresh(self) -> list[tuple[str, bytes]]:
        """Return the objects that were read since this was last called, as (id, bytes)."""
        taken, self._fresh = list(self._fresh.items()), {}
        return taken

    def read_below(self, reader: Reader, root: str) -> list[tuple[bytes, Fault]]:
        """Read a tree and all below it; return what is wrong, each with the first path of it."""
        wrong: list[tuple[bytes, Fault]] = []
        seen: dict[str, None] = {}
        level, depth = {root: b""}, 0
        while level:
            self.read(reader, level)
            seen |= dict.fromkeys(level)
            coming: dict[str, bytes] = {}
            for oid, path in level.items():
                wrong += [(path, fault) for fault in self.faults(oid)]
                for item in self._known[oid]:
                    if item.mode == FOLDER_MODE and not self._has(item.oid, seen):
                        coming.setdefault(item.oid, _below(path, item.name))
            depth += 1
            if depth > TREE_DEPTH or sum(len(self._known[oid]) for oid in level) > TREE_ENTRIES:
                return [*wrong, (b"", Fault("git-tree-large", _TOO_MANY))]
            level = coming
        if not wrong:
            self._whole |= seen.keys()
        return wrong

    def below(self, reader: Reader, root: str) -> dict[str, None]:
        """Name a tree and all folders below it, as far as they can be read."""
        seen: dict[str, None] = {}
        level = {root: None}
        while level:
            self.read(reader, level)
            seen |= level
            level = {
                item.oid: None
                for oid in level
                for item in self._known[oid]
                if item.mode == FOLDER_MODE and item.oid not in seen
            }
        return seen

    def _has(self, oid: str, seen: Mapping[str, None]) -> bool:
        return oid in self._whole or oid in seen

    def find(self, reader: Reader, root: str, path: bytes) -> Item | None:
        """Go down to a path; None where there is nothing, or something that cannot be read."""
        item = Item(FOLDER_MODE, b"", root)
        for name in path.split(b"/"):
            if item.mode != FOLDER_MODE:
                return None
            self.read(reader, [item.oid])
            below = next((one for one in self._known[item.oid] if one.name == name), None)
            if below is None:
                return None
            item = below
        return item

    def changes(self, reader: Reader, before: str, after: str) -> list[Change]:
        """List what differs between two trees, by path. Raises `OverflowError` for too much."""
        found: list[Change] = []
        waiting: list[_Pair] = [_Pair(b"", before, after)]
        while waiting:
            self.read(reader, (oid for pair in waiting for oid in pair[1:] if oid is not None))
            pairs, waiting = waiting, []
            for path, one, other in pairs:
                for name, left, right in self._paired(one, other):
                    where = _below(path, name)
                    folders = _Pair(where, _folder(left), _folder(right))
                    change = Change(where, _leaf(left), _leaf(right))
                    if any(folders[1:]):
                        waiting.append(folders)
                    if any(change[1:]):
                        found.append(change)
                # One folder may stand in many places: what is small as objects may be no tree.
                if len(found) + len(waiting) > TREE_ENTRIES:
                    raise OverflowError
        return sorted(found, key=lambda change: change.path)

    def _paired(
        self, one: str | None, other: str | None
    ) -> Iterator[tuple[bytes, Item | None, Item | None]]:
        """Pair what two folders hold by name, where it is not the same."""
        left = {item.name: item for item in self._lines(one)}
        right = {item.name: item for item in self._lines(other)}
        for name in left.keys() | right.keys():
            if left.get(name) != right.get(name):
                yield name, left.get(name), right.get(name)

    def _lines(self, oid: str | None) -> Sequence[Item]:
        return self._known[oid] if oid is not None else ()


def _folder(item: Item | None) -> str | None:
    return item.oid if item is not None and item.mode == FOLDER_MODE else None


def _leaf(item: Item | None) -> Item | None:
    return None if item is None or item.mode == FOLDER_MODE else item


def _below(path: bytes, name: bytes) -> bytes:
    return path + b"/" + name if path else name
