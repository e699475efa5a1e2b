"""A tree against a composition: what cases cannot show, and that nothing else is verified."""

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import compositions
from support.git_repos import Repo
from support.registry import NOW, Registry

from verifier import ask
from verifier.catalog.entries.composition import Composition
from verifier.catalog.entries.composition_format import parse
from verifier.checks import composition
from verifier.checks.composition import Standing
from verifier.checks.composition.expected import scoped
from verifier.core.coverage import State
from verifier.core.outcome import Outcome, Result, Subject
from verifier.core.strict import write_toml
from verifier.core.verdict import Verdict
from verifier.policy import judge
from verifier.sources.tree import TreeEntry, Type
from verifier.sources.within import Within

ENTRY: Final = Path(__file__).parents[3] / "registry/targets/pinproof/composition"
STRICT: Final = frozenset({"final-stage", "unlisted", "modes"})
REGION: Final = frozenset({"final-stage"})


def example(**changes: Any) -> Composition:
    value = tomllib.loads((ENTRY / "example-lantern.toml").read_text())
    return parse(write_toml({**value, **changes}), "entry")


def of(path: str, data: bytes, mode: int | None = 0o100644) -> TreeEntry:
    return TreeEntry(path.encode(), Type.FILE, mode, len(data), sha256(data).hexdigest())


def link(path: str, target: bytes) -> TreeEntry:
    digest = sha256(target).hexdigest()
    return TreeEntry(path.encode(), Type.LINK, 0o120000, len(target), digest, target)


def lantern(stage: str = "020-night") -> list[TreeEntry]:
    return [of(path, data, mode) for path, (mode, data) in compositions.lantern(stage).items()]


def standing(entries: Iterable[TreeEntry], **changes: Any) -> Callable[[Composition], Standing]:
    def made(entry: Composition) -> Standing:
        found = scoped(entry.scope, sorted(entries))
        tree = Standing(scoped=found, read=lambda _path: None, git_tree=None, whole=True)
        return replace(tree, **changes)

    return made


def check(tree: Callable[[Composition], Standing], entry: Composition) -> Outcome:
    return composition.check(tree(entry), entry)


def verdict(outcome: Outcome, demanded: frozenset[str] = STRICT) -> Verdict:
    return judge(outcome, subject=Subject(name="x"), demanded=demanded, now=NOW).verdict


def codes(outcome: Outcome) -> set[str]:
    return {finding.code for finding in outcome.findings}


def states(outcome: Outcome) -> dict[str, State]:
    return {covered.facet: covered.state for covered in outcome.coverage}


def test_the_final_stage_is_verified() -> None:
    outcome = check(standing(lantern()), example())
    assert verdict(outcome) is Verdict.VERIFIED
    assert states(outcome) == {
        "final-stage": State.HELD,
        "unlisted": State.HELD,
        "modes": State.HELD,
        "lineage": State.NOT_CHECKED,
        "patches": State.NOT_CHECKED,
        "stages": State.NOT_CHECKED,
        "orders": State.NOT_APPLICABLE,
        "components": State.NOT_APPLICABLE,
        "retained": State.HELD,
    }


@pytest.mark.parametrize("stage", compositions.STAGES[:-1])
def test_an_earlier_stage_is_named(stage: str) -> None:
    outcome = check(standing(lantern(stage)), example())
    assert verdict(outcome, REGION) is Verdict.REJECTED
    assert outcome.identified[0].version == stage
    assert not outcome.identified[0].current


def test_a_tree_that_was_not_read_whole_is_never_compared() -> None:
    outcome = check(standing(lantern(), whole=False), example())
    assert verdict(outcome, REGION) is Verdict.UNDECIDED
    assert set(states(outcome).values()) == {State.NOT_CHECKED}


def test_nothing_at_all_is_never_verified() -> None:
    for entry in (example(), example(scope={"include": ["./"], "complete": True})):
        outcome = check(standing([]), entry)
        assert verdict(outcome, REGION) is Verdict.UNDECIDED


def test_a_file_without_bytes_is_undecided() -> None:
    entries = [e._replace(sha256=None) if e.path.endswith(b"wick.ini") else e for e in lantern()]
    outcome = check(standing(entries), example())
    assert codes(outcome) == {"composition-unread"}
    assert verdict(outcome, REGION) is Verdict.UNDECIDED
    assert states(outcome)["final-stage"] is State.NOT_HELD


@given(st.data())
def test_no_tree_but_the_final_one_is_verified(data: st.DataObject) -> None:
    """Take files from any stage, change or drop or add some: verified only if nothing differs."""
    final = {e.path: e for e in lantern() if e.path.startswith(b"lantern/")}
    every = sorted({e.path for s in compositions.STAGES for e in lantern(s)} - {b"README.txt"})
    made: dict[bytes, TreeEntry] = {}
    for path in [*every, b"lantern/other", b"lantern/LAMP.ini"]:
        choices = [
            None,
            *(e for s in compositions.STAGES for e in lantern(s) if e.path == path),
            of(path.decode(), b"x"),
            link(path.decode(), b"notes.txt"),
        ]
        choice = data.draw(st.sampled_from([final.get(path), final.get(path), *choices]))
        if choice is not None:
            made[path] = choice
    if data.draw(st.booleans()) and made:
        path = data.draw(st.sampled_from(sorted(made)))
        made[path] = made[path]._replace(mode=data.draw(st.sampled_from([None, 0o100755])))
    outcome = check(standing(made.values()), example())
    assert (verdict(outcome) is Verdict.VERIFIED) == (made == final)
    if verdict(outcome, REGION) is Verdict.VERIFIED:
        assert {p: e.sha256 for p, e in made.items()} == {p: e.sha256 for p, e in final.items()}


def test_a_link_may_be_what_is_pinned() -> None:
    pin = {"sha256": sha256(b"lamp.ini").hexdigest(), "length": 8}
    change = {"path": "lantern/l", "operation": "add", "post": pin, "mode": "120000"}
    value = tomllib.loads((ENTRY / "example-lantern.toml").read_text())
    value["stage"][2]["files"].append(change)
    entry = parse(write_toml(value), "entry")
    assert verdict(check(standing([*lantern(), link("lantern/l", b"lamp.ini")]), entry)) is (
        Verdict.VERIFIED
    )
    as_file = check(standing([*lantern(), of("lantern/l", b"lamp.ini")]), entry)
    assert "composition-type" in codes(as_file)
    elsewhere = check(standing([*lantern(), link("lantern/l", b"wick.ini")]), entry)
    assert "composition-changed" in codes(elsewhere)


def test_a_special_file_is_refused_in_an_incomplete_scope_too() -> None:
    entry = example(scope={"include": ["lantern/"], "complete": False})
    fifo = TreeEntry(b"lantern/pipe", Type.SPECIAL, None, None, None)
    assert "composition-type" in codes(check(standing([*lantern(), fifo]), entry))
    assert verdict(check(standing([*lantern(), of("lantern/x", b"")]), entry), REGION) is (
        Verdict.VERIFIED
    )


def test_an_incomplete_entry_never_holds_unlisted() -> None:
    entry = example(scope={"include": ["lantern/"], "complete": False})
    outcome = check(standing(lantern()), entry)
    assert states(outcome)["unlisted"] is State.NOT_CHECKED
    assert verdict(outcome) is Verdict.UNDECIDED
    assert verdict(outcome, REGION) is Verdict.VERIFIED


def test_modes_that_are_unknown_or_not_pinned_never_hold() -> None:
    bare = [e._replace(mode=None) if b"notes" in e.path else e for e in lantern()]
    outcome = check(standing(bare), example())
    assert states(outcome)["modes"] is State.NOT_CHECKED
    assert "composition-mode-unknown" in codes(outcome)
    value = tomllib.loads((ENTRY / "example-lantern.toml").read_text())
    del value["retained"][0]["files"][0]["mode"]
    outcome = check(standing(lantern()), parse(write_toml(value), "entry"))
    assert states(outcome)["modes"] is State.NOT_CHECKED
    assert "composition-mode-unpinned" in codes(outcome)


def test_lengths_that_were_not_published_are_said() -> None:
    value = tomllib.loads((ENTRY / "example-lantern.toml").read_text())
    del value["stage"][2]["files"][0]["post"]["length"]
    del value["retained"][0]["files"][0]["length"]
    outcome = check(standing(lantern()), parse(write_toml(value), "entry"))
    assert states(outcome)["final-stage"] is State.HELD_LENGTH_NOT_PINNED
    assert states(outcome)["retained"] is State.HELD_LENGTH_NOT_PINNED
    assert verdict(outcome) is Verdict.VERIFIED


def test_a_git_tree_says_where_an_entry_without_files_stands() -> None:
    value = tomllib.loads((ENTRY / "example-lantern.toml").read_text())
    for stage in value["stage"]:
        del stage["files"]
    del value["retained"]
    entry = parse(write_toml(value), "entry")
    final = value["stage"][2]["tree"]
    assert verdict(check(standing(lantern(), git_tree=final), entry)) is Verdict.VERIFIED
    base = check(standing(lantern(), git_tree=value["base"]["tree"]), entry)
    assert codes(base) == {"composition-earlier-stage"}
    assert base.identified[0].version == "base"
    other = check(standing(lantern(), git_tree="0" * 40), entry)
    assert codes(other) == {"composition-tree"}
    assert verdict(other, REGION) is Verdict.REJECTED
    assert codes(check(standing(lantern()), entry)) == {"composition-files-unknown"}


def test_a_git_tree_stands_for_files_that_are_not_listed() -> None:
    value = tomllib.loads((ENTRY / "example-lantern.toml").read_text())
    del value["stage"][1]["files"]
    entry = parse(write_toml(value), "entry")
    final = value["stage"][2]["tree"]
    assert states(check(standing(lantern(), git_tree=final), entry))["unlisted"] is State.HELD
    assert states(check(standing(lantern()), entry))["unlisted"] is State.NOT_CHECKED


def test_line_ends_are_looked_into_so_often() -> None:
    rows = [
        {"path": f"lantern/{n}", "sha256": sha256(b"%d\n" % n).hexdigest(), "length": len(f"{n}\n")}
        for n in range(60)
    ]
    entry = example(retained=[{"name": "many", "files": rows}])
    converted = [of(f"lantern/{n}", b"%d\r\n" % n) for n in range(60)]
    tree = standing([*lantern(), *converted], read=lambda path: path.rpartition(b"/")[2] + b"\r\n")
    found = Counter(finding.code for finding in check(tree, entry).findings)
    assert found["composition-line-ends"] == 50
    assert found["composition-retained"] == 10


def test_a_commit_of_another_project_resembles_no_git_tree(
    tmp_path: Path, test_registry: Registry
) -> None:
    made = Repo(tmp_path / "other", tmp_path / "other" / ".git")
    made.path.mkdir()
    made.git("init", "--quiet")
    (made.path / "x").write_text("x")
    made.git("add", "x")
    made.git("commit", "--quiet", "--message", "x")
    commit = made.git("rev-parse", "HEAD").decode().strip()
    answered = ask.identify([f"git:{made.path}@{commit}"], trust=trusting(test_registry, tmp_path))
    assert not answered.answers[0].known
    assert "holds no composition" in answered.answers[0].headline


def test_an_excluded_folder_is_not_looked_at() -> None:
    entry = example(
        scope={"include": ["lantern/"], "exclude": ["lantern/build/"], "complete": True}
    )
    outcome = check(standing([*lantern(), of("lantern/build/x", b"")]), entry)
    assert verdict(outcome) is Verdict.VERIFIED
    assert "what lies in lantern/build/" in outcome.not_proven


# ── from the outside ───────────────────────────────────────────────────────────────────────────


def trusting(registry: Registry, tmp_path: Path) -> ask.Trust:
    root = tmp_path / "trusted.root.json"
    root.write_bytes(registry.root)
    return ask.trust(registry=str(registry.folder), root=str(root), clock=NOW)


def report(registry: Registry, tmp_path: Path, at: str, **options: Any) -> Result:
    trust = trusting(registry, tmp_path)
    (result,) = ask.verify_composition("example-lantern", at=at, trust=trust, **options).results
    assert isinstance(result, Result)
    return result


def test_one_composition_is_the_same_in_every_source(
    tmp_path: Path, test_registry: Registry
) -> None:
    commit = "3057b28cbd334e4067e345f61ce6190d153f0db7"
    recipe = {"keep": ["lantern/"]}
    for name in ("folder", "git", "tree.tar", "tree.zip", "lantern-1.0-py3-none-any.whl"):
        compositions.make(tmp_path / name, recipe)
    found = [
        report(test_registry, tmp_path, f"{prefix}{tmp_path / name}{rest}")
        for prefix, name, rest in (
            ("", "folder", ""),
            ("git:", "git", f"@{commit}"),
            ("tar:", "tree.tar", ""),
            ("zip:", "tree.zip", ""),
            ("zip:", "lantern-1.0-py3-none-any.whl", ""),
        )
    ]
    assert {result.verdict for result in found} == {Verdict.VERIFIED}
    assert len({result.subject.digests for result in found}) == 1
    assert len({result.subject.length for result in found}) == 1


def test_of_a_folder_only_the_scope_is_read(tmp_path: Path, test_registry: Registry) -> None:
    folder = tmp_path / "site-packages"
    compositions.make(folder, {})
    (folder / "other").mkdir()
    (folder / "other" / "pipe").touch()
    (folder / "other" / "pipe").unlink()
    os.mkfifo(folder / "other" / "pipe")
    result = report(test_registry, tmp_path, str(folder))
    assert result.verdict is Verdict.VERIFIED
    assert not result.findings


@pytest.mark.parametrize(
    ("path", "held", "near"),
    [
        (b"a/b/x", True, False),
        (b"a/b", True, False),
        (b"a", True, False),
        (b"a/bx", False, False),
        (b"a/b/no/x", False, False),
        (b"a/b/no", True, False),
        (b"c.py", True, False),
        (b"C.py", False, True),
        (b"A/b/x", False, True),
        (b"A/B", False, True),
        (b"c.pyc", False, False),
        (b"d", False, False),
    ],
)
def test_patterns_mean_paths_and_what_leads_to_them(path: bytes, held: bool, near: bool) -> None:
    within = Within([b"a/b/", b"c.py"], [b"a/b/no/"])
    assert (within.holds(path), within.near(path)) == (held, near)
    moved = within.below(b"p/q")
    assert (moved.holds(b"p/q/" + path), moved.near(b"p/q/" + path)) == (held, near)


def test_patterns_say_which_folders_to_enter() -> None:
    within = Within([b"a/b/", b"c/d.py"], [b"a/b/no/"])
    for folder in (b"a", b"a/b", b"a/b/x", b"A", b"a/B", b"c"):
        assert within.enters(folder), folder
    for folder in (b"d", b"a/c", b"a/b/no", b"c/d"):
        assert not within.enters(folder), folder
    assert Within([b"./"]).all
    assert Within([b"./"], [b"x/"]).enters(b"a")
    assert not Within([b"./"], [b"x/"]).enters(b"x")


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_an_empty_folder_in_the_place_of_a_file(
    tmp_path: Path, test_registry: Registry, below: str
) -> None:
    compositions.make(tmp_path / "tree", {"remove": ["lantern/lamp.ini"]})
    (tmp_path / "tree" / f"lantern/lamp.ini{below}").mkdir(parents=True)
    result = report(test_registry, tmp_path, str(tmp_path / "tree"))
    (found,) = result.findings
    assert (found.code, found.got) == ("composition-type", "a folder")
