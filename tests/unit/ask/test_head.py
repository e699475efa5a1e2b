"""Proposed merges that no case folder holds: other limits, other ids, trees that no git makes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from support import git_repos, heads, runs

from verifier.ask.head import clone
from verifier.sources.git import merge, tree, trees
from verifier.sources.git.objects import parse_tree

TRUST: Final = ("--policy", "base:policies/own.toml", "--registry", "base:registry")
BEHIND: Final[Mapping[str, Any]] = {
    "commit": [
        {"name": "next", "on": ["parted"], "write": [["harbour/crane.py", "LIFT = 3\n"]]},
        {
            "name": "again",
            "on": ["measured"],
            "write": [["docs/report.md", "It is faster.\n"]],
            "receipt": {"receipts/study.json": {"base": "next"}},
        },
    ],
    "base": "next",
    "main": "next",
    "head": "again",
}


def ask(folder: Path, base: str, head: str, *more: str) -> tuple[int, set[str], dict[str, Any]]:
    before = runs.content(folder)
    ran = runs.run(
        [
            *("verify", "head", "--repo", "repo", "--base", base, "--head", head, *TRUST),
            *("--bundle", "tests.json", "--format", "json", *more),
        ],
        cwd=folder,
        clock=heads.CLOCK,
    )
    assert runs.content(folder) == before
    assert ran.stdout, ran
    found = json.loads(ran.stdout)
    first = found["results"][0]
    return ran.exit, {each["code"] for each in first["findings"]}, first


def test_a_merge_that_takes_too_much_is_not_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = heads.make(tmp_path, BEHIND)
    assert ask(tmp_path, made.ids["base"], made.ids["head"])[0] == 0
    monkeypatch.setattr(merge, "GIT_MERGE_BYTES", 100)
    code, codes, _ = ask(tmp_path, made.ids["base"], made.ids["head"])
    assert (code, codes) == (3, {"head-merge-unknown"})


def test_the_merge_is_the_tree_that_git_makes(tmp_path: Path) -> None:
    made = heads.make(tmp_path, BEHIND)
    _, _, first = ask(tmp_path, made.ids["base"], made.ids["head"])
    repo = git_repos.Repo(tmp_path / "repo", tmp_path / "repo" / ".git")
    said = repo.git("merge-tree", "--write-tree", made.ids["base"], made.ids["head"])
    told = [each["version"] for each in first["identified"] if each["entry"] == "merge"]
    assert told == [said.decode().strip()]


@pytest.mark.parametrize("name", [b"zzz", b"receipts", b"registry"])
def test_a_tree_that_unfolds_without_end_is_refused(
    tmp_path: Path, name: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room, limit in ((trees, "TREE_ENTRIES"), (tree, "TREE_ENTRIES"), (clone, "REGISTRY_FILES")):
        monkeypatch.setattr(room, limit, 5_000)
    made = heads.make(tmp_path, {})
    repo = git_repos.Repo(tmp_path / "repo", tmp_path / "repo" / ".git")
    bomb = repo.tree({b"f": b"bomb"})
    for _ in range(60):
        items = [(b"40000", b"%02d" % number, bomb) for number in range(60)]
        bomb = repo.store("tree", git_repos.tree_bytes(items))
    _, data = made.objects[made.roots[made.ids["head"]]]
    rows = [(b"%o" % item.mode, item.name, item.oid) for item in parse_tree(data, 40)[0]]
    rows = [row for row in rows if row[1] != name] + [(b"40000", name, bomb)]
    rows.sort(key=lambda row: row[1] + (b"/" if row[0] == b"40000" else b""))
    root = repo.store("tree", git_repos.tree_bytes(rows))
    head = repo.commit_of(root, parents=[made.ids["measured"]])
    code, codes, _ = ask(tmp_path, made.ids["base"], head)
    assert code == 3
    assert {"git-tree-large", "head-unreadable"} <= codes


def test_names_in_the_folder_of_receipts_that_lead_nowhere(tmp_path: Path) -> None:
    odd = ["x" * 240, "é", "a\nb", " ", "\x1b[31m", ".", "..json"]
    recipe = {"also": {"reported": {"write": [[f"receipts/{each}.json", "{}"] for each in odd]}}}
    made = heads.make(tmp_path, recipe)
    code, codes, first = ask(tmp_path, made.ids["base"], made.ids["head"])
    assert (code, codes) == (0, set())
    told = next(each["detail"] for each in first["coverage"] if each["facet"] == "receipts")
    assert told.startswith("receipts/study.json measured")
    assert told.isprintable()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"runtime": {', '"runtime": [], "more": {'),
        ('"loadedFiles": [', '"loadedFiles": 5, "more": ['),
        ('"baseCommit": {', '"baseCommit": 5, "more": {'),
        ('"predicate": {', '"predicate": null, "more": {'),
        ('"subject": [', '"subject": [5,'),
        ('"name": "source"', '"name": 5'),
    ],
)
def test_receipts_of_another_form_are_told_and_never_count(
    tmp_path: Path, old: str, new: str
) -> None:
    spoilt = {"receipts/study.json": {"replace": [[old, new]]}}
    made = heads.make(tmp_path, {"also": {"reported": {"receipt": spoilt}}})
    code, codes, _ = ask(tmp_path, made.ids["base"], made.ids["head"])
    assert (code, codes) == (3, {"head-receipt"})


def test_ids_of_sha256(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo", sha256=True)
    base = repo.commit({b"a": b"0", b"b": b"0"})
    head = repo.commit({b"a": b"1", b"b": b"0"}, parents=[base])
    tip = repo.commit({b"a": b"0", b"b": b"1"}, parents=[base])
    words = ["verify", "head", "--repo", "repo", "--base", tip, "--head", head]
    ran = runs.run([*words, "--format", "json"], cwd=tmp_path, clock=heads.CLOCK)
    assert ran.exit == 0, ran
    ran = runs.run([*words[:-1], head[:40]], cwd=tmp_path, clock=heads.CLOCK)
    assert ran.exit == 2
    assert b"head-id-incomplete" in ran.stderr


def test_several_heads_are_judged_each_by_itself(tmp_path: Path) -> None:
    made = heads.make(tmp_path, {})
    more = ["--head", made.ids["work"], "--head", "4" * 40]
    ran = runs.run(
        [
            *("verify", "head", "--repo", "repo", "--base", made.ids["base"], *TRUST),
            *("--head", made.ids["head"], *more, "--bundle", "tests.json", "--format", "json"),
        ],
        cwd=tmp_path,
        clock=heads.CLOCK,
    )
    assert ran.exit == 3
    found = [each for each in json.loads(ran.stdout)["results"] if each["kind"] == "head"]
    codes = [{finding["code"] for finding in each["findings"]} for each in found]
    assert [each["verdict"] for each in found] == ["verified", "undecided", "undecided"]
    assert codes[1:] == [{"head-approval-stale", "head-receipt-none"}, {"head-id-unknown"}]


def test_a_host_that_heads_share_is_judged_under_the_name_of_each(tmp_path: Path) -> None:
    changed = {"from": "v5", "replace": [["+ 2.0", "+ 3.0"]]}
    drifted = {"name": "drifted", "on": ["work"], "host": {heads.HOST: changed}}
    made = heads.make(tmp_path, {"commit": [drifted]})
    asked = [made.ids[name] for name in ("head", "work", "drifted")]
    ran = runs.run(
        [
            *("verify", "head", "--repo", "repo", "--base", made.ids["base"], *TRUST),
            *(word for oid in asked for word in ("--head", oid)),
            *("--format", "json"),
        ],
        cwd=tmp_path,
        clock=heads.CLOCK,
    )
    assert ran.exit == 1
    found = [each for each in json.loads(ran.stdout)["results"] if each["kind"] == "helper"]
    assert [each["subject"]["name"] for each in found] == [f"{oid}:{heads.HOST}" for oid in asked]
    assert [each["verdict"] for each in found] == ["verified", "verified", "rejected"]
    places = {finding["where"]["path"] for finding in found[2]["findings"]}
    assert places == {f"{asked[2]}:{heads.HOST}"}
