"""Reading a receipt: JSON to `Receipt` and its sample rows, every mistake by its path (FORMATS §6).

The predicate of a Statement comes in as parsed strict JSON. Unknown fields are refused; absent is
absent, never a default that a rule could take for a fact.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from verifier.checks.receipt.document import reading_identity as identity
from verifier.checks.receipt.document import reading_study as study
from verifier.checks.receipt.document.model import Kind, Receipt
from verifier.checks.receipt.document.reading_figures import claim, figure, gate_result, scrape
from verifier.core.limits import RECEIPT_ARMS, RECEIPT_CLAIMS, RECEIPT_FIGURES
from verifier.core.table import Table

PREDICATE: Final = "urn:pinproof:measurement-receipt:v1"
ASSURANCES: Final = ("authorReported", "independentlyReproduced", "maintainerRun")
REMEDY: Final = "correct the receipt at the paths named above; docs/receipts.md describes each"
Digests = identity.Digests


def receipt(
    predicate: Mapping[str, Any], subjects: Mapping[str, Mapping[str, str]], *, what: str
) -> Receipt:
    """Build a receipt from a predicate without its samples, and the digests of its subjects.

    `subjects` holds, by name, the digest set of each subject of the statement. Raises
    `MalformedError` naming every mistake.
    """
    named = {name: dict(digest) for name, digest in subjects.items()}
    table = Table({**predicate, "subject": named}, what=what, remedy=REMEDY)
    if "subject" in predicate:
        table.mistake("subject", "belongs to the statement, not to its predicate")
    read = _read(table, table.table("subject"), Digests())
    for kind, most, ids in (
        ("arms", RECEIPT_ARMS, [arm.id for arm in read.arms]),
        ("derived", RECEIPT_FIGURES, [each.id for each in read.figures]),
        ("claims", RECEIPT_CLAIMS, [each.id for each in read.claims]),
        ("outcomes", RECEIPT_FIGURES, [each.gate for each in read.results]),
    ):
        if len(ids) > most:
            table.mistake(kind, f"{len(ids):,} of them, at most {most:,} are read")
        for name in sorted(name for name, number in Counter(ids).items() if number > 1):
            table.mistake(kind, f"{name} is given twice")
    table.done()
    return read


def _read(table: Table, subjects: Table, digests: Digests) -> Receipt:
    def optional(key: str) -> Table | None:
        return table.optional_table(key)

    collector, runtime, design = optional("collector"), optional("runtime"), optional("design")
    gates, tests, summarises = optional("gates"), optional("tests"), optional("summarises")
    scope, sanitised = optional("scope"), optional("sanitisation")
    receipt = Receipt(
        id=table.text("receiptId"),
        kind=Kind(table.text("kind", choices=list(Kind))),
        status=table.optional_text("status"),
        reporter=table.text("reporter"),
        assurance=table.text("assurance", choices=ASSURANCES),
        reproducer=table.optional_text("reproducer"),
        supersedes=digests.read(table, "supersedes"),
        summarises=identity.evidence(summarises, digests) if summarises else None,
        source=digests.commit(subjects, "source"),
        image=digests.read(subjects, "image"),
        collector=identity.collector(collector, digests) if collector else None,
        workloads=tuple(identity.workload(each, digests) for each in table.tables("workloads")),
        models=tuple(identity.model(each, digests) for each in table.tables("models")),
        runtime=identity.runtime(runtime, digests) if runtime else None,
        environment=identity.environment(optional("environment")),
        claim_head=digests.commit(table, "claimHead"),
        base=digests.commit(table, "baseCommit"),
        branch_head=digests.commit(table, "targetBranchHead"),
        approval=digests.commit(table, "approvedHead"),
        equality=tuple(identity.equality(each, digests) for each in table.tables("equality")),
        gates=study.gates(gates, digests) if gates else None,
        design=study.design(design) if design else None,
        arms=tuple(study.arm(each, digests) for each in table.tables("arms")),
        scrapes=tuple(map(scrape, table.tables("scrapes"))),
        sample_count=table.optional_integer("sampleCount"),
        totals=_totals(optional("totals")),
        figures=tuple(figure(each, digests) for each in table.tables("derived")),
        results=tuple(map(gate_result, table.tables("outcomes"))),
        claims=tuple(map(claim, table.tables("claims"))),
        tests=study.tests(tests) if tests else None,
        references=tuple(identity.reference(each, digests) for each in table.tables("references")),
        measured_scope=study.strings(scope, "measured") or {} if scope else {},
        not_claimed=scope.texts("notClaimed", default=()) if scope else (),
        deviations=tuple(map(_deviation, table.tables("deviations"))),
        evidence=tuple(identity.evidence(each, digests) for each in table.tables("evidence")),
        redacted=sanitised.texts("redactedFields") if sanitised else None,
        values_altered=sanitised.flag("valuesAltered") if sanitised else None,
        planned_at=study.time(table, "plannedAt"),
        verdict_at=study.time(table, "verdictAt"),
        published_at=study.time(table, "publishedAt"),
        digests=tuple(digests.seen),
    )
    for below in (scope, sanitised):
        if below:
            below.close()
    return receipt


def _totals(table: Table | None) -> Mapping[str, int] | None:
    if table is None:
        return None
    return {name: table.integer(name) for name in table.keys()}  # noqa: SIM118


def _deviation(table: Table) -> tuple[str, tuple[str, ...]]:
    read = table.text("what"), table.texts("affects", default=())
    table.close()
    return read
