"""One row of the table of codes."""

from typing import Final, NamedTuple


class Code(NamedTuple):
    """One row: the facet it belongs to (`input` is always demanded), outcome, title."""

    code: str
    facet: str
    outcome: str
    title: str


REJECTED: Final = "rejected"
UNDECIDED: Final = "undecided"
ERROR: Final = "error"
