"""What one policy gives up that another demands.

Of a change of a policy this says only what makes it weaker: a facet, host, composition, approval,
hold or label that goes, an acceptance, waiver or documentation path that comes. What it adds to the
demands needs nobody's care.
"""

from collections.abc import Iterable, Iterator

from verifier.core.demand import Approval, HeadComposition, HeadDemand, HeadHost
from verifier.policy.document import Policy


def weaker(old: Policy, new: Policy) -> tuple[str, ...]:
    """Say in words what `new` gives up of `old`."""
    return (
        *_general(old, new),
        *_facets(old, new),
        *_helpers(old, new),
        *_head(old.head, new.head),
    )


def _general(old: Policy, new: Policy) -> Iterator[str]:
    if new.min_snapshot < old.min_snapshot:
        yield f"registry.min_snapshot: {old.min_snapshot} → {new.min_snapshot}"
    if new.past_time_allowed and not old.past_time_allowed:
        yield "insecure_past_time: refuse → allow"
    for hold in old.holds:
        if hold.commit not in {each.commit for each in new.holds}:
            yield f"hold on {hold.commit}: gone"
    for waiver in new.waivers:
        if waiver not in old.waivers:
            yield f"waiver of {waiver.code} for {waiver.subject}: new"


def _facets(old: Policy, new: Policy) -> Iterator[str]:
    for kind, before, after in _demands(old, new):
        gone = sorted((before or frozenset()) - (after or frozenset()))
        if gone:
            yield f"{kind}.demand no longer asks for {', '.join(gone)}"
    if old.receipt and new.receipt and new.receipt.unsigned and not old.receipt.unsigned:
        yield "receipt.unsigned: undecided → accept"


def _demands(
    old: Policy, new: Policy
) -> Iterator[tuple[str, frozenset[str] | None, frozenset[str] | None]]:
    for kind in ("composition", "image", "runtime", "release"):
        yield kind, getattr(old, kind), getattr(new, kind)
    for kind in ("helper", "receipt", "head"):
        before, after = getattr(old, kind), getattr(new, kind)
        yield kind, before and before.facets, after and after.facets


def _helpers(old: Policy, new: Policy) -> Iterator[str]:
    if old.helper is None or new.helper is None:
        return
    for version in sorted(new.helper.accept - old.helper.accept):
        yield f"helper.accept: {version} as well"
    if old.helper.current_only and not new.helper.current_only:
        yield "helper.current_only: true → false"
    if new.helper.pristine != old.helper.pristine and str(new.helper.pristine) == "verified":
        yield "helper.pristine: undecided → verified"


def _head(old: HeadDemand | None, new: HeadDemand | None) -> Iterator[str]:
    if old is None:
        return
    new = new or HeadDemand(facets=frozenset())
    yield from _came("documentation", old.documentation, new.documentation)
    yield from _came("receipt_signers", old.receipt_signers, new.receipt_signers)
    yield from _went("hosts", map(_host, old.hosts), map(_host, new.hosts))
    yield from _went("compositions", map(_placed, old.compositions), map(_placed, new.compositions))
    yield from _went("hold_labels", old.hold_labels, new.hold_labels)
    for key in ("registry", "receipts"):
        before, after = getattr(old, key), getattr(new, key)
        if before not in (None, after):
            yield f"head.{key}: {before} → {after or 'none'}"
    if old.receipts is None and new.receipts is not None:
        # From then on the head itself brings what counts for it.
        yield f"head.receipts: none → {new.receipts}"
    yield from _approvals(old, new)


def _came(key: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    known = set(old)
    yield from (f"head.{key}: {each} as well" for each in new if each not in known)


def _went(key: str, old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    left = set(new)
    yield from (f"head.{key}: without {each}" for each in old if each not in left)


def _host(host: HeadHost) -> str:
    return f"{host.path} ({host.lineage})"


def _placed(composition: HeadComposition) -> str:
    return f"{composition.name} at {composition.prefix or 'the root'}"


def _approvals(old: HeadDemand, new: HeadDemand) -> Iterator[str]:
    after = {approval.name: approval for approval in new.approvals}
    for approval in old.approvals:
        found = after.get(approval.name)
        if found is None:
            yield f"head.approvals: without {approval.name}"
        elif not _covers(approval, found):
            yield f"head.approvals: {approval.name} asks for less, or for others"


def _covers(old: Approval, new: Approval) -> bool:
    """Whether an approval asks for all that another did, of nobody who was not asked before."""
    return (
        new.predicate == old.predicate
        and set(old.says) <= set(new.says)
        and set(new.signers) <= set(old.signers)
        and new.threshold >= old.threshold
    )
