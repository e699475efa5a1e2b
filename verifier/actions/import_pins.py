"""Entries from foreign pin files, where their shape allows it without guessing.

Each schema is read strictly as far as it goes into an entry; what else stands in the file is named
and left out, and so is what the file cannot say. What comes out is always a proposal: incomplete
where the file lists only changed files, and unproved until `verify composition --prove` was run.

| file | becomes | cannot say |
|---|---|---|
| `sparkring-vllm-python-overlay/v1` | base, target, one overlay | later stages, modes, lengths of preimages |
| pins.json with `components` (schema_version 1) | a base commit and a patch up to a tree, each | the base's tree, files, lengths |
| `sparkring-public-exl3-pins/v1` | the same, of each source with a patch | files of an image without a commit, patches without a digest |
"""  # noqa: E501  (a table)

import re
from typing import Any, Final

from verifier.catalog.entries.composition import Change, Origin
from verifier.catalog.entries.composition_format import parse
from verifier.catalog.entries.overlay_manifest import SCHEMA as OVERLAY
from verifier.catalog.entries.overlay_manifest import read_manifest
from verifier.core.digest import Pin
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.printable import quoted
from verifier.core.strict import read_json, write_toml
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen

#: The end of an entry's name, its tables, and what the pin file does not say.
_Part = tuple[str, dict[str, Any], tuple[str, ...]]
_ID: Final = "[0-9a-f]{40}"
_SHA256: Final = "[0-9a-f]{64}"
_REMEDY: Final = "give the pin file as it was published; write other entries by hand"
EXL3: Final = "sparkring-public-exl3-pins/v1"
#: What a source has to have to become an entry.
_NEEDED: Final = ("base_commit", "patch_sha256", "tree")
VERSIONED: Final = "schema_version 1 with components"


@frozen
class Imported:
    """One entry by its name, as TOML, and what the pin file could not say, in words."""

    name: str
    entry: bytes
    missing: tuple[str, ...]


def import_pins(data: bytes, *, name: str, project: str, where: str) -> tuple[Imported, ...]:
    """Read a foreign pin file; `name` begins the names of its entries, `where` is its own.

    Raises `MalformedError` for a file of another schema, or one that breaks its own.
    """
    try:
        value = read_json(data, limit=DOCUMENT_BYTES)
    except ValueError as error:
        raise MalformedError(where, [str(error)], remedy=_REMEDY) from None
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema == OVERLAY:
        found = [_overlay(data, where)]
    else:
        table = Table(value, what=where, remedy=_REMEDY)
        if schema == EXL3:
            found = _exl3(table, where)
        elif isinstance(value, dict) and value.get("schema_version") == 1 and "components" in value:
            found = _versioned(table)
        else:
            known = f"{OVERLAY}, {EXL3}, {VERSIONED}"
            raise MalformedError(where, [f"its schema is none of {known}"], remedy=_REMEDY)
        if not table.sound:
            table.done()
    if not found:
        raise MalformedError(where, ["nothing of it can become an entry"], remedy=_REMEDY)
    _check_names(name, [part for part, _, _ in found], where)
    return tuple(_imported(name, project, part, body, said) for part, body, said in found)


def _check_names(name: str, parts: list[str], where: str) -> None:
    """Refuse parts of the file whose entries would have one name."""
    named: dict[str, str] = {}
    for part in parts:
        own = _own(name, part)
        if own in named:
            both = f"{quoted(named[own])} and {quoted(part)} would both be the entry {own}"
            raise MalformedError(where, [both], remedy="write the entries of these by hand")
        named[own] = part


def _own(name: str, part: str) -> str:
    return f"{name}-{part}".lower().replace("_", "-") if part else name


def _imported(
    name: str, project: str, part: str, body: dict[str, Any], said: tuple[str, ...]
) -> Imported:
    own = _own(name, part)
    entry = write_toml({"schema": "composition/v1", "name": own, "project": project, **body})
    parse(entry, own)  # what is written has to be readable
    return Imported(name=own, entry=entry, missing=said)


def _overlay(data: bytes, where: str) -> _Part:
    manifest = read_manifest(data, where)
    pin = Pin.of(data)
    rows = [_row(change) for change in manifest.rows]
    body = {
        "base": _origin(manifest.base),
        "target": _origin(manifest.target),
        "scope": {
            "include": sorted({row["path"].partition("/")[0] + "/" for row in rows}),
            "complete": False,
        },
        "manifest": {
            "schema": OVERLAY,
            "sha256": pin.sha256,
            "length": pin.length,
            "rows": len(rows),
            "added": sum(row["operation"] == "add" for row in rows),
        },
        "stage": [{"name": "overlay", "kind": "overlay", "files": rows}],
    }
    said = (
        "which stages follow the overlay: the manifest is of the overlay alone",
        "modes, and the lengths of what is replaced",
        "what else lies in the scope: the entry is incomplete",
    )
    return "", body, said


def _origin(origin: Origin) -> dict[str, str | None]:
    return {"repository": origin.repository, "commit": origin.commit, "tree": origin.tree}


def _row(change: Change) -> dict[str, Any]:
    row: dict[str, Any] = {"path": change.path, "operation": str(change.operation)}
    if change.pre is not None:
        row["pre"] = {"sha256": change.pre.sha256}
    if change.post is not None:
        row["post"] = {"sha256": change.post.sha256, "length": change.post.length}
    return row


def _versioned(table: Table) -> list[_Part]:
    table.integer("schema_version")
    root = ""
    if release := table.optional_table("release"):
        root = release.text("patch_root", default="").rstrip("/")
    components = table.table("components")
    return [
        (part, _patched(components.table(part), root, tree="result_tree"), _BARE)
        for part in components.keys()  # noqa: SIM118  (a table, not a dict)
    ]


def _exl3(table: Table, where: str) -> list[_Part]:
    table.text("schema")
    sources = table.table("sources")
    said = (
        *_BARE,
        "overlay_files and installed_base_files: the image's base is no commit in this file",
        "profile_patches and spark_runtime_overlay_files: no patch has a digest here",
    )
    found: list[tuple[str, dict[str, Any]]] = []
    dropped: list[str] = []
    for part in sources.keys():  # noqa: SIM118
        source = sources.table(part)
        if lacks := [key for key in _NEEDED if not source.has(key)]:
            dropped.append(f"source {quoted(part)}: it has no {', no '.join(lacks)}")
        else:
            found.append((part, _patched(source, "", tree="tree")))
    if not found:
        raise MalformedError(where, ["no source can become an entry", *dropped], remedy=_REMEDY)
    return [(part, body, (*said, *dropped)) for part, body in found]


_BARE: Final = (
    "the base's tree, and which files the patch changes: only the tree of the result",
    "the length of the patch",
)


def _patched(table: Table, root: str, *, tree: str) -> dict[str, Any]:
    path = "/".join(part for part in (root, table.text("patch")) if part)
    return {
        "base": {
            "repository": table.text("repository"),
            "commit": table.text("base_commit", pattern=_ID),
        },
        "scope": {"include": ["./"], "complete": True},
        "stage": [
            {
                "name": re.sub("[^a-z0-9._-]+", "-", path.rpartition("/")[2].lower()),
                "kind": "patch",
                "tree": table.text(tree, pattern=_ID),
                "patch": {"sha256": table.text("patch_sha256", pattern=_SHA256), "path": path},
            }
        ],
    }
