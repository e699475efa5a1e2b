"""The look-up index: from a digest to the rows that pin it, from tokens to lineages (FORMATS §1).

The index answers "where could this come from" without reading every entry. Its files are
targets of the top-level role:

    index/layout.json     {"schema": "index/v1", "digits": 0, "helpers": [{"lineage": …,
                          "marker_prefix": …, "owned_names": […], "first_lines": […]}]}
    index/all.json        {"schema": "index/v1", "rows": {<hex>: [{"kind": …, "entry_kind": …,
                          "entry": …, "row": …}, …]}}

A digest is 64 hex digits, a git id 40 or 64.

`digits` says how many leading hex digits name the file of a digest instead of "all": none until
2,000 digests, then as few as keep that many in a file on average. A file without rows is not
written. What the index says is a hint: whoever follows it resolves the entry again by its path
through its delegation, and finds the row there or not.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.refused import Refused
from verifier.catalog.tuf.problems import RESIGN, problem
from verifier.core.limits import INDEX_DIGESTS
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen

LAYOUT: Final = "index/layout.json"
_SCHEMA: Final = "index/v1"


class Row(NamedTuple):
    """A hint: the kind of digest, and the kind, name and row of the entry that pins it."""

    kind: str
    entry_kind: str
    entry: str
    row: str


@frozen
class HelperTokens:
    """What betrays a lineage in a file: its marker prefix, its names, its first lines."""

    lineage: str
    marker_prefix: bytes
    owned_names: tuple[str, ...]
    first_lines: tuple[bytes, ...]


class Index:
    """The index of one registry. Its files are read, and authenticated, when asked for."""

    def __init__(
        self,
        read: Callable[[str], bytes | Refused],
        listed: Collection[str],
        *,
        digits: int,
        helpers: tuple[HelperTokens, ...],
    ) -> None:
        """Keep what the layout says; `read` returns the authenticated bytes of a target."""
        self.helpers = helpers
        self._read = read
        self._listed = listed
        self._digits = digits
        self._parsed: dict[str, Any] = {}

    @classmethod
    def open(
        cls, read: Callable[[str], bytes | Refused], listed: Collection[str]
    ) -> "Index | Refused":
        """Read the layout; `listed` holds the paths of all targets."""
        data = read(LAYOUT)
        if isinstance(data, Refused):
            return data
        try:
            digits, helpers = _layout(data)
        except MalformedError as error:
            return _malformed(LAYOUT, error)
        return cls(read, listed, digits=digits, helpers=helpers)

    def rows(self, digits: str) -> "tuple[Row, ...] | Refused":
        """Look a SHA-256 or git id up, whatever it is the digest of."""
        path = _path(digits, self._digits)
        if path not in self._listed:
            return ()
        if path not in self._parsed:
            data = self._read(path)
            if isinstance(data, Refused):
                return data
            try:
                self._parsed[path] = read_json(data)  # once: an image asks for a dozen digests
            except ValueError as error:
                return _malformed(path, MalformedError(path, [str(error)], remedy=RESIGN))
        try:
            return _rows(self._parsed[path], path, digits)
        except MalformedError as error:
            return _malformed(path, error)


def build(lineages: Iterable[Lineage], others: Iterable[tuple[str, Row]] = ()) -> dict[str, bytes]:
    """Make every file of the index, by its target path; the same entries give the same bytes.

    `others` are digests and rows of entries of other kinds.
    """
    ordered = sorted(lineages, key=lambda lineage: lineage.name)
    rows: dict[str, set[Row]] = {}
    for lineage in ordered:
        for pin in lineage.pins():
            row = Row(pin.kind, "helper", lineage.name, pin.row)
            rows.setdefault(pin.pin.sha256, set()).add(row)
    for digest, row in others:
        rows.setdefault(digest, set()).add(row)
    digits = 0
    while len(rows) > INDEX_DIGESTS * 16**digits:
        digits += 1
    files: dict[str, dict[str, set[Row]]] = {}
    for digest in sorted(rows):
        files.setdefault(_path(digest, digits), {})[digest] = rows[digest]
    layout = {
        "schema": _SCHEMA,
        "digits": digits,
        "helpers": [_tokens(lineage) for lineage in ordered],
    }
    return {
        LAYOUT: json.dumps(layout, indent=1).encode() + b"\n",
        **{path: _print(found) for path, found in files.items()},
    }


def _path(digest: str, digits: int) -> str:
    return f"index/{digest[:digits] or 'all'}.json"


def _tokens(lineage: Lineage) -> dict[str, Any]:
    return {
        "lineage": lineage.name,
        "marker_prefix": lineage.marker_prefix.decode(),
        "owned_names": lineage.owned_names,
        "first_lines": [line.decode() for line in lineage.first_lines()],
    }


def _print(rows: Mapping[str, set[Row]]) -> bytes:
    """Print one line a digest, so that a review shows what an entry added."""
    lines = (
        f"  {json.dumps(digest)}: {json.dumps([row._asdict() for row in sorted(found)])}"
        for digest, found in rows.items()
    )
    head = f'{{\n "schema": {json.dumps(_SCHEMA)},\n "rows": {{\n'
    return (head + ",\n".join(lines) + "\n }\n}\n").encode()


def _layout(data: bytes) -> tuple[int, tuple[HelperTokens, ...]]:
    table = Table.json(data, what=LAYOUT, remedy=RESIGN)
    table.text("schema", choices=[_SCHEMA])
    digits = table.integer("digits", most=8)
    helpers = []
    for below in table.tables("helpers"):
        tokens = HelperTokens(
            lineage=below.text("lineage"),
            marker_prefix=below.text("marker_prefix").encode(),
            owned_names=below.texts("owned_names"),
            first_lines=tuple(line.encode() for line in below.texts("first_lines")),
        )
        below.close()
        helpers.append(tokens)
    table.done()
    return digits, tuple(helpers)


def _rows(document: Any, path: str, digest: str) -> tuple[Row, ...]:
    """Read the rows of one digest; all others are signed too, and not looked at."""
    table = Table(document, what=path, remedy=RESIGN)
    table.text("schema", choices=[_SCHEMA])
    rows = []
    for below in table.table("rows").tables(digest):
        rows.append(Row(*(below.text(key) for key in Row._fields)))
        below.close()
    table.done()
    return tuple(rows)


def _malformed(path: str, error: MalformedError) -> Refused:
    finding = problem("registry-entry-malformed", f"targets/{path}", error.message, remedy=RESIGN)
    return Refused(findings=(finding,))
