"""Reading composition/v1: TOML to a `Composition`, every mistake by its path.

FORMATS §2 is the source of every key. Facts of others are often incomplete: a pin may lack its
length, an overlay's preimage may be unknown, as long as the scope says `complete = false`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from verifier.catalog.entries import composition_chain
from verifier.catalog.entries.composition import (
    Agreement,
    Change,
    Component,
    Composition,
    FilesTable,
    Manifest,
    NativeInput,
    Operation,
    Origin,
    Patch,
    Published,
    Retained,
    Scope,
    SourceDigest,
    Stage,
    StageKind,
    Wanted,
)
from verifier.core.digest import Pin
from verifier.core.limits import FILES_TABLE_BYTES
from verifier.core.printable import quoted
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table

T = TypeVar("T")

SCHEMA: Final = "composition/v1"
#: The algorithms that a component's source digest may be made by (CHECKS "composition").
ALGORITHMS: Final = ("git-tree", "pinproof-tree/v1", "sparkcache-source-tree/v1")
MODES: Final = ("100644", "100755", "120000")

_PLAIN: Final = "a-z, 0-9, dot, dash, underscore"
_NAME: Final = "[a-z0-9][a-z0-9._-]*"
_ID: Final = "[0-9a-f]{40}|[0-9a-f]{64}"
_ID_FORM: Final = "40 or 64 lower-case hex digits"
_ROW: Final = re.compile(r"([0-9a-f]{64}) (0|[1-9][0-9]{0,15}) (100644|100755|120000)")
_ROWS: Final = re.compile(rf"^{_ROW.pattern}$", re.MULTILINE)
#: Paths, one a line, that are plain beyond doubt; others are looked at one by one.
_PATHS: Final = re.compile(
    r"^(?:(?!\.{1,2}/)[\w.+@=,~() -]+/)*(?!\.{1,2}$)[\w.+@=,~() -]+$", re.MULTILINE | re.ASCII
)
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\\\\\u2028\u2029]")
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


def parse(data: bytes, where: str) -> Composition:
    """Read an entry, but for its files table. Raises `MalformedError` naming every mistake."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    scope = _scope(table.table("scope"))
    entry = Composition(
        name=_name(table),
        project=table.text("project"),
        source=_optional(table, "source", _published),
        base=_origin(table.table("base"), base=True),
        target=_optional(table, "target", _origin),
        scope=scope,
        manifest=_optional(table, "manifest", _manifest),
        stages=tuple(_stage(t, scope) for t in table.tables("stage")),
        components=tuple(map(_component, table.tables("component"))),
        retained=tuple(_retained(t, scope) for t in table.tables("retained")),
        files_table=_optional(table, "files_table", _files_table),
    )
    if table.sound:
        composition_chain.check(table, entry)
    table.done()
    return entry


def with_table(entry: Composition, data: bytes, where: str) -> Composition:
    """Return the entry with the rows of its files table, whose bytes are `data`.

    Raises `MalformedError` naming every mistake.
    """
    if entry.files_table is None or not entry.files_table.pin.matches(data):
        raise MalformedError(where, ["is not what files_table pins"], remedy=_REMEDY)
    return replace(entry, table=_table(data, entry, where))


def _table(data: bytes, entry: Composition, where: str) -> dict[str, Wanted]:
    try:
        rows = read_json(data, limit=FILES_TABLE_BYTES)
    except ValueError as error:
        raise MalformedError(where, [str(error)], remedy=_REMEDY) from None
    if not isinstance(rows, dict) or not rows:
        raise MalformedError(where, ["is no object of path and file"], remedy=_REMEDY)
    found = _plain_rows(rows, entry)
    mistakes = [] if found else list(_wrong_rows(rows, entry))
    if not mistakes:
        found = found or {path: _files([row])[0] for path, row in rows.items()}
        mistakes = list(composition_chain.contradictions(entry, found))
    if mistakes or not found:
        raise MalformedError(where, mistakes, remedy=_REMEDY)
    return found


def _plain_rows(rows: dict[str, Any], entry: Composition) -> dict[str, Wanted] | None:
    """Read all rows in a few passes, None if any is not plain: 100,000 of them are common."""
    try:
        text = "\n".join(rows.values())
    except TypeError:
        return None
    paths, count = "\n".join(rows), len(rows)
    if paths.count("\n") + 1 != count or text.count("\n") + 1 != count:
        return None
    folders = tuple(p for p in entry.scope.include if p.endswith("/") and p != "./")
    near = not entry.scope.exclude and all(path.startswith(folders) for path in rows)
    if not near and not all(map(entry.scope.holds, rows)):
        return None
    if len(_PATHS.findall(paths)) != count or len(files := _files([text])) != count:
        return None
    return dict(zip(rows, files, strict=True))


def _files(texts: list[str]) -> list[Wanted]:
    """Read the rows in some texts, one a line; what is none is left out."""
    modes = {mode: int(mode, 8) for mode in MODES}
    read = [row for text in texts for row in _ROWS.findall(text)]
    if not read:
        return []
    digests, lengths, bits = zip(*read, strict=True)
    fields = zip(digests, map(int, lengths), map(modes.__getitem__, bits), strict=True)
    return list(map(Wanted._make, fields))


def _wrong_rows(rows: dict[str, Any], entry: Composition) -> Iterator[str]:
    """Name every row that is not plain."""
    for path, row in rows.items():
        wrong = why_not_plain(path)
        if wrong is None and not entry.scope.holds(path):
            wrong = "is outside the scope"
        if wrong is None and not (isinstance(row, str) and _ROW.fullmatch(row)):
            wrong = 'is not of the form "<sha256> <length> <mode>"'
        if wrong is not None:
            yield f"{quoted(path)}: {wrong}"


def why_not_plain(path: str) -> str | None:
    """Say why a path has more than one spelling, or is none inside a tree; None if it is plain."""
    if path.startswith("/"):
        return "starts with /: give it relative to the root of the tree"
    if _CONTROL.search(path):
        return "holds a backslash or control character"
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        return "has an empty, . or .. part"
    return None


def _closed(table: Table, value: T) -> T:
    table.close()
    return value


def _optional(table: Table, key: str, read: Callable[[Table], T]) -> T | None:
    below = table.optional_table(key)
    return None if below is None else read(below)


def _name(table: Table) -> str:
    return table.text("name", pattern=_NAME, form=_PLAIN)


def _id(table: Table, key: str) -> str | None:
    return table.optional_text(key, pattern=_ID, form=_ID_FORM)


def _path(table: Table, key: str, scope: Scope | None = None) -> str:
    """Read a path of the tree that is written plainly and, if one is given, inside the scope."""
    path = table.text(key)
    wrong = why_not_plain(path) if path else None
    if wrong:
        table.mistake(key, f"{quoted(path)} {wrong}")
    elif path and scope and scope.include and not scope.holds(path):
        table.mistake(key, f"{quoted(path)} is outside the scope")
    return path


def _published(table: Table) -> Published:
    commit = table.text("commit", pattern=_ID, form=_ID_FORM)
    return _closed(table, Published(commit=commit, path=_path(table, "path")))


def _origin(table: Table, *, base: bool = False) -> Origin:
    origin = Origin(
        repository=table.optional_text("repository"),
        commit=_id(table, "commit"),
        tree=_id(table, "tree"),
        native_inputs=tuple(
            _closed(t, NativeInput(path=_path(t, "path"), id=_id(t, "id")))
            for t in (table.tables("native_inputs") if base else [])
        ),
    )
    if origin.commit is None and origin.tree is None:
        table.mistake("", "needs a commit, a tree, or both")
    return _closed(table, origin)


def _scope(table: Table) -> Scope:
    scope = Scope(
        include=table.texts("include"),
        exclude=table.texts("exclude", default=()),
        complete=table.flag("complete"),
    )
    for key, patterns in (("include", scope.include), ("exclude", scope.exclude)):
        for pattern in patterns:
            wrong = None if pattern == "./" else why_not_plain(pattern.removesuffix("/"))
            if wrong:
                table.mistake(key, f"{quoted(pattern)} {wrong}")
    if table.has("include") and not scope.include:
        table.mistake("include", 'is empty: name paths, folders as "folder/", or all as "./"')
    return _closed(table, scope)


def _manifest(table: Table) -> Manifest:
    manifest = Manifest(
        schema=table.text("schema"),
        pin=table.pin(length_required=False),
        rows=table.integer("rows", least=1),
        added=table.integer("added") if table.has("added") else None,
    )
    if manifest.added is not None and manifest.added > manifest.rows:
        table.mistake("added", "is more than rows")
    return _closed(table, manifest)


def _files_table(table: Table) -> FilesTable:
    return _closed(table, FilesTable(path=table.text("path"), pin=table.pin()))


def _stage(table: Table, scope: Scope) -> Stage:
    kind = StageKind(table.text("kind", choices=StageKind) or StageKind.OVERLAY)
    independent = table.optional_text("independent")
    if independent is not None and independent not in list(Agreement):
        table.mistake("independent", f"{quoted(independent)} is none of {', '.join(Agreement)}")
        independent = None
    files = table.tables("files")
    stage = Stage(
        name=_name(table),
        kind=kind,
        files=tuple(_change(t, scope) for t in files) if table.has("files") else None,
        patch=_optional(table, "patch", _patch),
        component=table.optional_text("component"),
        regions=table.optional_text("regions", pattern=f"{_NAME}/{_NAME}", form="lineage/version"),
        independent=Agreement(independent) if independent else None,
        tree=_id(table, "tree"),
    )
    for key, needed_by in (
        ("patch", StageKind.PATCH),
        ("component", StageKind.COMPONENT),
        ("regions", StageKind.REGIONS),
    ):
        if (getattr(stage, key) is not None) != (kind is needed_by):
            verb = "is missing of" if kind is needed_by else "does not belong to"
            table.mistake(key, f"{verb} a stage of kind {kind}")
    if stage.files == ():
        table.mistake("files", "is empty: leave it out if it is not known what the stage changes")
    if stage.files is None and stage.tree is None and kind is not StageKind.COMPONENT:
        table.mistake("files", "missing, and no tree says what the stage leaves")
    return _closed(table, stage)


def _patch(table: Table) -> Patch:
    path = _path(table, "path") if table.has("path") else None
    return _closed(table, Patch(pin=table.pin(length_required=False), path=path))


def _change(table: Table, scope: Scope) -> Change:
    change = Change(
        path=_path(table, "path", scope),
        operation=Operation(table.text("operation", choices=Operation) or Operation.REPLACE),
        pre=_optional_pin(table, "pre"),
        post=_optional_pin(table, "post"),
        mode=_mode(table),
    )
    # What an overlay replaces is often not published: honest only if incomplete.
    replaced = ("post", "pre") if scope.complete else ("post",)
    needed, never = {
        Operation.ADD: (("post",), "pre"),
        Operation.DELETE: (("pre",), "post"),
        Operation.REPLACE: (replaced, ""),
    }[change.operation]
    for key in needed:
        if not table.has(key):
            table.mistake(key, f"missing, needed to {change.operation}")
    if never and table.has(never):
        table.mistake(never, f"does not belong to {change.operation}")
    if change.operation is Operation.DELETE and change.mode is not None:
        table.mistake("mode", "does not belong to delete")
    return _closed(table, change)


def _optional_pin(table: Table, key: str) -> Pin | None:
    return table.pin(key, length_required=False) if table.has(key) else None


def _mode(table: Table) -> int | None:
    if not table.has("mode"):
        return None
    return int(table.text("mode", choices=MODES) or MODES[0], 8)


def _component(table: Table) -> Component:
    component = Component(
        name=_name(table),
        repository=table.optional_text("repository"),
        commit=_id(table, "commit"),
        tree=_id(table, "tree"),
        sources=tuple(map(_source, table.tables("source"))),
        contract=_optional_pin(table, "contract"),
    )
    if component.commit is None and component.tree is None and not component.sources:
        table.mistake("", "pins nothing: give a commit, a tree or a source")
    return _closed(table, component)


def _source(table: Table) -> SourceDigest:
    algorithm = table.text("algorithm", choices=ALGORITHMS)
    root = table.text("root")
    wrong = None if root in ("", "./") else why_not_plain(root.removesuffix("/"))
    if wrong or not root.endswith("/"):
        table.mistake("root", f"{quoted(root)} {wrong or 'is no folder: end it in /'}")
    if algorithm == ALGORITHMS[0]:
        table.mistake("algorithm", "git-tree is a component's own key: tree")
    return _closed(
        table, SourceDigest(algorithm=algorithm, root=root, sha256=table.sha256("sha256"))
    )


def _retained(table: Table, scope: Scope) -> Retained:
    files = table.tables("files")
    retained = Retained(
        name=_name(table),
        count=table.integer("count", least=1) if table.has("count") else None,
        files=tuple(_kept(t, scope) for t in files) if table.has("files") else None,
    )
    if retained.files is None and retained.count is None:
        table.mistake("", "says nothing: give files, or their count")
    if retained.files == ():
        table.mistake("files", "is empty: leave it out if it is not known which files are meant")
    elif retained.files and retained.count not in (None, len(retained.files)):
        table.mistake(
            "count", f"{retained.count} is not the number of files, {len(retained.files)}"
        )
    return _closed(table, retained)


def _kept(table: Table, scope: Scope) -> tuple[str, Wanted]:
    path = _path(table, "path", scope)
    pin = table.pin(length_required=False)
    return _closed(table, (path, Wanted(pin.sha256, pin.length, _mode(table))))
