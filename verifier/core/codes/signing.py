"""Of making keys, registries and signatures, and of fetching a registry: nothing was judged."""

from typing import Final

from verifier.core.codes.row import ERROR, Code

ROWS: Final = (
    # keys
    Code("signing-key-exposed", "input", ERROR, "others may read a private key"),
    Code("signing-key-malformed", "input", ERROR, "not a private key that can sign"),
    Code("signing-passphrase", "input", ERROR, "the passphrase does not open the key"),
    # registries: nothing was signed, and the registry is as it was
    Code("signing-no-registry", "input", ERROR, "there is no registry to sign"),
    Code("signing-folder-full", "input", ERROR, "a new registry needs an empty folder"),
    Code("signing-registry-refused", "input", ERROR, "the registry to sign does not authenticate"),
    Code("signing-draft-damaged", "input", ERROR, "a draft is not as it was written"),
    Code("signing-draft-other", "input", ERROR, "a draft of another change is in the way"),
    Code("signing-project-unknown", "input", ERROR, "entries of a project that nobody signs"),
    Code("signing-threshold", "input", ERROR, "a threshold that its keys could never meet"),
    Code("signing-root-expired", "input", ERROR, "the root has expired"),
    Code("signing-key-unknown", "input", ERROR, "a key that no role of the registry has"),
    Code("signing-key-repeated", "input", ERROR, "one key counts once"),
    Code("signing-nothing", "input", ERROR, "there is nothing that the keys could sign"),
    Code("signing-unsound", "input", ERROR, "what was signed would not authenticate"),
    Code("signing-busy", "input", ERROR, "another run is at work beside the registry"),
)
