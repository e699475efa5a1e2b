"""The four answers of a rule, and what follows from a broken one (receipts.md §2; FORMATS §6).

*holds*, *broken* with the consequence that the list of rules fixes for that condition,
*uncheckable* with what is missing, and *does not apply*, which only the table of kinds says.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from verifier.core.value import frozen

if TYPE_CHECKING:
    from verifier.checks.receipt.study import Study


class Consequence(StrEnum):
    """What a broken rule makes of a receipt, the worst first (FORMATS §6)."""

    INVALID = "invalid"
    INCONSISTENT = "inconsistent"
    REFUSE = "refuse"
    FAIL = "fail"
    INCOMPLETE = "incomplete"
    UNCHECKABLE = "uncheckable"
    INCONCLUSIVE = "inconclusive"
    WAIVED = "waived"
    STALE = "stale"
    DESCRIPTIVE = "descriptive"
    LIMITS = "limits"


#: These say that the receipt is wrong; all others that nothing says it is right.
REJECTING: Final = (
    Consequence.INVALID,
    Consequence.INCONSISTENT,
    Consequence.REFUSE,
    Consequence.FAIL,
)


@frozen
class Holds:
    """The rule was checked and holds; `detail` says on what."""

    detail: str = ""


@frozen
class Broken:
    """The rule is broken. `condition` names which of the rule's conditions; "" is its only one.

    `claims` are those that a limiting rule takes away.
    """

    expected: str
    got: str
    condition: str = ""
    path: str | None = None
    cause: str | None = None
    claims: frozenset[str] = frozenset()


@frozen
class Uncheckable:
    """What it takes is not there; `missing` names it."""

    missing: str


Answer = Holds | Broken | Uncheckable


class Rule(NamedTuple):
    """One rule: id as in the book, name, facet, what follows per condition, and the function.

    The code of a broken rule is `receipt-<id>-<name>`, with the condition behind it where there
    are several. `remedy` is what the author of the receipt may do.
    """

    id: str
    name: str
    facet: str
    consequences: dict[str, Consequence]
    answer: "Callable[[Study], Answer]"
    remedy: str

    def code(self, condition: str = "") -> str:
        """Return the code of a broken condition."""
        base = f"receipt-{self.id.lower()}-{self.name}"
        return f"{base}-{condition}" if condition else base


def only(consequence: Consequence) -> dict[str, Consequence]:
    """Return the consequences of a rule with one condition."""
    return {"": consequence}
