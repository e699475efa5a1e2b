"""The files of a release in a folder, and the members of its archive with owner, mode and time.

The archive is unpacked in memory, piece by piece, and nothing of it is written or run.
"""

import hashlib
import os
from contextlib import closing
from pathlib import Path
from typing import Final

from verifier.core.digest import Pin
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.archives import inflate, tar_header
from verifier.sources.archives.archive import Archive
from verifier.sources.archives.stream import Stream
from verifier.sources.archives.tar import Reader
from verifier.sources.archives.tar_header import Header
from verifier.sources.evidence_folder import EvidenceFolder
from verifier.sources.folder import Folder, Kind, Unusable
from verifier.sources.ledger import Ledger
from verifier.sources.tree import TreeEntry, Type

_GZIP: Final = b"\x1f\x8b\x08"
_NAMED: Final = 0x08
_START: Final = 20


@frozen
class Member:
    """One member of the archive. `start` is its first bytes, where a program says what it is."""

    path: str
    regular: bool
    folder: bool
    mode: int
    owner: tuple[int, int]
    time: int
    length: int | None
    sha256: str | None
    start: bytes


@frozen
class Unpacked:
    """What is in an archive: its own pin, members in order, and what its gzip header says.

    `gzip_time` is None if it is no gzip; `gzip_name` says whether the header names a file.
    """

    pin: Pin
    members: tuple[Member, ...]
    gzip_time: int | None
    gzip_name: bool
    findings: tuple[Finding, ...]


class ReleaseFolder:
    """A folder given to `verify release`."""

    def __init__(self, path: Path, *, name: str) -> None:
        """Remember the folder; nothing is opened before something is asked for."""
        self._path = path
        self._folder = Folder(path, what="the release")
        self._name = name

    def names(self) -> tuple[str, ...]:
        """List what lies in it, sorted. Raises `UnavailableError`."""
        return tuple(entry.name for entry in self._folder.entries())

    def irregular(self) -> tuple[str, ...]:
        """List what is there and is no regular file: links, folders, special files."""
        return tuple(e.name for e in self._folder.entries() if e.kind is not Kind.FILE)

    def read(self, name: str, *, limit: int) -> bytes | Unusable:
        """Return the bytes of one of its files."""
        return self._folder.read(name, limit=limit)

    def pin(self, name: str) -> Pin:
        """Pin one of its files, however large. Raises `UnavailableError`."""
        return EvidenceFolder(self._path, name=self._name).pin(name)

    def unpack(self, name: str) -> Unpacked:
        """Read an archive once. Raises `UnavailableError` if it cannot be read or changed."""
        return _Unpacking(self._path / name, name=f"{self._name}/{name}").run()


class _Unpacking(Archive):
    """One pass over a release's archive."""

    def run(self) -> Unpacked:
        members: list[Member] = []
        with self._pass() as (file, ledger):
            start = file.read(0, _START)
            running, at = hashlib.sha256(), 0
            while piece := file.read(at, 1 << 20):
                running.update(piece)
                at += len(piece)
            with closing(inflate.pieces(file)) as pieces:
                _Members(Stream(pieces), ledger, members).run()
        packed = start.startswith(_GZIP)
        return Unpacked(
            pin=Pin(sha256=running.hexdigest(), length=at),
            members=tuple(members),
            gzip_time=int.from_bytes(start[4:8], "little") if packed else None,
            gzip_name=packed and bool(start[3] & _NAMED),
            findings=self.findings,
        )


class _Members(Reader):
    """Takes members with all that their headers say."""

    def __init__(self, stream: Stream, ledger: Ledger, members: list[Member]) -> None:
        super().__init__(stream, ledger)
        self._members = members
        self._held: list[tuple[int, str, bytes]] = []

    def _named(self, header: Header, block: bytes) -> None:
        self._held.clear()
        super()._named(header, block)
        length, digest, start = self._held[0] if self._held else (None, None, b"")
        user, group = (
            tar_header.number(block[at : at + 8], what, blank=True)
            for at, what in ((108, "owner"), (116, "group"))
        )
        self._members.append(
            Member(
                path=os.fsdecode(self._raw or header.name),
                regular=header.type in tar_header.FILE_TYPES,
                folder=header.type == tar_header.FOLDER,
                mode=header.mode & 0o7777,
                owner=(user, group),
                time=header.time,
                length=length,
                sha256=digest,
                start=start,
            )
        )

    def _file(self, path: bytes | None, mode: int, size: int) -> None:  # noqa: ARG002
        running, start = hashlib.sha256(), bytearray()

        def take(piece: memoryview) -> None:
            running.update(piece)
            start.extend(piece[: _START - len(start)])

        self._content(size, take)
        self._held.append((size, running.hexdigest(), bytes(start)))
        if path is not None:
            self._add(TreeEntry(path, Type.FILE, None, size, running.hexdigest()))
