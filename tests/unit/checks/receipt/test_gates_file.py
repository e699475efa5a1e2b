"""What was declared before the run, against how it was laid out and judged."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import receipts, written_receipts

from verifier.ask import verify_receipt
from verifier.checks.receipt.document import gates_file
from verifier.core.coverage import State
from verifier.core.outcome import Result
from verifier.core.table import MalformedError


def declared() -> dict[str, Any]:
    """Return the gate file that the sound receipt was judged by."""
    statement: dict[str, Any] = json.loads(written_receipts.gate_file({}))
    return statement


def codes(document: Any, statement: Any) -> set[str]:
    gates = gates_file.read(json.dumps(statement).encode(), what="gates.json")
    assert gates is not None
    study = receipts.opened(document)
    return {finding.code for finding in gates_file.compared(gates, study.receipt)}


def test_a_receipt_that_was_judged_as_declared_says_nothing() -> None:
    assert codes(receipts.sound(), declared()) == set()


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("outcomes.0.threshold", "-9.99", "receipt-gates-changed"),
        ("outcomes.0.threshold", ..., "receipt-gates-changed"),
        ("outcomes.0.comparator", "<", "receipt-gates-changed"),
        ("outcomes.0.figure", "ttftOn", "receipt-gates-changed"),
        ("outcomes.1.kind", "numerical", "receipt-gates-changed"),
        ("outcomes.1", ..., "receipt-gates-missing"),
        ("arms.1.role", "return", "receipt-gates-design"),
        ("design.kind", "ABBA", "receipt-gates-design"),
        ("design.order", ["A1", "B1", "B2", "A2"], "receipt-gates-design"),
        ("design.cases", ["short"], "receipt-gates-design"),
        ("design", ..., "receipt-gates-design"),
    ],
)
def test_what_was_changed_after_the_declaration_is_told(path: str, value: Any, code: str) -> None:
    assert codes(receipts.change(receipts.sound(), path, value), declared()) == {code}


def test_a_gate_that_nobody_declared_is_told() -> None:
    document = receipts.sound()
    extra = {**document["predicate"]["outcomes"][1], "gate": "later"}
    document["predicate"]["outcomes"].append(extra)
    assert codes(document, declared()) == {"receipt-gates-added"}


def test_a_threshold_is_compared_as_a_number() -> None:
    assert codes(receipts.made(outcomes__0__threshold="-10.00"), declared()) == set()


def test_the_verdict_follows(tmp_path: Path) -> None:
    document = receipts.made(outcomes__0__threshold="-9")
    (tmp_path / "receipt.json").write_text(json.dumps(document))
    (tmp_path / "gates.json").write_text(json.dumps(declared()))
    report = verify_receipt([str(tmp_path / "receipt.json")], gates=str(tmp_path / "gates.json"))
    result = report.results[0]
    assert isinstance(result, Result)
    assert result.verdict == "rejected"
    assert {c.facet: c.state for c in result.coverage}["gates"] is State.NOT_HELD


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"version": 1, "method": "envelope"}'])
def test_another_kind_of_gate_file_is_compared_by_its_digest_alone(data: bytes) -> None:
    assert gates_file.read(data, what="policy.json") is None


SPOILED: dict[str, Callable[[Any], Any]] = {
    "gates": lambda p: p.update(gates=[]),
    "studyId": lambda p: p.pop("studyId"),
    "declaredAt": lambda p: p.update(declaredAt="yesterday"),
    "design.kind": lambda p: p["design"].update(kind="AB"),
    "design.orders": lambda p: p["design"].update(orders=[]),
    "arms[0].role": lambda p: p["arms"][0].update(role="treatment"),
    "arms": lambda p: p["arms"].append(p["arms"][0]),
    "gates[0].threshold": lambda p: p["gates"][0].update(threshold="1e1"),
    "gates[0]": lambda p: p["gates"][0].pop("threshold"),
    "gates[0].comparator": lambda p: p["gates"][0].update(comparator="=<"),
    "scope.topology": lambda p: p["scope"].update(topology=2),
    "treshold": lambda p: p.update(treshold="1"),
}


@pytest.mark.parametrize("path", SPOILED)
def test_mistakes_of_a_gate_file_are_named(path: str) -> None:
    statement = declared()
    before = copy.deepcopy(statement)
    SPOILED[path](statement["predicate"])
    assert statement != before
    with pytest.raises(MalformedError) as error:
        gates_file.read(json.dumps(statement).encode(), what="gates.json")
    assert f"predicate.{path}" in {text.partition(":")[0] for text in error.value.mistakes}
