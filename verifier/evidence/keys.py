"""Public keys: which kinds count, what tells them apart, and whether one has signed some bytes.

A key is known by the SHA-256 of its SubjectPublicKeyInfo in DER, and by nothing else: an id that
comes with a signature is a hint, and one key under two ids is one key (TUF specification 1.0 §5,
python-tuf CVE-2020-6174). Kinds are Ed25519, ECDSA on P-256 with SHA-256 and ECDSA on P-384 with
SHA-384, each under the name that TUF gives it (specification 1.0 §4.2).
"""

from typing import Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    SECP384R1,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_public_key,
    load_pem_public_key,
)

from verifier.core.digest import sha256
from verifier.core.ed25519 import is_weak
from verifier.core.encoding import strict_base64
from verifier.core.value import frozen

__all__ = ["ED25519_SPKI", "SCHEMES", "PublicKey", "strict_base64"]

SCHEMES: Final = ("ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384")
#: The start of an Ed25519 SubjectPublicKeyInfo (RFC 8410 §4), before the 32 bytes of the key.
ED25519_SPKI: Final = bytes.fromhex("302a300506032b6570032100")
_ECDSA: Final = {
    SECP256R1.name: ("ecdsa-sha2-nistp256", SHA256),
    SECP384R1.name: ("ecdsa-sha2-nistp384", SHA384),
}


@frozen
class PublicKey:
    """A public key. `spki` is its SubjectPublicKeyInfo in DER, in the one form that is written."""

    scheme: str
    spki: bytes

    @property
    def id(self) -> str:
        """What the key is known by: the SHA-256 of its SPKI, 64 lower-case hex digits."""
        return sha256(self.spki)

    @classmethod
    def pem(cls, data: bytes) -> Self:
        """Read a PEM public key. Raises `ValueError` with the reason."""
        # Of several in one file a library takes the first, and the rest would count for nothing.
        if data.count(b"-----BEGIN ") != 1:
            raise ValueError("is not one PEM public key")
        try:
            return cls._of(load_pem_public_key(data))
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise ValueError("is no PEM public key of a kind that counts") from None

    @classmethod
    def der(cls, spki: bytes) -> Self:
        """Read a SubjectPublicKeyInfo. Raises `ValueError`, also for a second encoding of a key."""
        try:
            key = cls._of(load_der_public_key(spki))
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise ValueError("is no public key of a kind that counts") from None
        if key.spki != spki:
            raise ValueError("is not in the one encoding of its key")
        return key

    @classmethod
    def base64(cls, text: str) -> Self:
        """Read a SubjectPublicKeyInfo in standard base64. Raises `ValueError`."""
        return cls.der(strict_base64(text))

    @classmethod
    def _of(cls, key: object) -> Self:
        if isinstance(key, Ed25519PublicKey):
            scheme = "ed25519"
        elif isinstance(key, EllipticCurvePublicKey) and key.curve.name in _ECDSA:
            scheme = _ECDSA[key.curve.name][0]
        else:
            raise ValueError("kind")
        der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if scheme == "ed25519" and is_weak(der[-32:]):
            raise ValueError("anybody can sign with it")
        return cls(scheme=scheme, spki=der)

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """Tell whether `signature` is this key's signature over `data`; ECDSA's in DER."""
        key = load_der_public_key(self.spki)
        try:
            if isinstance(key, Ed25519PublicKey):
                key.verify(signature, data)
            elif isinstance(key, EllipticCurvePublicKey):
                key.verify(signature, data, ECDSA(_ECDSA[key.curve.name][1]()))
            else:
                return False
        except InvalidSignature:
            return False
        return True

    def verifies_digest(self, signature: bytes, digest: bytes) -> bool:
        """Tell whether `signature` is this key's over bytes of that digest; only ECDSA has one."""
        key = load_der_public_key(self.spki)
        if not isinstance(key, EllipticCurvePublicKey):
            return False
        try:
            key.verify(signature, digest, ECDSA(Prehashed(_ECDSA[key.curve.name][1]())))
        except (InvalidSignature, ValueError):  # ValueError: a digest of another length
            return False
        return True
