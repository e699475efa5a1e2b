"""Of measurement receipts, rules K, D and P: counters, figures, sanitising."""

from typing import Final

from verifier.core.codes.row import Code

ROWS: Final[tuple[Code, ...]] = ()
