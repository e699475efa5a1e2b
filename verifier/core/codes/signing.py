"""Of making keys, registries and signatures, and of fetching a registry: nothing was judged."""

from typing import Final

from verifier.core.codes.row import ERROR, Code

ROWS: Final = (
    # keys
    Code("signing-key-exposed", "input", ERROR, "others may read a private key"),
    Code("signing-key-malformed", "input", ERROR, "not a private key that can sign"),
    Code("signing-passphrase", "input", ERROR, "a passphrase is missing, or does not open the key"),
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
    # fetching a registry: nothing was replaced
    Code("update-folder", "input", ERROR, "something else is where the registry is to go"),
    Code("update-unreachable", "input", ERROR, "the registry's server does not answer"),
    Code("update-redirected", "input", ERROR, "the server sends on to another address"),
    Code("update-slow", "input", ERROR, "the server takes too long"),
    Code("update-too-long", "input", ERROR, "the server sends more than was signed"),
    Code("update-refused", "input", ERROR, "what the server has is not to be trusted"),
)
