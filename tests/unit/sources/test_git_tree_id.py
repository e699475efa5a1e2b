"""Tree ids computed from entries, against git itself."""

from pathlib import Path

import pytest
from support import git_repos

from verifier.sources.git.tree import GitTree
from verifier.sources.git.tree_id import TreeIds, blob_id


@pytest.mark.parametrize("seed", range(40))
def test_the_id_of_any_tree_is_git_s(tmp_path: Path, seed: int) -> None:
    repo, commit = git_repos.generated(tmp_path / "repo", seed)
    tree = GitTree(repo.path, commit, name="x")
    rows = [(e.path, e.mode or 0, e.blob or (e.target or b"").decode()) for e in tree.entries()]
    ids = TreeIds(rows, len(commit))
    assert ids.id() == repo.git("rev-parse", f"{commit}^{{tree}}").decode().strip()
    for line in repo.git("ls-tree", "-z", commit).split(b"\0")[:-1]:
        head, _, name = line.partition(b"\t")
        assert ids.id(name) == head.split(b" ")[2].decode()


@pytest.mark.parametrize("sha256", [False, True])
def test_one_folder_is_what_mktree_makes(tmp_path: Path, sha256: bool) -> None:
    repo = git_repos.make(tmp_path / "repo", sha256=sha256)
    width = 64 if sha256 else 40
    blob = repo.store("blob", b"x")
    assert blob_id(b"x", width) == blob
    folder = repo.store("tree", git_repos.tree_bytes([(b"100644", b"f", blob)]))
    rows = [(b"a", 0o40000, folder), (b"a.b", 0o100755, blob), (b"a0", 0o120000, blob)]
    leaves = [(b"a/f", 0o100644, blob), *rows[1:]]
    text = b"".join(
        b"%06o %b %b\t%b\n" % (mode, b"tree" if mode == 0o40000 else b"blob", oid.encode(), name)
        for name, mode, oid in rows
    )
    assert TreeIds(leaves, width).id() == repo.git("mktree", data=text).decode().strip()


def test_changes_lead_to_the_id_of_what_is_left() -> None:
    one, other = blob_id(b"1"), blob_id(b"2")
    ids = TreeIds([(b"a/b/c", 0o100644, one), (b"a/d", 0o100644, one)])
    before = ids.id()
    ids.put(b"a/b/e/f", 0o100755, other)
    ids.put(b"a/d", 0o100644, other)
    changed = [
        (b"a/b/c", 0o100644, one),
        (b"a/d", 0o100644, other),
        (b"a/b/e/f", 0o100755, other),
    ]
    assert ids.id() == TreeIds(changed).id() != before
    ids.remove(b"a/b/e/f")
    assert ids.id(b"a/b/e") is None
    ids.put(b"a/d", 0o100644, one)
    assert ids.id() == before
    with pytest.raises(KeyError):
        ids.remove(b"a/x")


def test_the_empty_tree() -> None:
    assert TreeIds([]).id() == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
