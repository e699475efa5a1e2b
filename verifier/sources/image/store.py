"""Where the parts of an image lie: a layout's folder, or a tar, plain or compressed.

A part is read by position and never unpacked; no link is followed. In a compressed tar a position
is reached by decompressing up to it, so parts are cheapest in the order in which they lie there.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from verifier.core.digest import Pin
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.limits import TREE_ENTRIES
from verifier.core.printable import printable
from verifier.sources.archives import inflate
from verifier.sources.archives.archive import Archive, Steady, opened
from verifier.sources.archives.stream import Stream
from verifier.sources.archives.tar import MemberPlaces
from verifier.sources.ledger import ContainerError
from verifier.sources.unavailable import changed, unreadable

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW
_READ: Final = 1 << 18


class Part(Protocol):
    """The bytes of one part, by position."""

    @property
    def size(self) -> int:
        """How many there are."""

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset`, fewer at the end."""


class Place(NamedTuple):
    """Where a part lies: a file, and the range of it."""

    path: Path
    start: int
    length: int


class Store(Protocol):
    """The parts of one image source, by their names in it."""

    @property
    def name(self) -> str:
        """What the user called it."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Length in bytes of every regular file, by name."""

    @property
    def links(self) -> frozenset[str]:
        """Names of what is no regular file: links, devices. Nothing of it is read."""

    @property
    def pin(self) -> Pin | None:
        """Digest and length of the archive itself, None of a folder."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong with the container."""

    @property
    def complete(self) -> bool:
        """Whether all of it could be listed."""

    def order(self, name: str) -> int:
        """Return a number by which parts are read fastest, the lower ones first."""

    def place(self, name: str) -> "Place | None":
        """Return where a part lies on disk as it is, None if it has to be decompressed."""

    def part(self, name: str) -> AbstractContextManager[Part]:
        """Open the part called `name`, which is in `sizes`."""


class FolderStore:
    """A layout in a folder: what lies at its top and in `blobs/<algorithm>/`."""

    def __init__(self, path: Path, *, name: str) -> None:
        """List it. Raises `UnavailableError` if it cannot be."""
        self._path = path
        self.name = name
        self.pin: Pin | None = None
        self.findings: tuple[Finding, ...] = ()
        self.complete = True
        self._sizes: dict[str, int] = {}
        self._links: set[str] = set()
        self._list("")
        if self._is_folder("blobs"):
            for algorithm in sorted(self._list("blobs")):
                self._list(f"blobs/{algorithm}")

    @property
    def sizes(self) -> Mapping[str, int]:
        """Length in bytes of every regular file, by name."""
        return self._sizes

    @property
    def links(self) -> frozenset[str]:
        """Names of links and special files."""
        return frozenset(self._links)

    def place(self, name: str) -> Place | None:
        """Return the part's own file."""
        return Place(self._path / name, 0, self._sizes[name])

    def order(self, name: str) -> int:  # noqa: ARG002  (any order is as good)
        """Return the same for all."""
        return 0

    def _is_folder(self, name: str) -> bool:
        try:
            return stat.S_ISDIR((self._path / name).lstat().st_mode)
        except OSError:
            return False

    def _list(self, folder: str) -> list[str]:
        """Take in the files of one folder, and return the folders in it."""
        below: list[str] = []
        try:
            with os.scandir(self._path / folder if folder else self._path) as found:
                for number, entry in enumerate(found):
                    if number >= TREE_ENTRIES:
                        raise UnavailableError(
                            f"{self.name}: more than {TREE_ENTRIES:,} files",
                            code="too-large",
                            remedy="check that this is the layout you mean",
                        )
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        below.append(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        self._sizes[name] = entry.stat(follow_symlinks=False).st_size
                    else:
                        self._links.add(name)
        except (OSError, ValueError) as error:
            raise unreadable(self.name, error) from None
        return below

    @contextmanager
    def part(self, name: str) -> Iterator[Part]:
        """Open one file of it, with no link on the way below the layout's own folder."""
        descriptors: list[int] = []
        try:
            descriptors.append(os.open(self._path, _FOLDER))
            *folders, last = name.split("/")
            for folder in folders:
                flags = _FOLDER | os.O_NOFOLLOW
                descriptors.append(os.open(folder, flags, dir_fd=descriptors[-1]))
            descriptors.append(os.open(last, _FILE, dir_fd=descriptors[-1]))
            if not stat.S_ISREG(os.fstat(descriptors[-1]).st_mode):
                raise changed(f"{self.name}/{printable(name)}")
            file = Steady(descriptors[-1])
            yield file
            if file.changed or file.size != self._sizes[name]:
                raise changed(f"{self.name}/{printable(name)}")
        except OSError as error:
            raise unreadable(f"{self.name}/{printable(name)}", error) from None
        finally:
            for descriptor in reversed(descriptors):
                os.close(descriptor)


class ArchiveStore(Archive):
    """The parts in a tar, which is read once to list and to hash it, and again for its parts."""

    def __init__(self, path: Path, *, name: str) -> None:
        """List it. Raises `UnavailableError` if it cannot be read."""
        super().__init__(path, name=name)
        self._places: dict[str, tuple[int, int]] = {}
        self._links: set[str] = set()
        self._plain = True
        self.pin: Pin | None = None
        self._list()

    def _list(self) -> None:
        with self._pass() as (file, ledger):
            hashed = Hashed(file)
            try:
                compression, pieces = inflate.decoded(hashed)
                self._plain = compression == inflate.PLAIN
                with closing(pieces if self._plain else inflate.ahead(pieces)) as pieces:
                    reader = MemberPlaces(Stream(pieces), ledger)
                    reader.run()
                self._places = {
                    os.fsdecode(path): place
                    for path, place in reader.places.items()
                    if path in ledger.entries
                }
                self._links = {
                    os.fsdecode(path) for path in ledger.entries if path not in reader.places
                }
            finally:
                self.pin = hashed.finish()

    @property
    def sizes(self) -> Mapping[str, int]:
        """Length in bytes of every regular file, by name."""
        return {name: size for name, (_, size) in self._places.items()}

    @property
    def links(self) -> frozenset[str]:
        """Names of links, hard ones too, and of special files."""
        return frozenset(self._links)

    def place(self, name: str) -> Place | None:
        """Return the part's range of the archive, None if that is compressed."""
        return Place(self._path, *self._places[name]) if self._plain else None

    def order(self, name: str) -> int:
        """Return where the part begins."""
        return self._places[name][0]

    @contextmanager
    def part(self, name: str) -> Iterator[Part]:
        """Open one member of it."""
        start, size = self._places[name]
        with opened(self._path, self._name) as descriptor:
            file = Steady(descriptor)
            if self._stamp != file.stamp:
                raise changed(self._name)
            if self._plain:
                yield Slice(file, start, size)
            else:
                with closing(_Onward(file, start, size)) as onward:
                    yield onward
            if file.changed:
                raise changed(self._name)


class Hashed:
    """A part that is hashed while somebody else reads it from the start to the end."""

    def __init__(self, part: Part) -> None:
        """Begin at its start."""
        self._part = part
        self._running = hashlib.sha256()
        self._at = 0
        self.size = part.size

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes as the part does."""
        data = self._part.read(offset, length)
        if offset <= self._at < offset + len(data):
            new = memoryview(data)[self._at - offset :]
            self._running.update(new)
            self._at += len(new)
        return data

    def finish(self) -> Pin:
        """Hash what nobody read, and return digest and length of all of it."""
        while data := self._part.read(self._at, _READ):
            self._running.update(data)
            self._at += len(data)
        return Pin(sha256=self._running.hexdigest(), length=self._at)


class Slice:
    """A range of a file."""

    def __init__(self, file: Steady, start: int, size: int) -> None:
        """Begin `size` bytes at `start`."""
        self._file = file
        self._start = start
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` of the range, fewer at its end."""
        return self._file.read(self._start + offset, max(0, min(length, self.size - offset)))


class _Onward:
    """A range of what a compressed file unpacks to; reading backwards begins anew."""

    def __init__(self, file: Steady, start: int, size: int) -> None:
        self._file = file
        self._start = start
        self.size = size
        self._pieces = inflate.pieces(file)
        self._stream = Stream(self._pieces)

    def read(self, offset: int, length: int) -> bytes:
        wanted = self._start + offset
        if wanted < self._stream.offset:
            self.close()
            self._pieces = inflate.pieces(self._file)
            self._stream = Stream(self._pieces)
        self._stream.feed(wanted - self._stream.offset, None)
        return self._stream.take(max(0, min(length, self.size - offset)))

    def close(self) -> None:
        with suppress(ContainerError):
            self._pieces.close()
