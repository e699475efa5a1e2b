"""Only full ids are commits: everything else is refused, with the id that it seems to mean."""

from pathlib import Path

import pytest
from support import git_repos
from support.git_repos import Repo

from verifier.core.errors import WrongCallError
from verifier.sources.git.repository import resolve
from verifier.sources.git.tree import GitTree


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return git_repos.make(tmp_path / "repo")


def refused(repo: Repo, name: str) -> WrongCallError:
    with pytest.raises(WrongCallError) as caught:
        GitTree(repo.path, name, name="it").entries()
    assert caught.value.code == "wrong-call"
    return caught.value


def test_names_are_explained_with_the_full_id(repo: Repo) -> None:
    commit = repo.commit({b"a": b"x"})
    tag = repo.tag("v1", commit)
    repo.tag("v1-again", tag, kind="tag")
    repo.point("refs/tags/light", commit)
    repo.point("refs/heads/topic/one", commit)
    repo.point("refs/remotes/origin/main", commit)
    for packed in (False, True):
        if packed:
            repo.git("pack-refs", "--all")
            assert not (repo.git_dir / "refs/heads/main").exists()
        for name, what in (
            ("main", "branch refs/heads/main"),
            ("topic/one", "branch"),
            ("heads/main", "branch refs/heads/main"),
            ("refs/heads/main", "branch"),
            ("origin/main", "remote branch"),
            ("light", "tag refs/tags/light"),
            ("v1", "tag refs/tags/v1"),
            ("v1-again", "tag"),
            ("HEAD", "reference HEAD"),
            (commit[:39], "an abbreviated object id"),
            (commit[:7], "an abbreviated object id"),
            (tag[:12], "an abbreviated object id"),
        ):
            error = refused(repo, name)
            assert what in error.message, name
            assert error.remedy.endswith(commit), name


@pytest.mark.parametrize(
    "name",
    [
        *("", "no-such-branch", "HEAD~1", "main^{tree}", "main@{0}", "-x", "--help", "config"),
        *("../../etc/passwd", "a..b", "refs/../config", "main\n", "\0", "123", "g" * 40, "é"),
        *("1" * 41, "1" * 63, "1" * 65, " " + "1" * 40, "1" * 40 + "\n", "0x" + "1" * 38),
    ],
)
def test_names_that_mean_nothing(repo: Repo, name: str) -> None:
    repo.commit({b"a": b"x"})
    error = refused(repo, name)
    assert "expected the full id of a commit" in error.message
    assert "git rev-parse" in error.remedy
    assert "\n" not in error.message


def test_capital_letters_are_no_second_spelling(repo: Repo) -> None:
    commit = repo.commit({b"a": b"x"})
    error = refused(repo, commit.upper())
    assert commit in error.remedy


def test_an_abbreviation_that_is_ambiguous_gets_no_hint(repo: Repo) -> None:
    repo.commit({b"a": b"x"})
    seen: dict[str, int] = {}
    short = ""
    for number in range(5000):
        data = str(number).encode()
        short = git_repos.object_id("blob", data)[:4]
        if short in seen:
            repo.store("blob", data)
            repo.store("blob", str(seen[short]).encode())
            break
        seen[short] = number
    assert "abbreviated" in refused(repo, short).message
    assert resolve(repo.path, short).oid is None


def test_what_references_say_is_never_believed(repo: Repo) -> None:
    commit = repo.commit({b"a": b"x"})
    (repo.git_dir / "refs/heads/loop").write_text("ref: refs/heads/loop\n")
    (repo.git_dir / "refs/heads/out").write_text("ref: ../../../outside\n")
    (repo.git_dir / "refs/heads/short").write_text(commit[:20])
    (repo.git_dir / "refs/heads/link").symlink_to("main")
    repo.point("refs/heads/blob", repo.store("blob", b"y"))
    repo.point("refs/heads/gone", "1" * 40)
    repo.point("refs/heads/forged", repo.store("commit", b"other", oid="2" * 40))
    for name in ("loop", "out", "short", "link", "blob", "gone", "forged"):
        assert resolve(repo.path, name).oid is None, name


def test_a_branch_named_like_an_abbreviation_is_said_to_be_one(repo: Repo) -> None:
    """Git takes the branch; the reader says that it is one and takes neither."""
    commit = repo.commit({b"a": b"x"})
    other = repo.commit({b"a": b"y"})
    repo.point(f"refs/heads/{commit[:7]}", other)
    assert repo.git("rev-parse", commit[:7]).decode().strip() == other
    error = refused(repo, commit[:7])
    assert "branch" in error.message


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_named_like_a_commit_is_named_and_changes_nothing(
    repo: Repo, packed: bool
) -> None:
    commit = repo.commit({b"a": b"x"})
    other = repo.commit({b"a": b"y"})
    repo.point(f"refs/heads/{commit}", other)
    repo.point(f"refs/tags/{commit}", other)
    if packed:
        repo.git("pack-refs", "--all")
    assert b"ambiguous" in repo.ask("rev-parse", commit).stderr
    tree = GitTree(repo.path, commit, name="it")
    assert tree.read(b"a", limit=9) == b"x"
    assert [f.code for f in tree.findings] == ["git-ref-like-id"] * 2


def test_an_id_of_something_else(repo: Repo) -> None:
    commit = repo.commit({b"a": b"x"})
    tag = repo.tag("v1", repo.tag("v0", commit), kind="tag")
    assert repo.git("show", f"{tag}:a") == b"x"
    error = refused(repo, tag)
    assert "the id of a tag" in error.message
    assert error.remedy.endswith(commit)
    for name, kind in ((f"{commit}^{{tree}}", "tree"), ("HEAD:a", "blob")):
        error = refused(repo, repo.git("rev-parse", name).decode().strip())
        assert f"the id of a {kind}" in error.message
        assert commit not in error.remedy


def test_without_a_repository_the_words_still_help(tmp_path: Path) -> None:
    with pytest.raises(WrongCallError, match="no git repository"):
        GitTree(tmp_path, "main", name="it")
