"""Rules D5 to D8 and D10: acceptance length, tokens a second, and the clock of times."""

from typing import Final

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import Figure, Operand
from verifier.checks.receipt.rules.judged import first_wrong, named
from verifier.checks.receipt.rules.made_of import citing, is_rate, quantities, side
from verifier.checks.receipt.study import Study

#: What is divided by a time, so that the rate is what it is called: a prefill rate is of the
#: prompt that was counted, not of the context's label (8,194 tokens, not "8K").
_AMOUNTS: Final = {
    "ttft": frozenset({"promptTokens"}),
    "elapsed": frozenset({"completionTokens", "promptTokens", "totalTokens"}),
    "settle": frozenset({"completionTokens", "totalTokens"}),
}
_RATES: Final = frozenset({"decodeRate", "prefillRate", "throughput"})
_TIMES: Final = frozenset({"ttft", "settle", "elapsed"}) | _RATES
#: What a client's clock measures besides the server (seeds/003).
_INCLUDED: Final = ("api", "network")


def d5_acceptance(study: Study) -> Answer:
    """Ask that an acceptance length is weighted by drafts: 1 + all accepted / all drafts."""
    for figure in study.receipt.figures:
        operand = figure.operands.get("of")
        averaged = figure.formula in ("mean", "median", "geometricMean")
        if averaged and operand and operand.quantity == "acceptanceLength":
            return Broken(
                expected=f"{figure.id} = 1 + accepted / drafts, over all its samples",
                got=f"the {figure.formula} of one ratio for each sample",
                condition="ratios",
                path=f"derived.{figure.id}.formula",
            )
    lengths = named(study, "acceptanceLength")
    apart = _apart(study, lengths, ("accepted", "drafts"))
    wrong = first_wrong(study, lengths)
    return apart or wrong or Holds(detail=f"{len(lengths)} acceptance lengths")


def d8_normalised(study: Study) -> Answer:
    """Ask that a normalised decode is a rate by the acceptance length of the same samples."""
    figures = named(study, "normalisedDecode")
    apart = _apart(study, figures, ("rate", "acceptanceLength"))
    return apart or first_wrong(study, figures) or Holds(detail=f"{len(figures)} of them")


def _apart(study: Study, figures: list[Figure], names: tuple[str, str]) -> Broken | None:
    """Say which figure has operands that are not of the same samples."""
    for figure in figures:
        one, other = (_window(side(study.receipt, figure, name)) for name in names)
        if one != other:
            return Broken(
                expected=f"both operands of {figure.id} of the same samples",
                got=f"{names[0]} of {_said(one)}, {names[1]} of {_said(other)}",
                condition="window",
                path=f"derived.{figure.id}.operands",
            )
    return None


Window = frozenset[tuple[tuple[str, ...], tuple[str, ...], str]]


def _window(sides: tuple[Operand, ...]) -> Window:
    """Return which samples the operands select."""
    return frozenset(
        (tuple(sorted(each.arms)), tuple(sorted(each.cases)), each.membership) for each in sides
    )


def _said(window: Window) -> str:
    return "; ".join(
        f"{kind}, arms {', '.join(arms) or 'all'}, cases {', '.join(cases) or 'all'}"
        for arms, cases, kind in sorted(window)
    )


def d6_rate(study: Study) -> Answer:
    """Ask that tokens a second are counted tokens by the time of the same samples, on a clock."""
    rates = [figure for figure in study.receipt.figures if is_rate(figure)]
    for figure in rates:
        if wrong := _operands(study, figure):
            return wrong
    wrong_value = first_wrong(study, rates)
    if wrong_value:
        return wrong_value
    clock = study.receipt.environment.clock
    if silent := [f.id for f in rates if not (f.clock or clock)]:
        return Uncheckable(missing=f"the clock of {silent[0]}")
    return Holds(detail=f"{len(rates)} rates")


def _operands(study: Study, figure: Figure) -> Broken | None:
    """Say whether tokens and time of a rate belong together, through all figures in between."""
    if figure.formula != "rate":
        return None
    amounts = side(study.receipt, figure, "amount")
    times = side(study.receipt, figure, "microseconds")
    allowed = [_AMOUNTS[each.quantity] for each in times if each.quantity in _AMOUNTS]
    if not allowed:
        return None  # the time is a number of the study's own
    wanted = frozenset.intersection(*allowed)
    own = [each.quantity or f"{each.value}" for each in amounts if each.quantity not in wanted]
    one, other = _window(amounts), _window(times)
    if not own and one == other:
        return None
    expected = " or ".join(sorted(wanted))
    return Broken(
        expected=f"{figure.id}: {expected} by the time of the same samples",
        got=", ".join(own) or f"tokens of {_said(one)}, time of {_said(other)}",
        condition="operands",
        path=f"derived.{figure.id}.operands",
    )


def d7_label(study: Study) -> Answer:
    """Ask that each throughput says whether it is of all requests together or of each."""
    rates = [figure for figure in study.receipt.figures if is_rate(figure)]
    silent = [figure for figure in rates if figure.scope is None]
    if not silent:
        return Holds(detail=f"{len(rates)} rates")
    return Broken(
        expected=f"{silent[0].id} to say aggregate or perRequest",
        got="no scope",
        path=f"derived.{silent[0].id}.scope",
        claims=_claims(study, silent),
    )


def d10_clock(study: Study) -> Answer:
    """Ask that times of a client are said to include API and network."""
    timed = [f for f in study.receipt.figures if quantities(study.receipt, f) & _TIMES]
    own = study.receipt.environment.clock
    wrong = [f for f in timed if _hides(f.clock or own)]
    if wrong:
        return Broken(
            expected=f"the clock of {wrong[0].id}, a client's, to include API and network",
            got=str(wrong[0].clock or own),
            path=f"derived.{wrong[0].id}.clock",
            claims=_claims(study, wrong),
        )
    if silent := [f.id for f in timed if not (f.clock or own)]:
        return Uncheckable(missing=f"the clock of {silent[0]}")
    return Holds(detail=f"{len(timed)} figures of times")


def _hides(clock: str | None) -> bool:
    """Whether a clock is a client's and does not say what it includes."""
    words = (clock or "").lower()
    return "client" in words and not all(word in words for word in _INCLUDED)


def _claims(study: Study, figures: list[Figure]) -> frozenset[str]:
    return frozenset().union(*(citing(study.receipt, figure) for figure in figures))
