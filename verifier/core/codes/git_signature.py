"""Of signatures of commits and tags."""

from typing import Final

from verifier.core.codes.row import Code

ROWS: Final[tuple[Code, ...]] = ()
