"""zip archives as trees: strict about the layout, each content inflated and its checksum compared.

A mode is known where a Unix wrote it for a regular file; otherwise it is unknown (CHECKS, "trees
and archives"). Nothing is unpacked. A wheel's RECORD is compared with what was hashed.
"""

import hashlib
import stat
from collections.abc import Callable
from typing import Final

from verifier.core.limits import ARCHIVE_ENTRY_BYTES, RECORD_BYTES, TREE_PATH_BYTES
from verifier.core.printable import printable
from verifier.sources.archives import inflate, wheel
from verifier.sources.archives.archive import Archive, Steady
from verifier.sources.archives.zip_layout import (
    KNOWN_FLAGS,
    UNICODE_PATH,
    UTF8,
    Layout,
    Member,
    read_layout,
)
from verifier.sources.ledger import ContainerError, Ledger
from verifier.sources.tree import FILE_MODE, LINK_MODE, PROGRAM_MODE, TreeEntry, Type

_STORED, _DEFLATED = 0, 8
_UNIX: Final = 3
_OWNER_RUNS: Final = 0o100
_SPECIAL_BITS: Final = 0o7000
_DOS_FOLDER: Final = 0x10
#: The newest version of the format that any feature read here needs, times ten.
_NEWEST: Final = 63
_METHODS: Final = {
    1: "shrunk",
    6: "imploded",
    9: "deflate64",
    12: "bzip2",
    14: "lzma",
    93: "zstd",
    95: "xz",
    98: "ppmd",
    99: "encrypted by AES",
}
#: Bytes that an empty content may have once it is "compressed": deflate's empty block.
_EMPTY: Final = 2


_ONE_FILE: Final = "the content of the archive's other files: they were not unpacked"


class ZipTree(Archive):
    """The tree in a zip archive, a wheel included."""

    def entries(self) -> list[TreeEntry]:
        """Return every entry, sorted by path bytes, each content hashed."""
        with self._pass() as (file, ledger):
            reader = _Reader(file, ledger)
            reader.run()
            reader.compare_record()
        return [ledger.entries[path] for path in sorted(ledger.entries)]

    def read(self, path: bytes, *, limit: int) -> bytes | None:
        """Return the bytes of one regular file, None if there is none of that path.

        All of the layout is checked, but no content besides this one is read. None is also the
        answer of an archive that is refused; `findings` then say why.
        """
        data: bytes | None = None
        with self._pass() as (file, ledger):
            reader = _Reader(file, ledger, hashed=False)
            reader.run()
            entry = ledger.entries.get(path)
            if entry and entry.type is Type.FILE and not ledger.refused:
                if entry.length is None or entry.length > limit:
                    raise self._too_long(path, limit)
                data = reader.content(path)
        self._not_proven = (_ONE_FILE,)
        return None if ledger.refused else data


class _Reader:
    """One pass over the members of a zip."""

    def __init__(self, file: Steady, ledger: Ledger, *, hashed: bool = True) -> None:
        self._file = file
        self._ledger = ledger
        self._hashed = hashed
        self._members: dict[bytes, Member] = {}

    def run(self) -> None:
        """Read the layout, then each member in the order of its data."""
        layout = read_layout(self._file)
        inflate.check_size(sum(m.size for m in layout.members), of=self._file.size)
        self._comments(layout)
        for member in layout.members:
            try:
                self._member(member)
            except ContainerError as error:
                error.path = member.name if error.path is None else error.path
                error.offset = member.header if error.offset is None else error.offset
                raise

    def _comments(self, layout: Layout) -> None:
        if layout.comment:
            self._ledger.ignore(f"the archive's comment: {_shown(layout.comment)}")
        for _ in filter(None, (member.comment for member in layout.members)):
            self._ledger.ignore("an entry's comment")

    def _member(self, member: Member) -> None:
        folder = member.name.endswith(b"/")
        kind = _kind(member, folder=folder)
        if member.size > ARCHIVE_ENTRY_BYTES:
            limit = f"at most {ARCHIVE_ENTRY_BYTES:,} bytes"
            raise ContainerError("tree-entry-too-large", expected=limit, got=f"{member.size:,}")
        if not (member.flags & UTF8 or member.name.isascii() or UNICODE_PATH in member.extra):
            self._note(member, "tree-zip-charset")
        path = self._ledger.place(member.name, folder=folder, offset=member.header)
        if folder and (member.size or member.packed > _EMPTY):
            raise ContainerError("tree-zip-type", expected="an empty folder", got="content")
        fault = _unreadable(member)
        if fault and folder:
            self._note(member, *fault)
        if path is None:
            return
        if not fault:
            self._members.setdefault(path, member)
        self._ledger.add(self._entry(path, kind, member), offset=member.header)

    def _entry(self, path: bytes, kind: Type, member: Member) -> TreeEntry:
        unread = TreeEntry(path, Type.SPECIAL, None, None, None)
        if fault := _unreadable(member):
            self._note(member, *fault)
            return unread._replace(type=kind, length=member.size if kind is Type.FILE else None)
        if kind is Type.SPECIAL:
            self._note(member, "tree-special", "a device, FIFO or socket")
            return unread
        if kind is Type.LINK:
            return self._link(path, member)
        mode = _mode(member)
        if (member.attributes >> 16) & _SPECIAL_BITS and mode is not None:
            self._note(member, "tree-mode-special", f"{(member.attributes >> 16) & 0o7777:o}")
        if not self._hashed:
            return TreeEntry(path, kind, mode, member.size, None)
        running = hashlib.sha256()
        self._unpack(member, running.update)
        return TreeEntry(path, kind, mode, member.size, running.hexdigest())

    def _link(self, path: bytes, member: Member) -> TreeEntry:
        target = bytearray()
        if 0 < member.size <= TREE_PATH_BYTES:
            self._unpack(member, target.extend)
        if not target or 0 in target:
            raise ContainerError("tree-link-target", got=f"{member.size:,} bytes")
        digest = hashlib.sha256(target).hexdigest()
        return TreeEntry(path, Type.LINK, LINK_MODE, len(target), digest, bytes(target))

    def content(self, path: bytes) -> bytes | None:
        """Return the content of one entry, whose size the caller has looked at."""
        if path not in self._members:
            return None
        data = bytearray()
        self._unpack(self._members[path], data.extend)
        return bytes(data)

    def _unpack(self, member: Member, sink: Callable[[bytes], object]) -> None:
        """Hand the content over piece by piece; size and checksum must be what both headers say."""
        length = crc = 0
        source = inflate.deflated if member.method == _DEFLATED else inflate.stored
        for piece in source(self._file, member.data, member.packed):
            length += len(piece)
            if length > member.size:
                break
            crc = inflate.crc32(piece, crc)
            sink(piece)
        if length != member.size:
            got = "more" if length > member.size else f"{length:,}"
            raise ContainerError(
                "tree-zip-data", path=member.name, expected=f"{member.size:,} bytes", got=got
            )
        if crc != member.crc:
            raise ContainerError(
                "tree-zip-crc", path=member.name, expected=f"{member.crc:08x}", got=f"{crc:08x}"
            )

    def compare_record(self) -> None:
        """Compare a wheel's RECORD with the entries, if there is one."""
        records = [path for path in self._ledger.entries if wheel.RECORD.fullmatch(path)]
        if len(records) > 1:
            raise ContainerError("tree-record-malformed", got="more than one RECORD")
        for path in records:
            entry = self._ledger.entries[path]
            data = self.content(path) if (entry.length or 0) <= RECORD_BYTES else None
            if data is None:
                raise ContainerError("tree-record-malformed", path=path, got="too large or unread")
            for error in wheel.compare(data, path, self._ledger.entries):
                self._ledger.note(error)

    def _note(self, member: Member, code: str, got: str | None = None) -> None:
        self._ledger.note(ContainerError(code, path=member.name, offset=member.header, got=got))


def _kind(member: Member, *, folder: bool) -> Type:
    """Tell what a member is; name, DOS attributes and Unix mode must not contradict each other."""
    form = stat.S_IFMT(member.attributes >> 16)
    unix = member.system == _UNIX
    if form and (form == stat.S_IFDIR) != folder:
        raise ContainerError("tree-zip-type", got="a folder's name or mode, not both")
    if member.attributes & _DOS_FOLDER and not folder:
        raise ContainerError("tree-zip-type", got="a folder's attribute on a file")
    if folder or form in (0, stat.S_IFREG):
        return Type.FILE
    if not unix:
        raise ContainerError("tree-zip-type", got="a Unix mode that no Unix wrote")
    return Type.LINK if form == stat.S_IFLNK else Type.SPECIAL


def _mode(member: Member) -> int | None:
    mode = member.attributes >> 16
    if member.system != _UNIX or not stat.S_ISREG(mode):
        return None
    return PROGRAM_MODE if mode & _OWNER_RUNS else FILE_MODE


def _unreadable(member: Member) -> tuple[str, str] | None:
    """Say why a member's content cannot be read, if so."""
    if member.encrypted:
        return "tree-zip-encrypted", "an encrypted entry"
    if member.method not in (_STORED, _DEFLATED):
        return "tree-zip-method", _METHODS.get(member.method, f"method {member.method}")
    if member.flags & ~KNOWN_FLAGS:
        return "tree-zip-flags", f"flags {member.flags & ~KNOWN_FLAGS:#06x}"
    if member.needs > _NEWEST:
        return "tree-zip-flags", f"version {member.needs / 10} of the format"
    return None


def _shown(data: bytes) -> str:
    return printable(data[:80].decode(errors="backslashreplace"))
