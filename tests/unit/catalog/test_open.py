"""The catalog: entries by name, their bytes compared before they are parsed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.registry import KEYS, Registry, codes, entries, index_of, make

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.index import Index
from verifier.catalog.open import Catalog, Refused

FAIR = "pinproof/helper/example-fair-queue.toml"
AGING = "neighbour/helper/example-aging.toml"
LINES = "pinproof/lines/example-fair-queue.json"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return make(tmp_path / "registry")


def _with(tmp_path: Path, files: Mapping[str, bytes], index: Mapping[str, bytes]) -> Catalog:
    """Open a registry in which these targets were signed; the index is made as given."""
    targets = {**entries(), **files, **index}
    return make(tmp_path / "changed", targets=targets).catalog()


def test_entries_are_found_by_name(registry: Registry) -> None:
    catalog = registry.catalog()
    assert catalog.names("helper") == ("example-aging", "example-fair-queue")
    assert catalog.names("release") == ()
    assert catalog.entry_bytes("helper", "example-aging") == entries()[AGING]
    lineage = catalog.helper("example-fair-queue")
    assert isinstance(lineage, Lineage)
    assert lineage is catalog.helper("example-fair-queue")
    lines = catalog.lines("example-fair-queue")
    assert isinstance(lines, dict)
    assert lines == {
        version: tuple(digests)
        for version, digests in json.loads(entries()[LINES])["prefixes"].items()
    }
    assert isinstance(catalog.index, Index)


def test_an_unknown_name_gets_the_nearest_one(registry: Registry) -> None:
    catalog = registry.catalog()
    result = catalog.helper("example-fair-queu")
    assert codes(result) == {"entry-unknown"}
    assert isinstance(result, Refused)
    assert result.findings[0].remedy == "did you mean example-fair-queue?"
    assert codes(catalog.entry_bytes("nothing", "\n")) == {"entry-unknown"}
    assert catalog.lines("nothing") is None


ATTACKS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "one bit": (lambda d: bytes([d[0] ^ 1]) + d[1:], "registry-tampered"),
    "one byte more": (lambda d: d + b"\n", "registry-tampered"),
    "one byte less": (lambda d: d[:-1], "registry-truncated"),
    "nothing": (lambda _: b"", "registry-truncated"),
    "another entry": (lambda _: entries()[AGING], "registry-swapped"),
    "carriage returns": (lambda d: d.replace(b"\n", b"\r\n"), "registry-tampered"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_target_that_was_changed_is_refused(registry: Registry, name: str) -> None:
    attack, code = ATTACKS[name]
    registry.write(f"targets/{FAIR}", attack(entries()[FAIR]))
    catalog = registry.catalog()
    for result in (
        catalog.entry_bytes("helper", "example-fair-queue"),
        catalog.helper("example-fair-queue"),
    ):
        assert codes(result) == {code}
        assert isinstance(result, Refused)
        assert result.findings[0].where.path == f"targets/{FAIR}"
    assert isinstance(catalog.helper("example-aging"), Lineage)
    assert {f.code for f in catalog.check_all()} == {code}


def test_every_target_is_compared(registry: Registry) -> None:
    for path in sorted((registry.folder / "targets").rglob("*.*")):
        data = path.read_bytes()
        path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        findings = registry.catalog().check_all()
        assert {f.code for f in findings} == {"registry-tampered"}, path
        path.write_bytes(data)
    assert registry.catalog().check_all() == ()


def test_an_index_file_that_was_changed_is_refused(registry: Registry) -> None:
    for file in ("layout", "all"):
        path = f"targets/index/{file}.json"
        data = registry.read(path)
        registry.write(path, data + b" ")
        catalog = registry.catalog()
        result = catalog.index
        rows = result.rows("0" * 64) if isinstance(result, Index) else result
        assert codes(rows) == {"registry-tampered"}
        registry.write(path, data)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b'schema = "helper/v1"', b'schema = "helper/v2"', "entry-newer"),
        (b'schema = "helper/v1"', b'schema = "image/v1"', "registry-entry-malformed"),
        (b'schema = "helper/v1"', b"schema = 1", "registry-entry-malformed"),
        (b'schema = "helper/v1"', b"schema =", "registry-entry-malformed"),
        (b'name = "example-fair-queue"', b'name = "other"', "registry-entry-malformed"),
        (b"language =", b"unknown =", "registry-entry-malformed"),
    ],
)
def test_a_signed_entry_of_another_form_is_told_apart(
    tmp_path: Path, old: bytes, new: bytes, code: str
) -> None:
    entry = entries()[FAIR]
    assert old in entry
    catalog = _with(tmp_path, {FAIR: entry.replace(old, new, 1)}, index_of(entries()))
    assert codes(catalog.helper("example-fair-queue")) == {code}
    assert isinstance(catalog.helper("example-aging"), Lineage)
    assert {f.code for f in catalog.check_all()} == {code}


@pytest.mark.parametrize(
    "lines",
    [
        b"{}",
        b'{"schema": "lines/v1", "lineage": "other", "prefixes": {}}',
        b'{"schema": "lines/v1", "lineage": "example-fair-queue", "prefixes": {"v1": ["AB"]}}',
    ],
)
def test_signed_lines_of_another_form_are_refused(tmp_path: Path, lines: bytes) -> None:
    catalog = _with(tmp_path, {LINES: lines}, index_of(entries()))
    assert codes(catalog.lines("example-fair-queue")) == {"registry-entry-malformed"}
    assert {f.code for f in catalog.check_all()} == {"registry-entry-malformed"}


def test_a_name_in_two_projects_is_refused_for_both(tmp_path: Path) -> None:
    twice = {AGING.replace("neighbour", "pinproof"): entries()[AGING]}
    catalog = _with(tmp_path, twice, index_of(entries()))
    assert catalog.names("helper") == ("example-aging", "example-fair-queue")
    assert codes(catalog.helper("example-aging")) == {"registry-name-repeated"}
    assert isinstance(catalog.helper("example-fair-queue"), Lineage)
    assert {f.code for f in catalog.check_all()} == {"registry-name-repeated"}


def test_a_kind_of_entry_from_later_is_left_alone(tmp_path: Path) -> None:
    catalog = _with(tmp_path, {"pinproof/later/a.toml": b"?"}, index_of(entries()))
    assert isinstance(catalog.helper("example-aging"), Lineage)
    assert {f.code for f in catalog.check_all()} == {"entry-newer"}


def test_an_index_that_contradicts_the_entries_is_found(tmp_path: Path) -> None:
    right = index_of(entries())
    digest = next(iter(json.loads(right["index/all.json"])["rows"])).encode()
    wrong: list[dict[str, bytes]] = [
        index_of({AGING: entries()[AGING]}),
        {**right, "index/all.json": right["index/all.json"].replace(digest, b"0" * 64)},
        {**right, "index/00.json": right["index/all.json"]},
        {path: data for path, data in right.items() if path != "index/all.json"},
    ]
    for number, index in enumerate(wrong):
        assert index != right
        catalog = _with(tmp_path / str(number), {}, index)
        assert {f.code for f in catalog.check_all()} == {"registry-index-wrong"}


def test_a_registry_without_an_index_finds_by_name(tmp_path: Path) -> None:
    catalog = _with(tmp_path, {}, {})
    assert codes(catalog.index) == {"registry-missing"}
    assert isinstance(catalog.helper("example-aging"), Lineage)


def test_the_facts_name_who_signed(registry: Registry) -> None:
    facts = registry.catalog().facts
    ids = {line.split()[1] for line in facts.signed_by}
    assert ids <= {keyid for role in KEYS.values() for keyid in role.keyids}
    assert facts.origin == "test"
