"""What a claim rests on: its figures, their samples, the arms that it sets against each other.

Rules of design and statistics ask of every claim of some kinds whether it may stand; `limit` puts
their answers together.
"""

from collections.abc import Callable, Iterable, Iterator

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import (
    COMPARING,
    Arm,
    ArmState,
    Claim,
    Figure,
    Operand,
    Role,
)
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.numbers.tally import Place
from verifier.checks.receipt.study import Study

#: Claims or arms that one finding names; the rest is counted.
_NAMED = 3
#: Formulas that set one operand against another, and the one that means no effect.
NO_EFFECT = {"change": 0, "difference": 0, "ratio": 1}


def listed(parts: Iterable[str]) -> str:
    """Name the first few, and say how many more there are."""
    all_parts = list(parts)
    more = len(all_parts) - _NAMED
    return "; ".join(all_parts[:_NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def limit(
    claims: Iterable[Claim],
    ask: Callable[[Claim], str | Missing | None],
    *,
    expected: str,
    condition: str = "",
) -> Answer:
    """Ask something of every claim: None if it may stand, else why not, or what is missing."""
    broken, missing, asked = dict[str, str](), list[str](), 0
    for claim in claims:
        asked += 1
        found = ask(claim)
        if isinstance(found, Missing):
            missing.append(f"{found.what} (claim {claim.id})")
        elif found is not None:
            broken[claim.id] = found
    if broken:
        return Broken(
            expected=expected,
            got=listed(f"claim {name}: {why}" for name, why in broken.items()),
            condition=condition,
            claims=frozenset(broken),
        )
    if missing:
        return Uncheckable(missing=listed(missing))
    return Holds(detail=f"{asked} claims" if asked else "no claim of this kind")


def comparing(study: Study) -> tuple[Claim, ...]:
    """Return the claims that set one arm against another."""
    return tuple(study.claims(*COMPARING))


def figures(study: Study, claim: Claim) -> tuple[Figure, ...]:
    """Return the figures of a claim and all those that they are made of."""
    return tuple(reached(study, claim.figures))


def reached(study: Study, names: Iterable[str]) -> Iterator[Figure]:
    """Yield figures and all that they are made of, those above first, each once."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen or name not in study.figures:
            continue
        seen.add(name)
        figure = study.figures[name].figure
        yield figure
        waiting += [each.figure for each in figure.operands.values() if each.figure]


def below(study: Study, operand: Operand) -> tuple[Operand, ...]:
    """Return the samples and displayed values that an operand comes down to."""
    if operand.figure is None:
        return (operand,)
    found = reached(study, [operand.figure])
    return tuple(o for figure in found for o in figure.operands.values() if o.figure is None)


def leaves(study: Study, claim: Claim) -> tuple[Operand, ...]:
    """Return the samples and displayed values that a claim comes down to."""
    found = figures(study, claim)
    return tuple(o for figure in found for o in figure.operands.values() if o.figure is None)


def compared(study: Study, claim: Claim) -> tuple[Figure, ...]:
    """Return the figures of a claim that set one operand against another."""
    return tuple(figure for figure in figures(study, claim) if figure.formula in NO_EFFECT)


def arms(study: Study, claim: Claim) -> tuple[Arm, ...]:
    """Return the arms that a claim names, else those that its samples come from."""
    if claim.arms:
        return tuple(arm for arm in study.receipt.arms if arm.id in claim.arms)
    samples = [operand for operand in leaves(study, claim) if operand.quantity]
    if any(not operand.arms for operand in samples):
        return study.receipt.arms
    named = {name for operand in samples for name in operand.arms}
    return tuple(arm for arm in study.receipt.arms if arm.id in named)


def measured(study: Study, claim: Claim) -> tuple[Arm, ...]:
    """Return the arms of a claim that were measured to the end."""
    return tuple(arm for arm in arms(study, claim) if arm.state is ArmState.COMPLETE)


def sides(found: Iterable[Arm]) -> tuple[tuple[Arm, ...], tuple[Arm, ...]]:
    """Divide arms into candidates, and controls with the returns to them."""
    all_arms = tuple(found)
    candidates = tuple(arm for arm in all_arms if arm.role is Role.CANDIDATE)
    return candidates, tuple(arm for arm in all_arms if arm.role is not Role.CANDIDATE)


def places(study: Study, claim: Claim) -> frozenset[Place]:
    """Return the places of all samples of a claim: arm, case, membership."""
    return frozenset(
        place
        for operand in leaves(study, claim)
        if operand.quantity
        for place in study.tally.matching(operand.arms, operand.cases, operand.membership)
    )


def setting(arm: Arm) -> frozenset[tuple[str, str]]:
    """Return the settings of an arm as one value that can be compared."""
    return frozenset(arm.settings.items())


def differing(found: Iterable[Arm]) -> frozenset[str]:
    """Return the names of the settings that are not the same in all of these arms."""
    maps = [arm.settings for arm in found]
    names = {name for each in maps for name in each}
    return frozenset(name for name in names if len({each.get(name) for each in maps}) > 1)


def in_order(study: Study, found: Iterable[Arm]) -> tuple[Arm, ...] | None:
    """Return arms in the order of their starts, else of the design; None if neither is known."""
    all_arms = tuple(found)
    if all(arm.started_at is not None for arm in all_arms):
        return tuple(sorted(all_arms, key=lambda arm: (arm.started_at, arm.id)))
    order = study.receipt.design.order if study.receipt.design else ()
    if any(arm.id not in order for arm in all_arms):
        return None
    return tuple(sorted(all_arms, key=lambda arm: order.index(arm.id)))
