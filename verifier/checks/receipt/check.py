"""A measurement receipt, judged rule by rule.

1. *Rules*: every rule of the written-out list that the table of kinds does not exclude is asked.
   A broken one has the consequence that the list fixes for its condition.
2. *Figures*: each is recomputed; the rules of group D say what follows.
3. *Claims*: a rule that limits takes claims away and leaves the receipt. If none is left, or one
   that was asked for is gone, nothing is verified.
4. *Facets*: one is held if at least one of its rules holds and none is broken or uncheckable.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
)
from verifier.checks.receipt.numbers.figures import Computed
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.study import Study
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding, Where
from verifier.core.outcome import (
    ClaimFacts,
    FigureFacts,
    Identified,
    Outcome,
    RuleFacts,
    StudyFacts,
)

NOT_PROVEN: Final = (
    "that the samples were really measured",
    "anything outside of the measured scope",
)
_SUPPLY: Final = "add what is missing to the receipt or beside it, and publish it anew"


class Answered(NamedTuple):
    """A rule and its answer; None if it does not apply."""

    rule: Rule
    answer: Answer | None

    @property
    def consequence(self) -> Consequence | None:
        """What follows, None if nothing does."""
        if isinstance(self.answer, Broken):
            return self.rule.consequences[self.answer.condition]
        return Consequence.UNCHECKABLE if isinstance(self.answer, Uncheckable) else None


def check(study: Study, *, wanted: Iterable[str] = (), signed: Covered | None = None) -> Outcome:
    """Judge a study; `wanted` are claims that must be left, `signed` what is said of signatures."""
    excluded = DOES_NOT_APPLY[study.receipt.kind]
    answered = [
        Answered(rule, None if rule.id in excluded else rule.answer(study)) for rule in RULES
    ]
    claims = tuple(_claims(study, answered))
    findings = [f for each in answered for f in _finding(each)]
    findings += _lost(claims, wanted)
    worst = min(filter(None, (each.consequence for each in answered)), default=None, key=_gravity)
    source = study.receipt.source.full if study.receipt.source else None
    return Outcome(
        kind="receipt",
        identified=(
            Identified(
                entry=study.receipt.id,
                version=str(study.receipt.kind),
                status=study.receipt.assurance,
                detail=f"measured at {source}" if source else "no full commit",
            ),
        ),
        findings=tuple(findings),
        coverage=tuple(_coverage(answered, signed)),
        not_proven=(*NOT_PROVEN, *study.receipt.not_claimed),
        study=StudyFacts(
            state=str(worst or "pass"),
            figures=tuple(map(_figure, study.figures.values())),
            claims=claims,
            rules=tuple(map(_rule, answered)),
        ),
    )


def _gravity(consequence: Consequence) -> int:
    return list(Consequence).index(consequence)


def _finding(answered: Answered) -> Iterator[Finding]:
    rule, answer = answered.rule, answered.answer
    if isinstance(answer, Broken):
        yield Finding(
            code=rule.code(answer.condition),
            where=Where(path=answer.path),
            expected=answer.expected,
            got=answer.got,
            cause=answer.cause,
            remedy=rule.remedy,
        )
    elif isinstance(answer, Uncheckable):
        yield Finding(
            code=f"receipt-uncheckable-{rule.facet}",
            expected=f"rule {rule.id}, {rule.name.replace('-', ' ')}",
            got=f"missing: {answer.missing}",
            remedy=_SUPPLY,
        )


def _claims(study: Study, answered: list[Answered]) -> Iterator[ClaimFacts]:
    for claim in study.receipt.claims:
        yield ClaimFacts(
            id=claim.id,
            kind=str(claim.kind),
            text=claim.text,
            lost=tuple(
                each.rule.id
                for each in answered
                if isinstance(each.answer, Broken) and claim.id in each.answer.claims
            ),
        )


def _lost(claims: tuple[ClaimFacts, ...], wanted: Iterable[str]) -> Iterator[Finding]:
    left = {claim.id for claim in claims if not claim.lost}
    rules = {claim.id: ", ".join(claim.lost) for claim in claims}
    remedy = "cite what is left, or measure again as the rules say: pinproof explain CODE"
    for name in sorted(set(wanted) - left):
        got = f"taken away by {rules[name]}" if name in rules else "no such claim"
        yield Finding(code="receipt-claim-lost", expected=f"claim {name}", got=got, remedy=remedy)
    if claims and not left:
        got = "; ".join(f"{claim.id} by {', '.join(claim.lost)}" for claim in claims)
        yield Finding(
            code="receipt-no-claim-left", expected="a claim that is left", got=got, remedy=remedy
        )


def _coverage(answered: list[Answered], signed: Covered | None) -> Iterator[Covered]:
    for facet in FACETS["receipt"]:
        if facet == "signed":
            yield signed or Covered(facet=facet, state=State.NOT_CHECKED, detail="unsigned")
            continue
        of = [each for each in answered if each.rule.facet == facet]
        applied = [each for each in of if each.answer is not None]
        grave = [each for each in applied if each.consequence not in (None, Consequence.LIMITS)]
        if not applied:
            yield Covered(facet=facet, state=State.NOT_APPLICABLE)
        elif not grave:
            held = sum(isinstance(each.answer, Holds) for each in applied)
            state = State.HELD if held else State.NOT_CHECKED
            yield Covered(facet=facet, state=state, detail=f"{held} of {len(applied)} rules")
        else:
            unknown = all(isinstance(each.answer, Uncheckable) for each in grave)
            names = ", ".join(each.rule.id for each in grave)
            state = State.NOT_CHECKED if unknown else State.NOT_HELD
            yield Covered(facet=facet, state=state, detail=names)


def _figure(computed: Computed) -> FigureFacts:
    figure = computed.figure
    return FigureFacts(
        id=figure.id,
        formula=figure.formula,
        unit=figure.unit,
        value=None if figure.value is None else f"{figure.value:f}",
        state=str(computed.state),
        recomputed=computed.recomputed if computed.result else None,
        difference=computed.difference or None,
        missing=computed.missing,
    )


def _rule(answered: Answered) -> RuleFacts:
    answer = answered.answer
    word, detail = "does not apply", ""
    if isinstance(answer, Holds):
        word, detail = "holds", answer.detail
    elif isinstance(answer, Broken):
        word, detail = "broken", answer.got
    elif isinstance(answer, Uncheckable):
        word, detail = "uncheckable", answer.missing
    consequence = answered.consequence
    return RuleFacts(
        id=answered.rule.id,
        answer=word,
        consequence=str(consequence) if consequence else None,
        detail=detail,
    )
