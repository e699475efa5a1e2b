"""Ids of git trees, computed by us from a list of files: what git would call a folder.

Git's order, modes and ids (gitformat-pack, "tree"; git's own `base_name_compare`): folders sort
as if their names ended in a slash, and no folder is empty. A change renames only the folders
above it, so the tree after each of many stages costs what the stage changed.
"""

from collections.abc import Iterable

from verifier.sources.git.objects import FOLDER_MODE, SHA1_HEX, hasher


def blob_id(data: bytes, hex_length: int = SHA1_HEX) -> str:
    """Return the id that git gives to a file of these bytes, 40 or 64 hex digits."""
    named = hasher("blob", len(data), hex_length)
    named.update(data)
    text: str = named.hexdigest()
    return text


class TreeIds:
    """A tree that can change: paths with git mode and object id.

    No path may lie below another one; the caller has seen to that.
    """

    def __init__(
        self, entries: Iterable[tuple[bytes, int, str]], hex_length: int = SHA1_HEX
    ) -> None:
        """Take in (path, mode, object id); ids have `hex_length` digits."""
        self._hex_length = hex_length
        self._root = _Folder()
        for path, mode, oid in entries:
            self.put(path, mode, oid)

    def put(self, path: bytes, mode: int, oid: str) -> None:
        """Add or replace a file, link or submodule."""
        *above, name = path.split(b"/")
        folder = self._root
        folder.id = None
        for part in above:
            folder = folder.folders.setdefault(part, _Folder())
            folder.id = None
        folder.leaves[name] = name, _encoded(name, mode, oid), oid

    def remove(self, path: bytes) -> None:
        """Take a path away, and the folders that are empty without it. `KeyError` if absent."""
        *above, name = path.split(b"/")
        way = [self._root]
        for part in above:
            way.append(way[-1].folders[part])
        del way[-1].leaves[name]
        for folder in way:
            folder.id = None
        for part, parent in zip(reversed(above), reversed(way[:-1]), strict=True):
            if not parent.folders[part].is_empty():
                break
            del parent.folders[part]

    def id(self, path: bytes = b"") -> str | None:
        """Return the id of a folder, or of what else has that path; None if nothing has.

        The root is b"". No folder is deeper than a tree may be, so this may recurse.
        """
        parts = path.split(b"/") if path else []
        folder = self._root
        for number, part in enumerate(parts, 1):
            if number == len(parts) and part in folder.leaves:
                return folder.leaves[part][2]
            if part not in folder.folders:
                return None
            folder = folder.folders[part]
        return self._id(folder)

    def _id(self, folder: "_Folder") -> str:
        if folder.id is None:
            rows = [(key, encoded) for key, encoded, _ in folder.leaves.values()]
            rows += [
                (name + b"/", _encoded(name, FOLDER_MODE, self._id(below)))
                for name, below in folder.folders.items()
            ]
            folder.id = _id_of(rows, self._hex_length)
        return folder.id


class _Folder:
    """One folder; `id` is None where something below it has changed."""

    __slots__ = ("folders", "id", "leaves")

    def __init__(self) -> None:
        #: By name: what it sorts by, its row of the tree object, its id.
        self.leaves: dict[bytes, tuple[bytes, bytes, str]] = {}
        self.folders: dict[bytes, _Folder] = {}
        self.id: str | None = None

    def is_empty(self) -> bool:
        return not self.leaves and not self.folders


def _encoded(name: bytes, mode: int, oid: str) -> bytes:
    return b"%o %b\0%b" % (mode, name, bytes.fromhex(oid))


def _id_of(rows: list[tuple[bytes, bytes]], hex_length: int) -> str:
    """Hash a tree object of rows, each given with what it sorts by."""
    data = b"".join([encoded for _, encoded in sorted(rows)])
    named = hasher("tree", len(data), hex_length)
    named.update(data)
    text: str = named.hexdigest()
    return text
