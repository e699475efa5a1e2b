"""Why a file is not what was published: the nearest version, the first difference, its cause.

Everything here explains and nothing accepts. It works without the published text: the registry
holds the digest of every prefix of lines, cut to 8 bytes, so the first line that differs is
where the digests part, and a single changed byte is found by trying what it may have been.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from verifier.catalog.entries.helper import Lineage, Published, Version
from verifier.checks.helper.regions import Installed
from verifier.checks.helper.rest import pristine, whole_file
from verifier.checks.helper.sightings import candidates, sight
from verifier.checks.helper.sites import find_sites
from verifier.checks.helper.span import apparent_end, find_helper
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Outcome
from verifier.core.printable import quoted
from verifier.core.value import frozen

Prefixes = Mapping[str, Sequence[str]]

#: Bytes that a changed byte may have been: tab and printable ASCII.
_LIKELY: Final = bytes([9, *range(32, 127)])
#: Lines longer than this are not searched for a changed byte.
_LONGEST: Final = 400
_MOST_EXTRA_LINES: Final = 8

#: Changes that editors, checkouts and copies make to a whole file, and how to undo them: those
#: that make a file inadmissible, and those that leave it readable.
_CONVERTED: Final[tuple[tuple[str, Callable[[bytes], bytes]], ...]] = (
    ("line ends were converted to CRLF", lambda data: data.replace(b"\r\n", b"\n")),
    ("a byte order mark was put in front", lambda data: data.removeprefix(b"\xef\xbb\xbf")),
    (
        "a byte order mark was put in front and line ends were converted to CRLF",
        lambda data: data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n"),
    ),
)
_TIDIED: Final[tuple[tuple[str, Callable[[bytes], bytes]], ...]] = (
    (
        "white space was added at line ends",
        lambda data: b"\n".join(line.rstrip(b" \t") for line in data.split(b"\n")),
    ),
    ("the final newline is missing", lambda data: data + b"\n"),
    ("blank lines were added at the end", lambda data: data.rstrip(b"\n") + b"\n"),
)


@frozen
class Difference:
    """Where a helper first departs from the nearest version, and what happened there."""

    where: Where
    cause: str


def explained(outcome: Outcome, data: bytes, lineage: Lineage, prefixes: Prefixes) -> Outcome:
    """Return `outcome` with the causes and places that can be found out filled in."""
    findings = tuple(_explained(f, data, lineage, prefixes) for f in outcome.findings)
    return replace(outcome, findings=findings)


def _explained(finding: Finding, data: bytes, lineage: Lineage, prefixes: Prefixes) -> Finding:
    if finding.code == "helper-drifted":
        difference = first_difference(data, lineage, prefixes)
        if difference is not None:
            return replace(finding, where=difference.where, cause=difference.cause)
    elif finding.code.startswith(("helper-bom", "helper-carriage-return")):
        return replace(finding, cause=_converted(data, lineage) or finding.cause)
    elif finding.code == "helper-rest-not-attested":
        return replace(finding, cause=_tidied(data, lineage) or finding.cause)
    return finding


# ── the whole file ─────────────────────────────────────────────────────────────────────────────


def _converted(data: bytes, lineage: Lineage) -> str | None:
    """Name the conversion of the whole file without which it is authentic."""
    for cause, undo in _CONVERTED:
        before = undo(data)
        if before != data and (found := _installed(before, lineage)):
            return f"{cause}; without that the file carries {found.helper.version.id}"
        if before != data and (base := pristine(before, lineage)):
            return f"{cause}; without that the file is the {base.detail}"
    return None


def _tidied(data: bytes, lineage: Lineage) -> str | None:
    """Name the small change outside the regions without which the rest is registered."""
    for cause, undo in _TIDIED:
        before = undo(data)
        found = _installed(before, lineage) if before != data else None
        if found and (covered := whole_file(before, lineage, found)[0]).state.holds:
            return f"{cause}; without that the rest is {covered.detail}"
    return None


def _installed(data: bytes, lineage: Lineage) -> Installed | None:
    """Return the version whose helper and sites stand in `data`, by the steps of the check."""
    versions, _ = candidates(data, lineage, sight(data, lineage))
    helper, _ = find_helper(data, lineage, versions) if versions else (None, ())
    if helper is None:
        return None
    sites, problems = find_sites(data, lineage, helper.version, helper.body)
    return None if problems else Installed(helper=helper, sites=sites)


# ── the helper ─────────────────────────────────────────────────────────────────────────────────


def first_difference(data: bytes, lineage: Lineage, prefixes: Prefixes) -> Difference | None:
    """Find the version that agrees with the file's helper for the most lines, and where it ends.

    None if no version is selected by the file's marker or the helper's place is not clear.
    """
    versions, _ = candidates(data, lineage, sight(data, lineage))
    bodies = [(v, v.body) for v in versions if v.body is not None]
    if not bodies or data.count(bodies[0][1].begin) != 1:
        return None
    begin = data.find(bodies[0][1].begin) - bodies[0][1].begin_offset
    lines = data[begin:].splitlines(keepends=True)
    agreed, version, body = max(
        ((_agreed(lines, prefixes.get(v.id, ())), v, b) for v, b in bodies),
        key=lambda row: row[0],
    )
    expected = prefixes.get(version.id, ())
    if not expected:
        return None
    end = apparent_end(data, lineage, versions, begin)
    offset = begin + len(b"".join(lines[:agreed]))
    if agreed == len(expected):
        cause = f"all {agreed} lines of {version.id} stand here, and more lines follow them"
        return Difference(
            where=Where.at(data, offset, max(0, end - offset)),
            cause=cause,
        )
    where = Where.at(data, offset, len(lines[agreed]) if agreed < len(lines) else 0)
    cause = (
        _relabelled(data[begin:end], lineage, version)
        or _stripped(data[begin:end], body, version)
        or _line_cause(lines, agreed, version, expected)
    )
    return Difference(where=where, cause=f"differs from {version.id} here: {cause}")


def _agreed(lines: list[bytes], expected: Sequence[str]) -> int:
    """Count the leading lines whose prefix digests are those of a version."""
    running = hashlib.sha256()
    for number, (line, digest) in enumerate(zip(lines, expected, strict=False)):
        running.update(line)
        if _cut(running) != digest:
            return number
    return min(len(lines), len(expected))


def _cut(digest: "hashlib._Hash") -> str:
    return digest.digest()[:8].hex()


def _relabelled(span: bytes, lineage: Lineage, version: Version) -> str | None:
    for other, body in lineage.published:
        if body.pin.matches(span.replace(version.marker, other.marker)):
            return f"this is the body of {other.id} under the marker of {version.id}"
    return None


def _stripped(span: bytes, body: Published, version: Version) -> str | None:
    for name, pin in body.other_spans:
        if pin.matches(span.strip()):
            return f"the text is {version.id} without its blank lines ({name})"
    return None


def _line_cause(lines: list[bytes], agreed: int, version: Version, expected: Sequence[str]) -> str:
    """Explain the first differing line by one small change, or say that it is not one."""
    before = hashlib.sha256(b"".join(lines[:agreed]))
    wanted = expected[agreed]

    def fits(line: bytes) -> bool:
        trial = before.copy()
        trial.update(line)
        return _cut(trial) == wanted

    line = lines[agreed] if agreed < len(lines) else b""
    for extra in range(1, _MOST_EXTRA_LINES + 1):
        if agreed + extra < len(lines) and fits(lines[agreed + extra]):
            what = "blank line" if not b"".join(lines[agreed : agreed + extra]).strip() else "line"
            return f"{extra} extra {what}{'s' if extra > 1 else ''} before it"
    if fits(line.rstrip() + b"\n"):
        return "white space was added at its end"
    for column, was, now in _single_changes(line):
        if fits(line[:column] + was + line[column + len(now) :]):
            return _change(line, column, was, now, version)
    return "by more than one character"


def _single_changes(line: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield every way to undo one changed, added or lost byte: column, was, now."""
    if len(line) > _LONGEST:
        return
    for column in range(len(line)):
        now = line[column : column + 1]
        yield column, b"", now
        for byte in _LIKELY:
            yield column, bytes([byte]), now
            yield column, bytes([byte]), b""


def _change(line: bytes, column: int, was: bytes, now: bytes, version: Version) -> str:
    """Say what one character was and is, with the word around it."""
    if not (was + now).strip():
        done = "added" if now else "removed"
        return f"white space was {done}, column {column + 1}"
    before = line[:column] + was + line[column + len(now) :]
    start, stop = _word(before, column), _word(before, column, forward=True)
    stop_now = stop + len(now) - len(was)
    old, new = before[start:stop], line[start:stop_now]
    return (
        f"one character, column {column + 1}: {quoted(new.decode('utf-8', 'replace'))} where "
        f"{version.id} has {quoted(old.decode('utf-8', 'replace'))}"
    )


def _word(line: bytes, column: int, *, forward: bool = False) -> int:
    """Return where the word (letters, digits, `_`, `.`) around `column` begins or ends."""
    step, at = (1, column) if forward else (-1, column - 1)
    while 0 <= at < len(line) and (line[at : at + 1].isalnum() or line[at : at + 1] in b"_."):
        at += step
    return at if forward else at + 1


# ── digests ────────────────────────────────────────────────────────────────────────────────────


def nearest_digest(wanted: str, known: Mapping[str, str]) -> str | None:
    """Name the registered digest that `wanted` (64 hex) is one typed digit away from.

    `known` maps hex to words. None if there is none, or more than one.
    """
    near = [
        words
        for digest, words in known.items()
        if len(digest) == len(wanted)
        and sum(a != b for a, b in zip(digest, wanted, strict=True)) == 1
    ]
    return near[0] if len(near) == 1 else None
