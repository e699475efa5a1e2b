"""Keys of people as TUF knows them: the other way of looking at the keys of `evidence`.

TUF names a key by the digest of its own description of it, everything else by the digest of its
SubjectPublicKeyInfo. Private keys are lent to TUF as a function that signs, and stay where they
are.
"""

from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import load_der_public_key
from securesystemslib.signer import Signature, SSlibKey

from verifier.core.value import frozen


def tuf_key(spki: bytes) -> SSlibKey:
    """Describe a public key, given as SubjectPublicKeyInfo, as TUF does."""
    key: PublicKeyTypes = load_der_public_key(spki)
    return SSlibKey.from_crypto(key)


def tuf_id(spki: bytes) -> str:
    """Return what TUF calls a key (TUF specification 1.0, §4.2.1)."""
    return tuf_key(spki).keyid


@frozen
class Holder:
    """Somebody who signs: a public key, and what signs with its private half."""

    key: SSlibKey
    sign_bytes: Callable[[bytes], bytes]

    def signature(self, payload: bytes) -> Signature:
        """Sign the canonical form of a piece of metadata."""
        return Signature(self.key.keyid, self.sign_bytes(payload).hex())


def holder(spki: bytes, sign_bytes: Callable[[bytes], bytes]) -> Holder:
    """Lend a private key to TUF."""
    return Holder(key=tuf_key(spki), sign_bytes=sign_bytes)
