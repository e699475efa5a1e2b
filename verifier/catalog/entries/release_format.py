"""Reading release/v1: TOML to a `ReleaseEntry`, every mistake by its path; its look-up rows."""

from collections.abc import Iterator
from typing import Final

from verifier.catalog.entries.image_format import NAME, PLAIN
from verifier.catalog.entries.release import FORMATS, ReleaseEntry, ReleaseTarget, Staging
from verifier.catalog.index import Row
from verifier.core.digest import Pin
from verifier.core.table import Table

SCHEMA: Final = "release/v1"
TRIPLE: Final = "[a-z0-9_]+(?:-[a-z0-9_.]+){1,3}"
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


def parse(data: bytes, where: str) -> ReleaseEntry:
    """Read an entry. Raises `MalformedError` naming every mistake."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    entry = ReleaseEntry(
        name=table.text("name", pattern=NAME, form=PLAIN),
        project=table.text("project"),
        version=table.text("version", pattern=NAME, form=PLAIN),
        tag=table.text("tag"),
        source_commit=table.text(
            "source_commit",
            pattern="[0-9a-f]{40}|[0-9a-f]{64}",
            form="40 or 64 lower-case hex digits",
        ),
        format=table.text("format", choices=FORMATS),
        targets=tuple(map(_target, table.tables("target"))),
        staging=tuple(map(_staging, table.tables("staging"))),
    )
    if not entry.name.endswith(f"-{entry.version}"):
        table.mistake("name", f"does not end in its version, -{entry.version}")
    triples = [target.triple for target in entry.targets]
    for triple in sorted({triple for triple in triples if triples.count(triple) > 1}):
        table.mistake("target", f"{triple} is given twice")
    published = {t.archive.sha256 for t in entry.targets if t.archive}
    for each in entry.staging:
        if each.sha256 in published:
            table.mistake("staging", f"{each.sha256[:12]} is also published")
    table.done()
    return entry


def _target(table: Table) -> ReleaseTarget:
    target = ReleaseTarget(
        triple=table.text("triple", pattern=TRIPLE, form="a target triple"),
        archive=_pin(table, "archive"),
        checksum=_pin(table, "checksum"),
        receipt=_pin(table, "receipt"),
    )
    table.close()
    return target


def _pin(table: Table, key: str) -> Pin | None:
    return table.pin(key, length_required=False) if table.has(key) else None


def _staging(table: Table) -> Staging:
    staging = Staging(sha256=table.sha256("sha256"), reason=table.text("reason"))
    table.close()
    return staging


def hints(entry: ReleaseEntry) -> Iterator[tuple[str, Row]]:
    """Return what the look-up index holds of a release."""
    for target in entry.targets:
        for what, pin in (
            ("archive", target.archive),
            ("checksum", target.checksum),
            ("receipt", target.receipt),
        ):
            if pin is not None:
                kind = "archive" if what == "archive" else "file"
                yield pin.sha256, Row(kind, "release", entry.name, f"{target.triple}/{what}")
    for number, each in enumerate(entry.staging):
        yield each.sha256, Row("archive", "release", entry.name, f"staging/{number}")
    yield entry.source_commit, Row("git-commit", "release", entry.name, "source_commit")
