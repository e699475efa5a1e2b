"""Facet `holds`: whether somebody said that this head must not be merged yet.

A hold of the policy names a commit, and means its tree under any other message too; a held head is
never verified, and no waiver lifts it. What an
event of a forge says (draft, labels) is a claim: it can say "not yet", and never "go on".
"""

from collections.abc import Iterable
from typing import Final

from verifier.checks.head.part import Part
from verifier.core.demand import Hold
from verifier.core.finding import Finding
from verifier.core.printable import printable, quoted
from verifier.core.value import frozen

FACET: Final = "holds"


@frozen
class Claimed:
    """What an event says of the pull request: whether it is a draft, and its labels."""

    draft: bool
    labels: tuple[str, ...]


def holds(held: Iterable[Hold], claimed: Claimed | None, labels: Iterable[str]) -> Part:
    """Judge the holds on a head; `labels` are those that mean "not yet"."""
    findings = [_held(each) for each in held]
    if claimed is not None:
        findings += _claims(claimed, frozenset(labels))
    if findings:
        return Part.broken(FACET, tuple(findings))
    said = "no hold" if claimed is None else "no hold, and no draft or label of the event"
    return Part.held(FACET, said)


def _held(hold: Hold) -> Finding:
    return Finding(
        code="head-held",
        expected="no hold on this head",
        got=f"held by {printable(hold.owner)}: {printable(hold.reason)}",
        cause=f"it lifts when: {printable(hold.lifts_when)}",
        remedy=f"{printable(hold.owner)} is next: {printable(hold.next_action)}",
    )


def _claims(claimed: Claimed, labels: frozenset[str]) -> Iterable[Finding]:
    if claimed.draft:
        yield Finding(
            code="head-draft",
            expected="a pull request that is ready for review",
            got="a draft, as the event says; a job that runs again has its old event",
            remedy="its author marks it ready for review; then verify again",
        )
    for label in sorted(labels & set(claimed.labels)):
        yield Finding(
            code="head-label",
            expected="no label that means: not yet",
            got=f"label {quoted(label)}, as the event says",
            remedy="whoever set the label takes it off when its reason is gone; then verify again",
        )
