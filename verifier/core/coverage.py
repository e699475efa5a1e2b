"""Coverage: which facets a check looked at, and what it can say of each (ARCHITECTURE §3)."""

from enum import StrEnum
from typing import Final

from verifier.core.value import frozen

#: The detail of a facet that a call did not ask for; a terminal shows it only if demanded.
NOT_ASKED: Final = "not asked for"


class State(StrEnum):
    """The closed list of what can be said of a facet."""

    HELD = "held"
    HELD_LENGTH_NOT_PINNED = "held-length-not-pinned"
    NOT_HELD = "not-held"
    NOT_CHECKED = "not-checked"
    NOT_APPLICABLE = "not-applicable"

    @property
    def holds(self) -> bool:
        """Whether the facet was checked and found to hold."""
        return self in (State.HELD, State.HELD_LENGTH_NOT_PINNED)


@frozen
class Covered:
    """One facet's state, with the words a report prints beside it."""

    facet: str
    state: State
    detail: str = ""

    @property
    def words(self) -> str:
        """State and detail, as people read them."""
        if self.state.holds:
            return self.detail or "as registered"
        state = str(self.state).replace("-", " ")
        return f"{state} · {self.detail}" if self.detail else state
