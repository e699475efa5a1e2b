"""Step 8: whether what remains without the helper is a registered host."""

from verifier.catalog.entries.helper import Lineage, Site
from verifier.checks.helper.regions import Installed, Remainder, line_starts
from verifier.core.coverage import Covered, State
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where

FACET = "whole-file"


def whole_file(
    data: bytes, lineage: Lineage, installed: Installed
) -> tuple[Covered, tuple[Finding, ...]]:
    """Compare the remainder with every base, with and without the import line, and the input."""
    rest = Remainder(data, installed.removed).data
    for pin, detail in _attested(data, rest, lineage, installed):
        return _held(pin, detail), ()
    bases = ", ".join(f"{base.name} {base.pin}" for base in lineage.bases)
    finding = Finding(
        code="helper-rest-not-attested",
        where=Where.at(data, 0, len(data)),
        expected=bases or "a base, and the entry registers none",
        got=str(Pin.of(rest)),
        cause="another overlay, another upstream commit, or an edit outside the regions",
        remedy=(
            "restore the pinned host and reinstall; or judge with the policy region, "
            "which says that the rest is not attested"
        ),
    )
    return Covered(facet=FACET, state=State.NOT_HELD, detail="rest of the file: not attested"), (
        finding,
    )


def pristine(data: bytes, lineage: Lineage) -> Covered | None:
    """Return which base a file without any sighting is, or None."""
    for base in lineage.bases:
        if base.pin.matches(data):
            return _held(base.pin, f"base {base.name}")
        if (without := without_import(data, lineage)) and base.pin.matches(without):
            return _held(base.pin, f"base {base.name} plus its import line")
    return None


def _attested(
    data: bytes, rest: bytes, lineage: Lineage, installed: Installed
) -> "list[tuple[Pin, str]]":
    """List what attests the file, a pin with a published length first."""
    without = without_import(rest, lineage)
    found = [(b.pin, f"base {b.name}") for b in lineage.bases if b.pin.matches(rest)]
    if without is not None:
        found += [
            (b.pin, f"base {b.name} plus its import line")
            for b in lineage.bases
            if b.pin.matches(without)
        ]
    found += [
        (pin, f"whole file as installed on {base}")
        for base, pin in installed.helper.body.whole_files
        if pin.matches(data)
    ]
    return sorted(found, key=lambda pair: pair[0].length is None)


def _held(pin: Pin, detail: str) -> Covered:
    if pin.length is None:
        return Covered(
            facet=FACET,
            state=State.HELD_LENGTH_NOT_PINNED,
            detail=f"{detail} · length not pinned",
        )
    return Covered(facet=FACET, state=State.HELD, detail=detail)


def without_import(data: bytes, lineage: Lineage) -> bytes | None:
    """Take the line out that an install adds where it is missing; None unless it is there once."""
    site = lineage.import_site
    starts = [] if site is None else [s for s in line_starts(data) if _is_at(data, site, s)]
    if site is None or len(starts) != 1:
        return None
    end = starts[0] + (site.new.length or 0)
    return data[: starts[0]] + site.without(data[starts[0] : end]) + data[end:]


def _is_at(data: bytes, site: Site, start: int) -> bool:
    end = start + (site.new.length or 0)
    # An import site ends in LF (catalog.entries.helper), which is cheaper to see than a digest.
    return data[end - 1 : end] == b"\n" and site.new.matches(data[start:end])
