"""Patches, applied exactly: each hunk at its stated line, every byte compared, nothing searched.

1. The preimage is there and a regular file, or is not there for a file that the patch adds.
2. Every hunk's old lines, context and removed ones, stand at the stated line byte for byte; a
   hunk that ends the file ends it here too.
3. A deleted file has nothing left. Nothing is returned unless all of it holds.

Where a hunk does not stand at its line, its lines are looked for elsewhere, and its new lines
where they would stand afterwards: only to say so, never to apply it there.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

from verifier.checks.composition.patch import FilePatch
from verifier.checks.composition.patch_hunks import Hunk
from verifier.checks.helper.regions import line_starts
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.limits import PLACES_LISTED
from verifier.core.printable import printable
from verifier.sources.git.objects import SHA1_HEX, SHA256_HEX
from verifier.sources.git.tree_id import blob_id

_SHOWN: Final = 80
_AGAIN: Final = "apply the stages in their order, each once, to the preimage that is pinned for it"
_REMADE: Final = "write the patch anew on the preimage that is pinned, and pin that patch"


class Applied(NamedTuple):
    """The bytes of a file behind a patch, None where it is deleted."""

    data: bytes | None


def apply(change: FilePatch, data: bytes | None, *, patch: str) -> Applied | tuple[Finding, ...]:
    """Apply a file's part of the patch called `patch` to `data`, None where there is no file.

    The findings say of every hunk why it does not stand; then nothing of it is applied.
    """
    if (data is None) != (change.operation == "add"):
        return (_wrong_operation(change, data, patch),)
    before = data or b""
    lines = Lines(before)
    wrong = [hunk for hunk in change.hunks if not stands(lines, hunk.start, hunk)]
    if wrong:
        if _is_applied(change, before):
            return (_already(change, patch),)
        starts = line_starts(before)
        looked, rest = wrong[:PLACES_LISTED], wrong[PLACES_LISTED:]
        return (
            *(_does_not_stand(change, hunk, before, starts, patch) for hunk in looked),
            *(_differs(change, hunk, before, starts, None) for hunk in rest),
        )
    parts: list[bytes] = []
    at = 0
    for hunk in change.hunks:
        start = lines.start(hunk.start) or 0
        parts += [before[at:start], hunk.new]
        at = start + len(hunk.old)
    parts.append(before[at:])
    after = b"".join(parts)
    if change.operation == "delete":
        return (_left_over(change, after, patch),) if after else Applied(None)
    return Applied(after)


def applies(change: FilePatch, data: bytes) -> bool:
    """Whether a patch of a file would apply to `data`; nothing is made."""
    lines = Lines(data)
    return all(stands(lines, hunk.start, hunk) for hunk in change.hunks)


class Lines:
    """Where the lines of some bytes begin; asked for in ascending order, nothing is seen twice."""

    def __init__(self, data: bytes) -> None:
        """Begin at line 1."""
        self.data = data
        self._line, self._at = 1, 0

    def start(self, line: int) -> int | None:
        """Return the offset of a line from 1, one behind the last newline too; None beyond."""
        if line < self._line:
            self._line, self._at = 1, 0
        while self._line < line:
            newline = self.data.find(b"\n", self._at)
            if newline < 0:
                return None
            self._line, self._at = self._line + 1, newline + 1
        return self._at


def stands(lines: Lines, line: int, hunk: Hunk) -> bool:
    """Whether the old lines of a hunk stand at a line, and end the file if they say so."""
    start = lines.start(line)
    if start is None or not lines.data.startswith(hunk.old, start):
        return False
    return not hunk.ends or start + len(hunk.old) == len(lines.data)


def _is_applied(change: FilePatch, data: bytes) -> bool:
    """Whether every hunk's new lines stand where they would after applying it."""
    lines = Lines(data)
    undone = [
        Hunk(
            at=hunk.at,
            start=hunk.new_start,
            old=hunk.new,
            new=hunk.old,
            new_start=hunk.start,
            ends=hunk.ends,
        )
        for hunk in change.hunks
    ]
    return all(stands(lines, hunk.start, hunk) for hunk in undone)


# ── findings ───────────────────────────────────────────────────────────────────────────────────


def _wrong_operation(change: FilePatch, data: bytes | None, patch: str) -> Finding:
    if data is None:
        return Finding(
            code="patch-file-missing",
            where=Where(path=_shown(change.path)),
            expected=f"a file, which {patch} changes at its line {change.at:,}",
            got="no file of that path",
            cause=_made_for(change, None),
            remedy=_AGAIN,
        )
    already = change.hunks[0].new == data if change.hunks else not data
    return Finding(
        code="patch-applied" if already else "patch-file-exists",
        where=Where(path=_shown(change.path)),
        expected=f"no file, which {patch} adds at its line {change.at:,}",
        got=str(Pin.of(data)),
        cause="the file is what the patch makes of it: it is applied already" if already else None,
        remedy=_AGAIN,
    )


def _already(change: FilePatch, patch: str) -> Finding:
    return Finding(
        code="patch-applied",
        where=Where(path=_shown(change.path), line=change.hunks[0].new_start),
        expected="the file before the patch",
        got=f"the new lines of every hunk of {patch}, at their lines",
        cause="the patch is applied already",
        remedy=_AGAIN,
    )


def _does_not_stand(
    change: FilePatch, hunk: Hunk, data: bytes, starts: Sequence[int], patch: str
) -> Finding:
    """Name the first line that differs, and where the hunk would fit, if it fits anywhere."""
    elsewhere = places(data, starts, hunk)
    if elsewhere:
        lines = ", ".join(f"{number:,}" for number in elsewhere)
        return Finding(
            code="patch-elsewhere",
            where=Where(path=_shown(change.path), line=hunk.start),
            expected=f"the hunk of line {hunk.at:,} of {patch} at line {hunk.start:,}",
            got=f"its lines stand at line {lines}",
            cause="the patch was made for a file with other lines before these",
            remedy=_REMADE,
        )
    why = _made_for(change, data) or _changed_how(hunk, data, starts)
    return _differs(change, hunk, data, starts, why)


def _differs(
    change: FilePatch, hunk: Hunk, data: bytes, starts: Sequence[int], why: str | None
) -> Finding:
    line, expected, got = _first_difference(hunk, data, starts)
    return Finding(
        code="patch-mismatch",
        where=Where(path=_shown(change.path), line=line),
        expected=expected,
        got=got,
        cause=why,
        remedy=_AGAIN,
    )


def places(data: bytes, starts: Sequence[int], hunk: Hunk) -> list[int]:
    """Return the lines at which a hunk's old lines stand, of many only the first ones."""
    found: list[int] = []
    at = data.find(hunk.old) if hunk.old else -1
    while at >= 0 and len(found) < PLACES_LISTED:
        ends = at + len(hunk.old) == len(data)
        number = bisect_left(starts, at)
        begins = number < len(starts) and starts[number] == at
        if begins and (ends or not hunk.ends):
            found.append(number + 1)
        at = data.find(hunk.old, at + 1)
    return found


def _first_difference(hunk: Hunk, data: bytes, starts: Sequence[int]) -> tuple[int, str, str]:
    wanted = hunk.old.splitlines(keepends=True) if b"\r" not in hunk.old else _split(hunk.old)
    for number, text in enumerate(wanted, hunk.start):
        if number >= len(starts):
            there = data[starts[-1] :] if number == len(starts) else b""
        else:
            there = data[starts[number - 1] : starts[number]]
        if there != text:
            return number, _line(text), _line(there) if there else "the end of the file"
    last = hunk.start + hunk.old_lines
    return last, "the end of the file", "more lines"


def _split(text: bytes) -> list[bytes]:
    return [part + b"\n" for part in text.split(b"\n")[:-1]] + [
        part for part in (text.rpartition(b"\n")[2],) if part
    ]


def _changed_how(hunk: Hunk, data: bytes, starts: Sequence[int]) -> str | None:
    """Name line ends as the one change that would make the hunk stand."""
    if hunk.start > len(starts):
        return f"the file ends at line {len(starts):,}"
    rest = data[starts[hunk.start - 1] :]
    if rest.startswith(hunk.old):
        return "no line of the hunk stands behind its change, so the file has to end there"
    plain = hunk.old.replace(b"\r\n", b"\n")
    if rest.replace(b"\r\n", b"\n").startswith(plain):
        return "line ends differ: the one has CRLF where the other has LF"
    return None


def _made_for(change: FilePatch, data: bytes | None) -> str | None:
    """Say for which content the patch was made, where its index line tells and it is not this."""
    if change.blobs is None or not change.blobs[0].strip("0"):
        return None
    made = f"the patch was made for git blob {change.blobs[0]}"
    if data is None:
        return made
    widths = (SHA1_HEX, SHA256_HEX)
    if any(blob_id(data, width).startswith(change.blobs[0]) for width in widths):
        return None
    return f"{made}, and this file is another"


def _left_over(change: FilePatch, after: bytes, patch: str) -> Finding:
    return Finding(
        code="patch-left-over",
        where=Where(path=_shown(change.path)),
        expected=f"nothing left of the file that {patch} deletes",
        got=f"{len(after):,} bytes left",
        remedy=_REMADE,
    )


def _line(text: bytes) -> str:
    ending = "" if text.endswith(b"\n") else " without a newline"
    body = text.removesuffix(b"\n")
    more = "…" if len(body) > _SHOWN else ""
    return f"line {_shown(body[:_SHOWN])!s}{more}{ending}" if body else f"an empty line{ending}"


def _shown(text: bytes) -> str:
    return printable(text.decode(errors="surrogateescape"))
