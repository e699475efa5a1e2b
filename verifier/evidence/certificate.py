"""What a signing certificate says of itself: whose it is, for how long, which key it certifies.

Nothing of it is believed until `evidence.sigstore` has verified who issued it. Extensions are
those of sigstore/fulcio, docs/oid-info.md: 1.3.6.1.4.1.57264.1.8 (DER) or .1.1 (raw) name who
logged the subject in.
"""

from datetime import datetime
from typing import Final, Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509 import (
    Certificate,
    DuplicateExtension,
    ExtensionNotFound,
    InvalidVersion,
    ObjectIdentifier,
    OtherName,
    RFC822Name,
    SubjectAlternativeName,
    UniformResourceIdentifier,
    UnrecognizedExtension,
    UnsupportedGeneralNameType,
    load_der_x509_certificate,
)

from verifier.core.value import frozen
from verifier.evidence.keys import PublicKey
from verifier.evidence.quiet import quiet

_ISSUER: Final = ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_ISSUER_2: Final = ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
#: A DER UTF8String of less than 128 bytes begins so; longer ones are told by the older extension.
_UTF8, _SHORT = 0x0C, 0x80


@frozen
class SigningCertificate:
    """A signing certificate. `key` is None if it is of a kind that does not count."""

    der: bytes
    key: PublicKey | None
    not_before: datetime
    not_after: datetime

    @classmethod
    def parse(cls, der: bytes) -> Self:
        """Read a certificate in DER. Raises `ValueError` if it is none."""
        try:
            with quiet():
                read = load_der_x509_certificate(der)
                public = read.public_key()
            spki = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        except (ValueError, UnsupportedAlgorithm, InvalidVersion):  # the last is no ValueError
            raise ValueError("is no certificate in DER") from None
        try:
            key = PublicKey.der(spki)
        except ValueError:
            key = None
        return cls(
            der=der,
            key=key,
            not_before=read.not_valid_before_utc,
            not_after=read.not_valid_after_utc,
        )

    def valid_at(self, time: datetime) -> bool:
        """Whether a time lies in its validity, both ends included (RFC 5280 §4.1.2.5)."""
        return self.not_before <= time <= self.not_after

    def names(self) -> tuple[tuple[str, ...], str | None]:
        """Return the subjects that it names, and who logged them in; none if they cannot be read.

        Read when somebody asks: the library has compared them for a bundle that holds.
        """
        try:
            with quiet():
                read = load_der_x509_certificate(self.der)
                return _subjects(read), _issuer(read)
        except (ValueError, ExtensionNotFound, DuplicateExtension, UnsupportedGeneralNameType):
            return (), None


def _subjects(certificate: Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
    except ExtensionNotFound:
        return ()
    found = [
        *names.get_values_for_type(RFC822Name),
        *names.get_values_for_type(UniformResourceIdentifier),
    ]
    others = names.get_values_for_type(OtherName)
    return (*found, *(_text(other.value) for other in others))


def _issuer(certificate: Certificate) -> str | None:
    for wanted in (_ISSUER, _ISSUER_2):
        try:
            value = certificate.extensions.get_extension_for_oid(wanted).value
        except ExtensionNotFound:
            continue
        if isinstance(value, UnrecognizedExtension):
            return _text(value.value) if wanted == _ISSUER_2 else value.value.decode()
    return None


def _text(der: bytes) -> str:
    short = len(der) > 1 and der[0] == _UTF8 and der[1] < _SHORT and len(der) == der[1] + 2
    return (der[2:] if short else der).decode(errors="backslashreplace")
