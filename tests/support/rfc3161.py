"""The answer of a timestamp authority: RFC 3161 §2.4.2, in the SignedData of RFC 5652 §5.

The signed attributes name the certificate as RFC 5816 asks (signingCertificateV2).
"""

import secrets
from datetime import UTC, datetime
from typing import Final

from cryptography.hazmat.primitives.serialization import Encoding

from support.certificates import Authority
from support.der import explicit, integer, octets, oid, sequence, set_of, tlv
from support.transparency import P256_SHA256, sha256

_SHA256_ID: Final = sequence(oid("2.16.840.1.101.3.4.2.1"))
_ECDSA_ID: Final = sequence(oid("1.2.840.10045.4.3.2"))
_TST_INFO: Final = oid("1.2.840.113549.1.9.16.1.4")


def timestamp(authority: Authority, data: bytes, when: datetime) -> bytes:
    """Return a `TimeStampResp` that is granted, with the authority's certificate in it."""
    moment = when.astimezone(UTC)
    info = sequence(
        integer(1),
        oid("1.3.6.1.4.1.57264.2"),
        sequence(_SHA256_ID, octets(sha256(data))),
        integer(secrets.randbits(63)),
        tlv(0x18, moment.strftime("%Y%m%d%H%M%SZ").encode()),
    )
    certificate = authority.certificate.public_bytes(Encoding.DER)
    attributes = sorted(
        sequence(oid(f"1.2.840.113549.1.9.{dotted}"), set_of(value))
        for dotted, value in (
            ("3", _TST_INFO),
            ("4", octets(sha256(info))),
            ("5", tlv(0x17, moment.strftime("%y%m%d%H%M%SZ").encode())),
            ("16.2.47", sequence(sequence(sequence(octets(sha256(certificate)))))),
        )
    )
    issuer, serial = authority.certificate.issuer, authority.certificate.serial_number
    signed = sequence(
        integer(1),
        sequence(issuer.public_bytes(), integer(serial)),
        _SHA256_ID,
        explicit(*attributes),
        _ECDSA_ID,
        octets(authority.key.sign(set_of(*attributes), P256_SHA256)),
    )
    content = sequence(
        integer(3),
        set_of(_SHA256_ID),
        sequence(_TST_INFO, explicit(octets(info))),
        explicit(certificate),
        set_of(signed),
    )
    token = sequence(oid("1.2.840.113549.1.7.2"), explicit(content))
    return sequence(sequence(integer(0)), token)
