"""Rules N: how much the samples can carry. N2 and N3 stand in `pairs`."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
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
from verifier.checks.receipt.document.model import (
    COMPARING,
    DIRECTED,
    Arm,
    ArmState,
    Claim,
    ClaimKind,
    Figure,
    GateState,
)
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.rules import claimed, movement, pairs
from verifier.checks.receipt.rules.claimed import limit, listed
from verifier.checks.receipt.study import Study

#: Repetitions of a cell that describe and do not compare (N1: three TTFT samples).
SMALL: Final = 3
#: What a percentile needs (N5; TheGrill's policy: p95 needs 200, p99 1,000).
_PERCENTILES: Final = {"p95": 200, "p99": 1_000}
#: The longest window that is a short one (N7: 10 to 25 s).
_SHORT: Final = timedelta(seconds=25)
_SPREAD: Final = frozenset({"minimum", "maximum"})
_CENTRAL: Final = frozenset({"median", "mean", "geometricMean", "value"})
#: Claims that need more than a description.
_CONCLUDING: Final = tuple(sorted(COMPARING - {ClaimKind.INTERLEAVED}))


def n1_cells(study: Study) -> Answer:
    """Ask that the number of samples of each cell is known, and that few only describe."""

    def ask(claim: Claim) -> str | Missing | None:
        cells = claimed.places(study, claim)
        if not cells:
            planned = study.receipt.design.repetitions if study.receipt.design else None
            if planned is None:
                return Missing("how many samples each cell has")
            return f"{planned} in each cell" if planned <= SMALL else None
        least = min(cells, key=lambda place: (study.tally.complete[place], place))
        number = study.tally.complete[least]
        return f"{number} in {least[0]}, case {least[1]}" if number <= SMALL else None

    claims = study.claims(*_CONCLUDING)
    return limit(claims, ask, expected=f"more than {SMALL} samples in each cell")


def n4_spread(study: Study) -> Answer:
    """Ask that all samples are given, or their spread, and not only a middle of them.

    A median hid that one run in four was 15 to 30 % slower.
    """

    def ask(claim: Claim) -> str | Missing | None:
        reached = claimed.figures(study, claim)
        formulas = {figure.formula for figure in reached}
        displayed = any(operand.quantity is None for operand in claimed.leaves(study, claim))
        if not reached:
            return Missing("the figures of the claim")
        if not displayed or formulas >= _SPREAD:
            return None
        return "values are only displayed, without minimum and maximum"

    return limit(study.claims(*_CONCLUDING), ask, expected="all samples, or their spread")


def n5_percentiles(study: Study) -> Answer:
    """Ask that p95 comes of 200 complete samples or more, and p99 of 1,000."""
    few, unknown = dict[str, str](), list[str]()
    tails = [figure for figure in study.receipt.figures if figure.formula in _PERCENTILES]
    for figure in tails:
        needed, number = _PERCENTILES[figure.formula], _samples(study, figure)
        if number is None:
            unknown.append(figure.id)
        elif number < needed:
            few[figure.id] = f"figure {figure.id}: {figure.formula} of {number:,}, not {needed:,}"
    if few:
        lost = (c for c in study.receipt.claims if few.keys() & _figure_ids(study, c))
        return Broken(
            expected="200 complete samples for p95, 1,000 for p99",
            got=listed(few.values()),
            path="derived",
            claims=frozenset(claim.id for claim in lost),
        )
    if unknown:
        return Uncheckable(missing=f"the samples of figure {listed(unknown)}")
    return Holds(detail=f"{len(tails)} percentiles")


def _samples(study: Study, figure: Figure) -> int | None:
    operand = figure.operands["of"]
    return study.tally.selected(operand).rows if operand.quantity else None


def _figure_ids(study: Study, claim: Claim) -> set[str]:
    return {figure.id for figure in claimed.figures(study, claim)}


def n6_replication(study: Study) -> Answer:
    """Ask that each side was booted twice: requests of one boot do not repeat the experiment.

    An unchanged series with correlation 0.8 gave a false direction in 39.75 % of the trials
    when its waves were taken for independent (TheGrill, CALIBRATION.md).
    """

    def ask(claim: Claim) -> str | Missing | None:
        for side in _sides(study, claim):
            boots = {arm.boot.full for arm in side if arm.boot and arm.boot.full}
            unknown = [arm.id for arm in side if not (arm.boot and arm.boot.full)]
            if len(boots) + len(unknown) < 2:  # noqa: PLR2004
                return f"one boot: {listed(arm.id for arm in side) or 'no complete arm'}"
            if len(boots) < 2:  # noqa: PLR2004
                return Missing(f"bootId of {listed(unknown)}")
        return None

    return limit(study.claims(*_CONCLUDING), ask, expected="two boots of each side")


def _sides(study: Study, claim: Claim) -> Iterator[tuple[Arm, ...]]:
    return iter(claimed.sides(claimed.measured(study, claim)))


def n7_short_window(study: Study) -> Answer:
    """Ask that no claim of a gain, or of none, rests on one window of 25 s or less."""

    def ask(claim: Claim) -> str | Missing | None:
        missing = None
        for side in _sides(study, claim):
            if len(side) != 1:
                continue
            lasted = _lasted(side[0])
            if lasted is None:
                missing = Missing(f"startedAt and finishedAt of {side[0].id}")
            elif lasted <= _SHORT:
                return f"one window of {lasted.total_seconds():g} s, {side[0].id}"
        return missing

    return limit(study.claims(*_CONCLUDING), ask, expected="more than one short window")


def _lasted(arm: Arm) -> timedelta | None:
    return arm.finished_at - arm.started_at if arm.started_at and arm.finished_at else None


def n8_margin(study: Study) -> Answer:
    """Ask that "no regression" has a margin that was declared before, and enough data.

    An inconclusive gate shows neither that nothing got worse nor that anything did.
    """
    frozen = study.receipt.gates is not None and study.receipt.gates.planned is not None

    def ask(claim: Claim) -> str | Missing | None:
        cited = [r for r in study.receipt.results if r.figure and r.figure in claim.figures]
        other = [r for r in cited if r.state is not GateState.PASS]
        if claim.kind is ClaimKind.REGRESSION:
            other = [r for r in other if r.state is GateState.INCONCLUSIVE]
        if other:
            return f"gate {other[0].gate} is {other[0].state}"
        if claim.kind is ClaimKind.REGRESSION:
            return None
        if claim.margin is None:
            return "no margin"
        declared = {abs(r.threshold) for r in cited if r.threshold is not None}
        if not frozen or abs(claim.margin) not in declared:
            return f"margin {claim.margin:f} is in no gate that was declared before"
        return _within(study, claim, abs(claim.margin))

    claims = study.claims(ClaimKind.NO_REGRESSION, ClaimKind.REGRESSION)
    return limit(claims, ask, expected="a margin declared before, and data within it")


def _within(study: Study, claim: Claim, margin: Decimal) -> str | Missing | None:
    """Say whether even the control moved by more than the margin: then the data is not enough."""
    for figure in claimed.compared(study, claim):
        moved = movement.moved(study, figure)
        if isinstance(moved, Missing):
            return moved
        if moved.high > margin:
            return f"the control alone moved by more than {margin:f}"
    return None if claimed.compared(study, claim) else Missing("a comparison among its figures")


def n9_control_kept(study: Study) -> Answer:
    """Ask that every control is kept: as an arm, in the baseline, and if it failed with a reason.

    Variation of the environment is to be looked into; it is no reason to leave a control out.
    """
    known = {arm.id for arm in study.receipt.arms}
    planned = study.receipt.design.order if study.receipt.design else ()
    wrong = [f"{name} is in the order, and no arm" for name in planned if name not in known]
    _, controls = claimed.sides(study.receipt.arms)
    wrong += [
        f"{arm.id} is {arm.state} without a reason"
        for arm in controls
        if arm.state is not ArmState.COMPLETE and not arm.reason
    ]
    unknown = list[str]()
    for claim in study.claims(*DIRECTED, ClaimKind.NO_REGRESSION, ClaimKind.ATTRIBUTION):
        used, all_known = _baseline(study, claim)
        if not all_known:
            unknown.append(claim.id)
            continue
        left = [arm.id for f in claimed.compared(study, claim) for arm in _unused(study, f, used)]
        wrong += [f"claim {claim.id} leaves {name} out" for name in dict.fromkeys(left)]
    if wrong:
        return Broken(expected="every control, however it varied", got=listed(wrong), path="arms")
    if unknown:
        return Uncheckable(missing=f"the baseline samples of claim {listed(unknown)}")
    return Holds(detail=f"{len(controls)} controls")


def _baseline(study: Study, claim: Claim) -> tuple[set[str], bool]:
    """Return the arms that the baselines of a claim are made of, and whether that is known."""
    figures = claimed.compared(study, claim)
    below = [o for f in figures for o in claimed.below(study, f.operands["baseline"])]
    places = [p for o in below if o.quantity for p in _places(study, o.arms)]
    return set(places), bool(below) and all(o.quantity for o in below)


def _places(study: Study, arms: tuple[str, ...]) -> tuple[str, ...]:
    return arms or tuple(arm.id for arm in study.receipt.arms)


def _unused(study: Study, figure: Figure, used: set[str]) -> Iterator[Arm]:
    """Yield complete controls of the baseline's own setting that it leaves out."""
    return (arm for arm in movement.controls(study, figure) if arm.id not in used)


_HERE: Final = "statistics"
_LIMITS: Final = only(Consequence.LIMITS)
_MORE: Final = "measure more as the rule says, or claim only what was measured"
_KEEP: Final = "publish every control, and say what made it vary"

RULES: Final = (
    Rule("N1", "few-samples", _HERE, _LIMITS, n1_cells, _MORE),
    Rule("N2", "opposite-signs", _HERE, _LIMITS, pairs.n2_one_direction, _MORE),
    Rule("N3", "disjoint-ranges", _HERE, _LIMITS, pairs.n3_not_significance, _MORE),
    Rule("N4", "spread", _HERE, _LIMITS, n4_spread, _MORE),
    Rule("N5", "percentile", _HERE, _LIMITS, n5_percentiles, _MORE),
    Rule("N6", "replication", _HERE, _LIMITS, n6_replication, _MORE),
    Rule("N7", "short-window", _HERE, _LIMITS, n7_short_window, _MORE),
    Rule("N8", "margin", _HERE, _LIMITS, n8_margin, _MORE),
    Rule("N9", "control-left-out", _HERE, only(Consequence.INCOMPLETE), n9_control_kept, _KEEP),
)
