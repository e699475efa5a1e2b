"""helper/v1: the published versions of one code fragment, and the sites that call it.

A lineage names a *host* file into which an installer writes the fragment. It holds no foreign
text but single locating lines (law 6): positions, lengths and digests are enough, because a
version is recognised by the bytes that must be there and a site is undone by deleting the byte
ranges that were inserted. FORMATS §2 is the source of every field; `helper_format` reads them.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from verifier.core.digest import Pin
from verifier.core.value import frozen


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

    def filled(self, context: bytes, parts: Sequence[bytes]) -> bytes:
        """Write the inserted ranges into an `old` block: the inverse of `without`."""
        made, taken, at = [], 0, 0
        for part, text in zip(self.inserted, parts, strict=True):
            kept = context[taken : taken + part.offset - at]
            made += [kept, text]
            taken, at = taken + len(kept), part.end
        return b"".join([*made, context[taken:]])


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


class Slice(NamedTuple):
    """Bytes `start` to `end` of a published file, with texts of it substituted in this order."""

    start: int
    end: int
    substitute: tuple[tuple[bytes, bytes], ...]

    def of(self, data: bytes) -> bytes:
        """Cut the range out of a file and substitute."""
        cut = data[self.start : self.end]
        for old, new in self.substitute:
            cut = cut.replace(old, new)
        return cut


@frozen
class Producer:
    """Where a version's text was published. A `commit_prefix` is recorded and never matches.

    `slice` is given exactly where `method` says so.
    """

    repository: str
    path: str
    symbol: str
    method: str
    commit: str | None = None
    commit_prefix: str | None = None
    slice: Slice | None = None


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
