"""The next root of a registry: which keys come and go, and what both states say in words.

Source: TUF specification 1.0, §6.1: the new root is signed by the threshold of the old keys and
of its own, and has the next version.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Final

from tuf.api.metadata import Delegations, Key, Role, Root

from verifier.catalog.tuf.publish import TOP_LEVEL, Keys, delegations_of, root_of
from verifier.catalog.tuf.roles import tuf_key
from verifier.core.clock import print_time
from verifier.core.value import frozen

#: Roles whose keys a rotation may replace as a whole.
REPLACEABLE: Final = ("targets", "snapshot", "timestamp")


@frozen
class KeyChange:
    """What a rotation changes. Keys are given as SubjectPublicKeyInfo.

    `add` are new keys of the root or project, `drop` ids of keys that it does not keep (as TUF
    names them; of a root: that no role keeps), `thresholds` and `replace` are by role.
    """

    add: tuple[bytes, ...] = ()
    drop: frozenset[str] = frozenset()
    thresholds: Mapping[str, int] = field(default_factory=dict)
    replace: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)


def keys_of(spkis: Iterable[bytes], threshold: int = 1) -> Keys:
    """Describe keys, given as SubjectPublicKeyInfo, for a role. Raises `ValueError`."""
    keys = Keys(keys=tuple(tuf_key(spki) for spki in spkis), threshold=threshold)
    wrong = _wrong(keys)
    if wrong:
        raise ValueError(wrong)
    return keys


def next_root(root: Root, change: KeyChange, expires: datetime) -> Root:
    """Make the root after `root`. Raises `ValueError` with what cannot be."""
    unknown = sorted(change.drop - root.keys.keys())
    if unknown:
        raise ValueError(f"the root has no key {unknown[0]}")
    given: dict[str, Keys] = {}
    for role in TOP_LEVEL:
        old = root.roles[role]
        keys: list[Key] = [root.keys[keyid] for keyid in old.keyids]
        if role in change.replace:
            keys = [tuf_key(spki) for spki in change.replace[role]]
        if role == "root":
            keys += [tuf_key(spki) for spki in change.add]
        kept = tuple(key for key in keys if key.keyid not in change.drop)
        given[role] = Keys(keys=kept, threshold=change.thresholds.get(role, old.threshold))
        wrong = _wrong(given[role])
        if wrong:
            raise ValueError(f"role {role}: {wrong}")
    return root_of(given, root.version + 1, expires)


def next_delegations(old: Delegations | None, project: str, change: KeyChange) -> Delegations:
    """Give a project other keys, or a new project its first ones.

    Of `change`, `add`, `drop` and the threshold of `project` count. Raises `ValueError`.
    """
    given: dict[str, Keys] = {}
    for name, role in ((old.roles if old else None) or {}).items():
        held = tuple(old.keys[keyid] for keyid in role.keyids) if old else ()
        given[name] = Keys(keys=held, threshold=role.threshold)
    before = given.get(project, Keys(keys=()))
    unknown = sorted(change.drop - {key.keyid for key in before.keys})
    if unknown:
        raise ValueError(f"the project {project} has no key {unknown[0]}")
    kept = [key for key in before.keys if key.keyid not in change.drop]
    keys = (*kept, *(tuf_key(spki) for spki in change.add))
    given[project] = Keys(keys=keys, threshold=change.thresholds.get(project, before.threshold))
    wrong = _wrong(given[project])
    if wrong:
        raise ValueError(f"project {project}: {wrong}")
    return delegations_of(given)


def told_project(new: Delegations, old: Delegations | None, project: str) -> list[tuple[str, str]]:
    """Say what a project's keys are to be, and what that changes, in rows for people."""
    role = (new.roles or {})[project]
    was = ((old.roles if old else None) or {}).get(project)
    before = set(was.keyids) if was else set()
    rows = [(project, _count(role, was))]
    rows += [("" if keyid in before else "  new", keyid) for keyid in role.keyids]
    return rows + [("  dropped", keyid) for keyid in sorted(before - set(role.keyids))]


def told(root: Root, old: Root | None) -> list[tuple[str, str]]:
    """Say what a root gives to each role, and what it changes, in rows for people."""
    rows: list[tuple[str, str]] = []
    for role in TOP_LEVEL:
        new = root.roles[role]
        before = set(old.roles[role].keyids) if old else set()
        rows.append((role, _count(new, old.roles[role] if old else None)))
        come = set(new.keyids) - before if old else set()
        rows += [("  new" if keyid in come else "", keyid) for keyid in new.keyids]
        rows += [("  dropped", keyid) for keyid in sorted(before - set(new.keyids))]
    return [*rows, ("expires", print_time(root.expires))]


def _count(new: Role, old: Role | None) -> str:
    """Say how many must sign; a lower threshold must not pass unseen."""
    told = f"{new.threshold} of {len(new.keyids)} keys"
    if old is None or old.threshold == new.threshold:
        return told
    return f"{told}, before {old.threshold} of {len(old.keyids)}"


def same_root(one: Root, other: Root) -> bool:
    """Tell whether two roots give the same keys, whenever they expire."""
    return (one.version, one.keys, one.roles) == (other.version, other.keys, other.roles)


def _wrong(keys: Keys) -> str | None:
    ids = [key.keyid for key in keys.keys]
    if len(ids) != len(set(ids)):
        return "a key is given twice, and would count once"
    if not 1 <= keys.threshold <= len(ids):
        count = f"{len(ids)} {'key' if len(ids) == 1 else 'keys'}"
        return f"a threshold of {keys.threshold} cannot be met by {count}"
    return None
