"""What rules D have in common: the first figure that does not follow, or cannot be recomputed."""

from collections.abc import Iterable

from verifier.checks.receipt.answer import Broken, Uncheckable
from verifier.checks.receipt.document.model import Figure
from verifier.checks.receipt.numbers.figures import Computed, State
from verifier.checks.receipt.numbers.intervals import shown
from verifier.checks.receipt.study import Study


def named(study: Study, formula: str) -> list[Figure]:
    """Return the figures of one formula."""
    return [figure for figure in study.receipt.figures if figure.formula == formula]


def first_wrong(study: Study, figures: Iterable[Figure]) -> Broken | Uncheckable | None:
    """Return what is wrong with the first figure that is inconsistent, else what one lacks.

    A figure that is null says nothing, and none is None.
    """
    asked = [study.figures[figure.id] for figure in figures if figure.value is not None]
    wrong = [each for each in asked if each.state is State.INCONSISTENT]
    if wrong:
        return _inconsistent(wrong[0], len(wrong) - 1)
    lacking = [each for each in asked if each.state is State.NOT_RECOMPUTABLE]
    if lacking:
        first = lacking[0]
        return Uncheckable(missing=f"figure {first.figure.id}: {first.missing}")
    return None


def _inconsistent(computed: Computed, others: int) -> Broken:
    figure = computed.figure
    ends = {shown(end, figure.places + 3) for end in computed.result or ()}
    expected = f"figure {figure.id} = {computed.recomputed} {figure.unit}"
    if len(ends) > 1:  # the enclosure of a root is narrower than what is shown
        low, high = (shown(end, figure.places + 3) for end in computed.result or ())
        expected = f"figure {figure.id} between {low} and {high} {figure.unit}"
    more = f"; {others} more are off" if others else ""
    return Broken(
        expected=expected,
        got=f"{figure.value:f} {figure.unit}, off by {computed.difference}{more}",
        path=f"derived.{figure.id}.value",
    )
