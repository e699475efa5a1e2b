"""Files below one folder, following no link.

Every step below the folder is opened relative to the one before it with `O_NOFOLLOW`, so that
no link, planted before or during the run, leads a read elsewhere. The folder itself is an
argument and may be reached through links. What is there but cannot be used comes back as a
value; an environment that does not let us look raises `UnavailableError`.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from verifier.core.errors import UnavailableError

OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_IN_THE_WAY: Final = (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR)


class Kind(StrEnum):
    """What an entry of a folder is, itself: a link is never what it leads to."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    SPECIAL = "special file"


class Unusable(StrEnum):
    """Why a path has no bytes: nothing there, no regular file or a link on the way, too many."""

    MISSING = "missing"
    NOT_REGULAR = "a folder or special file"
    IN_THE_WAY = "a link or special file on the way"
    TOO_LARGE = "too large"


class Entry(NamedTuple):
    """One name in a folder, decoded as UTF-8 whatever the locale is."""

    name: str
    kind: Kind


@contextmanager
def opened(root: Path | bytes, folders: Iterable[str | bytes]) -> Iterator[int]:
    """Open a folder and then each of `folders` below it, links not followed."""
    below = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in folders:
            deeper = os.open(name, OPEN | os.O_DIRECTORY, dir_fd=below)
            os.close(below)
            below = deeper
        yield below
    finally:
        os.close(below)


class Folder:
    """A folder on disk, called `what` in errors. Paths are relative to it, with `/`."""

    def __init__(self, path: Path, *, what: str) -> None:
        """Remember the folder; nothing is opened before something is asked for."""
        self._path = path
        self._what = what

    def entries(self, folder: str = "") -> list[Entry]:
        """List one folder, sorted; "" is the folder itself."""
        try:
            with (
                opened(self._path, folder.split("/") if folder else []) as below,
                os.scandir(below) as entries,
            ):
                return sorted(Entry(_decoded(entry.name), _kind(entry)) for entry in entries)
        except OSError as error:
            raise self._unavailable(error, folder) from None

    def read(self, path: str, *, limit: int) -> bytes | Unusable:
        """Read one file whole, at most `limit` bytes."""
        *folders, name = path.split("/")
        try:
            with (
                opened(self._path, folders) as below,
                os.fdopen(os.open(name, OPEN, dir_fd=below), "rb", buffering=0) as file,
            ):
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return Unusable.NOT_REGULAR
                data = _read_at_most(file.fileno(), limit + 1)
        except OSError as error:
            if error.errno == errno.ENOENT and self._path.is_dir():
                return Unusable.MISSING
            if error.errno in _IN_THE_WAY and self._path.is_dir():
                return Unusable.IN_THE_WAY
            raise self._unavailable(error, path) from None
        return data if len(data) <= limit else Unusable.TOO_LARGE

    def _unavailable(self, error: OSError, path: str) -> UnavailableError:
        reason = (error.strerror or "unknown reason").lower()
        return UnavailableError(
            f"{self._what} {self._path / path} cannot be read: {reason}",
            code="cannot-read",
            remedy=f"name a folder for {self._what} that this user may read",
        )


def _decoded(name: str) -> str:
    return os.fsencode(name).decode(errors="backslashreplace")


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.SPECIAL


def _read_at_most(descriptor: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    left = limit
    while left and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
