"""Step 1: bytes that can be judged at all, and characters that mislead a reader.

Files are bytes, never text: the published installers read text and therefore call a CRLF file
verified (helpers.md §1.5). Lines are counted by LF only.
"""

import re
from collections.abc import Iterator
from typing import Final

from verifier.checks.helper.words import CONVERT, LOOK
from verifier.core.finding import Finding, Where
from verifier.core.limits import PLACES_LISTED

_BOM: Final = b"\xef\xbb\xbf"
#: tokenize's rule (PEP 263): in the first two lines, the second only after a blank or comment.
_COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK: Final = re.compile(rb"^[ \t\f]*(?:#.*)?$")
#: Characters without a shape of their own, and those that reorder what stands beside them
#: (Unicode TR36 §3.2 bidi controls, TR39 default-ignorables; CVE-2021-42574).
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def inadmissible(data: bytes, *, marked: bool) -> tuple[Finding, ...]:
    """Return what keeps `data` from being judged; `marked` files are rejected for it."""
    return tuple(
        Finding(
            code=f"{code}-marked" if marked else code,
            where=Where.at(data, offset, length),
            expected="UTF-8 text with line feeds, as it was published",
            got=got,
            cause=cause,
            remedy=CONVERT,
        )
        for code, offset, length, got, cause in _problems(data)
    )


def _problems(data: bytes) -> Iterator[tuple[str, int, int, str, str | None]]:
    if (at := data.find(b"\0")) >= 0:
        yield "helper-nul", at, 1, "a NUL byte", "binary data, or UTF-16 text"
    if data.startswith(_BOM):
        yield "helper-bom", 0, 3, "a byte order mark", "an editor that saves with a BOM"
    if (at := data.find(b"\r")) >= 0:
        count = data.count(b"\r")
        cause = "a checkout or copy that converts line ends" if b"\r\n" in data else None
        yield "helper-carriage-return", at, 1, f"{count:,} carriage returns", cause
    try:
        data.decode()
    except UnicodeDecodeError as error:
        got = f"byte 0x{data[error.start]:02x}, which starts no character"
        yield "helper-not-utf8", error.start, 1, got, None


def foreign_cookie(data: bytes) -> tuple[Finding, ...]:
    """Return a finding if the file declares an encoding other than UTF-8."""
    offset = 0
    for line in data.split(b"\n", 2)[:2]:
        if cookie := _COOKIE.match(line):
            name = cookie[1].decode("ascii", "replace").lower().replace("_", "-")
            if name in ("utf-8", "utf8") or name.startswith("utf-8-"):
                return ()
            return (
                Finding(
                    code="helper-coding-cookie",
                    where=Where.at(data, offset + cookie.start(1), len(cookie[1])),
                    expected="no coding line, or utf-8",
                    got=name,
                    cause="Python would read other characters than the registry compares",
                    remedy=LOOK,
                ),
            )
        if not _BLANK.match(line):
            return ()
        offset += len(line) + 1
    return ()


def invisible(data: bytes, owned: tuple[tuple[int, int], ...]) -> tuple[Finding, ...]:
    """Find invisible and reordering characters of UTF-8 `data` outside the owned bytes."""
    if data.isascii():
        return ()
    found: list[Finding] = []
    text, chars, offset = data.decode(), 0, 0
    for match in _INVISIBLE.finditer(text):
        offset += len(text[chars : match.start()].encode())
        chars = match.start()
        if not any(start <= offset < end for start, end in owned):
            found.append(
                Finding(
                    code="helper-invisible",
                    where=Where.at(data, offset, len(match[0].encode())),
                    expected="characters that a reader can see",
                    got=f"U+{ord(match[0]):04X}",
                    cause="the text may read differently from what Python runs",
                    remedy=LOOK,
                )
            )
        if len(found) == PLACES_LISTED:
            break
    return tuple(found)
