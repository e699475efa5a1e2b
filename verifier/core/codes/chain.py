"""Of in-toto layouts and links."""

from typing import Final

from verifier.core.codes.row import Code

ROWS: Final[tuple[Code, ...]] = ()
