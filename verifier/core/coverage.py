"""Coverage: which facets a check looked at, and what it can say of each (ARCHITECTURE §3)."""

from enum import StrEnum

from verifier.core.value import frozen


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
