"""Repositories and gits that cost more than they may: each is stopped, and said to be.

A limit that is never reached proves nothing, so every bomb here is a real one.
"""

import resource
import struct
import zlib
from pathlib import Path
from typing import Final

import pytest
from support import git_repos
from support.git_repos import Repo, tree_bytes

from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.sources.git import process as git_process
from verifier.sources.git.process import Git
from verifier.sources.git.tree import GitTree
from verifier.sources.tree import TreeEntry

GOOD: Final = b"what was reviewed\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return git_repos.make(tmp_path / "repo")


def opened(repo: Repo, commit: str) -> tuple[GitTree, list[TreeEntry]]:
    tree = GitTree(repo.path, commit, name="it")
    return tree, tree.entries()


def found(tree: GitTree) -> dict[str, Finding]:
    return {finding.code: finding for finding in tree.findings}


GIB_2: Final = 2 << 30


def test_2_gib_in_9_mib_are_refused_before_they_are_inflated(repo: Repo) -> None:
    oid = git_repos.zeros_pack(repo.git_dir / "objects/pack", GIB_2)
    assert sum(p.stat().st_size for p in (repo.git_dir / "objects/pack").iterdir()) < 10_000_000
    assert int(repo.git("cat-file", "-s", oid)) == GIB_2
    commit = repo.commit_of(repo.store("tree", tree_bytes([(b"100644", b"bomb", oid)])))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    tree, entries = opened(repo, commit)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 0.5
    assert list(found(tree)) == ["git-object-large"]
    assert found(tree)["git-object-large"].row.outcome == "undecided"
    assert entries[0].sha256 is None
    with pytest.raises(UnavailableError, match="at most"):
        GitTree(repo.path, commit, name="it").read(b"bomb", limit=100)


def test_a_small_object_made_from_a_bomb(repo: Repo) -> None:
    """A delta of ten bytes whose base is 2 GiB: its own size is harmless, git's memory is not."""
    folder = repo.git_dir / "objects/pack"
    base = git_repos.zeros_pack(folder, GIB_2)
    want = bytes(10)
    delta = _varint(GIB_2) + _varint(10) + bytes([0x80 | 0x10, 10])
    oid = git_repos.object_id("blob", want)
    reference = git_repos.entry(7, len(delta)) + bytes.fromhex(base) + zlib.compress(delta)
    (pack,) = folder.glob("*.pack")
    body = pack.read_bytes()[12:-20]
    for old in folder.iterdir():
        old.unlink()
    git_repos.write_pack(folder, [(base, body), (oid, reference)])
    assert int(repo.git("cat-file", "-s", oid)) == 10
    commit = repo.commit_of(repo.store("tree", tree_bytes([(b"100644", b"small", oid)])))
    tree, _ = opened(repo, commit)
    assert set(found(tree)) <= {"git-object-large", "git-object-corrupt"}
    assert not tree.complete
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak < 2_000_000, "git held the base"


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(0x80 | number & 0x7F)
        number >>= 7
    return bytes([*out, number])


def test_trees_that_multiply(repo: Repo) -> None:
    """Twelve trees, each holding the one below ten times, are 10^11 paths."""
    below = repo.tree({b"%d" % n: b"" for n in range(10)})
    for _ in range(11):
        below = repo.store("tree", tree_bytes((b"40000", b"%d" % n, below) for n in range(10)))
    tree, _ = opened(repo, repo.commit_of(below))
    assert list(found(tree)) == ["git-tree-large"]
    assert not tree.complete


def test_trees_that_are_deep(repo: Repo) -> None:
    below = repo.tree({b"x": b""})
    for _ in range(200):
        below = repo.store("tree", tree_bytes([(b"40000", b"d", below)]))
    assert list(found(opened(repo, repo.commit_of(below))[0])) == ["git-tree-large"]


def test_two_gits_give_what_one_gives(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = repo.commit({b"%d" % n: struct.pack("!L", n) * (n % 90) for n in range(900)})
    repo.pack()
    two = opened(repo, commit)[1]
    monkeypatch.setattr("verifier.sources.git.blobs._WORTH_TWO", 10**9)
    assert opened(repo, commit)[1] == two
    assert len(two) == 900


def test_a_git_that_fails_at_the_end_is_no_success(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repo.commit({b"a": GOOD})
    git = git_process.find_git()
    script = repo.path / "git"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = cat-file ] || exec {git.path} "$@"\n{git.path} "$@"\nexit 9\n'
    )
    script.chmod(0o755)
    fake = Git(path=str(script), version=git.version, detects_collisions=True)
    monkeypatch.setattr("verifier.sources.git.repository.find_git", lambda: fake)
    with pytest.raises(UnavailableError) as caught:
        opened(repo, commit)
    assert caught.value.code == "git-failed"


@pytest.mark.parametrize(
    "script", ["exit 0", "echo no", "exec cat", "cat /dev/zero", "yes missing", "sleep 9"]
)
def test_a_git_that_talks_nonsense(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    commit = repo.commit({b"a": GOOD})
    fake = repo.path / "git"
    fake.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    fake.chmod(0o755)
    git = Git(path=str(fake), version=(2, 39), detects_collisions=True)
    monkeypatch.setattr("verifier.sources.git.repository.find_git", lambda: git)
    monkeypatch.setattr("verifier.sources.git.process.GIT_OBJECT_SECONDS", 1)
    tree = GitTree(repo.path, commit, name="it")
    try:
        assert tree.entries() == []
        assert list(found(tree)) == ["git-object-corrupt"]
    except UnavailableError as error:
        assert error.code == "git-failed"  # noqa: PT017  (either is an answer)
    assert not tree.complete or tree.commit is None
