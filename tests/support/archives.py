"""Hostile archives, byte by byte: what `tarfile` and `zipfile` would never write.

Every function returns bytes. A tar is `tar(member(...), ...)`, a zip `zipped(Entry(...), ...)`;
whatever a header holds can be replaced, so that a test says in one line what is wrong with it.
"""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

BLOCK = 512
POSIX = b"ustar\x0000"
GNU = b"ustar  \x00"
END = bytes(2 * BLOCK)


# ── tar ────────────────────────────────────────────────────────────────────────────────────────


def header(
    name: bytes,
    *,
    size: int = 0,
    kind: bytes = b"0",
    mode: int = 0o644,
    link: bytes = b"",
    magic: bytes = POSIX,
    prefix: bytes = b"",
    patches: Mapping[int, bytes] | None = None,
    checksum: bytes | None = None,
) -> bytes:
    """Make one header block; `patches` are bytes at offsets, set before the checksum is made."""
    block = bytearray(BLOCK)
    put = {
        0: name,
        100: b"%07o\0" % mode,
        108: b"0000000\0",
        116: b"0000000\0",
        124: b"%011o\0" % size,
        136: b"00000000000\0",
        156: kind,
        157: link,
        257: magic,
        345: prefix,
        **(patches or {}),
    }
    for at, data in put.items():
        block[at : at + len(data)] = data
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block) if checksum is None else checksum
    assert len(block) == BLOCK
    return bytes(block)


def body(data: bytes) -> bytes:
    """Fill content up to whole blocks."""
    return data + bytes(-len(data) % BLOCK)


def member(name: bytes, data: bytes = b"", *, size: int | None = None, **fields: object) -> bytes:
    """Make a member: header and content. `size` may lie."""
    stated = len(data) if size is None else size
    return header(name, size=stated, **fields) + body(data)  # type: ignore[arg-type]


def record(key: bytes, value: bytes) -> bytes:
    """Make one PAX record, whose length counts itself."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    if rest + len(str(length)) != length:
        length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def pax(*records: tuple[bytes, bytes] | bytes, kind: bytes = b"x") -> bytes:
    """Make an extended header of records, or of raw bytes."""
    data = b"".join(r if isinstance(r, bytes) else record(*r) for r in records)
    return member(b"PaxHeader", data, kind=kind)


def long(data: bytes, kind: bytes = b"L") -> bytes:
    """Make GNU's header of a long name, or with kind K of a long link."""
    return member(b"././@LongLink", data, kind=kind, magic=GNU)


def tar(*members: bytes, end: bytes = END) -> bytes:
    """Join members and end the archive."""
    return b"".join(members) + end


# ── zip ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(kw_only=True)
class Entry:
    """One entry; what is None is computed, `local` and `central` replace fields of one header."""

    name: bytes
    data: bytes = b""
    method: int = 8
    flags: int = 0
    system: int = 3
    attributes: int = 0o100644 << 16
    extra: bytes = b""
    local_extra: bytes | None = None
    comment: bytes = b""
    packed: bytes | None = None
    crc: int | None = None
    descriptor: bytes | None = None
    before: bytes = b""
    local: dict[str, int | bytes] = field(default_factory=dict)
    central: dict[str, int | bytes] = field(default_factory=dict)

    def content(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return deflate(self.data) if self.method == 8 else self.data

    def facts(self) -> dict[str, int | bytes]:
        crc = zlib.crc32(self.data) if self.crc is None else self.crc
        return {
            "flags": self.flags,
            "method": self.method,
            "crc": crc,
            "packed": len(self.content()),
            "size": len(self.data),
            "name": self.name,
        }

    def local_bytes(self) -> bytes:
        facts = {**self.facts(), **self.local}
        extra = self.extra if self.local_extra is None else self.local_extra
        numbers = (facts[k] for k in ("flags", "method"))
        sizes = (facts[k] for k in ("crc", "packed", "size"))
        name = facts["name"]
        assert isinstance(name, bytes)
        head = struct.pack(
            "<4s5H3L2H", b"PK\3\4", 20, *numbers, 0, 33, *sizes, len(name), len(extra)
        )
        return head + name + extra + self.content() + self.descriptor_bytes()

    def descriptor_bytes(self) -> bytes:
        if self.descriptor is not None:
            return self.descriptor
        if not self.flags & 8:
            return b""
        facts = self.facts()
        return b"PK\7\x08" + struct.pack("<3L", *(facts[k] for k in ("crc", "packed", "size")))

    def central_bytes(self, at: int) -> bytes:
        facts = {**self.facts(), "at": at, "disk": 0, **self.central}
        numbers = (facts[k] for k in ("flags", "method"))
        sizes = (facts[k] for k in ("crc", "packed", "size"))
        name = facts["name"]
        assert isinstance(name, bytes)
        lengths = (len(name), len(self.extra), len(self.comment), facts["disk"], 0)
        head = struct.pack(
            "<4s6H3L5H2L",
            b"PK\1\2",
            self.system << 8 | 20,
            20,
            *numbers,
            0,
            33,
            *sizes,
            *lengths,
            self.attributes,
            facts["at"],
        )
        return head + name + self.extra + self.comment


def deflate(data: bytes) -> bytes:
    """Compress without any header, as zip does."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def extra(kind: int, data: bytes) -> bytes:
    """Make one extra field."""
    return struct.pack("<2H", kind, len(data)) + data


def end_record(count: int, size: int, start: int, *, comment: bytes = b"", disk: int = 0) -> bytes:
    """Make the record that ends a zip."""
    return (
        struct.pack("<4s4H2LH", b"PK\5\6", disk, disk, count, count, size, start, len(comment))
        + comment
    )


def zipped(
    *entries: Entry,
    prefix: bytes = b"",
    shift: int | None = None,
    comment: bytes = b"",
    between: bytes = b"",
    end: bytes | None = None,
    order: list[int] | None = None,
) -> bytes:
    """Join entries, central directory and end record.

    `prefix` stands in front, `shift` is what offsets count of it (all, if None); `between` stands
    behind the last entry; `end` replaces the end record.
    """
    data, starts = bytearray(prefix), []
    base = len(prefix) - (len(prefix) if shift is None else shift)
    for entry in entries:
        data += entry.before
        starts.append(len(data) - base)
        data += entry.local_bytes()
    data += between
    start = len(data)
    numbers = range(len(entries)) if order is None else order
    for number in numbers:
        data += entries[number].central_bytes(starts[number])
    size = len(data) - start
    data += end_record(len(numbers), size, start - base, comment=comment) if end is None else end
    return bytes(data)
