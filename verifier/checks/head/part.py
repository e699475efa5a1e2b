"""One facet's answer on a proposed merge, before all are put together."""

from typing import Self

from verifier.core.coverage import Covered, State
from verifier.core.finding import Finding
from verifier.core.outcome import Identified
from verifier.core.value import frozen


@frozen
class Part:
    """What one facet comes to: its state, the reasons against it, and what it leaves unproven."""

    covered: Covered
    findings: tuple[Finding, ...] = ()
    identified: tuple[Identified, ...] = ()
    not_proven: tuple[str, ...] = ()

    @classmethod
    def held(cls, facet: str, detail: str, *, not_proven: tuple[str, ...] = ()) -> Self:
        """Return a facet that holds."""
        covered = Covered(facet=facet, state=State.HELD, detail=detail)
        return cls(covered=covered, not_proven=not_proven)

    @classmethod
    def broken(cls, facet: str, findings: tuple[Finding, ...], detail: str = "") -> Self:
        """Return a facet that does not hold, for at least one reason."""
        return cls(
            covered=Covered(facet=facet, state=State.NOT_HELD, detail=detail), findings=findings
        )

    @classmethod
    def absent(cls, facet: str, detail: str) -> Self:
        """Return a facet that has nothing to be about."""
        return cls(covered=Covered(facet=facet, state=State.NOT_APPLICABLE, detail=detail))

    @classmethod
    def unasked(cls, facet: str, detail: str) -> Self:
        """Return a facet that was not looked at."""
        return cls(covered=Covered(facet=facet, state=State.NOT_CHECKED, detail=detail))
