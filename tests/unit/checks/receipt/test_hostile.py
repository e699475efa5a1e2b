"""Whatever a receipt holds, it is refused by its paths or judged: nothing else is raised."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
from support import receipts
from support.receipts import digest

from verifier.checks.receipt.check import check
from verifier.core.table import MalformedError

Place = tuple[str | int, ...]
ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1 << 53,
    1 << 70,
    "",
    " ",
    "0",
    "-0",
    "1e5",
    "\u202e",
    [],
    {},
    [[]],
)


def rich() -> dict[str, Any]:
    """Return the sound receipt with all that it does without, and fewer samples."""
    document = receipts.sound()
    document["predicate"] |= {
        "samples": document["predicate"]["samples"][:3],
        "equality": [{"path": "a.py", "measured": digest("a"), "head": digest("a")}],
        "references": [
            {
                "repository": "r",
                "commit": {"gitCommit": receipts.BASE},
                "path": "p",
                "blob": {"gitBlob": "9f" * 20},
            }
        ],
        "deviations": [{"what": "one more import", "affects": ["a.py", "B1"]}],
        "tests": {
            "run": 1,
            "passed": 0,
            "failed": 0,
            "errors": 0,
            "skipped": [{"test": "t", "reason": "no GPU"}],
        },
        "supersedes": digest("old"),
    }
    document["predicate"]["derived"][0]["copiedFrom"] = {
        "receipt": digest("source"),
        "figure": "f",
        "value": "1",
    }
    return document


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    if at:
        yield at
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, each in items:
        yield from places(each, (*at, key))


def parent(document: dict[str, Any], place: Place) -> Any:
    at: Any = document["predicate"]
    for name in place[:-1]:
        at = at[name]
    return at


RICH: Final = rich()
TEXT: Final = json.dumps(RICH)
PLACES: Final = [
    place
    for place in places(RICH["predicate"])
    if place[0] not in ("arms", "samples") or place[1:2] in ((), (0,))
]


def fresh() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(TEXT)  # a third of what a deep copy takes
    return made


def judged(document: dict[str, Any]) -> None:
    try:
        study = receipts.opened(document)
    except MalformedError:
        return
    assert check(study).study is not None


def test_any_field_may_be_taken_away() -> None:
    for place in PLACES:
        document = fresh()
        del parent(document, place)[place[-1]]
        judged(document)


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_any_field_may_hold_anything(value: Any) -> None:
    chosen = random.Random(repr(value)).sample(PLACES, 60)  # noqa: S311
    for place in chosen:
        document = fresh()
        parent(document, place)[place[-1]] = value
        judged(document)


def test_any_field_may_hold_another_one() -> None:
    dice = random.Random(8)  # noqa: S311
    for _ in range(120):
        document = fresh()
        to, source = dice.choice(PLACES), dice.choice(PLACES)
        parent(document, to)[to[-1]] = copy.deepcopy(parent(RICH, source)[source[-1]])
        judged(document)
