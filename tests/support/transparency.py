"""A transparency log: RFC 6962 §2.1 for hashes and audit paths, signed heads as Rekor writes them.

Heads are checkpoints (C2SP tlog-checkpoint and signed-note). Entries are the `TransparencyLogEntry`
of sigstore/protobuf-specs, `sigstore_rekor.proto`. A Rekor v1 log also promises an entry, by a
signature over RFC 8785 canonical JSON (sigstore/rekor, pkg/types).
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

LogKey = EllipticCurvePrivateKey | Ed25519PrivateKey
Json = dict[str, Any]

P256_SHA256: Final = ECDSA(hashes.SHA256(), deterministic_signing=True)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def b64(data: bytes) -> str:
    return b64encode(data).decode()


def canonical(value: Json) -> bytes:
    """Serialise as RFC 8785 does, for the ASCII text and small integers that occur here."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def spki(key: LogKey, encoding: Encoding = Encoding.DER) -> bytes:
    """Return the SubjectPublicKeyInfo of a private key's public half."""
    return key.public_key().public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)


def tree_head(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else sha256(b"")
    split = _split(leaves)
    return sha256(b"\1" + tree_head(leaves[:split]) + tree_head(leaves[split:]))


def audit_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """Return the hashes that lead from one leaf to the root, lowest first."""
    if len(leaves) == 1:
        return []
    split = _split(leaves)
    if index < split:
        return [*audit_path(index, leaves[:split]), tree_head(leaves[split:])]
    return [*audit_path(index - split, leaves[split:]), tree_head(leaves[:split])]


def _split(leaves: Sequence[bytes]) -> int:
    """Return the largest power of two below the number of leaves."""
    return 1 << (len(leaves) - 1).bit_length() - 1


class Log:
    """A transparency log. Rekor v1 signs with P-256, Rekor v2 with Ed25519: the key tells."""

    def __init__(self, origin: str, key: LogKey) -> None:
        """Begin with a few entries of others, so that paths are not empty."""
        self.origin = origin
        self.key = key
        self.v2 = isinstance(key, Ed25519PrivateKey)
        self.leaves = [sha256(b"\0" + canonical({"entry of another": i})) for i in range(5)]

    @property
    def key_id(self) -> bytes:
        """SHA-256 of the key; for v2 it covers name and algorithm too, as in signed-note."""
        if isinstance(self.key, Ed25519PrivateKey):
            raw = self.key.public_key().public_bytes_raw()
            return sha256(self.origin.encode() + b"\n\x01" + raw)
        return sha256(spki(self.key))

    def sign(self, data: bytes) -> bytes:
        if isinstance(self.key, Ed25519PrivateKey):
            return self.key.sign(data)
        return self.key.sign(data, P256_SHA256)

    def entry(self, body: Json, when: datetime) -> Json:
        """Append an entry and return its `TransparencyLogEntry`."""
        data = canonical(body)
        index = len(self.leaves)
        self.leaves.append(sha256(b"\0" + data))
        entry: Json = {
            "logIndex": str(index),
            "logId": {"keyId": b64(self.key_id)},
            "kindVersion": {"kind": body["kind"], "version": body["apiVersion"]},
            "canonicalizedBody": b64(data),
            "inclusionProof": self.proof(index),
        }
        if not self.v2:
            entry |= self._promise(data, index, int(when.timestamp()))
        return entry

    def proof(self, index: int) -> Json:
        """Prove that an entry is in the log as it is now."""
        root, size = tree_head(self.leaves), len(self.leaves)
        return {
            "logIndex": str(index),
            "rootHash": b64(root),
            "treeSize": str(size),
            "hashes": [b64(each) for each in audit_path(index, self.leaves)],
            "checkpoint": {"envelope": self.checkpoint(root, size)},
        }

    def checkpoint(self, root: bytes, size: int) -> str:
        """Sign a tree head. Rekor v1 appends the number of its tree to the origin."""
        origin = self.origin if self.v2 else f"{self.origin} - 1234567890123456789"
        note = f"{origin}\n{size}\n{b64(root)}\n"
        signature = b64(self.key_id[:4] + self.sign(note.encode()))
        return f"{note}\n\u2014 {self.origin} {signature}\n"

    def _promise(self, data: bytes, index: int, when: int) -> Json:
        """Return the time at which Rekor v1 took the entry, and its promise to include it."""
        signed = {
            "body": b64(data),
            "integratedTime": when,
            "logID": self.key_id.hex(),
            "logIndex": index,
        }
        promise = {"signedEntryTimestamp": b64(self.sign(canonical(signed)))}
        return {"integratedTime": str(when), "inclusionPromise": promise}
