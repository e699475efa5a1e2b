"""`sparkring-vllm-python-overlay/v1`: the manifest that an overlay of files is published with.

A foreign format, read strictly: base and target with repository, commit and tree, and of each
file its path, its operation, and the digests that it had before and has afterwards. A row that
adds a file says `null` for what was there before. Source: compositions.md §1.2.
"""

from typing import Any, Final

from verifier.catalog.entries.composition import Change, Operation, Origin
from verifier.core.digest import Pin
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen

SCHEMA: Final = "sparkring-vllm-python-overlay/v1"
_ID: Final = "[0-9a-f]{40}"
_REMEDY: Final = "give the pin file as it was published; write other entries by hand"


@frozen
class OverlayManifest:
    """What such a manifest says: two commits, and the rows in their order, modes unknown."""

    base: Origin
    target: Origin
    rows: tuple[Change, ...]


def read_manifest(data: bytes, where: str) -> OverlayManifest:
    """Read a manifest. Raises `MalformedError` that names every mistake, `where` being its name."""
    try:
        value = read_json(data, limit=DOCUMENT_BYTES)
    except ValueError as error:
        raise MalformedError(where, [str(error)], remedy=_REMEDY) from None
    table = Table(value, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    base, target = (_origin(table.table(key)) for key in ("base", "target"))
    rows = [
        _row(row, null=null)
        for row, null in zip(table.tables("files"), _null_bases(value), strict=False)
    ]
    table.done()
    return OverlayManifest(base=base, target=target, rows=tuple(rows))


def _null_bases(value: Any) -> list[bool]:
    """Say of each row whether it states that there was no file before; a table reads no null."""
    rows = value.get("files") if isinstance(value, dict) else None
    listed = rows if isinstance(rows, list) else []
    return [isinstance(r, dict) and "base_sha256" in r and r["base_sha256"] is None for r in listed]


def _origin(table: Table) -> Origin:
    origin = Origin(
        repository=table.text("repository"),
        commit=table.text("commit", pattern=_ID),
        tree=table.text("tree", pattern=_ID),
    )
    table.close()
    return origin


def _row(table: Table, *, null: bool) -> Change:
    operation = Operation(table.text("operation", choices=["add", "replace"]) or "add")
    pre = None
    if operation is Operation.REPLACE:
        pre = Pin(sha256=table.sha256("base_sha256"), length=None)
    elif table.has("base_sha256") and not null:
        table.mistake("base_sha256", "is given of a file that is added")
    post = Pin(sha256=table.sha256("target_sha256"), length=table.integer("target_bytes"))
    change = Change(path=table.text("path"), operation=operation, pre=pre, post=post, mode=None)
    table.close()
    return change
