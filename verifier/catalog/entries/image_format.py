"""Reading image/v1: TOML to an `ImageEntry`, every mistake by its path."""

import re
from collections.abc import Iterator
from typing import Final

from verifier.catalog.entries.image import KINDS, Contained, ImageDigest, ImageEntry
from verifier.core.digest import Pin
from verifier.core.table import Table

SCHEMA: Final = "image/v1"
NAME: Final = "[a-z0-9][a-z0-9._-]*"
PLAIN: Final = "a-z, 0-9, dot, dash, underscore"
PLATFORM: Final = re.compile("[a-z0-9._-]+/[a-z0-9._-]+(?:/[a-z0-9._-]+)?")
_ID: Final = "[0-9a-f]{40}|[0-9a-f]{64}"
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


def parse(data: bytes, where: str) -> ImageEntry:
    """Read an entry. Raises `MalformedError` naming every mistake."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    entry = ImageEntry(
        name=table.text("name", pattern=NAME, form=PLAIN),
        project=table.text("project"),
        repository=table.optional_text("repository"),
        platform=_platform(table),
        digests=tuple(map(_digest, table.tables("digest"))),
        contains=tuple(map(_contained, table.tables("contains"))),
        compositions=table.texts("compositions", default=()),
    )
    if not entry.digests:
        table.mistake("digest", "missing: an image has at least one")
    if table.sound:
        _check(table, entry)
    table.done()
    return entry


def _platform(table: Table) -> str | None:
    return table.optional_text("platform", pattern=PLATFORM.pattern, form="os/arch[/variant]")


def _digest(table: Table) -> ImageDigest:
    size = table.integer("size", least=1) if table.has("size") else None
    digest = ImageDigest(
        kind=table.text("kind", choices=KINDS),
        pin=Pin(sha256=table.sha256("sha256"), length=size),
    )
    table.close()
    return digest


def _contained(table: Table) -> Contained:
    contained = Contained(
        component=table.text("component", pattern=NAME, form=PLAIN),
        commit=table.text("commit", pattern=_ID, form="40 or 64 lower-case hex digits"),
    )
    table.close()
    return contained


def _check(table: Table, entry: ImageEntry) -> None:
    """Note what contradicts itself: one digest of two kinds or sizes, two images in one entry."""
    if len(entry.of("index")) > 1:
        table.mistake("digest", "two of kind index: they are two images")
    if entry.platform and len(entry.of("config")) > 1:
        table.mistake("digest", "two of kind config for one platform: they are two images")
    for wrong in dict.fromkeys(_contradictions(entry.digests)):
        table.mistake("digest", wrong)
    names = [each.component for each in entry.contains]
    for name in sorted({name for name in names if names.count(name) > 1}):
        table.mistake("contains", f"{name} is given twice")


def _contradictions(digests: tuple[ImageDigest, ...]) -> Iterator[str]:
    for digest in digests:
        same = [other for other in digests if other.pin.sha256 == digest.pin.sha256]
        kinds = {other.kind for other in same}
        lengths = {other.pin.length for other in same} - {None}
        if len(lengths) > 1:
            yield f"{digest.pin.sha256} is given with two sizes"
        # A layer that is stored plain has one digest as layer and as diff-id; layers may repeat.
        if kinds <= {"layer", "diff-id"}:
            continue
        if len(kinds) > 1:
            yield f"{digest.pin.sha256} is given as {' and '.join(sorted(kinds))}"
        elif len(same) > 1:
            yield f"{digest.kind} {digest.pin.sha256} is given twice"
