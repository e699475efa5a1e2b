"""Facet `registry-changes`: what the head would be judged with from then on.

What judges comes from the base or from outside. A head that changes registry or policy is judged by
the old ones; and its changes count only if they can be followed from the old ones:

1. *Registry*: every role authenticates, and its root chains from the base's last root, by the
   base's keys. A registry under other keys was sealed anew, and trust in it is trust in whoever
   did that (FORMATS §1): it takes a named waiver.
2. *Versions*: no role is older than the base's.
3. *Policy*: it demands at least what the base's does.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from verifier.catalog.refused import Refused
from verifier.checks.head.part import Part
from verifier.core.finding import Finding, Where
from verifier.core.value import frozen

FACET: Final = "registry-changes"
_MOST_NAMED: Final = 5


@frozen
class RegistryChange:
    """A folder that differs between base and head.

    `refused` says why the head's registry does not follow from the base's, None if it does.
    `resealed` is set where it authenticates by keys of its own. `versions` are those of the
    snapshots before and after, None where one of them cannot be read. `entries` are those that
    differ, by what became of them: added, changed, removed.
    """

    folder: str
    refused: Refused | None
    resealed: bool
    versions: tuple[int, int] | None
    entries: Mapping[str, Sequence[str]]


@frozen
class PolicyChange:
    """The policy's own file where the head changes it; `weaker` says in words what it gives up."""

    path: str
    weaker: tuple[str, ...]


def registry_changes(
    registries: Sequence[RegistryChange], policy: PolicyChange | None, *, watched: bool
) -> Part:
    """Judge both; `watched` says whether the policy names a registry, or is in the repository."""
    if not watched:
        return Part.absent(FACET, "the policy names no registry of this repository")
    findings = [f for each in registries for f in _of_registry(each)] + _of_policy(policy)
    told = _told(registries, policy)
    if findings:
        return Part.broken(FACET, tuple(findings), told)
    return Part.held(FACET, told)


def _told(registries: Sequence[RegistryChange], policy: PolicyChange | None) -> str:
    words = []
    for registry in registries:
        counts = [f"{len(names)} {what}" for what, names in registry.entries.items() if names]
        words.append(f"registry changed, entries {', '.join(counts) or 'all the same'}")
    if policy is not None:
        words.append(f"{policy.path} changed; the base's judges")
    return "; ".join(words) or "neither registry nor policy changed"


def _of_registry(change: RegistryChange) -> list[Finding]:
    if change.refused is None:
        return []
    first = change.refused.findings[0]
    if change.resealed:
        return [
            *_older(change),
            Finding(
                code="registry-resealed",
                where=Where(path=change.folder),
                expected="a registry signed by the keys of the base's, or by new ones that those "
                "have signed",
                got=f"{first.code}: {first.got}",
                cause="its keys were made anew: nothing but this change vouches for them",
                remedy="review every entry that differs (pinproof diff registry shows them), then "
                "waive registry-resealed by name and date in the base's policy; or keep keys",
            ),
        ]
    return [
        Finding(
            code="head-registry-refused",
            where=Where(path=f"{change.folder}{first.where.path or ''}"),
            expected="a registry that follows from the base's",
            got=f"{first.code}: {first.got}",
            cause=first.cause,
            remedy=first.remedy,
        )
    ]


def _older(change: RegistryChange) -> Iterable[Finding]:
    """Find a registry that was sealed anew and is no newer: then a waiver must not be enough."""
    before, after = change.versions or (0, 1)
    if after <= before:
        yield Finding(
            code="head-registry-refused",
            where=Where(path=change.folder),
            expected=f"a snapshot above version {before:,}, the base's",
            got=f"version {after:,}",
            cause="it was sealed from an older registry, or beside another change of it",
            remedy="bring the base into the head, and seal again: make registry",
        )


def _of_policy(change: PolicyChange | None) -> list[Finding]:
    if change is None or not change.weaker:
        return []
    listed = "; ".join(change.weaker[:_MOST_NAMED])
    more = f"; and {len(change.weaker) - _MOST_NAMED} more" * (len(change.weaker) > _MOST_NAMED)
    return [
        Finding(
            code="head-policy-weakened",
            where=Where(path=change.path),
            expected="a policy that demands at least what the base's demands",
            got=f"{listed}{more}",
            cause="from the merge on, this policy would judge what comes next",
            remedy="take the change out; or first merge a change of the base's policy by itself: a "
            f"[[waiver]] of head-policy-weakened, subject {change.path}, until a date",
        )
    ]
