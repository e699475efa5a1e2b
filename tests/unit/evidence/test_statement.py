"""Statements: what is read of them, exactly, and what refuses them (spec/v1 of in-toto)."""

import json
from typing import Any

import pytest
from support import statements

from verifier.core.finding import Finding
from verifier.core.table import MalformedError
from verifier.evidence.dsse import IN_TOTO
from verifier.evidence.predicates import GATES, provenance, svr, test_result, vsa
from verifier.evidence.statement import Fraction, Statement

SUBJECT = statements.STATEMENT["subject"][0]
POLICY = {"uri": "urn:policy:strict", "digest": {"sha256": "0" * 64}}
VSA: dict[str, Any] = {
    "verifier": {"id": "https://verifier.example/v1"},
    "timeVerified": "1985-04-12T23:20:50.52Z",
    "resourceUri": "pkg:generic/built",
    "policy": POLICY,
    "verificationResult": "PASSED",
    "verifiedLevels": ["SLSA_BUILD_LEVEL_3"],
}
TEST: dict[str, Any] = {
    "result": "FAILED",
    "configuration": [{"name": "ci.yml", "digest": {"gitBlob": "0" * 40}}],
    "passedTests": ["one", "one"],
    "failedTests": ["two"],
}
BUILD: dict[str, Any] = {
    "buildDefinition": {
        "buildType": "https://build.example/v1",
        "externalParameters": {"ref": "main", "ratio": 0.1},
        "resolvedDependencies": [
            {"uri": "git+https://forge.example/us/it", "digest": {"gitCommit": "1" * 40}}
        ],
    },
    "runDetails": {"builder": {"id": "https://builder.example"}, "metadata": {"invocationId": "1"}},
}


def parse(**changes: Any) -> Statement:
    return Statement.parse(statements.statement(changes), what="s")


def mistakes(**changes: Any) -> str:
    with pytest.raises(MalformedError) as refused:
        parse(**changes)
    return "; ".join(refused.value.mistakes)


def predicate(kind: str, document: Any) -> Any:
    return parse(predicateType=kind, predicate=document).predicate


def test_the_signed_bytes_are_kept() -> None:
    data = statements.statement()
    statement = Statement.parse(data, what="s")
    assert statement.payload is data
    assert statement.subjects[0].name == "built.txt"
    assert statement.subjects[0].digests == statements.digests_of(statements.ARTIFACT)
    assert statement.predicate.properties == ("EXAMPLE_BUILT",)


def test_each_known_predicate_is_read() -> None:
    assert predicate(svr.TYPE, statements.STATEMENT["predicate"]).verifier.endswith("/v1")
    assert predicate(vsa.TYPE, VSA).levels == ("SLSA_BUILD_LEVEL_3",)
    assert predicate(test_result.TYPE, TEST).passed == ("one", "one")
    built = predicate(provenance.TYPE, BUILD)
    assert built.builder == "https://builder.example"
    assert built.dependencies[0].digests == {"gitCommit": "1" * 40}


@pytest.mark.parametrize(
    ("kind", "document"),
    [(vsa.TYPE, VSA), (test_result.TYPE, TEST), (provenance.TYPE, BUILD)],
)
def test_unknown_fields_of_foreign_predicates_are_ignored(kind: str, document: Any) -> None:
    more = {**document, "https://else.example/field": [1, {"x": None}], "score": 7.5}
    assert predicate(kind, more) == predicate(kind, document)


def test_a_type_that_is_not_known_is_carried_exactly() -> None:
    found = predicate("https://else.example/v1", {"n": 9007199254740993, "f": 0.1000})
    assert found["n"] == 9007199254740993
    assert isinstance(found["f"], Fraction)
    assert found["f"].written == "0.1"


def test_a_predicate_may_be_absent_where_its_type_says_all() -> None:
    assert parse(drop=["predicate"], predicateType="https://else.example/v1").predicate == {}
    assert "predicate" in mistakes(drop=["predicate"])
    assert "predicate" in mistakes(drop=["predicate"], predicateType=GATES)


def test_our_own_are_read_as_strictly_as_all_our_files() -> None:
    assert predicate(GATES, {"a": 1}) == {"a": 1}
    assert "no integer" in mistakes(predicateType=GATES, predicate={"a": 1.5})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "_type"),
        ({"_type": "link"}, "_type"),
        ({"drop": ["_type"]}, "_type: missing"),
        ({"drop": ["predicateType"]}, "predicateType: missing"),
        ({"predicateType": "svr"}, "predicateType"),
        ({"predicateType": ["x"]}, "predicateType"),
        ({"drop": ["subject"]}, "subject: missing"),
        ({"subject": []}, "subject: missing"),
        ({"subject": {}}, "subject: is not"),
        ({"subject": [{"name": "x"}]}, "subject[0].digest: missing"),
        ({"subject": [{"digest": {}}]}, "subject[0].digest"),
        ({"subject": [{"digest": {"sha256": "0" * 63}}]}, "subject[0].digest.sha256"),
        ({"subject": [{"digest": {"sha256": "A" * 64}}]}, "subject[0].digest.sha256"),
        ({"subject": [{"digest": {"sha256": "0" * 64 + "\n"}}]}, "subject[0].digest.sha256"),
        ({"subject": [{"digest": {"sha512": "0" * 64}}]}, "subject[0].digest.sha512"),
        ({"subject": [{"digest": {"gitCommit": "0" * 12}}]}, "subject[0].digest.gitCommit"),
        ({"subject": [{"digest": {"sha256": 1}}]}, "subject[0].digest.sha256"),
        ({"subject": [{"digest": {"else": ""}}]}, "subject[0].digest.else"),
        ({"subject": [{"name": 1, "digest": {"else": "x"}}]}, "subject[0].name"),
        ({"predicate": []}, "predicate"),
        ({"signature": "x"}, "signature: unknown key"),
        ({"predicate": {**statements.STATEMENT["predicate"], "properties": "ALL"}}, "properties"),
        (
            {"predicate": {"verifier": {"id": "urn:x:y"}, "timeCreated": "now", "properties": []}},
            "timeCreated",
        ),
        ({"predicate": {"verifier": {"id": "urn:x:y"}}}, "predicate.verifier.policies: missing"),
        (
            {"predicateType": vsa.TYPE, "predicate": {**VSA, "verificationResult": "passed"}},
            "verificationResult",
        ),
        (
            {"predicateType": vsa.TYPE, "predicate": {**VSA, "verifiedLevels": "SLSA"}},
            "verifiedLevels",
        ),
        (
            {"predicateType": vsa.TYPE, "predicate": {**VSA, "verifiedLevels": ["FAILED"]}},
            "verifiedLevels",
        ),
        (
            {
                "predicateType": vsa.TYPE,
                "predicate": {**VSA, "policy": {"digest": {"sha256": "0" * 64}}},
            },
            "policy.uri",
        ),
        ({"predicateType": vsa.TYPE, "predicate": {**VSA, "policy": {"name": "x"}}}, "none of uri"),
        ({"predicateType": test_result.TYPE, "predicate": {**TEST, "result": "MAYBE"}}, "result"),
        (
            {"predicateType": test_result.TYPE, "predicate": {"result": "PASSED"}},
            "configuration: missing",
        ),
        (
            {"predicateType": provenance.TYPE, "predicate": {"runDetails": {}}},
            "buildDefinition: missing",
        ),
    ],
)
def test_what_breaks_the_format_is_named_by_its_path(changes: dict[str, Any], said: str) -> None:
    assert said in mistakes(**changes)


def test_all_mistakes_are_named_at_once() -> None:
    found = mistakes(_type="x", predicateType="y", subject=[], more=1)
    assert found.count(";") >= 3


@pytest.mark.parametrize(
    "change",
    [
        (b'"_type"', b'"_type": "x", "_type"'),
        (b'"sha256"', b'"sha256": "00", "sha256"'),
        (b'"properties"', b'"properties": NaN, "more"'),
        (b'"properties"', b'"a": 1e999999999, "a"'),
        (b"}\n", b"} {}\n"),
        (b"{", b"\xef\xbb\xbf{"),
        (b"built.txt", b"\xff"),
        (b"built.txt", b"\\ud800"),
    ],
)
def test_json_that_readers_differ_on_is_refused(change: tuple[bytes, bytes]) -> None:
    data = statements.statement()
    changed = data.replace(change[0], change[1], 1) if change[0] != b"}\n" else data + b"{}"
    assert changed != data
    with pytest.raises(MalformedError):
        Statement.parse(changed, what="s")


@pytest.mark.parametrize("kind", ["text/plain", IN_TOTO + " ", "", None, IN_TOTO.upper()])
def test_what_is_signed_as_something_else_is_no_statement(kind: str | None) -> None:
    found = Statement.of(kind, statements.statement(), what="s")
    assert isinstance(found, Finding)
    assert found.code == "statement-payload-type"


def test_links_and_layouts_of_the_same_payload_type_are_no_statements() -> None:
    found = Statement.of(IN_TOTO, json.dumps({"_type": "link", "name": "x"}).encode(), what="s")
    assert isinstance(found, Finding)
    assert found.code == "statement-malformed"
