"""SLSA Provenance v1: how an artifact was built (slsa.dev/spec/v1.1, provenance).

Only what tells builds apart is read: by whom, in which way, from what. Parameters are the build
type's own and are carried with the bytes of the statement.
"""

from typing import Final

from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.evidence.resource import Resource, resources, uri

TYPE: Final = "https://slsa.dev/provenance/v1"


@frozen
class Provenance:
    """The build type, the builder, and what was built from."""

    build_type: str
    builder: str
    dependencies: tuple[Resource, ...]

    @property
    def words(self) -> frozenset[str]:
        """What may be demanded that it says."""
        return frozenset({self.builder, self.build_type})

    @property
    def said(self) -> str:
        """What it says, in a line."""
        return f"built by {self.builder}"


def read(table: Table) -> Provenance:
    """Read the predicate; mistakes are noted in `table`."""
    definition = table.table("buildDefinition")
    definition.table("externalParameters")
    return Provenance(
        build_type=uri(definition, "buildType"),
        builder=uri(table.table("runDetails").table("builder"), "id"),
        dependencies=resources(definition, "resolvedDependencies", required=False),
    )
