"""Findings: the reasons that a check gives. A finding is a value, never an exception."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from verifier.core.codes import CODES, Code
from verifier.core.limits import FINDINGS_PER_CODE
from verifier.core.value import frozen


@frozen
class Where:
    """The place of a finding: a path, a line counted by LF from 1, a byte range from 0.

    `text` is the same range as editors count it, where the data is text.
    """

    path: str | None = None
    line: int | None = None
    byte_offset: int | None = None
    byte_length: int | None = None
    text: "TextRange | None" = None

    @classmethod
    def at(cls, data: bytes, offset: int, length: int = 0) -> Self:
        """Name the byte range `[offset, offset + length)` of `data`, its lines and columns."""
        line = data.count(b"\n", 0, offset) + 1
        text = TextRange.of(data, offset, length, line=line)
        return cls(line=line, byte_offset=offset, byte_length=length, text=text)


@frozen
class TextRange:
    """A range of text: lines from 1, columns in characters from 1; the end is not part of it."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, data: bytes, offset: int, length: int, *, line: int) -> "TextRange | None":
        """Count columns and further lines of a byte range that begins in the line `line`.

        None where the text before its begin or its end, in the same line, is not UTF-8.
        """
        end = offset + length
        columns = _column(data, offset), _column(data, end)
        if columns[0] is None or columns[1] is None:
            return None
        more = data.count(b"\n", offset, end)
        return cls(line=line, column=columns[0], end_line=line + more, end_column=columns[1])


def _column(data: bytes, offset: int) -> int | None:
    start = data.rfind(b"\n", 0, offset) + 1
    # A mark of byte order is no character of the text that follows it.
    codec = "utf-8" if start else "utf-8-sig"
    try:
        return len(data[start:offset].decode(codec)) + 1
    except UnicodeDecodeError:
        return None


@frozen
class Finding:
    """One reason. `code` decides facet and outcome; `remedy` is what the user may do."""

    code: str
    remedy: str
    where: Where = Where()
    expected: str | None = None
    got: str | None = None
    cause: str | None = None
    step: int = 0
    """Of checks that go step by step: the number of the step, by which findings are sorted."""

    def __post_init__(self) -> None:
        """Refuse a code without a row in the table: it would have no outcome."""
        if self.code not in CODES:
            raise KeyError(self.code)

    @property
    def row(self) -> Code:
        """The row of the codes table: facet, outcome, title."""
        return CODES[self.code]


def in_order(findings: Iterable[Finding], path: str | None = None) -> tuple[Finding, ...]:
    """Sort findings for a report: the gravest outcome first, then by table and by place.

    `path` fills in the subject's name where a check did not know it. Of one code at most
    `FINDINGS_PER_CODE` are kept, the last of them saying how many were left out.
    """
    rank = {code: number for number, code in enumerate(CODES)}
    named = [
        f if f.where.path or path is None else replace(f, where=replace(f.where, path=path))
        for f in findings
    ]
    named.sort(
        key=lambda f: (
            f.row.outcome != "rejected",
            rank[f.code],
            f.step,
            f.where.path or "",
            f.where.byte_offset if f.where.byte_offset is not None else -1,
            f.where.line or 0,
            f.expected or "",
            f.got or "",
        )
    )
    kept: list[Finding] = []
    for code in dict.fromkeys(f.code for f in named):
        same = [f for f in dict.fromkeys(named) if f.code == code]
        more = len(same) - FINDINGS_PER_CODE
        if more > 0:
            last = same[FINDINGS_PER_CODE - 1]
            note = f"{last.cause + '; ' if last.cause else ''}{more} more of this code not listed"
            same[FINDINGS_PER_CODE - 1 :] = [replace(last, cause=note)]
        kept += same
    return tuple(kept)
