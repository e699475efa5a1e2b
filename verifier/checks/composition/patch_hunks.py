"""Hunks of a patch, read strictly, and the cursor that every part of the reader moves.

A hunk's header has to be true: as many lines as it says, new lines where the hunks above it put
them, ascending, disjoint. A hunk shows where it belongs: context on both sides, unless the file
begins or ends there (what `git apply` demands of the end, demanded of the beginning too).
"""

import re
from collections.abc import Iterator
from typing import Final, NoReturn

from verifier.core.finding import Finding, Where
from verifier.core.limits import PATCH_LINE_DIGITS
from verifier.core.printable import printable
from verifier.core.value import frozen

_NUMBER: Final = rf"(?:0|[1-9][0-9]{{0,{PATCH_LINE_DIGITS - 1}}})"
_HUNK: Final = re.compile(
    rf"@@ -({_NUMBER})(?:,({_NUMBER}))? \+({_NUMBER})(?:,({_NUMBER}))? @@(?: .*)?".encode(),
    re.DOTALL,
)
_NO_NEWLINE: Final = b"\\ No newline at end of file"
_KINDS: Final = (b" ", b"-", b"+")
#: What a line begins with that would be one more line of a hunk.
_SIDES: Final = (b" ", b"-", b"+", b"\\")
#: What begins with a dash and may follow a hunk: the next file, or a signature.
_NEXT: Final = (b"--- ", b"-- ")
_A_LINE: Final = "a line that starts with a space, - or +"
_A_HUNK: Final = "a hunk, @@ -line,count +line,count @@"
_CONTEXT: Final = "a line of context on each side, unless the file begins or ends there"
_STRIPPED: Final = "white space at line ends was stripped from the patch"
_CARRIAGE_RETURN_EXPLAINS: Final = ("patch-header", "patch-garbage")
_SHOWN: Final = 120
_REMEDY: Final = (
    "take the patch again from where it was pinned, as bytes; mail and editors change patches"
)
_REMEDIES: Final = {
    "patch-rename": "write the patch anew with git diff --no-renames, and pin that",
    "patch-binary": "vouch for a binary file by its pins, in a stage without a patch",
    "patch-mode-only": "state the mode in the stage's files, without a patch for it",
    "patch-mode": "vouch for links and submodules by the commit that holds them",
    "patch-no-context": "write the patch anew with context (git diff -U3), and pin that",
}


@frozen
class Hunk:
    """One replacement: `old` stands at line `start` (from 1) of the file and becomes `new`.

    `at` is the hunk's own line in the patch. `ends` says that nothing follows it in the file: it
    has no context behind its last change, or one of its sides lacks the final newline.
    """

    at: int
    start: int
    old: bytes
    new: bytes
    new_start: int
    ends: bool

    @property
    def old_lines(self) -> int:
        """How many lines `old` is, the last one perhaps without its newline."""
        return _lines(self.old)


class Refusal(Exception):  # noqa: N818  (no error: it carries a finding up to `read_patch`)
    """Why a patch is refused."""

    def __init__(self, finding: Finding) -> None:
        """Carry a finding."""
        self.finding = finding


class Cursor:
    """A patch as lines. `at` is the index of the next one, `path` the file it is about."""

    def __init__(self, data: bytes, name: str) -> None:
        """Begin at the first line; `name` is what reports call the patch."""
        self.lines = data.split(b"\n")
        self.unended = bool(self.lines.pop())
        if self.unended:
            self.lines.append(data.rpartition(b"\n")[2])
        self.patch = name
        self.at = 0
        self.path: bytes | None = None

    def peek(self) -> bytes | None:
        """Return the next line, None at the end."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take(self) -> bytes:
        """Return the next line and go behind it."""
        self.at += 1
        return self.lines[self.at - 1]

    def no_carriage_return(self, line: bytes) -> None:
        """Refuse a header line that ends in CRLF."""
        if line.endswith(b"\r"):
            self.refuse("patch-carriage-return", "header lines that end in LF", None)

    def refuse_line(self, code: str, expected: str, got: str | None = None) -> NoReturn:
        """Refuse for the line that was just taken."""
        self.at -= 1
        self.refuse(code, expected, got)

    def refuse_hunk(self, at: int, expected: str, got: str) -> NoReturn:
        """Refuse a hunk that does not show where it belongs, for its header."""
        self.at = at - 1
        self.refuse("patch-no-context", expected, got)

    def refuse(self, code: str, expected: str, got: str | None) -> NoReturn:
        """Refuse for the next line; `got` is that line unless it is said otherwise."""
        line = self.peek()
        told = "the end of the patch" if line is None else shown(line[:_SHOWN]) or "an empty line"
        if got is None and line is not None and line.endswith(b"\r"):
            code = "patch-carriage-return" if code in _CARRIAGE_RETURN_EXPLAINS else code
        about = f" ({shown(self.path)})" if self.path is not None else ""
        raise Refusal(
            Finding(
                code=code,
                where=Where(path=self.patch, line=self.at + 1),
                expected=expected,
                got=f"{told if got is None else got}{about}",
                cause=_STRIPPED if line == b"" and code == "patch-line" else None,
                remedy=_REMEDIES.get(code, _REMEDY),
            )
        )


class HunkReader(Cursor):
    """Reads the hunks of one file."""

    def hunks(self, fate: str) -> Iterator[Hunk]:
        """Read them; `fate` is what becomes of the file: add, replace or delete."""
        end, shift, ended = 0, 0, False
        if not (self.peek() or b"").startswith(b"@@"):
            self.refuse("patch-header", _A_HUNK, None)
        while (line := self.peek()) is not None and line.startswith(b"@@"):
            header = _HUNK.fullmatch(line)
            if header is None:
                self.refuse("patch-header", _A_HUNK, None)
            at = self.at + 1
            start, new_start = int(header[1]), int(header[3])
            olds, news = (int(header[n] if header[n] is not None else 1) for n in (2, 4))
            if (olds and not start) or (news and not new_start):
                self.refuse("patch-count", "lines that are counted from 1", None)
            if ended or (start if olds else start + 1) <= end:
                self.refuse("patch-hunk-order", "hunks one behind the other", None)
            if (fate == "add" and (start or olds)) or (fate == "delete" and (new_start or news)):
                self.refuse("patch-count", "no lines on the side without a file", None)
            line_before = start - 1 if olds else start
            if line_before + shift != (new_start - 1 if news else new_start):
                right = line_before + shift + (1 if news else 0)
                self.refuse("patch-count", f"the new lines to start at line {right:,}", None)
            self.at += 1
            hunk = self._hunk(at, start, olds, new_start, news)
            yield hunk
            end = start + olds - 1 if olds else start
            shift += news - olds
            ended = hunk.ends

    def _hunk(self, at: int, start: int, olds: int, new_start: int, news: int) -> Hunk:
        """Read a hunk's lines behind its header, and say what they lack."""
        first = (self.peek() or b"")[:1]
        sides, ended, last = self._body(olds, news)
        following = self.peek() or b""
        if following[:1] in _SIDES and not following.startswith(_NEXT):
            self.refuse("patch-count", f"{olds:,} old and {news:,} new lines", None)
        old, new = (b"".join(side) for side in sides)
        if old == new:
            self.refuse_hunk(at, "a change in each hunk", "context alone")
        begin = start if olds else start + 1
        if first != b" " and begin > 1:
            self.refuse_hunk(at, _CONTEXT, "none in front")
        return Hunk(
            at=at,
            start=begin,
            old=old,
            new=new,
            new_start=new_start if news else new_start + 1,
            ends=any(ended) or last != b" ",
        )

    def _body(
        self, olds: int, news: int
    ) -> tuple[tuple[list[bytes], list[bytes]], tuple[bool, bool], bytes]:
        """Read as many lines as the header says; which side ends the file, and the last kind."""
        old: list[bytes] = []
        new: list[bytes] = []
        ended = False, False
        kind = last = b""
        total = len(self.lines)
        while True:
            line = self.lines[self.at] if self.at < total else b""
            if kind and line[:1] == b"\\":
                ended, kind = self._end(line, kind, old, new, ended), b""
                self.at += 1
                continue
            if len(old) == olds and len(new) == news:
                return (old, new), ended, last
            kind = last = line[:1]
            text = line[1:] + b"\n"
            if kind not in _KINDS:
                code = "patch-line" if self.at < total else "patch-truncated"
                self.refuse(code, _A_LINE, None)
            if kind != b"+":
                old.append(text)
            if kind != b"-":
                new.append(text)
            if len(old) > olds or len(new) > news:
                self.refuse("patch-count", f"{olds:,} old and {news:,} new lines", None)
            if (ended[0] and kind != b"+") or (ended[1] and kind != b"-"):
                self.refuse("patch-line", "no line behind the file's last one", None)
            self.at += 1

    def _end(
        self,
        line: bytes,
        kind: bytes,
        old: list[bytes],
        new: list[bytes],
        ended: tuple[bool, bool],
    ) -> tuple[bool, bool]:
        """Take the final newline from the line before, on the sides that it belongs to."""
        if line != _NO_NEWLINE:
            self.refuse("patch-line", _NO_NEWLINE.decode(), None)
        for side, other in ((old, b"+"), (new, b"-")):
            if kind != other:
                side[-1] = side[-1][:-1]
        return ended[0] or kind != b"+", ended[1] or kind != b"-"


def _lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


def shown(text: bytes) -> str:
    """Make bytes of a patch fit to print."""
    return printable(text.decode(errors="surrogateescape"))
