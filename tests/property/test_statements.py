"""Whatever comes in: statements, rows of signers and envelopes are read, or refused in words."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support import statements
from support.registry import NOW

from verifier.catalog.entries import signers_format
from verifier.checks.statement import Asked, Given, check
from verifier.core.codes import CODES
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError
from verifier.evidence.dsse import IN_TOTO
from verifier.evidence.predicates import KNOWN
from verifier.evidence.statement import Statement

STATEMENT = statements.statement()
ENTRY = write_toml(statements.signers())
ALICE = statements.public("alice")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("0" * 64),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
DIGESTS = st.dictionaries(
    st.sampled_from(["sha256", "sha512", "md5", "gitCommit", "x"]),
    st.sampled_from(["0" * 64, "0" * 128, "f" * 40, "", "A" * 64]) | VALUES,
    max_size=3,
)
SUBJECTS = st.lists(
    st.fixed_dictionaries({"digest": DIGESTS}, optional={"name": VALUES}) | VALUES, max_size=3
)


def refused(read: Callable[[], Any]) -> MalformedError | None:
    """Read, and return why it is refused; nothing else may be raised."""
    try:
        read()
    except MalformedError as error:
        return error
    return None


@given(st.integers(0, len(STATEMENT) - 1), st.binary(max_size=3))
def test_a_changed_statement_is_read_or_refused_in_words(at: int, new: bytes) -> None:
    data = STATEMENT[:at] + new + STATEMENT[at + 1 :]
    error = refused(lambda: Statement.parse(data, what="s"))
    assert error is None or error.mistakes


@given(
    st.sampled_from(KNOWN),
    SUBJECTS,
    VALUES,
    st.dictionaries(st.sampled_from(["verifier", "policy", "result", "properties"]), VALUES),
)
def test_any_document_is_judged(kind: str, subjects: Any, predicate: Any, more: Any) -> None:
    """The findings have codes and words; nothing raises but what says that it is malformed."""
    changes = {
        "subject": subjects,
        "predicateType": kind,
        "predicate": {**predicate, **more} if isinstance(predicate, dict) else predicate,
    }
    payload = statements.statement(changes)
    asked = Asked(keys=(ALICE,), given=(Given(name="f", digests=statements.digests_of(b"f")),))
    outcome = check(statements.envelope(payload), asked, now=NOW)
    assert all(finding.code in CODES and finding.remedy for finding in outcome.findings)
    assert not outcome.findings or "statement-signature" not in {f.code for f in outcome.findings}


@given(VALUES, st.lists(VALUES, max_size=3))
def test_any_json_is_no_envelope_or_one(payload: Any, signatures: Any) -> None:
    document = {"payload": payload, "payloadType": IN_TOTO, "signatures": signatures}
    outcome = check(json.dumps(document).encode(), Asked(keys=(ALICE,)), now=NOW)
    assert {f.code for f in outcome.findings} <= {"statement-envelope", "statement-signature"}
    assert outcome.findings


@given(st.integers(0, len(ENTRY) - 1), st.binary(max_size=3))
def test_a_changed_entry_is_read_or_refused_in_words(at: int, new: bytes) -> None:
    data = ENTRY[:at] + new + ENTRY[at + 1 :]
    error = refused(lambda: signers_format.parse(data, "us.toml"))
    assert error is None or error.mistakes


@given(VALUES)
def test_signing_and_reading_give_the_predicate_back(value: Any) -> None:
    payload = statements.statement(
        {"predicateType": "https://else.example/v1", "predicate": {"value": value}}
    )
    error = refused(lambda: Statement.parse(payload, what="s"))
    if error is None:
        read = Statement.parse(payload, what="s")
        assert read.predicate == json.loads(payload)["predicate"]
    else:
        assert "18 digits" in error.message or "surrogate" in error.message
