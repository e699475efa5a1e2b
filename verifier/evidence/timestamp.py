"""RFC 3161 timestamps: at which time an authority of a root saw a signature.

The token has to be over the bytes of the signature (sigstore/protobuf-specs,
`sigstore_bundle.proto`), by a certificate that its authority vouches for and that was valid then.
The period of the authority is closed at both ends (sigstore-conformance pull 406).
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from cryptography.x509 import InvalidVersion, load_der_x509_certificate
from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

from verifier.core.value import frozen
from verifier.evidence.quiet import quiet
from verifier.evidence.trusted_root import Authority

#: The certificate that stamps, and the root that vouches for it.
_CHAIN: Final = 2


@frozen
class Stamp:
    """A timestamp that was looked at.

    `time` is what it says, None if it cannot be read. `holds` says that an authority's signature
    over these bytes does, `in_window` that this authority counted then.
    """

    time: datetime | None
    holds: bool
    in_window: bool
    authority: str = ""

    @property
    def counts(self) -> bool:
        """Whether it proves its time."""
        return self.holds and self.in_window


def claimed(token: bytes) -> datetime | None:
    """Return the time that a timestamp states, unproven; None if it cannot be read."""
    try:
        with quiet():
            return decode_timestamp_response(token).tst_info.gen_time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def stamped(token: bytes, signature: bytes, authorities: Iterable[Authority]) -> Stamp:
    """Look at a timestamp over a signature."""
    time = claimed(token)
    if time is None:
        return Stamp(time=None, holds=False, in_window=False)
    with quiet():
        found = [a for a in authorities if _vouches(a, token, signature)]
    counting = next((a for a in found if a.window.holds(time)), None)
    named = counting or next(iter(found), None)
    return Stamp(
        time=time,
        holds=bool(found),
        in_window=counting is not None,
        authority=named.name if named else "",
    )


def _vouches(authority: Authority, token: bytes, signature: bytes) -> bool:
    try:
        chain = [load_der_x509_certificate(each) for each in authority.certificates]
        if len(chain) < _CHAIN:
            return False
        verifier = VerifierBuilder(
            tsa_certificate=chain[0], intermediates=chain[1:-1], roots=[chain[-1]]
        ).build()
        # Decoded anew: the library empties sets of what it has decoded as it looks.
        return verifier.verify_message(decode_timestamp_response(token), signature)
    except (VerificationError, ValueError, InvalidVersion):  # the last is no ValueError
        return False
