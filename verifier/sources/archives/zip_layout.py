"""The layout of a zip: end records, central directory and local headers, which must agree.

A zip says everything twice, and readers differ in what they believe (APPNOTE 6.3.10). So here the
parts tile the file exactly: local headers with their data, one behind the other from the first
byte, then the directory, then the end records, then nothing; and what is said twice is the same.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from verifier.core.limits import TREE_ENTRIES, ZIP_DIRECTORY_BYTES
from verifier.core.printable import printable
from verifier.sources.archives.archive import Steady
from verifier.sources.archives.inflate import crc32
from verifier.sources.ledger import ContainerError

_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR: Final = struct.Struct("<4sLQL")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
_LONGEST_COMMENT: Final = 0xFFFF

#: General purpose bits.
ENCRYPTED: Final = 1 << 0 | 1 << 6 | 1 << 13
_DESCRIPTOR: Final = 1 << 3
UTF8: Final = 1 << 11
#: What the bits 1 and 2 say about deflate changes nothing for a reader.
KNOWN_FLAGS: Final = 1 << 1 | 1 << 2 | _DESCRIPTOR | UTF8
#: Extra fields that say something about names, sizes or content.
_ZIP64, UNICODE_PATH, _AES, _STRONG = 0x0001, 0x7075, 0x9901, 0x0017


class Member(NamedTuple):
    """One entry as both of its headers describe it."""

    name: bytes
    system: int
    needs: int
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    attributes: int
    header: int
    comment: bytes
    extra: dict[int, bytes]
    data: int = 0

    @property
    def encrypted(self) -> bool:
        """Whether a flag, a method or an extra field says so."""
        return bool(self.flags & ENCRYPTED) or _AES in self.extra or _STRONG in self.extra


class Layout(NamedTuple):
    """All of a zip but its content: the members in the order of their data, and the comment."""

    members: list[Member]
    comment: bytes


def read_layout(file: Steady) -> Layout:
    """Read and compare everything but the content."""
    start, size, count, comment = _end(file)
    if count > TREE_ENTRIES or size > ZIP_DIRECTORY_BYTES:
        raise ContainerError(
            "tree-too-many", expected=f"at most {TREE_ENTRIES:,} members", got=f"{count:,}"
        )
    members = list(_directory(file.read(start, size), start, count))
    members.sort(key=lambda member: member.header)
    return Layout(list(_tiled(file, members, start)), comment)


# ── the end records ────────────────────────────────────────────────────────────────────────────


def _end(file: Steady) -> tuple[int, int, int, bytes]:
    """Return where the directory starts, its size, its entries, and the archive's comment."""
    tail_at = max(0, file.size - _END.size - _LONGEST_COMMENT)
    tail = file.read(tail_at, file.size - tail_at)
    found = tail.rfind(b"PK\5\6")
    if found < 0 or len(tail) - found < _END.size:
        raise ContainerError("tree-zip-end", expected="an end record", got="none")
    at = tail_at + found
    _, disk, first, here, count, size, start, length = _END.unpack_from(tail, found)
    comment = tail[found + _END.size :]
    if length != len(comment):
        raise ContainerError("tree-zip-end", offset=at, got="bytes behind the comment's length")
    # A record further in front whose comment would reach the end too is another way to read it.
    earlier = tail.rfind(b"PK\5\6", 0, found)
    while earlier >= 0:
        if earlier + _END.size + int.from_bytes(tail[earlier + 20 : earlier + 22], "little") == len(
            tail
        ):
            raise ContainerError("tree-zip-end", offset=at, got="two end records")
        earlier = tail.rfind(b"PK\5\6", 0, earlier)
    stated: tuple[int, ...] = (disk, first, here, count, size, start)
    end = at
    if at >= _LOCATOR.size and file.read(at - _LOCATOR.size, 4) == b"PK\6\7":
        end, stated = _zip64(file, at, stated)
    elif _FULL32 in (size, start) or _FULL16 in (disk, first, here, count):
        raise ContainerError("tree-zip-zip64", offset=at, expected="a zip64 record", got="none")
    disk, first, here, count, size, start = stated
    if disk or first or here != count:
        raise ContainerError("tree-zip-several-disks", offset=at)
    if start + size != end:
        shifted = start + size < end
        code = "tree-zip-prefixed" if shifted else "tree-zip-directory"
        raise ContainerError(
            code, offset=start, expected=f"its end at {end:,}", got=f"{start + size:,}"
        )
    return start, size, count, comment


def _zip64(file: Steady, at: int, stated: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Read the zip64 end record; the older one must say the same or that it cannot."""
    _, disk, where, disks = _LOCATOR.unpack(file.read(at - _LOCATOR.size, _LOCATOR.size))
    end = at - _LOCATOR.size - _END64.size
    raw = file.read(max(end, 0), _END64.size)
    if where != end or disk or disks != 1 or len(raw) < _END64.size or raw[:4] != b"PK\6\6":
        raise ContainerError("tree-zip-zip64", offset=at, expected=f"a record at {max(end, 0):,}")
    _, length, _, _, *rest = _END64.unpack(raw)
    fulls = (_FULL16,) * 4 + (_FULL32,) * 2
    agree = all(old in (new, full) for old, new, full in zip(stated, rest, fulls, strict=True))
    if length != _END64.size - 12 or not agree:
        raise ContainerError("tree-zip-zip64", offset=end, got="another statement than the end's")
    return end, tuple(rest)


# ── the central directory ──────────────────────────────────────────────────────────────────────


def _directory(data: bytes, start: int, count: int) -> Iterator[Member]:
    at = 0
    for _ in range(count):
        if len(data) - at < _CENTRAL.size or data[at : at + 4] != b"PK\1\2":
            raise ContainerError(
                "tree-zip-directory", offset=start + at, expected=f"{count:,} entries", got="fewer"
            )
        fields = _CENTRAL.unpack_from(data, at)
        names, extras, comments = fields[10:13]
        end = at + _CENTRAL.size + names + extras + comments
        if end > len(data):
            raise ContainerError("tree-zip-directory", offset=start + at, got="an entry cut off")
        yield _central(data[at:end], fields, start + at)
        at = end
    if at != len(data):
        raise ContainerError(
            "tree-zip-directory", offset=start + at, expected=f"{count:,} entries", got="more"
        )


def _central(data: bytes, fields: tuple[int, ...], at: int) -> Member:
    _, made_by, needs, flags, method, _, _, crc, packed, size, names, extras, *rest = fields
    _, disk, _, attributes, header = rest
    name = data[_CENTRAL.size : _CENTRAL.size + names]
    behind = _CENTRAL.size + names + extras
    extra = _extra(data[_CENTRAL.size + names : behind], name, at)
    size, packed, header, disk = _widened(
        extra.get(_ZIP64),
        ((size, 8, _FULL32), (packed, 8, _FULL32), (header, 8, _FULL32), (disk, 4, _FULL16)),
        name,
        at,
    )
    if disk:
        raise ContainerError("tree-zip-several-disks", path=name, offset=at)
    _one_name(name, extra, at)
    return Member(
        name=name,
        system=made_by >> 8,
        needs=needs & 0xFF,
        flags=flags,
        method=method,
        crc=crc,
        packed=packed,
        size=size,
        attributes=attributes,
        header=header,
        comment=data[behind:],
        extra=extra,
    )


def _extra(data: bytes, name: bytes, at: int) -> dict[int, bytes]:
    """Split extra fields, which fill their space exactly, each kind once."""
    fields: dict[int, bytes] = {}
    while data:
        length = int.from_bytes(data[2:4], "little")
        kind = int.from_bytes(data[:2], "little")
        if len(data) < 4 + length or kind in fields:
            raise ContainerError("tree-zip-extra", path=name, offset=at, got=data[:16].hex())
        fields[kind] = data[4 : 4 + length]
        data = data[4 + length :]
    return fields


def _widened(
    extra: bytes | None, fields: tuple[tuple[int, int, int], ...], name: bytes, at: int
) -> list[int]:
    """Return (value, width, full) fields; those that are full come from zip64's extra field."""
    rest, values = extra or b"", []
    for value, width, full in fields:
        if value != full:
            values.append(value)
            continue
        if len(rest) < width:
            raise ContainerError("tree-zip-zip64", path=name, offset=at, got="a value too few")
        values.append(int.from_bytes(rest[:width], "little"))
        rest = rest[width:]
    if rest:
        raise ContainerError("tree-zip-zip64", path=name, offset=at, got="a value too many")
    return values


def _one_name(name: bytes, extra: dict[int, bytes], at: int) -> None:
    """Compare the name with that of the Unicode path field, which some readers prefer."""
    field = extra.get(UNICODE_PATH)
    if field is None:
        return
    if field[:1] != b"\1" or field[1:5] != crc32(name).to_bytes(4, "little") or field[5:] != name:
        shown = printable(field[5:].decode(errors="backslashreplace"))
        raise ContainerError("tree-zip-name", path=name, offset=at, got=shown)


# ── local headers, data and descriptors ────────────────────────────────────────────────────────


def _tiled(file: Steady, members: list[Member], end: int) -> Iterator[Member]:
    """Check that the members lie one behind the other, from the first byte to the directory."""
    at = 0
    starts = [member.header for member in members] + [end]
    for member, after in zip(members, starts[1:], strict=True):
        if member.header != at:
            code = "tree-zip-prefixed" if at == 0 else "tree-zip-gap"
            raise ContainerError(code, path=member.name, offset=at, got=f"{member.header - at:,}")
        data = _local(file, member, after)
        _descriptor(file, member, data + member.packed, after)
        yield member._replace(data=data)
        at = after
    if at != end:
        raise ContainerError("tree-zip-prefixed", offset=0, got=f"{end - at:,} bytes")


def _local(file: Steady, member: Member, after: int) -> int:
    """Compare a local header with the directory and return where its data begin."""
    at, name = member.header, member.name
    raw = file.read(at, _LOCAL.size)
    if after - at < _LOCAL.size or len(raw) < _LOCAL.size:
        raise ContainerError("tree-zip-overlap", path=name, offset=at)
    magic, _, flags, method, _, _, crc, packed, size, names, extras = _LOCAL.unpack_from(raw)
    data: int = at + _LOCAL.size + names + extras
    if magic != b"PK\3\4":
        raise _differs(member, "a local header", "other bytes")
    behind = file.read(at + _LOCAL.size, names + extras)
    if behind[:names] != name:
        shown = behind[:names].decode(errors="backslashreplace")
        raise _differs(member, "the same name", printable(shown))
    if (flags, method) != (member.flags, member.method):
        raise _differs(member, "the same flags and method", f"{flags:#x} and {method}")
    if data + member.packed > after:
        raise ContainerError("tree-zip-overlap", path=name, offset=at)
    extra = _extra(behind[names:], name, at)
    _one_name(name, extra, at)
    if _ZIP64 in extra and _FULL32 not in (packed, size):
        # Some writers put both sizes there for a stream whose length they do not know.
        if extra[_ZIP64].strip(b"\0") or not member.flags & _DESCRIPTOR:
            raise ContainerError("tree-zip-zip64", path=name, offset=at, got="a value too many")
    else:
        fields = ((size, 8, _FULL32), (packed, 8, _FULL32))
        size, packed = _widened(extra.get(_ZIP64), fields, name, at)
    said = (crc, packed, size)
    known = (member.crc, member.packed, member.size)
    unsaid = member.flags & _DESCRIPTOR and all(
        a in (0, b) for a, b in zip(said, known, strict=True)
    )
    if said != known and not unsaid:
        raise _differs(
            member,
            "checksum {:08x}, {:,} of {:,}".format(*known),
            "{:08x}, {:,} of {:,}".format(*said),
        )
    return data


def _differs(member: Member, expected: str, got: str) -> ContainerError:
    return ContainerError(
        "tree-zip-local", path=member.name, offset=member.header, expected=expected, got=got
    )


def _descriptor(file: Steady, member: Member, at: int, after: int) -> None:
    """Read what lies between data and the next header: a descriptor if one is promised."""
    if not member.flags & _DESCRIPTOR:
        if at != after:
            raise ContainerError("tree-zip-gap", path=member.name, offset=at, got=f"{after - at:,}")
        return
    forms = ("<3L", "<L2Q")
    known = (member.crc, member.packed, member.size)
    said = file.read(at, min(after - at, 25))
    allowed = [
        sign + struct.pack(form, *known)
        for form in forms
        for sign in (b"PK\7\x08", b"")
        if form == "<L2Q" or max(known) <= _FULL32
    ]
    if said not in allowed:
        code = "tree-zip-descriptor" if len(said) <= 24 else "tree-zip-gap"  # noqa: PLR2004
        raise ContainerError(code, path=member.name, offset=at, got=said[:24].hex())
