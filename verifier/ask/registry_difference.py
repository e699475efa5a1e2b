"""What another registry vouches for that this one does not, and the other way round."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from verifier.catalog.entries import composition_format
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.index import Row
from verifier.catalog.kinds import KINDS, hints, parse
from verifier.catalog.open import Catalog, Refused, open_registry
from verifier.catalog.tuf.files import RegistryFiles
from verifier.checks.vouches import Change, Entry, compare
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding, Where
from verifier.core.limits import METADATA_BYTES
from verifier.core.outcome import Outcome, Report, Subject
from verifier.core.printable import printable
from verifier.core.strict import read_toml
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.core.verdict import Exit
from verifier.policy import judge
from verifier.sources import file, shipped

_DEMANDED: Final = frozenset({"vouches"})
_CODES: Final = {"gained": "vouch-gained", "lost": "vouch-lost", "changed": "vouch-changed"}
_LENGTH: Final = 3


@frozen
class Difference:
    """The report on two registries, and every sentence of it."""

    report: Report
    changes: tuple[Change, ...]

    @property
    def exit(self) -> Exit:
        """0 if both vouch for the same, 1 if not, 3 where that is not known."""
        return self.report.exit


def diff_registry(one: str, other: str, *, root: str | None = None, now: datetime) -> Difference:
    """Compare two registry folders.

    Each is authenticated with `root`, or the embedded root; where one is not, it is compared as
    it lies there, and the report says so. Raises `WrongCallError` for what is no folder,
    `MalformedError` for an entry that does not parse.
    """
    sides, findings = [], []
    for name in (one, other):
        entries, refused = _side(name, root, now)
        sides.append(entries)
        findings += [_of_side(name, finding) for finding in refused]
    changes = compare(*sides)
    findings += [_finding(state, changes) for state in _CODES if _of(state, changes)]
    something = any(sides)
    detail = f"{sum(len(e.rows) for e in sides[1]):,} artifacts in {len(sides[1]):,} entries"
    held = State.HELD if something and not changes else State.NOT_HELD
    outcome = Outcome(
        kind="vouches",
        identified=(),
        findings=tuple(findings),
        coverage=(Covered(facet="vouches", state=held, detail=detail if not changes else ""),),
        not_proven=("that what is vouched for was published: pinproof audit registry looks",),
    )
    subject = Subject(name=f"{printable(one)} and {printable(other)}")
    result = judge(outcome, subject=subject, demanded=_DEMANDED, now=now)
    report = Report.alone(result, print_time(now))
    return Difference(report=report, changes=changes)


def _of(state: str, changes: tuple[Change, ...]) -> list[Change]:
    return [change for change in changes if change.state == state]


def _finding(state: str, changes: tuple[Change, ...]) -> Finding:
    found = _of(state, changes)
    return Finding(
        code=_CODES[state],
        expected="the same in both registries",
        got=f"{len(found):,}: {found[0].sentence}" + (", …" if len(found) > 1 else ""),
        remedy="read each sentence; an artifact that is vouched for is accepted by every user of "
        "the registry",
    )


def _of_side(name: str, finding: Finding) -> Finding:
    return Finding(
        code="vouch-unauthenticated",
        where=Where(path=printable(name)),
        expected=f"{printable(name)} authenticated",
        got=f"{finding.code}: {finding.got or finding.row.title}",
        cause="it was compared as it lies there",
        remedy="name its root: --root FILE; a registry that is being edited is signed later",
    )


def _side(name: str, root: str | None, now: datetime) -> tuple[list[Entry], tuple[Finding, ...]]:
    """Read one registry: what was signed if it authenticates, else what lies there."""
    folder = Path(name)
    if not folder.is_dir():
        raise WrongCallError(
            f"{printable(name)} is no folder",
            code="wrong-call",
            remedy="name two folders that hold metadata/ and targets/",
        )
    given = None if root is None else file.read(root, limit=METADATA_BYTES).data
    catalog = open_registry(
        RegistryFiles(folder),
        root=given,
        trusted_root=b"" if given else shipped.read("registry", "metadata/1.root.json"),
        now=now,
        floor=None,
        min_snapshot=0,
        origin="folder",
        sealed=None,
    )
    if isinstance(catalog, Refused):
        return list(_lying(folder)), catalog.findings[:1]
    broken = catalog.check_all()
    return (list(_lying(folder)), broken[:1]) if broken else (list(_signed(catalog)), ())


def _signed(catalog: Catalog) -> Iterator[Entry]:
    for kind in KINDS:
        for name in catalog.names(kind):
            data, entry = catalog.entry_bytes(kind, name), catalog.entry(kind, name)
            if isinstance(data, bytes) and not isinstance(entry, Refused):
                yield _entry(kind, name, entry, data)


def _lying(folder: Path) -> Iterator[Entry]:
    store = RegistryFiles(folder)
    for path in sorted(store.listing().files):
        parts = path.removeprefix("targets/").split("/")
        if len(parts) != _LENGTH or parts[1] not in KINDS or not parts[2].endswith(".toml"):
            continue
        data = store.read(path)
        if isinstance(data, bytes):
            yield _entry(parts[1], parts[2].removesuffix(".toml"), _parsed(store, path, data), data)


def _parsed(store: RegistryFiles, path: str, data: bytes) -> Any:
    kind = path.split("/")[2]
    entry = parse(kind, data, path)
    if kind != "composition" or entry.files_table is None:
        return entry
    beside = store.read(path.removesuffix(".toml") + ".files.json")
    if not isinstance(beside, bytes):
        raise MalformedError(path, ["its table of files is missing"], remedy="restore it")
    return composition_format.with_table(entry, beside, path)


def _entry(kind: str, name: str, value: Any, data: bytes) -> Entry:
    rows = tuple(hints(kind, value))
    if isinstance(value, Lineage):
        rows = tuple((p.pin.sha256, Row(p.kind, kind, value.name, p.row)) for p in value.pins())
    return Entry(kind=kind, name=name, value=value, tables=read_toml(data), rows=rows)
