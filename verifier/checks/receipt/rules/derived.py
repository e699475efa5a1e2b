"""Rules D: whether every published figure follows from what it is made of (receipts.md §2)."""

from collections.abc import Callable, Iterable
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
from verifier.checks.receipt.document.model import Figure
from verifier.checks.receipt.numbers import units
from verifier.checks.receipt.numbers.figures import Computed, State
from verifier.checks.receipt.numbers.intervals import Interval, rounds_to
from verifier.checks.receipt.numbers.quantities import OWN
from verifier.checks.receipt.rules.changes import d4_change
from verifier.checks.receipt.rules.judged import first_wrong, named
from verifier.checks.receipt.rules.made_of import citing, from_samples
from verifier.checks.receipt.rules.rates import (
    d5_acceptance,
    d6_rate,
    d7_label,
    d8_normalised,
    d10_clock,
)
from verifier.checks.receipt.study import Study


def d1_recomputed(study: Study) -> Answer:
    """Ask that each figure made of samples comes to what is published, in the unit it states.

    Of figures that are made of displayed numbers D2 is asked.
    """
    raw = [f for f in study.receipt.figures if from_samples(study.receipt, f)]
    wrong = _units(study) or first_wrong(study, raw)
    return wrong or Holds(detail=f"{len(raw)} of {len(study.receipt.figures)} figures")


def _units(study: Study) -> Broken | None:
    """Say which figure is in no unit that follows, or only in name."""
    known = {figure.id: figure for figure in study.receipt.figures}
    own: dict[str, tuple[str, Figure]] = {}
    for figure in study.receipt.figures:
        found = (
            units.clash(figure, known)
            or _mislabelled(study.figures[figure.id])
            or _of_two_units(figure, own)
        )
        if found:
            return Broken(
                expected=found.expected,
                got=found.got,
                condition="unit",
                path=f"derived.{figure.id}.unit",
            )
    return None


def _of_two_units(figure: Figure, own: dict[str, tuple[str, Figure]]) -> units.Clash | None:
    """Say that a value of the study's own has one unit in this figure, another in an earlier one.

    `own` keeps unit and figure by the name of the value. Where none is stated it is the figure's.
    """
    for operand in figure.operands.values():
        name = operand.quantity or ""
        unit = operand.unit or (figure.unit if figure.formula in units.SAME else None)
        if not name.startswith(OWN) or unit is None:
            continue
        first, other = own.setdefault(name, (unit, figure))
        if unit != first:
            got = f"{first} in {other.id}, {unit} in {figure.id}"
            return units.Clash(f"{name} in one unit", got)
    return None


def _mislabelled(computed: Computed) -> units.Clash | None:
    """Say that a value would follow if its unit were another one."""
    figure, result = computed.figure, computed.result
    if computed.state is not State.INCONSISTENT or result is None or figure.value is None:
        return None
    for unit in units.alike(figure.unit)[1:]:
        factor = Interval.exact(units.factor(figure.unit, unit) or 1)
        if rounds_to(result.times(factor), figure.value, figure.places):
            got = f"{figure.value:f} {figure.unit}, which is its value in {unit}"
            return units.Clash(f"figure {figure.id} = {computed.recomputed} {figure.unit}", got)
    return None


def d2_rounding(study: Study) -> Answer:
    """Ask that a figure made of displayed numbers is what some numbers behind them come to.

    Numbers are intervals here: a fixed epsilon refuses true figures (seeds/003).
    """
    shown = [f for f in study.receipt.figures if not from_samples(study.receipt, f)]
    return first_wrong(study, shown) or Holds(detail=f"{len(shown)} figures")


def d3_median(study: Study) -> Answer:
    """Ask that a median is of all core samples, and of an even number the middle of two."""
    medians = named(study, "median")
    for figure in medians:
        operand = figure.operands["of"]
        if operand.membership != "core" and citing(study.receipt, figure):
            return Broken(
                expected=f"median {figure.id} of core samples, as a claim cites it",
                got=f"of {operand.membership} samples",
                condition="core",
                path=f"derived.{figure.id}.operands.of.membership",
            )
    wrong = first_wrong(study, medians)
    if isinstance(wrong, Broken):
        return _with_cause(study, medians, wrong)
    return wrong or Holds(detail=f"{len(medians)} medians")


def _with_cause(study: Study, medians: Iterable[Figure], wrong: Broken) -> Broken:
    """Say which other number of the samples was published as their median, if it is one."""
    for figure in medians:
        if wrong.path != f"derived.{figure.id}.value" or figure.value is None:
            continue
        selected = study.tally.selected(figure.operands["of"]).numbers
        numbers = selected.kept
        if not numbers:
            return wrong
        scale = Interval.exact(units.scales(figure, {})["of"])
        others = {
            "the lower of the middle two": Interval.exact(numbers[(len(numbers) - 1) // 2]),
            "the upper of the middle two": Interval.exact(numbers[len(numbers) // 2]),
            "the mean": selected.total.over(Interval.exact(len(numbers))),
            "the least": selected.least,
            "the greatest": selected.most,
        }
        for cause, number in others.items():
            if rounds_to(number.times(scale), figure.value, figure.places):
                return Broken(
                    expected=wrong.expected, got=wrong.got, path=wrong.path, cause=f"it is {cause}"
                )
    return wrong


def d9_set(study: Study) -> Answer:
    """Ask that a geometric mean is over the cases that it names, all of them."""
    means = named(study, "geometricMean")
    unnamed = None
    for figure in means:
        operand = figure.operands["of"]
        if operand.quantity is None or not operand.cases:
            unnamed = unnamed or f"the cases that {figure.id} is the geometric mean of"
            continue
        there = {case for _, case, _ in study.tally.matching(operand.arms, (), operand.membership)}
        if absent := sorted(set(operand.cases) - there):
            return Broken(
                expected=f"samples of every case that {figure.id} names",
                got=f"none of {', '.join(absent)}",
                path=f"derived.{figure.id}.operands.of.cases",
            )
    wrong = first_wrong(study, means)
    if isinstance(wrong, Broken):
        return wrong
    if unnamed:
        return Uncheckable(missing=unnamed)
    return wrong or Holds(detail=f"{len(means)} geometric means")


_RECOMPUTE: Final = "correct the figure, or name the samples and the formula that it was made with"


def _rule(
    id_: str, name: str, then: dict[str, Consequence], ask: Callable[[Study], Answer], remedy: str
) -> Rule:
    return Rule(id_, name, "figures", then, ask, remedy)


_WRONG: Final = only(Consequence.INCONSISTENT)
_LESS: Final = only(Consequence.LIMITS)

RULES: Final = (
    _rule(
        "D1", "recomputed", {**_WRONG, "unit": Consequence.INCONSISTENT}, d1_recomputed, _RECOMPUTE
    ),
    _rule(
        "D2",
        "rounding",
        _WRONG,
        d2_rounding,
        "publish the samples, or correct whichever of the displayed numbers is wrong",
    ),
    _rule(
        "D3",
        "median",
        {**_WRONG, "core": Consequence.INCONSISTENT},
        d3_median,
        "take all core samples, and of an even number the mean of the middle two",
    ),
    _rule(
        "D4",
        "change",
        {
            **_WRONG,
            "direction": Consequence.INCONSISTENT,
            "baseline": Consequence.INCONSISTENT,
        },
        d4_change,
        "compute 100 (candidate / baseline - 1), name the baseline's arms, say which way is better",
    ),
    _rule(
        "D5",
        "acceptance-length",
        {**_WRONG, "ratios": Consequence.INCONSISTENT, "window": Consequence.INCONSISTENT},
        d5_acceptance,
        "divide all accepted tokens by all drafts of the same samples, and add 1",
    ),
    _rule(
        "D6",
        "rate",
        {**_WRONG, "operands": Consequence.INCONSISTENT},
        d6_rate,
        "divide the tokens that were counted by the time of the same samples, and name its clock",
    ),
    _rule(
        "D7",
        "label",
        _LESS,
        d7_label,
        "say of each throughput whether it is of all requests or one",
    ),
    _rule(
        "D8",
        "normalised-decode",
        {**_WRONG, "window": Consequence.INCONSISTENT},
        d8_normalised,
        "divide the rate by the acceptance length of the same samples",
    ),
    _rule(
        "D9",
        "geometric-mean",
        _WRONG,
        d9_set,
        "name every case that it is the mean of, and take no others",
    ),
    _rule(
        "D10",
        "client-clock",
        _LESS,
        d10_clock,
        "say that times of a client include API and network, or measure in the server",
    ),
)
