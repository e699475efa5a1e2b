"""Paths in patches: as git writes them, and only those that a tree may hold.

Git puts a name with unusual bytes in double quotes, with escapes as in C. Each name has one or
two spellings that git itself would write (`core.quotePath` on or off); any other is refused.
"""

import re
from typing import Final

from verifier.sources.git.objects import unsafe_name
from verifier.sources.names import Names, refused

_ESCAPES: Final = {
    b"a": 7,
    b"b": 8,
    b"t": 9,
    b"n": 10,
    b"v": 11,
    b"f": 12,
    b"r": 13,
    b'"': 34,
    b"\\": 92,
}
_WRITTEN: Final = {byte: b"\\" + letter for letter, byte in _ESCAPES.items()}
_PART: Final = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})|([^"\\])', re.DOTALL)
#: Bytes for which git may put a name in quotes.
_ODD: Final = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')
_FIRST_PRINTABLE, _DELETE, _HIGH = 0x20, 0x7F, 0x80
_WHY: Final = {
    "tree-name-absolute": "it is absolute",
    "tree-name-escapes": "it leaves the tree",
    "tree-name-dot": "it has a segment that is a dot",
    "tree-name-empty": "it has an empty segment",
    "tree-name-nul": "it holds a NUL byte",
    "tree-name-long": "it is too long or too deep",
    "tree-name-backslash": "it holds a backslash",
    "tree-name-drive": "it starts like a drive",
}


def path_of(name: bytes, prefix: bytes) -> bytes | None:
    """Return the path in `a/path`, in quotes if git quotes it; None if written another way.

    >>> path_of(b"a/README.md", b"a/")
    b'README.md'
    """
    raw = _unquoted(name) if name.startswith(b'"') else name
    if raw is name and not _ODD.search(name) and len(name) > len(prefix):
        return name[len(prefix) :] if name.startswith(prefix) else None
    if raw is None or not raw.startswith(prefix) or raw == prefix:
        return None
    if name not in (_quoted(raw, high=True), _quoted(raw, high=False)):
        return None
    return raw.removeprefix(prefix)


def quoted_pair(pair: bytes) -> bytes | None:
    """Return the one path of `a/path b/path`, None if these are two paths or written oddly."""
    half, odd = divmod(len(pair) - 1, 2)
    if odd or pair[half : half + 1] != b" ":
        return None
    old, new = path_of(pair[:half], b"a/"), path_of(pair[half + 1 :], b"b/")
    return old if old == new else None


def why_unsafe(path: bytes) -> str | None:
    """Say why a path of a patch is refused, in words, or None if it is not."""
    problems = list(Names().problems(path))
    if refused(problems) or not _WHY.keys().isdisjoint(problems):
        return next(_WHY[problem] for problem in problems if problem in _WHY)
    return next((why for part in path.split(b"/") if (why := unsafe_name(part))), None)


def _unquoted(name: bytes) -> bytes | None:
    inner = name[1:-1]
    if len(name) < 2 or not name.endswith(b'"') or _PART.sub(b"", inner):  # noqa: PLR2004
        return None
    found = bytearray()
    for escape, plain in _PART.findall(inner):
        if escape:
            found.append(_ESCAPES[escape] if escape in _ESCAPES else int(escape, 8))
        else:
            found += plain
    return bytes(found)


def _quoted(raw: bytes, *, high: bool) -> bytes:
    """Write a name as git does; `high` says whether bytes from 0x80 are escaped."""
    written = b"".join(
        _WRITTEN[byte]
        if byte in _WRITTEN
        else b"\\%03o" % byte
        if byte < _FIRST_PRINTABLE or byte == _DELETE or (high and byte >= _HIGH)
        else bytes([byte])
        for byte in raw
    )
    return raw if written == raw else b'"' + written + b'"'
