"""Objects that are not what their ids say: plain git serves them, the reader does not."""

import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from support import git_repos
from support.git_repos import Repo, tree_bytes

from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.sources.git import process as git_process
from verifier.sources.git.objects import Commit, parse_commit, parse_tag, parse_tree
from verifier.sources.git.process import Git
from verifier.sources.git.repository import read_commit
from verifier.sources.git.tree import GitTree
from verifier.sources.tree import TreeEntry, Type

GOOD: Final = b"what was reviewed\n"
EVIL: Final = b"what is delivered\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return git_repos.make(tmp_path / "repo")


def opened(repo: Repo, commit: str) -> tuple[GitTree, list[TreeEntry]]:
    tree = GitTree(repo.path, commit, name="it")
    return tree, tree.entries()


def found(tree: GitTree) -> dict[str, Finding]:
    return {finding.code: finding for finding in tree.findings}


def test_a_sound_commit(repo: Repo) -> None:
    commit = repo.commit(
        {
            b"a": GOOD,
            b"run": (b"100755", b"#!"),
            b"to": (b"120000", b"../x"),
            b"sub": (b"160000", b"1" * 40),
            b"d": {b"e": {b"f": b""}},
        }
    )
    tree, entries = opened(repo, commit)
    assert [(e.path, e.type, e.mode, e.length, e.target) for e in entries] == [
        (b"a", Type.FILE, 0o100644, 18, None),
        (b"d/e/f", Type.FILE, 0o100644, 0, None),
        (b"run", Type.FILE, 0o100755, 2, None),
        (b"sub", Type.GITLINK, 0o160000, None, b"1" * 40),
        (b"to", Type.LINK, 0o120000, 4, b"../x"),
    ]
    assert tree.complete
    assert tree.findings == ()
    assert tree.not_proven == ()
    git_tree = repo.git("rev-parse", "HEAD^{tree}").decode().strip()
    assert [str(d) for d in tree.digests] == [f"git-commit:{commit}", f"git-tree:{git_tree}"]
    assert tree.read(b"a", limit=18) == GOOD
    assert tree.read(b"d/e/f", limit=0) == b""
    for nothing in (b"", b"d", b"d/", b"/a", b"to", b"sub", b"a/b", b"nope", b"./a", b"d/../a"):
        assert tree.read(nothing, limit=99) is None, nothing
    with pytest.raises(UnavailableError, match="at most 17 bytes"):
        tree.read(b"a", limit=17)
    assert tree.complete


def test_a_forged_blob(repo: Repo) -> None:
    commit = repo.commit({b"a": GOOD, b"b": b"other"})
    oid = repo.git("rev-parse", "HEAD:a").decode().strip()
    repo.store("blob", EVIL, oid=oid)
    assert repo.git("cat-file", "blob", oid) == EVIL
    assert repo.git("show", f"{commit}:a") == EVIL
    tree, entries = opened(repo, commit)
    assert list(found(tree)) == ["git-object-forged"]
    assert found(tree)["git-object-forged"].row.outcome == "rejected"
    assert found(tree)["git-object-forged"].where.path == "a"
    assert [(e.path, e.sha256 is None) for e in entries] == [(b"a", True), (b"b", False)]
    assert not tree.complete
    assert [d.kind for d in tree.digests] == ["git-commit"]
    again = GitTree(repo.path, commit, name="it")
    assert again.read(b"a", limit=99) is None
    assert again.read(b"b", limit=99) == b"other"
    assert list(found(again)) == ["git-object-forged"]


def test_a_forged_commit(repo: Repo) -> None:
    commit = repo.commit({b"a": GOOD})
    forged = repo.git("cat-file", "commit", repo.commit({b"a": EVIL}))
    repo.store("commit", forged, oid=commit)
    assert repo.git("show", f"{commit}:a") == EVIL
    tree, entries = opened(repo, commit)
    assert entries == []
    assert list(found(tree)) == ["git-object-forged"]
    assert tree.digests == ()
    assert not isinstance(read_commit(repo.path, commit), Commit)


def test_a_forged_tree(repo: Repo) -> None:
    commit = repo.commit({b"d": {b"a": GOOD}})
    oid = repo.git("rev-parse", "HEAD:d").decode().strip()
    repo.store("tree", tree_bytes([(b"100644", b"a", repo.store("blob", EVIL))]), oid=oid)
    assert repo.git("show", f"{commit}:d/a") == EVIL
    tree, entries = opened(repo, commit)
    assert entries == []
    assert list(found(tree)) == ["git-object-forged"]
    assert not tree.complete


def test_a_pack_index_that_swaps_two_objects(repo: Repo) -> None:
    """The bytes in the pack are honest; the index says that each is the other."""
    commit = repo.commit({b"a": GOOD, b"b": EVIL})
    ids = [repo.git("rev-parse", f"HEAD:{name}").decode().strip() for name in "ab"]
    for oid in ids:
        repo.loose(oid).unlink()
    data = [git_repos.entry(3, len(x)) + zlib.compress(x) for x in (EVIL, GOOD)]
    git_repos.write_pack(repo.git_dir / "objects/pack", list(zip(ids, data, strict=True)))
    assert repo.git("show", f"{commit}:a") == EVIL
    tree, _ = opened(repo, commit)
    assert [f.code for f in tree.findings] == ["git-object-forged"] * 2


def test_a_blob_where_a_tree_should_be(repo: Repo) -> None:
    blob = repo.store("blob", GOOD)
    folder = repo.tree({b"x": GOOD})
    commit = repo.commit_of(
        repo.store("tree", tree_bytes([(b"40000", b"a", blob), (b"100644", b"b", folder)]))
    )
    tree, _ = opened(repo, commit)
    assert [f.code for f in tree.findings] == ["git-object-type"] * 2


_OID: Final = git_repos.object_id("blob", GOOD)
_TREES: Final[dict[str, tuple[str, list[tuple[bytes, bytes]]]]] = {
    "twice": ("git-tree-duplicate", [(b"100644", b"a"), (b"100644", b"a")]),
    "apart": (
        "git-tree-duplicate",
        [(b"100644", b"a"), (b"100644", b"a.b"), (b"40000", b"a")],
    ),
    "unsorted": ("git-tree-unsorted", [(b"100644", b"b"), (b"100644", b"a")]),
    "folder order": ("git-tree-unsorted", [(b"40000", b"a"), (b"100644", b"a.b")]),
    "padded folder": ("git-mode-padded", [(b"040000", b"a")]),
    "padded file": ("git-mode-padded", [(b"0100644", b"a")]),
    "group": ("git-mode-unknown", [(b"100664", b"a")]),
    "device": ("git-mode-unknown", [(b"20000", b"a")]),
    "set-uid": ("git-mode-unknown", [(b"104755", b"a")]),
    "empty name": ("git-name-unsafe", [(b"100644", b"")]),
    "slash": ("git-name-unsafe", [(b"100644", b"a/b")]),
    "dot": ("git-name-unsafe", [(b"40000", b".")]),
    "dot dot": ("git-name-unsafe", [(b"40000", b"..")]),
    ".git": ("git-name-unsafe", [(b"40000", b".git")]),
    ".GIT": ("git-name-unsafe", [(b"40000", b".GIT")]),
    "NTFS dots": ("git-name-unsafe", [(b"40000", b".git. .")]),
    "NTFS short": ("git-name-unsafe", [(b"40000", b"GIT~1")]),
    "NTFS stream": ("git-name-unsafe", [(b"40000", b".git::$INDEX_ALLOCATION")]),
    "NTFS slash": ("git-name-unsafe", [(b"100644", b"a\\.git\\config")]),
    "HFS joiner": ("git-name-unsafe", [(b"40000", b".g\xe2\x80\x8cit")]),
    "HFS mark": ("git-name-unsafe", [(b"40000", b"\xef\xbb\xbf.Git")]),
}


@pytest.mark.parametrize("name", _TREES)
def test_trees_that_git_lists_and_no_folder_can_hold(repo: Repo, name: str) -> None:
    code, items = _TREES[name]
    blob, folder = repo.store("blob", GOOD), repo.tree({b"x": GOOD})
    raw = tree_bytes((m, n, folder if m.endswith(b"40000") else blob) for m, n in items)
    commit = repo.commit_of(repo.store("tree", raw))
    listed = repo.ask("ls-tree", "-z", commit)
    assert listed.stdout.count(b"\0") == len(items) or name == "empty name"
    checked = repo.ask("fsck", "--strict")
    assert checked.returncode or b"badFilemode" in checked.stderr
    tree, _ = opened(repo, commit)
    assert code in found(tree)
    assert found(tree)[code].row.outcome == "rejected"
    assert not tree.complete
    assert set(found(tree)) <= {code, "git-fsck"}


@pytest.mark.parametrize(
    "raw",
    [b"100644 a", b"100644 a\0" + b"1" * 19, b"a\0" + b"1" * 20, b" a\0" + b"1" * 20, b"\0", b"4"],
)
def test_trees_that_do_not_parse(raw: bytes) -> None:
    _, faults = parse_tree(raw, 40)
    assert {f.code for f in faults} <= {"git-tree-malformed", "git-mode-unknown"}
    assert faults


def test_a_tree_cut_short(repo: Repo) -> None:
    raw = tree_bytes([(b"100644", b"a", repo.store("blob", GOOD))])
    commit = repo.commit_of(repo.store("tree", raw[:-1]))
    assert "git-tree-malformed" in found(opened(repo, commit)[0])


_LINES: Final = b"tree %s\nauthor %s\ncommitter %s\n\nm\n" % (
    b"1" * 40,
    git_repos.WHO,
    git_repos.WHO,
)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        _LINES.replace(b"tree ", b"parent "),
        _LINES.replace(b"1" * 40, b"1" * 39),
        _LINES.replace(b"1" * 40, b"A" * 40),
        _LINES.replace(b"tree ", b"tree " + b"1" * 40 + b"\ntree "),
        _LINES.replace(b"author", b"parent " + b"2" * 39 + b"\nauthor"),
        _LINES.replace(b"committer", b"tree " + b"2" * 40 + b"\ncommitter"),
        _LINES.replace(b"committer", b"x y\ncommitter"),
        _LINES.replace(b"\n\n", b"\nparent " + b"2" * 40 + b"\n\n"),
    ],
)
def test_commits_that_break_their_format(raw: bytes, repo: Repo) -> None:
    fault = parse_commit("1" * 40, raw)
    assert not isinstance(fault, Commit)
    assert fault.code == "git-commit-malformed"
    tree, entries = opened(repo, repo.store("commit", raw))
    assert "git-commit-malformed" in found(tree)
    assert entries == []


def test_a_signed_commit_keeps_its_headers_and_bytes() -> None:
    raw = _LINES.replace(b"\n\n", b"\ngpgsig -----BEGIN\n line\n -----END\nencoding x\n\n")
    raw = raw.replace(b"author", b"parent " + b"2" * 40 + b"\nauthor", 1)
    commit = parse_commit("3" * 40, raw)
    assert isinstance(commit, Commit)
    assert commit.parents == ("2" * 40,)
    assert commit.headers == ((b"gpgsig", b"-----BEGIN\nline\n-----END"), (b"encoding", b"x"))
    assert (commit.message, commit.raw, commit.author) == (b"m\n", raw, git_repos.WHO)


@pytest.mark.parametrize("raw", [b"", b"object x\ntype commit\ntag t\n", b"type commit\n"])
def test_tags_that_break_their_format(raw: bytes) -> None:
    assert getattr(parse_tag("1" * 40, raw), "code", None) == "git-commit-malformed"


def test_old_habits_that_only_git_objects_to(repo: Repo) -> None:
    """A zone that fsck refuses says nothing about content: worth knowing, and the rest is read."""
    raw = repo.git("cat-file", "commit", repo.commit({b"a": GOOD})).replace(b"+0000", b"+51800000")
    tree, entries = opened(repo, repo.store("commit", raw))
    assert list(found(tree)) == ["git-fsck"]
    assert "badTimezone" in str(found(tree)["git-fsck"].got)
    assert found(tree)["git-fsck"].row.outcome == "undecided"
    assert tree.complete
    assert len(entries) == 1


def test_one_file_of_a_tree_with_attributes(repo: Repo) -> None:
    """Git's check wants to see `.gitattributes` and `.gitmodules`, which one file does not need."""
    commit = repo.commit(
        {b".gitattributes": b"* text\n", b".gitmodules": b'[submodule "x"]\n', b"d": {b"a": GOOD}}
    )
    tree = GitTree(repo.path, commit, name="it")
    assert tree.read(b"d/a", limit=99) == GOOD
    assert (tree.findings, tree.not_proven) == ((), ())


def test_a_submodule_that_is_an_option(repo: Repo) -> None:
    """CVE-2018-17456, which git's check knows and no reader of trees does."""
    text = b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=./run\n'
    tree, _ = opened(repo, repo.commit({b".gitmodules": text}))
    assert "gitmodulesUrl" in str(found(tree)["git-fsck"].got)


def test_too_many_bytes_leave_the_reader_usable(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repo.commit({b"%02d" % n: b"%02d" % n * 5000 for n in range(40)})
    monkeypatch.setattr("verifier.sources.git.blobs.GIT_ALL_BYTES", 100_000)
    with GitTree(repo.path, commit, name="it") as tree:
        entries = tree.entries()
        assert set(found(tree)) == {"git-tree-large"}
        assert sum(entry.sha256 is None for entry in entries) == 30
        assert tree.read(b"39", limit=10_000) == b"39" * 5000
        assert tree.read(b"00", limit=10_000) == b"00" * 5000
    assert set(found(tree)) == {"git-tree-large"}


def test_a_collision_is_rejected(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """No collision of git objects is public; a git that reports one is put in its place."""
    commit = repo.commit({b"a": GOOD})
    script = repo.path / "git"
    git = git_process.find_git()
    script.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = index-pack ] || exec {git.path} "$@"\n'
        "echo 'fatal: SHA-1 appears to be part of a collision attack: x' >&2\nexit 128\n"
    )
    script.chmod(0o755)
    fake = Git(path=str(script), version=git.version, detects_collisions=True)
    monkeypatch.setattr("verifier.sources.git.repository.find_git", lambda: fake)
    tree, _ = opened(repo, commit)
    assert list(found(tree)) == ["git-collision"]
    assert found(tree)["git-collision"].row.outcome == "rejected"


def test_a_git_without_collision_detection_says_so(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = git_process.find_git()
    fake = Git(path=git.path, version=git.version, detects_collisions=False)
    monkeypatch.setattr("verifier.sources.git.repository.find_git", lambda: fake)
    tree, _ = opened(repo, repo.commit({b"a": GOOD}))
    assert "collision" in tree.not_proven[0]


@pytest.mark.parametrize("version", [(2, 17), (2, 30)])
def test_an_older_git_gives_the_same_answer(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]
) -> None:
    content = {b"d%d" % n: {b"f%d" % m: b"%d %d" % (n, m) for m in range(9)} for n in range(9)}
    commit = repo.commit({**content, b"bad": GOOD})
    monkeypatch.setattr("verifier.sources.git.blobs._WORTH_TWO", 50)
    bad = repo.git("rev-parse", "HEAD:bad").decode().strip()
    for spoil in (lambda: None, lambda: repo.store("blob", EVIL, oid=bad), repo.loose(bad).unlink):
        spoil()
        new = opened(repo, commit)
        git = git_process.find_git()
        old = Git(path=git.path, version=version, detects_collisions=True)
        with monkeypatch.context() as patch:
            patch.setattr("verifier.sources.git.repository.find_git", lambda old=old: old)
            same = opened(repo, commit)
        assert (new[1], new[0].findings) == (same[1], same[0].findings)


def corrupt_zlib(repo: Repo, oid: str) -> None:
    path = repo.loose(oid)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)


def cut_short(repo: Repo, oid: str) -> None:
    path = repo.loose(oid)
    path.write_bytes(path.read_bytes()[:-5])


def empty(repo: Repo, oid: str) -> None:
    repo.loose(oid).write_bytes(b"")


def longer_than_it_says(repo: Repo, oid: str) -> None:
    repo.loose(oid).write_bytes(zlib.compress(b"blob 3\0" + b"x" * 100))


def shorter_than_it_says(repo: Repo, oid: str) -> None:
    repo.loose(oid).write_bytes(zlib.compress(b"blob 300\0" + b"x" * 100))


@pytest.mark.parametrize(
    "spoil",
    [
        corrupt_zlib,
        cut_short,
        empty,
        longer_than_it_says,
        shorter_than_it_says,
    ],
)
def test_a_damaged_object_costs_itself_and_no_other(
    repo: Repo, spoil: Callable[[Repo, str], None]
) -> None:
    commit = repo.commit({b"a": b"before", b"m": GOOD * 20, b"z": b"behind"})
    spoil(repo, repo.git("rev-parse", "HEAD:m").decode().strip())
    assert repo.ask("fsck").returncode
    tree, entries = opened(repo, commit)
    assert set(found(tree)) <= {"git-object-corrupt", "git-object-forged", "git-object-missing"}
    assert len(tree.findings) == 1
    assert [e.sha256 is not None for e in entries] == [True, False, True]
    assert tree.findings[0].where.path == "m"


def test_bytes_behind_a_loose_object_are_no_part_of_it(repo: Repo) -> None:
    commit = repo.commit({b"a": GOOD})
    path = repo.loose(repo.git("rev-parse", "HEAD:a").decode().strip())
    path.write_bytes(path.read_bytes() + b"garbage")
    tree, entries = opened(repo, commit)
    assert (tree.complete, entries[0].length) == (True, len(GOOD))


def test_a_missing_object(repo: Repo) -> None:
    commit = repo.commit({b"a": GOOD, b"b": b"x", b"d": {b"e": b"y"}})
    repo.loose(repo.git("rev-parse", "HEAD:a").decode().strip()).unlink()
    repo.loose(repo.git("rev-parse", "HEAD:d").decode().strip()).unlink()
    tree, entries = opened(repo, commit)
    assert [f.code for f in tree.findings] == ["git-object-missing"] * 2
    assert found(tree)["git-object-missing"].row.outcome == "undecided"
    assert [(e.path, e.length) for e in entries] == [(b"a", None), (b"b", 1)]
    assert not tree.complete
    tree, entries = opened(repo, "1" * 40)
    assert (entries, list(found(tree))) == ([], ["git-object-missing"])


def test_a_truncated_pack(repo: Repo) -> None:
    commit = repo.commit({b"a": os.urandom(5000), b"b": os.urandom(5000)})
    pack = repo.pack()
    whole = pack.read_bytes()
    pack.chmod(0o644)
    for length in (0, 11, 40, len(whole) // 2, len(whole) - 1):
        pack.write_bytes(whole[:length])
        tree, _ = opened(repo, commit)
        assert set(found(tree)) == {"git-object-corrupt"}, length
        assert not tree.complete


def test_many_damaged_objects_do_not_take_for_ever(repo: Repo) -> None:
    commit = repo.commit({b"%03d" % n: os.urandom(200) for n in range(200)})
    for number in range(200):
        oid = repo.git("rev-parse", f"HEAD:{number:03}").decode().strip() if number < 90 else ""
        if oid:
            corrupt_zlib(repo, oid)
    start = time.monotonic()
    tree, entries = opened(repo, commit)
    assert time.monotonic() - start < 20
    assert set(found(tree)) <= {"git-object-corrupt", "git-object-forged"}
    assert sum(e.sha256 is None for e in entries) >= 90


def test_names_that_are_trouble_elsewhere_are_recorded(repo: Repo) -> None:
    commit = repo.commit({b"Readme": b"1", b"README": b"2", b"nul": b"", b"end.": b"", b"a": b""})
    tree = GitTree(repo.path, commit, name="it")
    assert len(tree.entries()) == 5
    assert tree.complete
    assert found(tree).keys() == {"tree-name-reserved", "tree-name-trailing", "tree-name-case"}
