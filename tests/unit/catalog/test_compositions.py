"""Compositions in a registry: found by name, with their files table, and in the index."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.registry import NOW, Registry, codes, entries, index_of, make

from verifier.actions.seal import seal
from verifier.catalog.entries.composition import Composition
from verifier.catalog.entries.composition_rows import hints
from verifier.catalog.index import Index
from verifier.core.digest import sha256
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError

ENTRY = "pinproof/composition/example-lantern.toml"
TABLE = "pinproof/composition/example-lantern.files.json"


def tabled() -> dict[str, bytes]:
    """Return the entries, the example with a files table."""
    found = entries()
    value = tomllib.loads(found[ENTRY].decode())
    rows: dict[str, str] = {}
    for stage in value["stage"]:
        for row in stage["files"]:
            rows.pop(row["path"], None)
            if post := row.get("post"):
                rows[row["path"]] = f"{post['sha256']} {post['length']} {row['mode']}"
    for row in value["retained"][0]["files"]:
        rows[row["path"]] = f"{row['sha256']} {row['length']} {row['mode']}"
    rows["lantern/of-the-table"] = f"{'5' * 64} 5 100644"
    data = json.dumps(rows).encode()
    value["files_table"] = {
        "path": "example-lantern.files.json",
        "sha256": sha256(data),
        "length": len(data),
    }
    return {**found, ENTRY: write_toml(value), TABLE: data}


def signed(tmp_path: Path, targets: Mapping[str, bytes], **changes: bytes) -> Registry:
    index = index_of(targets)
    return make(tmp_path / "registry", targets={**targets, **index, **changes})


def test_a_composition_is_found_by_name(test_registry: Registry) -> None:
    catalog = test_registry.catalog()
    assert "example-lantern" in catalog.names("composition")
    entry = catalog.composition("example-lantern")
    assert isinstance(entry, Composition)
    assert entry is catalog.composition("example-lantern")
    assert codes(catalog.composition("example-lantren")) == {"entry-unknown"}
    assert catalog.check_all() == ()


def test_every_digest_and_id_is_in_the_index(test_registry: Registry) -> None:
    catalog = test_registry.catalog()
    index = catalog.index
    assert isinstance(index, Index)
    for name in catalog.names("composition"):
        entry = catalog.composition(name)
        assert isinstance(entry, Composition)
        for digits, row in hints(entry):
            rows = index.rows(digits)
            assert isinstance(rows, tuple)
            assert row in rows


def test_a_files_table_is_read_with_its_entry(tmp_path: Path) -> None:
    catalog = signed(tmp_path, tabled()).catalog()
    entry = catalog.composition("example-lantern")
    assert isinstance(entry, Composition)
    assert entry.table["lantern/of-the-table"].length == 5
    assert catalog.check_all() == ()
    index = catalog.index
    assert isinstance(index, Index)
    assert index.rows("5" * 64)


def test_a_table_that_was_changed_is_refused(tmp_path: Path) -> None:
    registry = signed(tmp_path, tabled())
    registry.write(f"targets/{TABLE}", tabled()[TABLE].replace(b"555 5 ", b"555 6 "))
    assert codes(registry.catalog().composition("example-lantern")) == {"registry-tampered"}


def test_a_table_that_is_signed_but_not_pinned_is_refused(tmp_path: Path) -> None:
    targets = tabled()
    index = index_of(targets)
    targets[TABLE] = targets[TABLE].replace(b"555 5 ", b"555 6 ")
    catalog = make(tmp_path / "registry", targets={**targets, **index}).catalog()
    assert codes(catalog.composition("example-lantern")) == {"registry-entry-malformed"}


def test_a_table_that_is_missing_is_refused(tmp_path: Path) -> None:
    targets = tabled()
    index = index_of(targets)
    del targets[TABLE]
    catalog = make(tmp_path / "registry", targets={**targets, **index}).catalog()
    assert codes(catalog.composition("example-lantern")) == {"registry-missing"}
    with pytest.raises(MalformedError, match="is not what files_table pins"):
        index_of(targets)


def test_a_table_without_an_entry_is_found(tmp_path: Path) -> None:
    stray = {**entries(), TABLE: tabled()[TABLE]}
    (finding,) = signed(tmp_path, stray).catalog().check_all()
    assert (finding.code, finding.where.path) == ("registry-entry-malformed", f"targets/{TABLE}")


def test_a_later_format_of_a_composition_is_told_apart(tmp_path: Path) -> None:
    old = b'schema = "composition/v1"'
    later = {**entries()}
    index = index_of(later)
    later[ENTRY] = later[ENTRY].replace(old, b'schema = "composition/v2"')
    catalog = make(tmp_path / "registry", targets={**later, **index}).catalog()
    assert codes(catalog.composition("example-lantern")) == {"entry-newer"}
    later[ENTRY] = later[ENTRY].replace(b'"composition/v2"', b'"helper/v2"')
    catalog = make(tmp_path / "other", targets={**later, **index}).catalog()
    assert codes(catalog.composition("example-lantern")) == {"registry-entry-malformed"}


def test_an_entry_under_another_name_is_refused(tmp_path: Path) -> None:
    targets = entries()
    index = index_of(targets)
    targets["pinproof/composition/lantern.toml"] = targets.pop(ENTRY)
    catalog = make(tmp_path / "registry", targets={**targets, **index}).catalog()
    assert codes(catalog.composition("lantern")) == {"registry-entry-malformed"}


def test_an_index_without_the_compositions_is_found(tmp_path: Path) -> None:
    helpers = {path: data for path, data in entries().items() if "/composition/" not in path}
    targets = {**entries(), **index_of(helpers)}
    findings = make(tmp_path / "registry", targets=targets).catalog().check_all()
    assert {finding.code for finding in findings} == {"registry-index-wrong"}


def test_a_table_is_sealed_with_its_entry(tmp_path: Path) -> None:
    folder = tmp_path / "registry"
    for path, data in tabled().items():
        file = folder / "targets" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    assert TABLE in seal(folder, now=NOW).entries
    catalog = Registry(folder, (folder / "metadata/1.root.json").read_bytes()).catalog()
    assert catalog.check_all() == ()
