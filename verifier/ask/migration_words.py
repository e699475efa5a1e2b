"""What a plan says in words: what stands in a file, what would, and which parts change."""

from typing import Final

from verifier.catalog.entries.helper import Lineage
from verifier.checks.helper.install import Moved
from verifier.checks.helper.regions import Installed
from verifier.core.outcome import Result

#: What a target or source begins with that is a host without the helper.
BASE: Final = "base:"


def standing_as(result: Result, lineage: Lineage) -> str:
    """Name what stands in a judged file: a version, or `base:NAME`."""
    found = result.identified[0]
    if found.version != "pristine":
        return found.version
    return next(
        (f"{BASE}{b.name}" for b in lineage.bases if found.detail.startswith(f"base {b.name}")),
        "base",
    )


def of(result: Result) -> str:
    """Say what stands in a file: version, sites, and what is known of the rest."""
    found, held = result.identified[0], {c.facet: c for c in result.coverage}
    if found.version == "pristine":
        return f"no helper, {found.detail}"
    sites, rest = held["sites"].detail.split(" of ")[0], held["whole-file"]
    whole = rest.detail if rest.state.holds else "the rest not attested"
    return f"{found.version}, {sites} {'site' if sites == '1' else 'sites'}, {whole}"


def of_target(result: Result) -> str:
    """Say what would stand in a file, and whether that is all that a fresh install gives."""
    whole = next(c for c in result.coverage if c.facet == "whole-file")
    installed = result.identified[0].version != "pristine"
    return f"{of(result)}{', as a fresh install' if installed and whole.state.holds else ''}"


def changes(moved: Moved) -> str:
    """Say which parts change; that nothing else does has been proved."""
    one, other = _size(moved.before), _size(moved.after)
    helper = f"helper {one:,} → {other:,} bytes" if one and other else ""
    helper = helper or f"helper of {one or other:,} bytes {'put in' if other else 'taken out'}"
    sites = max(len(placed.sites) for placed in (moved.before, moved.after) if placed)
    line = f", the import line {moved.import_line}" if moved.import_line else ""
    return f"{helper}, {sites} {'site' if sites == 1 else 'sites'}{line}, nothing else"


def _size(installed: Installed | None) -> int:
    return installed.helper.end - installed.helper.start if installed else 0
