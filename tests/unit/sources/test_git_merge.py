"""Merges of two commits, as git itself makes them, from objects that were hashed."""

import random
from pathlib import Path

import pytest
from support import git_repos

from verifier.sources.git import trees
from verifier.sources.git.history import History
from verifier.sources.git.known import Known
from verifier.sources.git.merge import Conflict, Merged, NotMerged, merge
from verifier.sources.git.objects import Commit
from verifier.sources.git.repository import Repository


def lines(*changed: int, salt: bytes = b"") -> bytes:
    """Return a file of forty lines, some of them changed."""
    return b"".join(b"%d%s\n" % (n, salt if n in changed else b"") for n in range(40))


def merged(
    repo: git_repos.Repo, into: str, head: str, scratch: Path
) -> Merged | Conflict | NotMerged:
    with Repository(repo.path, hex_length=len(into)) as opened:
        history = History(opened)
        bases = history.merge_bases(into, head)
        assert isinstance(bases, tuple)
        one, other = history.commit(into), history.commit(head)
        assert isinstance(one, Commit)
        assert isinstance(other, Commit)
        return merge(
            opened,
            history,
            Known().trees,
            into=one,
            merged=other,
            bases=bases,
            scratch=scratch,
        )


def as_git(repo: git_repos.Repo, into: str, head: str) -> tuple[int, str, frozenset[bytes]]:
    done = repo.ask("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", into, head)
    words = done.stdout.split(b"\0")
    return done.returncode, words[0].decode(), frozenset(filter(None, words[1:]))


@pytest.mark.parametrize("sha256", [False, True])
def test_both_sides_of_one_file_and_a_renamed_folder(tmp_path: Path, sha256: bool) -> None:
    repo = git_repos.make(tmp_path / "repo", sha256=sha256)
    shared = {b"s%d" % n: b"%d" % n for n in range(5)}
    root = repo.commit({b"a": lines(), b"d": {b"k": lines(1)}, b"same": shared})
    into = repo.commit(
        {b"a": lines(3, salt=b"x"), b"d": {b"k": lines(1, 9, salt=b"y")}, b"same": shared},
        parents=[root],
    )
    head = repo.commit(
        {b"a": lines(30, salt=b"z"), b"dd": {b"k": lines(1)}, b"same": shared}, parents=[root]
    )
    found = merged(repo, into, head, tmp_path)
    assert isinstance(found, Merged)
    assert (0, found.tree, frozenset()) == as_git(repo, into, head)
    assert [change.path for change in found.changes] == [b"a", b"dd/k"]


def test_what_cannot_be_put_together_is_named(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    root = repo.commit({b"a": lines(), b"b": b"1"})
    into = repo.commit({b"a": lines(3, salt=b"x"), b"b": b"2"}, parents=[root])
    head = repo.commit({b"a": lines(3, salt=b"z"), b"b": b"1"}, parents=[root])
    assert merged(repo, into, head, tmp_path) == Conflict(paths=(b"a",))
    assert as_git(repo, into, head)[0] == 1


def test_a_forged_file_that_takes_part_ends_the_merge(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    root = repo.commit({b"a": lines()})
    into = repo.commit({b"a": lines(3, salt=b"x")}, parents=[root])
    head = repo.commit({b"a": lines(30, salt=b"z")}, parents=[root])
    honest = lines(30, salt=b"z")
    repo.store("blob", lines(31, salt=b"evil"), oid=git_repos.object_id("blob", honest))
    assert as_git(repo, into, head)[0] == 0  # git believes it
    found = merged(repo, into, head, tmp_path)
    assert isinstance(found, NotMerged)
    assert "cannot be read" in found.words


def history(repo: git_repos.Repo, chance: random.Random) -> tuple[str, str]:
    """Make a history with criss-crosses; return two of its tips."""

    def tree() -> dict[bytes, git_repos.Content]:
        changed = chance.sample(range(40), chance.choice([0, 1, 1, 2]))
        names = [b"a", b"b", b"c/e", b"c/f", b"g/h/i"]
        files: dict[bytes, git_repos.Content] = {}
        for name in names:
            if chance.random() < 0.15:
                continue
            renamed = name + b"-moved" if chance.random() < 0.1 else name
            salt = b"%d" % chance.randrange(3)
            *above, last = renamed.split(b"/")
            at = files
            for part in above:
                at = at.setdefault(part, {})  # type: ignore[assignment]
            at[last] = lines(*changed, salt=salt) if chance.random() < 0.7 else lines()
        return files or {b"a": b"0"}

    commits = [repo.commit(tree())]
    for _ in range(chance.randrange(4, 9)):
        parents = chance.sample(commits, min(len(commits), chance.choice([1, 1, 2])))
        commits.append(repo.commit(tree(), parents=parents))
    return commits[-1], commits[-2]


@pytest.mark.parametrize("seed", range(12))
def test_merges_are_what_git_makes_of_the_whole_repository(tmp_path: Path, seed: int) -> None:
    repo = git_repos.make(tmp_path / "repo")
    into, head = history(repo, random.Random(seed))  # noqa: S311
    with Repository(repo.path, hex_length=40) as opened:
        bases = History(opened).merge_bases(into, head)
    said = repo.ask("merge-base", "--all", into, head).stdout.decode().split()
    assert sorted(bases) == sorted(said)  # type: ignore[arg-type]
    found = merged(repo, into, head, tmp_path)
    code, tree, paths = as_git(repo, into, head)
    if code == 0:
        assert isinstance(found, Merged)
        assert found.tree == tree
    else:
        assert found == Conflict(paths=tuple(sorted(paths)))


FILE = lines()
#: Base, then both sides: what git may look for where a side has moved or dropped a folder.
MOVES: dict[str, tuple[git_repos.Tree, git_repos.Tree, git_repos.Tree]] = {
    "into a folder that is new": (
        {b"a": {b"x": FILE}, b"k": b"1"},
        {b"a": {b"x": lines(3, salt=b"q")}, b"k": b"1"},
        {b"new": {b"deep": {b"x": lines(9, salt=b"z")}}, b"k": b"1"},
    ),
    "a file into a folder that was renamed": (
        {b"a": {b"x": FILE, b"y": lines(1)}, b"k": b"1"},
        {b"b": {b"x": FILE, b"y": lines(1)}, b"k": b"1"},
        {b"a": {b"x": FILE, b"y": lines(1), b"n": {b"z": b"5"}}, b"k": b"1"},
    ),
    "a file in the place of a folder": (
        {b"a": {b"x": FILE}, b"k": b"1"},
        {b"a": b"file", b"k": b"1"},
        {b"a": {b"x": FILE, b"n": b"2"}, b"k": b"1"},
    ),
    "two ways": (
        {b"a": {b"x": FILE}, b"k": b"1"},
        {b"b": {b"x": lines(3, salt=b"s")}, b"k": b"1"},
        {b"c": {b"x": lines(8, salt=b"t")}, b"k": b"1"},
    ),
    "deep, with all that it holds": (
        {b"a": {b"s": {b"t": {b"x": FILE, b"y": lines(2)}}}, b"k": b"1"},
        {b"a": {b"s": {b"t": {b"x": lines(7, salt=b"w"), b"y": lines(2)}}}, b"k": b"1"},
        {b"z": {b"s": {b"t": {b"x": FILE, b"y": lines(2)}}}, b"k": b"1"},
    ),
    "a module in the place of a folder": (
        {b"a": {b"x": FILE}, b"k": b"1"},
        {b"a": {b"x": lines(3, salt=b"q")}, b"k": b"1"},
        {b"a": (b"160000", b"1" * 40), b"b": {b"x": FILE}, b"k": b"1"},
    ),
    "the other way too": (
        {b"a": {b"x": FILE}, b"b": {b"y": lines(2)}},
        {b"a": {b"y": lines(2, 4, salt=b"o")}, b"b": {b"x": FILE}},
        {b"a": {b"x": lines(5, salt=b"p")}, b"b": {b"y": lines(2)}},
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_is_moved_is_followed_as_git_does(tmp_path: Path, name: str) -> None:
    repo = git_repos.make(tmp_path / "repo")
    base, one, other = MOVES[name]
    root = repo.commit(base)
    into, head = (repo.commit(side, parents=[root]) for side in (one, other))
    found = merged(repo, into, head, tmp_path)
    code, tree, paths = as_git(repo, into, head)
    if code == 0:
        assert isinstance(found, Merged)
        assert found.tree == tree
    else:
        assert found == Conflict(paths=tuple(sorted(paths)))
    (tmp_path / "back").mkdir()
    back = merged(repo, head, into, tmp_path / "back")
    assert type(back) is type(found)


def test_a_folder_of_folders_that_are_one_costs_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "TREE_ENTRIES", 10_000)
    repo = git_repos.make(tmp_path / "repo")
    root = repo.commit({b"k": b"1"})
    tree = repo.tree({b"f": b"bomb"})
    for _ in range(3):
        items = [(b"40000", b"%04d" % number, tree) for number in range(3_000)]
        tree = repo.store("tree", git_repos.tree_bytes(items))
    head = repo.commit_of(tree, parents=[root])
    with Repository(repo.path, hex_length=40) as opened:
        known, reader = Known().trees, opened.reader
        one, other = (History(opened).commit(oid) for oid in (root, head))
        assert isinstance(one, Commit)
        assert isinstance(other, Commit)
        assert known.read_below(reader, other.tree) == []
        with pytest.raises(OverflowError):
            known.changes(reader, one.tree, other.tree)
