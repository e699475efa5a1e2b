"""SSH signatures (openssh PROTOCOL.sshsig) and the public keys that make them.

Ours, on `cryptography`: ssh-keygen is not asked. Ed25519, ECDSA P-256 and P-384 count. RSA, DSA,
P-521 and keys in hardware (`sk-…`, whose signatures also cover flags and a counter) are named.
"""

import hashlib
import re
import struct
from base64 import b64encode
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    SECP384R1,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from verifier.core.encoding import strict_base64
from verifier.core.value import frozen
from verifier.evidence.keys import ED25519_SPKI, PublicKey

_MAGIC: Final = b"SSHSIG"
_ARMOR: Final = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n((?:[A-Za-z0-9+/=]+\n)+)-----END SSH SIGNATURE-----\n?"
)
_LINE: Final = re.compile(r"([a-z0-9@.-]+) ([A-Za-z0-9+/=]+)(?: .*)?")
_ED25519: Final = "ssh-ed25519"
_CURVES: Final = {
    "ecdsa-sha2-nistp256": ("nistp256", SECP256R1(), 65),
    "ecdsa-sha2-nistp384": ("nistp384", SECP384R1(), 97),
}
_HASHES: Final = ("sha256", "sha512")
_SIZE: Final = 4
_ED25519_BYTES: Final = 32
#: Kinds that OpenSSH makes and that do not count here.
UNSUPPORTED: Final = (
    *("ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp521"),
    *("sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"),
)


@frozen
class SshKey:
    """A public key as OpenSSH writes it. `key` is None for a kind that does not count here."""

    kind: str
    blob: bytes
    key: PublicKey | None

    @property
    def fingerprint(self) -> str:
        """What `ssh-keygen -l` prints of it."""
        digest = b64encode(hashlib.sha256(self.blob).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"

    @classmethod
    def line(cls, text: str) -> Self:
        """Read `ssh-ed25519 AAAA… comment`. Raises `ValueError` with the reason."""
        found = _LINE.fullmatch(text)
        if found is None:
            raise ValueError("is no SSH public key: a kind, base64, and a comment at most")
        key = cls.of(strict_base64(found[2]))
        if key.kind != found[1]:
            raise ValueError("says another kind of key than it holds")
        return key

    @classmethod
    def of(cls, blob: bytes) -> Self:
        """Read the binary form. Raises `ValueError` for what is no key, or in a second encoding."""
        fields = _Fields(blob)
        kind = fields.text()
        if kind in UNSUPPORTED:
            return cls(kind=kind, blob=blob, key=None)
        if kind == _ED25519:
            raw = fields.take()
            if len(raw) != _ED25519_BYTES:
                raise ValueError("is no Ed25519 key of 32 bytes")
            spki = ED25519_SPKI + raw
        elif kind in _CURVES:
            name, curve, length = _CURVES[kind]
            if fields.text() != name:
                raise ValueError("says one curve and holds a key of another")
            point = fields.take()
            if len(point) != length:
                raise ValueError("is no uncompressed point of its curve")
            spki = EllipticCurvePublicKey.from_encoded_point(curve, point).public_bytes(
                Encoding.DER, PublicFormat.SubjectPublicKeyInfo
            )
        else:
            raise ValueError("is no SSH public key of a known kind")
        fields.end()
        return cls(kind=kind, blob=blob, key=PublicKey.der(spki))


@frozen
class SshSignature:
    """A signature and the key that it says made it. `value` is as that key's kind has it."""

    signer: SshKey
    namespace: str
    hash: str
    algorithm: str
    value: bytes

    @classmethod
    def parse(cls, armor: bytes) -> Self:
        """Read an armored signature. Raises `ValueError` with the reason."""
        found = _ARMOR.fullmatch(armor)
        if found is None:
            raise ValueError("is no armored SSH signature")
        data = strict_base64(found[1].replace(b"\n", b"").decode())
        if data[: len(_MAGIC)] != _MAGIC or data[6:10] != struct.pack(">I", 1):
            raise ValueError("is no SSH signature of version 1")
        fields = _Fields(data[10:])
        signer = SshKey.of(fields.take())
        namespace, reserved, hashed = fields.text(), fields.take(), fields.text()
        inner = _Fields(fields.take())
        fields.end()
        algorithm, value = inner.text(), inner.take()
        if signer.key is not None:  # a key in hardware appends flags and a counter
            inner.end()
        if reserved or hashed not in _HASHES:
            raise ValueError("uses a reserved field or an unknown hash")
        return cls(
            signer=signer, namespace=namespace, hash=hashed, algorithm=algorithm, value=value
        )

    def holds(self, message: bytes, *, namespace: str) -> bool:
        """Tell whether the key that it names made it, over `message`, for that namespace."""
        key = self.signer.key
        if key is None or self.algorithm != self.signer.kind or self.namespace != namespace:
            return False
        digest = hashlib.new(self.hash, message).digest()
        parts = (self.namespace.encode(), b"", self.hash.encode(), digest)
        signed = _MAGIC + b"".join(struct.pack(">I", len(part)) + part for part in parts)
        if self.algorithm == _ED25519:
            return key.verifies(self.value, signed)
        try:
            fields = _Fields(self.value)
            pair = encode_dss_signature(fields.number(), fields.number())
            fields.end()
        except ValueError:
            return False
        return key.verifies(pair, signed)


class _Fields:
    """Fields of the SSH wire format (RFC 4251 §5), each with its length before it."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self) -> bytes:
        start = self._at + _SIZE
        length = int.from_bytes(self._data[self._at : start])
        if start > len(self._data) or start + length > len(self._data):
            raise ValueError("ends within a field")
        self._at = start + length
        return self._data[start : self._at]

    def text(self) -> str:
        try:
            return self.take().decode("ascii")
        except UnicodeDecodeError:
            raise ValueError("holds a name that is no ASCII") from None

    def number(self) -> int:
        """Take a positive number in its one encoding: no needless zero before it."""
        raw = self.take()
        value = int.from_bytes(raw)
        if not value or raw != value.to_bytes(value.bit_length() // 8 + 1):
            raise ValueError("is no positive number in its one encoding")
        return value

    def end(self) -> None:
        if self._at != len(self._data):
            raise ValueError("goes on behind its last field")
