"""Sealing a registry: sign it with keys that nobody has any longer (FORMATS §1).

The registry that ships with pinproof is authenticated by being shipped; its signatures tell
damage, not origin. So sealing makes a key a role, signs, and drops the keys with the process
that made them: there is nothing to keep secret, to rotate, or to lose. Every role expires ten
years on. What has been sealed changes by being sealed again, one version up.

The new registry is written beside the old one, opened with its own root and read whole; only
then its files take the places of the old ones. A run that is stopped in between leaves a
registry that does not authenticate; sealing again mends it.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from verifier.catalog.entries import composition_format
from verifier.catalog.entries.composition import Composition
from verifier.catalog.index import build
from verifier.catalog.kinds import KINDS, hints, parse
from verifier.catalog.open import Refused, open_registry
from verifier.catalog.tuf.files import Listing, RegistryFiles
from verifier.catalog.tuf.publish import RoleKeys, fresh_keys, projects_of, publish
from verifier.catalog.tuf.shape import RESERVED
from verifier.core.clock import print_time
from verifier.core.digest import sha256
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import MISTAKES_SHOWN
from verifier.core.value import frozen
from verifier.sources.scratch import scratch

#: How long a seal lasts: longer than any release is used.
YEARS: Final = 10

_ROOT: Final = "metadata/1.root.json"
_VERSION: Final = re.compile(rb'"version": ?([1-9][0-9]{0,14})\b')


@frozen
class Sealed:
    """What a seal made: the root to trust, the snapshot version, the expiry, the entries."""

    root_sha256: str
    snapshot_version: int
    expires: str
    entries: tuple[str, ...]


def seal(folder: Path, *, now: datetime, keys: RoleKeys | None = None) -> Sealed:
    """Sign the entries in `folder` anew, with an index made from them.

    `keys` is for tests; without them every role gets a key that is gone when this returns.
    Raises `WrongCallError`, and changes nothing, if the entries make no sound registry.
    """
    store = RegistryFiles(folder)
    listing = store.listing()
    _refuse(listing.findings)
    entries = entries_in(store, listing)
    if not entries:
        raise _wrong("there is no entry to sign")
    targets = {**entries, **index_of(entries)}
    signers = keys or fresh_keys(projects_of(entries))
    version = _last_version(store, listing) + 1
    expires = ten_years_after(now)
    metadata = publish(
        targets,
        keys=signers,
        versions={role: version for role in signers if role != "root"},
        expires=expires,
    )
    files = {**{f"targets/{path}": data for path, data in targets.items()}, **metadata}
    try:
        _replace(folder, files, listing, now)
    except OSError as error:
        raise UnavailableError(
            f"the registry {folder} cannot be written: {(error.strerror or '').lower()}",
            code="cannot-write",
            remedy="make the folder and the one above it writable, then seal again",
        ) from None
    return Sealed(
        root_sha256=sha256(metadata[_ROOT]),
        snapshot_version=version,
        expires=print_time(expires),
        entries=tuple(sorted(entries)),
    )


def ten_years_after(now: datetime) -> datetime:
    """Return the same day and time ten years on; for 29 February, the day before."""
    start = now.astimezone(UTC).replace(microsecond=0)
    try:
        return start.replace(year=start.year + YEARS)
    except ValueError:
        return start.replace(year=start.year + YEARS, day=28)


def entries_in(store: RegistryFiles, listing: Listing) -> dict[str, bytes]:
    """Read every target that people wrote; the index is made, not read.

    Raises `WrongCallError` for what does not belong into a registry.
    """
    entries: dict[str, bytes] = {}
    for path in sorted(listing.files):
        folder, *rest = path.split("/")
        if folder == "metadata" or rest[:1] == ["index"]:
            continue
        if folder != "targets" or len(rest) != 3 or rest[0] in RESERVED:  # noqa: PLR2004
            raise _wrong(f"{path}: does not belong into a registry")
        data = store.read(path)
        _refuse([data] if isinstance(data, Finding) else [])
        if isinstance(data, bytes):
            entries["/".join(rest)] = data
    return entries


def index_of(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Make the index of some entries. Raises `MalformedError` for the first that is not sound."""
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for path in filter(lambda path: path.endswith(".toml"), entries):
        kind = path.split("/")[1]
        if kind == "composition":
            found[kind].append(_composition(entries, path))
        elif kind in found:
            found[kind].append(parse(kind, entries[path], path))
    rows = [row for kind, of in found.items() for entry in of for row in hints(kind, entry)]
    return build(found["helper"], rows)


def _composition(entries: Mapping[str, bytes], path: str) -> Composition:
    entry = composition_format.parse(entries[path], path)
    if entry.files_table is None:
        return entry
    beside = path.removesuffix(".toml") + ".files.json"
    return composition_format.with_table(entry, entries.get(beside, b""), beside)


def _last_version(store: RegistryFiles, listing: Listing) -> int:
    """Return the highest version in the old metadata, 0 if there is none.

    It is looked for as text: after a merge conflict the old metadata is no JSON, and the new
    version must be above both sides. Nothing else is taken from it.
    """
    old = (path for path in ("metadata/timestamp.json", "metadata/snapshot.json"))
    texts = (store.read(path) for path in old if path in listing.files)
    found = [_VERSION.findall(text) for text in texts if isinstance(text, bytes)]
    return max((int(number) for numbers in found for number in numbers), default=0)


def _replace(folder: Path, files: Mapping[str, bytes], listing: Listing, now: datetime) -> None:
    """Write the new registry beside the old one, open it, and move what is new into place."""
    place = folder.resolve()
    with scratch(beside=place) as made:
        for path, data in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(data)
        _check(made, files[_ROOT], now)
        for path in filter(_is_made, files):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).replace(place / path)
    for path in filter(_is_made, listing.files - files.keys()):
        (place / path).unlink()


def _check(made: Path, root: bytes, now: datetime) -> None:
    """Open what was made as anyone would, and read all of it."""
    catalog = open_registry(
        RegistryFiles(made),
        root=root,
        trusted_root=root,
        now=now,
        floor=None,
        min_snapshot=0,
        origin="sealing",
        sealed=None,
    )
    _refuse(catalog.findings if isinstance(catalog, Refused) else catalog.check_all())


def _is_made(path: str) -> bool:
    return path.startswith(("metadata/", "targets/index/"))


def _refuse(findings: Iterable[Finding]) -> None:
    """Raise if there is anything that would keep the registry from being used."""
    reasons = [f"{f.where.path}: {f.row.title}, {f.got}" for f in findings]
    if reasons:
        raise _wrong("; ".join(reasons[:MISTAKES_SHOWN]))


def _wrong(reason: str) -> WrongCallError:
    return WrongCallError(
        f"the registry cannot be signed: {reason}",
        code="malformed",
        remedy="put entries at targets/<project>/<kind>/<name>.toml, lines at "
        "targets/<project>/lines/<lineage>.json, and nothing else there",
    )
