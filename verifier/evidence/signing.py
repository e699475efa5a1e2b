"""Private keys: read with care, used, and forgotten with the process.

PKCS#8 in PEM (RFC 5958, RFC 7468 §10 and §11), Ed25519 or ECDSA on P-256 or P-384, encrypted or
not. A file that others may read is refused, as ssh(1) does: "It is required that your private
key files are NOT accessible by others". ECDSA signatures are deterministic (RFC 6979): the same
bytes get the same signature, and a bad source of randomness cannot give the key away.
"""

import os
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.limits import MIB
from verifier.evidence.dsse import pae
from verifier.evidence.keys import PublicKey
from verifier.sources.file import opened

_BEGIN: Final = b"-----BEGIN PRIVATE KEY-----"
_BEGIN_LOCKED: Final = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
_HASHES: Final = {"ecdsa-sha2-nistp256": SHA256, "ecdsa-sha2-nistp384": SHA384}
_OTHERS: Final = 0o077


class LockedError(WrongCallError):
    """A private key is encrypted, and no passphrase was given."""


class PrivateKey:
    """A private key. What tells it from others is `public`; it is never printed."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Any) -> None:
        """Keep a key of `cryptography`. Raises `TypeError` for a kind that does not count."""
        if not isinstance(key, Ed25519PrivateKey | EllipticCurvePrivateKey):
            raise TypeError("is no private key of a kind that counts")
        der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self._key = key
        self.public = PublicKey.der(der)

    def sign(self, data: bytes) -> bytes:
        """Return the signature over `data`; ECDSA's in DER."""
        if isinstance(self._key, Ed25519PrivateKey):
            return self._key.sign(data)
        digest = _HASHES[self.public.scheme]()
        signature: bytes = self._key.sign(data, ECDSA(digest, deterministic_signing=True))
        return signature

    def sign_envelope(self, payload_type: str, payload: bytes) -> tuple[str, bytes]:
        """Return the id and the signature that an envelope of `payload` holds."""
        return self.public.id, self.sign(pae(payload_type, payload))


def parse(pem: bytes, passphrase: bytes | None, *, what: str) -> PrivateKey:
    """Read a private key; `what` names it in errors.

    Raises `LockedError` if it is encrypted and there is no passphrase, `WrongCallError` for one
    that does not fit, and for what is no private key that can sign.
    """
    locked = pem.lstrip().startswith(_BEGIN_LOCKED)
    if locked and passphrase is None:
        raise LockedError(
            f"{what}: the private key is encrypted",
            code="signing-passphrase",
            remedy="name a file with its passphrase: pinproof explain signing-passphrase",
        )
    alone = pem.count(b"-----BEGIN ") == 1
    if not alone or (not locked and not pem.lstrip().startswith(_BEGIN)):
        raise _no_key(what)
    if not locked and passphrase is not None:
        raise WrongCallError(
            f"{what}: a passphrase was given, and the private key is not encrypted",
            code="signing-passphrase",
            remedy="leave the passphrase out, or name the key that it belongs to",
        )
    try:
        return PrivateKey(load_pem_private_key(pem, passphrase))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if locked:
            raise WrongCallError(
                f"{what}: the passphrase does not open the private key",
                code="signing-passphrase",
                remedy="check that key and passphrase belong together",
            ) from None
        raise _no_key(what) from None


def read(path: str, passphrase: bytes | None = None) -> PrivateKey:
    """Read the private key in the file `path`; raises as `parse`, and as `read_private` does."""
    return parse(read_private(path), passphrase, what=path)


def read_passphrase(path: str) -> bytes:
    """Return the first line of the file `path`, which is kept as a private key is."""
    line = read_private(path).split(b"\n", 1)[0].removesuffix(b"\r")
    if not line:
        raise WrongCallError(
            f"{path}: expected a passphrase on the first line, got nothing",
            code="signing-passphrase",
            remedy="write the passphrase there, and nothing before it",
        )
    return line


def read_private(path: str) -> bytes:
    """Return the bytes of a file that nobody but its owner may read or change.

    Raises `UnavailableError` with the code `signing-key-open` for any other. The mode is that of
    the very file which is read, whatever the name leads to later.
    """
    data, status = opened(path, limit=MIB)
    if status.st_mode & _OTHERS:
        raise UnavailableError(
            f"{path}: expected mode 0600 or less, got {status.st_mode & 0o7777:04o}",
            code="signing-key-open",
            remedy=f"chmod 600 {os.fspath(path)}; if it was open for long, make a new key",
        )
    return data


def _no_key(what: str) -> WrongCallError:
    return WrongCallError(
        f"{what}: expected a private key in PKCS#8 PEM, Ed25519 or ECDSA on P-256 or P-384",
        code="signing-key",
        remedy="make one: openssl genpkey -algorithm ed25519 -out key.pem; chmod 600 key.pem",
    )
