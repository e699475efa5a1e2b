"""What figures and claims are made of: operands through every figure between, and their arms."""

from collections.abc import Iterator

from verifier.checks.receipt.document.model import Claim, Figure, Operand, Receipt
from verifier.checks.receipt.numbers import units
from verifier.checks.receipt.numbers.quantities import QUANTITIES


def operands(receipt: Receipt, figure: Figure) -> Iterator[tuple[str, Operand]]:
    """Return name and value of each operand that is no figure, through all figures in between."""
    seen = {figure.id}
    waiting = [figure]
    while waiting:
        for name, operand in waiting.pop().operands.items():
            if operand.figure is None:
                yield name, operand
                continue
            below = receipt.figure(operand.figure)
            if below is not None and below.id not in seen:
                seen.add(below.id)
                waiting.append(below)


def side(receipt: Receipt, figure: Figure, name: str) -> tuple[Operand, ...]:
    """Return what one operand of a figure is made of, through all figures in between."""
    operand = figure.operands[name]
    if operand.figure is None:
        return (operand,)
    below = receipt.figure(operand.figure)
    return tuple(each for _, each in operands(receipt, below)) if below else ()


def from_samples(receipt: Receipt, figure: Figure) -> bool:
    """Whether only samples go into it, and no number that is merely displayed."""
    return all(operand.value is None for _, operand in operands(receipt, figure))


def quantities(receipt: Receipt, figure: Figure) -> frozenset[str]:
    """Return which quantities of samples go into it."""
    return frozenset(o.quantity for _, o in operands(receipt, figure) if o.quantity)


def is_rate(figure: Figure) -> bool:
    """Whether it is tokens a second by its formula, by its samples, or by its own unit."""
    read = (QUANTITIES.get(each.quantity or "") for each in figure.operands.values())
    own = any(quantity is not None and units.is_rate(quantity.unit) for quantity in read)
    return units.is_rate(figure.unit) or (own and figure.formula != "count")


def figures_of(receipt: Receipt, claim: Claim) -> tuple[Figure, ...]:
    """Return the figures that a claim cites."""
    return tuple(filter(None, map(receipt.figure, claim.figures)))


def arms_of(receipt: Receipt, claim: Claim) -> frozenset[str]:
    """Return the arms that a claim rests on: its own, else those of its figures, else all."""
    every = frozenset(arm.id for arm in receipt.arms)
    if claim.arms:
        return frozenset(claim.arms)
    found: set[str] = set()
    for figure in figures_of(receipt, claim):
        for _, operand in operands(receipt, figure):
            found |= frozenset(operand.arms) or every
    return frozenset(found) or every


def citing(receipt: Receipt, figure: Figure) -> frozenset[str]:
    """Return the claims that cite a figure, or one that is made of it."""
    above = {figure.id}
    grown = True
    while grown:
        more = {
            each.id
            for each in receipt.figures
            if any(operand.figure in above for operand in each.operands.values())
        }
        grown = not more <= above
        above |= more
    return frozenset(claim.id for claim in receipt.claims if above & set(claim.figures))
