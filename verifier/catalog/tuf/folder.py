"""A registry folder as bytes, following no link (FORMATS §1, points 1, 8 and 9).

Every step below the folder is opened relative to the one before it with `O_NOFOLLOW`, so that
no link, planted before or during the run, leads a read elsewhere. The folder itself is an
argument and may be reached through links. What is wrong with the folder comes back as a
finding; an environment that does not let us look raises `UnavailableError`.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from verifier.catalog.tuf.problems import (
    link,
    missing,
    printable,
    problem,
    unlisted,
    unsafe_name,
)
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.limits import METADATA_BYTES, REGISTRY_FILES
from verifier.core.value import frozen

#: One segment of a role's or target's name.
SEGMENT: Final = re.compile(r"(?!\.{1,2}$)[a-z0-9._-]+")

#: `targets/<project>/<kind>/<name>` is the deepest that anything signed can lie.
_DEPTH: Final = 4
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_IN_THE_WAY: Final = (errno.ELOOP, errno.ENOTDIR, errno.ENXIO, errno.EISDIR)


@frozen
class Listing:
    """The paths of regular files below a registry, and what else was found there."""

    files: frozenset[str]
    odd: frozenset[str]
    findings: tuple[Finding, ...]


class Folder:
    """A registry on disk. Paths are relative to it and printed with `/`."""

    def __init__(self, path: Path) -> None:
        """Remember the folder; nothing is opened before something is asked for."""
        self._path = path

    def listing(self) -> Listing:
        """List every file; links, special files, unsafe names and stray folders are findings."""
        files: set[str] = set()
        odd: dict[str, Finding] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for name, kind in self._entries(folder):
                path = f"{folder}/{name}" if folder else name
                finding = _stray(path, kind)
                if len(files) + len(odd) >= REGISTRY_FILES:
                    most = f"at most {REGISTRY_FILES:,} files"
                    odd[path] = problem("registry-too-large", path, "more", expected=most)
                    waiting.clear()
                    break
                if finding:
                    odd[path] = finding
                elif kind == "folder":
                    waiting.append(path)
                else:
                    files.add(path)
        return Listing(files=frozenset(files), odd=frozenset(odd), findings=tuple(odd.values()))

    def read(self, path: str) -> bytes | Finding:
        """Read one file whole, or say why it cannot be used."""
        *folders, name = path.split("/")
        try:
            with (
                self._descend(folders) as below,
                os.fdopen(os.open(name, _OPEN, dir_fd=below), "rb", buffering=0) as file,
            ):
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return link(path, "a folder or special file")
                data = _read_at_most(file.fileno(), METADATA_BYTES + 1)
        except OSError as error:
            return self._refused(error, path)
        if len(data) > METADATA_BYTES:
            most = f"at most {METADATA_BYTES:,} bytes"
            return problem("registry-too-large", path, "more", expected=most)
        return data

    def _entries(self, folder: str) -> list[tuple[str, str]]:
        try:
            with (
                self._descend(folder.split("/") if folder else []) as below,
                os.scandir(below) as entries,
            ):
                return sorted((_decoded(entry.name), _kind(entry)) for entry in entries)
        except OSError as error:
            raise self._unavailable(error, folder) from None

    @contextmanager
    def _descend(self, folders: list[str]) -> Iterator[int]:
        """Open the folder and then each of `folders` below it, links not followed."""
        below = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in folders:
                deeper = os.open(name, _OPEN | os.O_DIRECTORY, dir_fd=below)
                os.close(below)
                below = deeper
            yield below
        finally:
            os.close(below)

    def _refused(self, error: OSError, path: str) -> Finding:
        if error.errno == errno.ENOENT and self._path.is_dir():
            return missing(path)
        if error.errno in _IN_THE_WAY and self._path.is_dir():
            return link(path, "a link or special file on the way")
        raise self._unavailable(error, path) from None

    def _unavailable(self, error: OSError, path: str) -> UnavailableError:
        reason = (error.strerror or "unknown reason").lower()
        return UnavailableError(
            f"the registry {self._path / path} cannot be read: {reason}",
            code="cannot-read",
            remedy="name a registry folder that this user may read",
        )


def safe_name(name: str) -> bool:
    """Tell whether every segment of a name is plain and none leaves its folder."""
    return all(SEGMENT.fullmatch(segment) for segment in name.split("/"))


def _decoded(name: str) -> str:
    """Decode a file name as UTF-8 whatever the locale is; names that are read are ASCII."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special file"


def _stray(path: str, kind: str) -> Finding | None:
    """Say what is wrong with a path whatever the metadata says, if anything is."""
    *_, name = segments = path.split("/")
    if kind in ("link", "special file"):
        return link(printable(path), f"a {kind}")
    if not SEGMENT.fullmatch(name):
        return unsafe_name(name, printable(path))
    deepest = 1 if segments[0] == "metadata" else _DEPTH - 1
    if kind == "folder" and (segments[0] not in ("metadata", "targets") or len(segments) > deepest):
        return unlisted(path, "a folder")
    return None


def _read_at_most(descriptor: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    left = limit
    while left and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
