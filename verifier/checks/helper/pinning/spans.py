"""Where the helper stands in a patched host, and how a verifier will find it there.

The conventions are those of `raw/v1` (helpers.md §1.2): a helper begins with the one LF before its
first line and ends with the last LF before what follows it; a region with sentinels runs from the
first byte of the one to the last of the other.
"""

import re
from typing import Final

from verifier.catalog.entries.helper import EndAnchor
from verifier.checks.helper.pinning import insertions
from verifier.checks.helper.pinning.recipe import RecipeVersion
from verifier.checks.helper.pinning.text import Text
from verifier.checks.helper.regions import Range, occurrences
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted
from verifier.core.value import frozen

#: Lines that an anchor is made of at most, until the pristine host has them once.
_ANCHOR_LINES: Final = 8
_SENTINELS: Final = "give the version sentinels (begin and end lines), or another first line"


@frozen
class Span:
    """A helper in a host: its bytes, its place, and how it begins and ends."""

    data: bytes
    place: Range
    begin: bytes
    begin_offset: int
    end: bytes | None


def find(
    host: bytes, pristine: bytes, name: str, version: RecipeVersion, text: Text
) -> Span | Finding:
    """Find the published text of a version in a host that carries it; `name` is the host's."""
    if version.sentinels is not None:
        return _between(host, name, version, text)
    places = _places(host, text.text)
    if not places:
        return _not_here(host, name, version, text)
    fitting = (place for place in places if _leaves(host, pristine, place))
    start, end = next(fitting, places[0])
    data = host[start:end]
    first = data[1:].split(b"\n", 1)[0]
    begin = version.first_line.encode() or _without_marker(first, version.marker)
    if not first.startswith(begin) or len(occurrences(host, begin)) != 1:
        return Finding(
            code="pin-first-line",
            where=Where.at(host, start + 1, len(first)),
            expected="a first line that stands in the host once, by which it is found",
            got=f"{quoted(begin.decode(errors='replace'))} "
            f"{len(occurrences(host, begin))} times in {name}",
            cause="another statement of the host begins so, or it is a decorator",
            remedy=_SENTINELS,
        )
    return Span(
        data=data,
        place=(start, end),
        begin=begin,
        begin_offset=1,
        end=None,
    )


def anchor_of(host: bytes, pristine: bytes, span: Span) -> EndAnchor | None:
    """Return what stands behind a helper as an anchor: whole lines that the pristine host has once.

    None where nothing follows, or nothing that is there once.
    """
    end = span.place[1]
    for _ in range(_ANCHOR_LINES):
        end += len(_line_at(host, end))
        text = host[span.place[1] : end]
        if text.strip() and len(occurrences(pristine, text)) == 1:
            words = re.findall(rb"[A-Za-z0-9_]+", text)[:2]
            name = "-".join(word.decode().lower() for word in words) or "next"
            return EndAnchor(name=name, text=text)
    return None


def _without_marker(line: bytes, marker: bytes) -> bytes:
    """Return a line without the comment that its marker ends: what versions have in common."""
    return re.sub(rb"(?:[ \t]*#)*[ \t]*" + re.escape(marker) + rb"[ \t]*$", b"", line) or line


def _places(host: bytes, text: bytes) -> list[Range]:
    """List where a text may stand, as it was published first.

    Blank lines around it may be the installer's or the host's: which ones are the helper's is
    decided by what is then left.
    """
    core = text.strip(b"\n")
    found = occurrences(host, core) if core else []
    if len(found) != 1 or not found[0] or not _stands(host, found[0] - 1):
        return []
    start, end = found[0] - 1, found[0] + len(core)
    last = end
    while host[last : last + 1] == b"\n":
        last += 1
    own = len(text) - len(text.rstrip(b"\n"))
    ends = sorted(range(end + 1, last + 1), key=lambda at: (at - end != own, -at))
    return [(start, at) for at in ends]


def _leaves(host: bytes, pristine: bytes, place: Range) -> bool:
    """Whether without the helper the host is its pristine one plus lines."""
    left = host[: place[0]] + host[place[1] :]
    return not isinstance(insertions.inserted(pristine, left), insertions.Otherwise)


def _stands(host: bytes, start: int) -> bool:
    """Whether an empty line stands before the first line of what begins at `start`."""
    return host[max(0, start - 1) : start + 1] == b"\n\n"


def _line_at(host: bytes, at: int) -> bytes:
    end = host.find(b"\n", at)
    return host[at : len(host) if end < 0 else end + 1]


def _between(host: bytes, name: str, version: RecipeVersion, text: Text) -> Span | Finding:
    begin, end = version.sentinels or (b"", b"")
    begin, end = (line if line.endswith(b"\n") else line + b"\n" for line in (begin, end))
    starts, stops = occurrences(host, begin), occurrences(host, end)
    once = len(starts) == len(stops) == 1 and starts[0] < stops[0]
    place = (starts[0], stops[0] + len(end)) if once else (0, 0)
    data = host[place[0] : place[1]]
    if not once or data.strip(b"\n") != text.text.strip(b"\n"):
        return _not_here(host, name, version, text)
    return Span(
        data=data,
        place=place,
        begin=begin,
        begin_offset=0,
        end=end,
    )


def _not_here(host: bytes, name: str, version: RecipeVersion, text: Text) -> Finding:
    core = text.text.strip(b"\n")
    first = core.split(b"\n", 1)[0]
    count = host.count(core) if core else 0
    at = host.find(first) if first else -1
    return Finding(
        code="pin-text-not-in-host",
        where=Where.at(host, at, len(first)) if at >= 0 else Where(),
        expected=f"the text of {version.id}, {len(core):,} bytes, once in {name}, "
        "with an empty line before it",
        got=f"{count} times" if count != 1 else "once, elsewhere than on lines of its own",
        cause="the host carries another version, or the installer changes the text as it writes"
        if count == 0
        else None,
        remedy="make the host with the installer of that very commit",
    )
