"""Hundreds of generated repositories: what the reader lists is what git and its peers list."""

import hashlib
from pathlib import Path

import pytest
from support import git_repos
from support.git_repos import Repo

from verifier.sources.git.tree import GitTree
from verifier.sources.tree import TreeEntry, Type

BATCHES = 8
EACH = 25


def made(folder: Path, batch: int) -> list[tuple[Repo, str]]:
    seeds = range(batch * EACH, (batch + 1) * EACH)
    return [git_repos.generated(folder / str(seed), seed) for seed in seeds]


def read(repo: Repo, commit: str) -> list[TreeEntry]:
    tree = GitTree(repo.path, commit, name="it")
    entries = tree.entries()
    assert tree.complete
    assert all(finding.code.startswith("tree-name-") for finding in tree.findings)
    return entries


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_same_as_git_lists(tmp_path: Path, batch: int) -> None:
    for repo, commit in made(tmp_path, batch):
        entries = read(repo, commit)
        listed = []
        for line in repo.git("ls-tree", "-r", "-z", "-l", commit).split(b"\0")[:-1]:
            head, path = line.split(b"\t", 1)
            mode, _, oid, size = head.split()
            length = None if size == b"-" else int(size)
            listed.append((path, int(mode, 8), oid.decode(), length))
        assert sorted(listed) == [
            (e.path, e.mode, e.blob or (e.target or b"").decode(), e.length) for e in entries
        ]
        checked = repo.ask("fsck", "--full", "--strict", "--no-dangling")
        assert checked.returncode == 0, checked
        for entry in entries[:5]:
            if entry.type is not Type.GITLINK:
                data = repo.git("cat-file", "blob", entry.blob or "")
                assert hashlib.sha256(data).hexdigest() == entry.sha256
                assert entry.type is Type.FILE or entry.target == data


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_same_as_dulwich_reads(tmp_path: Path, batch: int) -> None:
    objects = pytest.importorskip("dulwich.object_store", reason="a peer, compared where installed")
    repos = pytest.importorskip("dulwich.repo", reason="a peer, compared where installed")
    for repo, commit in made(tmp_path, batch):
        if repo.sha256:
            continue
        with repos.Repo(str(repo.path)) as peer:
            store = peer.object_store
            tree = store[commit.encode()].tree
            listed = sorted(
                (item.path, item.mode, item.sha) for item in objects.iter_tree_contents(store, tree)
            )
            entries = read(repo, commit)
            assert listed == [
                (e.path, e.mode, (e.blob or "").encode() or e.target) for e in entries
            ]
            for entry in entries:
                if entry.blob:
                    data = store[entry.blob.encode()].as_raw_string()
                    assert hashlib.sha256(data).hexdigest() == entry.sha256


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_same_as_libgit2_reads(tmp_path: Path, batch: int) -> None:
    pygit2 = pytest.importorskip("pygit2", reason="a peer, compared where installed")
    for repo, commit in made(tmp_path, batch):
        if repo.sha256:
            continue
        pygit2.option(pygit2.enums.Option.SET_OWNER_VALIDATION, 0)
        peer = pygit2.Repository(str(repo.path))
        listed = {}
        stack = [(b"", peer[commit].tree)]
        while stack:
            prefix, tree = stack.pop()
            for item in tree:
                path = prefix + item.raw_name
                if item.filemode == 0o40000:
                    stack.append((path + b"/", peer[item.id]))
                else:
                    listed[path] = (int(item.filemode), str(item.id))
        entries = read(repo, commit)
        assert listed == {e.path: (e.mode, e.blob or (e.target or b"").decode()) for e in entries}
        for entry in entries:
            if entry.blob:
                data = peer[entry.blob].data
                assert hashlib.sha256(data).hexdigest() == entry.sha256
        peer.free()
