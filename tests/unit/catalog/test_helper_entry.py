"""helper/v1: every invariant of FORMATS §2 is refused when it is broken, by its path."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from verifier.catalog.entries.helper_format import parse
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError

ENTRY: Final = (
    Path(__file__).parents[3] / "registry/targets/pinproof/helper/example-fair-queue.toml"
)


def entry() -> dict[str, Any]:
    return tomllib.loads(ENTRY.read_text())


def version(value: dict[str, Any], name: str = "v5") -> dict[str, Any]:
    found: dict[str, Any] = next(v for v in value["version"] if v["id"] == name)
    return found


def first(value: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = value["sites"]["v5"][0]
    return found


BREAKS: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "schema": lambda e: e.update(schema="helper/v0"),
    "language": lambda e: e.update(language="rust"),
    "name": lambda e: e.update(name="Example"),
    "marker_prefix": lambda e: e.update(marker_prefix="# example"),
    "unknown key": lambda e: e.update(colour="red"),
    "current unknown": lambda e: e.update(current="v9"),
    "current not supported": lambda e: e.update(current="v5-main"),
    "owned name": lambda e: e.update(owned_names=["a-b"]),
    "owned name twice": lambda e: e.update(owned_names=["_Fairq", "_Fairq"]),
    "no end anchor": lambda e: e.update(end_anchor=[]),
    "anchor twice": lambda e: e["end_anchor"].append(e["end_anchor"][0]),
    "base twice": lambda e: e["base"].append(e["base"][0]),
    "version twice": lambda e: e["version"].append(version(e)),
    "alias is an id": lambda e: version(e).update(aliases=["v6"]),
    "same body twice": lambda e: version(e).update(sha256=version(e, "v5-main")["sha256"]),
    "status": lambda e: version(e).update(status="good"),
    "marker of another lineage": lambda e: version(e).update(marker="# [other:v5]"),
    "marker without end": lambda e: version(e).update(marker="# [example-fair-queue:v5"),
    "unattested with a body": lambda e: version(e, "v3").update(sha256="0" * 64, length=1),
    "unattested without reason": lambda e: version(e, "v3").pop("reason"),
    "revoked without reason": lambda e: version(e).update(status="revoked"),
    "span": lambda e: version(e).update(span="raw/v2"),
    "no length": lambda e: version(e).pop("length"),
    "upper-case digest": lambda e: version(e).update(sha256="A" * 64),
    "short digest": lambda e: version(e).update(sha256="a" * 63),
    "first line with LF": lambda e: version(e).update(first_line="class _Fairq:\n"),
    "shorter than first line": lambda e: version(e).update(length=5),
    "marker behind the end": lambda e: version(e).update(marker_offsets=[430]),
    "binds nothing": lambda e: version(e).update(binds=[]),
    "binds a foreign name": lambda e: version(e).update(binds=["other"]),
    "import not read": lambda e: version(e).update(required_imports=["re"]),
    "unknown sites": lambda e: version(e).update(sites="v9"),
    "sites differ under one marker": lambda e: version(e).update(sites="v2"),
    "first line differs under one marker": lambda e: version(e).update(first_line="class _F:"),
    "whole file of an unknown base": lambda e: version(e)["whole_file"][0].update(base="x"),
    "ranges overlap": lambda e: first(e)["inserted"].append(first(e)["inserted"][0]),
    "range behind the end": lambda e: first(e)["inserted"][0].update(offset=9999),
    "empty range": lambda e: first(e)["inserted"][0].update(length=0),
    "no range": lambda e: first(e).update(inserted=[]),
    "lengths do not add up": lambda e: first(e)["old"].update(length=1),
    "marker outside the range": lambda e: first(e).update(marker_offsets=[100]),
    "no marker and no place": lambda e: [first(e).pop("within"), first(e).pop("marker_offsets")],
    "site twice": lambda e: e["sites"]["v5"].append(first(e)),
    "same pins twice": lambda e: e["sites"]["v5"].append({**first(e), "name": "again"}),
    "within": lambda e: first(e).update(within="Queue.push()"),
    "commit abbreviated": lambda e: version(e).update(
        producer=[
            {
                "repository": "r",
                "path": "p",
                "symbol": "s",
                "method": "literal",
                "commit": "a" * 39,
            }
        ]
    ),
    "producer without commit": lambda e: version(e).update(
        producer=[{"repository": "r", "path": "p", "symbol": "s", "method": "literal"}]
    ),
    "both first line and sentinels": lambda e: version(e).update(
        sentinels={"begin": "# a\n", "end": "# b\n"}
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_entries_are_refused(name: str) -> None:
    value = entry()
    BREAKS[name](value)
    assert value != entry(), "the mutation changed nothing"
    with pytest.raises(MalformedError) as caught:
        parse(write_toml(value), "entry")
    assert caught.value.mistakes


def test_the_unbroken_entry_parses_and_prints_back() -> None:
    assert parse(write_toml(entry()), "entry") == parse(ENTRY.read_bytes(), "entry")


def test_every_pin_has_a_row_of_its_own() -> None:
    rows = [row.row for row in parse(ENTRY.read_bytes(), "entry").pins()]
    assert len(rows) == len(set(rows)) == 51
