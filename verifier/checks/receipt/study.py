"""Everything that the rules look at: the receipt, its samples counted, its figures recomputed.

What stands beside the receipt (evidence files, the head asked about, other receipts of the call)
is here as values: a rule reads nothing.
"""

from collections.abc import Iterator, Mapping

from verifier.checks.receipt.document.model import Arm, ArmState, Claim, ClaimKind, Receipt, Role
from verifier.checks.receipt.numbers.figures import Computed
from verifier.checks.receipt.numbers.tally import Tally
from verifier.core.digest import Pin
from verifier.core.value import frozen


@frozen
class Companions:
    """What was given beside a receipt.

    `head` is the commit asked about. `files` holds the pin of every evidence file by its name below
    the folder, None if no folder was given; `problems` says of names why they could not be read.
    `gates` is the pin of the gate file, and
    `gate_names` are the gates in it. `published` and `staging` are digests of collectors, of
    archives and executables, that the registry knows. `others` holds (receipt id, digest,
    supersedes, figures) of the other receipts of one call. `gates_signed_at` is a verified time at
    which the gate file existed. `normalised` holds the digest of a workload's normal form by its
    own digest and the name of the normalisation, `formless` says in words why there is none;
    `blobs` the blob id that a clone has at (repository, commit, path), None where it has nothing
    there.
    """

    head: str | None = None
    files: Mapping[str, Pin] | None = None
    problems: Mapping[str, str] | None = None
    gates: Pin | None = None
    gate_names: frozenset[str] | None = None
    published: frozenset[str] = frozenset()
    staging: frozenset[str] = frozenset()
    others: tuple["Other", ...] = ()
    gates_signed_at: str | None = None
    normalised: Mapping[tuple[str, str], str] | None = None
    formless: Mapping[tuple[str, str], str] | None = None
    blobs: Mapping[tuple[str, str, str], str | None] | None = None


@frozen
class Other:
    """Another receipt of the same call."""

    id: str
    sha256: str
    supersedes: str | None
    figures: Mapping[str, str]


@frozen
class Study:
    """A receipt and all that its rules are asked about. `sha256` is of the receipt's own bytes."""

    receipt: Receipt
    sha256: str
    tally: Tally
    figures: Mapping[str, Computed]
    companions: Companions
    secrets: tuple[tuple[str, str], ...] = ()
    """What the scan of the text found: kind, and where."""
    replaced: tuple[str, ...] = ()
    """Every path that holds the placeholder of a redacted field."""
    standing: tuple[str, ...] = ()
    """Every path that is listed as redacted and still holds something else."""

    def arms(self, *roles: Role) -> tuple[Arm, ...]:
        """Return the arms of these roles, in order of the document."""
        return tuple(arm for arm in self.receipt.arms if arm.role in roles)

    def named(self, *kinds: ClaimKind) -> frozenset[str]:
        """Return the ids of the claims of these kinds, for a rule that takes them away."""
        return frozenset(claim.id for claim in self.claims(*kinds))

    @property
    def started(self) -> tuple[Arm, ...]:
        """The arms that ran at all."""
        return tuple(arm for arm in self.receipt.arms if arm.state is not ArmState.NOT_STARTED)

    @property
    def complete(self) -> tuple[Arm, ...]:
        """The arms that were measured to the end."""
        return tuple(arm for arm in self.receipt.arms if arm.state is ArmState.COMPLETE)

    def claims(self, *kinds: ClaimKind) -> Iterator[Claim]:
        """Return the claims of these kinds, all claims if none is given."""
        for claim in self.receipt.claims:
            if not kinds or claim.kind in kinds:
                yield claim
