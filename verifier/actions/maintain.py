"""A registry in the hands of its maintainers: read, taken one step further, and published whole.

What has not got all its signatures lies beside the registry, in `DIR.draft`, and is no registry.
Once it is complete, the next registry is written beside the old one, opened from the first root as
anyone would, and read whole; only then it takes the old one's name, in one step. So a registry
that authenticates is never replaced by one that does not, wherever a run is stopped: what a killed
run leaves is the old registry with its draft, or the new one with a draft that is out of date,
which the next run sees by the versions in it.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from verifier.actions.replace_folder import remove_folder, replace_folder
from verifier.actions.seal import entries_in, index_of
from verifier.catalog.floor import Floor
from verifier.catalog.open import Refused, open_registry
from verifier.catalog.tuf.draft import DAYS, Progress, Wait, Wish, advance
from verifier.catalog.tuf.files import Listing, RegistryFiles
from verifier.catalog.tuf.pieces import Piece, file_of, keyids_in, read_pieces, roots_in
from verifier.catalog.tuf.roles import Holder, holder
from verifier.catalog.tuf.trusted import ANCHOR, Anchor, authenticate
from verifier.core.clock import print_time
from verifier.core.digest import sha256
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import MISTAKES_SHOWN
from verifier.core.printable import quoted
from verifier.core.value import frozen
from verifier.evidence.private_key import PrivateKey

#: Findings about entries: whoever signs is about to say what belongs there.
_OF_ENTRIES: Final = ("registry-unlisted", "registry-missing")
#: Findings about what never was a part of it, and lies in its folder.
_STRAYS: Final = ("registry-unlisted", "registry-name-unsafe", "registry-link")
_EXPIRED: Final = "registry-expired"
_LAGGING: Final = "registry-index-wrong"


@frozen
class State:
    """A registry on disk, and its draft. `current` is empty where there is no registry yet."""

    place: Path
    current: Mapping[str, Piece]
    pending: Mapping[str, Piece]
    roots: Mapping[str, bytes]
    entries: Mapping[str, bytes]
    index: Mapping[str, bytes]

    @property
    def draft(self) -> Path:
        """Where what is not complete lies."""
        return draft_of(self.place)


@frozen
class Step:
    """What one run did: who signed what, who is missing, and what was published."""

    published: bool
    signed: tuple[tuple[str, str], ...]
    waits: tuple[Wait, ...]
    restarted: tuple[str, ...]
    index_lags: bool
    draft: str
    versions: Mapping[str, int]
    expires: str
    root_sha256: str


def draft_of(place: Path) -> Path:
    """Name the folder beside a registry for what is not complete."""
    return place.parent / f"{place.name}.draft"


def read_state(
    place: Path, *, now: datetime, root: bytes | None = None, floor: Floor | None = None
) -> State:
    """Read a registry that authenticates, except for its entries and its expiry.

    `root` is the root that is trusted; without it, the registry's own first one. Raises
    `UnavailableError` for a registry that was tampered with, or a draft that cannot be read.
    """
    if not (place / "metadata").exists() and draft_of(place).is_dir():
        return _unborn(place)
    store = RegistryFiles(place)
    listing = store.listing()
    roots = roots_in(listing.files)
    if not roots:
        raise _no_registry(place)
    history = {path: _bytes(store.read(path)) for path in roots.values()}
    anchor = root or next(iter(history.values()))
    current = _pieces(store, listing, anchor, now, floor, bearable=_tolerated)
    index = {
        path.removeprefix("targets/"): _bytes(store.read(path))
        for path in listing.files
        if path.startswith("targets/index/")
    }
    return State(
        place=place,
        current=current,
        pending=read_draft(place, current),
        roots=history,
        entries=entries_in(store, listing),
        index=index,
    )


def trusted_pieces(place: Path, *, root: bytes, now: datetime) -> Mapping[str, Piece]:
    """Read the metadata of a registry that authenticates from `root`, except for its expiry."""
    store = RegistryFiles(place)
    listing = store.listing()
    return _pieces(store, listing, root, now, None, bearable=lambda f: f.code == _EXPIRED)


def _pieces(
    store: RegistryFiles,
    listing: Listing,
    root: bytes,
    now: datetime,
    floor: Floor | None,
    *,
    bearable: Callable[[Finding], bool],
) -> Mapping[str, Piece]:
    """Authenticate a registry, and read its metadata."""
    anchor = Anchor(root=root, first=False)
    trusted = authenticate(store.read, listing, anchor=anchor, now=now, floor=floor or Floor())
    found = trusted if isinstance(trusted, tuple) else ()
    _refuse_registry(f for f in found if not bearable(f))
    current, wrong = read_pieces(store.read, listing.files)
    _refuse_registry(wrong)
    return current


def _unborn(place: Path) -> State:
    """Read a registry that waits for its first signatures."""
    pending = read_draft(place, {})
    if not {"root", "targets"} <= pending.keys():
        raise _no_registry(place)
    return State(place=place, current={}, pending=pending, roots={}, entries={}, index={})


def read_draft(place: Path, current: Mapping[str, Piece]) -> Mapping[str, Piece]:
    """Read what earlier runs left; what is no newer than the registry was published since."""
    draft = draft_of(place)
    if not os.path.lexists(draft):
        return {}
    if draft.is_symlink() or not draft.is_dir():
        raise UnavailableError(
            f"{draft}: expected a folder that earlier runs left, got something else of that name",
            code="signing-draft-damaged",
            remedy="move it away: what is signed next is to lie there",
        )
    store = RegistryFiles(draft)
    listing = store.listing()
    pieces, findings = read_pieces(store.read, listing.files)
    findings += listing.findings
    if findings:
        raise UnavailableError(
            f"{draft}: {_told(findings)}",
            code="signing-draft-damaged",
            remedy=f"take the draft from whoever signed last, or remove {draft} and begin again",
        )
    return {
        role: piece
        for role, piece in pieces.items()
        if role not in current or piece.version > current[role].version
    }


def holders_of(keys: Sequence[PrivateKey]) -> tuple[Holder, ...]:
    """Lend private keys to TUF; raises `WrongCallError` if one is given twice."""
    ids = [key.public.id for key in keys]
    for keyid in ids:
        if ids.count(keyid) > 1:
            raise WrongCallError(
                f"--key: the key {keyid} is given twice",
                code="signing-key-repeated",
                remedy="name each key once: one key counts once towards a threshold",
            )
    return tuple(holder(key.public.spki, key.sign) for key in keys)


def wish_for(state: State, *, now: datetime, **more: Any) -> Wish:
    """Wish for what lies in the registry.

    Raises `MalformedError` for an unsound entry, `WrongCallError` for days of no role.
    """
    drafted = state.pending.get("targets")
    given = more.pop("delegations", None)
    if given is None and drafted is not None and not state.current:
        given = drafted.metadata.signed.delegations
    wish = Wish(
        entries=state.entries, index=index_of(state.entries), now=now, delegations=given, **more
    )
    known = {*DAYS, *state.current, *state.pending, *((given.roles or {}) if given else {})}
    for role in sorted(wish.days.keys() - known):
        raise WrongCallError(
            f"--expires: there is no role {quoted(role)}",
            code="wrong-call",
            remedy=f"name one of {', '.join(sorted(known))}",
        )
    return wish


def take_step(state: State, wish: Wish, holders: Sequence[Holder]) -> Step:
    """Sign what the keys allow, keep it, and publish if nobody is missing any longer.

    Raises `UnavailableError`, and leaves everything as it was, if the keys could sign nothing or
    the result would not authenticate.
    """
    progress = advance(state.current, state.pending, wish, holders)
    root = (progress.made.get("root") or progress.kept["root"]).metadata.signed
    if root.expires <= wish.now:
        raise UnavailableError(
            f"{state.place}: its root expired at {print_time(root.expires)}",
            code="signing-root-expired",
            remedy="make the next root first: pinproof rotate root",
        )
    _refuse_idle(progress, state.current, holders, wish.shut)
    pieces = {**progress.kept, **progress.made}
    if progress.complete:
        if progress.index_lags:
            pieces["targets"] = state.current["targets"]
        _publish(state, wish, pieces, lags=progress.index_lags)
    left = progress.made if not progress.complete else {}
    if progress.complete and progress.index_lags:
        left = {"targets": progress.made["targets"]}
    _keep(state.draft, left)
    return Step(
        published=progress.complete,
        signed=progress.signed,
        waits=progress.waits,
        restarted=progress.restarted,
        index_lags=progress.index_lags,
        draft=str(state.draft),
        versions={role: piece.version for role, piece in pieces.items()},
        expires=print_time(min(piece.metadata.signed.expires for piece in pieces.values())),
        root_sha256=sha256(pieces["root"].data),
    )


def _publish(state: State, wish: Wish, pieces: Mapping[str, Piece], *, lags: bool) -> None:
    index = state.index if lags else wish.index
    files = {
        **state.roots,
        **{f"targets/{path}": data for path, data in {**wish.entries, **index}.items()},
        **{file_of(role, piece.version): piece.data for role, piece in pieces.items()},
    }
    first = files[next(iter(roots_in(files).values()))]

    def check(made: Path) -> None:
        """Open what was made as anyone would, and read all of it."""
        catalog = open_registry(
            RegistryFiles(made),
            root=first,
            trusted_root=first,
            now=wish.now,
            floor=None,
            min_snapshot=0,
            origin="signing",
            sealed=None,
        )
        findings = catalog.findings if isinstance(catalog, Refused) else catalog.check_all()
        wrong = [f for f in findings if not (lags and f.code == _LAGGING)]
        if wrong:
            raise UnavailableError(
                f"{state.place}: what would be published does not hold: {_told(wrong)}",
                code="signing-unsound",
                remedy="mend what is named, then sign again; the registry is as it was",
            )

    replace_folder(state.place, files, check=check)


def _keep(draft: Path, pieces: Mapping[str, Piece]) -> None:
    """Keep what is not complete for the next who signs, or remove what was."""
    files = {file_of(role, piece.version): piece.data for role, piece in pieces.items()}
    if files:
        replace_folder(draft, files)
    else:
        remove_folder(draft)


def _refuse_idle(
    progress: Progress, old: Mapping[str, Piece], holders: Sequence[Holder], shut: frozenset[str]
) -> None:
    """Raise if keys were given and none of them signed anything."""
    known = known_keys(progress, old)
    for each in holders:
        if each.key.keyid not in known:
            raise UnavailableError(
                f"--key: no role of the registry has the key {each.key.keyid}",
                code="signing-key-unknown",
                remedy="name a key of the registry; pinproof show trust lists them by these ids",
            )
    if progress.signed or not holders:
        return
    if progress.again:
        raise UnavailableError(
            f"--key: {', '.join(sorted(progress.again))} has signed this already",
            code="signing-key-repeated",
            remedy=f"have somebody else sign: {waiting(progress.waits)}",
        )
    raise UnavailableError(
        "there is nothing that these keys could sign"
        + (f"; still missing: {waiting(progress.waits)}" if progress.waits else ""),
        code="signing-nothing",
        remedy="what gives keys to others is signed where they are shown: pinproof sign root, or "
        "pinproof rotate project with the same words"
        if shut & {wait.role for wait in progress.waits}
        else "change an entry first, or name roles whose expiry to move with --renew",
    )


def known_keys(progress: Progress, old: Mapping[str, Piece]) -> set[str]:
    """Return the ids of every key of the registry, as it is and as it will be."""
    found: set[str] = set()
    for pieces in (old, {**progress.kept, **progress.made}):
        for role in ("root", "targets"):
            if role in pieces:
                found |= keyids_in(pieces[role])
    return found


def waiting(waits: Iterable[Wait]) -> str:
    """Print who is missing."""
    return "; ".join(
        f"{wait.role} needs {wait.count} of {', '.join(k[:12] for k in wait.keyids)}"
        for wait in waits
    )


def _tolerated(finding: Finding) -> bool:
    of_entry = (finding.where.path or "").startswith("targets/") and finding.code in _OF_ENTRIES
    return of_entry or finding.code == _EXPIRED


def _refuse_registry(findings: Iterable[Finding]) -> None:
    wrong = list(findings)
    if wrong:
        raise _refused(wrong)


def _refused(findings: list[Finding]) -> UnavailableError:
    remedy = "restore its metadata from where it was published, then sign again"
    if any(f.where.path == ANCHOR for f in findings):
        remedy = "name a root of this registry with --root: its users have 1.root.json"
    elif all(f.code in _STRAYS for f in findings):
        remedy = (
            "take what is named out of the folder, or give entries plain names; then sign again"
        )
    return UnavailableError(
        f"the registry is not as it was signed: {_told(findings)}",
        code="signing-registry-refused",
        remedy=remedy,
    )


def _told(findings: Iterable[Finding]) -> str:
    reasons = [f"{f.where.path}: {f.row.title}, {f.got}" for f in findings]
    return "; ".join(reasons[:MISTAKES_SHOWN])


def _bytes(data: bytes | Finding) -> bytes:
    if isinstance(data, bytes):
        return data
    raise _refused([data])


def _no_registry(place: Path) -> UnavailableError:
    return UnavailableError(
        f"{place}: there is no root in its folder metadata",
        code="signing-no-registry",
        remedy="make a registry first: pinproof new registry; or sign with discarded keys: --seal",
    )
