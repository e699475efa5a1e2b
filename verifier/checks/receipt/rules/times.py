"""Rules T: that things happened in the order that a study needs, and within its budget."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.document.model import ClaimKind
from verifier.checks.receipt.rules.gates import OWN_CLOCK, first_start
from verifier.checks.receipt.study import Study
from verifier.core.clock import parse_time, print_time

_NAMES: Final = ("gates", "plan", "first sample", "last sample", "verdict", "publication")


def t1_order(study: Study) -> Answer:
    """Ask that gate, plan, first sample, last sample, verdict and publication are in that order.

    Times are whole seconds; an order that rests on the author's clock alone is not proven. Where
    nothing is gated, and no more is claimed than what was measured, no gate has to stand first.
    """
    receipt, known = study.receipt, _known(study)
    for (before, earlier), (after, later) in pairwise(known.items()):
        if earlier > later:
            got = f"{after} {print_time(later)}"
            return Broken(expected=f"{before} {print_time(earlier)} before {after}", got=got)
    ungated = _ungated(study)
    wanted = _NAMES[1:] if ungated else _NAMES
    if lacking := [name for name in wanted if name not in known]:
        return Uncheckable(missing=f"the time of {', '.join(lacking)}")
    if receipt.planned_at == first_start(study):
        return Uncheckable(missing="a plan that is a second older than the first sample")
    if ungated:
        return Holds(detail="no gate is judged, no effect is claimed")
    signed = parse_time(study.companions.gates_signed_at or "")
    if signed and signed >= known["first sample"]:
        got = f"time-stamped {print_time(signed)}"
        first = print_time(known["first sample"])
        return Broken(expected=f"gates that existed before the first sample, {first}", got=got)
    return Holds(detail=f"gates at {print_time(signed)}") if signed else OWN_CLOCK


def _ungated(study: Study) -> bool:
    receipt, given = study.receipt, study.companions.gates
    only_measured = all(claim.kind is ClaimKind.MEASURED for claim in receipt.claims)
    return receipt.gates is None and given is None and not receipt.results and only_measured


def _known(study: Study) -> dict[str, datetime]:
    receipt = study.receipt
    ends = [arm.finished_at for arm in study.started]
    last = max((end for end in ends if end), default=None) if None not in ends else None
    declared = receipt.gates.declared_at if receipt.gates else None
    times = (
        declared,
        receipt.planned_at,
        first_start(study),
        last,
        receipt.verdict_at,
        receipt.published_at,
    )
    return {name: time for name, time in zip(_NAMES, times, strict=True) if time is not None}


def t2_budget(study: Study) -> Answer:
    """Ask that each arm was measured within the declared budget."""
    budget = study.receipt.design.budget_us if study.receipt.design else None
    spent = {
        arm.id: arm.finished_at - arm.started_at
        for arm in study.started
        if arm.finished_at and arm.started_at
    }
    for arm, time in spent.items():
        if budget is not None and time > timedelta(microseconds=budget):
            expected = f"arm {arm} within {budget / 1_000_000:,.0f} s"
            return Broken(expected=expected, got=f"{time.total_seconds():,.0f} s")
    if budget is None or not spent or len(spent) != len(study.started):
        return Uncheckable(missing="design.budgetUs, and startedAt and finishedAt of every arm")
    longest = max(spent.values()).total_seconds()
    return Holds(detail=f"{longest:,.0f} of {budget // 1_000_000:,} s")


RULES: Final = (
    Rule(
        "T1",
        "order",
        "gates",
        only(Consequence.INVALID),
        t1_order,
        "correct a time that was written wrongly in a new receipt, or measure again in order",
    ),
    Rule(
        "T2",
        "budget",
        "arms",
        only(Consequence.INVALID),
        t2_budget,
        "measure within the budget, or declare a larger one before measuring again",
    ),
)
