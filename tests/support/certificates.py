"""Certificates as a private Fulcio issues them: RFC 5280, with the log's promise inside.

The promise (SCT) follows RFC 6962 §3.2 and §3.3; Fulcio's own extensions its docs/oid-info.md.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.x509.oid import NameOID

from support.transparency import P256_SHA256, LogKey, sha256, spki

Extension = tuple[x509.ExtensionType, bool]
"""An extension, and whether it is critical."""
Valid = tuple[datetime, datetime]

ORGANIZATION: Final = "private.test"


def new_key(name: str = "") -> EllipticCurvePrivateKey:
    """Make a key; one with a name is the same each time."""
    if not name:
        return generate_private_key(SECP256R1())
    return derive_private_key(int.from_bytes(sha256(name.encode())) >> 8, SECP256R1())


def new_serial(name: str = "") -> int:
    """Make a serial number; one with a name is the same each time."""
    return (
        int.from_bytes(sha256(b"serial " + name.encode())[:16])
        if name
        else (x509.random_serial_number())
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _usage(*allowed: str) -> x509.KeyUsage:
    every = (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    )
    return x509.KeyUsage(**{usage: usage in allowed for usage in every})


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A key and its certificate; it signs what stands below it."""

    key: EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def root(cls, name: str, valid: Valid, *, seed: str = "") -> "Authority":
        """Make one that vouches for itself."""
        secret = f"{seed} {name}" if seed else ""
        key, subject, serial = new_key(secret), _name(name), new_serial(secret)
        made = _certificate(
            subject, key, subject, key, valid=valid, extensions=of_a_ca(1), serial=serial
        )
        return cls(key=key, certificate=made)

    def below(
        self, name: str, valid: Valid, extensions: Sequence[Extension], *, seed: str = ""
    ) -> "Authority":
        """Make one that this one vouches for."""
        secret = f"{seed} {name}" if seed else ""
        key, serial = new_key(secret), new_serial(secret)
        made = self.issue(_name(name), key, valid=valid, extensions=extensions, serial=serial)
        return Authority(key=key, certificate=made)

    def issue(
        self,
        subject: x509.Name,
        key: EllipticCurvePrivateKey,
        *,
        valid: Valid,
        extensions: Sequence[Extension],
        serial: int | None = None,
    ) -> x509.Certificate:
        """Certify a key."""
        above = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        return _certificate(
            subject,
            key,
            self.certificate.subject,
            self.key,
            valid=valid,
            extensions=[*extensions, (above, False)],
            serial=serial,
        )


def _certificate(
    subject: x509.Name,
    key: EllipticCurvePrivateKey,
    issuer: x509.Name,
    issuer_key: EllipticCurvePrivateKey,
    *,
    valid: Valid,
    extensions: Sequence[Extension],
    serial: int | None = None,
) -> x509.Certificate:
    builder = x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=serial or x509.random_serial_number(),
        not_valid_before=valid[0],
        not_valid_after=valid[1],
    )
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    for extension, critical in [*extensions, (identifier, False)]:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(issuer_key, hashes.SHA256(), ecdsa_deterministic=True)


def of_a_ca(path_length: int) -> Sequence[Extension]:
    return [
        (_usage("key_cert_sign", "crl_sign"), True),
        (x509.BasicConstraints(ca=True, path_length=path_length), True),
    ]


def of_a_leaf(purpose: x509.ObjectIdentifier, *, critical: bool) -> list[Extension]:
    return [
        (_usage("digital_signature"), True),
        (x509.ExtendedKeyUsage([purpose]), critical),
    ]


def private(dotted: str, value: bytes) -> Extension:
    return x509.UnrecognizedExtension(x509.ObjectIdentifier(dotted), value), False


def signed_timestamp(tbs: bytes, issuer: LogKey, log: EllipticCurvePrivateKey, ms: int) -> bytes:
    """Return the list with one SCT for a certificate that is not yet complete."""
    entry = struct.pack("!BBQH", 0, 0, ms, 1) + sha256(spki(issuer))
    entry += len(tbs).to_bytes(3) + tbs + b"\0\0"
    signature = log.sign(entry, P256_SHA256)
    # hash 4 is SHA-256, signature 3 is ECDSA (RFC 5246 §7.4.1.4.1)
    sct = b"\0" + sha256(spki(log)) + struct.pack("!QHBBH", ms, 0, 4, 3, len(signature)) + signature
    return struct.pack("!HH", len(sct) + 2, len(sct)) + sct
