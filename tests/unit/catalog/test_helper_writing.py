"""What is printed of a lineage is what was read, byte for byte where people wrote it so."""

import json
from pathlib import Path
from typing import Final

import pytest
from support import lineages

from verifier.catalog.entries.helper_format import parse
from verifier.catalog.entries.helper_writing import (
    comment_of,
    prefixes,
    tables,
    written,
    written_lines,
)
from verifier.core.strict import read_toml, toml_value, write_toml

TARGETS: Final = Path(__file__).parents[3] / "registry/targets"
ENTRIES: Final = sorted(TARGETS.glob("*/helper/*.toml"))
LINES: Final = sorted(TARGETS.glob("*/lines/*.json"))


@pytest.mark.parametrize("path", ENTRIES, ids=lambda p: p.stem)
def test_entries_of_the_registry_are_as_they_are_printed(path: Path) -> None:
    data = path.read_bytes()
    assert written(parse(data, "x"), comment=comment_of(data)) == data


@pytest.mark.parametrize("path", LINES, ids=lambda p: p.stem)
def test_lines_of_the_registry_are_as_they_are_printed(path: Path) -> None:
    document = json.loads(path.read_bytes())
    assert written_lines(document["lineage"], document["prefixes"]) == path.read_bytes()


def test_sentinels_quoted_keys_and_reasons_are_printed() -> None:
    entry = tables(lineages.example())
    version = next(v for v in entry["version"] if v["id"] == "v2")
    del version["first_line"], version["first_line_offset"]
    version["sentinels"] = {"begin": "# begin\n", "end": '# "end"\n'}
    version |= {"status": "revoked", "reason": 'a "reason"', "aliases": ["two"], "sites": "v2.1"}
    entry["sites"]["v2.1"] = entry["sites"].pop("v2")
    lineage = parse(write_toml(entry), "x")
    again = written(lineage)
    assert b'[[sites."v2.1"]]' in again
    assert parse(again, "x") == lineage


def test_a_comment_is_whole_lines_above() -> None:
    assert comment_of(b'# a\n# b\nschema = "x"  # c\n# d\n') == b"# a\n# b\n"
    assert comment_of(b"schema = 1\n") == b""


def test_prefixes_are_digests_of_the_lines_so_far() -> None:
    # printf '\n' | sha256sum; printf '\na\n' | sha256sum
    assert prefixes(b"\na\n") == ("01ba4719c80b6fe9", "6dba9d80d5c3ac29")


@pytest.mark.parametrize(
    "value", ['a "b" \\ \n', 7, True, ["x", "y"], [], {"a": 1, "b": ["c"]}, [{"a": "\u00e9"}], {}]
)
def test_values_are_read_as_they_were_printed(value: object) -> None:
    assert read_toml(f"v = {toml_value(value)}\n".encode()) == {"v": value}
