"""Bundles of a private Sigstore with everything that goes with them, and what can be wrong there.

`Made` is one bundle with its file, root and signer, ready to be changed: documents stay open
tables until `write` puts them into a folder. `FAULTS` lists the changes, each with the shapes that
it fits, the codes it has to lead to, and the cases of sigstore-conformance of its class.
"""

import json
from base64 import b64decode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.serialization import Encoding

from support.private_sigstore import ISSUER, SAN, PrivateSigstore, Rekor, Signer
from support.transparency import Json, canonical, sha256, spki

#: When runs happen, and when their bundles were signed.
NOW: Final = datetime(2026, 11, 29, tzinfo=UTC)
SIGNED: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)
ARTIFACT: Final = b"what was built\n"
#: kind of content, log, kind of signer
SHAPES: Final = tuple(
    f"{content}-{log}-{who}"
    for content in ("message", "statement")
    for log in ("rekor1", "rekor2")
    for who in ("certificate", "key")
)


@dataclass(kw_only=True)
class Made:
    """One bundle and all that is needed to judge it."""

    sigstore: PrivateSigstore
    signer: Signer
    bundle: Json
    root: Json
    artifact: bytes = ARTIFACT
    identity: str = SAN
    issuer: str = ISSUER
    key: bytes | None = None
    """The PEM of the key, None where an identity is asked for."""
    raw: bytes | None = field(default=None)
    """The bytes of the bundle, None while they are those of the table."""

    @property
    def entry(self) -> Json:
        entry: Json = self.bundle["verificationMaterial"]["tlogEntries"][0]
        return entry

    @property
    def proof(self) -> Json:
        proof: Json = self.entry["inclusionProof"]
        return proof

    @property
    def signature(self) -> bytes:
        if "messageSignature" in self.bundle:
            return b64decode(self.bundle["messageSignature"]["signature"])
        return b64decode(self.bundle["dsseEnvelope"]["signatures"][0]["sig"])

    @property
    def data(self) -> bytes:
        """The bytes of the bundle as it is now."""
        return self.raw if self.raw is not None else json.dumps(self.bundle).encode()

    def write(self, folder: Path) -> None:
        """Put file, bundle, root and key into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "artifact").write_bytes(self.artifact)
        (folder / "bundle.json").write_bytes(self.data)
        (folder / "root.json").write_text(json.dumps(self.root))
        if self.key is not None:
            (folder / "key.pub").write_bytes(self.key)

    @property
    def command(self) -> list[str]:
        """The command that judges it, in that folder."""
        who = ["--certificate-identity", self.identity, "--certificate-oidc-issuer", self.issuer]
        if self.key is not None:
            who = ["--key", "key.pub"]
        given = ["--bundle", "bundle.json", "--trusted-root", "root.json"]
        return ["verify", "bundle", "artifact", *given, *who]

    def content(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Everything that a fault can change, as bytes."""
        asked = f"{self.identity}\n{self.issuer}".encode() + (self.key or b"")
        return self.data, canonical(self.root), self.artifact, asked


def statement(artifact: bytes = ARTIFACT, **digests: str) -> bytes:
    """Return a statement about a file."""
    subject = {"name": "artifact", "digest": {"sha256": sha256(artifact).hex(), **digests}}
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [subject],
            "predicateType": "https://example.test/built/v1",
            "predicate": {},
        }
    ).encode()


def make(shape: str, *, seed: str = "bundles", identity: str = SAN, issuer: str = ISSUER) -> Made:
    """Make a bundle that holds; keys, certificates and so the root are the same each time."""
    content, log, who = shape.split("-")
    sigstore = PrivateSigstore(SIGNED, seed=seed)
    signer = sigstore.managed_signer()
    if who == "certificate":
        signer = sigstore.signer(san=identity, issuer=issuer)
    rekor: Rekor = 1 if log == "rekor1" else 2
    if content == "message":
        bundle = sigstore.message(ARTIFACT, signer, rekor=rekor)
    else:
        bundle = sigstore.statement(statement(), signer, rekor=rekor)
    return Made(
        sigstore=sigstore,
        signer=signer,
        bundle=bundle,
        root=sigstore.trusted_root(),
        identity=identity,
        issuer=issuer,
        key=None if signer.leaf is not None else spki(signer.key, Encoding.PEM),
    )


def as_version(made: Made, version: str) -> None:
    """Spell a bundle as an older version does: with a chain, under its media type."""
    made.bundle["mediaType"] = f"application/vnd.dev.sigstore.bundle+json;version={version}"
    material = made.bundle["verificationMaterial"]
    if version != "0.3" and "certificate" in material:
        chain = [material.pop("certificate")]
        material["x509CertificateChain"] = {"certificates": chain}


def body_of(made: Made) -> Json:
    """Return the body of the log entry as a table."""
    body: Json = json.loads(b64decode(made.entry["canonicalizedBody"]))
    return body


def log_again(made: Made, body: Json, when: datetime = SIGNED) -> None:
    """Have the log take an entry, really, in place of the one in the bundle."""
    rekor: Rekor = 2 if "Rekord" in json.dumps(body) or body["apiVersion"] == "0.0.2" else 1
    entry = made.sigstore.logs[rekor].entry(body, when)
    made.bundle["verificationMaterial"]["tlogEntries"] = [entry]


def later(**time: int) -> datetime:
    return SIGNED + timedelta(**time)


def printed(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
