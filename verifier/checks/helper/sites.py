"""Step 5: find every call site of a version byte for byte.

A site is found at a marker, because the block's other bytes are the host's own; one without
markers is the one line start at which its pin matches.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from verifier.catalog.entries.helper import Lineage, Published, Site, Version
from verifier.checks.helper.regions import PlacedSite, line_starts, occurrences
from verifier.checks.helper.words import KEEP_MARKERS
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.limits import MARKERS_PER_INSTALL
from verifier.core.printable import quoted


def find_sites(
    data: bytes, lineage: Lineage, version: Version, body: Published
) -> tuple[tuple[PlacedSite, ...], tuple[Finding, ...]]:
    """Find every site of a version; all that are missing are reported."""
    sites = lineage.sites[body.sites]
    markers = occurrences(data, version.marker)
    most = len(body.marker_offsets) + sum(len(site.marker_offsets) for site in sites)
    if len(markers) > MARKERS_PER_INSTALL * (most + 1):
        return (), (_flooded(data, version, markers, most),)
    starts = {
        site.name: [at for at in _starts(data, site, markers) if _is_new(data, site, at)]
        for site in sites
    }
    placed = tuple(
        PlacedSite(site=site, start=starts[site.name][0])
        for site in sites
        if len(starts[site.name]) == 1
    )
    findings = [finding for found in placed for finding in _wrongly_placed(data, found)]
    findings += _overlaps(data, placed)
    stray = _stray(data, body, markers, placed)
    for site in sites:
        if len(starts[site.name]) > 1:
            findings.append(_repeated(data, version, site, starts[site.name]))
        elif not starts[site.name]:
            findings.append(_missing(data, version, site, stray))
    return placed, tuple(findings)


def _starts(data: bytes, site: Site, markers: list[int]) -> Iterator[int]:
    if site.marker_offsets:
        yield from (m - site.marker_offsets[0] for m in markers if m >= site.marker_offsets[0])
        return
    yield from line_starts(data)


def _is_new(data: bytes, site: Site, start: int) -> bool:
    return site.new.matches(data[start : start + (site.new.length or 0)])


def _stray(
    data: bytes, body: Published, markers: list[int], placed: tuple[PlacedSite, ...]
) -> list[int]:
    """Return the markers that stand neither in a site that was found nor in the helper."""
    begin = data.find(body.begin) - body.begin_offset
    ranges = [(site.start, site.end) for site in placed]
    ranges.append((begin, begin + (body.pin.length or 0)))
    return [m for m in markers if not any(start <= m < end for start, end in ranges)]


def _expected(version: Version, site: Site) -> str:
    inside = f" in {site.within}" if site.within else ""
    return f"site {site.name} of {version.id}{inside}: {site.new}"


def _repeated(data: bytes, version: Version, site: Site, starts: list[int]) -> Finding:
    return Finding(
        code="helper-site-repeated",
        where=Where.at(data, starts[1], site.new.length or 0),
        expected=_expected(version, site),
        got=f"{len(starts)} times",
        cause="installed twice",
        remedy=KEEP_MARKERS,
    )


def _missing(data: bytes, version: Version, site: Site, stray: list[int]) -> Finding:
    """Say of a missing site whether it was reverted, or which marker it probably was."""
    length = site.old.length or 0
    before = [at for at in line_starts(data) if site.old.matches(data[at : at + length])]
    where, cause = Where(), "neither its lines nor its context are in the file: cut or rewritten"
    near = [m for m in stray if before and 0 <= m - before[0] < (site.new.length or 0)]
    if before and not near:
        where = Where.at(data, before[0], length)
        cause = "its context stands as before an install: reverted, or never written"
    elif stray:
        likely = near or stray
        where = Where.at(data, likely[0], len(version.marker))
        lines = ", ".join(str(Where.at(data, at).line) for at in likely[:5])
        cause = f"the marker at line {lines} belongs to no site: the site there has drifted"
    return Finding(
        code="helper-site-missing",
        where=where,
        expected=_expected(version, site),
        got="nowhere in the file",
        cause=cause,
        remedy=KEEP_MARKERS,
    )


def _wrongly_placed(data: bytes, placed: PlacedSite) -> Iterator[Finding]:
    block = data[placed.start : placed.end]
    before = data[max(0, placed.start - 2) : placed.start]
    if not before.endswith(b"\n") or before.startswith(b"\\"):
        yield Finding(
            code="helper-site-continued",
            where=Where.at(data, placed.start, len(block)),
            expected=f"site {placed.site.name} at the start of a line of its own",
            got=f"{quoted(before.decode('utf-8', 'replace'))} before it",
            cause="a line continued by a backslash swallows the site",
            remedy=KEEP_MARKERS,
        )
    if not placed.site.old.matches(placed.site.without(block)):
        yield Finding(
            code="helper-site-context",
            where=Where.at(data, placed.start, len(block)),
            expected=f"{placed.site.old} after taking the inserted lines out",
            got=str(Pin.of(placed.site.without(block))),
            cause="the registry's entry contradicts itself",
            remedy="report the entry to the registry's maintainers",
        )


def _overlaps(data: bytes, placed: Sequence[PlacedSite]) -> Iterator[Finding]:
    order = sorted(placed, key=lambda site: (site.start, site.end))
    for first, second in pairwise(order):
        if second.start < first.end:
            yield Finding(
                code="helper-site-overlap",
                where=Where.at(data, second.start, first.end - second.start),
                expected="no byte in two sites",
                got=f"{first.site.name} and {second.site.name} share bytes",
                remedy=KEEP_MARKERS,
            )


def _flooded(data: bytes, version: Version, markers: list[int], most: int) -> Finding:
    return Finding(
        code="helper-marker-elsewhere",
        where=Where.at(data, markers[-1], len(version.marker)),
        expected=f"{most} markers of {version.id}",
        got=f"{len(markers):,}",
        remedy=KEEP_MARKERS,
    )
