"""Headers of tar: ustar and GNU blocks, PAX records, GNU long names (POSIX pax; GNU tar manual).

Strict where readers differ: a field means one thing or is refused. Numbers are octal digits, with
blanks or NULs around them, or GNU's base-256; text ends at its first NUL and nothing follows it.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import adler32

from verifier.sources.ledger import ContainerError

BLOCK: Final = 512
ZERO: Final = bytes(BLOCK)
_NOTHING_BEHIND: Final = bytes(BLOCK - 345)
#: Types of members, as POSIX and GNU tar write them.
FILE_TYPES: Final = (b"0", b"\0", b"7")
HARD_LINK, LINK, FOLDER, SPARSE = b"1", b"2", b"5", b"S"
DEVICES: Final = {b"3": "a character device", b"4": "a block device", b"6": "a FIFO"}
#: Types that have no content.
BODILESS: Final = (HARD_LINK, LINK, *DEVICES)
PAX, PAX_GLOBAL, LONG_NAME, LONG_LINK = b"x", b"g", b"L", b"K"

_POSIX_MAGIC: Final = b"ustar\x0000"
_GNU_MAGIC: Final = b"ustar  \x00"
#: Size, time and checksum as most programs write them: one look instead of three.
_USUAL: Final = re.compile(rb"([0-7]{11})[ \0]([0-7]{11})[ \0]([0-7]{6})\0 ")
_OCTAL: Final = re.compile(rb" *([0-7]+)[ \0]*")
_BLANK: Final = re.compile(rb"[ \0]*")
_DECIMAL: Final = re.compile(rb"0|[1-9][0-9]{0,18}")
_TIME: Final = re.compile(rb"-?[0-9]{1,19}(?:\.[0-9]*)?")
_RECORD: Final = re.compile(rb"([1-9][0-9]{0,7}) ([^=\n\0]+)=")
_MODE_BITS: Final = 0o177777
_LARGEST: Final = (1 << 63) - 1
_OCTAL_LARGEST: Final = 0o77777777777
#: Records that only describe: none changes which bytes a member has or where it lies.
_DESCRIBE: Final = re.compile(
    rb"comment|charset|gname|uname|"
    rb"(?:SCHILY|LIBARCHIVE|RHT|SELINUX|MSWINDOWS)\.(?:xattr|acl|fflags|security|creationtime|rawsd"
    rb"|fileattr)(?:\..*)?|SCHILY\.(?:dev|ino|nlink)|LIBARCHIVE\.symlinktype",
    re.DOTALL,
)
_FORMS: Final = {
    b"size": _DECIMAL,
    b"uid": _DECIMAL,
    b"gid": _DECIMAL,
    b"mtime": _TIME,
    b"atime": _TIME,
    b"ctime": _TIME,
    b"hdrcharset": re.compile(rb"BINARY|ISO-IR 10646 2000 UTF-8"),
}
_NAMES: Final = (b"path", b"linkpath")
_SPARSE: Final = (b"GNU.sparse.", b"SCHILY.realsize")


class Header(NamedTuple):
    """What one header block says."""

    type: bytes
    name: bytes
    link: bytes
    mode: int
    size: int
    time: int


def parse(block: bytes) -> Header:
    """Read one block that is not all zeros; refuse whatever two readers could read differently."""
    usual = _USUAL.match(block, 124)
    stated = usual[3] if usual else _checksum(block)
    if not stated or int(stated, 8) != _sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise ContainerError("tree-tar-checksum", expected="a header", got="other bytes")
    mode = _rights(block[100:124])
    link, gnu = _described(block[157:345])
    kind, name = block[156:157], _text(block[:100], "name")
    if usual:
        size, time = int(usual[1], 8), int(usual[2], 8)
    else:
        size = _size(block[124:136])
        time = number(block[136:148], "time", blank=True, signed=True)
    if block[345:] == _NOTHING_BEHIND:
        return Header(kind, name, link, mode, size, time)
    if gnu and kind != SPARSE:
        raise _field("part behind the device numbers", block[345:].strip(b"\0"))
    if not gnu:
        if block[500:] != ZERO[500:]:
            raise _field("last twelve bytes", block[500:])
        name = _text(block[345:500], "prefix") + b"/" + name
    return Header(kind, name, link, mode, size, time)


def _checksum(block: bytes) -> bytes:
    stated = _OCTAL.fullmatch(block, 148, 156)
    return stated[1] if stated else b""


@lru_cache(maxsize=1 << 10)
def _rights(part: bytes) -> int:
    """Read mode, owner and group, which many members share."""
    mode = number(part[:8], "mode")
    if mode > _MODE_BITS:
        raise _field("mode", part[:8])
    number(part[8:16], "owner", blank=True)
    number(part[16:24], "group", blank=True)
    return mode


@lru_cache(maxsize=1 << 10)
def _described(part: bytes) -> tuple[bytes, bool]:
    """Read link, dialect, the owners' names and device numbers: the link, and whether GNU."""
    magic = part[100:108]
    if magic == bytes(8):
        raise ContainerError("tree-tar-dialect", expected="ustar, PAX or GNU tar", got="v7 tar")
    if magic not in (_POSIX_MAGIC, _GNU_MAGIC):
        raise _field("magic", magic)
    for start, what in ((108, "owner's name"), (140, "group's name")):
        _text(part[start : start + 32], what)
    for start in (172, 180):
        number(part[start : start + 8], "device", blank=True)
    return _text(part[:100], "link"), magic == _GNU_MAGIC


def _size(field: bytes) -> int:
    octal = _OCTAL.fullmatch(field)
    return int(octal[1], 8) if octal else number(field, "size")


def _sum(block: bytes) -> int:
    """Add all bytes up; Adler-32 of ASCII cannot wrap in so short a block, and is quicker."""
    return (adler32(block) & 0xFFFF) - 1 if block.isascii() else sum(block)


@lru_cache(maxsize=1 << 10)
def number(field: bytes, what: str, *, blank: bool = False, signed: bool = False) -> int:
    """Read one numeric field."""
    if octal := _OCTAL.fullmatch(field):
        return int(octal[1], 8)
    if blank and _BLANK.fullmatch(field):
        return 0
    if len(field) > 8 or what in ("owner", "group"):  # noqa: PLR2004  (GNU: never for mode, checksum)
        if field[0] == 0x80:  # noqa: PLR2004
            value = int.from_bytes(field[1:])
            if value <= _LARGEST:
                return value
        if signed and field[0] == 0xFF:  # noqa: PLR2004
            return int.from_bytes(field, signed=True)
    raise _field(what, field)


def _text(field: bytes, what: str) -> bytes:
    text = field.rstrip(b"\0")
    if 0 in text:
        raise _field(what, field)
    return text


def _field(what: str, field: bytes) -> ContainerError:
    shown = field[:64].decode("latin-1").encode("unicode_escape").decode()
    return ContainerError("tree-tar-field", expected=f"a plain {what}", got=shown)


def records(data: bytes) -> dict[bytes, bytes]:
    """Read PAX records, `LENGTH KEY=VALUE` and a newline each, every key once."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        head = _RECORD.match(data, at)
        end = at + int(head[1]) if head else 0
        if head is None or not head.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise _record(data[at : at + 64])
        key, value = head[2], data[head.end() : end - 1]
        if key in found:
            raise ContainerError("tree-tar-pax-repeated", got=_shown(key))
        form = _FORMS.get(key)
        if (form and not form.fullmatch(value)) or (key in _NAMES and not value):
            raise _record(data[at:end])
        found[key] = value
        at = end
    return found


def _record(data: bytes) -> ContainerError:
    return ContainerError("tree-tar-pax", expected="LENGTH KEY=VALUE", got=_shown(data))


def _shown(data: bytes) -> str:
    return data[:64].decode("latin-1").encode("unicode_escape").decode()


def describes(key: bytes) -> bool:
    """Whether a record only describes, so that it cannot change what is read."""
    return _DESCRIBE.fullmatch(key) is not None


def understood(key: bytes) -> bool:
    """Whether a record's value is checked or used."""
    return key in _NAMES or key in _FORMS or key.startswith(_SPARSE)


def is_sparse(found: dict[bytes, bytes]) -> bool:
    """Whether PAX records say that holes were left out of the content."""
    return any(key.startswith(_SPARSE) for key in found)


def pax_size(stated: int, found: dict[bytes, bytes]) -> int:
    """Return a member's size. PAX overrides the header, which may differ only if it is too small.

    A reader that believes the other one of two different sizes finds other members.
    """
    if b"size" not in found:
        return stated
    size = int(found[b"size"])
    if size != stated and size <= _OCTAL_LARGEST:
        raise ContainerError("tree-tar-size", expected=f"{stated:,} bytes", got=f"{size:,} bytes")
    return size


def long_name(data: bytes) -> bytes:
    """Read GNU's long name: text, ended by one NUL."""
    name = data.removesuffix(b"\0")
    if not name or 0 in name:
        raise ContainerError("tree-tar-long-name", got=_shown(data))
    return name
