"""The gate file: what was to be compared, and by what, declared before the first request.

It is an in-toto Statement with the predicate `urn:pinproof:measurement-gates:v1` (receipts.md
§4.4). Its digest is compared by rules G1 and G2; here its content is, so that a threshold that was
frozen at 10 % stays 10 %. Gate files of other shapes are compared by digest alone.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

from verifier.checks.receipt.document.model import GateResult, Receipt
from verifier.checks.receipt.document.reading_figures import COMPARATORS, GATE_KINDS, decimal
from verifier.checks.receipt.document.reading_study import DESIGNS
from verifier.core.finding import Finding, Where
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.strict import read_json
from verifier.core.table import Table
from verifier.core.value import frozen

PREDICATE: Final = "urn:pinproof:measurement-gates:v1"
_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_REMEDY: Final = "correct the gate file at the paths named above; docs/receipts.md describes it"
_KEEP: Final = "judge by the gates that were declared, or publish the study as another one"
_ROLES: Final = ("control", "candidate", "return")


@frozen
class PlannedGate:
    """One gate as it was declared."""

    gate: str
    kind: str
    figure: str | None
    comparator: str | None
    threshold: Decimal | None


@frozen
class GatesFile:
    """What was declared: gates, arms by role, their order, the cases of the core, and the scope."""

    study: str
    declared_at: datetime
    gates: tuple[PlannedGate, ...]
    arms: Mapping[str, str]
    design: str
    order: tuple[str, ...]
    cases: tuple[str, ...]
    scope: Mapping[str, str]


def read(data: bytes, *, what: str) -> GatesFile | None:
    """Read a gate file; None if it is no statement of this predicate.

    Raises `MalformedError` naming every mistake of one that is.
    """
    try:
        value = read_json(data, limit=DOCUMENT_BYTES)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("predicateType") != PREDICATE:
        return None
    table = Table(value, what=what, remedy=_REMEDY)
    table.text("_type", choices=[_STATEMENT])
    table.text("predicateType")
    for subject in table.tables("subject"):
        subject.text("name")
        subject.table("digest").strings()
        subject.close()
    found = _predicate(table.table("predicate"))
    table.done()
    return found


def _predicate(table: Table) -> GatesFile:
    scope = table.optional_table("scope")
    gates = tuple(map(_gate, table.tables("gates")))
    arms = [(arm.text("id"), arm.text("role", choices=_ROLES), arm) for arm in table.tables("arms")]
    for _, _, arm in arms:
        arm.close()
    design = table.table("design")
    found = GatesFile(
        study=table.text("studyId"),
        declared_at=table.time("declaredAt"),
        gates=gates,
        arms={name: role for name, role, _ in arms},
        design=design.text("kind", choices=DESIGNS),
        order=design.texts("order"),
        cases=table.texts("cases", default=()),
        scope=scope.strings() if scope else {},
    )
    if not gates:
        table.mistake("gates", "missing, expected at least one")
    if len({each.gate for each in gates}) != len(gates):
        table.mistake("gates", "lists a gate twice")
    if len(found.arms) != len(arms):
        table.mistake("arms", "lists an arm twice")
    design.close()
    table.close()
    return found


def _gate(table: Table) -> PlannedGate:
    comparator = table.has("comparator")
    found = PlannedGate(
        gate=table.text("gate"),
        kind=table.text("kind", choices=GATE_KINDS),
        figure=table.optional_text("figure"),
        comparator=table.text("comparator", choices=COMPARATORS) if comparator else None,
        threshold=decimal(table, "threshold")[0],
    )
    if (found.comparator is None) != (found.threshold is None):
        table.mistake("", "expected comparator and threshold together, or none of them")
    table.close()
    return found


def compared(declared: GatesFile, receipt: Receipt) -> Iterator[Finding]:
    """Compare what was declared with how the receipt was laid out and judged."""
    judged = {result.gate: result for result in receipt.results}
    for gate in declared.gates:
        if gate.gate not in judged:
            yield _finding(
                "receipt-gates-missing", gate.gate, "an outcome, whatever it is", "none was given"
            )
        else:
            yield from _changed(gate, judged[gate.gate])
    for name in sorted(judged.keys() - {gate.gate for gate in declared.gates}):
        yield _finding(
            "receipt-gates-added", name, "a gate that was declared", "judged, undeclared"
        )
    yield from _laid_out(declared, receipt)


def _changed(gate: PlannedGate, result: GateResult) -> Iterator[Finding]:
    pairs = (
        ("kind", gate.kind, result.kind),
        ("figure", gate.figure, result.figure),
        ("comparator", gate.comparator, result.comparator),
        ("threshold", gate.threshold, result.threshold),
    )
    for name, declared, judged in pairs:
        if declared is not None and declared != judged:
            got = f"{name} {'none' if judged is None else judged}"
            yield _finding("receipt-gates-changed", gate.gate, f"{name} {declared}", got)


def _laid_out(declared: GatesFile, receipt: Receipt) -> Iterator[Finding]:
    design = receipt.design
    pairs = (
        ("arms", dict(declared.arms), {arm.id: str(arm.role) for arm in receipt.arms}),
        ("design", declared.design, design.kind if design else None),
        ("order", list(declared.order), list(design.order) if design else []),
        ("cases", sorted(declared.cases), sorted(design.cases) if design else []),
    )
    for name, planned, found in pairs:
        if planned and planned != found:
            yield _finding("receipt-gates-design", name, _told(planned), _told(found))


def _told(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {role}" for name, role in sorted(value.items())) or "none"
    return ", ".join(value) or "none" if isinstance(value, list) else str(value or "none")


def _finding(code: str, place: str, expected: str, got: str) -> Finding:
    return Finding(code=code, where=Where(path=place), expected=expected, got=got, remedy=_KEEP)
