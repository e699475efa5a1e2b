"""tar archives as trees: ustar, PAX and GNU, plain or in gzip, zstd or xz, read once in order.

A bad header, a missing end or data behind it end the reading, and then nothing is listed (CHECKS,
"trees and archives"). What the reader understands but a tree does not hold (sparse files, devices,
unknown types) is listed without content and named. Nothing is unpacked.
"""

import hashlib
from contextlib import closing
from typing import Final, NamedTuple

from verifier.core.limits import ARCHIVE_ENTRY_BYTES, TAR_EXTENSION_BYTES, TREE_PATH_BYTES
from verifier.core.printable import printable
from verifier.sources.archives import inflate, tar_header
from verifier.sources.archives.archive import Archive
from verifier.sources.archives.stream import Sink, Stream
from verifier.sources.archives.tar_header import BLOCK, ZERO, Header
from verifier.sources.ledger import ContainerError, Ledger
from verifier.sources.names import within_root
from verifier.sources.tree import FILE_MODE, LINK_MODE, PROGRAM_MODE, TreeEntry, Type

#: What a sparse member is, in words.
HOLES: Final = "a file whose holes were left out"
_OWNER_RUNS: Final = 0o100
_SPECIAL_BITS: Final = 0o7000
#: Where old GNU sparse headers say that a block of further holes follows.
_HOLES_FOLLOW: Final = 482
_MORE_HOLES_FOLLOW: Final = 504
#: Types that change how what follows is read, in ways that are not ours.
_FOREIGN: Final = {
    b"X": "a Solaris extension header",
    b"N": "GNU's old long names",
    b"M": "the continuation of another volume",
}


class TarTree(Archive):
    """The tree in a tar archive."""

    def entries(self) -> list[TreeEntry]:
        """Return every entry, sorted by path bytes, each content hashed."""
        with self._pass() as (file, ledger), closing(inflate.pieces(file)) as pieces:
            Reader(Stream(pieces), ledger).run()
        return [ledger.entries[path] for path in sorted(ledger.entries)]

    def read(self, path: bytes, *, limit: int) -> bytes | None:
        """Return the bytes of one regular file, None if there is none of that path.

        The archive is read to its end, because a later member may replace this one. None is also
        the answer of an archive that is refused; `findings` then say why.
        """
        return self._read(path, path, limit)

    def _read(self, path: bytes, holder: bytes, limit: int) -> bytes | None:
        """Read `path`, whose bytes are those of the member `holder` if it is a hard link."""
        wanted = _Wanted(holder, limit, bytearray())
        originals: dict[bytes, bytes] = {}
        with self._pass() as (file, ledger), closing(inflate.pieces(file)) as pieces:
            Reader(Stream(pieces), ledger, wanted, originals).run()
        entry = ledger.entries.get(path)
        if entry is None or entry.type is not Type.FILE or ledger.refused:
            return None
        original = originals.get(path, path)
        if original != holder:
            return self._read(path, original, limit)
        if entry.length is None or entry.length > limit:
            raise self._too_long(path, limit)
        return bytes(wanted.data)


class _Wanted(NamedTuple):
    """The one member whose bytes are kept, and how many."""

    path: bytes
    limit: int
    data: bytearray


class _Extensions:
    """What extension headers said of the member that follows them."""

    def __init__(self) -> None:
        self.records: dict[bytes, bytes] | None = None
        self.long: dict[bytes, bytes] = {}

    def __bool__(self) -> bool:
        return self.records is not None or bool(self.long)

    def name(self, key: bytes, stated: bytes) -> bytes:
        """Return a name: what PAX says, or GNU, or the header itself."""
        named = (self.records or {}).get(key)
        long = self.long.get(key)
        if named is not None and long is not None:
            raise ContainerError("tree-tar-extension", got="a PAX and a GNU name for one member")
        return named or long or stated


class Reader:
    """One pass over the members of a tar; a layer of an image takes them in its own way."""

    def __init__(
        self,
        stream: Stream,
        ledger: Ledger,
        wanted: _Wanted | None = None,
        originals: dict[bytes, bytes] | None = None,
    ) -> None:
        """Write what is found into `ledger`."""
        self._stream = stream
        self._ledger = ledger
        self._wanted = wanted
        #: Hard link → the first member that has its bytes.
        self._originals = {} if originals is None else originals
        self._extensions = _Extensions()
        self._at = 0
        self._raw: bytes | None = None

    def run(self) -> None:
        """Read to the end of the archive, naming the member where it goes wrong."""
        try:
            while self._member():
                pass
        except ContainerError as error:
            error.offset = self._at if error.offset is None else error.offset
            error.path = self._raw if error.path is None else error.path
            raise

    def _member(self) -> bool:
        self._at, self._raw = self._stream.offset, None
        block = self._stream.take(BLOCK)
        if len(block) < BLOCK:
            code = "tree-tar-truncated" if block else "tree-tar-unended"
            raise ContainerError(code, expected="two blocks of zeros", got="the end of the file")
        if block == ZERO:
            self._end()
            return False
        header = tar_header.parse(block)
        if header.type in (tar_header.PAX, tar_header.LONG_NAME, tar_header.LONG_LINK):
            self._extension(header)
        elif header.type == tar_header.PAX_GLOBAL:
            self._global(header)
        else:
            self._named(header, block)
            self._extensions = _Extensions()
        return True

    def _end(self) -> None:
        if self._extensions:
            raise ContainerError("tree-tar-extension", got="one that no member follows")
        second = self._stream.take(BLOCK)
        if second != ZERO:
            code = "tree-tar-lone-zero" if second else "tree-tar-unended"
            raise ContainerError(code, expected="two blocks of zeros", got="one")
        at = self._stream.offset
        for piece in self._stream.rest():
            if tail := piece.lstrip(b"\0"):
                at += len(piece) - len(tail)
                raise ContainerError("tree-tar-trailing", offset=at, expected="zeros alone")
            at += len(piece)

    # ── extension headers ──────────────────────────────────────────────────────────────────────

    def _short(self, header: Header) -> bytes:
        if header.size > TAR_EXTENSION_BYTES:
            limit = f"at most {TAR_EXTENSION_BYTES:,} bytes"
            raise ContainerError("tree-tar-extension", expected=limit, got=f"{header.size:,}")
        data = bytearray()
        self._content(header.size, data.extend)
        return bytes(data)

    def _extension(self, header: Header) -> None:
        extensions, data = self._extensions, self._short(header)
        if header.type == tar_header.PAX:
            if extensions.records is not None:
                raise ContainerError("tree-tar-extension", got="two of one kind for one member")
            extensions.records = tar_header.records(data)
            return
        key = b"path" if header.type == tar_header.LONG_NAME else b"linkpath"
        if key in extensions.long:
            raise ContainerError("tree-tar-extension", got="two of one kind for one member")
        extensions.long[key] = tar_header.long_name(data)

    def _global(self, header: Header) -> None:
        """Read a global header, which may describe and nothing else: readers differ on the rest."""
        if self._extensions:
            raise ContainerError("tree-tar-extension", got="a global one in front of a member")
        for key, value in tar_header.records(self._short(header)).items():
            if not tar_header.describes(key):
                raise ContainerError("tree-tar-global", got=printable(key.decode("latin-1")))
            said = printable(value[:80].decode("utf-8", "replace"))
            self._ledger.ignore(f"PAX global record {printable(key.decode('latin-1'))}: {said}")

    # ── members ────────────────────────────────────────────────────────────────────────────────

    def _named(self, header: Header, block: bytes) -> None:
        """Take in one member under the name that its extension headers give it."""
        raw = self._raw = self._extensions.name(b"path", header.name)
        link = self._extensions.name(b"linkpath", header.link)
        records = self._extensions.records or {}
        size = tar_header.pax_size(header.size, records)
        if header.type in _FOREIGN:
            raise ContainerError("tree-tar-dialect", got=_FOREIGN[header.type])
        if size > ARCHIVE_ENTRY_BYTES:
            limit = f"at most {ARCHIVE_ENTRY_BYTES:,} bytes"
            raise ContainerError("tree-entry-too-large", expected=limit, got=f"{size:,}")
        folder = header.type == tar_header.FOLDER
        path = self._place(raw, header)
        if records:
            self._describe(records)
        sparse = header.type == tar_header.SPARSE or tar_header.is_sparse(records)
        if header.type in tar_header.FILE_TYPES and not sparse:
            self._file(path, header.mode, size)
            return
        if folder or header.type in tar_header.BODILESS:
            if sparse:
                self._sparse(path)
            if size:
                raise ContainerError("tree-tar-body", expected="no content", got=f"{size:,} bytes")
            if path is not None:
                self._bodiless(path, header, link)
            return
        self._unread(path, header, block, size)
        if sparse:
            self._sparse(path)

    def _place(self, raw: bytes, header: Header) -> bytes | None:
        folder = header.type == tar_header.FOLDER
        return self._ledger.place(raw, folder=folder, offset=self._at)

    def _describe(self, records: dict[bytes, bytes]) -> None:
        for key in records:
            shown = printable(key.decode("latin-1"))
            if tar_header.describes(key):
                self._ledger.ignore(f"PAX record {shown}")
            elif not tar_header.understood(key):
                self._note("tree-tar-pax-unknown", got=shown)

    def _file(self, path: bytes | None, mode: int, size: int) -> None:
        wanted = self._wanted
        if path is None or path in self._ledger.entries:
            digest = None
            self._content(size, None)
        elif wanted is None:
            running = hashlib.sha256()
            self._content(size, running.update)
            digest = running.hexdigest()
        else:
            keep = path == wanted.path and size <= wanted.limit
            self._content(size, wanted.data.extend if keep else None)
            digest = None
        if path is None:
            return
        if mode & _SPECIAL_BITS:
            self._note("tree-mode-special", got=f"{mode & 0o7777:o}")
        git_mode = PROGRAM_MODE if mode & _OWNER_RUNS else FILE_MODE
        self._add(TreeEntry(path, Type.FILE, git_mode, size, digest))

    def _content(self, size: int, sink: Sink | None) -> None:
        """Hand a member's content over, and read what fills up its last block."""
        self._stream.feed(size, sink)
        if fill := -size % BLOCK:
            padding = self._stream.take(fill)
            if padding == ZERO[:fill]:
                return
            if len(padding) < fill:
                raise ContainerError("tree-tar-truncated", got="a block that is not full")
            if padding.strip(b"\0"):
                raise ContainerError("tree-tar-padding", expected="zeros behind the content")

    def _bodiless(self, path: bytes, header: Header, link: bytes) -> None:
        if header.type == tar_header.HARD_LINK:
            self._hard_link(path, header.mode, link)
        elif header.type == tar_header.LINK:
            if not link or 0 in link or len(link) > TREE_PATH_BYTES:
                raise ContainerError("tree-link-target", got=f"{len(link):,} bytes")
            digest = hashlib.sha256(link).hexdigest()
            self._add(TreeEntry(path, Type.LINK, LINK_MODE, len(link), digest, link))
        else:
            self._special(path, "tree-special", tar_header.DEVICES[header.type])

    def _hard_link(self, path: bytes, mode: int, link: bytes) -> None:
        """List a hard link as what it is another name of: an earlier member."""
        target = within_root(link, folder=False)
        if target.startswith(b"/") or b".." in target.split(b"/"):
            self._special(path, "tree-hardlink-outside", _shown(link))
            return
        original = self._ledger.entries.get(target)
        if original is None:
            self._special(path, "tree-hardlink-missing", _shown(link))
            return
        runs = original.mode == PROGRAM_MODE
        if original.type is Type.FILE and bool(mode & _OWNER_RUNS) != runs:
            self._note("tree-hardlink-mode", got=f"{mode & 0o7777:o}")
        self._originals.setdefault(path, self._originals.get(target, target))
        self._add(original._replace(path=path))

    def _unread(self, path: bytes | None, header: Header, block: bytes, size: int) -> None:
        """Pass over a member whose content is no file's: holes left out, or an unknown type."""
        follows = block[_HOLES_FOLLOW] if header.type == tar_header.SPARSE else 0
        while follows:
            holes = self._stream.take(BLOCK)
            if len(holes) < BLOCK:
                raise ContainerError("tree-tar-truncated", got="a block that is not full")
            follows = holes[_MORE_HOLES_FOLLOW]
        self._content(size, None)
        if path is None:
            return
        if header.type not in (tar_header.SPARSE, *tar_header.FILE_TYPES):
            self._note("tree-tar-type", got=f"type {_shown(header.type)}")
        self._add(TreeEntry(path, Type.SPECIAL, None, None, None))

    def _sparse(self, path: bytes | None) -> None:
        """Note a member that says that holes were left out; of a name that is refused no more."""
        if path is not None:
            self._note("tree-tar-sparse", got=HOLES)

    def _special(self, path: bytes, code: str, got: str) -> None:
        self._note(code, got=got)
        self._add(TreeEntry(path, Type.SPECIAL, None, None, None))

    def _add(self, entry: TreeEntry) -> None:
        self._ledger.add(entry, offset=self._at)

    def _note(self, code: str, *, got: str) -> None:
        self._ledger.note(ContainerError(code, path=self._raw, offset=self._at, got=got))


def _shown(data: bytes) -> str:
    return printable(data[:80].decode(errors="backslashreplace"))


class MemberPlaces(Reader):
    """A pass that notes where each member's content lies, and looks at none of it.

    `places` holds offset and length in the unpacked archive by path; links have none.
    """

    def __init__(self, stream: Stream, ledger: Ledger) -> None:
        """Begin with nothing."""
        super().__init__(stream, ledger)
        self.places: dict[bytes, tuple[int, int]] = {}

    def _sparse(self, path: bytes | None) -> None:  # noqa: ARG002  (whatever its name)
        """Refuse it: readers in Go give it another name, that of any part of the image."""
        self._note("image-sparse", got=HOLES)

    def _file(self, path: bytes | None, mode: int, size: int) -> None:  # noqa: ARG002
        at = self._stream.offset
        self._content(size, None)
        if path is not None:
            self.places.setdefault(path, (at, size))
            self._add(TreeEntry(path, Type.FILE, None, size, None))
