"""From one state of a registry to the next, by as many people as must agree.

`advance` looks at a registry as it is, at what earlier people have signed of the next one, and at
what is wanted; it makes what has to be made, adds the signatures of the keys at hand, and says
what is complete and who is still missing. It is pure: whoever calls it keeps and publishes.

A role is made anew if what it says changes, if its old signatures no longer count, if it has
expired, or if it is to be renewed; its version then goes up by one. Everybody signs the same
bytes, so what one has signed stands until what it says would be another thing; but nobody signs a
later expiry than they would give themselves, whatever a draft says. A role that is complete takes
no more signatures: the snapshot has recorded its bytes.

Sources: TUF specification 1.0, §6.1 (root rotation: signed by the threshold of the old keys and
of the new ones) and §7 (which roles follow from which); FORMATS §1 (the index may lag behind).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from tuf.api.metadata import (
    Delegations,
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    Targets,
    Timestamp,
)

from verifier.catalog.tuf.pieces import Piece, piece_of
from verifier.catalog.tuf.publish import listed
from verifier.catalog.tuf.roles import Holder
from verifier.core.value import frozen

#: How long each role stands where nobody says otherwise, in days.
DAYS: Final = {"root": 730, "targets": 365, "snapshot": 90, "timestamp": 30}
#: The same for the role of a project.
PROJECT_DAYS: Final = 365


@frozen
class Wish:
    """What the next state is to be. `root` and `delegations` None: as they are.

    `entries` and `index` are targets by path. `shut` are roles that are not signed now: those that
    give keys to others, unless whoever signs has looked at these keys.
    """

    entries: Mapping[str, bytes]
    index: Mapping[str, bytes]
    now: datetime
    root: Root | None = None
    shut: frozenset[str] = frozenset({"root"})
    delegations: Delegations | None = None
    renew: frozenset[str] = frozenset()
    days: Mapping[str, int] = field(default_factory=dict)

    def expires(self, role: str) -> datetime:
        """Return when a role that is made now expires."""
        days = self.days.get(role, DAYS.get(role, PROJECT_DAYS))
        return self.now.replace(microsecond=0) + timedelta(days=days)

    def latest(self, role: str) -> datetime:
        """Return the latest expiry in a draft that is signed; clocks may differ by a day."""
        return self.expires(role) + timedelta(days=1)


@frozen
class Wait:
    """A role that needs `count` more signatures, by some of `keyids`; `note` says of which root."""

    role: str
    count: int
    keyids: tuple[str, ...]
    note: str = ""


@frozen
class Progress:
    """What `advance` made. `made` are the new pieces by role, complete or not."""

    made: Mapping[str, Piece]
    kept: Mapping[str, Piece]
    signed: tuple[tuple[str, str], ...]
    waits: tuple[Wait, ...]
    restarted: tuple[str, ...]
    again: frozenset[str]
    """Ids of given keys whose signature on a waiting role was there already."""
    index_lags: bool

    @property
    def complete(self) -> bool:
        """Whether the next state can be published."""
        lagging = {"targets"} if self.index_lags else set()
        return not {wait.role for wait in self.waits} - lagging and bool(self.made.keys() - lagging)


def advance(
    current: Mapping[str, Piece],
    pending: Mapping[str, Piece],
    wish: Wish,
    holders: Sequence[Holder],
) -> Progress:
    """Go on from `current` and `pending` towards `wish` with the keys of `holders`."""
    return _Advance(current, pending, wish, holders).run()


@dataclass(slots=True)
class _Advance:
    current: Mapping[str, Piece]
    pending: Mapping[str, Piece]
    wish: Wish
    holders: Sequence[Holder]
    made: dict[str, Piece] = field(default_factory=dict)
    kept: dict[str, Piece] = field(default_factory=dict)
    signed: list[tuple[str, str]] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    restarted: list[str] = field(default_factory=list)
    again: set[str] = field(default_factory=set)

    def run(self) -> Progress:
        root = self._root()
        targets, lags = self._targets(root)
        projects = targets.delegations.roles if targets.delegations else {}
        for project in projects or {}:
            listing = listed(self.wish.entries, project)
            self._step(project, Targets(1, None, None, listing), targets)
        roles = ("targets", *(projects or {}))
        below = {f"{role}.json": self._recorded(role, lags=lags) for role in roles}
        waiting = {wait.role for wait in self.waits} - ({"targets"} if lags else set())
        if not waiting & {*roles}:
            self._step("snapshot", Snapshot(1, None, None, below), root)
            if "snapshot" not in {wait.role for wait in self.waits}:
                record = self._recorded("snapshot")
                self._step("timestamp", Timestamp(1, None, None, record), root)
        return Progress(
            made=self.made,
            kept=self.kept,
            signed=tuple(self.signed),
            waits=tuple(self.waits),
            restarted=tuple(self.restarted),
            again=frozenset(self.again),
            index_lags=lags,
        )

    def _root(self) -> Root:
        """Take the root that is proposed, or stay with the one there is."""
        old = self.current.get("root")
        proposed = self.pending.get("root")
        if proposed is None and self.wish.root is not None:
            proposed = piece_of(Metadata(self.wish.root))
        if proposed is None:
            self.kept["root"] = self.current["root"]  # a first root is always wished for
            kept: Root = self.current["root"].metadata.signed
            return kept
        root: Root = proposed.metadata.signed
        self._sign("root", proposed, [*([old.metadata.signed] if old else []), root])
        return root

    def _targets(self, root: Root) -> tuple[Targets, bool]:
        """Make index and delegations; say whether the old ones will do until they are signed."""
        old = self.current.get("targets")
        given = self.wish.delegations
        if given is None and old is not None:
            given = old.metadata.signed.delegations
        wanted = Targets(1, None, None, listed(self.wish.index, "index"), given)
        self._step("targets", wanted, root)
        waits = any(wait.role == "targets" for wait in self.waits)
        lags = (
            waits
            and old is not None
            and "targets" not in self.wish.renew
            and _same(Targets(1, None, None, old.metadata.signed.targets, given), old)
            and self._counts(old, "targets", root)
        )
        return wanted, lags

    def _recorded(self, role: str, *, lags: bool = False) -> MetaFile:
        piece = self.current[role] if lags and role == "targets" else self._piece_of(role)
        return MetaFile.from_data(piece.metadata.signed.version, piece.data, ["sha256"])

    def _piece_of(self, role: str) -> Piece:
        return self.made.get(role) or self.kept[role]

    def _step(self, role: str, wanted: Any, delegator: Root | Targets) -> None:
        """Keep a role as it is, or go on with its next version."""
        old, drafted = self.current.get(role), self.pending.get(role)
        version = old.metadata.signed.version + 1 if old else 1
        fits = (
            drafted is not None
            and drafted.metadata.signed.version == version
            and self.wish.now < drafted.metadata.signed.expires <= self.wish.latest(role)
            and _same(wanted, drafted)
        )
        renewed = role in self.wish.renew or fits
        if old and not renewed and _same(wanted, old) and self._counts(old, role, delegator):
            self.kept[role] = old
            return
        if drafted is None or not fits:
            if drafted is not None and drafted.metadata.signatures:
                self.restarted.append(role)
            wanted.version, wanted.expires = version, self.wish.expires(role)
            drafted = piece_of(Metadata(wanted))
        self._sign(role, drafted, [delegator])

    def _counts(self, piece: Piece, role: str, delegator: Root | Targets) -> bool:
        """Tell whether the signatures on a piece still vouch for it."""
        metadata = piece.metadata
        payload, signatures = metadata.signed_bytes, metadata.signatures
        result = delegator.get_verification_result(role, payload, signatures)
        return bool(result) and metadata.signed.expires > self.wish.now

    def _sign(self, role: str, piece: Piece, delegators: list[Root | Targets]) -> None:
        """Add the signatures that are missing and can be given; note who else must sign."""
        metadata = piece.metadata
        payload = metadata.signed_bytes

        def results() -> list[Any]:
            return [
                d.get_verification_result(role, payload, metadata.signatures) for d in delegators
            ]

        allowed = {keyid for result in results() for keyid in (*result.signed, *result.unsigned)}
        counted = {keyid for result in results() for keyid in result.signed}
        for keyid in metadata.signatures.keys() - counted:
            del metadata.signatures[keyid]
        for holder in self.holders if role not in self.wish.shut else ():
            keyid = holder.key.keyid
            if keyid in counted and not all(results()):
                self.again.add(keyid)
            elif keyid in allowed and not all(results()):
                metadata.signatures[keyid] = holder.signature(payload)
                self.signed.append((role, keyid))
        self.made[role] = piece_of(metadata)
        notes = (" of the present root", " of the next root") if len(delegators) > 1 else ("",)
        for note, result in zip(notes, results(), strict=True):
            if not result:
                keyids = tuple(sorted(result.unsigned))
                self.waits.append(Wait(role=role, count=result.missing, keyids=keyids, note=note))


def _same(wanted: Any, piece: Piece) -> bool:
    """Tell whether two pieces say the same, whatever their versions and expiries are."""
    return _content(wanted) == _content(piece.metadata.signed)


def _content(signed: Any) -> dict[str, Any]:
    content: dict[str, Any] = signed.to_dict()
    for field_name in ("version", "expires", "spec_version"):
        del content[field_name]
    return content
