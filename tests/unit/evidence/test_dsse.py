"""Envelopes: bytes as signed, strict base64, distinct keys (secure-systems-lab/dsse 1.0)."""

import json
from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from verifier.core.table import MalformedError
from verifier.evidence.dsse import Envelope, pae, print_envelope
from verifier.evidence.keys import PublicKey, strict_base64

ED = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
EC = generate_private_key(SECP256R1())


def public(key: object) -> PublicKey:
    raw = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]
    return PublicKey.pem(raw)


def signed(payload: bytes = b"{}", kind: str = "text/plain") -> bytes:
    data = pae(kind, payload)
    return print_envelope(
        kind, payload, [("one", ED.sign(data)), ("one", EC.sign(data, ECDSA(SHA256())))]
    )


def test_the_encoding_is_that_of_the_protocol() -> None:
    # protocol.md, the test vector
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_keys_that_signed_are_found_whatever_the_hints_say() -> None:
    envelope = Envelope.parse(signed(), what="e")
    other = public(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    assert envelope.signers([public(ED), public(EC), other]) == {public(ED), public(EC)}


def test_one_key_signs_once_however_often_it_is_listed() -> None:
    envelope = Envelope.parse(signed(), what="e")
    assert len(envelope.signers([public(ED), PublicKey.der(public(ED).spki)])) == 1


@pytest.mark.parametrize("place", range(3))
def test_a_changed_payload_type_or_signature_has_no_signers(place: int) -> None:
    document = json.loads(signed())
    if place == 0:
        document["payload"] = b64encode(b"{ }").decode()
    elif place == 1:
        document["payloadType"] = "text/plain2"
    else:
        for each in document["signatures"]:
            raw = bytearray(strict_base64(each["sig"]))
            raw[-1] ^= 1
            each["sig"] = b64encode(raw).decode()
    changed = json.dumps(document).encode()
    assert changed != signed()
    assert not Envelope.parse(changed, what="e").signers([public(ED), public(EC)])


@pytest.mark.parametrize(
    "text", ["e30", "e31=", "e30=\n", " e30=", "e3 0=", "e-0=", "e30==", "é30="]
)
def test_base64_has_one_spelling(text: str) -> None:
    with pytest.raises(ValueError, match="base64"):
        strict_base64(text)


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        ({"extra": 1}, "extra: unknown key"),
        ({"signatures": []}, "signatures: expected 1 to 64"),
        ({"signatures": [{"keyid": "x"}]}, "signatures[0].sig: missing"),
        ({"signatures": [{"sig": "e30"}]}, "signatures[0].sig: is not standard base64"),
        ({"payload": "e30"}, "payload: is not standard base64"),
        ({"payloadType": ""}, "payloadType: is empty"),
    ],
)
def test_an_envelope_is_read_strictly(change: dict[str, object], mistake: str) -> None:
    data = json.dumps(json.loads(signed()) | change).encode()
    with pytest.raises(MalformedError) as caught:
        Envelope.parse(data, what="e")
    assert any(each.startswith(mistake) for each in caught.value.mistakes)


def test_a_key_given_twice_is_refused() -> None:
    data = signed().replace(b'"payload":', b'"payload": "e30=", "payload":', 1)
    with pytest.raises(MalformedError, match="given twice"):
        Envelope.parse(data, what="e")
