"""composition/v1: every invariant is refused when it is broken, by its path, all at once."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from verifier.catalog.entries.composition import Composition
from verifier.catalog.entries.composition_format import parse, with_table
from verifier.catalog.entries.composition_rows import ids, pins
from verifier.core.digest import sha256
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError

TARGETS: Final = Path(__file__).parents[3] / "registry/targets"
ENTRY: Final = TARGETS / "pinproof/composition/example-lantern.toml"
ENTRIES: Final = sorted(TARGETS.glob("*/composition/*.toml"))
PIN: Final = {"sha256": "0" * 64, "length": 1}
Entry = dict[str, Any]


def entry() -> Entry:
    return tomllib.loads(ENTRY.read_text())


def stage(value: Entry, number: int) -> Entry:
    found: Entry = value["stage"][number]
    return found


def files(value: Entry, number: int) -> list[Entry]:
    found: list[Entry] = stage(value, number)["files"]
    return found


def file(value: Entry, number: int, name: str) -> Entry:
    return next(f for f in files(value, number) if f["path"] == f"lantern/{name}")


def add(value: Entry, number: int, **fields: Any) -> object:
    files(value, number).append({"operation": "add", "post": PIN, **fields})
    return value


def swap(value: Entry, one: int, other: int) -> None:
    stages = value["stage"]
    stages[one], stages[other] = stages[other], stages[one]


#: A break, and what the mistake has to name.
BREAKS: Final[dict[str, tuple[Callable[[Entry], object], str]]] = {
    "schema": (lambda e: e.update(schema="composition/v0"), "schema"),
    "unknown key": (lambda e: e.update(colour="red"), "colour: unknown key"),
    "name": (lambda e: e.update(name="Lantern"), "name"),
    "no base": (lambda e: e.pop("base"), "base: missing"),
    "base without ids": (lambda e: e.update(base={"repository": "r"}), "base: needs a commit"),
    "commit abbreviated": (lambda e: e["base"].update(commit="a" * 12), "base.commit"),
    "commit upper-case": (lambda e: e["base"].update(commit="A" * 40), "base.commit"),
    "native input twice spelt": (
        lambda e: e["base"].update(native_inputs=[{"path": "a/../b"}]),
        "base.native_inputs[0].path",
    ),
    "native input of the target": (
        lambda e: e["target"].update(native_inputs=[{"path": "b"}]),
        "target.native_inputs: unknown key",
    ),
    "no stage": (lambda e: e.update(stage=[]), "stage: missing"),
    "stage twice": (lambda e: stage(e, 1).update(name="overlay"), "overlay is given twice"),
    "stage called base": (lambda e: stage(e, 0).update(name="base"), "base is a word"),
    "stage called mixed": (lambda e: stage(e, 2).update(name="mixed"), "mixed is a word"),
    "kind": (lambda e: stage(e, 0).update(kind="script"), "stage[0].kind"),
    "second overlay": (
        lambda e: [stage(e, 1).update(kind="overlay"), stage(e, 1).pop("patch")],
        "stage[1]: a second overlay",
    ),
    "patch without a patch": (lambda e: stage(e, 1).pop("patch"), "stage[1].patch: is missing"),
    "overlay with a patch": (
        lambda e: stage(e, 0).update(patch=PIN),
        "stage[0].patch: does not belong",
    ),
    "patch with a way out": (
        lambda e: stage(e, 1)["patch"].update(path="../010.patch"),
        "stage[1].patch.path",
    ),
    "unknown component": (
        lambda e: [stage(e, 1).update(kind="component", component="x"), stage(e, 1).pop("patch")],
        "stage[1].component: there is no component x",
    ),
    "component of an overlay": (
        lambda e: stage(e, 0).update(component="x"),
        "stage[0].component: does not belong",
    ),
    "regions of no lineage": (
        lambda e: [stage(e, 1).update(kind="regions", regions="x"), stage(e, 1).pop("patch")],
        "stage[1].regions",
    ),
    "no files": (lambda e: stage(e, 1).update(files=[]), "stage[1].files: is empty"),
    "neither files nor tree": (
        lambda e: [stage(e, 1).pop("files"), stage(e, 1).pop("tree")],
        "stage[1].files: missing",
    ),
    "path twice in a stage": (
        lambda e: files(e, 1).append(files(e, 1)[0]),
        'stage[1]: "lantern/lamp.ini" is listed twice',
    ),
    "path outside of the scope": (
        lambda e: add(e, 1, path="other/x"),
        'stage[1].files[2].path: "other/x" is outside',
    ),
    "path excluded": (
        lambda e: e["scope"].update(exclude=["lantern/lamp.ini"]),
        "stage[0].files[0].path",
    ),
    "path absolute": (lambda e: add(e, 1, path="/lantern/x"), "starts with /"),
    "path with dots": (lambda e: add(e, 1, path="lantern/../x"), "has an empty, . or .. part"),
    "path with a dot": (lambda e: add(e, 1, path="lantern/./x"), "has an empty, . or .. part"),
    "path with two slashes": (lambda e: add(e, 1, path="lantern//x"), "has an empty"),
    "path of a folder": (lambda e: add(e, 1, path="lantern/x/"), "has an empty"),
    "path with a backslash": (lambda e: add(e, 1, path="lantern\\x"), "backslash"),
    "path with a line break": (lambda e: add(e, 1, path="lantern/\nx"), "control character"),
    "path with a C1 control": (lambda e: add(e, 1, path="lantern/\x85x"), "control character"),
    "operation": (lambda e: files(e, 0)[0].update(operation="rename"), "operation"),
    "add with a preimage": (
        lambda e: file(e, 0, "shade.ini").update(pre=PIN),
        "pre: does not belong to add",
    ),
    "add without a postimage": (
        lambda e: file(e, 0, "shade.ini").pop("post"),
        "post: missing, needed to add",
    ),
    "replace without a preimage": (
        lambda e: file(e, 0, "lamp.ini").pop("pre"),
        "pre: missing, needed to replace",
    ),
    "replace without a postimage": (
        lambda e: file(e, 0, "lamp.ini").pop("post"),
        "post: missing, needed to replace",
    ),
    "delete without a preimage": (
        lambda e: file(e, 0, "legacy.ini").pop("pre"),
        "pre: missing, needed to delete",
    ),
    "delete with a postimage": (
        lambda e: file(e, 0, "legacy.ini").update(post=PIN),
        "post: does not belong to delete",
    ),
    "delete with a mode": (
        lambda e: file(e, 0, "legacy.ini").update(mode="100644"),
        "mode: does not belong to delete",
    ),
    "mode": (lambda e: file(e, 0, "lamp.ini").update(mode="100664"), "mode"),
    "mode of a submodule": (lambda e: file(e, 0, "lamp.ini").update(mode="160000"), "mode"),
    "nothing changes": (
        lambda e: [
            file(e, 1, "wick.ini").update(post=file(e, 1, "wick.ini")["pre"]),
            file(e, 1, "wick.ini").pop("mode"),
        ],
        "is not changed by this stage",
    ),
    "one digest, two lengths": (
        lambda e: file(e, 1, "wick.ini").update(
            post={**file(e, 1, "wick.ini")["pre"], "length": 1}
        ),
        "has one digest with two lengths",
    ),
    "preimage of no stage": (
        lambda e: file(e, 1, "lamp.ini").update(pre=PIN),
        "has the preimage 000000000000, but stage overlay leaves afe406b56360",
    ),
    "preimage of another length": (
        lambda e: file(e, 1, "lamp.ini")["pre"].update(length=1),
        "but stage overlay leaves",
    ),
    "stages swapped": (lambda e: swap(e, 1, 2), "has the preimage"),
    "stage doubled": (
        lambda e: e["stage"].insert(2, {**stage(e, 1), "name": "010-again"}),
        "has the preimage",
    ),
    "stage left out": (lambda e: e["stage"].pop(1), "has the preimage"),
    "added twice": (
        lambda e: [
            files(e, 2).pop(files(e, 2).index(file(e, 2, "shade.ini"))),
            add(e, 2, path="lantern/shade.ini"),
        ],
        "is added, but exists after stage overlay",
    ),
    "replaced after its end": (
        lambda e: files(e, 1).append(
            {"path": "lantern/legacy.ini", "operation": "replace", "pre": PIN, "post": PIN}
        ),
        "does not exist after stage overlay: its preimage cannot be reached",
    ),
    "deleted twice": (
        lambda e: files(e, 1).append(file(e, 0, "legacy.ini")),
        "its preimage cannot be reached",
    ),
    "below a file": (
        lambda e: add(e, 1, path="lantern/shade.ini/x"),
        'lies below "lantern/shade.ini", a file after stage overlay',
    ),
    "one stage independent": (
        lambda e: stage(e, 1).update(independent="bytes"),
        "there is no other such stage",
    ),
    "another between independent ones": (
        lambda e: (
            stage(e, 0).update(independent="bytes"),
            stage(e, 2).update(independent="bytes"),
        ),
        "stage[1]: stands between stages that are independent",
    ),
    "independent of what": (
        lambda e: stage(e, 1).update(independent="mostly"),
        "stage[1].independent",
    ),
    "two agreements": (
        lambda e: [
            stage(e, 1).update(independent="bytes"),
            stage(e, 2).update(independent="syntax"),
        ],
        "do not name the same agreement",
    ),
    "independent without files": (
        lambda e: [
            [each.update(independent="bytes") for each in e["stage"][1:]],
            stage(e, 1).pop("files"),
        ],
        "stage[1].independent: its files are not known",
    ),
    "no scope": (lambda e: e.pop("scope"), "scope"),
    "empty scope": (lambda e: e["scope"].update(include=[]), "scope.include: is empty"),
    "scope with dots": (lambda e: e["scope"].update(include=["../"]), "scope.include"),
    "scope absolute": (lambda e: e["scope"].update(include=["/lantern/"]), "scope.include"),
    "retained twice": (lambda e: e["retained"].append(e["retained"][0]), "is given twice"),
    "retained and changed": (
        lambda e: e["retained"][0].update(
            files=[{"path": "lantern/lamp.ini", **PIN, "mode": "100644"}], count=1
        ),
        '"lantern/lamp.ini" is changed by stage',
    ),
    "retained outside": (
        lambda e: e["retained"][0]["files"][0].update(path="README.txt"),
        "retained[0].files[0].path",
    ),
    "retained count": (lambda e: e["retained"][0].update(count=3), "retained[0].count"),
    "retained empty": (lambda e: e["retained"][0].update(files=[]), "retained[0].files: is empty"),
    "retained says nothing": (
        lambda e: e.update(retained=[{"name": "x"}]),
        "retained[0]: says nothing",
    ),
    "complete, files not known": (
        lambda e: [stage(e, 2).pop("tree"), stage(e, 1).pop("files")],
        "stage[1]: its files are not known, but the scope is complete",
    ),
    "complete, retained not known": (
        lambda e: [stage(e, 2).pop("tree"), e["retained"][0].pop("files")],
        "retained[0]: its files are not known, but the scope is complete",
    ),
    "component twice": (
        lambda e: e.update(component=[{"name": "x", "commit": "a" * 40}] * 2),
        "component: x is given twice",
    ),
    "component without pins": (
        lambda e: e.update(component=[{"name": "x"}]),
        "component[0]: pins nothing",
    ),
    "source by an unknown algorithm": (
        lambda e: e.update(
            component=[
                {"name": "x", "source": [{"algorithm": "md5", "root": "./", "sha256": "0" * 64}]}
            ]
        ),
        "component[0].source[0].algorithm",
    ),
    "source of no folder": (
        lambda e: e.update(
            component=[
                {
                    "name": "x",
                    "source": [
                        {"algorithm": "pinproof-tree/v1", "root": "src", "sha256": "0" * 64}
                    ],
                }
            ]
        ),
        "component[0].source[0].root",
    ),
    "manifest without overlay": (
        lambda e: [
            e["stage"].pop(0),
            e.update(manifest={"schema": "s", **PIN, "rows": 3}),
        ],
        "manifest: there is no overlay",
    ),
    "manifest of other rows": (
        lambda e: e.update(manifest={"schema": "s", **PIN, "rows": 4}),
        "manifest.rows: 4, but the overlay lists 3",
    ),
    "manifest of more additions": (
        lambda e: e.update(manifest={"schema": "s", **PIN, "rows": 3, "added": 2}),
        "manifest.added: 2, but the overlay lists 1",
    ),
    "manifest adds more than it has": (
        lambda e: e.update(manifest={"schema": "s", **PIN, "rows": 3, "added": 4}),
        "manifest.added: is more than rows",
    ),
    "table of another name": (
        lambda e: e.update(files_table={"path": "other.files.json", **PIN}),
        "files_table.path: is not example-lantern.files.json",
    ),
    "table without a length": (
        lambda e: e.update(files_table={"path": "x", "sha256": "0" * 64}),
        "files_table.length: missing",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_entries_are_refused_by_their_path(name: str) -> None:
    change, named = BREAKS[name]
    value = entry()
    change(value)
    assert value != entry(), "the mutation changed nothing"
    with pytest.raises(MalformedError) as caught:
        parse(write_toml(value), "entry")
    assert any(named in mistake for mistake in caught.value.mistakes), caught.value.mistakes


def test_all_mistakes_are_named_at_once() -> None:
    value = entry()
    value["name"] = "Lantern"
    value["base"]["commit"] = "abc"
    add(value, 1, path="/etc/passwd")
    file(value, 0, "shade.ini")["mode"] = "644"
    with pytest.raises(MalformedError) as caught:
        parse(write_toml(value), "entry")
    assert len(caught.value.mistakes) == 4


@pytest.mark.parametrize("path", ENTRIES, ids=lambda p: p.stem)
def test_registered_entries_parse_and_print_back(path: Path) -> None:
    value = tomllib.loads(path.read_text())
    assert parse(write_toml(value), "entry") == parse(path.read_bytes(), "entry")


def test_what_an_overlay_replaces_may_be_unknown_if_the_entry_says_it_is_incomplete() -> None:
    value = entry()
    file(value, 0, "lamp.ini").pop("pre")
    value["scope"]["complete"] = False
    moments = parse(write_toml(value), "entry").histories()["lantern/lamp.ini"]
    assert [(m.stage, m.known) for m in moments][:2] == [("base", False), ("overlay", True)]


def test_a_change_of_mode_alone_is_a_change() -> None:
    value = entry()
    row = file(value, 1, "wick.ini")
    row.update(post=row["pre"], mode="100755")
    assert parse(write_toml(value), "entry").name == value["name"]


def test_after_a_stage_of_unknown_files_nothing_is_contradicted() -> None:
    value = entry()
    stage(value, 1).pop("files")
    assert parse(write_toml(value), "entry").name == value["name"]


def test_the_history_of_a_file_follows_the_stages() -> None:
    histories = parse(ENTRY.read_bytes(), "entry").histories()
    assert [m.stage for m in histories["lantern/lamp.ini"]] == [
        "base",
        "overlay",
        "010-dim",
        "020-night",
    ]
    legacy = histories["lantern/legacy.ini"]
    assert [m.pin is None for m in legacy] == [False, True]
    light = histories["lantern/light.sh"]
    assert [(m.known, m.pin is None, m.mode) for m in light] == [
        (True, True, None),
        (True, False, 0o100755),
    ]


def test_every_digest_and_id_of_an_entry_is_a_row_once() -> None:
    for path in ENTRIES:
        value = parse(path.read_bytes(), path.stem)
        rows = [row.row for row in pins(value)] + [row.row for row in ids(value)]
        assert len(set(rows)) == len(rows)
        text = path.read_text().replace(value.source.commit if value.source else "-", "")
        for digits in [row.pin.sha256 for row in pins(value)] + [row.id for row in ids(value)]:
            assert digits in text


# ── files table ────────────────────────────────────────────────────────────────────────────────


def table() -> dict[str, str]:
    """Every file of the final stage, from the entry itself."""
    value = entry()
    rows: dict[str, str] = {}
    for each in value["stage"]:
        for row in each["files"]:
            rows.pop(row["path"], None)
            if "post" in row:
                post = row["post"]
                rows[row["path"]] = f"{post['sha256']} {post['length']} {row['mode']}"
    for row in value["retained"][0]["files"]:
        rows[row["path"]] = f"{row['sha256']} {row['length']} {row['mode']}"
    return rows


def tabled(rows: Any) -> Composition:
    data = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
    value = entry()
    value["files_table"] = {
        "path": "example-lantern.files.json",
        "sha256": sha256(data),
        "length": len(data),
    }
    return with_table(parse(write_toml(value), "entry"), data, "table")


def test_a_table_lists_the_final_stage() -> None:
    assert len(tabled({**table(), "lantern/more": f"{'0' * 64} 7 100644"}).table) == 7


SPOILT: Final[dict[str, tuple[Callable[[dict[str, Any]], object], str]]] = {
    "outside": (lambda t: t.update({"other": f"{'0' * 64} 1 100644"}), "is outside the scope"),
    "not plain": (lambda t: t.update({"lantern/../x": f"{'0' * 64} 1 100644"}), "part"),
    "no mode": (lambda t: t.update({"lantern/x": f"{'0' * 64} 1"}), "is not of the form"),
    "padded": (lambda t: t.update({"lantern/x": f"{'0' * 64} 01 100644"}), "is not of the form"),
    "no text": (lambda t: t.update({"lantern/x": 1}), "is not of the form"),
    "upper-case": (lambda t: t.update({"lantern/x": f"{'A' * 64} 1 100644"}), "is not of the"),
    "line break": (lambda t: t.update({"lantern/x": f"{'0' * 64} 1 100644\n"}), "is not of the"),
    "lacks a file": (lambda t: t.pop("lantern/lamp.ini"), "is not what stage 020-night leaves"),
    "other bytes": (
        lambda t: t.update({"lantern/lamp.ini": f"{'0' * 64} 91 100644"}),
        "is not what stage 020-night leaves",
    ),
    "other mode": (
        lambda t: t.update({"lantern/light.sh": t["lantern/light.sh"].replace("755", "644")}),
        "has another mode",
    ),
    "deleted": (
        lambda t: t.update({"lantern/legacy.ini": f"{'0' * 64} 1 100644"}),
        "stage overlay deletes it",
    ),
    "retained": (
        lambda t: t.update({"lantern/notes.txt": f"{'0' * 64} 35 100644"}),
        "is not what retained untouched says",
    ),
    "retained mode": (
        lambda t: t.update({"lantern/notes.txt": t["lantern/notes.txt"].replace("644", "755")}),
        "has another mode than retained untouched says",
    ),
    "below a file": (
        lambda t: t.update({"lantern/notes.txt/a/b": f"{'0' * 64} 1 100644"}),
        "is a file, and others lie below it",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_spoilt_tables_are_refused(name: str) -> None:
    change, named = SPOILT[name]
    rows: dict[str, Any] = dict(table())
    change(rows)
    with pytest.raises(MalformedError) as caught:
        tabled(rows)
    assert any(named in mistake for mistake in caught.value.mistakes), caught.value.mistakes


@pytest.mark.parametrize("data", [b"[]", b"{}", b"{", b'{"a": 1, "a": 1}', b"\xef\xbb\xbf{}"])
def test_what_is_no_table_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedError):
        tabled(data)


def test_a_table_of_other_bytes_is_refused() -> None:
    value = entry()
    value["files_table"] = {"path": "example-lantern.files.json", **PIN}
    with pytest.raises(MalformedError, match="is not what files_table pins"):
        with_table(parse(write_toml(value), "entry"), json.dumps(table()).encode(), "table")
