"""Which Sigstore a run trusts: a root that the caller names, or the one that is shipped."""

from verifier.core.limits import DOCUMENT_BYTES
from verifier.evidence.trusted_root import TrustedRoot
from verifier.sources import file, shipped


def sigstore_root(path: str | None) -> TrustedRoot:
    """Read the trusted root in the file `path`, without one the shipped copy.

    Raises `MalformedError` for what is none, `UnavailableError` for what cannot be read.
    """
    if path is None:
        data = shipped.read("trust", "trusted_root.json")
        return TrustedRoot.parse(data, what="the shipped trusted root", name="the shipped root")
    data = file.read(path, limit=DOCUMENT_BYTES).data
    return TrustedRoot.parse(data, what=f"--trusted-root: {path}", name=path)
