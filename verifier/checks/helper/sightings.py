"""Steps 2 and 3: what in a file points at a lineage, and which versions that makes worth testing.

A sighting never accepts anything: a marker only selects the versions to *test* (the trouble of
markers that were believed: helpers.md §2.1, the "skip" generations of the installer).
"""

import re
from collections.abc import Iterable
from typing import TypeVar

from verifier.catalog.entries.helper import Lineage, Status, Version
from verifier.checks.helper.regions import occurrences
from verifier.checks.helper.words import KEEP_MARKERS, REPORT, RESTORE
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted
from verifier.core.value import frozen

K = TypeVar("K")


@frozen
class Sightings:
    """Offsets of everything in a file that a lineage claims as its own."""

    markers: dict[bytes, list[int]]
    names: dict[str, list[int]]
    first_lines: dict[bytes, list[int]]
    variants: list[int]

    @property
    def any(self) -> bool:
        """Whether the file mentions the lineage at all."""
        return bool(self.markers or self.names or self.first_lines or self.variants)


def sight(data: bytes, lineage: Lineage) -> Sightings:
    """Step 2: look for every marker, owned name, first line, and spelling of the tag."""
    markers: dict[bytes, list[int]] = {}
    for match in full_marker(lineage.marker_prefix).finditer(data):
        markers.setdefault(match[0], []).append(match.start())
    return Sightings(
        markers=markers,
        names=_present(data, {name: name.encode() for name in lineage.owned_names}),
        first_lines=_present(data, {line: line for line in lineage.first_lines()}),
        variants=tag_variants(data, lineage.marker_prefix),
    )


def mentions(
    data: bytes, marker_prefix: bytes, names: Iterable[str], first_lines: Iterable[bytes]
) -> bool:
    """Tell whether `sight` would see anything of a lineage, by its tokens alone."""
    texts = (marker_prefix, *(name.encode() for name in names), *first_lines)
    return any(text in data for text in texts) or bool(tag_variants(data, marker_prefix))


def tag_variants(data: bytes, marker_prefix: bytes) -> list[int]:
    """Find the tag spelled otherwise: `#[tag`, other case, dashes, spaces, any suffix.

    A full marker is none of them. Runtime log lines such as `[tag] step` are; inside owned
    bytes they do not count, which the caller sees to by looking at the remainder only.
    """
    words = re.findall(rb"[A-Za-z0-9]+", marker_prefix)
    # Every repetition is bounded: a file must not cost more than its length.
    spelled = rb"[ \t_.-]{0,8}".join(map(re.escape, words))
    loose = re.compile(rb"[#\[][ \t\[_.-]{0,16}" + spelled, re.IGNORECASE)
    full = full_marker(marker_prefix)
    return [m.start() for m in loose.finditer(data) if not full.match(data, m.start())]


def candidates(
    data: bytes, lineage: Lineage, seen: Sightings
) -> tuple[tuple[Version, ...], tuple[Finding, ...]]:
    """Step 3: return the versions to test, or none and the findings that say why."""
    registered = {
        marker: tuple(v for v in lineage.versions if v.marker == marker) for marker in seen.markers
    }
    refused = [
        _unattested(data, version, seen.markers[marker])
        for marker, versions in registered.items()
        for version in versions
        if version.status is Status.UNATTESTED
    ]
    if len(seen.markers) > 1:
        refused.append(_mixed(data, seen.markers))
    if refused:
        return (), tuple(refused)
    if versions := next(iter(registered.values()), ()):
        return versions, ()
    if seen.markers:
        return (), (_unknown_marker(data, lineage, seen),)
    if seen.names or seen.first_lines:
        return (), (_unmarked(data, seen),)
    return (), (_unknown_marker(data, lineage, seen),) if seen.variants else ()


def claims(lineage: Lineage, seen: Sightings) -> tuple[str, ...]:
    """Name what the markers of a file say it carries, in the words of the registry if it can."""
    ids = {version.marker: version.id for version in reversed(lineage.versions)}
    return tuple(
        f"{lineage.name} {ids[marker]}"
        if marker in ids
        else quoted(marker.decode(errors="replace"))
        for marker in sorted(seen.markers)
    )


def full_marker(marker_prefix: bytes) -> re.Pattern[bytes]:
    """Return what a marker of any version looks like: the prefix up to the next `]`."""
    return re.compile(re.escape(marker_prefix) + rb"[^\]\n]{0,64}\]")


def _present(data: bytes, texts: dict[K, bytes]) -> dict[K, list[int]]:
    found = {key: occurrences(data, text) for key, text in texts.items()}
    return {key: offsets for key, offsets in found.items() if offsets}


def _unattested(data: bytes, version: Version, offsets: list[int]) -> Finding:
    return Finding(
        code="helper-unattested",
        where=Where.at(data, offsets[0], len(version.marker)),
        expected="a version whose body was published",
        got=f"the marker of {version.id}",
        cause=version.reason or None,
        remedy=KEEP_MARKERS,
    )


def _mixed(data: bytes, markers: dict[bytes, list[int]]) -> Finding:
    counts = sorted(markers.items(), key=lambda item: (len(item[1]), item[1]))
    rarest, offsets = counts[0]
    listed = ", ".join(f"{quoted(m.decode())} {len(o)} times" for m, o in sorted(markers.items()))
    return Finding(
        code="helper-mixed-markers",
        where=Where.at(data, offsets[0], len(rarest)),
        expected="markers of one version",
        got=listed,
        cause="an upgrade that stopped half-way, or a marker written by hand",
        remedy=KEEP_MARKERS,
    )


def _unknown_marker(data: bytes, lineage: Lineage, seen: Sightings) -> Finding:
    marker, offsets = next(iter(seen.markers.items()), (b"", seen.variants))
    line = data[offsets[0] : offsets[0] + 60].split(b"\n", 1)[0]
    known = ", ".join(dict.fromkeys(v.marker.decode() for v in lineage.versions))
    return Finding(
        code="helper-unknown-marker",
        where=Where.at(data, offsets[0], len(marker)),
        expected=f"one of {known}",
        got=quoted((marker or line).decode("utf-8", "replace")),
        cause="a fork, a newer version, or a marker written by hand",
        remedy=REPORT,
    )


def _unmarked(data: bytes, seen: Sightings) -> Finding:
    names = {**seen.names, **{line.decode(): offsets for line, offsets in seen.first_lines.items()}}
    name, offsets = min(names.items(), key=lambda item: item[1])
    return Finding(
        code="helper-name-unmarked",
        where=Where.at(data, offsets[0], len(name.encode())),
        expected="the lineage's marker beside its names",
        got=quoted(name),
        cause="markers were deleted, or a part of the helper was copied by hand",
        remedy=RESTORE,
    )
