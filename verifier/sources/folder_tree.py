"""A folder as a tree: every file hashed where it lies, no link followed.

Listing decides what there is, and leaves modes and lengths to hashing (`folder_hashing`), which
looks at each file once more anyway.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from verifier.core.digest import Digest
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding, Where
from verifier.core.limits import TREE_ENTRIES
from verifier.core.printable import printable
from verifier.sources.folder import OPEN, opened
from verifier.sources.folder_hashing import (
    IS_PROGRAM,
    Run,
    hashed,
    shown,
)
from verifier.sources.tree import FILE_MODE, LINK_MODE, PROGRAM_MODE, TreeEntry, Type
from verifier.sources.unavailable import changed, too_large, unreadable
from verifier.sources.within import Within


class FolderTree:
    """The tree below a folder. The folder itself may be reached through links."""

    def __init__(
        self,
        root: Path,
        *,
        name: str,
        within: Within | None = None,
        lengths: frozenset[int] | None = None,
    ) -> None:
        """Remember the folder; nothing is opened before something is asked for.

        Only paths that are `within` are listed and read, and those that some file systems take
        for such; all if it is None. Files of another length than `lengths` are left out unread.
        """
        self._lengths = lengths
        self.name = name
        self._within = None if within is None or within.all else within
        self._root = os.fsencode(root)
        self._findings: list[Finding] = []
        self._ignored: list[str] = []
        #: Folders without anything in them; complete after `entries`.
        self.empty: list[bytes] = []

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong or worth knowing; complete after `entries`."""
        return tuple(self._findings)

    @property
    def digests(self) -> tuple[Digest, ...]:
        """None of its own."""
        return ()

    @property
    def complete(self) -> bool:
        """Always: what cannot be listed or read raises. A special file has no bytes to read."""
        return True

    @property
    def not_proven(self) -> tuple[str, ...]:
        """Nothing: every byte is read where it lies."""
        return ()

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was seen and left out on purpose."""
        return tuple(self._ignored)

    def entries(self) -> list[TreeEntry]:
        """List the folder and hash every file, in the order of path bytes."""
        runs, entries = self._listed()
        places = iter(hashed(self._root, runs, self.name))
        for run in runs:
            for name, place in zip(run.names, places, strict=False):
                mode = PROGRAM_MODE if place.mark == IS_PROGRAM else FILE_MODE
                entries.append(
                    TreeEntry(run.path(name), Type.FILE, mode, place.length, place.digest.hex())
                )
        entries.sort(key=_path)
        return entries

    def read(self, path: bytes, *, limit: int) -> bytes | None:
        """Return the bytes of one regular file, None if there is none of that path."""
        folder, _, name = path.rpartition(b"/")
        try:
            with opened(self._root, filter(None, folder.split(b"/"))) as below:
                descriptor = os.open(name, OPEN, dir_fd=below)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if self._is_link(path):
                return None
            raise unreadable(shown(self.name, path), error) from error
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_size > limit:
                raise too_large(shown(self.name, path), limit, status.st_size)
            with os.fdopen(os.dup(descriptor), "rb", buffering=0) as file:
                data = file.readall()
        finally:
            os.close(descriptor)
        if len(data) != status.st_size:
            raise changed(shown(self.name, path))
        return data

    def _length(self, path: bytes) -> int | None:
        """Return a file's length; what takes its place later is hashed for what it is."""
        try:
            return os.lstat(os.path.join(self._root, path)).st_size  # noqa: PTH118  (bytes)
        except OSError:
            return None

    def _is_link(self, path: bytes) -> bool:
        return os.path.islink(os.path.join(self._root, path))  # noqa: PTH114, PTH118  (bytes)

    def _listed(self) -> tuple[list[Run], list[TreeEntry]]:
        """Walk the folder without recursion: the files to hash, and the entries that are none.

        `.git` at its top is listed as ignored.
        """
        runs: list[Run] = []
        others: list[TreeEntry] = []
        waiting, count = [b""], 0
        while waiting:
            run = Run(waiting.pop(), [])
            folders, rest, names = self._scanned(run, TREE_ENTRIES - count)
            if not run.folder and b".git" in folders + rest + names:
                self._ignored.append(".git, the repository's own data")
                folders, rest, names = (_without_git(found) for found in (folders, rest, names))
            elif run.folder and not (folders or rest or names):
                self.empty.append(run.folder)
                self._ignored.append(f"{printable(os.fsdecode(run.folder))}/, an empty folder")
            if self._within:
                folders = [each for each in folders if self._within.enters(run.path(each))]
                rest, names = self._meant(run, rest), self._meant(run, names)
            if self._lengths is not None:
                names = [name for name in names if self._length(run.path(name)) in self._lengths]
            count += len(rest) + len(names)
            waiting += [run.path(name) for name in sorted(folders, reverse=True)]
            if names:
                runs.append(run._replace(names=names))
            others += self._described(run, rest)
        return runs, others

    def _meant(self, run: Run, names: list[bytes]) -> list[bytes]:
        within = self._within
        if within is None or within.covers(run.folder):
            return names
        return [n for n in names if within.holds(run.path(n)) or within.near(run.path(n))]

    def _scanned(self, run: Run, most: int) -> tuple[list[bytes], list[bytes], list[bytes]]:
        """Return the names in a folder: of folders, of what is neither, of files."""
        folders: list[str] = []
        others: list[str] = []
        files: list[str] = []
        try:
            with opened(self._root, run.folders) as below, os.scandir(below) as found:
                for entry in found:
                    if entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                        continue
                    else:
                        others.append(entry.name)
                    if len(files) + len(others) > most:
                        raise _too_many(self.name)
        except OSError as error:
            raise unreadable(shown(self.name, run.folder), error) from error
        return _encoded(folders), _encoded(others), _encoded(files)

    def _described(self, run: Run, names: list[bytes]) -> Iterator[TreeEntry]:
        """Read where links lead, and name what is no link either."""
        if not names:
            return
        try:
            with opened(self._root, run.folders) as below:
                for name in names:
                    entry = _link_or_special(run.path(name), name, below)
                    if entry.type is Type.SPECIAL:
                        self._findings.append(_special(entry.path))
                    yield entry
        except OSError as error:
            raise unreadable(shown(self.name, run.folder), error) from error


def _path(entry: TreeEntry) -> bytes:
    return entry.path


def _encoded(names: list[str]) -> list[bytes]:
    """Return raw names, sorted. No name has a NUL in it, so all are encoded at once."""
    return sorted(os.fsencode("\0".join(names)).split(b"\0")) if names else []


def _without_git(names: list[bytes]) -> list[bytes]:
    return [name for name in names if name != b".git"]


def _link_or_special(path: bytes, name: bytes, below: int) -> TreeEntry:
    status = os.stat(name, dir_fd=below, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        return TreeEntry(path, Type.SPECIAL, None, None, None)
    target = os.readlink(name, dir_fd=below)
    digest = hashlib.sha256(target).hexdigest()
    return TreeEntry(path, Type.LINK, LINK_MODE, len(target), digest, target)


def _too_many(name: str) -> UnavailableError:
    return UnavailableError(
        f"{name}: more than {TREE_ENTRIES:,} files",
        code="too-large",
        remedy="name the folder that is meant, not one above it",
    )


def _special(path: bytes) -> Finding:
    return Finding(
        code="tree-special",
        where=Where(path=printable(os.fsdecode(path))),
        expected="files, links and folders",
        got="a device, FIFO or socket",
        remedy="remove it, or name a folder without it",
    )
