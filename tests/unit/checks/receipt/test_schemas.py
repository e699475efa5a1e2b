"""The schemas and the strict readers accept the same documents, over every small change of one."""

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import receipts

from verifier.ask.receipt import parsed
from verifier.checks.receipt.document import gates_file
from verifier.checks.receipt.open import study
from verifier.checks.receipt.study import Companions
from verifier.core.table import MalformedError
from verifier.sources import shipped

from .test_gates_file import declared

INSTEAD: Final[tuple[Any, ...]] = (
    None,
    "",
    "x",
    0,
    -1,
    1 << 60,
    True,
    [],
    ["x"],
    ["x", "x"],
    {},
    {"x": "y"},
    ...,
)


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(shipped.read("schemas", f"measurement-{name}.v1.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def receipt() -> Any:
    """Return a receipt that has one of everything, small enough to change everywhere."""
    document = receipts.sound()
    predicate = document["predicate"]
    for name in ("arms", "samples", "models", "outcomes"):
        del predicate[name][2:]
    predicate["derived"] = [predicate["derived"][0], predicate["derived"][2]]
    predicate["derived"].append(
        {
            "id": "margin",
            "formula": "toleranceMargin",
            "unit": "x",
            "value": "1",
            "operands": {"on": {"value": "1.5"}, "off": {"value": "1.5"}},
            "parameters": {"absolute": "0.1", "relative": "0.05"},
            "copiedFrom": {
                "receipt": receipts.digest("other"),
                "figure": "margin",
                "value": "1",
            },
        }
    )
    predicate["outcomes"][0]["waiver"] = {"by": "maintainer", "reason": "known"}
    predicate["references"] = [
        {"repository": "https://code.test", "path": "a", "commit": {"gitCommit": "4a" * 20}}
    ]
    predicate["deviations"] = [{"what": "a restart", "affects": ["K13"]}]
    predicate["tests"] = {"run": 1, "passed": 1, "failed": 0, "errors": 0, "skipped": []}
    predicate["samples"][0]["values"] = {"wall": "1.5", "steps": 3, "none": None}
    return document


def read_receipt(document: Any) -> None:
    found = parsed("receipt.json", [json.dumps(document).encode()])
    study(
        found.predicate,
        found.subjects,
        what=found.name,
        sha256=found.pin.sha256,
        companions=Companions(),
    )


def read_gates(document: Any) -> None:
    if gates_file.read(json.dumps(document).encode(), what="gates.json") is None:
        raise MalformedError("gates.json", ["another file"], remedy="none")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, key))


def changed(document: Any, path: tuple[Any, ...], instead: Any) -> Any:
    found = copy.deepcopy(document)
    place = found
    for key in path[:-1]:
        place = place[key]
    if instead is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = instead
    return found


def accepts(read: Any, document: Any) -> bool:
    try:
        read(document)
    except MalformedError:
        return False
    return True


KINDS: Final[Mapping[str, tuple[Any, Any, jsonschema.Draft202012Validator]]] = {
    "receipt": (receipt(), read_receipt, validator("receipt")),
    "gates": (declared(), read_gates, validator("gates")),
}


def agree(kind: str, path: tuple[Any, ...], instead: Any) -> bool:
    document, read, schema = KINDS[kind]
    spoiled = changed(document, path, instead)
    return accepts(read, spoiled) == schema.is_valid(spoiled)


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_is_accepted_by_both(kind: str) -> None:
    document, read, schema = KINDS[kind]
    schema.validate(document)
    assert accepts(read, document)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_change_is_accepted_by_both_or_by_none(kind: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(places(KINDS[kind][0]))))
    assert agree(kind, path, data.draw(st.sampled_from(INSTEAD)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_object_takes_a_key_that_is_not_known(kind: str) -> None:
    document, *_ = KINDS[kind]
    for path in places(document):
        value = document
        for key in path:
            value = value[key]
        if isinstance(value, dict):
            assert agree(kind, (*path, "unheardOf"), "x"), path


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_every_change_is_accepted_by_both_or_by_none(kind: str) -> None:
    apart = [
        (path, instead)
        for path in places(KINDS[kind][0])
        for instead in INSTEAD
        if not agree(kind, path, instead)
    ]
    assert apart == []
