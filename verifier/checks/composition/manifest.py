"""The manifest that an overlay was published with, against the entry that pins it.

1. Its bytes are at hand, and have the pinned SHA-256 and length.
2. Where its schema is one that is read, base, target and every row are those of the entry: path,
   operation, the digest before and afterwards, the length.

Source: check 1 of the reference on compositions (its section 4), and its §1.2.
"""

from collections.abc import Iterator

from verifier.catalog.entries.composition import Change, Composition, Manifest, Origin, StageKind
from verifier.catalog.entries.overlay_manifest import SCHEMA, OverlayManifest, read_manifest
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable
from verifier.core.table import MalformedError

_ENTRY = "compare the entry with what was published; if the entry is wrong, report it"


def check_manifest(entry: Composition, manifest: Manifest, data: bytes | None) -> Iterator[Finding]:
    """Check the bytes of the manifest, None where no source that was read holds them."""
    if data is None:
        yield Finding(
            code="lineage-manifest-unavailable",
            where=Where(path="manifest"),
            expected=f"a file {manifest.pin}",
            got="none in what was read",
            remedy="name what holds it: --clone source=PATH",
        )
    elif not manifest.pin.matches(data):
        yield _differs("manifest", str(manifest.pin), str(Pin.of(data)))
    elif manifest.schema == SCHEMA:
        try:
            said = read_manifest(data, "manifest")
        except MalformedError as error:
            yield _differs("manifest", f"a manifest of {SCHEMA}", error.message)
        else:
            yield from _compare(entry, said)


def unread(entry: Composition) -> Iterator[str]:
    """Say of a manifest of another schema that nothing but its digest was compared."""
    if entry.manifest is not None and entry.manifest.schema != SCHEMA:
        yield f"what the manifest says: {printable(entry.manifest.schema)} is not read here"


def _compare(entry: Composition, said: OverlayManifest) -> Iterator[Finding]:
    for name, ours, theirs in (
        ("base", entry.base, said.base),
        ("target", entry.target, said.target),
    ):
        if ours is not None and _ids(ours, theirs) != _ids(theirs, ours):
            yield _differs(name, _origin(ours), f"{_origin(theirs)}, as the manifest says")
    overlay = next((s for s in entry.stages if s.kind is StageKind.OVERLAY), None)
    if overlay is None or overlay.files is None:
        return
    ours_by_path = {change.path: change for change in overlay.files}
    theirs_by_path = {change.path: change for change in said.rows}
    for path in sorted(ours_by_path.keys() | theirs_by_path.keys()):
        listed, row = ours_by_path.get(path), theirs_by_path.get(path)
        if listed is None or row is None or not _same(listed, row):
            yield _differs(printable(path), _row(listed), f"{_row(row)}, as the manifest says")


def _ids(one: Origin, other: Origin) -> tuple[str | None, ...]:
    """Return the ids of `one` that the other names too."""
    return (one.commit if other.commit else None, one.tree if other.tree else None)


def _same(listed: Change, row: Change) -> bool:
    """Whether a row of the entry says what one of the manifest does; the entry may say more."""
    return (
        listed.operation is row.operation
        and _fit(listed.pre, row.pre)
        and _fit(listed.post, row.post)
    )


def _fit(one: Pin | None, other: Pin | None) -> bool:
    """Whether two pins can be of the same bytes; what one side leaves out fits anything."""
    if one is None or other is None:
        return True
    return one.sha256 == other.sha256 and (
        one.length == other.length or None in (one.length, other.length)
    )


def _origin(origin: Origin) -> str:
    return f"commit {origin.commit}, tree {origin.tree}"


def _row(change: Change | None) -> str:
    if change is None:
        return "no such row"
    before = f"{change.pre} to " if change.pre else ""
    return f"to {change.operation} it: {before}{change.post or 'nothing'}"


def _differs(path: str, expected: str, got: str) -> Finding:
    return Finding(
        code="lineage-manifest",
        where=Where(path=path),
        expected=expected,
        got=got,
        cause="at the manifest",
        remedy=_ENTRY,
    )
