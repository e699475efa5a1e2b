"""Signed statements, their keys and signers for tests: everything from fixed seeds.

A `[signed."<file>"]` table of a case writes one file:

* `key = "alice"`: a public key in PEM. `private = "alice"`: the private one, in PKCS8, with
  `mode` (an octal text; 0600) and `passphrase`, if any.
* `raw = "text"`: this text.
* `statement = {…}`: a statement; what is not given is as in `STATEMENT`. `drop` takes keys out;
  `@sha256` is the SHA-256 of `ARTIFACT`.
* `envelope = {…}`: a DSSE envelope of such a statement. `by`: who signs (`["alice"]`); `type`: the
  payload's type; `raw`: other bytes than a statement's; `replace`: pairs (old, new) of text that
  occurs in the envelope, once.

The registry of such a case holds the signers of `signers()`, besides what the others hold. Who is
called `p256-…` or `p384-…` has a key on that curve, all others have Ed25519 ones.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    SECP384R1,
    EllipticCurvePrivateKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from support import registry as registries
from verifier.core.strict import write_toml
from verifier.evidence.dsse import IN_TOTO, pae, print_envelope
from verifier.evidence.keys import PublicKey
from verifier.evidence.statement import COUNTING

Key = Ed25519PrivateKey | EllipticCurvePrivateKey


def digests_of(data: bytes) -> dict[str, str]:
    """Return the digests of `data` by every algorithm that is compared."""
    return {name: hashlib.new(name, data).hexdigest() for name in COUNTING}


#: What most statements of tests are about.
ARTIFACT: Final = b"what was built\n"
SVR: Final = "https://in-toto.io/attestation/svr/v0.2"
STATEMENT: Final[dict[str, Any]] = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": "built.txt", "digest": digests_of(ARTIFACT)}],
    "predicateType": SVR,
    "predicate": {
        "verifier": {"id": "https://verifier.example/v1", "policies": []},
        "timeCreated": "2026-11-28T12:00:00Z",
        "properties": ["EXAMPLE_BUILT"],
    },
}


def key(name: str) -> Key:
    """Return the private test key of that name."""
    number = int.from_bytes(registries.seed(name)) >> 1
    if name.startswith("p256-"):
        return derive_private_key(number, SECP256R1())
    if name.startswith("p384-"):
        return derive_private_key(number, SECP384R1())
    return Ed25519PrivateKey.from_private_bytes(registries.seed(name))


def public_pem(name: str) -> bytes:
    return key(name).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def public(name: str) -> PublicKey:
    return PublicKey.pem(public_pem(name))


def private_pem(name: str, passphrase: str | None = None) -> bytes:
    locked = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    return key(name).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)


def signature(name: str, data: bytes) -> bytes:
    """Sign the same bytes with the same signature each time."""
    private = key(name)
    if isinstance(private, Ed25519PrivateKey):
        return private.sign(data)
    digest = SHA256() if name.startswith("p256-") else SHA384()
    return private.sign(data, ECDSA(digest, deterministic_signing=True))


def statement(changes: Mapping[str, Any] | None = None) -> bytes:
    """Print a statement; `drop` in `changes` takes keys of the top out."""
    changes = dict(changes or {})
    dropped = changes.pop("drop", [])
    document = {key: value for key, value in {**STATEMENT, **changes}.items() if key not in dropped}
    printed = json.dumps(document, indent=1).replace("@sha256", digests_of(ARTIFACT)["sha256"])
    return printed.encode() + b"\n"


def envelope(
    payload: bytes | None = None, *, by: Iterable[str] = ("alice",), kind: str = IN_TOTO
) -> bytes:
    """Print an envelope of `payload`, signed by those named."""
    payload = statement() if payload is None else payload
    signed = pae(kind, payload)
    return print_envelope(kind, payload, [(public(n).id, signature(n, signed)) for n in by])


def signer(name: str, **more: Any) -> dict[str, Any]:
    """Return a row for the key called `name`."""
    own = public(name)
    written = {"scheme": own.scheme, "public": b64encode(own.spki).decode()}
    return {"name": name, "key": written, "predicates": [SVR], **more}


def ssh(name: str) -> str:
    """Return a public key as SSH writes it."""
    line = key(name).public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return line.decode()


def signers() -> dict[str, Any]:
    """Return the entry of signers that cases are about."""
    revoked = {"at": "2026-11-20T00:00:00Z", "reason": "left the project"}
    rows = [
        signer("alice"),
        signer("bob"),
        signer("p256-carol"),
        signer("p384-dave"),
        signer("tester", predicates=["https://in-toto.io/attestation/test-result/v0.1"]),
        signer("judge", predicates=["https://slsa.dev/verification_summary/v1"]),
        signer("future", valid_from="2027-01-01T00:00:00Z"),
        signer("former", valid_until="2026-11-01T00:00:00Z"),
        signer("revoked", revoked=revoked),
        signer("stolen", revoked={**revoked, "reason": "laptop stolen", "compromised": True}),
        {"name": "committer", "ssh": ssh("committer"), "predicates": ["git-commit", "git-tag"]},
        {
            "name": "builder",
            "identity": {
                "issuer": "https://token.actions.example",
                "subject": "https://forge.example/us/it/.github/workflows/build.yml@refs/heads/main",
            },
            "predicates": ["https://slsa.dev/provenance/v1", "artifact"],
        },
    ]
    return {"schema": "signers/v1", "name": "us", "project": "us", "signer": rows}


def registry(folder: Path, *others: dict[str, Any]) -> registries.Registry:
    """Write a registry that also has signers; `others` are more entries of that kind."""
    signed = {path: d for path, d in registries.entries().items() if not path.startswith("index/")}
    for entry in (signers(), *others):
        signed[f"neighbour/signers/{entry['name']}.toml"] = write_toml(entry)
    signed |= registries.index_of(signed)
    return registries.make(folder, targets=signed)


def make(path: Path, recipe: Mapping[str, Any]) -> None:
    """Write one file of a case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if "key" in recipe:
        path.write_bytes(public_pem(recipe["key"]))
    elif "private" in recipe:
        path.write_bytes(private_pem(recipe["private"], recipe.get("passphrase")))
        path.chmod(int(recipe.get("mode", "600"), 8))
    elif "raw" in recipe:
        path.write_bytes(recipe["raw"].encode())
    elif "statement" in recipe:
        path.write_bytes(statement(recipe["statement"]))
    else:
        path.write_bytes(_enveloped(recipe["envelope"]))


def _enveloped(recipe: Mapping[str, Any]) -> bytes:
    payload = recipe["raw"].encode() if "raw" in recipe else statement(recipe.get("statement"))
    made = envelope(payload, by=recipe.get("by", ["alice"]), kind=recipe.get("type", IN_TOTO))
    for old, new in recipe.get("replace", []):
        assert made.count(old.encode()) == 1, old
        made = made.replace(old.encode(), new.encode())
    return made
