"""Policies: what is demanded of a subject, and the judgement of what a check found.

A policy is a TOML file (FORMATS §3). It cannot be empty, cannot inherit, and its digest stands
in every report. Judging adds nothing to an outcome: it decides which of the findings count.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from verifier.core.codes import CODES
from verifier.core.coverage import Covered, State
from verifier.core.demand import ALWAYS, FACETS, HelperDemand, Pristine, ReceiptDemand
from verifier.core.digest import Digest, sha256
from verifier.core.finding import Finding, in_order
from verifier.core.outcome import Outcome, PolicyFacts, Result, Subject
from verifier.core.printable import quoted
from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.core.verdict import Verdict

SCHEMA: Final = "policy/v1"
_LIKE_A_DIGEST: Final = re.compile("([A-Za-z-]+:)?sha256:|git-[a-z]+:", re.IGNORECASE)
_REMEDY: Final = "correct the policy at the paths named above; pinproof explain malformed"


@frozen
class Waiver:
    """Takes one code out of the verdict for one subject until its date.

    `subject` is a typed digest, or the path that the subject was named by.
    """

    code: str
    subject: str
    reason: str
    by: str
    until: datetime

    def covers(self, finding: Finding, subject: Subject, now: datetime) -> bool:
        """Whether this waiver is in force and meant for this finding."""
        names = {subject.name, *map(str, subject.digests)}
        return finding.code == self.code and self.subject in names and now < self.until


@frozen
class Policy:
    """A parsed policy.

    `helper` and the facets demanded of other kinds are None where it demands nothing of such.
    """

    facts: PolicyFacts
    description: str
    min_snapshot: int
    past_time_allowed: bool
    helper: HelperDemand | None
    composition: frozenset[str] | None
    image: frozenset[str] | None
    runtime: frozenset[str] | None
    release: frozenset[str] | None
    receipt: ReceiptDemand | None
    waivers: tuple[Waiver, ...]

    @property
    def name(self) -> str:
        """The name that reports use."""
        return self.facts.name


def load(data: bytes, *, where: str) -> Policy:
    """Read a policy. Raises `MalformedError` naming every mistake by its path.

    `where` is the file or name that errors and remedies mention.
    """
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    name = table.text("name", pattern="[a-z0-9][a-z0-9-]*", form="a-z, 0-9 and dashes")
    registry = table.optional_table("registry")
    min_snapshot = registry.integer("min_snapshot", default=0) if registry else 0
    if registry:
        registry.close()
    helper = table.optional_table("helper")
    receipt = table.optional_table("receipt")
    others = {
        kind: table.optional_table(kind) for kind in ("composition", "image", "runtime", "release")
    }
    past_time = table.text("insecure_past_time", default="allow", choices=["refuse", "allow"])
    policy = Policy(
        facts=PolicyFacts(name=name, sha256=sha256(data)),
        description=table.text("description"),
        min_snapshot=min_snapshot,
        past_time_allowed=past_time == "allow",
        helper=_helper(helper) if helper else None,
        composition=_facets(others["composition"], "composition"),
        image=_facets(others["image"], "image"),
        runtime=_facets(others["runtime"], "runtime"),
        release=_facets(others["release"], "release"),
        receipt=_receipt(receipt) if receipt else None,
        waivers=tuple(map(_waiver, table.tables("waiver"))),
    )
    if not any((helper, receipt, *others.values())):
        table.mistake("", "demands nothing: give at least one table such as [helper]")
    table.done()
    return policy


def _helper(table: Table) -> HelperDemand:
    demand = _demand(table, "helper")
    if demand and "helper" not in demand:
        table.mistake("demand", "lacks helper: without it nothing says what a file carries")
    accept = table.texts("accept", default=())
    for version in accept:
        if not re.fullmatch("[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*", version):
            table.mistake("accept", f"{quoted(version)} is not of the form lineage/version")
    helper = HelperDemand(
        facets=demand,
        accept=frozenset(accept),
        current_only=table.flag("current_only"),
        pristine=Pristine(table.text("pristine", default="undecided", choices=Pristine)),
    )
    if helper.current_only and accept:
        table.mistake("accept", "contradicts current_only")
    table.close()
    return helper


def _receipt(table: Table) -> ReceiptDemand:
    unsigned = table.text("unsigned", default="undecided", choices=["undecided", "accept"])
    demand = ReceiptDemand(facets=_demand(table, "receipt"), unsigned=unsigned == "accept")
    if demand.unsigned and "signed" in demand.facets:
        table.mistake("unsigned", "accept contradicts the demand for signed")
    table.close()
    return demand


def _facets(table: Table | None, kind: str) -> frozenset[str] | None:
    if table is None:
        return None
    demand = _demand(table, kind)
    table.close()
    return demand


def _demand(table: Table, kind: str) -> frozenset[str]:
    facets = table.texts("demand")
    if table.has("demand") and not facets:
        table.mistake("demand", "is empty: a policy that demands nothing proves nothing")
    for facet in facets:
        if facet not in FACETS[kind]:
            table.mistake("demand", f"{quoted(facet)} is none of {', '.join(FACETS[kind])}")
    return frozenset(facets)


def _waiver(table: Table) -> Waiver:
    waivable = [code for code, row in CODES.items() if row.outcome != "error"]
    waiver = Waiver(
        code=table.text("code", choices=waivable),
        subject=table.text("subject"),
        reason=table.text("reason"),
        by=table.text("by"),
        until=table.time("until"),
    )
    if _LIKE_A_DIGEST.match(waiver.subject) and Digest.parse(waiver.subject) is None:
        table.mistake("subject", "is no digest: <kind>:sha256:<64 lower-case hex digits>")
    table.close()
    return waiver


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
    waivers = tuple(waivers)
    waived = {f for f in outcome.findings if any(w.covers(f, subject, now) for w in waivers)}
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
        graph=outcome.graph,
        study=outcome.study,
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
