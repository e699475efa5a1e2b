"""What a piece of evidence proves once its signatures hold: by whom, when, about which bytes.

A claim says nothing of whether its signer may say so: `signers` decides that (FORMATS §2,
signers/v1), with the windows and predicates of a row.
"""

from datetime import datetime

from verifier.core.value import frozen
from verifier.evidence.keys import PublicKey


@frozen
class Identity:
    """Whom a certificate was issued to: the subject alternative name, and who logged them in."""

    issuer: str
    subject: str


@frozen
class Claim:
    """One signature that holds, or several of distinct keys over the same bytes.

    `signed_at` is None unless a log or a timestamp authority proves the time. `payload` holds the
    signed bytes of an envelope, `payload_type` their type; `artifact` is the SHA-256 of the bytes
    that a message signature is over. `logged` says whether a transparency log vouches for it.
    """

    keys: frozenset[PublicKey] = frozenset()
    identity: Identity | None = None
    signed_at: datetime | None = None
    logged: bool = False
    payload_type: str | None = None
    payload: bytes | None = None
    artifact: str | None = None
