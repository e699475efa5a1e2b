"""A chain of stages, proved; and every way in which one does not hold, by its own name."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from support.composed import Composed, Everything, changes, diff, entries, tree

from verifier.catalog.entries.composition import (
    Change,
    Component,
    Manifest,
    NativeInput,
    Operation,
    Patch,
    Retained,
    Scope,
    SourceDigest,
    Stage,
    StageKind,
    Wanted,
)
from verifier.checks.composition.components import Read
from verifier.checks.composition.lineage import Ancestry
from verifier.checks.composition.proof import demanded
from verifier.core.coverage import State
from verifier.core.digest import Pin
from verifier.core.finding import in_order

LINES = b"".join(b"%d\n" % number for number in range(40))
BASE = {"a/f": LINES, "a/g": b"g\n", "a/old": b"x\n", "csrc/k": b"k\n", "n": b"n\n"}
TARGET = {**BASE, "a/f": LINES.replace(b"\n3\n", b"\nthree\n"), "a/new": b"1\n2\n3\n4\n"}
del TARGET["a/old"]
ONE = {**TARGET, "a/f": TARGET["a/f"].replace(b"\n9\n", b"\nnine\nnine and a half\n")}
TWO = {**ONE, "a/f": ONE["a/f"].replace(b"\n30\n", b"\nthirty\n"), "a/x": b"new\n"}
THREE = {**TWO, "a/f": TWO["a/f"].replace(b"\n9\n", b"\n9\n"), "a/new": b"1\n2\n3\nfour\n"}


def composed(**more: object) -> Composed:
    steps = [("base", BASE), ("overlay", TARGET), ("one", ONE), ("two", TWO), ("three", THREE)]
    return Composed(steps=list(steps), **more)  # type: ignore[arg-type]


def stage(made: Composed, name: str, **values: object) -> None:
    at = next(n for n, one in enumerate(made.stages) if one.name == name)
    made.stages[at] = replace(made.stages[at], **values)  # type: ignore[arg-type]


def test_a_sound_chain_is_proved() -> None:
    made = composed()
    proof = made.prove()
    assert proof.outcome.findings == ()
    assert proof.tree == tree(THREE)
    states = {row.facet: row.state for row in proof.outcome.coverage}
    assert {states[f] for f in ("lineage", "patches", "stages")} == {State.HELD}
    assert states["retained"] is State.HELD
    assert {states[f] for f in ("orders", "components")} == {State.NOT_APPLICABLE}
    assert {states[f] for f in ("final-stage", "unlisted", "modes")} == {State.NOT_CHECKED}
    assert demanded(made.entry, frozenset({"final-stage", "unlisted"})) == {
        "lineage",
        "patches",
        "stages",
    }


def test_a_pin_without_a_length_is_said() -> None:
    made = composed()
    pin = Pin(sha256=made.stages[1].patch.pin.sha256, length=None)  # type: ignore[union-attr]
    stage(made, "one", patch=Patch(pin=pin, path=None))
    states = {row.facet: row.state for row in made.prove().outcome.coverage}
    assert states["patches"] is State.HELD_LENGTH_NOT_PINNED
    assert states["stages"] is State.HELD_LENGTH_NOT_PINNED


# ── the order of stages ────────────────────────────────────────────────────────────────────────


def test_swapped_stages() -> None:
    made = composed()
    made.stages[1:3] = [replace(one, tree=None) for one in reversed(made.stages[1:3])]
    found = [f for f in made.prove().outcome.findings if f.code == "stage-swapped"]
    assert [f.cause for f in found] == [
        "at stage two: stage one makes what it starts from, and comes after it"
    ]


def test_a_skipped_stage() -> None:
    made = composed()
    del made.stages[1]
    found = [f for f in made.prove().outcome.findings if f.code == "stage-skipped"]
    assert [f.where.path for f in found] == ["a/f"]
    assert "behind stage overlay" in (found[0].cause or "")


def test_a_doubled_stage() -> None:
    made = composed()
    made.stages.insert(2, replace(made.stages[1], name="again"))
    made.patches["again"] = made.patches["one"]
    found = [f for f in made.prove().outcome.findings if f.code == "stage-doubled"]
    assert [f.cause for f in found] == ["at stage again: stage one has made the same change before"]


def test_a_stale_stage() -> None:
    made = composed()
    (change,) = (c for c in made.stages[2].files or () if c.path == "a/f")
    stale = change._replace(pre=Pin.of(TARGET["a/f"]))
    rest = tuple(c for c in made.stages[2].files or () if c.path != "a/f")
    stage(made, "two", files=(stale, *rest))
    found = [f for f in made.prove().outcome.findings if f.code == "stage-stale"]
    assert "stage one has changed it since" in (found[0].cause or "")


def test_another_base() -> None:
    made = composed()
    made.steps[0] = ("base", {**BASE, "a/f": b"other\n" + LINES})
    assert {"stage-preimage"} <= made.codes()


# ── patches ────────────────────────────────────────────────────────────────────────────────────


def test_a_patch_that_is_not_the_pinned_one() -> None:
    made = composed()
    made.patches["one"] += b"\n"
    assert "patch-not-pinned" in made.codes()
    del made.patches["one"]
    assert "patch-unavailable" in made.codes()
    assert "stage-tree-unknown" in made.codes()


def test_a_patch_that_cannot_be_read() -> None:
    made = composed()
    made.patches["one"] += b"more\n"
    stage(made, "one", patch=Patch(pin=Pin.of(made.patches["one"]), path=None))
    found = next(f for f in made.prove().outcome.findings if f.code == "patch-garbage")
    assert found.where.path == "the patch of stage one"


def test_a_stage_lists_what_its_patch_changes_and_nothing_else() -> None:
    made = composed()
    rows = made.stages[2].files or ()
    stage(made, "two", files=tuple(c for c in rows if c.path != "a/x"))
    assert made.codes() == {"stage-unlisted"}
    extra = Change("a/g", Operation.REPLACE, Pin.of(b"g\n"), Pin.of(b"h\n"), None)
    stage(made, "two", files=(*rows, extra))
    assert {"stage-untouched", "stage-tree-unknown"} <= made.codes()
    wrong = [c._replace(operation=Operation.REPLACE) if c.path == "a/x" else c for c in rows]
    stage(made, "two", files=tuple(wrong))
    assert "stage-operation" in made.codes()


def test_another_postimage_mode_and_tree() -> None:
    made = composed()
    (change, *rest) = made.stages[1].files or ()
    stage(made, "one", files=(change._replace(post=Pin.of(b"other")), *rest))
    assert "stage-postimage" in made.codes()
    stage(made, "one", files=(change._replace(mode=0o100755), *rest))
    assert made.codes() == {"stage-mode"}
    stage(made, "one", files=(change, *rest), tree="3" * 40)
    assert made.codes() == {"stage-tree"}


def test_a_patch_that_applies_twice_is_named() -> None:
    lines = b"x\n" * 12
    steps = [("base", {"f": lines}), ("overlay", {"f": lines, "o": b""})]
    made = Composed(steps=[*steps])
    text = b"--- a/f\n+++ b/f\n@@ -4,2 +4,3 @@\n x\n+x\n x\n"
    after = Pin.of(lines + b"x\n")
    row = Change("f", Operation.REPLACE, Pin.of(lines), after, None)
    made.patches["twice"] = text
    made.stages.append(
        Stage(
            name="twice",
            kind=StageKind.PATCH,
            files=(row,),
            patch=Patch(pin=Pin.of(text), path=None),
        )
    )
    assert made.codes() == {"stage-reapplies"}


def test_a_file_in_the_way_of_a_folder() -> None:
    made = composed()
    text = diff({}, {"n/below": b"1\n"})
    made.patches["three"] = text
    stage(made, "three", patch=Patch(pin=Pin.of(text), path=None), files=None, tree=None)
    assert made.codes() == {"stage-in-the-way"}


def test_what_is_not_regular_is_not_patched() -> None:
    made = composed()
    made.material["target"] = Read(
        entries=entries(TARGET, {"a/new": 0o100755}), read=lambda _: None
    )
    made.more["target"] = None
    text = made.patches["three"].replace(
        b"--- a/a/new", b"index 0123456..0123457 100755\n--- a/a/new"
    )
    made.patches["three"] = text
    stage(made, "three", patch=Patch(pin=Pin.of(text), path=None), tree=None)
    assert "stage-mode" in made.codes()


def test_stages_of_unknown_files() -> None:
    made = composed()
    stage(made, "overlay", files=None)
    assert made.codes() == set()
    stage(made, "two", kind=StageKind.REGIONS, regions="x/v1", files=None, patch=None)
    assert {"stage-unknown-files", "stage-unreached"} <= made.codes()


def test_bytes_that_nobody_has() -> None:
    made = composed()
    made.material["contents"] = Everything()
    assert {"stage-bytes-missing", "stage-tree-unknown"} <= made.codes()


def test_a_stage_of_a_component_brings_bytes_by_their_digest() -> None:
    made = composed()
    more = {**THREE, "lib/c": b"c\n"}
    made.stages.append(
        Stage(
            name="c",
            kind=StageKind.COMPONENT,
            component="c",
            files=changes(THREE, more),
            tree=tree(more),
        )
    )
    assert {"stage-bytes-missing", "stage-tree-unknown"} == made.codes()
    made.material["contents"] = Everything(BASE, TARGET, more)
    assert made.codes() == set()


# ── lineage ────────────────────────────────────────────────────────────────────────────────────


def test_base_and_target_are_the_pinned_trees() -> None:
    made = composed()
    made.more["base"] = replace(made.entry.base, tree="4" * 40)
    assert made.codes() == {"lineage-tree"}
    made = composed()
    made.material["base"] = None
    assert made.codes() == {"lineage-unread"}
    made = composed()
    made.material["target"] = None
    assert "lineage-unread" in made.codes()


def test_the_base_is_an_ancestor() -> None:
    assert composed(ancestry=Ancestry(known=True)).codes() == {"lineage-ancestor"}
    assert composed(ancestry=Ancestry(known=False, why="it ends")).codes() == {"lineage-history"}


def test_the_overlay_lists_what_lies_between_base_and_target() -> None:
    made = composed()
    rows = made.stages[0].files or ()
    stage(made, "overlay", files=tuple(c for c in rows if c.path != "a/new"), tree=None)
    assert "lineage-unlisted" in made.codes()
    made.more["scope"] = Scope(include=("./",), exclude=(), complete=False)
    assert "lineage-unlisted" not in made.codes()
    same = Change("a/g", Operation.REPLACE, Pin.of(b"g\n"), Pin.of(b"g\n"), None)
    stage(made, "overlay", files=(*rows, same))
    assert made.codes() == {"lineage-unchanged"}
    wrong = [c._replace(operation=Operation.REPLACE) if c.path == "a/new" else c for c in rows]
    stage(made, "overlay", files=tuple(wrong))
    assert "lineage-operation" in made.codes()


@pytest.mark.parametrize(
    ("rows", "added", "codes"),
    [(3, 1, set()), (3, None, set()), (4, 1, {"lineage-rows"}), (3, 2, {"lineage-rows"})],
)
def test_the_manifest_counts(rows: int, added: int | None, codes: set[str]) -> None:
    made = composed()
    manifest = Manifest(schema="x/v1", pin=Pin.of(b"m"), rows=rows, added=added)
    made.more["manifest"] = manifest
    made.material["manifest"] = b"m"
    assert made.codes() == codes
    assert any("x/v1 is not read" in words for words in made.prove().outcome.not_proven)


def published(made: Composed) -> dict[str, Any]:
    """Write the manifest that the overlay of a composition could have been published with."""
    rows = made.stages[0].files or ()
    return {
        "schema": "sparkring-vllm-python-overlay/v1",
        "base": {"repository": "r", "commit": "1" * 40, "tree": tree(BASE)},
        "target": {"repository": "r", "commit": "2" * 40, "tree": tree(TARGET)},
        "files": [
            {
                "path": row.path,
                "operation": str(row.operation),
                "base_sha256": row.pre and row.pre.sha256,
                "target_sha256": row.post and row.post.sha256,
                "target_bytes": row.post and row.post.length,
            }
            for row in rows
        ],
    }


def with_manifest(change: Callable[[dict[str, Any]], object]) -> Composed:
    kept = {**TARGET, "a/old": BASE["a/old"]}
    made = Composed(steps=[("base", BASE), ("overlay", kept)])
    value = published(made)
    value["target"]["tree"] = tree(kept)
    change(value)
    data = json.dumps(value).encode()
    pin = Pin.of(data)
    made.more["manifest"] = Manifest(
        schema="sparkring-vllm-python-overlay/v1", pin=pin, rows=2, added=None
    )
    made.material["manifest"] = data
    return made


def test_the_manifest_says_what_the_entry_does() -> None:
    assert with_manifest(lambda _: None).codes() == set()
    made = with_manifest(lambda _: None)
    made.material["manifest"] = None
    assert made.codes() == {"lineage-manifest-unavailable"}
    made.material["manifest"] = b"{}"
    assert made.codes() == {"lineage-manifest"}


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda v: v["base"].update(tree="3" * 40), "base"),
        (lambda v: v["target"].update(commit="3" * 40), "target"),
        (lambda v: v["files"].pop(), "a/new"),
        (lambda v: v["files"][0].update(path="a/g"), "a/f"),
        (lambda v: v["files"][0].update(base_sha256="3" * 64), "a/f"),
        (lambda v: v["files"][0].update(target_sha256="3" * 64), "a/f"),
        (lambda v: v["files"][0].update(target_bytes=1), "a/f"),
        (lambda v: v["files"][1].update(operation="replace", base_sha256="3" * 64), "a/new"),
        (lambda v: v["files"][1].update(base_sha256="3" * 64), "manifest"),
        (lambda v: v.update(more=1), "manifest"),
    ],
)
def test_a_manifest_that_disagrees(change: Callable[[dict[str, Any]], object], where: str) -> None:
    found = with_manifest(change).prove().outcome.findings
    assert {f.code for f in found} == {"lineage-manifest"}
    assert where in {f.where.path for f in found}


def test_native_inputs_are_the_same_objects() -> None:
    made = composed()
    csrc = tree({"k": b"k\n"})
    for path, oid, codes in (
        ("csrc", csrc, set()),
        ("csrc", None, set()),
        ("csrc/k", None, set()),
        ("csrc", "5" * 40, {"lineage-native"}),
        ("a", None, {"lineage-native"}),
        ("nowhere", None, {"lineage-native"}),
    ):
        inputs = (NativeInput(path=path, id=oid),)
        made.more["base"] = replace(composed().entry.base, native_inputs=inputs)
        assert made.codes() == codes, path


# ── components and what had to stay ────────────────────────────────────────────────────────────

FILES = {"pkg/a.py": b"a\n", "LICENCE": b"l\n"}


def component(**values: object) -> Component:
    made = Component(
        name="c",
        repository=None,
        commit="6" * 40,
        tree=tree(FILES),
        sources=(),
        contract=Pin.of(b"l\n"),
    )
    return replace(made, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({}, set()),
        ({"tree": "7" * 40}, {"component-tree"}),
        ({"contract": Pin.of(b"other")}, {"component-contract"}),
        (
            {
                "sources": (
                    SourceDigest(
                        algorithm="sparkcache-source-tree/v1", root="pkg/", sha256="8" * 64
                    ),
                )
            },
            {"component-source"},
        ),
    ],
)
def test_components(values: dict[str, object], codes: set[str]) -> None:
    made = composed()
    made.more["components"] = (component(**values),)
    assert made.codes() == {"component-unread"}
    held = Everything(FILES)
    read = Read(entries=entries(FILES), read=lambda e: held.get(e.sha256 or ""))
    made.material["components"] = {"c": read}
    assert made.codes() == codes


def test_blind_spots_are_said() -> None:
    made = composed()
    source = SourceDigest(algorithm="sparkcache-source-tree/v1", root="pkg/", sha256="8" * 64)
    made.more["components"] = (component(sources=(source,)),)
    assert any("line ends" in words for words in made.prove().outcome.not_proven)


def test_what_had_to_stay() -> None:
    made = composed()
    kept = Retained(
        name="k", count=None, files=(("csrc/k", Wanted(Pin.of(b"k\n").sha256, 2, None)),)
    )
    made.more["scope"] = Scope(include=("./",), exclude=(), complete=False)
    made.more["retained"] = (kept,)
    assert made.codes() == set()
    lost = Retained(name="k", count=None, files=(("csrc/k", Wanted("9" * 64, None, None)),))
    made.more["retained"] = (lost,)
    assert made.codes() == {"retained-changed"}


# ── what the entry lists of the final stage ────────────────────────────────────────────────────


def rows(files: dict[str, bytes], mode: int = 0o100644) -> dict[str, Wanted]:
    return {path: Wanted(Pin.of(data).sha256, len(data), mode) for path, data in files.items()}


def test_a_files_table_is_what_the_stages_leave() -> None:
    made = composed()
    made.more |= {"retained": (), "table": rows(THREE)}
    assert made.codes() == set()
    for wrong in (
        {"n": Wanted("9" * 64, 2, 0o100644)},
        {"n": rows({"n": b"n\n"}, 0o100755)["n"]},
        {"n": rows({"n": b"n\n"}, 0o120000)["n"]},
        {"nowhere": rows({"n": b"n\n"})["n"]},
        {"a/x": rows({"a/x": b"new\n"}, 0o100755)["a/x"]},
    ):
        made.more["table"] = {**rows(THREE), **wrong}
        found = [f for f in made.prove().outcome.findings if f.code == "stage-final"]
        assert [f.where.path for f in found] == list(wrong)


def test_a_complete_entry_lists_every_file_that_the_stages_leave() -> None:
    made = composed()
    kept = rows(THREE)
    del kept["n"]
    made.more |= {"retained": (), "table": kept}
    (found,) = made.prove().outcome.findings
    assert (found.code, found.where.path) == ("stage-final-unlisted", "n")
    made.more["scope"] = Scope(include=("./",), exclude=("n",), complete=True)
    assert made.codes() == set()


def test_modes_and_types_of_what_had_to_stay() -> None:
    made = composed()
    made.more["scope"] = Scope(include=("./",), exclude=(), complete=False)
    for mode, wanted, held in (
        (0o100755, None, True),
        (0o100755, 0o100644, False),
        (0o120000, None, False),
        (0o120000, 0o120000, True),
        (0o100644, 0o120000, False),
    ):
        kept = Wanted(Pin.of(b"k\n").sha256, 2, wanted)
        made.more["retained"] = (Retained(name="k", count=None, files=(("csrc/k", kept),)),)
        base = Read(entries=entries(BASE, {"csrc/k": mode}), read=lambda _: None)
        made.material["base"] = base
        assert ("retained-changed" in made.codes()) is not held, (mode, wanted)


def test_findings_are_in_the_order_of_the_entry() -> None:
    made = composed()
    made.patches.clear()
    found = in_order(made.prove().outcome.findings)
    missing = [f.where.path for f in found if f.code == "patch-unavailable"]
    assert missing == ["stage one", "stage two", "stage three"]


def unpinned(made: Composed) -> None:
    """Take away what the order of stages shows by itself: preimages and trees."""
    for at, one in enumerate(made.stages):
        files = tuple(
            c._replace(pre=None) if c.operation is Operation.REPLACE else c for c in one.files or ()
        )
        made.stages[at] = replace(one, files=files, tree=None)


def headline(made: Composed) -> tuple[str, str | None, str | None]:
    first = in_order(made.prove().outcome.findings)[0]
    return first.code, first.where.path, first.got


def test_exchanged_patches_are_named() -> None:
    made = composed()
    unpinned(made)
    one, two = made.stages[1], made.stages[2]
    stage(made, "one", patch=two.patch)
    stage(made, "two", patch=one.patch)
    made.patches["one"], made.patches["two"] = made.patches["two"], made.patches["one"]
    wanted = "another: the patch of stage two makes them"
    assert headline(made) == ("patch-exchanged", "stage one", wanted)


def test_a_patch_in_the_place_of_another_is_named() -> None:
    made = composed()
    stage(made, "two", patch=made.stages[1].patch)
    made.patches["two"] = made.patches["one"]
    wanted = "the patch of stage one, a second time"
    assert headline(made) == ("patch-exchanged", "stage two", wanted)


def test_stages_in_another_order_are_named_without_preimages() -> None:
    made = composed()
    unpinned(made)
    made.stages[1:3] = made.stages[2:0:-1]
    found = [f for f in made.prove().outcome.findings if f.code == "stage-swapped"]
    assert [f.where.path for f in found] == ["stage two"]
    assert found[0].expected == "stage one before stage two, which needs it"
