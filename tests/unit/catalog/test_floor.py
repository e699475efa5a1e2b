"""floor/v1: what was seen, read strictly and printed the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.registry import make

from verifier.catalog.floor import Floor
from verifier.core.table import MalformedError

DOCUMENT: dict[str, Any] = {
    "schema": "floor/v1",
    "root": {"version": 1},
    "timestamp": {"version": 4},
    "snapshot": {"version": 3, "sha256": "ab" * 32},
    "roles": {"pinproof": 2, "targets": 3},
}


def _parse(document: object) -> Floor:
    return Floor.parse(json.dumps(document).encode(), what="floor.json")


def test_a_floor_prints_back_to_itself(tmp_path: Path) -> None:
    floor = make(tmp_path / "registry").catalog().floor
    assert Floor.parse(floor.print(), what="floor.json") == floor
    parsed = _parse(DOCUMENT)
    assert json.loads(parsed.print()) == DOCUMENT
    assert str(parsed) == "root 1, timestamp 4, snapshot 3, pinproof 2, targets 3"
    assert str(Floor()) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "floor/v2"},
        {"root": {}},
        {"root": {"version": 0}},
        {"root": {"version": True}},
        {"root": {"version": 1, "more": 1}},
        {"snapshot": {"version": 3}},
        {"snapshot": {"version": 3, "sha256": "AB" * 32}},
        {"roles": {"pinproof": "2"}},
        {"roles": []},
        {"more": 1},
    ],
)
def test_a_floor_with_a_mistake_is_refused(change: dict[str, Any]) -> None:
    assert json.dumps({**DOCUMENT, **change}) != json.dumps(DOCUMENT)
    with pytest.raises(MalformedError, match=r"floor\.json"):
        _parse({**DOCUMENT, **change})


def test_every_part_of_a_floor_is_needed() -> None:
    for name in DOCUMENT:
        with pytest.raises(MalformedError):
            _parse({key: value for key, value in DOCUMENT.items() if key != name})


def test_min_snapshot_only_raises() -> None:
    floor = _parse(DOCUMENT)
    assert floor.raised(3) is floor
    assert floor.raised(0) is floor
    raised = floor.raised(9)
    assert raised.snapshot == 9
    assert raised.snapshot_sha256 is None
    assert raised.roles == floor.roles
