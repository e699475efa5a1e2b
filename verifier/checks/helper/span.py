"""Step 4: find a version's helper byte for byte.

The span convention is that of the published installers (helpers.md §1.2): a helper begins with
the LF before its first line and ends with the last LF before its end anchor. A span with
sentinels runs from the start of the first to the end of the last.
"""

from collections.abc import Sequence

from verifier.catalog.entries.helper import Lineage, Published, Version
from verifier.checks.helper.regions import PlacedHelper, occurrences
from verifier.checks.helper.words import KEEP_MARKERS
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted


def find_helper(
    data: bytes, lineage: Lineage, versions: Sequence[Version]
) -> tuple[PlacedHelper | None, tuple[Finding, ...]]:
    """Find the helper of one of `versions`, which share marker, first line and sites.

    Returns it and what is wrong with its surroundings, or None and why it is no published body.
    """
    version, body = next((v, v.body) for v in versions if v.body is not None)
    problem = _misplaced(data, version, body)
    if problem:
        return None, (problem,)
    begin = data.find(body.begin) - body.begin_offset
    for candidate in versions:
        published = candidate.body
        if published is None:
            continue
        end = begin + (published.pin.length or 0)
        if published.end is not None and not data[:end].endswith(published.end):
            continue
        if published.pin.matches(data[begin:end]):
            anchor = next((a for a in lineage.end_anchors if data.startswith(a.text, end)), None)
            if anchor is None and published.end is None:
                return None, (_end_unknown(data, lineage, candidate, end),)
            helper = PlacedHelper(
                version=candidate,
                body=published,
                start=begin,
                end=end,
                anchor=None if published.end else anchor,
            )
            return helper, ()
    return None, (_drifted(data, lineage, versions, begin),)


def _misplaced(data: bytes, version: Version, body: Published) -> Finding | None:
    """Refuse a first line that is missing, repeated, or not on its own at column 0."""
    found = occurrences(data, body.begin)
    shown = quoted(body.begin.decode().rstrip("\n"))
    if not found:
        return Finding(
            code="helper-missing",
            expected=f"the line {shown} of {version.id}",
            got="its markers only",
            cause="the helper was deleted, renamed, or never written",
            remedy=KEEP_MARKERS,
        )
    if len(found) > 1:
        return Finding(
            code="helper-repeated",
            where=Where.at(data, found[1], len(body.begin)),
            expected=f"the line {shown} once",
            got=f"{len(found)} times",
            cause="installed twice, or a second definition shadows the first",
            remedy=KEEP_MARKERS,
        )
    if body.end is not None:
        return _misplaced_sentinel(data, body, found[0])
    before = data[max(0, found[0] - 2) : found[0]]
    if before != b"\n\n" or found[0] < body.begin_offset:
        return Finding(
            code="helper-displaced",
            where=Where.at(data, found[0], len(body.begin)),
            expected=f"an empty line before {shown}, and nothing before it on its line",
            got=quoted(before.decode("utf-8", "replace")),
            cause="decorated, indented, inside a string, or joined to the code before it",
            remedy=KEEP_MARKERS,
        )
    return None


def _misplaced_sentinel(data: bytes, body: Published, begin: int) -> Finding | None:
    ends = occurrences(data, body.end or b"")
    if len(ends) == 1 and begin <= ends[0] and (begin == 0 or data[begin - 1 : begin] == b"\n"):
        return None
    return Finding(
        code="helper-displaced",
        where=Where.at(data, begin, len(body.begin)),
        expected="begin and end sentinel once each, in this order, at line starts",
        got=f"the end sentinel {len(ends)} times",
        cause="a region that was copied, cut, or moved",
        remedy=KEEP_MARKERS,
    )


def _end_unknown(data: bytes, lineage: Lineage, version: Version, end: int) -> Finding:
    following = data[end : end + 60].split(b"\n", 1)[0]
    return Finding(
        code="helper-end-unknown",
        where=Where.at(data, end),
        expected=f"one of {', '.join(a.name for a in lineage.end_anchors)} after {version.id}",
        got=quoted(following.decode("utf-8", "replace")),
        cause="another overlay, or code added right after the helper",
        remedy=KEEP_MARKERS,
    )


def _drifted(data: bytes, lineage: Lineage, versions: Sequence[Version], begin: int) -> Finding:
    end = apparent_end(data, lineage, versions, begin)
    pins = [f"{v.body.pin} ({v.id})" for v in versions if v.body]
    return Finding(
        code="helper-drifted",
        where=Where.at(data, begin, end - begin),
        expected=", or ".join(pins),
        got=str(Pin.of(data[begin:end])),
        remedy=KEEP_MARKERS,
    )


def apparent_end(data: bytes, lineage: Lineage, versions: Sequence[Version], begin: int) -> int:
    """Return where a helper that is no published body seems to end.

    That is: where a candidate's length leads to an end anchor, else the first end anchor after
    `begin`, else the first candidate's length.
    """
    bodies = [v.body for v in versions if v.body]
    if sentinel := bodies[0].end:
        return data.find(sentinel, begin) + len(sentinel)
    by_length = [begin + (body.pin.length or 0) for body in bodies]
    anchors = [anchor.text for anchor in lineage.end_anchors]
    for end in by_length:
        if any(data.startswith(text, end) for text in anchors):
            return end
    after = begin + bodies[0].begin_offset + len(bodies[0].begin)
    found = [at for at in (data.find(text, after) for text in anchors) if at >= 0]
    return min(found, default=min(by_length[0], len(data)))
