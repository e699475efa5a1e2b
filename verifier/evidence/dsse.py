"""DSSE envelopes: a payload, its type, and signatures over both (secure-systems-lab/dsse 1.0).

The payload bytes are kept as they were signed and never printed anew. `keyid` is a hint that
decides nothing (protocol.md, "keyid"); who signed is found by trying the keys that count, and
each counts once.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Final, Self

from verifier.core.encoding import base64_in
from verifier.core.limits import SIGNATURES
from verifier.core.table import Table
from verifier.core.value import frozen
from verifier.evidence.keys import PublicKey

#: The type of an in-toto Statement, and of the older links and layouts alike.
IN_TOTO: Final = "application/vnd.in-toto+json"
_REMEDY: Final = "get the envelope again from whoever signed it"


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that are signed: the pre-authentication encoding (protocol.md)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


@frozen
class Envelope:
    """A parsed envelope. `signatures` holds the signature bytes alone, without their hints."""

    payload_type: str
    payload: bytes
    signatures: tuple[bytes, ...]

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Self:
        """Read an envelope. Raises `MalformedError` naming every mistake by its path."""
        return cls.of(Table.json(data, what=what, remedy=_REMEDY))

    @classmethod
    def of(cls, table: Table) -> Self:
        """Read an envelope that is (part of) a document; closes the table."""
        envelope = cls(
            payload_type=table.text("payloadType"),
            payload=base64_in(table, "payload"),
            signatures=tuple(_signature(each) for each in table.tables("signatures")),
        )
        if not 1 <= len(envelope.signatures) <= SIGNATURES:
            table.mistake("signatures", f"expected 1 to {SIGNATURES} of them")
        table.done()
        return envelope

    @property
    def signed(self) -> bytes:
        """The bytes that every signature is over."""
        return pae(self.payload_type, self.payload)

    def signers(self, keys: Iterable[PublicKey]) -> frozenset[PublicKey]:
        """Return those of `keys` that have signed; thresholds count these."""
        signed = self.signed
        return frozenset(
            key for key in keys if any(key.verifies(each, signed) for each in self.signatures)
        )


def print_envelope(
    payload_type: str, payload: bytes, signatures: Iterable[tuple[str, bytes]]
) -> bytes:
    """Print an envelope; `signatures` holds the id of a key and its signature over `pae`."""
    document = {
        "payload": b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [
            {"keyid": keyid, "sig": b64encode(signature).decode()}
            for keyid, signature in signatures
        ],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def _signature(table: Table) -> bytes:
    if table.has("keyid"):
        table.string("keyid")  # a hint, which may be empty
    signature = base64_in(table, "sig")
    table.close()
    return signature
