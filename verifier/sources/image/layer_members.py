"""The members of a layer, from the strict reader of tar (OCI image specification, layer.md).

A layer differs from other archives in three things: folders count, because they replace what lies
below; a hard link may name a file of a lower layer; and names that begin with `.wh.` are markers.
Where container runtimes are known to read a member in two ways, it is recorded.
"""

import hashlib
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from verifier.core.finding import Finding
from verifier.core.limits import ARCHIVE_ENTRY_BYTES
from verifier.core.printable import printable
from verifier.sources.archives import tar_header
from verifier.sources.archives.stream import Sink, Stream
from verifier.sources.archives.tar import HOLES, Reader
from verifier.sources.archives.tar_header import BLOCK, ZERO, Header
from verifier.sources.ledger import ContainerError, Ledger
from verifier.sources.names import within_root
from verifier.sources.tree import TreeEntry, Type

MARK: Final = b".wh."
OPAQUE: Final = b".wh..wh..opq"
#: Attributes that overlay file systems take as their own: that of Linux, and fuse-overlayfs, which
#: also takes owner, mode and type of a file from them (its main.c, containers/storage idtools).
_OVERLAY: Final = (
    b"trusted.overlay.",
    b"user.overlay.",
    b"user.containers.override_stat",
    b"user.fuseoverlayfs.",
    b"security.fuseoverlayfs.",
)
_SCHILY: Final = b"SCHILY.xattr."
_LIBARCHIVE: Final = b"LIBARCHIVE.xattr."
_MODE_BITS: Final = 0o7777
_OWNER_RUNS: Final = 0o100
_FILE: Final = b"0"


class Kind(StrEnum):
    """What a member of a layer is."""

    FILE = "file"
    LINK = "link"
    HARD_LINK = "hard link"
    FOLDER = "folder"
    SPECIAL = "special file"
    WHITEOUT = "whiteout"
    OPAQUE = "opaque marker"


class Member(NamedTuple):
    """One member, in the words of its layer.

    `path` is below the root; of a whiteout or an opaque marker it is the marker's own. `mode` is
    the lower twelve bits that the tar states. `length` in bytes and `sha256` are of a file's
    content or of a link's target; hard links, folders, markers and special files have neither.
    `target` is where a link leads, as it is written, or the path below the root that a hard link
    names. `at` is where a file's content begins in the decompressed layer, `time` when it was
    changed, as the tar says, in whole seconds.
    """

    path: bytes
    kind: Kind
    mode: int
    length: int | None = None
    sha256: str | None = None
    target: bytes | None = None
    at: int = 0
    time: int = 0

    @property
    def runs(self) -> bool:
        """Whether its owner may run it, all of a mode that a tree holds."""
        return bool(self.mode & _OWNER_RUNS)


class LayerReading:
    """What a pass over a layer's members has found: `members` in their order, and findings."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._ledger = Ledger()
        self.members: list[Member] = []

    def run(self, pieces: Iterator[bytes]) -> None:
        """Read the members; where they cannot be read on, the rest of `pieces` is used up."""
        try:
            _Members(Stream(pieces), self._ledger, self.members).run()
        except ContainerError as error:
            self.stop(error)
            try:
                for _ in pieces:
                    pass
            except ContainerError as second:
                self._ledger.note(second)
        self._ledger.count()

    def stop(self, error: ContainerError) -> None:
        """End here: nothing of a layer that could not be read to its end is used."""
        self._ledger.stop(error)
        self.members.clear()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong or worth knowing."""
        return tuple(self._ledger.findings)

    @property
    def complete(self) -> bool:
        """Whether every member is listed."""
        return self._ledger.complete

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was seen and left out, in words."""
        return tuple(
            f"{what} ({count:,})" if count > 1 else what
            for what, count in self._ledger.ignored.items()
        )


class _Members(Reader):
    """One pass over the members of a layer."""

    def __init__(self, stream: Stream, ledger: Ledger, members: list[Member]) -> None:
        super().__init__(stream, ledger)
        self._members = members
        self._time = 0

    def run(self) -> None:
        """Read to the end; a layer that ends behind a whole member needs no end blocks.

        umoci 0.4.7 leaves them out; readers in Go take the end of the file for the end.
        """
        try:
            super().run()
        except ContainerError as error:
            if error.code != "tree-tar-unended" or not self._members or self._extensions:
                raise
            self._note("layer-unended", got="the end of the file")

    def _content(self, size: int, sink: Sink | None) -> None:
        """Hand content over; behind the last one, what fills up its block may be missing."""
        self._stream.feed(size, sink)
        if fill := -size % BLOCK:
            padding = self._stream.take(fill)
            if padding == ZERO[:fill]:
                return
            if padding and len(padding) < fill:
                raise ContainerError("tree-tar-truncated", got="a block that is not full")
            if padding.strip(b"\0"):
                raise ContainerError("tree-tar-padding", expected="zeros behind the content")

    def _named(self, header: Header, block: bytes) -> None:
        """Take in one member; of most there is nothing to say but name, mode and size."""
        self._time = header.time
        ordinary = header.type == _FILE and header.size <= ARCHIVE_ENTRY_BYTES
        if self._extensions or not ordinary:
            super()._named(header, block)
            return
        raw = self._raw = header.name
        if MARK in raw:
            path = self._place(raw, header)
        else:
            path = self._ledger.admitted(raw, folder=False, offset=self._at)
        self._file(path, header.mode, header.size)

    def _place(self, raw: bytes, header: Header) -> bytes | None:
        folder = header.type == tar_header.FOLDER
        path = self._ledger.admitted(raw, folder=folder, offset=self._at)
        if path is None:
            return None
        if MARK in path and self._marks(path, folder=folder):
            return None
        if folder:
            self._members.append(Member(path, Kind.FOLDER, header.mode & _MODE_BITS))
            return None
        return path

    def _marks(self, path: bytes, *, folder: bool) -> bool:
        """Tell whether a name is a marker that is no good, or lies below one."""
        above, _, name = path.rpartition(b"/")
        if any(part.startswith(MARK) for part in above.split(b"/")):
            self._note("layer-marker-below", got=_shown(path))
        elif not name.startswith(MARK) or name == OPAQUE:
            return False
        elif name.startswith(MARK + MARK):
            self._note("layer-marker-unknown", got=_shown(name))
        elif name[len(MARK) :] in (b"", b".", b".."):
            self._note("layer-marker-name", got=_shown(name))
        elif folder:
            self._note("layer-marker-content", got="a folder")
        else:
            return False
        self._ledger.complete = False
        return True

    def _sparse(self, path: bytes | None) -> None:  # noqa: ARG002  (whatever its name)
        """Refuse it: runtimes unpack other content than is listed, under another name."""
        self._note("image-sparse", got=HOLES)

    def _describe(self, records: dict[bytes, bytes]) -> None:
        if b"mtime" in records:
            self._time = int(records[b"mtime"].partition(b".")[0])
        for key in records:
            if _attribute(key).startswith(_OVERLAY):
                self._note("layer-overlay-attribute", got=_shown(key))
        super()._describe(records)

    def _file(self, path: bytes | None, mode: int, size: int) -> None:
        at = self._stream.offset
        if path is None:
            self._content(size, None)
            return
        running = hashlib.sha256()
        self._content(size, running.update)
        if MARK in path and (name := path.rpartition(b"/")[2]).startswith(MARK):
            if size:
                self._ledger.complete = False
                self._note("layer-marker-content", got=f"{size:,} bytes")
            kind = Kind.OPAQUE if name == OPAQUE else Kind.WHITEOUT
            self._take(Member(path, kind, mode & _MODE_BITS))
            return
        digest = running.hexdigest()
        self._take(Member(path, Kind.FILE, mode & _MODE_BITS, size, digest, None, at, self._time))

    def _bodiless(self, path: bytes, header: Header, link: bytes) -> None:
        name = path.rpartition(b"/")[2]
        if name.startswith(MARK):
            self._ledger.complete = False
            self._note("layer-marker-content", got="no file")
            return
        super()._bodiless(path, header, link)

    def _hard_link(self, path: bytes, mode: int, link: bytes) -> None:
        """List a hard link; whether its target is there, the lower layers decide."""
        target = within_root(link, folder=False)
        if target.startswith(b"/") or b".." in target.split(b"/"):
            self._special(path, "tree-hardlink-outside", _shown(link))
            return
        self._take(Member(path, Kind.HARD_LINK, mode & _MODE_BITS, target=target))

    def _add(self, entry: TreeEntry) -> None:
        """Take in what the reader of archives describes in its own words: links, devices."""
        kind = Kind.LINK if entry.type is Type.LINK else Kind.SPECIAL
        self._take(Member(entry.path, kind, 0, entry.length, entry.sha256, entry.target))

    def _take(self, member: Member) -> None:
        link = member.kind is Kind.LINK
        if self._ledger.claim(member.path, link=link, offset=self._at):
            self._members.append(member)


def _attribute(key: bytes) -> bytes:
    """Return the name of an extended attribute that a PAX record sets, nothing of any other.

    libarchive writes names as URLs do (archive_write_set_format_pax.c).
    """
    if key.startswith(_LIBARCHIVE):
        return unquote_to_bytes(key.removeprefix(_LIBARCHIVE))
    return key.removeprefix(_SCHILY) if key.startswith(_SCHILY) else b""


def _shown(data: bytes) -> str:
    return printable(data[:200].decode(errors="backslashreplace"))
