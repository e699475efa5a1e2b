"""Policies: what one demands, in words, and whether what it names is there to be demanded."""

from collections.abc import Iterator
from typing import Any, Final

from verifier.ask.answers import Answer, Answered
from verifier.ask.trusted import Trust
from verifier.catalog import signer_names
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.open import Catalog, Refused
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS, HeadDemand
from verifier.core.finding import Finding
from verifier.core.outcome import Outcome, Report, Subject
from verifier.core.table import nearest
from verifier.policy import Policy, judge

KIND: Final = "policy"
_FACETS: Final = FACETS[KIND]
_JUDGED: Final = ("helper", "composition", "image", "runtime", "release", "receipt", "head")


def check_policy(*, trust: Trust) -> Report:
    """Judge the policy of a run: what it names is registered, and its waivers are in force.

    A policy that breaks its format never gets here: opening it is a wrong call.
    """
    policy = trust.policy
    unknown = [] if isinstance(trust.catalog, Refused) else [*_unknown(policy, trust.catalog)]
    over = [
        _over(waiver.code, waiver.subject, waiver.until)
        for waiver in policy.waivers
        if trust.now >= waiver.until
    ]
    refused = trust.catalog.findings if isinstance(trust.catalog, Refused) else ()
    states = (
        (State.HELD, "every key is known, every facet exists"),
        _state(unknown, refused, "what it names is registered"),
        _state(over, (), f"{len(policy.waivers)}, all in force" if policy.waivers else "none"),
    )
    outcome = Outcome(
        kind=KIND,
        identified=(),
        findings=(*refused, *unknown, *over),
        coverage=tuple(
            Covered(facet=facet, state=state, detail=detail)
            for facet, (state, detail) in zip(_FACETS, states, strict=True)
        ),
        not_proven=("that it demands enough for what it is used for",),
    )
    result = judge(
        outcome,
        subject=Subject(name=f"policy {policy.name}"),
        demanded=frozenset(_FACETS),
        now=trust.now,
    )
    return trust.report((result,))


def _state(findings: list[Finding], refused: tuple[Finding, ...], detail: str) -> tuple[State, str]:
    if refused:
        return State.NOT_CHECKED, ""
    return (State.NOT_HELD, "") if findings else (State.HELD, detail)


def _unknown(policy: Policy, catalog: Catalog) -> Iterator[Finding]:
    signers = signer_names.names(catalog.names("signers"), catalog.signers)
    for kind, name in _named(policy):
        known = signers if kind == "signer" else catalog.names(kind)
        if name not in known:
            near = nearest(name, known)
            yield Finding(
                code="policy-unknown-name",
                expected=f"a registered {kind}",
                got=name,
                remedy=f"did you mean {near}?" if near else "pinproof list shows what is there",
            )
    for accepted in sorted(policy.helper.accept if policy.helper else ()):
        lineage, _, version = accepted.partition("/")
        entry = catalog.helper(lineage)
        if not isinstance(entry, Lineage) or entry.version(version) is None:
            yield Finding(
                code="policy-unknown-name",
                expected="a registered version, as lineage/version",
                got=accepted,
                remedy="pinproof list shows the versions of each lineage",
            )


def _named(policy: Policy) -> Iterator[tuple[str, str]]:
    head = policy.head or HeadDemand(facets=frozenset())
    yield from (("helper", host.lineage) for host in head.hosts)
    yield from (("composition", placed.name) for placed in head.compositions)
    yield from (("signer", name) for each in head.approvals for name in each.signers)
    yield from (("signer", name) for name in head.receipt_signers)


def _over(code: str, subject: str, until: Any) -> Finding:
    return Finding(
        code="policy-waiver-over",
        expected="waivers that are in force, or none",
        got=f"{code} for {subject}, until {print_time(until)}",
        remedy="take it out; if its reason still stands, decide anew and set a new date",
    )


def show_policy(*, trust: Trust) -> Answered:
    """Show the policy of a run: what it demands of each kind of subject, and what it waives."""
    policy = trust.policy
    demands = {kind: _facets(policy, kind) for kind in _JUDGED}
    rows = [("SHA-256", policy.facts.sha256), ("about", policy.description)]
    rows += [(kind, ", ".join(facets)) for kind, facets in demands.items() if facets]
    rows += [*_more(policy), *_holds(policy), *_waivers(policy, trust)]
    rows.append(("past time", "may be asked for" if policy.past_time_allowed else "is refused"))
    answer = Answer(
        known=True,
        name=policy.name,
        headline=f"policy {policy.name}",
        rows=tuple(rows),
        data={
            "policy": policy.name,
            "sha256": policy.facts.sha256,
            "description": policy.description,
            "demands": {kind: list(facets) for kind, facets in demands.items() if facets},
            "holds": [hold.commit for hold in policy.holds],
            "waivers": [
                {"code": w.code, "subject": w.subject, "by": w.by, "until": print_time(w.until)}
                for w in policy.waivers
            ],
        },
    )
    return Answered(question="show", answers=(answer,), report=trust.report(()))


def _facets(policy: Policy, kind: str) -> tuple[str, ...]:
    """Return the demanded facets of a kind in the order of the list of all."""
    found = getattr(policy, kind)
    demanded = getattr(found, "facets", found) or frozenset()
    return tuple(facet for facet in FACETS[kind] if facet in demanded)


def _more(policy: Policy) -> Iterator[tuple[str, str]]:
    if policy.helper is not None:
        accepted = ", ".join(sorted(policy.helper.accept)) or "no other"
        versions = "the current one alone" if policy.helper.current_only else "supported ones"
        yield "versions", f"{versions}; accepted as well: {accepted}"
        yield "pristine", f"a host without helper is {policy.helper.pristine}"
    if policy.receipt is not None:
        yield "unsigned", f"receipts: {'accepted' if policy.receipt.unsigned else 'undecided'}"
    head = policy.head
    if head is None:
        return
    yield from (("host", f"{host.path} · {host.lineage}") for host in head.hosts)
    yield from (
        ("composed", f"{each.name} at {each.prefix or 'the root'}") for each in head.compositions
    )
    for label, told in (
        ("docs", ", ".join(head.documentation)),
        ("registry", head.registry),
        ("receipts", head.receipts),
        ("by", ", ".join(head.receipt_signers)),
        ("labels", ", ".join(head.hold_labels)),
    ):
        if told:
            yield label, told
    for each in head.approvals:
        says = f" saying {', '.join(each.says)}" if each.says else ""
        who = f"{each.threshold} of {', '.join(each.signers)}"
        yield "approval", f"{each.name}: {each.predicate}{says}, by {who}"


def _holds(policy: Policy) -> Iterator[tuple[str, str]]:
    for hold in policy.holds:
        yield "hold", f"{hold.commit} · {hold.owner}: {hold.reason}; lifts when: {hold.lifts_when}"


def _waivers(policy: Policy, trust: Trust) -> Iterator[tuple[str, str]]:
    for each in policy.waivers:
        over = " · over" if trust.now >= each.until else ""
        told = f"{each.code} for {each.subject} · by {each.by}, until {print_time(each.until)}"
        yield "waiver", f"{told}{over}: {each.reason}"
