"""SLSA Verification Summary v1: whether a policy passed (slsa.dev/spec/v1.1).

The published library cannot read real ones (dependencies.md §4: `verifiedLevels` is a single
string there); here it is the list that the specification says.
"""

from typing import Final

from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.evidence.resource import Resource, resource, resources, timestamp, uri

TYPE: Final = "https://slsa.dev/verification_summary/v1"
PASSED: Final = "PASSED"
FAILED: Final = "FAILED"


@frozen
class VerificationSummary:
    """Who verified what, by which policy, when, from which attestations, and the result."""

    verifier: str
    verified: str
    resource: str
    policy: Resource
    inputs: tuple[Resource, ...]
    result: str
    levels: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """What may be demanded that it says."""
        return frozenset({self.result, *self.levels})

    @property
    def says_no(self) -> bool:
        """Whether it says that the policy did not pass."""
        return self.result == FAILED

    @property
    def said(self) -> str:
        """What it says, in a line."""
        levels = ", ".join(level for level in self.levels if level != self.result)
        return f"{self.result} under {self.policy.uri}{': ' if levels else ''}{levels}"


def read(table: Table) -> VerificationSummary:
    """Read the predicate; mistakes are noted in `table`."""
    summary = VerificationSummary(
        verifier=uri(table.table("verifier"), "id"),
        verified=timestamp(table, "timeVerified"),
        resource=uri(table, "resourceUri"),
        policy=resource(table.table("policy"), with_uri=True),
        inputs=resources(table, "inputAttestations", required=False),
        result=table.text("verificationResult", choices=[PASSED, FAILED]),
        levels=table.texts("verifiedLevels"),
    )
    if summary.result == PASSED and FAILED in summary.levels:
        table.mistake("verifiedLevels", "says FAILED of what passed")
    return summary
