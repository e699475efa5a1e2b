"""What a log entry is about: bound to the very signature, digest and key of a bundle.

An entry whose body is another signature's proves nothing of this one (CVE-2022-36056). The kinds
are `hashedrekord` 0.0.1 and `dsse` 0.0.1 (sigstore/rekor, pkg/types) and `hashedrekord` 0.0.2
(sigstore/rekor-tiles, api/proto), which also holds envelopes, by the digest of what is signed.
"""

import hashlib
import re
from base64 import b64decode, b64encode
from typing import Any, Final

from verifier.core.strict import read_json
from verifier.core.value import frozen
from verifier.evidence.bundle import LogEntry
from verifier.evidence.dsse import Envelope

HASHED, DSSE, HASHED_2 = "hashedrekord 0.0.1", "dsse 0.0.1", "hashedrekord 0.0.2"
KINDS: Final = (HASHED, DSSE, HASHED_2)
_PEM: Final = re.compile(
    rb"-----BEGIN (PUBLIC KEY|CERTIFICATE)-----\n([A-Za-z0-9+/=\n]+)-----END \1-----\n*"
)
#: Scheme of a key → its name in Rekor v2, and the digest that goes with it.
_DETAILS: Final = {
    "ecdsa-sha2-nistp256": ("PKIX_ECDSA_P256_SHA_256", "sha256"),
    "ecdsa-sha2-nistp384": ("PKIX_ECDSA_P384_SHA_384", "sha384"),
    "ed25519": ("PKIX_ED25519", "sha512"),
}
_V2_NAMES: Final = {"sha256": "SHA2_256", "sha384": "SHA2_384", "sha512": "SHA2_512"}


@frozen
class Signed:
    """What an entry has to be about.

    `verifier` is the DER of the key or certificate, `scheme` the kind of its key. `digests` are
    those of the file, by algorithm, for a message; an envelope brings its own.
    """

    signature: bytes
    verifier: bytes
    certificate: bool
    scheme: str
    envelope: Envelope | None
    digests: dict[str, str]


def bound(entry: LogEntry, signed: Signed) -> bool:
    """Whether the entry's body is about that signature and nothing else."""
    if entry.kind not in KINDS:
        return False
    try:
        body = read_json(entry.body)
    except ValueError:
        return False
    kind, _, version = entry.kind.partition(" ")
    if not isinstance(body, dict) or body.get("kind") != kind or body.get("apiVersion") != version:
        return False
    spec, wanted = body.get("spec"), {HASHED: _hashed, DSSE: _dsse, HASHED_2: _hashed_2}
    try:
        return set(body) == {"kind", "apiVersion", "spec"} and wanted[entry.kind](spec, signed)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return False  # it lacks what has to be there


def _hashed(spec: Any, signed: Signed) -> bool:
    algorithm = spec["data"]["hash"]["algorithm"]
    wanted = {
        "data": {"hash": {"algorithm": algorithm, "value": signed.digests[algorithm]}},
        "signature": {
            "content": _b64(signed.signature),
            "publicKey": {"content": _same(spec["signature"]["publicKey"]["content"], signed)},
        },
    }
    return signed.envelope is None and bool(spec == wanted)


def _dsse(spec: Any, signed: Signed) -> bool:
    """Compare all but the hash over the envelope: over which spelling of it, nobody says."""
    if signed.envelope is None or spec["envelopeHash"]["algorithm"] != "sha256":
        return False
    payload = hashlib.sha256(signed.envelope.payload).hexdigest()
    verifier = _same(spec["signatures"][0]["verifier"], signed)
    wanted = {
        "envelopeHash": spec["envelopeHash"],
        "payloadHash": {"algorithm": "sha256", "value": payload},
        "signatures": [{"signature": _b64(signed.signature), "verifier": verifier}],
    }
    return bool(spec == wanted)


def _hashed_2(spec: Any, signed: Signed) -> bool:
    details, algorithm = _DETAILS[signed.scheme]
    if signed.envelope is None:
        digest = bytes.fromhex(signed.digests[algorithm])
    else:
        digest = hashlib.new(algorithm, signed.envelope.signed).digest()
    raw = {"rawBytes": _b64(signed.verifier)}
    wanted = {
        "data": {"algorithm": _V2_NAMES[algorithm], "digest": _b64(digest)},
        "signature": {
            "content": _b64(signed.signature),
            "verifier": {
                "x509Certificate" if signed.certificate else "publicKey": raw,
                "keyDetails": details,
            },
        },
    }
    return bool(spec == {"hashedRekordV002": wanted})


def _same(content: str, signed: Signed) -> str:
    """Return a verifier as the body spells it if it is the one that is meant.

    PEM may be wrapped in several ways; what it holds is compared.
    """
    found = _PEM.fullmatch(b64decode(content, validate=True))
    label = b"CERTIFICATE" if signed.certificate else b"PUBLIC KEY"
    if found is None or found[1] != label:
        raise ValueError("PEM")
    if b64decode(found[2].replace(b"\n", b""), validate=True) != signed.verifier:
        raise ValueError("another verifier")
    return content


def _b64(data: bytes) -> str:
    return b64encode(data).decode()
