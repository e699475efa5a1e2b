"""Of measurement receipts, rules A, E and N: arms, retention, statistics."""

from typing import Final

from verifier.core.codes.row import Code

ROWS: Final[tuple[Code, ...]] = ()
