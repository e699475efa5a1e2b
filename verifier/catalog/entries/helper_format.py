"""Reading helper/v1: TOML to a `Lineage`, every mistake by its path, every invariant checked.

FORMATS §2 is the source of every key and invariant; what needs the published text to be checked
(that ranges are whole lines, that a context is unique) is left to whoever makes an entry.
"""

import re
from collections import Counter
from typing import Final, TypeVar

from verifier.catalog.entries.helper import (
    Base,
    EndAnchor,
    Inserted,
    Lineage,
    Producer,
    Published,
    Site,
    Slice,
    Status,
    Version,
)
from verifier.core.printable import quoted
from verifier.core.table import Table

T = TypeVar("T")

SCHEMA: Final = "helper/v1"
#: The only conventions for where a span begins and ends that this version understands.
SPANS: Final = ("raw/v1", "stripped/v1")

#: What `_NAME` allows, in words.
_PLAIN: Final = "a-z, 0-9, dot, dash, underscore"
_NAME: Final = "[a-z0-9][a-z0-9._-]*"
_IDENTIFIER: Final = "[A-Za-z_][A-Za-z0-9_]*"
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


def parse(data: bytes, where: str) -> Lineage:
    """Read an entry. Raises `MalformedError` naming every mistake by its path."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    table.text("language", choices=["python"])
    prefix = table.text("marker_prefix", pattern=r"# \[[^\]\n]+", form="# [tag")
    sites = table.table("sites")
    lineage = Lineage(
        name=table.text("name", pattern=_NAME, form=_PLAIN),
        project=table.text("project"),
        host=table.text("host"),
        marker_prefix=prefix.encode(),
        current=table.text("current"),
        owned_names=_identifiers(table, "owned_names"),
        end_anchors=tuple(
            _closed(t, EndAnchor(name=t.text("name"), text=t.text("text").encode()))
            for t in table.tables("end_anchor")
        ),
        import_site=_import_site(table.optional_table("import_site")),
        bases=tuple(
            _closed(
                t,
                Base(
                    name=t.text("name", pattern=_NAME, form=_PLAIN),
                    pin=t.pin(length_required=False),
                ),
            )
            for t in table.tables("base")
        ),
        versions=tuple(_version(t, prefix) for t in table.tables("version")),
        sites={key: tuple(map(_site, tables)) for key, tables in sites.lists().items()},
    )
    if table.sound:
        _check_invariants(table, lineage)
    table.done()
    return lineage


def _closed(table: Table, value: T) -> T:
    table.close()
    return value


def _identifiers(table: Table, key: str) -> tuple[str, ...]:
    names = table.texts(key)
    for name in names:
        if not re.fullmatch(_IDENTIFIER, name):
            table.mistake(key, f"{quoted(name)} is no ASCII identifier")
    return names


def _import_site(table: Table | None) -> Site | None:
    if table is None:
        return None
    site = Site(
        name="import", new=table.pin("new"), old=table.pin("old"), inserted=_inserted(table)
    )
    _check_site(table, site)
    return _closed(table, site)


def _site(table: Table) -> Site:
    site = Site(
        name=table.text("name", pattern=r"[A-Za-z0-9._-]+"),
        new=table.pin("new"),
        old=table.pin("old"),
        inserted=_inserted(table),
        marker_offsets=table.integers("marker_offsets", default=()),
        within=table.optional_text("within", pattern=rf"{_IDENTIFIER}(\.{_IDENTIFIER})*"),
        decorated=table.flag("decorated"),
    )
    _check_site(table, site)
    if not site.marker_offsets and site.within is None:
        table.mistake("within", "is required of a site without marker_offsets")
    if site.marker_offsets and not any(
        part.offset <= site.marker_offsets[0] < part.end for part in site.inserted
    ):
        table.mistake("marker_offsets", "the first is not inside an inserted range")
    return _closed(table, site)


def _inserted(table: Table) -> tuple[Inserted, ...]:
    return tuple(
        _closed(t, Inserted(t.integer("offset"), t.pin())) for t in table.tables("inserted")
    )


def _check_site(table: Table, site: Site) -> None:
    """Check that ranges are sorted, disjoint, inside `new`, and leave what is `old` long."""
    end = 0
    for part in site.inserted:
        if part.offset < end or not part.pin.length:
            table.mistake("inserted", "ranges are not sorted, disjoint and longer than 0")
        end = part.end
    added = sum(part.pin.length or 0 for part in site.inserted)
    if not site.inserted or end > (site.new.length or 0):
        table.mistake("inserted", "no range, or a range that ends behind new")
    elif (site.new.length or 0) - added != site.old.length:
        table.mistake("old.length", "is not new.length less all inserted lengths")


def _version(table: Table, prefix: str) -> Version:
    status = Status(table.text("status", choices=Status) or "unattested")
    published = status is not Status.UNATTESTED
    optional = "" if status in (Status.SUPPORTED, Status.AUTHENTIC) else None
    return _closed(
        table,
        Version(
            id=table.text("id", pattern=_NAME, form=_PLAIN),
            aliases=table.texts("aliases", default=()) if published else (),
            status=status,
            marker=table.text(
                "marker", pattern=re.escape(prefix) + r"[^\]\n]{0,64}\]", form=f"{prefix}…]"
            ).encode(),
            reason=table.text("reason", default=optional),
            body=_published(table) if published else None,
        ),
    )


def _published(table: Table) -> Published:
    begin, begin_offset, end = _span_ends(table)
    table.text("span", choices=SPANS[:1])
    reads = table.table("reads")
    body = Published(
        begin=begin,
        begin_offset=begin_offset,
        end=end,
        pin=table.pin(),
        marker_offsets=table.integers("marker_offsets", default=()),
        binds=_identifiers(table, "binds"),
        required_imports=_identifiers(table, "required_imports"),
        reads_module=_identifiers(reads, "module"),
        reads_builtins=_identifiers(reads, "builtins"),
        sites=table.text("sites"),
        other_spans=tuple(
            _closed(t, (t.text("span", choices=SPANS[1:]), t.pin()))
            for t in table.tables("other_spans")
        ),
        whole_files=tuple(
            _closed(t, (t.text("base"), t.pin(length_required=False)))
            for t in table.tables("whole_file")
        ),
        producers=tuple(map(_producer, table.tables("producer"))),
    )
    reads.close()
    if not set(body.required_imports) <= set(body.reads_module):
        table.mistake("required_imports", "names a module that reads.module does not")
    return body


def _span_ends(table: Table) -> tuple[bytes, int, bytes | None]:
    """Read `first_line` and its offset, or `sentinels`; a version has one of the two."""
    sentinels = table.optional_table("sentinels")
    if sentinels is None:
        first_line = table.text("first_line", pattern=r"[^\n]+", form="one line without LF")
        # raw/v1: a helper begins with the one LF before its first line (helpers.md §1.2)
        return first_line.encode(), table.integer("first_line_offset", least=1, most=1), None
    begin, end = (sentinels.text(k, pattern=r"(?s)[^\n].*\n") for k in ("begin", "end"))
    return _closed(sentinels, (begin.encode(), 0, end.encode()))


def _producer(table: Table) -> Producer:
    method = table.text("method", choices=["literal", "slice", "computed"])
    producer = Producer(
        repository=table.text("repository"),
        path=table.text("path"),
        symbol=table.text("symbol"),
        method=method,
        commit=table.optional_text(
            "commit", pattern="[0-9a-f]{40}|[0-9a-f]{64}", form="40 or 64 hex digits"
        ),
        commit_prefix=table.optional_text(
            "commit_prefix", pattern="[0-9a-f]{7,63}", form="7 to 63 hex digits"
        ),
        slice=_slice(table.table("slice")) if method == "slice" else None,
    )
    if (producer.commit is None) == (producer.commit_prefix is None):
        table.mistake("commit", "give either commit or commit_prefix")
    return _closed(table, producer)


def _slice(table: Table) -> Slice:
    made = Slice(
        start=table.integer("start"),
        end=table.integer("end"),
        substitute=tuple(
            _closed(pair, (pair.text("old").encode(), pair.text("new").encode()))
            for pair in table.tables("substitute")
        ),
    )
    if made.start >= made.end:
        table.mistake("end", "is not behind start")
    return _closed(table, made)


def _check_invariants(table: Table, lineage: Lineage) -> None:
    """Check what holds between the parts of an entry (FORMATS §2, after the sample)."""
    names = [name for v in lineage.versions for name in (v.id, *v.aliases)]
    for what, values in (
        ("version", names),
        ("base", [base.name for base in lineage.bases]),
        ("end_anchor", [anchor.name for anchor in lineage.end_anchors]),
        ("version", [body.pin.sha256 for _, body in lineage.published]),
    ):
        for value in _repeated(values):
            table.mistake(what, f"{value} is given twice")
    for generation, sites in lineage.sites.items():
        for name in _repeated([site.name for site in sites]):
            table.mistake(f"sites.{generation}", f"{name} is given twice")
        if _repeated([(site.new, site.old) for site in sites]):
            table.mistake(f"sites.{generation}", "two sites have the same pins")
    current = next((v for v in lineage.versions if v.id == lineage.current), None)
    if current is None or current.status is not Status.SUPPORTED:
        table.mistake("current", f"{lineage.current} is no supported version")
    if not lineage.end_anchors and any(body.end is None for _, body in lineage.published):
        table.mistake("end_anchor", "none, and a version without end sentinel")
    for version, body in lineage.published:
        _check_version(table, lineage, version, body)


def _check_version(table: Table, lineage: Lineage, version: Version, body: Published) -> None:
    at = f"version {version.id}"
    if not set(body.binds) <= set(lineage.owned_names) or not body.binds:
        table.mistake(at, "binds no owned name, or a name that is not owned")
    if body.sites not in lineage.sites:
        table.mistake(at, f"there is no sites.{body.sites}")
    if (length := body.pin.length or 0) < body.begin_offset + len(body.begin) or any(
        offset + len(version.marker) > length for offset in body.marker_offsets
    ):
        table.mistake(at, "is shorter than its first line or marker offsets say")
    bases = {base.name for base in lineage.bases}
    for base, _ in body.whole_files:
        if base not in bases:
            table.mistake(at, f"whole_file names the unknown base {base}")
    for other, its in lineage.published:
        if other.marker == version.marker and (its.begin, its.begin_offset, its.sites) != (
            body.begin,
            body.begin_offset,
            body.sites,
        ):
            table.mistake(at, f"shares its marker, but not first line and sites, with {other.id}")


def _repeated(values: list[T]) -> list[T]:
    return [value for value, count in Counter(values).items() if count > 1]
