"""A proposed merge: exactly this head, into exactly this base (CHECKS "head").

1. *Objects, base, merge* (`objects`): what was read hashes to its ids, the ids mean what they are
   given as, the base is a branch's tip, and the merge is the one that is judged.
2. *Helpers, compositions* (`inside`): what the policy lists is verified in head's tree.
3. *Registry changes* (`registry_changes`): registry and policy may change what judges from then on
   only as the base's allow.
4. *Receipts* (`receipts`): a measurement counts if it is of this head.
5. *Approvals* (`approvals`): signed by who has to, about this head.
6. *Holds* (`holds`): nobody said: not yet.

A verdict for one head is never one for another; what judges comes from the base or from outside.
"""

from collections.abc import Sequence
from typing import Final

from verifier.checks.head.objects import Pair
from verifier.checks.head.part import Part
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding
from verifier.core.outcome import Outcome

_NOT_PROVEN: Final = (
    "what the changes do",
    "what a forge makes of the merge with attributes, drivers or settings of its own",
)


def check(pair: Pair, parts: Sequence[Part]) -> Outcome:
    """Put together the answers of all facets, in their order."""
    notes = [note for note in pair.notes if note.row.outcome == "rejected"]
    return Outcome(
        kind="head",
        identified=(*pair.identified, *(found for part in parts for found in part.identified)),
        findings=(*(f for part in parts for f in part.findings), *notes),
        coverage=tuple(part.covered for part in parts),
        not_proven=(*(words for part in parts for words in part.not_proven), *_NOT_PROVEN),
    )


def unread(findings: tuple[Finding, ...]) -> Outcome:
    """Return the outcome where base or head is no commit of the clone."""
    return Outcome(
        kind="head",
        identified=(),
        findings=findings,
        coverage=tuple(
            Covered(facet=facet, state=State.NOT_HELD if facet == "objects" else State.NOT_CHECKED)
            for facet in FACETS["head"]
        ),
    )
