"""The look-up index: made from entries, split when it grows, a hint and no more."""

import json
from dataclasses import replace
from typing import Any

import pytest
from support.registry import entries, index_of

from verifier.catalog.entries.helper import Base, Lineage
from verifier.catalog.entries.helper_format import parse
from verifier.catalog.index import LAYOUT, Index, Row, build
from verifier.catalog.refused import Refused
from verifier.catalog.tuf.problems import missing
from verifier.core.digest import Pin, sha256
from verifier.core.limits import INDEX_DIGESTS


def _lineages() -> list[Lineage]:
    return [parse(d, p) for p, d in entries().items() if p.split("/")[1] == "helper"]


def _open(files: dict[str, bytes]) -> Index | Refused:
    def read(path: str) -> bytes | Refused:
        return files.get(path) or Refused(findings=(missing(path),))

    return Index.open(read, files)


def _index(files: dict[str, bytes]) -> Index:
    index = _open(files)
    assert isinstance(index, Index)
    return index


def test_every_pin_of_every_entry_is_found() -> None:
    index = _index(build(_lineages()))
    for lineage in _lineages():
        for pin in lineage.pins():
            rows = index.rows(pin.pin.sha256)
            assert isinstance(rows, tuple)
            assert Row(pin.kind, "helper", lineage.name, pin.row) in rows


def test_the_layout_names_the_tokens_of_every_lineage() -> None:
    tokens = {found.lineage: found for found in _index(build(_lineages())).helpers}
    for lineage in _lineages():
        found = tokens[lineage.name]
        assert found.marker_prefix == lineage.marker_prefix
        assert found.owned_names == lineage.owned_names
        assert found.first_lines == lineage.first_lines()


def test_the_same_entries_in_any_order_give_the_same_bytes() -> None:
    lineages = _lineages()
    assert build(lineages) == build(reversed(lineages))
    reordered = dict(reversed(entries().items()))
    assert index_of(reordered) == index_of(entries())


def test_what_nothing_pins_has_no_rows() -> None:
    assert _index(build(_lineages())).rows("0" * 64) == ()
    assert _index(build([])).rows("0" * 64) == ()


def _lineage_with(bases: int) -> Lineage:
    pins = (Pin(sha256=sha256(str(number).encode()), length=1) for number in range(bases))
    made = tuple(Base(name=f"base-{n}", pin=pin) for n, pin in enumerate(pins))
    return replace(_lineages()[0], bases=made, versions=(), sites={})


@pytest.mark.parametrize(
    ("digests", "digits", "files"),
    [(INDEX_DIGESTS, 0, 1), (INDEX_DIGESTS + 1, 1, 16), (INDEX_DIGESTS * 16 + 1, 2, 256)],
)
def test_the_index_is_split_when_it_grows(digests: int, digits: int, files: int) -> None:
    made = build([_lineage_with(digests)])
    assert json.loads(made[LAYOUT])["digits"] == digits
    assert len(made) == 1 + files
    index = _index(made)
    for number in (0, digests // 2, digests - 1):
        rows = index.rows(sha256(str(number).encode()))
        assert rows == (Row("file", "helper", _lineages()[0].name, f"base/base-{number}"),)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "index/v2"},
        {"digits": -1},
        {"digits": "0"},
        {"helpers": [{}]},
        {"helpers": [{"lineage": "a", "marker_prefix": "# [", "owned_names": "x"}]},
        {"more": 1},
    ],
)
def test_a_layout_with_a_mistake_is_refused(change: dict[str, Any]) -> None:
    files = build(_lineages())
    files[LAYOUT] = json.dumps({**json.loads(files[LAYOUT]), **change}).encode()
    result = _open(files)
    assert isinstance(result, Refused)
    assert result.findings[0].code == "registry-entry-malformed"


@pytest.mark.parametrize("rows", [[], {"x": 1}, [1], [{}], [["file", "helper", "a", "b"]]])
def test_rows_with_a_mistake_are_refused(rows: object) -> None:
    files = build(_lineages())
    digest = next(_lineages()[0].pins()).pin.sha256
    document = json.loads(files["index/all.json"])
    document["rows"] = {digest: rows} if rows else rows
    files["index/all.json"] = json.dumps(document).encode()
    result = _index(files).rows(digest)
    assert isinstance(result, Refused)
    assert result.findings[0].code == "registry-entry-malformed"
