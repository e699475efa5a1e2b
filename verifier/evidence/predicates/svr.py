"""Simple Verification Result v0.2: which properties a verifier found to hold, and nothing else.

in-toto/attestation, spec/predicates/svr.md: `verifier.policies` is required since v0.2. It can
say no "no"; whoever reads one looks for the properties that they need.
"""

from typing import Final

from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.evidence.resource import Resource, resources, timestamp, uri

TYPE: Final = "https://in-toto.io/attestation/svr/v0.2"


@frozen
class VerificationResult:
    """Who verified, by which policies, when, and what held."""

    verifier: str
    policies: tuple[Resource, ...]
    created: str
    properties: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """What may be demanded that it says."""
        return frozenset(self.properties)

    @property
    def said(self) -> str:
        """What it says, in a line."""
        return f"that these hold: {', '.join(self.properties) or 'none'}"


def read(table: Table) -> VerificationResult:
    """Read the predicate; mistakes are noted in `table`."""
    verifier = table.table("verifier")
    return VerificationResult(
        verifier=uri(verifier, "id"),
        policies=resources(verifier, "policies", required=True),
        created=timestamp(table, "timeCreated"),
        properties=table.texts("properties"),
    )
