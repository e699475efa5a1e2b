"""Of a proposed merge: base, head, what they would become, and what is said of exactly that."""

from typing import Final

from verifier.core.codes.row import ERROR, REJECTED, UNDECIDED, Code

ROWS: Final = (
    # holds: who is next comes before all else
    Code("head-held", "holds", UNDECIDED, "the head is on hold"),
    Code("head-draft", "holds", UNDECIDED, "the pull request says that it is a draft"),
    Code("head-label", "holds", UNDECIDED, "the pull request has a label that means: not yet"),
    # the ids that were given
    Code("head-id-incomplete", "input", ERROR, "an id that is empty, cut off or not hex"),
    Code("head-id-name", "input", ERROR, "a tag, a branch or another object instead of a commit"),
    Code("head-id-unknown", "objects", UNDECIDED, "the clone holds no commit of that id"),
    Code("head-merge-id", "objects", UNDECIDED, "the id of the merge was given as the head"),
    Code("head-event-other", "objects", UNDECIDED, "the event is about other commits"),
    # what was read
    Code("head-unreadable", "objects", UNDECIDED, "base or head cannot be read whole"),
    Code("head-replaced", "objects", UNDECIDED, "the clone replaces objects by others"),
    Code("head-shallow", "objects", UNDECIDED, "history ends before it tells where they part"),
    Code("head-unrelated", "objects", UNDECIDED, "base and head have no common history"),
    Code("head-nothing", "objects", UNDECIDED, "the head brings nothing to the base"),
    # the base
    Code("head-base-moved", "base", UNDECIDED, "the branch has moved on from the base"),
    Code("head-base-not-tip", "base", UNDECIDED, "the base is the tip of no branch in this clone"),
    # the merge
    Code("head-merge-conflict", "merge", UNDECIDED, "base and head cannot be put together"),
    Code("head-merge-unknown", "merge", UNDECIDED, "the merge was not computed"),
    Code(
        "head-merge-differs",
        "merge",
        UNDECIDED,
        "the merge changes what was judged in the head",
    ),
    # what head's tree holds
    Code("head-host-missing", "helpers", UNDECIDED, "a host of the policy is not in the head"),
    Code("head-helper", "helpers", UNDECIDED, "a host in the head is not verified"),
    Code(
        "head-composition", "compositions", UNDECIDED, "a composition in the head is not verified"
    ),
    # what it would be judged with from then on
    Code("registry-resealed", "registry-changes", UNDECIDED, "the registry was sealed anew"),
    Code(
        "head-registry-refused",
        "registry-changes",
        UNDECIDED,
        "the head's registry does not authenticate",
    ),
    Code(
        "head-policy-weakened",
        "registry-changes",
        UNDECIDED,
        "the head demands less than the base does",
    ),
    # receipts
    Code("head-receipt-none", "receipts", UNDECIDED, "no receipt counts for this head"),
    Code("head-receipt", "receipts", UNDECIDED, "a receipt for this head is not verified"),
    Code("head-receipt-older", "receipts", UNDECIDED, "a receipt measured an older head"),
    Code("head-receipt-measured", "receipts", UNDECIDED, "a file that was measured has changed"),
    Code(
        "head-receipt-not-documentation",
        "receipts",
        UNDECIDED,
        "a change that cannot count as documentation",
    ),
    Code("head-receipt-base", "receipts", UNDECIDED, "a receipt was measured on another base"),
    Code("head-receipt-unknown", "receipts", UNDECIDED, "the clone lacks what was measured"),
    # approvals
    Code("head-approval-none", "approvals", UNDECIDED, "an approval is missing"),
    Code("head-approval-stale", "approvals", UNDECIDED, "an approval is of another commit"),
    Code("head-approval", "approvals", UNDECIDED, "an approval does not count"),
    # an earlier verdict
    Code("still-moved", "change", UNDECIDED, "the head has moved since the verdict"),
    Code("still-rewritten", "change", UNDECIDED, "the head was rewritten since the verdict"),
    Code("still-reverted", "change", UNDECIDED, "the head takes back what was judged"),
    Code("still-not-verified", "earlier", UNDECIDED, "the earlier verdict was not: verified"),
    Code("still-contradicted", "earlier", REJECTED, "the earlier verdict does not come out again"),
    Code("still-other-base", "earlier", UNDECIDED, "the earlier verdict was of another base"),
    Code("still-other-policy", "earlier", UNDECIDED, "the earlier verdict used another policy"),
)
