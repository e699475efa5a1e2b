"""Sigstore bundles: a strict document becomes a frozen value; nothing of it is believed yet.

Source: sigstore/protobuf-specs, `sigstore_bundle.proto`, `sigstore_rekor.proto` and
`sigstore_common.proto`, in the JSON of protobuf: counts are strings, `null` is the same as absent,
and what has its default value may be left out. Numbers for counts, which protobuf also lets
readers take, are refused: no client writes them, and the library does not read them. A plain DSSE
envelope counts as a bundle without material of its own.
"""

import re
from typing import Any, Final, Self

from verifier.core.encoding import base64_in
from verifier.core.limits import DOCUMENT_BYTES, LOG_ENTRIES, PROOF_HASHES, TIMESTAMPS
from verifier.core.printable import quoted
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.evidence.dsse import Envelope
from verifier.evidence.keys import strict_base64

_REMEDY: Final = "get the bundle again from whoever published it"
#: Media type → version. Up to 0.2 a certificate comes in a chain, from 0.3 on alone.
VERSIONS: Final = {
    "application/vnd.dev.sigstore.bundle+json;version=0.1": "0.1",
    "application/vnd.dev.sigstore.bundle+json;version=0.2": "0.2",
    "application/vnd.dev.sigstore.bundle+json;version=0.3": "0.3",
    "application/vnd.dev.sigstore.bundle.v0.3+json": "0.3",
}
_ALGORITHMS: Final = {"SHA2_256": "sha256", "SHA2_384": "sha384", "SHA2_512": "sha512"}
_COUNT: Final = "0|[1-9][0-9]{0,17}"
#: How the media type of every version begins.
_LIKE_OURS: Final = "application/vnd.dev.sigstore.bundle"


class UnknownVersionError(ValueError):
    """A bundle of a version that is not read here; the text is its media type, in quotes."""


@frozen
class Proof:
    """An inclusion proof: place and size of the tree, its root, the path, the signed head."""

    index: int
    size: int
    root: bytes
    path: tuple[bytes, ...]
    checkpoint: str


@frozen
class LogEntry:
    """One entry of a transparency log, as the bundle gives it.

    `index` is the outer `logIndex`. A promise covers it; of Rekor v2, which makes none, nothing
    does, so that reports name the index of the proof alone.
    """

    log: bytes
    kind: str
    body: bytes
    index: int
    integrated: int
    promise: bytes | None
    proof: Proof | None


@frozen
class Message:
    """A signature over a file; `digest` is what the bundle says of the file, (kind, hex)."""

    signature: bytes
    digest: tuple[str, str] | None


@frozen
class Bundle:
    """A parsed bundle.

    `certificates` are in DER, the signer's first; without one a key that the verifier has to know
    has signed. `version` is "dsse" for a plain envelope. `data` are the bytes that were read.
    """

    version: str
    certificates: tuple[bytes, ...]
    entries: tuple[LogEntry, ...]
    timestamps: tuple[bytes, ...]
    content: Message | Envelope
    data: bytes

    @classmethod
    def parse(cls, data: bytes, *, what: str) -> Self:
        """Read a bundle or a plain envelope.

        Raises `MalformedError` naming every mistake by its path, `UnknownVersionError`.
        """
        try:
            value = plain(read_json(data, limit=DOCUMENT_BYTES))
        except ValueError as error:
            raise MalformedError(what, [str(error)], remedy=_REMEDY) from None
        table = Table(value, what=what, remedy=_REMEDY)
        if isinstance(value, dict) and "payloadType" in value:
            envelope = Envelope.of(table)
            return cls(
                version="dsse",
                certificates=(),
                entries=(),
                timestamps=(),
                content=envelope,
                data=data,
            )
        kind = table.text("mediaType")
        if kind not in VERSIONS and kind.startswith(_LIKE_OURS):
            raise UnknownVersionError(quoted(kind[:120]))
        if kind and kind not in VERSIONS:
            table.mistake("mediaType", f"{quoted(kind[:120])} is no media type of a bundle")
        return cls._of(table, VERSIONS.get(kind, "0.3"), data)

    @classmethod
    def _of(cls, table: Table, version: str, data: bytes) -> Self:
        material = table.table("verificationMaterial")
        entries = material.tables("tlogEntries")
        stamps = material.optional_table("timestampVerificationData")
        tokens = stamps.tables("rfc3161Timestamps") if stamps else []
        for key, found, most in (
            ("tlogEntries", entries, LOG_ENTRIES),
            ("timestampVerificationData.rfc3161Timestamps", tokens, TIMESTAMPS),
        ):
            if len(found) > most:
                material.mistake(key, f"expected at most {most} of them")
        bundle = cls(
            version=version,
            certificates=_certificates(material, version),
            entries=tuple(map(_entry, entries)),
            timestamps=tuple(_only(token, "signedTimestamp") for token in tokens),
            content=_content(table),
            data=data,
        )
        if len(set(bundle.timestamps)) != len(bundle.timestamps):
            material.mistake("timestampVerificationData", "gives a timestamp twice")
        if stamps:
            stamps.close()
        material.close()
        table.done()
        return bundle

    @property
    def signature(self) -> bytes:
        """The signature; of an envelope with several, the first."""
        content = self.content
        return content.signature if isinstance(content, Message) else content.signatures[0]


def plain(value: Any) -> Any:
    """Take out what means nothing in the JSON of protobuf: members that are `null`."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if item is not None}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _only(table: Table, key: str) -> bytes:
    value = base64_in(table, key)
    table.close()
    return value


def _count(table: Table, key: str) -> int:
    text = table.text(key, default="0", pattern=_COUNT, form="a count")
    return int(text) if re.fullmatch(_COUNT, text) else 0


def _certificates(material: Table, version: str) -> tuple[bytes, ...]:
    chain, one = material.has("x509CertificateChain"), material.has("certificate")
    key = material.optional_table("publicKey")
    if key:
        if key.has("hint"):
            key.string("hint")  # it decides nothing: whoever verifies names the key
        key.close()
    if chain + one + bool(key) != 1:
        material.mistake("", "expected one of certificate, x509CertificateChain, publicKey")
        return ()
    if key:
        return ()
    if one == (version in ("0.1", "0.2")):
        told = "certificate" if one else "x509CertificateChain"
        material.mistake(told, f"does not occur in bundles of version {version}")
    if one:
        return (_only(material.table("certificate"), "rawBytes"),)
    table = material.table("x509CertificateChain")
    found = tuple(_only(each, "rawBytes") for each in table.tables("certificates"))
    if not found:
        table.mistake("certificates", "is empty")
    table.close()
    return found


def _entry(table: Table) -> LogEntry:
    log, kind = table.table("logId"), table.table("kindVersion")
    promise = table.optional_table("inclusionPromise")
    proof = table.optional_table("inclusionProof")
    entry = LogEntry(
        log=_only(log, "keyId"),
        kind=f"{kind.text('kind')} {kind.text('version')}",
        body=base64_in(table, "canonicalizedBody"),
        index=_count(table, "logIndex"),
        integrated=_count(table, "integratedTime"),
        promise=_only(promise, "signedEntryTimestamp") if promise else None,
        proof=_proof(proof) if proof else None,
    )
    kind.close()
    table.close()
    return entry


def _proof(table: Table) -> Proof | None:
    hashes = table.texts("hashes", default=(), repeated=True)
    if len(hashes) > PROOF_HASHES:
        table.mistake("hashes", f"expected at most {PROOF_HASHES} of them")
    try:
        path = tuple(map(strict_base64, hashes))
    except ValueError as error:
        table.mistake("hashes", str(error))
        path = ()
    head = table.optional_table("checkpoint")
    proof = Proof(
        index=_count(table, "logIndex"),
        size=_count(table, "treeSize"),
        root=base64_in(table, "rootHash"),
        path=path,
        checkpoint=head.text("envelope") if head else "",
    )
    if head:
        head.close()
    table.close()
    return proof if head else None


def _content(table: Table) -> Message | Envelope:
    message, envelope = (table.optional_table(k) for k in ("messageSignature", "dsseEnvelope"))
    if (message is None) == (envelope is None):
        table.mistake("", "expected one of messageSignature, dsseEnvelope")
    if envelope is not None:
        return Envelope.of(envelope)
    if message is None:
        return Message(signature=b"", digest=None)
    digest = message.optional_table("messageDigest")
    found = None
    if digest:
        kind = digest.text("algorithm", choices=_ALGORITHMS)
        found = (_ALGORITHMS.get(kind, ""), _only(digest, "digest").hex())
    signature = base64_in(message, "signature")
    message.close()
    return Message(signature=signature, digest=found)
