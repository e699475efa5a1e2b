"""Of measurement receipts, rules B, G, X and T: binding, gates, outputs, times."""

from typing import Final

from verifier.core.codes.row import UNDECIDED, Code

ROWS: Final[tuple[Code, ...]] = (
    Code("receipt-b1-exact-head", "exact-head", UNDECIDED, "measured at another commit"),
)
