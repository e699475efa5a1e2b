"""release/v1: one published version of a tool: its commit, and what its archives are."""

from verifier.core.digest import Pin
from verifier.core.value import frozen

FORMATS = ("grill-perf-build-receipt-v1", "sha256sums")


@frozen
class ReleaseTarget:
    """What was published for one target; None where it is not known (FORMATS §2)."""

    triple: str
    archive: Pin | None
    checksum: Pin | None
    receipt: Pin | None


@frozen
class Staging:
    """A digest from before publication: never an identity of the release."""

    sha256: str
    reason: str


@frozen
class ReleaseEntry:
    """A parsed release/v1 entry, named `<tool>-<version>`."""

    name: str
    project: str
    version: str
    tag: str
    source_commit: str
    format: str
    targets: tuple[ReleaseTarget, ...]
    staging: tuple[Staging, ...]

    @property
    def tool(self) -> str:
        """The name in front of the version."""
        return self.name.removesuffix(f"-{self.version}")

    def target(self, triple: str) -> ReleaseTarget | None:
        """Return what was published for a target."""
        return next((each for each in self.targets if each.triple == triple), None)
