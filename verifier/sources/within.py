"""Which paths of a tree are meant: exact ones, or all below folders (FORMATS §2, "path scope")."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from verifier.sources.names import folded

T = TypeVar("T")

#: The pattern of the whole tree.
ALL: Final = b"./"


class Within:
    """Patterns of paths: one ends in `/` and means all below that folder, or is one path."""

    def __init__(self, include: Iterable[bytes] = (ALL,), exclude: Iterable[bytes] = ()) -> None:
        """Keep the patterns; what `exclude` means is left out of what `include` means."""
        self._include, self._exclude = tuple(include), tuple(exclude)
        self.all = ALL in self._include and not self._exclude
        self._folders = _folders(self._include)
        self._exact = frozenset(self._include)
        #: A link in the place of a folder that leads to what is meant decides what is there.
        self._leading = frozenset(
            folder for path in self._include for folder in folders_above(path + b"x")
        )
        self._near_folders = tuple(map(folded, self._folders))
        self._near_exact = frozenset(map(folded, self._exact | self._leading))
        self._not_folders = _folders(self._exclude)
        self._not_exact = frozenset(self._exclude)

    def holds(self, path: bytes) -> bool:
        """Whether a path is meant, or stands in the place of a folder that leads to one."""
        meant = ALL in self._exact or path.startswith(self._folders) or path in self._exact
        if not meant:
            return path in self._leading
        return not self._excludes(path)

    def near(self, path: bytes) -> bool:
        """Whether a path is meant where names that fold together are one, and only there."""
        if ALL in self._exact or self.holds(path) or self._excludes(path):
            return False
        name = folded(path)
        return name.startswith(self._near_folders) or name in self._near_exact

    def enters(self, folder: bytes) -> bool:
        """Whether anything below a folder may be meant."""
        below = folder + b"/"
        if below.startswith(self._not_folders):
            return False
        if ALL in self._exact or below.startswith(self._folders) or folder in self._leading:
            return True
        return folded(below).startswith(self._near_folders) or folded(folder) in self._near_exact

    def _excludes(self, path: bytes) -> bool:
        return path.startswith(self._not_folders) or path in self._not_exact

    def covers(self, folder: bytes) -> bool:
        """Whether all below a folder is meant, without a look at it."""
        below = folder + b"/"
        return (ALL in self._exact or below.startswith(self._folders)) and not any(
            path.startswith(below) or below.startswith(path) for path in self._exclude
        )

    def parted(self, entries: Iterable[T], path: Callable[[T], bytes]) -> tuple[list[T], list[T]]:
        """Return what is meant, and what is only near it."""
        meant: list[T] = []
        near: list[T] = []
        folders = self._folders if not self._exclude else ()
        for entry in entries:
            name = path(entry)
            if name.startswith(folders) or self.holds(name):
                meant.append(entry)
            elif self.near(name):
                near.append(entry)
        return meant, near

    def below(self, prefix: bytes) -> "Within":
        """Return the same patterns for a tree in which their root is the folder `prefix`."""
        if not prefix:
            return self
        root = prefix + b"/"

        def moved(patterns: Iterable[bytes]) -> Iterator[bytes]:
            return (root if pattern == ALL else root + pattern for pattern in patterns)

        return Within(moved(self._include), moved(self._exclude))


def folders_above(path: bytes) -> Iterator[bytes]:
    """Return the folders above a path, the nearest first, without the root."""
    folder = path.rpartition(b"/")[0]
    while folder:
        yield folder
        folder = folder.rpartition(b"/")[0]


def _folders(patterns: Iterable[bytes]) -> tuple[bytes, ...]:
    return tuple(p for p in patterns if p.endswith(b"/") and p != ALL)
