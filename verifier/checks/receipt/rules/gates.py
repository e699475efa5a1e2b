"""Rules G1 to G5: gates that stood before the data, and what their states are worth."""

import operator
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.document.identities import full
from verifier.checks.receipt.document.model import COMPARING, ClaimKind, GateResult, GateState
from verifier.checks.receipt.numbers.intervals import shown
from verifier.checks.receipt.study import Study
from verifier.core.clock import parse_time, print_time

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}
#: Decimals of a margin in a message.
_DIGITS: Final = 6
#: Gates that are judged by one number.
_NUMBERED: Final = ("performance", "capacity")
#: Which claims rest on a kind of gate, where no figure says so.
SUPPORTS: Final[dict[str, frozenset[ClaimKind]]] = {
    "performance": frozenset(
        {
            ClaimKind.IMPROVEMENT,
            ClaimKind.REGRESSION,
            ClaimKind.NO_REGRESSION,
            ClaimKind.THROUGHPUT,
            ClaimKind.ATTRIBUTION,
            ClaimKind.INTERACTION,
        }
    ),
    "outputCheck": frozenset({ClaimKind.CORRECTNESS, ClaimKind.EQUIVALENCE}),
    "numerical": frozenset({ClaimKind.CORRECTNESS, ClaimKind.EQUIVALENCE}),
    "stateSafety": frozenset({ClaimKind.CORRECTNESS}),
    "capacity": frozenset({ClaimKind.RESIDENCY}),
    "activation": frozenset({ClaimKind.ACTIVATION}),
}
#: How far the clock of the author, and how far that of somebody else, carries an order.
OWN_CLOCK: Final = Uncheckable(
    missing="a verified time of the gate file: only the author's own clock says it was first"
)
NO_GATE: Final = Holds(detail="no gate is judged")


def resting(study: Study, result: GateResult) -> frozenset[str]:
    """Return the claims that rest on a gate: by its figure, or by the kind of gate it is."""
    kinds = SUPPORTS[result.kind]
    return frozenset(
        claim.id
        for claim in study.claims()
        if (result.figure in claim.figures if result.figure else claim.kind in kinds)
        and claim.kind is not ClaimKind.MEASURED
    )


def first_start(study: Study) -> datetime | None:
    """Return when the first arm began to be measured, None if some arm does not say."""
    starts = [arm.started_at for arm in study.started]
    return min((s for s in starts if s), default=None) if None not in starts else None


def g1_gate_first(study: Study) -> Answer:
    """Ask that the gates were hashed before the first sample, and not by the author's clock."""
    gates, first = study.receipt.gates, first_start(study)
    if gates is None and not study.receipt.results and study.companions.gates is None:
        return NO_GATE
    if gates is None or full(gates.planned) is None or gates.declared_at is None or first is None:
        return Uncheckable(missing="gates.planned and declaredAt, and startedAt of every arm")
    named = study.companions.gate_names
    if later := [each for each in study.receipt.results if named and each.gate not in named]:
        return Broken(
            expected="gates of the planned file",
            got=f"gate {later[0].gate}, which is not in it",
            claims=frozenset[str]().union(*(resting(study, each) for each in later)),
        )
    signed = parse_time(study.companions.gates_signed_at or "")
    late = max(filter(None, (gates.declared_at, signed)))
    if late >= first:
        return Broken(
            expected=f"gates before the first sample, {print_time(first)}",
            got=f"gates at {print_time(late)}",
            claims=_gated(study),
        )
    return Holds(detail=f"at {print_time(signed)}") if signed else OWN_CLOCK


def _gated(study: Study) -> frozenset[str]:
    """Return the claims that need a gate which stood first: those that compare, and are gated."""
    gated = frozenset[str]().union(*(resting(study, each) for each in study.receipt.results))
    always = study.named(ClaimKind.NO_REGRESSION, ClaimKind.EQUIVALENCE)
    return gated & study.named(*COMPARING, ClaimKind.CORRECTNESS) | always


def g2_same_gate(study: Study) -> Answer:
    """Ask that a verdict was given by the planned gate bytes, and follows from its number.

    A frozen 10 % stays 10 % when 11.689 % is observed.
    """
    gates, beside = study.receipt.gates, study.companions.gates
    if gates is None and not study.receipt.results and beside is None:
        return NO_GATE
    planned, judged = (full(gates.planned), full(gates.judged)) if gates else (None, None)
    given = beside.sha256 if beside else None
    if len(known := {planned, judged, given} - {None}) > 1:
        got = f"planned {planned}, judged {judged}" + (f", given {given}" if given else "")
        return Broken(expected=f"one gate file, not {len(known)}", got=got)
    missing = [] if planned and judged else ["the full digests gates.planned and gates.judged"]
    for result in study.receipt.results:
        if result.state is not GateState.PASS:
            continue
        if problem := _contradiction(study, result):
            return Broken(expected=problem[0], got=problem[1], condition="verdict")
        needed = (result.figure, result.observed, result.comparator, result.threshold)
        if result.kind in _NUMBERED and None in needed:
            missing.append(f"figure, observed, comparator and threshold of gate {result.gate}")
    return Uncheckable(missing=missing[0]) if missing else Holds(detail=f"{planned}"[:12])


def _contradiction(study: Study, result: GateResult) -> tuple[str, str] | None:
    """Say what a gate that passed should have observed, and what it did; None if that fits."""
    observed, threshold = result.observed, result.threshold
    figure = study.receipt.figure(result.figure) if result.figure else None
    if figure and observed is not None and figure.value not in (None, observed):
        return f"gate {result.gate} on {figure.id}, {figure.value}", f"{observed}"
    if result.figure and figure is None:
        return f"gate {result.gate} on a figure of the receipt", f"{result.figure}, there is none"
    if observed is None or threshold is None or result.comparator is None:
        return None
    if _COMPARE[result.comparator](observed, threshold):
        return None
    return f"gate {result.gate} {result.comparator} {threshold}", f"{observed}, said to pass"


def g3_tolerance(study: Study) -> Answer:
    """Ask that every comparison is within its tolerance; the closest one is shown (seeds/003)."""
    margins = [c for c in study.figures.values() if c.figure.formula == "toleranceMargin"]
    for each in margins:
        if each.result is not None and each.result.high < 0:
            figure = each.figure
            terms = ", ".join(
                f"{k} {v.value if v.figure is None else v.figure}"
                for k, v in figure.operands.items()
            )
            got = f"{shown(-each.result.high, _DIGITS)} beyond it"
            return Broken(expected=f"{figure.id} within its tolerance ({terms})", got=got)
    for each in margins:
        if each.result is None:
            return Uncheckable(missing=f"{each.figure.id}: {each.missing}")
        if each.result.low < 0:
            return Uncheckable(missing=f"more digits of {each.figure.id}, it is at its bound")
    named = {each.figure.id for each in margins}
    for result in study.receipt.results:
        judged = result.figure in named if result.figure else bool(named)
        if result.kind == "numerical" and result.state is GateState.PASS and not judged:
            return Uncheckable(missing=f"a toleranceMargin figure for gate {result.gate}")
    if not margins:
        return Holds(detail="no tolerance is judged")
    closest = min(each.result.low for each in margins if each.result)
    return Holds(detail=f"{len(margins)} within, the closest by {shown(closest, _DIGITS)}")


#: States that are no pass, the worst first (FORMATS §6).
_STATES: Final = {
    GateState.INVALID: "invalid",
    GateState.FAIL: "fail",
    GateState.INCOMPLETE: "incomplete",
    GateState.NOT_RUN: "incomplete",
    GateState.INCONCLUSIVE: "inconclusive",
}


def g4_precedence(study: Study) -> Answer:
    """Ask that no gate ended worse than a pass: the worst state is that of the study.

    A gate of the file that the receipt says nothing of was not run.
    """
    results, planned = study.receipt.results, study.companions.gate_names or frozenset()
    for state, condition in _STATES.items():
        if found := [result.gate for result in results if result.state is state]:
            return Broken(
                expected="every gate passed",
                got=f"{state}: {', '.join(found)}",
                condition=condition,
            )
    if silent := sorted(planned - {result.gate for result in results}):
        got = f"nothing about {', '.join(silent)}"
        return Broken(expected="every gate of the file", got=got, condition="incomplete")
    if not results and (study.receipt.gates or study.companions.gates):
        return Uncheckable(missing="what became of the gates, outcomes")
    return Holds(detail=f"{len(results)} gates") if results else NO_GATE


def g5_not_a_pass(study: Study) -> Answer:
    """Ask that no claim rests on DESCRIPTIVE, or on exit code 0 without a state that passed."""
    for result in study.receipt.results:
        passed = result.state is GateState.PASS
        shown_by = result.observed is not None or result.rows or result.checks or result.figure
        got = None
        if result.state is GateState.DESCRIPTIVE:
            got = "DESCRIPTIVE" + (", exit code 0" if result.exit_code == 0 else "")
        elif passed and result.exit_code:
            got = f"exit code {result.exit_code}"
        elif passed and not shown_by and result.exit_code == 0:
            got = "nothing but exit code 0"
        if got:
            return Broken(
                expected=f"gate {result.gate} passed by its own rule",
                got=got,
                claims=resting(study, result),
            )
    for result in study.receipt.results:
        bare = result.observed is None and not (result.rows or result.checks or result.figure)
        if result.state is GateState.PASS and bare:
            return Uncheckable(missing=f"what gate {result.gate} was judged by")
    return Holds() if study.receipt.results else NO_GATE


RULES: Final = (
    Rule(
        "G1",
        "gate-first",
        "gates",
        only(Consequence.LIMITS),
        g1_gate_first,
        "call it descriptive, or fix gates, have them time-stamped, and measure again",
    ),
    Rule(
        "G2",
        "same-gate",
        "gates",
        dict.fromkeys(("", "verdict"), Consequence.INVALID),
        g2_same_gate,
        "judge by the planned gate file, and write what it says of the observed number",
    ),
    Rule(
        "G3",
        "tolerance",
        "gates",
        only(Consequence.FAIL),
        g3_tolerance,
        "say that this comparison failed; matching answers and other passes do not undo it",
    ),
    Rule(
        "G4",
        "precedence",
        "gates",
        {
            "invalid": Consequence.INVALID,
            "fail": Consequence.FAIL,
            "incomplete": Consequence.INCOMPLETE,
            "inconclusive": Consequence.INCONCLUSIVE,
        },
        g4_precedence,
        "cite the study as what it is, or measure again under the same gates",
    ),
    Rule(
        "G5",
        "not-a-pass",
        "gates",
        only(Consequence.LIMITS),
        g5_not_a_pass,
        "read the state and not the exit code, and cite the figure as measured, not as passed",
    ),
)
