"""Demands: what a policy wants of a check, in the words of the check (FORMATS §3).

They live below the checks so that a check can be called with one and knows no policy.
"""

from enum import StrEnum
from typing import Final

from verifier.core.value import frozen

#: The closed list of facets per kind of subject (CHECKS.md).
FACETS: Final[dict[str, tuple[str, ...]]] = {
    "helper": ("helper", "sites", "scope", "whole-file", "bytecode"),
    "tree": ("content", "modes"),
    "composition": (
        "final-stage",
        "unlisted",
        "modes",
        "lineage",
        "patches",
        "stages",
        "orders",
        "components",
        "retained",
    ),
    "image": ("graph", "expected", "root-files", "helper", "composition", "platform"),
    "runtime": ("components", "models", "settings", "ranks"),
    # No table of a policy is about these: whoever asks always demands all of them.
    "bundle": ("signature", "signer", "time", "log", "subject"),
    "chain": ("layout", "steps", "artifacts"),
    "commit": ("signature", "signer", "time"),
    "head": (
        "objects",
        "base",
        "merge",
        "helpers",
        "compositions",
        "registry-changes",
        "receipts",
        "approvals",
        "holds",
    ),
    "policy": ("form", "names", "waivers"),
    "still-valid": ("objects", "earlier", "change", "merge", "registry-changes", "holds"),
    "pin": ("producer", "hosts", "sites", "names", "registered", "proof"),
    "audit": ("producers", "fields"),
    "agreement": ("agreement", "documents"),
    "vouches": ("vouches",),
    "release": ("files", "receipt", "members", "commit", "published", "signed"),
    "receipt": (
        "identity",
        "arms",
        "retention",
        "counters",
        "figures",
        "statistics",
        "gates",
        "outputs",
        "sanitised",
        "signed",
        "exact-head",
    ),
}
#: Facets that no policy names, because they always count: the input can be judged at all, and
#: the registry that judges it authenticates.
ALWAYS: Final = frozenset({"input", "registry"})


class Pristine(StrEnum):
    """What a registered host without a helper counts as."""

    VERIFIED = "verified"
    UNDECIDED = "undecided"


@frozen
class HelperDemand:
    """What is demanded of a host file.

    `accept` names versions beyond the supported ones, as `lineage/version`. `expect` is the
    one version the caller asks for, if any.
    """

    facets: frozenset[str]
    accept: frozenset[str] = frozenset()
    current_only: bool = False
    pristine: Pristine = Pristine.UNDECIDED
    expect: str | None = None


@frozen
class ReceiptDemand:
    """What is demanded of a receipt; `unsigned` says whether one without signature will do."""

    facets: frozenset[str]
    unsigned: bool = False


#: What never counts as documentation, whatever a policy lists (CHECKS "head"): files that change
#: what git does, in any folder, and the folder that changes what a forge does.
NEVER_DOCUMENTATION: Final = (".gitattributes", ".gitmodules")
FORGE_FOLDER: Final = ".github"


@frozen
class Hold:
    """A commit that must not be merged yet. All but the commit is text, shown and never evaluated.

    `commit` is 40 or 64 hex digits.
    """

    commit: str
    reason: str
    owner: str
    next_action: str
    lifts_when: str


@frozen
class HeadHost:
    """A file of the head that carries a helper: its path, and the lineage it is compared with."""

    path: str
    lineage: str


@frozen
class HeadComposition:
    """A composition that the head's tree has to hold, its paths below `prefix`."""

    name: str
    prefix: str


@frozen
class Approval:
    """Who has to have said what about exactly this head.

    `threshold` of the `signers`, rows of the registry, have to have signed a statement of type
    `predicate` that says every word of `says`.
    """

    name: str
    predicate: str
    says: tuple[str, ...]
    signers: tuple[str, ...]
    threshold: int


@frozen
class HeadDemand:
    """What is demanded of a proposed merge.

    `documentation` are exact paths, or folders that end in "/"; `registry` and `receipts` are
    folders of the repository, None where it has none; one of `receipt_signers` has to have signed
    a receipt, if the policy asks for signed ones; `hold_labels` are labels of a pull request that
    mean: not yet.
    """

    facets: frozenset[str]
    documentation: tuple[str, ...] = ()
    hosts: tuple[HeadHost, ...] = ()
    compositions: tuple[HeadComposition, ...] = ()
    registry: str | None = None
    receipts: str | None = None
    receipt_signers: tuple[str, ...] = ()
    approvals: tuple[Approval, ...] = ()
    hold_labels: tuple[str, ...] = ()
