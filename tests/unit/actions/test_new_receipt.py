"""A receipt without facts: all fields are there, and every gap is named."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from verifier.actions.new_receipt import new_receipt, skeleton
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.document.reading import receipt
from verifier.core.table import MalformedError

PAGE = Path(__file__).parents[3] / "docs/receipts.md"


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set[str]().union(*map(keys, value)) if isinstance(value, list) else set()


def mistakes(document: Any) -> tuple[str, ...]:
    predicate = {k: v for k, v in document["predicate"].items() if k != "samples"}
    subjects = {each["name"]: each["digest"] for each in document["subject"]}
    with pytest.raises(MalformedError) as error:
        receipt(predicate, subjects, what="receipt.json")
    return error.value.mistakes


@pytest.mark.parametrize("kind", list(Kind))
def test_nothing_but_gaps_is_named(kind: Kind) -> None:
    found = mistakes(skeleton(kind))
    assert len(found) > 40
    assert not [text for text in found if "unknown" in text], found


def test_it_has_every_field_of_the_page() -> None:
    text = PAGE.read_text()
    tables = text[text.index("### What it is") : text.index("### Samples")]
    rows = re.findall(r"^\| (.*) \| (.*) \|$", tables, re.MULTILINE)
    named = {
        name
        for row in rows
        for cell in row
        for name in re.findall(r"`([a-z][A-Za-z]+)(?:\[\])?`", cell)
    }
    kinds = {str(kind) for kind in Kind}
    states = {"implemented", "qualified", "unsupported", "canary"}
    missing = (
        named - kinds - states - {"authorReported", "independentlyReproduced", "maintainerRun"}
    )
    assert missing <= keys(skeleton(Kind.SERVING)), missing - keys(skeleton(Kind.SERVING))


def test_what_is_filled_in_is_not_named_again() -> None:
    document = skeleton(Kind.TIMING)
    before = mistakes(document)
    document["predicate"]["receiptId"] = "first"
    document["predicate"]["collector"]["name"] = "timer"
    gone = set(before) - set(mistakes(document))
    assert {text.partition(":")[0] for text in gone} == {"receiptId", "collector.name"}


def test_it_is_never_written_over(tmp_path: Path) -> None:
    new_receipt("canary", to=str(tmp_path / "receipt.json"))
    assert json.loads((tmp_path / "receipt.json").read_bytes())["predicate"]["kind"] == "canary"
    with pytest.raises(Exception, match="exists already"):
        new_receipt("canary", to=str(tmp_path / "receipt.json"))
