"""`Refused`: the registry, or one entry of it, cannot be used, and why (ARCHITECTURE, law 8)."""

from verifier.core.finding import Finding
from verifier.core.value import frozen


@frozen
class Refused:
    """What stands in the place of a value that did not authenticate. Never without a reason."""

    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        """Refuse to be without a finding: that would be undecided for no reason."""
        if not self.findings:
            raise ValueError("refused without a finding")
