"""Rule D4: changes against a baseline."""

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import DIRECTED, Claim, ClaimKind, Figure
from verifier.checks.receipt.rules.judged import first_wrong, named
from verifier.checks.receipt.rules.made_of import figures_of, side
from verifier.checks.receipt.study import Study


def d4_change(study: Study) -> Answer:
    """Ask that a change is against an identified baseline, in a stated direction."""
    changes = named(study, "change")
    wrong = first_wrong(study, changes)
    if isinstance(wrong, Broken):
        return wrong
    answers = [_baseline(study, figure) for figure in changes]
    answers += [_direction(study, claim) for claim in study.claims(*DIRECTED)]
    unsaid = [
        Uncheckable(missing=f"which direction of {figure.id} is better")
        for figure in changes
        if figure.better is None and figure.value
    ]
    broken = next((each for each in answers if isinstance(each, Broken)), None)
    lacking = next((each for each in (wrong, *answers, *unsaid) if each), None)
    return broken or lacking or Holds(detail=f"{len(changes)} changes")


def _baseline(study: Study, figure: Figure) -> Broken | Uncheckable | None:
    """Say what is wrong with the baseline of a change; one may be of another receipt."""
    below = study.receipt.figure(figure.operands["baseline"].figure or "")
    if below is not None and below.copied:
        return None
    baseline = side(study.receipt, figure, "baseline")
    path = f"derived.{figure.id}.operands.baseline"
    arms = {name for operand in baseline for name in operand.arms}
    if unknown := sorted(name for name in arms if study.receipt.arm(name) is None):
        expected = f"the baseline of {figure.id} to be an arm"
        return Broken(
            expected=expected, got=f"no arm {', '.join(unknown)}", condition="baseline", path=path
        )
    if baseline == side(study.receipt, figure, "candidate") and baseline[0].value is None:
        return Broken(
            expected=f"a baseline of {figure.id} other than its candidate",
            got="the same samples",
            condition="baseline",
            path=path,
        )
    if not all(operand.arms for operand in baseline):
        return Uncheckable(missing=f"the arms that are the baseline of {figure.id}")
    return None


def _direction(study: Study, claim: Claim) -> Broken | None:
    """Say whether every change that a claim cites goes the other way."""
    cited = [
        figure
        for figure in figures_of(study.receipt, claim)
        if figure.formula == "change" and figure.better and figure.value
    ]
    improves = [((f.value or 0) < 0) == (f.better == "lower") for f in cited]
    if not cited or (claim.kind is ClaimKind.IMPROVEMENT) in improves:
        return None
    figure = cited[0]
    return Broken(
        expected=f"a change that is the {claim.kind} which {claim.id} claims",
        got=f"{figure.id} {figure.value:+f} {figure.unit}, where {figure.better} is better",
        condition="direction",
        path=f"derived.{figure.id}.better",
    )
