"""Recomputing every figure from samples, from other figures, and from what is only displayed."""

from collections.abc import Mapping
from enum import StrEnum

from verifier.checks.receipt.document.model import Figure, Operand
from verifier.checks.receipt.numbers import units
from verifier.checks.receipt.numbers.formulas import FORMULAS
from verifier.checks.receipt.numbers.intervals import Interval, UncomputableError, rounds_to, shown
from verifier.checks.receipt.numbers.operands import Numbers, Scaled, Single
from verifier.checks.receipt.numbers.tally import Tally
from verifier.core.limits import FIGURE_DEPTH
from verifier.core.value import frozen


class State(StrEnum):
    """What can be said of one figure."""

    RECOMPUTED = "recomputed"
    WITHIN_ROUNDING = "within rounding"
    INCONSISTENT = "inconsistent"
    NOT_RECOMPUTABLE = "not recomputable"


@frozen
class Computed:
    """One figure, what it comes to, and what is said of it.

    `result` is None where it cannot be computed; `missing` then says what is not there. `raw` says
    whether only samples went into it, and no number that is merely displayed.
    """

    figure: Figure
    state: State
    result: Interval | None
    raw: bool
    missing: str | None = None

    @property
    def difference(self) -> str:
        """By how much the published value is off, in its own unit."""
        value = self.figure.value
        if self.result is None or value is None:
            return ""
        return shown(Interval.exact(value).point - self.result.point, self.figure.places + 3)

    @property
    def recomputed(self) -> str:
        """What it comes to, with a few more digits than are published."""
        return shown(self.result.point, self.figure.places + 3) if self.result else "nothing"


class _MissingError(Exception):
    """Something that a figure is made of is not there."""


def compute(figures: tuple[Figure, ...], tally: Tally) -> Mapping[str, Computed]:
    """Recompute all figures, each once, those that others are made of first."""
    found = _Figures(figures, tally)
    for figure in figures:
        for operand in figure.operands.values():
            if operand.quantity is not None:
                tally.foresee(operand, figure.formula)
    for figure in figures:
        found.of(figure.id, ())
    return found.done


class _Figures:
    """The figures of one receipt while they are recomputed; `above` are those that wait."""

    def __init__(self, figures: tuple[Figure, ...], tally: Tally) -> None:
        self._known = {figure.id: figure for figure in figures}
        self._tally = tally
        self.done: dict[str, Computed] = {}

    def of(self, name: str, above: tuple[str, ...]) -> Computed:
        if name in above:
            raise _MissingError(f"figure {name} is made of itself")
        if len(above) > FIGURE_DEPTH:
            raise _MissingError(f"figures of figures, more than {FIGURE_DEPTH} deep")
        if name not in self._known:
            raise _MissingError(f"there is no figure {name}")
        if name not in self.done:
            self.done[name] = self._computed(self._known[name], above)
        return self.done[name]

    def _computed(self, figure: Figure, above: tuple[str, ...]) -> Computed:
        try:
            operands, raw = self._operands(figure, above)
            result = FORMULAS[figure.formula].compute(operands, figure.parameters)
        except (_MissingError, UncomputableError) as error:
            return Computed(
                figure=figure,
                state=State.NOT_RECOMPUTABLE,
                result=None,
                raw=False,
                missing=str(error),
            )
        return _judged(figure, result, raw=raw)

    def _operands(self, figure: Figure, above: tuple[str, ...]) -> tuple[dict[str, Numbers], bool]:
        """Return the operands of a figure in its units, and whether all are of samples alone."""
        wrong = units.clash(figure, self._known)
        if wrong is not None:
            raise _MissingError(f"expected {wrong.expected}, got {wrong.got}")
        raw, operands = True, dict[str, Numbers]()
        for name, scale in units.scales(figure, self._known).items():
            numbers, samples = self._numbers(figure.operands[name], (*above, figure.id))
            operands[name] = numbers if scale == 1 else Scaled(numbers, scale)
            raw = raw and samples
        return operands, raw

    def _numbers(self, operand: Operand, above: tuple[str, ...]) -> tuple[Numbers, bool]:
        """Return what an operand comes to, and whether only samples went into it."""
        if operand.value is not None:
            return Single(Interval.displayed(operand.value, operand.places)), False
        if operand.figure is not None:
            found = self.of(operand.figure, above)
            if found.result is None:
                raise _MissingError(f"figure {operand.figure}: {found.missing}")
            return Single(found.result), found.raw
        return self._of_samples(operand), True

    def _of_samples(self, operand: Operand) -> Numbers:
        selected = self._tally.selected(operand)
        if not selected.rows:
            raise _MissingError(f"no completed {operand.membership} sample is selected")
        if selected.missing:
            raise _MissingError(
                f"{selected.missing:,} of {selected.rows:,} samples have no {operand.quantity}"
            )
        return selected.numbers


def _judged(figure: Figure, result: Interval, *, raw: bool) -> Computed:
    if figure.value is None:
        state, missing = State.NOT_RECOMPUTABLE, "the value is null"
        return Computed(figure=figure, state=state, result=result, raw=raw, missing=missing)
    if not rounds_to(result, figure.value, figure.places):
        state = State.INCONSISTENT
    else:
        state = State.RECOMPUTED if raw else State.WITHIN_ROUNDING
    return Computed(figure=figure, state=state, result=result, raw=raw)


def quantities(figures: tuple[Figure, ...]) -> frozenset[str]:
    """Return which quantities of samples the figures need."""
    operands = (operand for figure in figures for operand in figure.operands.values())
    return frozenset(operand.quantity for operand in operands if operand.quantity)
