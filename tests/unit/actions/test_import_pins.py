"""Foreign pin files: what becomes an entry, and what is said to be missing. Digests are made up."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support import runs

from verifier.actions.import_pins import import_pins
from verifier.catalog.entries.composition_format import parse
from verifier.core.table import MalformedError

COMMIT, TREE, PATCH = "1" * 40, "2" * 40, "3" * 64
ORIGIN = {"repository": "https://example.org/v", "commit": COMMIT, "tree": TREE}
OVERLAY: dict[str, Any] = {
    "schema": "sparkring-vllm-python-overlay/v1",
    "base": ORIGIN,
    "target": {**ORIGIN, "commit": "4" * 40},
    "files": [
        {
            "path": "pkg/a.py",
            "operation": "replace",
            "base_sha256": "5" * 64,
            "target_sha256": "6" * 64,
            "target_bytes": 7,
        },
        {
            "path": "pkg/b.py",
            "operation": "add",
            "base_sha256": None,
            "target_sha256": "8" * 64,
            "target_bytes": 9,
        },
    ],
}
SOURCE = {
    "repository": "https://example.org/v",
    "base_commit": COMMIT,
    "patch": "v/integration.patch",
    "patch_sha256": PATCH,
}
VERSIONED: dict[str, Any] = {
    "schema_version": 1,
    "release": {"repository": "r", "commit": COMMIT, "patch_root": "patches/x"},
    "components": {"v": {**SOURCE, "result_tree": TREE}, "w_x": {**SOURCE, "result_tree": TREE}},
    "runtime_dependencies": {"other": COMMIT},
}
EXL3: dict[str, Any] = {
    "schema": "sparkring-public-exl3-pins/v1",
    "sources": {
        "one": {**SOURCE, "commit": COMMIT, "tree": TREE},
        "port": {"repository": "r", "commit": COMMIT, "tree": TREE},
    },
    "overlay_files": {"a": PATCH},
}


def imported(value: Any) -> list[Any]:
    data = json.dumps(value).encode()
    found = import_pins(data, name="ours", project="p", where="pins.json")
    return [(one.name, parse(one.entry, one.name), one.missing) for one in found]


def test_an_overlay_manifest() -> None:
    ((name, entry, missing),) = imported(OVERLAY)
    assert name == "ours"
    assert (entry.base.commit, entry.target.commit) == (COMMIT, "4" * 40)
    assert (entry.manifest.rows, entry.manifest.added) == (2, 1)
    assert not entry.scope.complete
    (stage,) = entry.stages
    first, second = stage.files
    assert (first.pre.sha256, first.pre.length, first.post.length) == ("5" * 64, None, 7)
    assert (second.operation, second.pre) == ("add", None)
    assert any("modes" in words for words in missing)


def test_base_patch_and_tree() -> None:
    found = imported(VERSIONED)
    assert [name for name, _, _ in found] == ["ours-v", "ours-w-x"]
    entry = found[0][1]
    (stage,) = entry.stages
    assert (entry.base.commit, stage.tree, stage.patch.pin.sha256) == (COMMIT, TREE, PATCH)
    assert stage.patch.path == "patches/x/v/integration.patch"
    assert stage.files is None


def test_of_public_pins_only_sources_with_a_patch() -> None:
    ((name, entry, missing),) = imported(EXL3)
    assert name == "ours-one"
    assert entry.stages[0].tree == TREE
    assert any("overlay_files" in words for words in missing)
    assert 'source "port": it has no base_commit, no patch_sha256' in missing


def test_what_is_written_is_plain_toml() -> None:
    data = json.dumps(VERSIONED).encode()
    text = import_pins(data, name="ours", project="p", where="x")[0].entry
    assert tomllib.loads(text.decode())["name"] == "ours-v"


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"schema": "another/v1"},
        {"schema_version": 2, "components": {}},
        {**OVERLAY, "files": [{**OVERLAY["files"][0], "operation": "rename"}]},
        {**OVERLAY, "files": [{**OVERLAY["files"][0], "base_sha256": None}]},
        {**OVERLAY, "files": [{**OVERLAY["files"][0], "target_sha256": "A" * 64}]},
        {**OVERLAY, "files": [OVERLAY["files"][0], OVERLAY["files"][0]]},
        {**OVERLAY, "files": [{**OVERLAY["files"][0], "path": "../x"}]},
        {**OVERLAY, "base": {**ORIGIN, "commit": "12"}},
        {**OVERLAY, "files": [{**OVERLAY["files"][1], "base_sha256": "5" * 64}]},
        {**OVERLAY, "files": [{**OVERLAY["files"][0], "more": 1}]},
        {**OVERLAY, "more": 1},
        {**VERSIONED, "components": {"v": {**SOURCE, "result_tree": "2"}}},
        {**VERSIONED, "components": {"v": {**SOURCE}}},
    ],
)
def test_other_files_are_refused(value: Any) -> None:
    with pytest.raises(MalformedError):
        imported(value)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(MalformedError):
        import_pins(b'{"schema": 1, "schema": 2}', name="x", project="p", where="x")


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "pins.json").write_text(json.dumps(VERSIONED))
    command = ["pin", "import", "pins.json", "--name", "ours", "--project", "p", "--to", "."]
    ran = runs.run(command, cwd=tmp_path)
    assert ran.exit == 0, ran
    assert {path.name for path in tmp_path.iterdir()} == {
        "pins.json",
        "ours-v.toml",
        "ours-w-x.toml",
    }
    assert b"not said" in ran.stdout
    (tmp_path / "pins.json").write_text("{}")
    assert runs.run(command, cwd=tmp_path).exit == 2


def test_names_that_fall_together_are_refused() -> None:
    source = {**SOURCE, "result_tree": TREE}
    with pytest.raises(MalformedError, match="would both be the entry ours-a-b"):
        imported({**VERSIONED, "components": {"a_b": source, "A-b": source}})


def test_nothing_imported_is_refused() -> None:
    with pytest.raises(MalformedError, match="nothing of it"):
        imported({**VERSIONED, "components": {}})
    with pytest.raises(MalformedError, match='source "port": it has no base_commit'):
        imported({**EXL3, "sources": {"port": EXL3["sources"]["port"]}})


def test_no_entry_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "pins.json").write_text(json.dumps(VERSIONED))
    (tmp_path / "ours-w-x.toml").write_text("reviewed")
    command = ["pin", "import", "pins.json", "--name", "ours", "--project", "p", "--to", "."]
    ran = runs.run(command, cwd=tmp_path)
    assert ran.exit == 4, ran
    assert b"exists already" in ran.stderr
    assert not (tmp_path / "ours-v.toml").exists()
    assert (tmp_path / "ours-w-x.toml").read_text() == "reviewed"
