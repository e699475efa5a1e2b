"""Where objects lie: every kind of repository, and pointers that lead elsewhere."""

import os
import socket
import subprocess
from pathlib import Path
from typing import Final

import pytest
from support import git_repos
from support.git_repos import Repo

from verifier.core.errors import UnavailableError, WrongCallError
from verifier.sources.git.objects import Commit
from verifier.sources.git.repository import read_commit, resolve
from verifier.sources.git.tree import GitTree
from verifier.sources.tree import TreeEntry

GOOD: Final = b"what was reviewed\n"
CONTENT: Final[git_repos.Tree] = {b"a": GOOD, b"d": {b"b": b"x", b"run": (b"100755", b"#!")}}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return git_repos.make(tmp_path / "repo")


def codes(tree: GitTree) -> set[str]:
    return {finding.code for finding in tree.findings}


def read(path: Path, commit: str, **options: object) -> tuple[GitTree, list[TreeEntry]]:
    tree = GitTree(path, commit, name="it", **options)  # type: ignore[arg-type]
    return tree, tree.entries()


@pytest.mark.parametrize("sha256", [False, True])
@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_every_kind_of_store_gives_the_same_content(
    tmp_path: Path, sha256: bool, bare: bool, packed: bool
) -> None:
    repo = git_repos.make(tmp_path / "repo", bare=bare, sha256=sha256)
    commit = repo.commit(CONTENT)
    if packed:
        repo.pack()
        assert not repo.loose(commit).exists()
    tree, entries = read(repo.path, commit)
    assert (tree.complete, tree.findings) == (True, ())
    assert len(commit) == (64 if sha256 else 40)
    plain = [entry._replace(blob=None) for entry in entries]
    reference = git_repos.make(tmp_path / "reference")
    assert plain == [
        entry._replace(blob=None) for entry in read(reference.path, reference.commit(CONTENT))[1]
    ]
    assert tree.read(b"d/b", limit=1) == b"x"
    with GitTree(repo.git_dir, commit, name="the folder .git itself") as same:
        assert same.entries() == entries


def test_packed_and_loose_at_once(repo: Repo) -> None:
    first = repo.commit({b"old": b"1", **CONTENT})
    repo.pack()
    commit = repo.commit({b"new": b"2", b"old": b"1", **CONTENT}, parents=[first])
    tree, entries = read(repo.path, commit)
    assert tree.complete
    assert [e.path for e in entries] == [b"a", b"d/b", b"d/run", b"new", b"old"]


def test_a_path_inside(repo: Repo) -> None:
    commit = repo.commit({b"d": CONTENT, b"sub": (b"160000", b"1" * 40)})
    tree, entries = read(repo.path, commit, subpath=b"d")
    assert [e.path for e in entries] == [b"a", b"d/b", b"d/run"]
    expected = repo.git("rev-parse", "HEAD:d").decode().strip()
    assert f"git-tree:{expected}" in map(str, tree.digests)
    assert tree.read(b"a", limit=99) == GOOD
    tree, entries = read(repo.path, commit, subpath=b"d/a")
    assert [e.path for e in entries] == [b"a"]
    for path, words in ((b"d/aa", "no path d/aa"), (b"d/a/b", "no path"), (b"sub/x", "no path")):
        with pytest.raises(UnavailableError, match=words) as caught:
            read(repo.path, commit, subpath=path)
        assert caught.value.code == "git-no-path"
    with pytest.raises(UnavailableError) as submodule:
        read(repo.path, commit, subpath=b"sub/x")
    assert "submodule at commit 1111" in submodule.value.remedy


def test_a_shallow_clone(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit({b"a": b"old"})
    commit = repo.commit(CONTENT, parents=[first])
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(clone))
    assert repo.ask("-C", str(clone), "rev-list", "--count", "HEAD").stdout == b"1\n"
    tree, entries = read(clone, commit)
    assert codes(tree) == {"git-shallow"}
    assert tree.complete
    assert len(entries) == 3
    parents = read_commit(clone, commit)
    assert isinstance(parents, Commit)
    assert parents.parents == (first,)
    tree, entries = read(clone, first)
    assert entries == []
    missing = next(f for f in tree.findings if f.code == "git-object-missing")
    assert missing.cause == "the clone is shallow"


def test_a_partial_clone_is_not_completed(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit(CONTENT)
    repo.configure("[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
    clone = tmp_path / "clone"
    origin = f"file://{repo.path}"
    repo.git("clone", "-q", "--no-checkout", "--filter=blob:none", origin, str(clone))
    held = sorted((clone / ".git/objects").rglob("*"))
    tree, entries = read(clone, commit)
    assert codes(tree) == {"git-partial", "git-object-missing"}
    assert [(e.path, e.sha256) for e in entries] == [
        (b"a", None),
        (b"d/b", None),
        (b"d/run", None),
    ]
    assert not tree.complete
    assert sorted((clone / ".git/objects").rglob("*")) == held
    assert repo.ask("-C", str(clone), "show", f"{commit}:a").stdout == GOOD, "plain git fetches"
    assert sorted((clone / ".git/objects").rglob("*")) != held


def test_a_linked_work_tree(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit(CONTENT)
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "--detach", str(linked), commit)
    with pytest.raises(UnavailableError, match="outside of what was named") as caught:
        read(linked, commit)
    assert caught.value.code == "git-elsewhere"
    assert "--clone" in caught.value.remedy
    for options in ({"clones": [repo.path]}, {"allow_alternates": True}):
        tree, entries = read(linked, commit, **options)
        assert len(entries) == 3
        assert tree.complete
        assert len(tree.followed) == 2
        assert tree.findings == ()
    assert resolve(linked, "HEAD", clones=[repo.path]).oid == commit


def test_a_submodule(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit(CONTENT)
    outer = git_repos.make(tmp_path / "outer")
    outer.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub"
    )
    outer.git("commit", "-qm", "m")
    above = outer.git("rev-parse", "HEAD").decode().strip()
    tree, entries = read(outer.path, above)
    assert [(e.path, e.type, e.target) for e in entries if e.path == b"sub"] == [
        (b"sub", "gitlink", commit.encode())
    ]
    assert tree.complete
    assert (outer.path / "sub/.git").is_file()
    with pytest.raises(UnavailableError, match="outside"):
        read(outer.path / "sub", commit)
    assert len(read(outer.path / "sub", commit, clones=[outer.path])[1]) == 3


def test_alternates(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit(CONTENT)
    borrower = git_repos.make(tmp_path / "borrower")
    (borrower.git_dir / "objects/info").mkdir(exist_ok=True)
    alternates = borrower.git_dir / "objects/info/alternates"
    alternates.write_text(f"# a comment\n{repo.git_dir / 'objects'}\n")
    assert borrower.git("show", f"{commit}:a") == GOOD
    tree, entries = read(borrower.path, commit)
    assert entries == []
    assert codes(tree) == {"git-alternates", "git-object-missing"}
    for options in ({"clones": [repo.path]}, {"allow_alternates": True}):
        tree, entries = read(borrower.path, commit, **options)
        assert len(entries) == 3
        assert tree.complete
        assert codes(tree) == {"git-alternates-followed"}
    # relative, to itself, to nothing, in a circle: named or harmless
    (repo.git_dir / "objects/info").mkdir(exist_ok=True)
    (repo.git_dir / "objects/info/alternates").write_text(f"{borrower.git_dir}/objects\n")
    alternates.write_text("../../../repo/.git/objects\n.\n/nonexistent\n\n\xff\n")
    tree, entries = read(borrower.path, commit, allow_alternates=True)
    assert len(entries) == 3
    assert codes(tree) == {"git-alternates", "git-alternates-followed"}


def test_alternates_in_the_repository_itself_are_followed(repo: Repo) -> None:
    commit = repo.commit(CONTENT)
    pool = repo.path / "pool"
    (repo.git_dir / "objects").rename(pool)
    (repo.git_dir / "objects/info").mkdir(parents=True)
    (repo.git_dir / "objects/info/alternates").write_text("../../pool\n")
    tree, entries = read(repo.path, commit)
    assert (len(entries), codes(tree)) == (3, {"git-alternates-followed"})


def test_an_alternate_cannot_put_other_bytes_under_an_id(repo: Repo, tmp_path: Path) -> None:
    commit = repo.commit({b"a": GOOD})
    oid = repo.git("rev-parse", "HEAD:a").decode().strip()
    evil = git_repos.make(tmp_path / "evil")
    evil.store("blob", b"evil", oid=oid)
    repo.loose(oid).unlink()
    (repo.git_dir / "objects/info").mkdir(exist_ok=True)
    (repo.git_dir / "objects/info/alternates").write_text(f"{evil.git_dir}/objects\n")
    assert repo.git("show", f"{commit}:a") == b"evil"
    assert codes(read(repo.path, commit)[0]) == {"git-alternates", "git-object-missing"}
    tree, _ = read(repo.path, commit, allow_alternates=True)
    assert codes(tree) == {"git-alternates-followed", "git-object-forged"}


def fifo(path: Path, _: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path, _: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        # The path of a socket is short: bind it where it lies.
        here = os.open(".", os.O_RDONLY)
        os.chdir(path.parent)
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)
            os.close(here)


def link(path: Path, kept: Path) -> None:
    path.symlink_to(kept)


def folder(path: Path, _: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("special", [fifo, a_socket, link, folder])
def test_a_loose_object_that_is_no_plain_file(repo: Repo, tmp_path: Path, special: object) -> None:
    commit = repo.commit({b"a": GOOD, b"b": b"x"})
    oid = repo.git("rev-parse", "HEAD:a").decode().strip()
    kept = tmp_path / "kept"
    repo.loose(oid).rename(kept)
    special(repo.loose(oid), kept)  # type: ignore[operator]
    if special is fifo:
        with pytest.raises(subprocess.TimeoutExpired):
            repo.ask("cat-file", "blob", oid, timeout=1)
    if special is link:
        assert repo.git("cat-file", "blob", oid) == GOOD
    tree, entries = read(repo.path, commit)
    assert codes(tree) == {"git-store-special", "git-object-missing"}
    missing = next(f for f in tree.findings if f.code == "git-object-missing")
    assert missing.cause == "its file is no plain file"
    assert [e.length for e in entries] == [None, 1]


@pytest.mark.parametrize("suffix", [".pack", ".idx"])
def test_a_pack_that_is_a_link(repo: Repo, tmp_path: Path, suffix: str) -> None:
    commit = repo.commit(CONTENT)
    file = repo.pack().with_suffix(suffix)
    kept = tmp_path / file.name
    file.rename(kept)
    file.symlink_to(kept)
    assert repo.git("show", f"{commit}:a") == GOOD
    tree, entries = read(repo.path, commit)
    assert entries == []
    assert codes(tree) == {"git-store-special", "git-object-missing"}


@pytest.mark.parametrize("name", ["pack", "objects", "fan", ".git"])
def test_a_folder_of_the_store_that_is_a_link(repo: Repo, tmp_path: Path, name: str) -> None:
    commit = repo.commit(CONTENT)
    if name == "pack":
        repo.pack()
    paths = {
        "pack": repo.git_dir / "objects/pack",
        "objects": repo.git_dir / "objects",
        "fan": repo.loose(commit).parent,
        ".git": repo.git_dir,
    }
    kept = tmp_path / "kept"
    paths[name].rename(kept)
    paths[name].symlink_to(kept)
    assert repo.git("show", f"{commit}:a") == GOOD
    if name in ("objects", ".git"):
        with pytest.raises(UnavailableError, match="outside of what was named"):
            read(repo.path, commit)
        assert len(read(repo.path, commit, clones=[tmp_path])[1]) == 3
    else:
        tree, entries = read(repo.path, commit)
        assert entries == []
        assert codes(tree) == {"git-store-special", "git-object-missing"}


def test_a_repository_of_another_user(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = repo.commit(CONTENT)
    other = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    if os.geteuid() == 0:
        for path in (repo.path, *repo.path.rglob("*")):
            try:
                os.chown(path, 65534, 65534, follow_symlinks=False)
            except OSError:  # a namespace that knows one user only
                break
    refused = repo.ask("log", env=other)
    assert b"dubious ownership" in refused.stderr
    for key, value in other.items():
        monkeypatch.setenv(key, value)
    tree, entries = read(repo.path, commit)
    assert (len(entries), tree.findings) == (3, ())


@pytest.mark.parametrize("text", ["", "gitdir:", "gitdir: ", "gitdir: nowhere", "rubbish", "\0"])
def test_a_git_file_that_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it/.git").write_text(text)
    with pytest.raises(UnavailableError) as caught:
        read(tmp_path / "it", "1" * 40)
    assert caught.value.code in ("git-no-repository", "git-elsewhere")


def test_no_repository(tmp_path: Path, repo: Repo) -> None:
    (repo.path / "below").mkdir()
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nothing", tmp_path / "file", tmp_path, repo.path / "below"):
        with pytest.raises(UnavailableError) as caught:
            read(path, "1" * 40)
        assert caught.value.code == "git-no-repository"


def test_ids_of_the_other_width(tmp_path: Path) -> None:
    for sha256 in (False, True):
        repo = git_repos.make(tmp_path / str(sha256), sha256=sha256)
        repo.commit(CONTENT)
        with pytest.raises(WrongCallError, match="hex digits, the ids of this repository"):
            read(repo.path, "1" * (40 if sha256 else 64))


def test_an_object_that_may_not_be_read_is_no_riddle(repo: Repo) -> None:
    commit = repo.commit(CONTENT)
    repo.loose(repo.git("rev-parse", "HEAD:a").decode().strip()).chmod(0)
    tree, _ = read(repo.path, commit)
    causes = {finding.code: finding.cause for finding in tree.findings}
    if os.geteuid() == 0:
        assert causes == {}, "root reads everything"
    else:
        assert causes == {"git-object-missing": "this user may not read all of the store"}
