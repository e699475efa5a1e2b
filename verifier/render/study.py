"""What a report says of a measurement: claims, figures, and the rules that limit them."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from verifier.core.outcome import FigureFacts, StudyFacts
from verifier.core.verdict import Verdict

_MOST: Final = 12
_FINE: Final = ("recomputed", "within rounding")


#: What is said of a claim that no rule takes away: no more than the whole receipt is worth.
_LEFT: Final = {
    Verdict.VERIFIED: "stands",
    Verdict.UNDECIDED: "no rule takes it away",
    Verdict.REJECTED: "falls with the receipt",
}


def study_rows(study: StudyFacts, verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Return label and text of each row; every claim, the figures counted, the wrong ones told."""
    for claim in study.claims:
        lost = f"taken away by {', '.join(claim.lost)}" if claim.lost else _LEFT[verdict]
        yield "claim", f"{claim.id}: {claim.text} · {lost}"
    counts = Counter(figure.state for figure in study.figures)
    if study.figures:
        told = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
        yield "figures", f"{len(study.figures)}: {told}"
    wrong = [figure for figure in study.figures if figure.state not in _FINE]
    for figure in wrong[:_MOST]:
        yield "figure", _wrong(figure)
    if len(wrong) > _MOST:
        yield "figure", f"{len(wrong) - _MOST} more (--format json lists all)"
    took = {rule for claim in study.claims for rule in claim.lost}
    for rule in study.rules:
        if rule.consequence == "limits":
            none = "" if rule.id in took else ", no claim rests on it"
            yield "limits", f"{rule.id}{none}: {rule.detail}"


def _wrong(figure: FigureFacts) -> str:
    if figure.missing:
        return f"{figure.id}: {figure.missing}"
    off = f", off by {figure.difference}" if figure.difference else ""
    return f"{figure.id}: {figure.value} {figure.unit} published, {figure.recomputed} computed{off}"
