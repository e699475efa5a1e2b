"""Private keys: made, written as PKCS8 PEM, read again, and used to sign.

A private key lies in a file that only its owner may read; one that others may read is refused, as
ssh refuses it, because it is no longer known who has it. One form is read: PKCS8 in PEM (RFC 7468
§10 and §11), one block and nothing else, in the kinds that `keys` counts. What the file of a key
holds appears in no message. ECDSA signatures are deterministic (RFC 6979): the same bytes get the
same signature, and a bad source of randomness cannot give the key away.
"""

import os
import re
import stat
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    SECP384R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.value import frozen
from verifier.evidence.keys import PublicKey
from verifier.sources import file
from verifier.sources.unavailable import unreadable

_Private = Ed25519PrivateKey | EllipticCurvePrivateKey

_OPEN: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_PEM: Final = re.compile(
    rb"-----BEGIN (ENCRYPTED )?PRIVATE KEY-----\r?\n[A-Za-z0-9+/=\r\n]+"
    rb"-----END (?:ENCRYPTED )?PRIVATE KEY-----\s*"
)
_LONGEST_PASSPHRASE: Final = 1023
"""What OpenSSL's own tools take; longer ones are cut by some of them."""


@frozen
class PrivateKey:
    """A key that can sign. `public` is what others know it by."""

    public: PublicKey
    _key: _Private

    def __repr__(self) -> str:
        """Name the public half only."""
        return f"PrivateKey({self.public.id})"

    def sign(self, data: bytes) -> bytes:
        """Sign `data`: Ed25519 as it is, ECDSA in DER with the digest of its curve."""
        if isinstance(self._key, Ed25519PrivateKey):
            return self._key.sign(data)
        digest = SHA256() if self.public.scheme == "ecdsa-sha2-nistp256" else SHA384()
        return self._key.sign(data, ECDSA(digest, deterministic_signing=True))

    def pem(self, passphrase: bytes | None) -> bytes:
        """Print as PKCS8 PEM, encrypted by `passphrase` unless that is None."""
        how: KeySerializationEncryption = NoEncryption()
        if passphrase is not None:
            how = BestAvailableEncryption(passphrase)
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)

    def public_pem(self) -> bytes:
        """Print the public half as PEM, as `PublicKey.pem` reads it."""
        return self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def generate(scheme: str) -> PrivateKey:
    """Make a new key of one of `keys.SCHEMES`."""
    if scheme == "ed25519":
        return _held(Ed25519PrivateKey.generate())
    return _held(generate_private_key({"256": SECP256R1(), "384": SECP384R1()}[scheme[-3:]]))


def load(path: str, passphrase: bytes | None) -> PrivateKey:
    """Read the private key in the file `path`; `passphrase` is used only if it is encrypted.

    Raises `UnavailableError` if the file cannot be read, others may read it, it holds no private
    key of a kind that counts, or the passphrase is missing or wrong.
    """
    data, mode = _read(path)
    found = _PEM.fullmatch(data)
    if found is None:
        raise _malformed(path)
    _refuse_exposed(path, mode, "the private key")
    if found[1] and passphrase is None:
        raise _passphrase(path, "is encrypted, and no passphrase was given")
    try:
        key = load_pem_private_key(data, passphrase if found[1] else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        if found[1]:
            raise _passphrase(path, "is not opened by the passphrase given") from None
        raise _malformed(path) from None
    if not isinstance(key, _Private):
        raise _malformed(path)
    try:
        return _held(key)
    except ValueError:
        raise _malformed(path) from None


def passphrase_in(path: str) -> bytes:
    """Read a passphrase from a file that only its owner may read; a line end is not part of it."""
    data, mode = _read(path)
    _refuse_exposed(path, mode, "the passphrase")
    phrase = data.removesuffix(b"\n").removesuffix(b"\r")
    if not phrase or len(phrase) > _LONGEST_PASSPHRASE or b"\n" in phrase or b"\0" in phrase:
        raise UnavailableError(
            f"{path}: expected one line of 1 to {_LONGEST_PASSPHRASE:,} bytes",
            code="signing-passphrase",
            remedy="write the passphrase into the file, on one line",
        )
    return phrase


def _read(path: str) -> tuple[bytes, int]:
    """Read a file, with its mode."""
    try:
        descriptor = os.open(path, _OPEN)
        try:
            data, status = file.read_open(path, descriptor, DOCUMENT_BYTES)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    return data, stat.S_IMODE(status.st_mode)


def _refuse_exposed(path: str, mode: int, what: str) -> None:
    if mode & _OTHERS:
        raise UnavailableError(
            f"{path}: expected a file that only its owner may read, got mode {mode:04o}",
            code="signing-key-exposed",
            remedy=f"if nobody else has read {what}: chmod 600 {path}; otherwise use a new one",
        )


def _held(key: _Private) -> PrivateKey:
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return PrivateKey(public=PublicKey.der(der), _key=key)


def _malformed(path: str) -> PinproofError:
    return UnavailableError(
        f"{path}: expected one private key in PKCS8 PEM, ed25519 or ECDSA on P-256 or P-384",
        code="signing-key-malformed",
        remedy="pinproof new key makes one; openssl pkcs8 -topk8 -in KEY brings an older form "
        "into this one",
    )


def _passphrase(path: str, reason: str) -> PinproofError:
    return UnavailableError(
        f"{path}: {reason}",
        code="signing-passphrase",
        remedy="name the file that holds the key's passphrase with --passphrase-file",
    )
