"""Ancestors, from commits that hash to their ids; and contents by their SHA-256."""

import hashlib
import random
from pathlib import Path

import pytest
from support import git_repos

from verifier.sources.git.contents import Contents
from verifier.sources.git.history import History, Unknown
from verifier.sources.git.repository import Repository
from verifier.sources.git.tree import GitTree


def ask(path: Path, base: str, tip: str) -> bool | Unknown:
    with Repository(path, hex_length=len(tip)) as repo:
        return History(repo).is_ancestor(base, tip)


@pytest.mark.parametrize("sha256", [False, True])
def test_ancestors_on_every_way(tmp_path: Path, sha256: bool) -> None:
    repo = git_repos.make(tmp_path / "repo", sha256=sha256)
    root = repo.commit({b"a": b"0"})
    left = repo.commit({b"a": b"1"}, parents=[root])
    right = repo.commit({b"a": b"2"}, parents=[root])
    merge = repo.commit({b"a": b"3"}, parents=[left, right])
    other = repo.commit({b"a": b"4"})
    for base, tip in ((root, merge), (right, merge), (merge, merge), (root, left)):
        assert ask(repo.path, base, tip) is True
    for base, tip in ((merge, root), (left, right), (other, merge)):
        assert ask(repo.path, base, tip) is False
        assert repo.ask("merge-base", "--is-ancestor", base, tip).returncode == 1


def test_history_that_ends_early_is_unknown(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    root = repo.commit({b"a": b"0"})
    tips = [root]
    for number in range(3):
        tips.append(repo.commit({b"a": b"%d" % number}, parents=[tips[-1]]))
    shallow = tmp_path / "shallow"
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.path}", str(shallow))
    answer = ask(shallow, root, tips[-1])
    assert isinstance(answer, Unknown)
    assert "history ends" in answer.words


def test_grafts_and_replacements_add_no_ancestors(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    base = repo.commit({b"a": b"0"})
    tip = repo.commit({b"a": b"1"})
    repo.git("replace", "--graft", tip, base)
    assert repo.ask("merge-base", "--is-ancestor", base, tip).returncode == 0
    assert ask(repo.path, base, tip) is False


@pytest.mark.parametrize("seed", range(20))
def test_merge_bases_do_not_depend_on_dates(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  (a test must repeat)
    repo = git_repos.make(tmp_path / "repo")
    tree, parents_of, commits = repo.tree({b"a": b"0"}), dict[str, list[str]](), list[str]()
    for number in range(24):
        parents = chance.sample(commits, min(len(commits), chance.choice([1, 1, 1, 2, 2, 3])))
        date = chance.choice([0, 1, 1_700_000_000, 9_999_999_999, number])
        who = f"A <a@example.org> {date} +0000"
        lines = [f"tree {tree}", *(f"parent {each}" for each in parents)]
        lines += [f"author {who}", f"committer {who}", "", f"{number}", ""]
        commits.append(repo.store("commit", "\n".join(lines).encode()))
        parents_of[commits[-1]] = parents

    def reached(oid: str) -> set[str]:
        return {oid}.union(*(reached(each) for each in parents_of[oid]))

    with Repository(repo.path, hex_length=40) as opened:
        history = History(opened)
        for _ in range(20):
            one, other = chance.sample(commits, 2)
            common = reached(one) & reached(other)
            best = {x for x in common if not any(x in reached(y) for y in common - {x})}
            found = history.merge_bases(one, other)
            assert isinstance(found, tuple)
            assert set(found) == best
        for base in chance.sample(commits, 4):
            tips = chance.sample(commits, 12)
            assert history.above(base, tips) == {each for each in tips if base in reached(each)}


def test_a_damaged_commit_is_no_early_end(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    root = repo.commit({b"a": b"0"})
    middle = repo.commit({b"a": b"1"}, parents=[root])
    tips = [repo.commit({b"a": b"%d" % n}, parents=[middle]) for n in (2, 3)]
    repo.store("commit", b"tree " + b"1" * 40 + b"\n", oid=middle)
    with Repository(repo.path, hex_length=40) as opened:
        found = History(opened).merge_bases(*tips)
        assert isinstance(found, Unknown)
        assert found.damaged is not None
        assert found.damaged.code == "git-object-forged"
    repo.loose(middle).unlink()
    with Repository(repo.path, hex_length=40) as opened:
        found = History(opened).merge_bases(*tips)
        assert isinstance(found, Unknown)
        assert found.damaged is None


def test_contents_by_their_digest(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    files = {b"a": b"0", b"b": b"1" * 99, b"c": b"2"}
    tip = repo.commit(files)
    entries = GitTree(repo.path, tip, name="x").entries()
    with Repository(repo.path, hex_length=40) as opened:
        contents = Contents(opened, limit=50)
        digests = [hashlib.sha256(data).hexdigest() for data in files.values()]
        assert contents.get(digests[0]) is None
        contents.add(entries)
        assert [contents.get(digest) for digest in digests] == [b"0", None, b"2"]
        contents.expect([*digests, "0" * 64])
        assert [contents.get(digest) for digest in digests] == [b"0", None, b"2"]
