"""Of making keys, registries and signatures."""

from typing import Final

from verifier.core.codes.row import Code

ROWS: Final[tuple[Code, ...]] = ()
