"""Rules B: what the receipt is bound to, and whether that is what is asked about."""

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
from verifier.checks.receipt.study import Study


def b1_exact_head(study: Study) -> Answer:
    """Ask that the commit of the claim is the one that was measured."""
    measured = study.receipt.source.full if study.receipt.source else None
    if measured is None:
        return Uncheckable(missing="the full commit that was measured, subject source")
    claimed = study.receipt.claim_head.full if study.receipt.claim_head else measured
    for head in filter(None, (study.companions.head, claimed)):
        if head != measured:
            return Broken(expected=f"commit {head}", got=f"measured at commit {measured}")
    return Holds(detail=measured[:12])


RULES: Final = (
    Rule(
        "B1",
        "exact-head",
        "exact-head",
        only(Consequence.STALE),
        b1_exact_head,
        "measure at that commit, or cite the receipt for the one it was measured at",
    ),
)
