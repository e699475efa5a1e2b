"""Pinning a helper: its entry, the digests of its lines, and the payload that `migrate` takes.

Nothing is signed. A file that is there is only written over where it is the entry that was read,
with every version that it had.
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from verifier.actions import output
from verifier.ask.pinning import Entry, Request, helper_entry
from verifier.ask.reading import Reach
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.helper_format import parse
from verifier.checks.helper.pinning.recipe import Recipe
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.limits import DOCUMENT_BYTES, METADATA_BYTES
from verifier.core.outcome import Report
from verifier.core.strict import read_json
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.sources import file, shipped

_KIND = "helper"


@frozen
class Pinned:
    """What became of it: the entry and its report, and the files that were written, if any."""

    entry: Entry
    written: tuple[str, ...] = ()
    exported: str | None = None

    @property
    def report(self) -> Report:
        """The report of the derivation and its proof."""
        return self.entry.report


def pin_helper(
    recipe: Recipe,
    *,
    clones: Mapping[str, str],
    to: str,
    export: str | None = None,
    reach: Reach | None = None,
    now: datetime,
) -> Pinned:
    """Derive the entry of `recipe` and write it `to` a file; nothing is written unless it holds.

    An entry that is there already gets the versions of the recipe added. `export` names a folder
    that is made, with the texts of every version. Raises `UnavailableError` for what cannot be
    read or written, `MalformedError` for a present entry that does not parse.
    """
    lines_at = _lines_place(to)
    for path in (to, lines_at) if Path(lines_at).parent.is_dir() else (to,):
        output.refuse(path, ())
    if export is not None:
        _refuse_folder(export)
    present = file.read(to, limit=DOCUMENT_BYTES).data if os.path.lexists(to) else None
    entry = helper_entry(
        Request(
            recipe=recipe,
            clones=clones,
            present=present,
            lines=_present_lines(lines_at),
            registered=_registered(to, recipe.name),
            reach=reach or Reach(),
        ),
        now=now,
    )
    if entry.report.verdict is not Verdict.VERIFIED:
        return Pinned(entry=entry)
    written = []
    for path, data in ((to, entry.data), (lines_at, entry.lines)):
        if not os.path.lexists(path) or Path(path).read_bytes() != data:
            Path(path).parent.mkdir(exist_ok=True)
            output.write(path, data)
            written.append(path)
    if export is not None:
        _export(entry, export)
    return Pinned(entry=entry, written=tuple(written), exported=export)


def _lines_place(to: str) -> str:
    """Return where the digests of lines belong: in a registry's tree, or beside the entry."""
    path = Path(to)
    if path.suffix != ".toml":
        raise WrongCallError(
            f"--to {to}: expected a file NAME.toml",
            code="wrong-call",
            remedy="name the entry's file, such as registry/targets/PROJECT/helper/NAME.toml",
        )
    if path.parent.name == _KIND:
        return str(path.parent.parent / "lines" / f"{path.stem}.json")
    return str(path.with_suffix(".lines.json"))


def _present_lines(path: str) -> dict[str, Sequence[str]]:
    """Read the digests that are there; the entry decides which of them stay."""
    if not os.path.lexists(path):
        return {}
    try:
        value: Any = read_json(file.read(path, limit=METADATA_BYTES).data)
        found: dict[str, Sequence[str]] = {
            str(version): tuple(map(str, digests)) for version, digests in value["prefixes"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MalformedError(
            path, ["is no lines/v1"], remedy="restore it, or remove it: it is made again"
        ) from None
    return found


def _registered(to: str, name: str) -> tuple[Lineage, ...]:
    """Read the lineages beside the entry, and those that came with pinproof.

    They are read to find collisions, and vouch for nothing, so they need no signature.
    """
    own = Path(to).resolve()
    found: dict[Path, Lineage] = {}
    if own.parent.name == _KIND:
        for path in sorted(own.parent.parent.parent.glob(f"*/{_KIND}/*.toml")):
            if path.resolve() != own:
                found[path] = _lineage(path)
    for path in sorted(shipped.folder("registry").glob(f"targets/*/{_KIND}/*.toml")):
        known = {each.name for each in found.values()}
        if path.stem != name and path.stem not in known:
            found[path] = _lineage(path)
    return tuple(found.values())


def _lineage(path: Path) -> Lineage:
    return parse(file.read(str(path), limit=DOCUMENT_BYTES).data, str(path))


# ── the payload ────────────────────────────────────────────────────────────────────────────────


def _refuse_folder(folder: str) -> None:
    if os.path.lexists(folder) or not Path(folder).parent.is_dir():
        raise UnavailableError(
            f"--export {folder}: expected a new folder in one that is there",
            code="cannot-write",
            remedy="name another one; nothing was written",
        )


def _export(entry: Entry, folder: str) -> None:
    """Write the texts of every derived version, a folder each."""
    Path(folder).mkdir()
    for pinned in entry.derived.pinned if entry.derived else ():
        place = Path(folder) / pinned.version.id
        place.mkdir()
        for name, text in pinned.hosts[0].pieces:
            output.write(str(place / re.sub("[^A-Za-z0-9._-]", "-", name)), text)
