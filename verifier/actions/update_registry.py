"""Fetching a newer registry, by the one verb that asks a network for anything.

TUF's own client downloads into a scratch folder and judges; then the registry is opened from the
trusted root by our own trusted set, whole, with a floor of all that was seen before; only then it
takes the place of the old one, in one step. Last the floor is kept, for every root of the chain, so
that whoever trusts a later one finds it too. A run that is stopped leaves the old registry or the
new one; a floor that was not yet kept is made up for by the versions of the registry itself.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from verifier.actions import output
from verifier.actions.maintain import trusted_pieces
from verifier.actions.replace_folder import alone, cannot, place_of, replace_folder
from verifier.catalog.floor import Floor, kept_at
from verifier.catalog.open import Refused, open_registry
from verifier.catalog.tuf.fetch import FetchError, Patience, Place, fetch_registry
from verifier.catalog.tuf.files import RegistryFiles
from verifier.catalog.tuf.pieces import Piece, roots_in
from verifier.core.digest import sha256
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import DOCUMENT_BYTES, MISTAKES_SHOWN
from verifier.core.printable import quoted
from verifier.core.value import frozen
from verifier.sources import file
from verifier.sources.scratch import scratch

_REMEDIES = {
    "update-unreachable": "check the address and the network, then ask again",
    "update-redirected": "name the address that the registry is at now; none is followed",
    "update-slow": "ask again, or another mirror",
    "update-too-long": "ask another mirror: this server sends what nobody signed",
    "update-refused": "ask another mirror, or the registry's maintainers; the old one still stands",
}


@frozen
class Updated:
    """What was fetched: versions, expiry, and whether anything is newer than before."""

    newer: bool
    root_version: int
    root_sha256: str
    snapshot_version: int
    expires: str
    floor: str
    floors: tuple[str, ...]


def update_registry(
    url: str,
    to: str,
    *,
    root: bytes,
    state: Path | None,
    now: datetime,
    patience: Patience | None = None,
) -> Updated:
    """Fetch the registry at `url` into the folder `to`, trusted from `root`.

    `state` is where floors are kept. Raises `WrongCallError` for an address that will not do, and
    `UnavailableError`, with everything as it was, if nothing newer than what was seen comes.
    """
    try:
        source = Place.parse(url)
    except ValueError as error:
        raise WrongCallError(
            # What holds credentials is not repeated: errors end up in logs.
            f"--url: {quoted(url[:200]) if '@' not in url else 'the address'} {error}",
            code="wrong-call",
            remedy="name the folder that holds metadata/ and targets/, as https://HOST/PATH",
        ) from None
    if state is None:
        raise WrongCallError(
            "there is nowhere to keep the floor",
            code="wrong-call",
            remedy="set XDG_STATE_HOME or HOME to an absolute path",
        )
    place = place_of(to)
    kept = kept_at(state, root)
    _make(kept.parent)
    with alone(place), scratch() as made:
        old = _old(place, root, now)
        least = _floor(old).highest(_kept(kept))
        try:
            fetch_registry(
                source,
                root=root,
                old={role: piece.data for role, piece in old.items()},
                into=made / "fetched",
                patience=patience or Patience(),
            )
        except FetchError as error:
            raise _failed(error.code, url, error.reason) from None
        except OSError as error:
            raise cannot(made, error) from None
        files = _files(made / "fetched" / "registry")
        opened: list[Updated] = []

        def check(folder: Path) -> None:
            opened.append(_opened(folder, url, root=root, now=now, least=least))

        replace_folder(place, files, check=check)
        done = opened[0]
        floors = [kept_at(state, files[path]) for path in roots_in(files).values()]
        for path in floors:
            output.write(str(path), done.floor.encode())
    before = old["snapshot"].version if "snapshot" in old else 0
    return Updated(
        newer=done.snapshot_version > before or old["root"].version < done.root_version,
        root_version=done.root_version,
        root_sha256=done.root_sha256,
        snapshot_version=done.snapshot_version,
        expires=done.expires,
        floor=done.floor,
        floors=tuple(map(str, floors)),
    )


def _old(place: Path, root: bytes, now: datetime) -> Mapping[str, Piece]:
    """Read what is to be replaced, which has to be an older state of the same registry."""
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return {}
    try:
        return trusted_pieces(place, root=root, now=now)
    except PinproofError as error:
        raise UnavailableError(
            f"{place}: what is there is no registry of this root: {error.message}",
            code="update-folder",
            remedy="name a new folder, or remove this one; it was not replaced",
        ) from None


def _floor(old: Mapping[str, Piece]) -> Floor:
    """Return the floor that the registry to be replaced sets."""
    if not old:
        return Floor()
    below = {r: p.version for r, p in old.items() if r not in ("root", "timestamp", "snapshot")}
    return Floor(
        root=old["root"].version,
        timestamp=old["timestamp"].version,
        snapshot=old["snapshot"].version,
        snapshot_sha256=sha256(old["snapshot"].data),
        roles=below,
    )


def _kept(path: Path) -> Floor:
    if not path.exists():
        return Floor()
    return Floor.parse(file.read(str(path), limit=DOCUMENT_BYTES).data, what=str(path))


def _opened(folder: Path, url: str, *, root: bytes, now: datetime, least: Floor) -> Updated:
    """Open what was fetched as a run would, and read all of it."""
    catalog = open_registry(
        RegistryFiles(folder),
        root=root,
        trusted_root=root,
        now=now,
        floor=least,
        min_snapshot=0,
        origin="update",
        sealed=None,
    )
    if isinstance(catalog, Refused):
        raise _failed("update-refused", url, _told(catalog.findings))
    wrong = tuple(f for f in catalog.check_all() if f.code not in _BEARABLE)
    if wrong:
        raise _failed("update-refused", url, _told(wrong))
    facts = catalog.facts
    return Updated(
        newer=True,
        root_version=facts.root_version,
        root_sha256=facts.root_sha256,
        snapshot_version=facts.snapshot_version,
        expires=facts.expires,
        floor=catalog.floor.print().decode(),
        floors=(),
    )


#: What a registry may have that authenticates: they make single look-ups undecided.
_BEARABLE = ("registry-index-wrong", "entry-newer")


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise cannot(folder, error) from None


def _told(findings: tuple[Finding, ...]) -> str:
    reasons = [f"{f.where.path}: {f.row.title}, {f.got}" for f in findings]
    return "; ".join(reasons[:MISTAKES_SHOWN])


def _failed(code: str, url: str, reason: str) -> UnavailableError:
    return UnavailableError(f"{url}: {reason}", code=code, remedy=_REMEDIES[code])
