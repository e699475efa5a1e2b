"""A policy as it is written: a TOML file that says what is demanded (FORMATS §3).

It cannot be empty, cannot inherit, and its digest stands in every report.
"""

import functools
import re
from datetime import datetime
from typing import Final

from verifier.core.clock import print_time
from verifier.core.codes import CODES
from verifier.core.demand import (
    FACETS,
    HeadDemand,
    HelperDemand,
    Hold,
    Pristine,
    ReceiptDemand,
)
from verifier.core.digest import Digest, sha256
from verifier.core.finding import Finding
from verifier.core.outcome import PolicyFacts, Subject, Waived
from verifier.core.printable import quoted
from verifier.core.table import Table
from verifier.core.value import frozen

SCHEMA: Final = "policy/v1"
_LIKE_A_DIGEST: Final = re.compile("([A-Za-z-]+:)?sha256:|git-[a-z]+:", re.IGNORECASE)
_COMMIT: Final = "[0-9a-f]{40}|[0-9a-f]{64}"
#: A hold is lifted by taking it out of the policy, never by going around it.
_NEVER_WAIVED: Final = ("head-held",)
_REMEDY: Final = "correct the policy at the paths named above; pinproof explain malformed"


@frozen
class Waiver:
    """Takes one code out of the verdict for one subject until its date.

    `subject` is a typed digest, or a path: the one that the subject was named by, or the one that
    the finding is about.
    """

    code: str
    subject: str
    reason: str
    by: str
    until: datetime

    def covers(self, finding: Finding, subject: Subject, now: datetime) -> bool:
        """Whether this waiver is in force and meant for this finding."""
        names = {subject.name, finding.where.path, *map(str, subject.digests)}
        return finding.code == self.code and self.subject in names and now < self.until

    @property
    def facts(self) -> Waived:
        """What a report says of this waiver."""
        return Waived(code=self.code, reason=self.reason, by=self.by, until=print_time(self.until))


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
    head: HeadDemand | None
    holds: tuple[Hold, ...]
    waivers: tuple[Waiver, ...]

    @property
    def name(self) -> str:
        """The name that reports use."""
        return self.facts.name


@functools.lru_cache(16)  # one policy judges whatever a process is asked
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
    head = table.optional_table("head")
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
        head=_head(head) if head else None,
        holds=tuple(map(_hold, table.tables("hold"))),
        waivers=tuple(map(_waiver, table.tables("waiver"))),
    )
    if not any((helper, receipt, head, *others.values())):
        table.mistake("", "demands nothing: give at least one table such as [helper]")
    _refuse_unjudged(table, policy)
    table.done()
    return policy


def _refuse_unjudged(table: Table, policy: Policy) -> None:
    """Refuse a head whose parts nothing in the policy judges."""
    head = policy.head
    needed = (
        ("hosts", head and head.hosts, "helper", policy.helper),
        ("compositions", head and head.compositions, "composition", policy.composition),
        ("demand", head and "receipts" in head.facets, "receipt", policy.receipt),
    )
    for key, listed, kind, demand in needed:
        if listed and demand is None:
            table.mistake(f"head.{key}", f"needs a table [{kind}], by which they are judged")


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


def _head(table: Table) -> HeadDemand:
    from verifier.policy import head  # noqa: PLC0415  (only policies of merges pay)

    found = head.read(table, facets=_demand(table, "head"))
    table.close()
    return found


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


def _hold(table: Table) -> Hold:
    hold = Hold(
        commit=table.text("commit", pattern=_COMMIT, form="40 or 64 lower-case hex digits"),
        reason=table.text("reason"),
        owner=table.text("owner"),
        next_action=table.text("next_action"),
        lifts_when=table.text("lifts_when"),
    )
    table.close()
    return hold


def _waiver(table: Table) -> Waiver:
    waivable = [code for code, row in CODES.items() if row.outcome != "error"]
    waiver = Waiver(
        code=table.text("code", choices=waivable),
        subject=table.text("subject"),
        reason=table.text("reason"),
        by=table.text("by"),
        until=table.time("until"),
    )
    if waiver.code in _NEVER_WAIVED:
        table.mistake("code", f"{waiver.code} is never waived: take the hold out of the policy")
    if _LIKE_A_DIGEST.match(waiver.subject) and Digest.parse(waiver.subject) is None:
        table.mistake("subject", "is no digest: <kind>:sha256:<64 lower-case hex digits>")
    table.close()
    return waiver
