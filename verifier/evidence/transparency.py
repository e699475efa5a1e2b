"""Transparency logs: inclusion proofs, signed tree heads, promises. On `cryptography` alone.

Sources: RFC 9162 §2.1.3.2 (which reads as RFC 6962 §2.1 hashes), C2SP tlog-checkpoint and
signed-note, and for promises sigstore/rekor, pkg/types/entries.go, with RFC 8785.
"""

import hashlib
import json
import re
from base64 import b64encode
from typing import Final, Self

from verifier.core.value import frozen
from verifier.evidence.bundle import LogEntry, Proof
from verifier.evidence.keys import PublicKey, strict_base64

_HASH: Final = 32
_SIZE: Final = re.compile("0|[1-9][0-9]{0,17}")
_SIGNATURE: Final = re.compile("\u2014 ([^ +]+) ([A-Za-z0-9+/]+={0,2})")
_HINT: Final = 4


@frozen
class Checkpoint:
    """A signed tree head. `signatures` holds the name on each line, and its hint and signature."""

    origin: str
    size: int
    root: bytes
    note: bytes
    signatures: tuple[tuple[str, bytes], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a checkpoint. Raises `ValueError` with the reason."""
        note, blank, below = text.partition("\n\n")
        lines = note.split("\n")
        if not blank or len(lines) < 3 or not lines[0]:  # noqa: PLR2004  (origin, size, root)
            raise ValueError("a checkpoint has an origin, a size, a root, and signatures")
        if not _SIZE.fullmatch(lines[1]):
            raise ValueError("the second line of a checkpoint is its size")
        signatures = []
        for line in below.removesuffix("\n").split("\n"):
            found = _SIGNATURE.fullmatch(line)
            if found is None:
                raise ValueError("a line of a checkpoint is no signature")
            signatures.append((found[1], strict_base64(found[2])))
        return cls(
            origin=lines[0],
            size=int(lines[1]),
            root=strict_base64(lines[2]),
            note=note.encode() + b"\n",
            signatures=tuple(signatures),
        )

    @property
    def by_its_log(self) -> tuple[bytes, ...]:
        """What stands on lines with the name of the log, as the signed origin begins.

        Rekor v1 appends the number of its tree to the origin.
        """
        log = self.origin.partition(" - ")[0]
        return tuple(signature for name, signature in self.signatures if name == log)

    def signed_by(self, key: PublicKey, log: bytes) -> bool:
        """Whether a log's key has signed the head; witnesses may have signed it too.

        The hint in front of a signature is the start of the key's id: of its SHA-256 for Rekor v1,
        of the id that signed-note derives for Rekor v2. It only chooses what is tried.
        """
        hints = {log[:_HINT], hashlib.sha256(key.spki).digest()[:_HINT]}
        return any(
            signature[:_HINT] in hints and key.verifies(signature[_HINT:], self.note)
            for signature in self.by_its_log
        )


def included(entry: LogEntry, proof: Proof) -> bool:
    """Whether the proof leads from the entry to its root (RFC 9162 §2.1.3.2)."""
    if not proof.index < proof.size:
        return False
    place, last = proof.index, proof.size - 1
    found = hashlib.sha256(b"\0" + entry.body).digest()
    for each in proof.path:
        if last == 0 or len(each) != _HASH:
            return False
        if place & 1 or place == last:
            found = hashlib.sha256(b"\1" + each + found).digest()
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = hashlib.sha256(b"\1" + found + each).digest()
        place, last = place >> 1, last >> 1
    return last == 0 and found == proof.root


def promised(entry: LogEntry, key: PublicKey) -> bool:
    """Whether a log's key has signed the entry's place and time (its SET, as RFC 8785 JSON)."""
    if entry.promise is None or not entry.integrated:
        return False
    signed = {
        "body": b64encode(entry.body).decode(),
        "integratedTime": entry.integrated,
        "logID": entry.log.hex(),
        "logIndex": entry.index,
    }
    return key.verifies(entry.promise, json.dumps(signed, separators=(",", ":")).encode())
