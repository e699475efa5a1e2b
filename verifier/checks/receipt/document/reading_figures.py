"""Reading figures, gates and claims (`model`)."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from verifier.checks.receipt.document.identities import Written
from verifier.checks.receipt.document.model import (
    Claim,
    ClaimKind,
    Figure,
    GateResult,
    GateState,
    Operand,
    Resident,
    Scrape,
    Waiver,
)
from verifier.checks.receipt.document.reading_identity import Digests
from verifier.checks.receipt.document.reading_study import strings
from verifier.checks.receipt.numbers.formulas import FORMULAS
from verifier.checks.receipt.numbers.quantities import QUANTITIES, known
from verifier.core.printable import quoted
from verifier.core.table import Table

#: One spelling of a decimal: no exponent, no plus, no leading zero, and no minus zero alone.
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?")
MEMBERSHIPS: Final = ("core", "exploratory", "warmup", "control")
GATE_KINDS: Final = (
    "performance",
    "outputCheck",
    "numerical",
    "stateSafety",
    "capacity",
    "activation",
)
COMPARATORS: Final = ("<=", "<", ">=", ">", "==")


def decimal(table: Table, key: str) -> tuple[Decimal | None, int]:
    """Read a decimal string and how many digits follow its point; None where absent or null."""
    if not table.has(key) or table.is_null(key):
        return None, 0
    text = table.text(key)
    if not _DECIMAL.fullmatch(text):
        table.mistake(key, f"{quoted(text)} is no decimal such as 12 or -0.50")
        return None, 0
    return Decimal(text), len(text.partition(".")[2])


def figure(table: Table, digests: Digests) -> Figure:
    """Read a published number; closes the table."""
    value, places = decimal(table, "value")
    copied = table.optional_table("copiedFrom")
    parameters = table.optional_table("parameters")
    operands = table.table("operands")
    read = Figure(
        id=table.text("id"),
        formula=table.text("formula", choices=list(FORMULAS)),
        unit=table.text("unit"),
        value=value,
        places=places,
        operands={name: _operand(operands.table(name)) for name in operands.keys()},  # noqa: SIM118
        better=table.text("better", choices=["lower", "higher"]) if table.has("better") else None,
        scope=_scope(table),
        clock=table.optional_text("clock"),
        copied=_copied(copied, digests) if copied else None,
        parameters=_decimals(parameters) if parameters else {},
    )
    formula = FORMULAS[read.formula]
    for kind, given, wanted in (
        ("operands", read.operands.keys(), formula.operands),
        ("parameters", read.parameters.keys(), formula.parameters),
    ):
        if set(given) != set(wanted):
            expected = ", ".join(sorted(wanted)) or "none"
            table.mistake(kind, f"{read.formula} takes {expected}")
    table.close()
    return read


def _scope(table: Table) -> str | None:
    if not table.has("scope"):
        return None
    return table.text("scope", choices=["aggregate", "perRequest"])


def _decimals(table: Table) -> Mapping[str, Decimal]:
    found = {name: decimal(table, name)[0] for name in table.keys()}  # noqa: SIM118
    return {name: value for name, value in found.items() if value is not None}


def _operand(table: Table) -> Operand:
    value, places = decimal(table, "value")
    read = Operand(
        figure=table.optional_text("figure"),
        value=value,
        places=places,
        quantity=table.optional_text("quantity"),
        arms=table.texts("arms", default=()),
        cases=table.texts("cases", default=()),
        membership=table.text("membership", default="core", choices=MEMBERSHIPS),
        unit=table.optional_text("unit"),
    )
    known_unit = QUANTITIES.get(read.quantity or "")
    if read.unit is not None and (known_unit or read.figure is not None):
        stated = (
            f"{read.quantity} is in {known_unit.unit}" if known_unit else "a figure has its own"
        )
        table.mistake("unit", stated)
    if read.quantity is not None and not known(read.quantity):
        table.mistake("quantity", f"{quoted(read.quantity)} is no quantity, nor values.NAME")
    given = [read.figure is not None, value is not None, read.quantity is not None]
    if sum(given) != 1:
        table.mistake("", "expected exactly one of figure, value and quantity")
    if read.figure is not None and (read.arms or read.cases):
        table.mistake("", "a figure has its own arms and cases")
    table.close()
    return read


def _copied(table: Table, digests: Digests) -> tuple[Written | None, str, Decimal]:
    value, _ = decimal(table, "value")
    read = digests.read(table, "receipt"), table.text("figure"), value or Decimal(0)
    table.close()
    return read


def gate_result(table: Table) -> GateResult:
    """Read one judged gate; closes the table."""
    rows = table.optional_table("rows")
    waiver = table.optional_table("waiver")
    read = GateResult(
        gate=table.text("gate"),
        kind=table.text("kind", choices=GATE_KINDS),
        state=GateState(table.text("state", choices=list(GateState))),
        figure=table.optional_text("figure"),
        observed=decimal(table, "observed")[0],
        comparator=table.text("comparator", choices=COMPARATORS)
        if table.has("comparator")
        else None,
        threshold=decimal(table, "threshold")[0],
        rows=_rows(rows) if rows else None,
        exit_code=table.optional_integer("exitCode"),
        checks=table.texts("checks", default=()),
        waiver=_waiver(waiver) if waiver else None,
        execution=table.text("execution", choices=["real", "double", "stub"])
        if table.has("execution")
        else None,
    )
    table.close()
    return read


def _rows(table: Table) -> tuple[int, int]:
    read = table.integer("passed"), table.integer("of")
    table.close()
    return read


def _waiver(table: Table) -> Waiver:
    read = Waiver(by=table.text("by"), reason=table.text("reason"))
    table.close()
    return read


def claim(table: Table) -> Claim:
    """Read what the study is cited for; closes the table."""
    resident = table.optional_table("resident")
    read = Claim(
        id=table.text("id"),
        kind=ClaimKind(table.text("kind", choices=list(ClaimKind))),
        text=table.text("text"),
        figures=table.texts("figures", default=()),
        arms=table.texts("arms", default=()),
        feature=table.optional_text("feature"),
        reference=table.optional_text("reference"),
        margin=decimal(table, "margin")[0],
        grid=table.optional_integer("grid"),
        resident=_resident(resident) if resident else None,
        scope=strings(table, "scope") or {},
    )
    table.close()
    return read


def _resident(table: Table) -> Resident:
    read = Resident(
        requests=table.integer("requests", least=1), tokens=table.optional_integer("tokens")
    )
    table.close()
    return read


def scrape(table: Table) -> Scrape:
    """Read one reading of a server's gauges; closes the table."""
    read = Scrape(
        arm=table.text("arm"),
        running=table.integer("running"),
        cache_use=decimal(table, "cacheUse")[0],
        cache_tokens=table.optional_integer("cacheTokens"),
    )
    table.close()
    return read
