"""Of making keys, registries and signatures, and of fetching a registry: nothing was judged."""

from typing import Final

from verifier.core.codes.row import ERROR, Code

ROWS: Final = (
    # keys
    Code("signing-key-exposed", "input", ERROR, "others may read a private key"),
    Code("signing-key-malformed", "input", ERROR, "not a private key that can sign"),
    Code("signing-passphrase", "input", ERROR, "the passphrase does not open the key"),
)
