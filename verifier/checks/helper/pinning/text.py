"""Step 1: the text of a version in the file where its producer published it.

Three ways, each recorded in the entry: a *literal* by its symbol, a literal found by scanning (the
one that stands in the patched host and binds names), or a *slice* of the file with texts
substituted, which also serves a function or class that the producer copies from its own source.
"""

from collections.abc import Sequence
from typing import Final

from verifier.catalog.entries.helper import Slice
from verifier.checks import python_source
from verifier.checks.helper.pinning import literals
from verifier.checks.helper.pinning.literals import Definition, Literal, Source
from verifier.checks.helper.pinning.names import defines
from verifier.checks.helper.pinning.recipe import Origin
from verifier.checks.helper.regions import occurrences
from verifier.core.finding import Finding, Where
from verifier.core.table import nearest
from verifier.core.value import frozen

_CLOSE: Final = 5


@frozen
class Text:
    """The text as it was published, and how it was found there."""

    text: bytes
    symbol: str
    method: str
    line: int
    slice: Slice | None = None


def find(data: bytes, origin: Origin, hosts: Sequence[bytes]) -> Text | Finding:
    """Find a version's text in a producer's file; `hosts` are those that carry it."""
    if origin.start is not None:
        return _cut(data, origin)
    source = literals.read(data)
    if isinstance(source, python_source.Unparsable):
        return _problem(
            "pin-text-absent",
            origin,
            expected="a Python source, whose literals can be read",
            got=source.reason,
            remedy="name the bytes instead: start and end",
        )
    if origin.symbol and not origin.symbol.endswith("()"):
        return _named(source, origin)
    return _scanned(source, origin, hosts)


def _cut(data: bytes, origin: Origin) -> Text | Finding:
    start, end = origin.start or 0, origin.end or 0
    if not start < end <= len(data):
        return _problem(
            "pin-text-absent",
            origin,
            expected=f"a range inside of {len(data):,} bytes",
            got=f"{start:,} to {end:,}",
            remedy="correct start and end: byte offsets from 0, the end behind the last byte",
        )
    cut = Slice(start, end, origin.substitute)
    unused = next((old for old, _ in origin.substitute if old not in data[start:end]), None)
    if unused is not None:
        return _problem(
            "pin-text-absent",
            origin,
            expected=f"{unused.decode(errors='replace')} in the range, to be substituted",
            got="not in it",
            remedy="correct the range or what is substituted",
        )
    line = data.count(b"\n", 0, start) + 1
    return Text(text=cut.of(data), symbol=_symbol(origin), method="slice", line=line, slice=cut)


def _symbol(origin: Origin) -> str:
    return origin.symbol or f"bytes {origin.start}-{origin.end}"


def _named(source: Source, origin: Origin) -> Text | Finding:
    found = source.defined(origin.symbol)
    if not found:
        near = nearest(origin.symbol, {each.name for each in source.definitions})
        return _problem(
            "pin-symbol-absent",
            origin,
            expected=f"the name {origin.symbol} at module level or in a class",
            got=f"none; there is {near}" if near else "none",
            remedy="name what the file assigns, or leave symbol out: literals are then scanned",
        )
    if len(found) > 1:
        return _problem(
            "pin-symbol-ambiguous",
            origin,
            line=found[1].line,
            expected=f"{origin.symbol} defined once",
            got=f"{len(found)} times, at lines {', '.join(str(f.line) for f in found[:_CLOSE])}",
            remedy="name the bytes instead: start and end",
        )
    (one,) = found
    if one.code:
        end = one.end + 1 if source.data[one.end : one.end + 1] == b"\n" else one.end
        cut = Slice(one.start, end, origin.substitute)
        return Text(
            text=cut.of(source.data),
            symbol=origin.symbol,
            method="slice",
            line=one.line,
            slice=cut,
        )
    if one.text is None:
        return _problem(
            "pin-text-computed",
            origin,
            line=one.line,
            expected=f"a literal as the value of {origin.symbol}",
            got="an expression that is computed at run time",
            remedy="name the bytes it is made of (start, end, substitute), or publish the text",
        )
    return _of_literal(source, origin, one)


def _of_literal(source: Source, origin: Origin, found: Literal | Definition) -> Text | Finding:
    """Take a literal as it is, or as a slice of the source where texts are substituted in it."""
    text, line = found.text or b"", found.line
    if not origin.substitute:
        return Text(text=text, symbol=origin.symbol, method="literal", line=line)
    inner = occurrences(source.data[found.start : found.end], text)
    if len(inner) != 1:
        return _problem(
            "pin-text-computed",
            origin,
            line=line,
            expected="a literal that is spelled as it reads, to be cut out and substituted in",
            got="one with escapes, or of several parts",
            remedy="name the bytes instead: start and end",
        )
    at = found.start + inner[0]
    cut = Slice(at, at + len(text), origin.substitute)
    return Text(
        text=cut.of(source.data), symbol=origin.symbol, method="slice", line=line, slice=cut
    )


def _scanned(source: Source, origin: Origin, hosts: Sequence[bytes]) -> Text | Finding:
    scope = origin.symbol
    found = [
        each
        for each in source.literals
        if (not scope or each.symbol.startswith(scope)) and _carried(each, origin, hosts)
    ]
    if not found:
        return _problem(
            "pin-text-absent",
            origin,
            expected="a literal that stands in the patched host and binds names there",
            got=f"none of {len(source.literals):,} literals does",
            cause="the text is computed at run time, or the host carries another version",
            remedy="name the symbol, or the bytes: start and end",
        )
    if len(found) > 1:
        lines = ", ".join(str(each.line) for each in found[:_CLOSE])
        return _problem(
            "pin-text-ambiguous",
            origin,
            line=found[1].line,
            expected="one literal that stands in the patched host",
            got=f"{len(found)}, at lines {lines}",
            cause="the same text twice" if len({f.text for f in found}) == 1 else None,
            remedy="name the symbol of the one that is meant",
        )
    (one,) = found
    named = one.symbol or f"line {one.line}"
    text = _of_literal(source, origin, one)
    if isinstance(text, Finding):
        return text
    return Text(text=text.text, symbol=named, method=text.method, line=text.line, slice=text.slice)


def _carried(literal: Literal, origin: Origin, hosts: Sequence[bytes]) -> bool:
    """Whether a literal is what an install wrote: whole lines at column 0 that bind names."""
    text = literal.text
    for old, new in origin.substitute:
        text = text.replace(old, new)
    core = text.strip(b"\n")
    if not core or core[:1] in b" \t" or not hosts:
        return False
    inside = all(
        len(at := occurrences(host, core)) == 1 and host[max(0, at[0] - 1) : at[0]] in (b"", b"\n")
        for host in hosts
    )
    return inside and defines(core + b"\n")


def _problem(
    code: str,
    origin: Origin,
    *,
    expected: str,
    got: str,
    remedy: str,
    line: int | None = None,
    cause: str | None = None,
) -> Finding:
    return Finding(
        code=code,
        where=Where(path=origin.path, line=line),
        expected=expected,
        got=got,
        cause=cause,
        remedy=remedy,
    )
