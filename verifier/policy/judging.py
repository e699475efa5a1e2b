"""The judgement: which of the findings count under what is demanded."""

from collections.abc import Iterable
from dataclasses import astuple
from datetime import datetime

from verifier.core.coverage import Covered, State
from verifier.core.demand import ALWAYS
from verifier.core.finding import in_order
from verifier.core.outcome import Outcome, Result, Subject
from verifier.core.verdict import Verdict
from verifier.policy.document import Waiver


def judge(
    outcome: Outcome,
    *,
    subject: Subject,
    demanded: frozenset[str],
    waivers: Iterable[Waiver] = (),
    now: datetime,
) -> Result:
    """Decide which findings count, and say verified only if nothing is left open.

    1. A finding that a waiver in force covers does not count.
    2. A rejected finding always counts.
    3. An undecided finding counts if its facet is demanded, or is one that always is.
    4. Every demanded facet was checked and holds. One that does not apply to this subject is
       no obstacle, as long as another demanded facet holds.
    """
    used = {(f, w) for w in waivers for f in outcome.findings if w.covers(f, subject, now)}
    waived = {f for f, _ in used}
    counting = [f for f in outcome.findings if f not in waived]
    if any(f.row.outcome == "rejected" for f in counting):
        verdict = Verdict.REJECTED
    elif any(f.row.facet in demanded | ALWAYS for f in counting):
        verdict = Verdict.UNDECIDED
    elif _all_hold(outcome.coverage, demanded, {f.row.facet for f in waived}):
        verdict = Verdict.VERIFIED
    else:
        verdict = Verdict.UNDECIDED
    return Result(
        kind=outcome.kind,
        subject=subject,
        verdict=verdict,
        identified=outcome.identified,
        findings=in_order(outcome.findings, subject.name),
        coverage=outcome.coverage,
        not_proven=outcome.not_proven,
        demanded=demanded,
        claims=outcome.claims,
        waived=tuple(sorted({f.code for f in waived})),
        waivers=tuple(sorted({w.facts for _, w in used}, key=astuple)),
        graph=outcome.graph,
        study=outcome.study,
        producers=outcome.producers,
    )


def _all_hold(coverage: tuple[Covered, ...], demanded: frozenset[str], waived: set[str]) -> bool:
    states = {row.facet: row.state for row in coverage if row.facet in demanded}
    open_facets = {
        facet
        for facet in demanded
        if not (state := states.get(facet, State.NOT_CHECKED)).holds
        and state is not State.NOT_APPLICABLE
        and not (state is State.NOT_HELD and facet in waived)
    }
    return not open_facets and any(state.holds for state in states.values())
