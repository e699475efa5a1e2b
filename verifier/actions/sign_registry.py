"""What maintainers do with a registry: begin it, sign it, replace its keys.

Each function is one run by one person. A run adds signatures to the draft beside the registry, and
publishes if it was the last that was needed (`maintain`). A root is signed in its own verb, after
its keys were shown; `sign_registry` never signs one.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from verifier.actions.maintain import (
    State,
    Step,
    draft_of,
    holders_of,
    read_state,
    take_step,
    wish_for,
)
from verifier.actions.replace_folder import alone, place_of
from verifier.catalog.floor import Floor
from verifier.catalog.tuf.draft import DAYS, Wish
from verifier.catalog.tuf.pieces import Piece
from verifier.catalog.tuf.publish import delegations_of, root_of
from verifier.catalog.tuf.rotation import (
    KeyChange,
    keys_of,
    next_delegations,
    next_root,
    same_root,
    told,
    told_project,
)
from verifier.catalog.tuf.shape import RESERVED
from verifier.core.clock import print_time
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.printable import quoted
from verifier.core.value import frozen
from verifier.evidence.private_key import PrivateKey

_NAME: Final = re.compile("[a-z0-9][a-z0-9._-]{0,99}")
_REPEATED: Final = "name each key once, and a threshold of at least 1 that the keys can meet"


@frozen
class Design:
    """Whose keys a new registry has: SubjectPublicKeyInfo and threshold, by role."""

    roles: Mapping[str, tuple[tuple[bytes, ...], int]]
    projects: Mapping[str, tuple[tuple[bytes, ...], int]]


@frozen
class Signing:
    """Who signs, when, and for how long: what every run has in common."""

    keys: tuple[PrivateKey, ...]
    now: datetime
    days: Mapping[str, int] = field(default_factory=dict)
    root: bytes | None = None
    floor: Floor | None = None


@frozen
class Proposal:
    """Keys that wait for signatures, in rows for people; `what` gives them, in which version."""

    version: int
    rows: tuple[tuple[str, str], ...]
    what: str = "root"


def new_registry(folder: str, design: Design, signing: Signing) -> Step:
    """Begin a registry without entries; it is published once every threshold is met.

    Raises `WrongCallError` for a design that could never be signed, `UnavailableError` for a
    folder that is not empty.
    """
    place = place_of(folder)
    for name in design.projects:
        _refuse_name(name)
    try:
        roles = {role: keys_of(*given) for role, given in design.roles.items()}
        projects = {name: keys_of(*given) for name, given in design.projects.items()}
    except ValueError as error:
        raise _impossible(error) from None
    with alone(place):
        _refuse_full(place)
        state = State(place=place, current={}, pending={}, roots={}, entries={}, index={})
        expires = Wish(entries={}, index={}, now=signing.now, days=signing.days).expires("root")
        wish = wish_for(
            state,
            now=signing.now,
            days=signing.days,
            root=root_of(roles, 1, expires),
            shut=frozenset(),
            delegations=delegations_of(projects),
        )
        return take_step(state, wish, holders_of(signing.keys))


def sign_registry(folder: str, signing: Signing, *, renew: Sequence[str] = ()) -> Step:
    """Sign what the keys at hand can sign of what lies in the registry now.

    `renew` names roles that get a new version and expiry though they say the same.
    """
    place = place_of(folder)
    with alone(place):
        state = _state(place, signing)
        _refuse_roles(state, renew)
        drafted, now = _delegations(state.pending), _delegations(state.current)
        moving = drafted if state.current and drafted not in (None, now) else None
        # Whoever signs projects' keys has to see them; this verb shows none.
        unseen = moving is not None or not state.current
        wish = wish_for(
            state,
            now=signing.now,
            days=signing.days,
            renew=frozenset(renew),
            delegations=moving,
            shut=frozenset({"root", "targets"} if unseen else {"root"}),
        )
        return take_step(state, wish, holders_of(signing.keys))


def propose_root(folder: str, change: KeyChange, signing: Signing) -> tuple[Proposal, Step]:
    """Make the next root, or go on with the same one if it is in the draft; sign it."""
    place = place_of(folder)
    with alone(place):
        state = _state(place, signing)
        if not state.current:
            raise _other_draft(place)
        old = state.current["root"].metadata.signed
        times = Wish(entries={}, index={}, now=signing.now, days=signing.days)
        try:
            root = next_root(old, change, times.expires("root"))
        except ValueError as error:
            raise _impossible(error) from None
        drafted = state.pending.get("root")
        if drafted is not None:
            proposed = drafted.metadata.signed
            if not same_root(proposed, root) or proposed.expires > times.latest("root"):
                raise _other_draft(place)
            root = proposed
        wish = wish_for(state, now=signing.now, days=signing.days, root=root, shut=frozenset())
        step = take_step(state, wish, holders_of(signing.keys))
        return Proposal(version=root.version, rows=tuple(told(root, old))), step


def propose_project(
    folder: str, project: str, change: KeyChange, signing: Signing
) -> tuple[Proposal, Step]:
    """Give a project other keys, or a new one its first; signed by the keys of targets."""
    place = place_of(folder)
    _refuse_name(project)
    with alone(place):
        state = _state(place, signing)
        if not state.current:
            raise _other_draft(place)
        old, drafted = _delegations(state.current), _delegations(state.pending)
        try:
            new = next_delegations(old, project, change)
        except ValueError as error:
            raise _impossible(error) from None
        if drafted not in (None, old, new):
            raise _other_draft(place)
        wish = wish_for(state, now=signing.now, days=signing.days, delegations=new)
        step = take_step(state, wish, holders_of(signing.keys))
        rows = tuple(told_project(new, old, project))
        return Proposal(version=step.versions["targets"], rows=rows, what="targets"), step


def sign_root(folder: str, signing: Signing) -> tuple[Proposal, Step | None]:
    """Show the root in the draft; sign it with the keys at hand. Without keys, change nothing.

    Of a registry that begins, the projects' keys are shown too: `targets` signs them here. Raises
    `UnavailableError` for a root that is not the next one, or stands longer than one made now.
    """
    place = place_of(folder)
    with alone(place):
        state = _state(place, signing)
        drafted = state.pending.get("root")
        if drafted is None:
            raise UnavailableError(
                f"{place}: no root waits for signatures",
                code="signing-nothing",
                remedy="propose one first: pinproof rotate root",
            )
        root = drafted.metadata.signed
        old = state.current["root"].metadata.signed if state.current else None
        if root.version != (old.version + 1 if old else 1):
            raise _not_next(state, root.version, old)
        projects = [] if old else _projects(_delegations(state.pending))
        proposal = Proposal(version=root.version, rows=(*told(root, old), *projects))
        if not signing.keys:
            return proposal, None
        wish = wish_for(state, now=signing.now, days=signing.days, shut=frozenset())
        if root.expires > wish.latest("root"):
            raise _stands_too_long(state, root.expires, wish.expires("root"))
        return proposal, take_step(state, wish, holders_of(signing.keys))


def _projects(given: Any) -> list[tuple[str, str]]:
    """Say whose keys a new registry gives to projects, in rows for people."""
    names = (given.roles or {}) if given else {}
    return [row for name in names for row in told_project(given, given, name)]


def _not_next(state: State, version: int, old: Any) -> UnavailableError:
    return UnavailableError(
        f"{state.draft}: expected root {old.version + 1 if old else 1}, got root {version}; "
        "nobody makes that one now",
        code="signing-draft-damaged",
        remedy="take the draft from whoever signed last, or remove it and begin again",
    )


def _stands_too_long(state: State, got: datetime, least: datetime) -> UnavailableError:
    return UnavailableError(
        f"{state.draft}: its root stands until {print_time(got)}; one made now would until "
        f"{print_time(least)}",
        code="signing-draft-other",
        remedy="if that is meant, say so: --expires root=DAYS; else remove the draft and propose "
        "another",
    )


def _refuse_name(project: str) -> None:
    if project in RESERVED or project.endswith(".root") or not _NAME.fullmatch(project):
        raise WrongCallError(
            f"{quoted(project)} is no name for a project",
            code="wrong-call",
            remedy="use a-z, 0-9, dot, dash and underscore, and no name of a role",
        )


def _delegations(pieces: Mapping[str, Piece]) -> Any:
    """Return what the top-level role gives to projects; None if it is not among the pieces."""
    return pieces["targets"].metadata.signed.delegations if "targets" in pieces else None


def _state(place: Path, signing: Signing) -> State:
    return read_state(place, now=signing.now, root=signing.root, floor=signing.floor)


def _refuse_roles(state: State, renew: Sequence[str]) -> None:
    known = {*DAYS, *state.current, *state.pending} - {"root"}
    strange = [role for role in renew if role not in known]
    if strange:
        raise WrongCallError(
            f"--renew: there is no role {quoted(strange[0])}",
            code="wrong-call",
            remedy=f"name one of {', '.join(sorted(known))}; a root is renewed by rotate root",
        )
    given = [_delegations(state.pending), _delegations(state.current)]
    projects = {name for each in given if each for name in each.roles or {}}
    homeless = sorted({path.split("/")[0] for path in state.entries} - projects)
    if homeless:
        raise UnavailableError(
            f"targets/{homeless[0]}: the registry has no project of that name",
            code="signing-project-unknown",
            remedy=f"its projects are {', '.join(sorted(projects)) or 'none'}; "
            "move the entries, or give it keys: pinproof rotate project",
        )


def _refuse_full(place: Path) -> None:
    there = os.path.lexists(place)
    if there and (place.is_symlink() or not place.is_dir() or any(place.iterdir())):
        raise UnavailableError(
            f"{place}: expected no such folder, or an empty one",
            code="signing-folder-full",
            remedy="name a new folder; entries are put into it afterwards",
        )
    if os.path.lexists(draft_of(place)):
        raise _other_draft(place)


def _other_draft(place: Path) -> UnavailableError:
    return UnavailableError(
        f"{draft_of(place)}: another change waits there for signatures",
        code="signing-draft-other",
        remedy="finish it with pinproof sign root and sign registry, or remove the draft",
    )


def _impossible(error: ValueError) -> WrongCallError:
    return WrongCallError(
        f"the roles cannot be signed: {error}", code="signing-threshold", remedy=_REPEATED
    )
