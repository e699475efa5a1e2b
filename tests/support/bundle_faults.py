"""What can be wrong with a bundle, its root, its file or its signer: one change each.

A fault names the shapes that it fits (`message`, `statement`, `rekor1`, `rekor2`, `certificate`,
`key`; nothing means any), the code that it has to lead to, and those cases of sigstore-conformance
(a73de49) that are of its class. The log, the authorities and the signer really sign what a change
asks of them, so that only the fault itself can be what is found.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, derive_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from support.bundles import (
    SHAPES,
    SIGNED,
    Made,
    as_version,
    body_of,
    later,
    log_again,
    make,
    printed,
    statement,
)
from support.certificates import Authority, of_a_leaf
from support.private_sigstore import ISSUER, SAN, PrivateSigstore, pae
from support.rfc3161 import timestamp
from support.transparency import P256_SHA256, Json, b64, canonical, sha256, spki

Change = Callable[[Made], None]


class Fault(NamedTuple):
    """One change to a bundle that holds. `exit` is what the run ends with."""

    name: str
    change: Change
    code: str
    exit: int
    fits: frozenset[str]
    public: tuple[str, ...]

    def shapes(self) -> Iterator[str]:
        """Name the shapes of bundles that it fits."""
        for shape in SHAPES:
            if self.fits <= set(shape.split("-")):
                yield shape


FAULTS: Final[list[Fault]] = []


def _fault(
    code: str, fits: str = "", *, exit_code: int = 1, public: str = ""
) -> Callable[[Change], Change]:
    def add(change: Change) -> Change:
        FAULTS.append(
            Fault(
                name=change.__name__,
                change=change,
                code=code,
                exit=exit_code,
                fits=frozenset(fits.split()),
                public=tuple(f"{name}_fail" for name in public.split()),
            )
        )
        return change

    return add


# ── the document ───────────────────────────────────────────────────────────────────────────────


@_fault("bundle-malformed", public="bundle-malformed-json")
def cut_off(made: Made) -> None:
    made.raw = made.data[:-20]


@_fault("bundle-malformed")
def empty(made: Made) -> None:
    made.raw = b""


@_fault("bundle-malformed")
def null(made: Made) -> None:
    made.raw = b"null"


@_fault("bundle-malformed")
def page_of_an_error(made: Made) -> None:
    made.raw = b"<!DOCTYPE html><title>404</title>"


@_fault("bundle-malformed")
def trailing_data(made: Made) -> None:
    made.raw = made.data + b"{}"


@_fault("bundle-malformed")
def byte_order_mark(made: Made) -> None:
    made.raw = b"\xef\xbb\xbf" + made.data


@_fault("bundle-malformed")
def nested_deep(made: Made) -> None:
    made.raw = b'{"mediaType":' + b"[" * 5000 + b"]" * 5000 + b"}"


@_fault("bundle-malformed")
def media_type_twice(made: Made) -> None:
    made.raw = made.data.replace(b'{"mediaType"', b'{"mediaType": "another", "mediaType"', 1)


@_fault("bundle-malformed", "statement")
def payload_twice(made: Made) -> None:
    made.raw = made.data.replace(b'{"payload":', b'{"payload": "e30=", "payload":', 1)


@_fault("bundle-malformed")
def unknown_key(made: Made) -> None:
    made.bundle["verificationMaterial"]["more"] = {}


@_fault("bundle-malformed")
def no_media_type(made: Made) -> None:
    del made.bundle["mediaType"]


@_fault("bundle-unsupported", exit_code=3, public="bundle-unknown-version")
def version_of_the_future(made: Made) -> None:
    made.bundle["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=99.9"


@_fault("bundle-malformed", "certificate")
def certificate_of_no_version(made: Made) -> None:
    raw = _certificate(made)
    raw["rawBytes"] = b64(_versioned(b64decode(raw["rawBytes"])))


@_fault("bundle-malformed", "certificate", public="bundle-empty-certificate-chain")
def chain_of_nothing(made: Made) -> None:
    as_version(made, "0.1")
    made.bundle["verificationMaterial"]["x509CertificateChain"]["certificates"] = []


@_fault("bundle-malformed", "certificate")
def chain_in_a_new_version(made: Made) -> None:
    as_version(made, "0.2")
    as_new = "application/vnd.dev.sigstore.bundle.v0.3+json"
    made.bundle["mediaType"] = as_new


@_fault("bundle-malformed", "certificate")
def key_beside_certificate(made: Made) -> None:
    made.bundle["verificationMaterial"]["publicKey"] = {"hint": ""}


@_fault("bundle-malformed")
def nobody(made: Made) -> None:
    for name in ("certificate", "publicKey"):
        made.bundle["verificationMaterial"].pop(name, None)


@_fault("bundle-malformed", "message")
def two_contents(made: Made) -> None:
    made.bundle["dsseEnvelope"] = {"payload": "", "payloadType": "a", "signatures": []}


@_fault("bundle-malformed")
def no_content(made: Made) -> None:
    for name in ("messageSignature", "dsseEnvelope"):
        made.bundle.pop(name, None)


@_fault("bundle-malformed", "message", public="bundle-invalid-base64-signature")
def signature_in_no_base64(made: Made) -> None:
    text = made.bundle["messageSignature"]["signature"]
    made.bundle["messageSignature"]["signature"] = "*" + text[1:]


@_fault("bundle-malformed", "message")
def signature_without_padding(made: Made) -> None:
    made.bundle["messageSignature"]["signature"] = b64(bytes(70)).rstrip("=")


@_fault("bundle-malformed", "rekor2", public="rekor2-timestamp-with-incorrect-time")
def timestamp_with_line_breaks(made: Made) -> None:
    stamp = _stamps(made)[0]
    text = stamp["signedTimestamp"]
    stamp["signedTimestamp"] = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))


@_fault("bundle-malformed", public="bundle-negative-log-index")
def negative_index(made: Made) -> None:
    made.entry["logIndex"] = "-1"


@_fault("bundle-malformed")
def index_with_a_sign(made: Made) -> None:
    made.entry["logIndex"] = "+1"


@_fault("bundle-malformed")
def fraction_of_an_index(made: Made) -> None:
    made.raw = made.data.replace(b'"logIndex": "5"', b'"logIndex": 5.0', 1)


@_fault("bundle-malformed")
def numbers_for_counts(made: Made) -> None:
    made.entry["logIndex"] = int(made.entry["logIndex"])


@_fault("bundle-malformed", "rekor2")
def timestamp_twice(made: Made) -> None:
    _stamps(made).append(_stamps(made)[0])


@_fault("bundle-malformed", "certificate")
def certificate_of_noise(made: Made) -> None:
    _certificate(made)["rawBytes"] = b64(b"no certificate")


# ── who signed ─────────────────────────────────────────────────────────────────────────────────


@_fault("bundle-identity", "certificate")
def another_subject(made: Made) -> None:
    made.identity = made.identity.replace("main", "mein")


@_fault("bundle-identity", "certificate")
def start_of_the_subject(made: Made) -> None:
    made.identity = made.identity.removesuffix("@refs/heads/main")


@_fault("bundle-identity", "certificate")
def subject_as_a_pattern(made: Made) -> None:
    made.identity = ".*"


@_fault("bundle-identity", "certificate")
def subject_in_other_case(made: Made) -> None:
    made.identity = made.identity.upper()


@_fault("bundle-identity", "certificate")
def another_issuer(made: Made) -> None:
    made.issuer += "/"


@_fault("bundle-signer-kind", "certificate")
def key_asked_of_a_certificate(made: Made) -> None:
    made.key = spki(made.signer.key, Encoding.PEM)


@_fault("bundle-signer-kind", "key", public="managed-key-no-key")
def identity_asked_of_a_key(made: Made) -> None:
    made.key = None


@_fault("bundle-signature", "key")
def another_key(made: Made) -> None:
    made.key = spki(made.sigstore.managed_signer().key, Encoding.PEM)


@_fault("malformed", "key", exit_code=2, public="managed-key-wrong-key")
def key_of_no_kind(made: Made) -> None:
    made.key = b"-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"


@_fault("bundle-signature", "certificate", public="incorrect-public-key")
def certificate_of_another(made: Made) -> None:
    leaf = made.sigstore.signer().leaf
    assert leaf is not None
    _certificate(made)["rawBytes"] = b64(leaf.public_bytes(Encoding.DER))


@_fault("bundle-signature", "certificate", public="bundle-with-root-cert")
def root_as_the_signer(made: Made) -> None:
    root = made.sigstore.root.certificate
    _certificate(made)["rawBytes"] = b64(root.public_bytes(Encoding.DER))


@_fault("bundle-certificate", "certificate")
def authority_of_somebody(made: Made) -> None:
    other = PrivateSigstore(SIGNED, seed="somebody").trusted_root()
    made.root["certificateAuthorities"] = other["certificateAuthorities"]


@_fault("bundle-certificate", "certificate", public="invalid-ct-key")
def certificate_log_of_somebody(made: Made) -> None:
    other = PrivateSigstore(SIGNED, seed="somebody").trusted_root()
    made.root["ctlogs"] = other["ctlogs"]


@_fault("bundle-certificate", "certificate rekor1 message")
def certificate_without_promise(made: Made) -> None:
    _certify(made, ExtendedKeyUsageOID.CODE_SIGNING)


@_fault("bundle-certificate", "certificate rekor1 message")
def certificate_for_servers(made: Made) -> None:
    _certify(made, ExtendedKeyUsageOID.SERVER_AUTH)


@_fault("bundle-unsupported", "certificate message", exit_code=3)
def certificate_of_another_curve(made: Made) -> None:
    key = derive_private_key(1 << 200, SECP384R1())
    authority = made.sigstore.ca
    valid = (later(minutes=-1), later(minutes=9))
    usage = of_a_leaf(ExtendedKeyUsageOID.CODE_SIGNING, critical=False)
    builder = x509.CertificateBuilder(
        issuer_name=authority.certificate.subject,
        subject_name=x509.Name([]),
        public_key=key.public_key(),
        serial_number=1,
        not_valid_before=valid[0],
        not_valid_after=valid[1],
    )
    for extension, critical in usage:
        builder = builder.add_extension(extension, critical=critical)
    leaf = builder.sign(authority.key, SHA256())
    _certificate(made)["rawBytes"] = b64(leaf.public_bytes(Encoding.DER))
    made.bundle["messageSignature"]["signature"] = b64(key.sign(made.artifact, P256_SHA256))


# ── the signature, and what it is over ─────────────────────────────────────────────────────────


@_fault("bundle-subject", "message", public="wrong-material message-digest-mismatch")
def another_file(made: Made) -> None:
    made.artifact += b"."


@_fault("statement-subject", "statement")
def file_of_no_subject(made: Made) -> None:
    made.artifact += b"."


@_fault("bundle-subject", "message")
def another_digest_stated(made: Made) -> None:
    made.bundle["messageSignature"]["messageDigest"]["digest"] = b64(sha256(b"another"))


@_fault("bundle-signature", "message", public="signature-mismatch")
def signature_over_another_file(made: Made) -> None:
    signature = made.signer.key.sign(b"another", P256_SHA256)
    made.bundle["messageSignature"]["signature"] = b64(signature)


@_fault("bundle-signature", "message")
def bit_of_the_signature(made: Made) -> None:
    signature = bytearray(made.signature)
    signature[-1] ^= 1
    made.bundle["messageSignature"]["signature"] = b64(bytes(signature))


@_fault("bundle-signature", "statement", public="dsse-invalid-sig rekor2-dsse-invalid-sig")
def bit_of_an_envelopes_signature(made: Made) -> None:
    signature = bytearray(made.signature)
    signature[-1] ^= 1
    made.bundle["dsseEnvelope"]["signatures"][0]["sig"] = b64(bytes(signature))


@_fault("bundle-signature", "statement")
def payload_changed(made: Made) -> None:
    payload = b64decode(made.bundle["dsseEnvelope"]["payload"])
    made.bundle["dsseEnvelope"]["payload"] = b64(payload.replace(b'"artifact"', b'"artifice"'))


@_fault("bundle-signature", "statement")
def payload_type_changed(made: Made) -> None:
    made.bundle["dsseEnvelope"]["payloadType"] += "2"


@_fault("statement-payload-type", "statement")
def text_in_an_envelope(made: Made) -> None:
    _envelope(made, b"hello", "text/plain")


@_fault("statement-malformed", "statement")
def link_in_an_envelope(made: Made) -> None:
    _envelope(made, b'{"_type": "link", "name": "build"}', "application/vnd.in-toto+json")


@_fault("statement-malformed", "statement")
def statement_with_a_key_twice(made: Made) -> None:
    payload = statement().replace(b'"predicate": {}', b'"predicate": {"a": "1", "a": "2"}')
    _envelope(made, payload, "application/vnd.in-toto+json")


@_fault("statement-malformed", "statement")
def statement_about_nothing(made: Made) -> None:
    document = json.loads(statement())
    document["subject"] = []
    _envelope(made, json.dumps(document).encode(), "application/vnd.in-toto+json")


@_fault("statement-subject-digests", "statement")
def another_of_two_digests(made: Made) -> None:
    _envelope(made, statement(sha512="0" * 128), "application/vnd.in-toto+json")


# ── the log ────────────────────────────────────────────────────────────────────────────────────


@_fault("bundle-log-unknown", exit_code=3, public="bundle-from-wrong-instance")
def log_of_another_sigstore(made: Made) -> None:
    made.root["tlogs"] = PrivateSigstore(SIGNED, seed="somebody").trusted_root()["tlogs"]


@_fault("bundle-log-missing", "certificate", exit_code=3)
def no_entry(made: Made) -> None:
    made.bundle["verificationMaterial"]["tlogEntries"] = []


@_fault("bundle-unsupported", "certificate", exit_code=3)
def two_entries(made: Made) -> None:
    made.bundle["verificationMaterial"]["tlogEntries"] *= 2


@_fault("bundle-log-missing", exit_code=3, public="rekor2-no-inclusion-proof")
def no_proof(made: Made) -> None:
    del made.entry["inclusionProof"]


@_fault("bundle-log-missing", exit_code=3, public="invalid-inclusion-proof")
def no_checkpoint(made: Made) -> None:
    del made.proof["checkpoint"]


@_fault("bundle-log-proof", public="inclusion-proof-corrupted-hash")
def hash_of_the_path(made: Made) -> None:
    made.proof["hashes"][0] = b64(sha256(b"another"))


@_fault("bundle-log-proof")
def hash_too_many(made: Made) -> None:
    made.proof["hashes"].append(b64(sha256(b"another")))


@_fault("bundle-log-proof")
def hash_too_few(made: Made) -> None:
    made.proof["hashes"].pop()


@_fault("bundle-log-proof")
def another_place(made: Made) -> None:
    made.proof["logIndex"] = "4"


@_fault("bundle-log-proof")
def place_beyond_the_log(made: Made) -> None:
    made.proof["logIndex"] = "6"


@_fault("bundle-log-proof", public="checkpoint-wrong-roothash")
def checkpoint_of_another_root(made: Made) -> None:
    log = made.sigstore.logs[1 if "promise" in json.dumps(made.entry).lower() else 2]
    made.proof["checkpoint"]["envelope"] = log.checkpoint(sha256(b"another"), len(log.leaves))


@_fault("bundle-log-proof")
def checkpoint_of_another_size(made: Made) -> None:
    log = made.sigstore.logs[1 if "promise" in json.dumps(made.entry).lower() else 2]
    made.proof["checkpoint"]["envelope"] = log.checkpoint(b64decode(made.proof["rootHash"]), 99)


@_fault("bundle-log-proof", public="checkpoint-bad-keyhint")
def hint_of_another_key(made: Made) -> None:
    _sign_line(made, lambda raw: bytes(4) + raw[4:])


@_fault("bundle-log-proof", public="invalid-checkpoint-signature")
def checkpoint_signature_changed(made: Made) -> None:
    _sign_line(made, lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]))


@_fault("bundle-log-proof", public="rekor2-checkpoint-missing-log-signature")
def checkpoint_without_signatures(made: Made) -> None:
    _checkpoint(made, lambda note, _: f"{note}\n\n")


@_fault("bundle-log-proof", public="rekor2-checkpoint-no-matching-signature")
def checkpoint_of_a_witness_alone(made: Made) -> None:
    witness = "\u2014 witness.test " + b64(b"1234" + bytes(64))
    _checkpoint(made, lambda note, _: f"{note}\n\n{witness}\n")


@_fault("bundle-log-proof", public="rekor2-checkpoint-missing-origin")
def checkpoint_without_origin(made: Made) -> None:
    _checkpoint(made, lambda note, rest: f"{note.partition(chr(10))[2]}\n\n{rest}")


@_fault("bundle-log-proof", public="rekor2-checkpoint-missing-size")
def checkpoint_without_size(made: Made) -> None:
    _checkpoint(made, lambda note, rest: f"{note.replace(chr(10) + '6', '')}\n\n{rest}")


@_fault("bundle-log-proof", public="rekor2-checkpoint-missing-root-hash")
def checkpoint_without_root(made: Made) -> None:
    _checkpoint(made, lambda note, rest: f"{note.rpartition(chr(10))[0]}\n\n{rest}")


@_fault("bundle-log-proof")
def checkpoint_size_with_a_sign(made: Made) -> None:
    _checkpoint(made, lambda note, rest: f"{note.replace(chr(10) + '6', chr(10) + '+6')}\n\n{rest}")


@_fault("bundle-log-proof")
def checkpoint_signed_in_another_name(made: Made) -> None:
    _checkpoint(made, lambda note, rest: f"{note}\n\n{rest.replace('private', 'pirate')}")


@_fault("bundle-log-unknown", exit_code=3)
def id_of_no_log(made: Made) -> None:
    made.entry["logId"]["keyId"] = b64(sha256(b"another"))


@_fault("bundle-log-promise", "rekor1 key")
def promise_without_its_time(made: Made) -> None:
    del made.entry["integratedTime"]


@_fault("bundle-log-promise", "rekor1", public="set-invalid-signature")
def promise_changed(made: Made) -> None:
    promise = bytearray(b64decode(made.entry["inclusionPromise"]["signedEntryTimestamp"]))
    promise[-1] ^= 1
    made.entry["inclusionPromise"]["signedEntryTimestamp"] = b64(bytes(promise))


@_fault("bundle-log-promise", "rekor1")
def another_time_promised(made: Made) -> None:
    made.entry["integratedTime"] = str(int(made.entry["integratedTime"]) + 1)


@_fault("bundle-log-promise", "rekor1")
def another_place_promised(made: Made) -> None:
    made.entry["logIndex"] = "4"


@_fault("bundle-log-entry", "message", public="wrong-hashedrekord-artifact")
def entry_of_another_digest(made: Made) -> None:
    body = body_of(made)
    if body["apiVersion"] == "0.0.2":
        body["spec"]["hashedRekordV002"]["data"]["digest"] = b64(sha256(b"another"))
    else:
        body["spec"]["data"]["hash"]["value"] = sha256(b"another").hex()
    log_again(made, body)


@_fault(
    "bundle-log-entry",
    "statement",
    public="dsse-mismatch-envelope rekor2-dsse-mismatch-envelope",
)
def entry_of_another_payload(made: Made) -> None:
    body = body_of(made)
    if body["apiVersion"] == "0.0.2":
        body["spec"]["hashedRekordV002"]["data"]["digest"] = b64(sha256(b"another"))
    else:
        body["spec"]["payloadHash"]["value"] = sha256(b"another").hex()
    log_again(made, body)


@_fault("bundle-log-entry", public="dsse-mismatch-sig rekor2-dsse-mismatch-sig")
def entry_of_another_signature(made: Made) -> None:
    text = json.dumps(body_of(made)).replace(b64(made.signature), b64(made.signature + b"\0"))
    log_again(made, json.loads(text))


@_fault("bundle-log-entry", public="wrong-hashedrekord-cert-and-sig wrong-hashedrekord-entry")
def entry_of_another_signer(made: Made) -> None:
    other = make(_shape(made), seed="somebody")
    log_again(made, body_of(other))


@_fault("bundle-log-entry")
def entry_of_another_version(made: Made) -> None:
    body = body_of(made)
    log_again(made, body)
    made.entry["kindVersion"]["kind"] = "dsse" if body["kind"] != "dsse" else "hashedrekord"
    made.entry["kindVersion"]["version"] = "0.0.1"


@_fault("bundle-log-entry")
def entry_that_says_more(made: Made) -> None:
    log_again(made, body_of(made) | {"more": "of it"})


@_fault(
    "bundle-unsupported",
    "statement rekor1",
    exit_code=3,
    public="intoto-log-entry-mismatch intoto-missing-inclusion-proof",
)
def entry_of_the_old_kind(made: Made) -> None:
    log_again(made, {"apiVersion": "0.0.2", "kind": "intoto", "spec": {}})


# ── the time ───────────────────────────────────────────────────────────────────────────────────


@_fault("bundle-time-missing", "certificate rekor2", exit_code=3, public="rekor2-no-timestamp")
def no_timestamp(made: Made) -> None:
    made.bundle["verificationMaterial"]["timestampVerificationData"] = {}


@_fault("bundle-time-missing", "certificate rekor1", exit_code=3)
def no_promise(made: Made) -> None:
    del made.entry["inclusionPromise"]


@_fault("bundle-timestamp", "rekor2")
def timestamp_of_noise(made: Made) -> None:
    _stamps(made)[0]["signedTimestamp"] = b64(b"no timestamp")


@_fault("bundle-timestamp", "rekor2")
def timestamp_with_a_certificate_of_no_version(made: Made) -> None:
    stamp = _stamps(made)[0]
    stamp["signedTimestamp"] = b64(_versioned(b64decode(stamp["signedTimestamp"])))


@_fault("bundle-timestamp", "rekor2", public="rekor2-timestamp-payload-mismatch")
def timestamp_over_another_signature(made: Made) -> None:
    _stamp(made, made.sigstore.tsa, SIGNED, b"another")


@_fault("bundle-unsupported", "statement key", exit_code=3)
def signed_by_somebody_else_first(made: Made) -> None:
    signatures = made.bundle["dsseEnvelope"]["signatures"]
    signatures.insert(0, {"sig": b64(b"of another signer")})


@_fault("bundle-timestamp", "statement key")
def signed_anew_beside_a_timestamped_signature(made: Made) -> None:
    """Sign something else today, and keep what was timestamped in front of it."""
    _stamp(made, made.sigstore.tsa, SIGNED)
    made.bundle["verificationMaterial"].pop("tlogEntries")
    envelope, old = made.bundle["dsseEnvelope"], made.signature
    made.artifact = b"made later\n"
    payload = statement(made.artifact)
    new = made.signer.key.sign(pae(envelope["payloadType"], payload), P256_SHA256)
    envelope["payload"] = b64(payload)
    envelope["signatures"] = [{"sig": b64(old)}, {"sig": b64(new)}]


@_fault(
    "bundle-timestamp",
    "rekor2",
    public="rekor2-timestamp-untrusted-tsa-with-embedded-cert "
    "rekor2-timestamp-untrusted-tsa-without-embedded-cert",
)
def timestamp_of_somebody(made: Made) -> None:
    _stamp(made, PrivateSigstore(SIGNED, seed="somebody").tsa, SIGNED)


@_fault("bundle-timestamp")
def timestamp_of_somebody_beside_a_good_one(made: Made) -> None:
    somebody = PrivateSigstore(SIGNED, seed="somebody").tsa
    _stamp(made, made.sigstore.tsa, SIGNED)
    token = timestamp(somebody, made.signature, later(days=-10))
    _stamps(made).append({"signedTimestamp": b64(token)})


@_fault("bundle-timestamp", "rekor2", public="rekor2-timestamp-outside-tsa-cert-validity")
def timestamp_before_its_certificate(made: Made) -> None:
    _stamp(made, made.sigstore.tsa, later(days=-800))


@_fault("bundle-timestamp", "rekor2", public="rekor2-timestamp-outside-trust-root-tsa-validity")
def timestamp_authority_retired(made: Made) -> None:
    _until(made, "timestampAuthorities", later(seconds=-1))


@_fault("bundle-timestamp", "rekor2")
def timestamp_authority_of_tomorrow(made: Made) -> None:
    _from(made, "timestampAuthorities", later(seconds=1))


@_fault(
    "bundle-time-outside",
    "certificate rekor2",
    public="rekor2-timestamp-with-incorrect-time intoto-tsa-timestamp-outside-cert-validity",
)
def timestamp_after_the_certificate(made: Made) -> None:
    _stamp(made, made.sigstore.tsa, later(minutes=11))


@_fault("bundle-time-outside", "certificate rekor2")
def timestamp_before_the_certificate(made: Made) -> None:
    _stamp(made, made.sigstore.tsa, later(minutes=-2))


@_fault(
    "bundle-time-outside",
    "certificate rekor1",
    public="integrated-time-in-future "
    "intoto-expired-certificate intoto-set-outside-signing-cert-validity",
)
def logged_after_the_certificate(made: Made) -> None:
    log_again(made, body_of(made), later(minutes=11))


@_fault("bundle-time-ahead", "key rekor1", exit_code=3)
def logged_tomorrow(made: Made) -> None:
    log_again(made, body_of(made), later(days=2))


@_fault("bundle-time-ahead", "key rekor2", exit_code=3)
def stamped_tomorrow(made: Made) -> None:
    _stamp(made, made.sigstore.tsa, later(days=2))


@_fault("bundle-key-window")
def log_retired(made: Made) -> None:
    _until(made, "tlogs", later(seconds=-1))


@_fault("bundle-key-window")
def log_of_tomorrow(made: Made) -> None:
    _from(made, "tlogs", later(seconds=1))


@_fault("bundle-key-window", "certificate")
def certificate_authority_retired(made: Made) -> None:
    _until(made, "certificateAuthorities", later(seconds=-1))


@_fault("bundle-key-window", "certificate")
def certificate_authority_of_tomorrow(made: Made) -> None:
    _from(made, "certificateAuthorities", later(seconds=1))


@_fault("bundle-key-window", "certificate")
def certificate_log_retired(made: Made) -> None:
    _until(made, "ctlogs", later(seconds=-1))


@_fault("bundle-key-window", "certificate")
def certificate_log_of_tomorrow(made: Made) -> None:
    _from(made, "ctlogs", later(seconds=1))


@_fault("bundle-time-missing", "key rekor2", exit_code=3)
def log_retired_and_no_time(made: Made) -> None:
    no_timestamp(made)
    _until(made, "tlogs", later(hours=1))


@_fault("malformed", exit_code=2, public="trust-root-tlog-missing-validity-start")
def root_without_a_start(made: Made) -> None:
    for log in made.root["tlogs"]:
        del log["publicKey"]["validFor"]["start"]


@_fault("malformed", exit_code=2)
def root_with_a_period_turned_round(made: Made) -> None:
    _until(made, "tlogs", later(days=-4000))


@_fault("malformed", exit_code=2)
def root_with_an_unknown_key(made: Made) -> None:
    made.root["more"] = []


# ── how changes are made ───────────────────────────────────────────────────────────────────────


def _shape(made: Made) -> str:
    content = "message" if "messageSignature" in made.bundle else "statement"
    log = "rekor1" if "inclusionPromise" in made.entry else "rekor2"
    return f"{content}-{log}-{'certificate' if made.signer.leaf else 'key'}"


def _certificate(made: Made) -> Json:
    found: Json = made.bundle["verificationMaterial"]["certificate"]
    return found


def _versioned(der: bytes) -> bytes:
    """Say version 7 in the certificate that is, or is within, these bytes."""
    third, seventh = bytes.fromhex("a003020102"), bytes.fromhex("a003020106")
    assert der.count(third) == 1
    return der.replace(third, seventh)


def _stamps(made: Made) -> list[Json]:
    data = made.bundle["verificationMaterial"]["timestampVerificationData"]
    found: list[Json] = data["rfc3161Timestamps"]
    return found


def _stamp(made: Made, authority: Authority, when: datetime, over: bytes | None = None) -> None:
    token = timestamp(authority, made.signature if over is None else over, when)
    made.bundle["verificationMaterial"]["timestampVerificationData"] = {
        "rfc3161Timestamps": [{"signedTimestamp": b64(token)}]
    }


def _checkpoint(made: Made, change: Callable[[str, str], str]) -> None:
    note, _, rest = made.proof["checkpoint"]["envelope"].partition("\n\n")
    made.proof["checkpoint"]["envelope"] = change(note, rest)


def _sign_line(made: Made, change: Callable[[bytes], bytes]) -> None:
    def changed(note: str, rest: str) -> str:
        head, _, signature = rest.strip().rpartition(" ")
        return f"{note}\n\n{head} {b64(change(b64decode(signature)))}\n"

    _checkpoint(made, changed)


def _envelope(made: Made, payload: bytes, kind: str) -> None:
    """Sign other content with everything that belongs to it."""
    rekor = 1 if "inclusionPromise" in made.entry else 2
    made.bundle = made.sigstore.statement(
        payload, made.signer, rekor=1 if rekor == 1 else 2, payload_type=kind
    )


def _certify(made: Made, purpose: x509.ObjectIdentifier) -> None:
    """Certify the signer's key anew, without a promise, and log it with that certificate."""
    old = made.signer.leaf
    assert old is not None
    kept = [
        (each.value, each.critical)
        for each in old.extensions
        if each.oid.dotted_string
        not in ("1.3.6.1.4.1.11129.2.4.2", "2.5.29.14", "2.5.29.35", "2.5.29.37")
    ]
    usage = x509.ExtendedKeyUsage([purpose])
    leaf = made.sigstore.ca.issue(
        x509.Name([]),
        made.signer.key,
        valid=(old.not_valid_before_utc, old.not_valid_after_utc),
        extensions=[*kept, (usage, False)],
        serial=7,
    )
    _certificate(made)["rawBytes"] = b64(leaf.public_bytes(Encoding.DER))
    body = body_of(made)
    pem = b64(leaf.public_bytes(Encoding.PEM))
    body["spec"]["signature"]["publicKey"]["content"] = pem
    log_again(made, body)


def _until(made: Made, name: str, end: datetime) -> None:
    for valid in _periods(made.root, name):
        valid["end"] = printed(end)


def _from(made: Made, name: str, start: datetime) -> None:
    for valid in _periods(made.root, name):
        valid["start"] = printed(start)


def _periods(root: Json, name: str) -> Iterator[Json]:
    """Yield every period of a list; each is made its own, because they share one table."""
    for item in root[name]:
        holder = item.get("publicKey", item)
        holder["validFor"] = dict(holder["validFor"])
        yield holder["validFor"]


# ── changes that are none to what holds ────────────────────────────────────────────────────────


def _cosigned(made: Made) -> None:
    witness = "\u2014 witness.test " + b64(b"1234" + bytes(64))
    _checkpoint(made, lambda note, rest: f"{note}\n\n{rest}{witness}\n")


def _cosigned_before(made: Made) -> None:
    witness = "\u2014 witness.test " + b64(b"1234" + bytes(64))
    _checkpoint(made, lambda note, rest: f"{note}\n\n{witness}\n{rest}")


def _nulls(made: Made) -> None:
    for log in made.root["tlogs"]:
        log["operator"], log["checkpointKeyId"] = None, None


def _last_moment_of_the_log(made: Made) -> None:
    _until(made, "tlogs", SIGNED)


def _last_moment_of_authorities(made: Made) -> None:
    for name in ("timestampAuthorities", "certificateAuthorities", "ctlogs"):
        _until(made, name, SIGNED)


def _first_moment(made: Made) -> None:
    for name in ("timestampAuthorities", "certificateAuthorities", "ctlogs", "tlogs"):
        _from(made, name, SIGNED)


def _compact(made: Made) -> None:
    made.raw = canonical(made.bundle)


def _old_version(made: Made) -> None:
    as_version(made, "0.2")


def _oldest_version(made: Made) -> None:
    as_version(made, "0.1")


#: Name → change after which a bundle still holds, and the shapes that it fits.
HARMLESS: Final[dict[str, tuple[Change, str]]] = {
    "as made": (lambda _made: None, ""),
    "version 0.2": (_old_version, "certificate"),
    "version 0.1": (_oldest_version, "certificate rekor1"),
    "signed by a witness too": (_cosigned, ""),
    "signed by a witness first": (_cosigned_before, ""),
    "nulls in the root": (_nulls, ""),
    "compact": (_compact, ""),
    "last moment of the log": (_last_moment_of_the_log, ""),
    "last moment of authorities": (_last_moment_of_authorities, ""),
    "first moment of all keys": (_first_moment, ""),
}


def put(folder: Path, recipe: Mapping[str, str]) -> None:
    """Build the bundle of a case: its `shape`, and what was changed by the name of the `fault`.

    `identity` and `issuer` are those of its certificate; `envelope = "only"` leaves the plain
    envelope of it.
    """
    made = make(
        recipe["shape"],
        identity=recipe.get("identity", SAN),
        issuer=recipe.get("issuer", ISSUER),
    )
    if "fault" in recipe:
        before = made.content()
        next(fault for fault in FAULTS if fault.name == recipe["fault"]).change(made)
        assert made.content() != before, "nothing changed"
    if recipe.get("envelope") == "only":
        made.raw = json.dumps(made.bundle["dsseEnvelope"]).encode()
    made.write(folder)
