"""Taking a version out of a host and putting one in: bytes in, bytes out (CHECKS migrate).

The order is that of the published installers (helpers.md §1.5): the import line where it is
missing, the helper, then each site in the order of the entry. Nothing here accepts anything:
what comes out is judged by the same check as any other file.
"""

from collections.abc import Mapping

from verifier.catalog.entries.helper import Base, Lineage, Published, Site
from verifier.checks.helper.regions import Installed, Remainder, line_starts, occurrences
from verifier.checks.helper.rest import without_import
from verifier.checks.helper.sightings import candidates, sight
from verifier.checks.helper.sites import find_sites
from verifier.checks.helper.span import find_helper
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import quoted
from verifier.core.value import frozen

_OTHER_HOST = "the host is of another upstream commit, or another overlay changed it here"


@frozen
class SitePiece:
    """What an install writes at one site; `old` is the context's text where it is known."""

    site: Site
    parts: tuple[bytes, ...]
    old: bytes | None = None


@frozen
class Pieces:
    """Every text that installing one version takes. `import_parts` is None where not known."""

    helper: bytes
    sites: tuple[SitePiece, ...]
    import_parts: tuple[bytes, ...] | None = None


@frozen
class Bare:
    """A host without the helper, and the offset at which the helper stood; None if none did."""

    data: bytes
    at: int | None = None
    contexts: Mapping[Pin, bytes]
    """The text of contexts that are known, by their pins."""


@frozen
class Moved:
    """What stood in a host before and what stands in it after; the rest of it is the same.

    `import_line` says whether the import line was `added` or `taken out`.
    """

    before: Installed | None
    after: Installed | None
    import_line: str = ""


def installed_in(data: bytes, lineage: Lineage) -> Installed | None:
    """Find the one version that stands in a host whole, as the check does; None if none does."""
    versions, _ = candidates(data, lineage, sight(data, lineage))
    helper, _ = find_helper(data, lineage, versions) if versions else (None, ())
    if helper is None:
        return None
    sites, problems = find_sites(data, lineage, helper.version, helper.body)
    whole = len(sites) == len(lineage.sites[helper.body.sites]) and not problems
    return Installed(helper=helper, sites=sites) if whole else None


def taken_out(data: bytes, installed: Installed) -> Bare:
    """Take a version out; the import line that its install may have added stays."""
    before = sum(end - start for start, end in installed.removed if end <= installed.helper.start)
    contexts = {
        placed.site.old: placed.site.without(data[placed.start : placed.end])
        for placed in installed.sites
    }
    return Bare(
        data=Remainder(data, installed.removed).data,
        at=installed.helper.start - before,
        contexts=contexts,
    )


def as_base(bare: Bare, lineage: Lineage, base: Base) -> bytes | Finding:
    """Return the registered host that is left, its import line taken out if its pin says so."""
    for left in (bare.data, without_import(bare.data, lineage)):
        if left is not None and base.pin.matches(left):
            return left
    return Finding(
        code="migrate-base",
        expected=f"the base {base.name}, {base.pin}, without the helper",
        got=str(Pin.of(bare.data)),
        cause="another overlay, another upstream commit, or an edit outside the regions",
        remedy="take the other overlay out first, or restore the pinned host from its package",
    )


def put_in(bare: Bare, lineage: Lineage, body: Published, pieces: Pieces) -> bytes | Finding:
    """Install a version, where one stood before or in front of the first end anchor."""
    data, at = bare.data, bare.at
    imported = _imported(data, lineage, body, pieces)
    if at is not None and len(imported) > len(data) and data[:at] != imported[:at]:
        at += len(imported) - len(data)
    data = imported
    if at is None:
        place = _place(data, lineage)
        if isinstance(place, Finding):
            return place
        at = place
    data = data[:at] + pieces.helper + data[at:]
    for piece in pieces.sites:
        written = _written(data, piece, bare.contexts.get(piece.site.old))
        if isinstance(written, Finding):
            return written
        data = written
    return data


def compared(
    before: bytes, installed: Installed | None, after: bytes, lineage: Lineage
) -> Moved | None:
    """Compare a host with what became of it; None if any byte differs that no install writes."""
    now = installed_in(after, lineage)
    rests = [
        Remainder(data, placed.removed).data if placed else data
        for data, placed in ((before, installed), (after, now))
    ]
    if rests[0] == rests[1]:
        return Moved(before=installed, after=now)
    lines = [without_import(rest, lineage) for rest in rests]
    if lines[1] == rests[0]:
        return Moved(before=installed, after=now, import_line="added")
    if lines[0] == rests[1]:
        return Moved(before=installed, after=now, import_line="taken out")
    return None


def _place(data: bytes, lineage: Lineage) -> int | Finding:
    """Return where a first install goes: right before the first anchor, which is there once."""
    anchor = lineage.end_anchors[0] if lineage.end_anchors else None
    found = occurrences(data, anchor.text) if anchor else []
    if len(found) == 1:
        return found[0]
    return Finding(
        code="migrate-anchor",
        where=Where.at(data, found[1]) if found else Where(),
        expected=f"{quoted(anchor.text.decode())} once, to install before it"
        if anchor
        else "an end anchor, and the entry registers none",
        got=f"{len(found)} times",
        cause=_OTHER_HOST,
        remedy="install on the host that the entry's base pins; pinproof show prints it",
    )


def _imported(data: bytes, lineage: Lineage, body: Published, pieces: Pieces) -> bytes:
    """Add the import line where it is missing and has its one place; else change nothing."""
    site, parts = lineage.import_site, pieces.import_parts
    if site is None or parts is None or not body.required_imports:
        return data
    if without_import(data, lineage) is not None:
        return data
    starts = _hashed(data, site.old)
    if len(starts) != 1:
        return data
    end = starts[0] + (site.old.length or 0)
    return data[: starts[0]] + site.filled(data[starts[0] : end], parts) + data[end:]


def _written(data: bytes, piece: SitePiece, known: bytes | None) -> bytes | Finding:
    """Write one site, whose context must stand in the host once at this moment."""
    site, old = piece.site, known if known is not None else piece.old
    if old is None:
        starts = _hashed(data, site.old)
        old = data[starts[0] : starts[0] + (site.old.length or 0)] if starts else None
    found = [] if old is None else occurrences(data, old)
    if old is None or len(found) != 1:
        return Finding(
            code="migrate-context",
            where=Where.at(data, found[1]) if found else Where(),
            expected=f"the context of site {site.name} once in the host: {site.old}",
            got=f"{len(found)} times" if found else "nowhere in the host",
            cause=_OTHER_HOST,
            remedy="install on the host that the entry's base pins, or port the overlay to this "
            "host and register the new version",
        )
    return data[: found[0]] + site.filled(old, piece.parts) + data[found[0] + len(old) :]


def _hashed(data: bytes, pin: Pin) -> list[int]:
    """Return the line starts at which a pin's bytes stand."""
    length = pin.length or 0
    return [at for at in line_starts(data) if pin.matches(data[at : at + length])]
