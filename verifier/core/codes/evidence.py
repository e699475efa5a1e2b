"""Of signed evidence: envelopes, bundles, statements, signers."""

from typing import Final

from verifier.core.codes.row import Code

ROWS: Final[tuple[Code, ...]] = ()
