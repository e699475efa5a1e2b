"""helper/v1: the published versions of one code fragment, and the sites that call it.

A lineage names a *host* file into which an installer writes the fragment. It holds no foreign
text but single locating lines (law 6): positions, lengths and digests are enough, because a
version is recognised by the bytes that must be there and a site is undone by deleting the byte
ranges that were inserted. FORMATS §2 is the source of every field and invariant.
"""

import re
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from verifier.core.digest import Pin
from verifier.core.printable import quoted
from verifier.core.table import Table
from verifier.core.value import frozen

T = TypeVar("T")

SCHEMA: Final = "helper/v1"
#: The only conventions for where a span begins and ends that this version understands.
SPANS: Final = ("raw/v1", "stripped/v1")

_NAME: Final = "[a-z0-9][a-z0-9._-]*"
_IDENTIFIER: Final = "[A-Za-z_][A-Za-z0-9_]*"
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


class Status(StrEnum):
    """What the registry says of a version."""

    SUPPORTED = "supported"
    AUTHENTIC = "authentic"
    UNATTESTED = "unattested"
    REVOKED = "revoked"


class Inserted(NamedTuple):
    """One byte range of a site's `new` block that its `old` block does not have."""

    offset: int
    pin: Pin

    @property
    def end(self) -> int:
        """The offset right after the range."""
        return self.offset + (self.pin.length or 0)


@frozen
class Site:
    """A call site: a block `new` that becomes `old` when `inserted` is deleted.

    `within` is the qualified name of the function that must hold it, where known;
    `decorated` says that the pinned host itself decorates that function or class.
    """

    name: str
    new: Pin
    old: Pin
    inserted: tuple[Inserted, ...]
    marker_offsets: tuple[int, ...] = ()
    within: str | None = None
    decorated: bool = False

    def without(self, block: bytes) -> bytes:
        """Delete the inserted ranges from a `new` block."""
        kept, end = [], 0
        for part in self.inserted:
            kept.append(block[end : part.offset])
            end = part.end
        return b"".join([*kept, block[end:]])


@frozen
class EndAnchor:
    """Bytes that may follow a helper, under the name that reports use."""

    name: str
    text: bytes


@frozen
class Base:
    """A whole host without the helper. Its pin may lack a length that nobody published."""

    name: str
    pin: Pin


@frozen
class Producer:
    """Where a version's text was published. A `commit_prefix` is recorded and never matches."""

    repository: str
    path: str
    symbol: str
    method: str
    commit: str | None = None
    commit_prefix: str | None = None


@frozen
class Published:
    """What is known of a version that has a body."""

    begin: bytes
    """First line (without LF) or begin sentinel: where the span is found."""
    begin_offset: int
    """Bytes of the span before `begin`."""
    end: bytes | None
    """End sentinel, where the span is not found by its length and an end anchor."""
    pin: Pin
    marker_offsets: tuple[int, ...]
    binds: tuple[str, ...]
    required_imports: tuple[str, ...]
    reads_module: tuple[str, ...]
    reads_builtins: tuple[str, ...]
    sites: str
    other_spans: tuple[tuple[str, Pin], ...]
    whole_files: tuple[tuple[str, Pin], ...]
    producers: tuple[Producer, ...]


@frozen
class Version:
    """One version. `body` is None exactly when the status is unattested."""

    id: str
    aliases: tuple[str, ...]
    status: Status
    marker: bytes
    reason: str
    body: Published | None


class PinRow(NamedTuple):
    """One pin of an entry: its row (a path inside the entry), kind, pin, and what it is of."""

    row: str
    kind: str
    pin: Pin
    what: str


@frozen
class Lineage:
    """A parsed helper/v1 entry; every invariant of FORMATS §2 that needs no text holds."""

    name: str
    project: str
    host: str
    marker_prefix: bytes
    current: str
    owned_names: tuple[str, ...]
    end_anchors: tuple[EndAnchor, ...]
    import_site: Site | None
    bases: tuple[Base, ...]
    versions: tuple[Version, ...]
    sites: dict[str, tuple[Site, ...]]

    @property
    def published(self) -> Iterator[tuple[Version, Published]]:
        """The versions that have a body, in the order of the entry."""
        return ((v, v.body) for v in self.versions if v.body is not None)

    def version(self, name: str) -> Version | None:
        """Find a version by its id or one of its aliases."""
        return next((v for v in self.versions if name == v.id or name in v.aliases), None)

    def first_lines(self) -> tuple[bytes, ...]:
        """Every way in which a published span begins, each once."""
        return tuple(dict.fromkeys(body.begin for _, body in self.published))

    def pins(self) -> Iterator[PinRow]:
        """Every pin of the entry; the look-up index is made of nothing else."""
        for base in self.bases:
            yield PinRow(f"base/{base.name}", "file", base.pin, f"the base {base.name}")
        for version, body in self.published:
            at = f"version/{version.id}"
            yield PinRow(f"{at}/span", "region", body.pin, f"the helper {version.id}")
            for span, pin in body.other_spans:
                what = f"{version.id} under another convention ({span})"
                yield PinRow(f"{at}/other/{span}", "region", pin, what)
            for base_name, pin in body.whole_files:
                what = f"{version.id} installed on {base_name}"
                yield PinRow(f"{at}/whole/{base_name}", "file", pin, what)
        for generation, sites in self.sites.items():
            for site in sites:
                at, what = f"site/{generation}/{site.name}", f"{generation} site {site.name}"
                yield PinRow(f"{at}/new", "region", site.new, f"{what}, as installed")
                yield PinRow(f"{at}/old", "region", site.old, f"{what}, its context before")


def parse(data: bytes, where: str) -> Lineage:
    """Read an entry. Raises `MalformedError` naming every mistake by its path."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    table.text("language", choices=["python"])
    prefix = table.text("marker_prefix", pattern=r"# \[[^\]\n]+")
    sites = table.table("sites")
    lineage = Lineage(
        name=table.text("name", pattern=_NAME),
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
            _closed(t, Base(name=t.text("name", pattern=_NAME), pin=t.pin(length_required=False)))
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
            id=table.text("id", pattern=_NAME),
            aliases=table.texts("aliases", default=()) if published else (),
            status=status,
            marker=table.text("marker", pattern=re.escape(prefix) + r"[^\]\n]*\]").encode(),
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
        first_line = table.text("first_line", pattern=r"[^\n]+")
        return first_line.encode(), table.integer("first_line_offset"), None
    begin, end = (sentinels.text(k, pattern=r"(?s)[^\n].*\n") for k in ("begin", "end"))
    return _closed(sentinels, (begin.encode(), 0, end.encode()))


def _producer(table: Table) -> Producer:
    method = table.text("method", choices=["literal", "slice", "computed"])
    if method == "slice":
        _slice(table.table("slice"))
    producer = Producer(
        repository=table.text("repository"),
        path=table.text("path"),
        symbol=table.text("symbol"),
        method=method,
        commit=table.optional_text("commit", pattern="[0-9a-f]{40}|[0-9a-f]{64}"),
        commit_prefix=table.optional_text("commit_prefix", pattern="[0-9a-f]{7,63}"),
    )
    if (producer.commit is None) == (producer.commit_prefix is None):
        table.mistake("commit", "give either commit or commit_prefix")
    return _closed(table, producer)


def _slice(table: Table) -> None:
    table.integer("start")
    table.integer("end")
    for pair in table.tables("substitute"):
        _closed(pair, (pair.text("old"), pair.text("new")))
    table.close()


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
