"""Reading how a study was laid out, and what came of each arm (`model`)."""

from collections.abc import Mapping
from datetime import datetime
from itertools import chain

from verifier.checks.receipt.document.model import (
    Activation,
    Arm,
    ArmState,
    Capture,
    Counts,
    Design,
    Gates,
    Role,
    Tests,
)
from verifier.checks.receipt.document.reading_identity import Digests, environment, evidence
from verifier.core.table import Table

#: The declared designs; A is a control or the return to it, B a candidate (A3).
DESIGNS = ("BAAB", "ABBA", "AAB", "ABA", "sequential", "single")
#: What an activation may rest on; the last two show a wish and no feature at work (B15).
BASES = ("requestLog", "counter", "flag", "alignment")
FLAGS = ("capacityLimited", "underfilled", "warmupTimedOut")


def time(table: Table, key: str) -> datetime | None:
    """Read a time, None where it is absent."""
    return table.time(key) if table.has(key) else None


def strings(table: Table, key: str) -> Mapping[str, str] | None:
    """Read a table of strings whose keys are data, None where it is absent."""
    below = table.optional_table(key)
    return below.strings() if below else None


def gates(table: Table, digests: Digests) -> Gates:
    """Read what is said of the gate file; closes the table."""
    read = Gates(
        planned=digests.read(table, "planned"),
        judged=digests.read(table, "judged"),
        declared_at=time(table, "declaredAt"),
        attested=digests.read(table, "timeEvidence"),
    )
    table.close()
    return read


def design(table: Table) -> Design:
    """Read how the study was laid out; closes the table."""
    read = Design(
        kind=table.text("kind", choices=DESIGNS),
        order=table.texts("order"),
        fresh_boots=table.flag("freshBootPerArm"),
        differing=table.texts("differingSettings", default=()),
        algorithmic=table.texts("algorithmicSettings", default=()),
        cases=table.texts("cases", default=()),
        repetitions=table.optional_integer("repetitions"),
        warmups=table.optional_integer("warmups"),
        budget_us=table.optional_integer("budgetUs"),
        added=tuple(_added(each) for each in table.tables("addedCases")),
    )
    table.close()
    return read


def _added(table: Table) -> tuple[str, datetime]:
    read = table.text("case"), table.time("addedAt")
    table.close()
    return read


def arm(table: Table, digests: Digests) -> Arm:
    """Read one arm; closes the table."""
    counts, own = table.optional_table("counts"), table.optional_table("environment")
    read = Arm(
        id=table.text("id"),
        role=Role(table.text("role", choices=list(Role))),
        settings=strings(table, "settings") or {},
        planned_settings=strings(table, "plannedSettings"),
        started_at=time(table, "startedAt"),
        finished_at=time(table, "finishedAt"),
        process_started_at=time(table, "processStartedAt"),
        boot=digests.read(table, "bootId"),
        collector=digests.read(table, "collector"),
        workload=digests.read(table, "workload"),
        restarts=table.optional_integer("restarts"),
        oom_kills=table.optional_integer("oomKills"),
        preemptions=table.optional_integer("preemptions"),
        faults=table.optional_integer("transportFaults"),
        swaps=table.optional_integer("swaps"),
        container_before=digests.read(table, "containerBefore"),
        container_after=digests.read(table, "containerAfter"),
        state=ArmState(table.text("state", choices=list(ArmState))),
        reason=table.optional_text("reason"),
        activation=tuple(_activation(each, digests) for each in table.tables("activation")),
        counts=_counts(counts) if counts else None,
        captures=tuple(_capture(each, digests) for each in table.tables("captures")),
        flags=table.texts("flags", default=()),
        case_flags=_case_flags(table.optional_table("caseFlags")),
        failing=table.texts("failingChecks") if table.has("failingChecks") else None,
        outputs=digests.read(table, "outputs"),
        checker=digests.read(table, "checker"),
        environment=environment(own) if own else None,
    )
    for flag in (*read.flags, *chain.from_iterable(read.case_flags.values())):
        if flag not in FLAGS:
            table.mistake("flags", f"{flag} is none of {', '.join(FLAGS)}")
    table.close()
    return read


def _case_flags(table: Table | None) -> Mapping[str, tuple[str, ...]]:
    return {case: table.texts(case) for case in table.keys()} if table else {}  # noqa: SIM118


def _activation(table: Table, digests: Digests) -> Activation:
    read = Activation(
        feature=table.text("feature"),
        observed=table.text("state", choices=["observed", "notObserved"]) == "observed",
        when=table.text("when", choices=["before", "after"]),
        evidence=digests.read(table, "evidence"),
        basis=table.text("basis", choices=BASES) if table.has("basis") else None,
    )
    table.close()
    return read


def _counts(table: Table) -> Counts:
    read = Counts(
        planned=table.integer("planned"),
        complete=table.integer("complete"),
        failed=table.integer("failed"),
        timed_out=table.integer("timedOut"),
        truncated=table.integer("truncated"),
        cancelled=table.integer("cancelled"),
        not_started=table.integer("notStarted"),
    )
    table.close()
    return read


def _capture(table: Table, digests: Digests) -> Capture:
    read = Capture(
        attempt=table.integer("attempt", least=1),
        state=ArmState(table.text("state", choices=list(ArmState))),
        evidence=evidence(table.table("evidence"), digests),
        started_at=time(table, "startedAt"),
        finished_at=time(table, "finishedAt"),
    )
    table.close()
    return read


def tests(table: Table) -> Tests:
    """Read the counts of a test suite; closes the table."""
    read = Tests(
        run=table.integer("run"),
        passed=table.integer("passed"),
        failed=table.integer("failed"),
        errors=table.integer("errors"),
        skipped=tuple(_skip(each) for each in table.tables("skipped")),
        disclosed=table.texts("disclosedFailures", default=()),
    )
    table.close()
    return read


def _skip(table: Table) -> tuple[str, str | None]:
    read = table.text("test"), table.optional_text("reason")
    table.close()
    return read
