"""Envelopes: what is printed reads back, and no byte of one can be another."""

import json

from hypothesis import given
from hypothesis import strategies as st
from support import statements
from support.registry import NOW

from verifier.checks.statement import Asked, Given, check
from verifier.core.demand import FACETS
from verifier.core.outcome import Subject
from verifier.core.verdict import Verdict
from verifier.evidence.dsse import IN_TOTO, Envelope, print_envelope
from verifier.policy import judge

ENVELOPE = statements.envelope(by=("alice", "p256-carol"))
ASKED = Asked(
    keys=(statements.public("alice"), statements.public("p256-carol")),
    threshold=2,
    given=(Given(name="built.txt", digests=statements.digests_of(statements.ARTIFACT)),),
)


def verdict(data: bytes) -> Verdict:
    outcome = check(data, ASKED, now=NOW)
    demanded = frozenset(FACETS["bundle"])
    return judge(outcome, subject=Subject(name="e"), demanded=demanded, now=NOW).verdict


def test_the_envelope_itself_is_verified() -> None:
    assert verdict(ENVELOPE) is Verdict.VERIFIED


@given(st.integers(0, len(ENVELOPE) - 1), st.integers(1, 255))
def test_no_byte_can_be_another(at: int, change: int) -> None:
    """Space between values, and hints, are outside what is signed; all else refuses."""
    changed = bytearray(ENVELOPE)
    changed[at] ^= change
    if _same(bytes(changed)):
        return
    assert verdict(bytes(changed)) is not Verdict.VERIFIED


def test_every_bit_of_the_signed_part_counts() -> None:
    """Every single bit, one after the other: of payload, type and signatures."""
    refused = 0
    for at in range(len(ENVELOPE)):
        changed = bytearray(ENVELOPE)
        changed[at] ^= 1
        if not _same(bytes(changed)):
            assert verdict(bytes(changed)) is not Verdict.VERIFIED, at
            refused += 1
    assert refused > 0.8 * len(ENVELOPE)


def _same(data: bytes) -> bool:
    """Whether a document says the same, but for its hints, and as the strict reader reads it."""
    try:
        one, other = json.loads(data), json.loads(ENVELOPE)
    except ValueError:
        return False
    for document in (one, other):
        for signature in document.get("signatures", []):
            if isinstance(signature, dict) and isinstance(signature.get("keyid"), str):
                del signature["keyid"]
    return bool(one == other)


@given(st.integers(0, len(ENVELOPE)))
def test_a_cut_envelope_is_refused(length: int) -> None:
    if length < len(ENVELOPE.rstrip()):
        assert verdict(ENVELOPE[:length]) is Verdict.REJECTED


@given(
    st.binary(max_size=300),
    st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()),
    st.lists(st.binary(min_size=1, max_size=80), min_size=1, max_size=8),
)
def test_what_is_printed_reads_back(payload: bytes, kind: str, signatures: list[bytes]) -> None:
    made = print_envelope(kind, payload, [("hint", each) for each in signatures])
    if not payload:
        made = made.replace(b'"payload": ""', b'"payload": "e30="')
        payload = b"{}"
    read = Envelope.parse(made, what="e")
    assert (read.payload, read.payload_type) == (payload, kind)
    assert read.signatures == tuple(signatures)


@given(st.permutations(["alice", "bob", "p256-carol", "p384-dave"]), st.integers(0, 4))
def test_the_order_of_signatures_decides_nothing(names: list[str], count: int) -> None:
    envelope = Envelope.parse(statements.envelope(by=names[:count] or names[:1]), what="e")
    assert envelope.payload_type == IN_TOTO
    signed = envelope.signers([statements.public(name) for name in names])
    assert signed == {statements.public(name) for name in (names[:count] or names[:1])}
