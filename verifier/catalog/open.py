"""Opening a registry: `Catalog` where it authenticates, `Refused` where it does not.

Opening reads the metadata and the list of files, and decides what may be believed. The entries
are read when they are asked for, and compared with what was signed before they are parsed; so
a run pays for the entries that it uses. `check_all` reads everything.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.floor import Floor
from verifier.catalog.index import Index, build
from verifier.catalog.kinds import KINDS, hints, parse
from verifier.catalog.refused import Refused
from verifier.catalog.tuf.files import Store
from verifier.catalog.tuf.problems import RESIGN, RESTORE, mismatch, missing, problem
from verifier.catalog.tuf.values import Trusted
from verifier.core.clock import print_time
from verifier.core.finding import Finding, in_order
from verifier.core.outcome import RegistryFacts
from verifier.core.printable import quoted
from verifier.core.strict import read_toml
from verifier.core.table import MalformedError, Table, nearest

if TYPE_CHECKING:
    from verifier.catalog.entries.composition import Composition
    from verifier.catalog.entries.image import ImageEntry
    from verifier.catalog.entries.release import ReleaseEntry
    from verifier.catalog.entries.runtime import RuntimeEntry
    from verifier.catalog.entries.signers import Signer, SignersEntry

__all__ = ["Catalog", "Refused", "open_registry"]

_LINES: Final = "lines"
_PREFIX: Final = re.compile("[0-9a-f]{16}")
_COMPOSITION: Final = "composition"
#: The ends of the names of targets that are no entry themselves, but belong to one.
_FILES: Final = ".files.json"


def open_registry(
    store: Store,
    *,
    root: bytes | None,
    trusted_root: bytes,
    now: datetime,
    floor: Floor | None,
    min_snapshot: int,
    origin: str,
    sealed: str | None,
) -> "Catalog | Refused":
    """Authenticate the registry that `store` holds, at the effective time `now`.

    `root` is the root that the caller named, if any. Without one, the registry has to start
    with `trusted_root`, the root that came with pinproof.
    """
    # tuf costs more to import than all the rest of a run; verbs without a registry do not pay.
    from verifier.catalog.tuf.trusted import Anchor, authenticate  # noqa: PLC0415

    anchor = Anchor(root=trusted_root if root is None else root, first=root is None)
    least = (floor or Floor()).raised(min_snapshot)
    trusted = authenticate(store.read, store.listing(), anchor=anchor, now=now, floor=least)
    if not isinstance(trusted, Trusted):
        return Refused(findings=in_order(trusted))
    facts = RegistryFacts(
        origin=origin,
        root_sha256=trusted.root_sha256,
        root_version=trusted.root_version,
        snapshot_version=trusted.snapshot_version,
        snapshot_sha256=trusted.snapshot_sha256,
        expires=print_time(trusted.expires),
        signed_by=trusted.signed_by,
        floor=str(least) or None,
        sealed=sealed,
    )

    def target(path: str) -> bytes | Refused:
        """Read one target and compare the very bytes that are then parsed (step 8)."""
        name = f"targets/{path}"
        signed = trusted.targets.get(path)
        if signed is None:
            return Refused(findings=(missing(name, cause="nothing signed lists it"),))
        data = store.read(name)
        if isinstance(data, Finding):
            return Refused(findings=(data,))
        others = (other.pin for other in trusted.targets.values())
        wrong = mismatch(data, signed.pin, name, others)
        return Refused(findings=(wrong,)) if wrong else data

    return Catalog(trusted, facts, target)


class Catalog:
    """An authenticated registry. Entries are read, compared and parsed once, when asked for."""

    def __init__(
        self,
        trusted: Trusted,
        facts: RegistryFacts,
        target: Callable[[str], bytes | Refused],
    ) -> None:
        """Keep what authenticated; `target` returns the bytes that were signed for a path."""
        self.facts = facts
        self.floor = Floor.of(trusted)
        self.roles = trusted.held
        self._targets = trusted.targets
        self._target = target
        self._read: dict[tuple[str, str], Any] = {}

    def names(self, kind: str) -> tuple[str, ...]:
        """List the entries of a kind, over all projects."""
        return tuple(sorted(self._entries.get(kind, {})))

    def entry_bytes(self, kind: str, name: str) -> bytes | Refused:
        """Return the signed bytes of an entry."""
        paths = self._entries.get(kind, {}).get(name, [])
        if not paths:
            near = nearest(name, self.names(kind))
            return _refused(
                "entry-unknown",
                f"{kind} {quoted(name)}",
                "no such entry",
                remedy=f"did you mean {near}?" if near else "see pinproof list",
            )
        if len(paths) > 1:
            return _refused(
                "registry-name-repeated",
                f"targets/{paths[0]}",
                f"also {', '.join(paths[1:])}",
                cause=f"two projects give one {kind} this name",
                remedy="use a registry in which one of them was renamed",
            )
        return self._target(paths[0])

    def helper(self, name: str) -> Lineage | Refused:
        """Return a helper lineage."""
        entry: Lineage | Refused = self.entry("helper", name)
        return entry

    def composition(self, name: str) -> "Composition | Refused":
        """Return a composition, with the rows of its files table if it has one."""
        entry: Composition | Refused = self.entry(_COMPOSITION, name)
        return entry

    def image(self, name: str) -> "ImageEntry | Refused":
        """Return an image."""
        entry: ImageEntry | Refused = self.entry("image", name)
        return entry

    def runtime(self, name: str) -> "RuntimeEntry | Refused":
        """Return a runtime."""
        entry: RuntimeEntry | Refused = self.entry("runtime", name)
        return entry

    def release(self, name: str) -> "ReleaseEntry | Refused":
        """Return a release."""
        entry: ReleaseEntry | Refused = self.entry("release", name)
        return entry

    def signers(self, name: str) -> "SignersEntry | Refused":
        """Return an entry of signers."""
        entry: SignersEntry | Refused = self.entry("signers", name)
        return entry

    def signer(self, name: str) -> "Signer | Refused":
        """Return the one row of all signers that `NAME` or `ENTRY/NAME` means."""
        from verifier.catalog import signer_names  # noqa: PLC0415  (as above)

        return signer_names.find(name, self.names("signers"), self.signers)

    def lines(self, lineage: str) -> Mapping[str, tuple[str, ...]] | Refused | None:
        """Return the digests of line prefixes of every version, None if there are none."""
        if lineage not in self._entries.get(_LINES, {}):
            return None
        data = self.entry_bytes(_LINES, lineage)
        if isinstance(data, Refused):
            return data
        try:
            return _prefixes(data, lineage)
        except MalformedError as error:
            return _malformed(self._where(_LINES, lineage), error.message)

    @cached_property
    def index(self) -> Index | Refused:
        """The look-up index; what it says is a hint."""
        return Index.open(self._target, self._targets.keys())

    def check_all(self) -> tuple[Finding, ...]:
        """Read every target, parse every entry, and make the index again."""
        answers: list[object] = [self._target(path) for path in self._targets]
        for kind, names in self._entries.items():
            answers += [self._checked(kind, name) for name in names]
        findings = [f for a in answers if isinstance(a, Refused) for f in a.findings]
        if not findings:
            from verifier.catalog import signer_names  # noqa: PLC0415  (as above)

            findings += [*self._check_index(), *self._check_tables()]
            findings += signer_names.repeated(self.names("signers"), self.signers)
        return in_order(findings)

    def entry(self, kind: str, name: str) -> Any:
        """Return an entry of one of `KINDS`, read once; or why it is refused."""
        key = kind, name
        if key not in self._read:
            entry = self._parsed(kind, name)
            if kind == _COMPOSITION and not isinstance(entry, Refused) and entry.files_table:
                entry = self._with_table(entry)
            self._read[key] = entry
        return self._read[key]

    def _checked(self, kind: str, name: str) -> object:
        """Read a target of any kind, known or newer."""
        if kind in KINDS:
            return self.entry(kind, name)
        if kind == _LINES:
            return self._checked_lines(name)
        data = self.entry_bytes(kind, name)
        return data if isinstance(data, Refused) else _newer(self._where(kind, name), kind)

    def _sound(self, kind: str) -> list[Any]:
        """Return the entries of a kind that were read and are sound."""
        read = (entry for (of, _), entry in self._read.items() if of == kind)
        return [entry for entry in read if not isinstance(entry, Refused)]

    def _checked_lines(self, lineage: str) -> object:
        """Read the lines of a lineage, which may only be of versions that it published."""
        lines, entry = self.lines(lineage), self.helper(lineage)
        if not isinstance(lines, Mapping) or not isinstance(entry, Lineage):
            return lines if isinstance(lines, Refused) else entry
        strange = sorted(lines.keys() - {version.id for version, _ in entry.published})
        if not strange:
            return lines
        message = f"{lineage} published no {', '.join(strange)}"
        return _malformed(self._where(_LINES, lineage), message)

    def _parsed(self, kind: str, name: str) -> Any:
        data = self.entry_bytes(kind, name)
        if isinstance(data, Refused):
            return data
        where = self._where(kind, name)
        try:
            entry = parse(kind, data, where)
        except MalformedError as error:
            schema = _schema(data)
            # A schema of the same kind that is not the one read here: a newer one.
            newer = re.fullmatch(rf"{kind}/v[1-9][0-9]*", schema) and schema != f"{kind}/v1"
            return _newer(where, schema) if newer else _malformed(where, error.message)
        if entry.name != name:
            return _malformed(where, f"name is {entry.name}, the file's name {name}")
        return entry

    def _with_table(self, entry: "Composition") -> "Composition | Refused":
        """Read the files table beside an entry, which is signed as the entry is."""
        from verifier.catalog.entries import composition_format  # noqa: PLC0415

        where = self._where(_COMPOSITION, entry.name).removesuffix(".toml") + _FILES
        data = self._target(where.removeprefix("targets/"))
        if isinstance(data, Refused):
            return data
        try:
            return composition_format.with_table(entry, data, where)
        except MalformedError as error:
            return _malformed(where, error.message)

    def _check_tables(self) -> list[Finding]:
        """Name the files tables that no entry has."""
        named = {
            self._where(_COMPOSITION, entry.name).removesuffix(".toml") + _FILES
            for entry in self._sound(_COMPOSITION)
            if entry.files_table
        }
        found = {f"targets/{path}" for path in self._targets if path.endswith(_FILES)}
        return [
            problem("registry-entry-malformed", path, "no entry names this table")
            for path in sorted(found - named)
        ]

    def _check_index(self) -> list[Finding]:
        """Compare the index with one made from the entries, byte for byte."""
        rows = [row for kind in KINDS for entry in self._sound(kind) for row in hints(kind, entry)]
        made = build(self._sound("helper"), rows)
        listed = {path for path in self._targets if path.startswith("index/")}
        return [
            problem(
                "registry-index-wrong",
                f"targets/{path}",
                "other rows" if path in made and path in listed else "a file too many or too few",
                expected="what the entries say",
                cause="an entry was signed after the index, or the index is another registry's",
                remedy=RESIGN,
            )
            for path in sorted(made.keys() | listed)
            if path not in made or path not in listed or self._target(path) != made[path]
        ]

    @cached_property
    def _entries(self) -> dict[str, dict[str, list[str]]]:
        """Kind, then name, then the paths of all entries of that name."""
        entries: dict[str, dict[str, list[str]]] = {}
        for path in sorted(self._targets):
            _, *rest = path.split("/")
            if len(rest) != 2:  # noqa: PLR2004  (the index lies one folder higher)
                continue
            kind, file = rest
            suffix = ".json" if kind == _LINES else ".toml"
            if file.endswith(suffix):
                entries.setdefault(kind, {}).setdefault(file.removesuffix(suffix), []).append(path)
        return entries

    def _where(self, kind: str, name: str) -> str:
        return f"targets/{self._entries[kind][name][0]}"


def _prefixes(data: bytes, lineage: str) -> dict[str, tuple[str, ...]]:
    table = Table.json(data, what=f"lines of {lineage}", remedy=RESTORE)
    table.text("schema", choices=["lines/v1"])
    table.text("lineage", choices=[lineage])
    below = table.table("prefixes")
    prefixes = {version: below.texts(version) for version in below.keys()}  # noqa: SIM118
    for version, digests in prefixes.items():
        if not all(map(_PREFIX.fullmatch, digests)):
            below.mistake(version, "is no list of 16 lower-case hex digits each")
    table.done()
    return prefixes


def _schema(data: bytes) -> str:
    try:
        schema = read_toml(data).get("schema")
    except ValueError:
        return ""
    return schema if isinstance(schema, str) else ""


def _newer(where: str, schema: str) -> Refused:
    return _refused(
        "entry-newer",
        where,
        schema,
        cause="this version of pinproof does not know the format",
        remedy="install a newer pinproof",
    )


def _malformed(where: str, message: str) -> Refused:
    return _refused("registry-entry-malformed", where, message, remedy=RESTORE)


def _refused(code: str, path: str, got: str, *, remedy: str, cause: str | None = None) -> Refused:
    return Refused(findings=(problem(code, path, got, cause=cause, remedy=remedy),))
