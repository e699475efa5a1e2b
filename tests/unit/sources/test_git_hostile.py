"""Repositories that try to run something, or to change the answer: none does, each is named.

Every test shows first that the trap is one: plain git runs the planted program or gives the
other answer.
"""

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from support import git_repos
from support.git_repos import Repo, planted

from verifier.sources.git import process as git_process
from verifier.sources.git.objects import Commit
from verifier.sources.git.repository import read_commit, resolve
from verifier.sources.git.tree import GitTree
from verifier.sources.tree import TreeEntry

GOOD: Final = b"what was reviewed\n"
EVIL: Final = b"what is delivered\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return git_repos.make(tmp_path / "repo")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "marker"


def everything(repo: Repo, commit: str) -> tuple[GitTree, list[TreeEntry]]:
    """Use all of the reader's questions."""
    tree = GitTree(repo.path, commit, name="it")
    entries = tree.entries()
    for entry in entries:
        assert tree.read(entry.path, limit=1 << 20) is not None
    assert isinstance(read_commit(repo.path, commit), Commit)
    assert resolve(repo.path, "main").oid == commit
    assert resolve(repo.path, commit[:9]).oid == commit
    return tree, entries


def codes(tree: GitTree) -> set[str]:
    return {finding.code for finding in tree.findings}


def test_a_replaced_blob(repo: Repo) -> None:
    commit = repo.commit({b"a": GOOD})
    oid = repo.git("rev-parse", "HEAD:a").decode().strip()
    repo.git("replace", oid, repo.store("blob", EVIL))
    assert repo.git("show", f"{commit}:a") == EVIL
    tree, entries = everything(repo, commit)
    assert tree.read(b"a", limit=99) == GOOD
    assert entries[0].sha256 == hashlib.sha256(GOOD).hexdigest()
    assert codes(tree) == {"git-replaced"}
    assert tree.complete


@pytest.mark.parametrize("packed", [False, True])
def test_a_replaced_commit(repo: Repo, packed: bool) -> None:
    commit = repo.commit({b"a": GOOD})
    evil = repo.commit({b"a": EVIL})
    repo.point("refs/heads/main", commit)
    repo.git("replace", commit, evil)
    if packed:
        repo.git("pack-refs", "--all")
    assert repo.git("show", f"{commit}:a") == EVIL
    tree, _ = everything(repo, commit)
    assert tree.read(b"a", limit=99) == GOOD
    assert codes(tree) == {"git-replaced"}
    assert commit in str(tree.findings[0].got)


def test_grafted_parents(repo: Repo) -> None:
    first = repo.commit({b"a": GOOD})
    other = repo.commit({b"a": EVIL})
    commit = repo.commit({b"a": GOOD}, parents=[first])
    (repo.git_dir / "info").mkdir()
    (repo.git_dir / "info/grafts").write_text(f"{commit} {other}\n")
    assert repo.git("rev-parse", f"{commit}^").decode().strip() == other
    read = read_commit(repo.path, commit)
    assert isinstance(read, Commit)
    assert read.parents == (first,)
    assert codes(everything(repo, commit)[0]) == {"git-grafted"}


def test_a_commit_graph_that_lies(repo: Repo) -> None:
    """Git believes the tree and parents of its commit-graph; it is not shown to ours."""
    first = repo.commit({b"a": GOOD})
    commit = repo.commit({b"a": EVIL}, parents=[first])
    repo.git("commit-graph", "write", "--reachable")
    graph = repo.git_dir / "objects/info/commit-graph"
    data = graph.read_bytes()
    old, new = (
        bytes.fromhex(repo.git("rev-parse", f"{c}^{{tree}}").decode()) for c in (commit, first)
    )
    assert data.count(old) == 1
    graph.chmod(0o644)
    graph.write_bytes(data.replace(old, new))
    assert repo.git("log", "-1", "--format=%T", commit).decode().strip() == new.hex()
    tree, _ = everything(repo, commit)
    assert tree.read(b"a", limit=99) == EVIL
    assert any("commit-graph" in words for words in tree.ignored)


def test_a_multi_pack_index_is_left_out(repo: Repo) -> None:
    commit = repo.commit({b"a": GOOD})
    repo.pack()
    repo.git("multi-pack-index", "write")
    index = repo.git_dir / "objects/pack/multi-pack-index"
    index.chmod(0o644)
    index.write_bytes(index.read_bytes()[:50])
    tree, entries = everything(repo, commit)
    assert len(entries) == 1
    assert any("multi-pack-index" in words for words in tree.ignored)


def test_a_promisor_remote_is_not_asked(repo: Repo, marker: Path) -> None:
    commit = repo.commit({b"a": GOOD, b"b": b"x"})
    program = planted(repo.path.parent / "upload", marker)
    oid = repo.git("rev-parse", "HEAD:a").decode().strip()
    repo.loose(oid).unlink()
    repo.configure(
        f"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"
        f'[remote "origin"]\n\turl = {repo.path}\n\tpromisor = true\n\tuploadpack = {program}\n'
    )
    repo.ask("cat-file", "blob", oid)
    assert marker.exists()
    marker.unlink()
    tree = GitTree(repo.path, commit, name="it")
    entries = tree.entries()
    assert codes(tree) == {"git-object-missing", "git-partial"}
    missing = next(f for f in tree.findings if f.code == "git-object-missing")
    assert missing.cause == "the clone is partial"
    assert [e.length for e in entries] == [None, 1]
    assert tree.read(b"a", limit=9) is None
    assert not marker.exists()
    assert "remote.origin.uploadpack" in " ".join(tree.ignored)


_CONFIGURATIONS: Final[dict[str, tuple[str, list[str]]]] = {
    "fsmonitor": ("[core]\n\tfsmonitor = {p}\n", ["status"]),
    "filter": ('[filter "x"]\n\tsmudge = {p}\n', ["cat-file", "--filters", "HEAD:a"]),
    "required filter": (
        '[filter "x"]\n\tprocess = {p}\n\trequired = true\n',
        ["archive", "HEAD"],
    ),
    "alias": ("[alias]\n\tcit = !{p}\n", ["cit"]),
    "textconv": ('[diff "x"]\n\ttextconv = {p}\n', ["show", "HEAD"]),
    "external diff": ("[diff]\n\texternal = {p}\n", ["diff", "HEAD~", "HEAD"]),
    "ssh": ("[core]\n\tsshCommand = {p}\n", ["ls-remote", "ssh://x.invalid/y"]),
    "credentials": ("[credential]\n\thelper = !{p}\n", ["credential", "fill"]),
    "include": ("[include]\n\tpath = {c}\n", ["status"]),
    "conditional": ('[includeIf "gitdir:/"]\n\tpath = {c}\n', ["status"]),
    "gpg": ("[gpg]\n\tprogram = {p}\n", ["verify-commit", "HEAD"]),
}


@pytest.mark.parametrize("name", _CONFIGURATIONS)
def test_configuration_that_runs_programs(repo: Repo, marker: Path, name: str) -> None:
    text, command = _CONFIGURATIONS[name]
    program = planted(repo.path.parent / "planted", marker)
    included = repo.path.parent / "included"
    included.write_text(f"[core]\n\tfsmonitor = {program}\n")
    first = repo.commit({b"a": EVIL})
    commit = repo.commit({b"a": GOOD, b".gitattributes": b"a filter=x diff=x\n"}, parents=[first])
    signed = repo.git("cat-file", "commit", commit).replace(
        b"\n\n", b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n", 1
    )
    commit = repo.store("commit", signed)
    repo.point("refs/heads/main", commit)
    repo.git("read-tree", "HEAD")
    (repo.path / ".gitattributes").write_bytes(b"a filter=x diff=x\n")
    repo.configure(text.format(p=program, c=included))
    repo.ask(*command, data=b"protocol=https\nhost=x.invalid\n\n" * 9)
    assert marker.exists()
    marker.unlink()
    tree, entries = everything(repo, commit)
    assert tree.read(b"a", limit=99) == GOOD
    assert len(entries) == 2
    assert not marker.exists()
    assert any("configuration that names programs" in words for words in tree.ignored)
    assert any(".gitattributes:1: a filter=x" in words for words in tree.ignored)
    assert tree.complete


def test_hooks(repo: Repo, marker: Path) -> None:
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
        planted(repo.git_dir / "hooks" / hook, marker)
    commit = repo.commit({b"a": GOOD})
    repo.ask("checkout", "-q", "-f", "main")
    assert marker.exists()
    marker.unlink()
    tree, _ = everything(repo, commit)
    assert not marker.exists()
    assert any("post-checkout" in words for words in tree.ignored)


def _variables(other: Repo, program: Path, marker: Path) -> dict[str, Mapping[str, str]]:
    count = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor"}
    home = program.parent / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[core]\n\tfsmonitor = {program}\n[alias]\n\tcit = !{program}\n"
    )
    system = {"GIT_CONFIG_SYSTEM": str(home / ".gitconfig"), "GIT_CONFIG_NOSYSTEM": "0"}
    return {
        "GIT_DIR": {"GIT_DIR": str(other.git_dir)},
        "GIT_COMMON_DIR": {"GIT_COMMON_DIR": str(other.git_dir)},
        "GIT_OBJECT_DIRECTORY": {"GIT_OBJECT_DIRECTORY": str(other.git_dir / "objects")},
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": {
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(other.git_dir / "objects")
        },
        "GIT_CONFIG_COUNT": {**count, "GIT_CONFIG_VALUE_0": str(program)},
        "GIT_CONFIG_PARAMETERS": {"GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={program}'"},
        "GIT_CONFIG_GLOBAL": {"GIT_CONFIG_GLOBAL": str(home / ".gitconfig")},
        "GIT_CONFIG_SYSTEM": system,
        "GIT_TRACE": {"GIT_TRACE": str(marker)},
        "GIT_TRACE2_EVENT": {"GIT_TRACE2_EVENT": str(marker)},
        "GIT_REPLACE_REF_BASE": {"GIT_REPLACE_REF_BASE": "refs/heads/replace"},
        "GIT_EXTERNAL_DIFF": {"GIT_EXTERNAL_DIFF": str(program)},
        "GIT_DEFAULT_HASH": {"GIT_DEFAULT_HASH": "sha256"},
        "GIT_SHALLOW_FILE": {"GIT_SHALLOW_FILE": str(home / "nothing")},
    }


@pytest.mark.parametrize(
    "name",
    [
        *("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
        *("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"),
        *("GIT_TRACE", "GIT_TRACE2_EVENT", "GIT_REPLACE_REF_BASE", "GIT_EXTERNAL_DIFF"),
        *("GIT_DEFAULT_HASH", "GIT_SHALLOW_FILE"),
    ],
)
def test_variables_of_the_environment(
    repo: Repo, marker: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = repo.commit({b"a": EVIL})
    commit = repo.commit({b"a": GOOD, b"b": b"x"}, parents=[first])
    oid = repo.git("rev-parse", "HEAD:a").decode().strip()
    repo.git("read-tree", "HEAD")
    repo.point(f"refs/heads/replace/{oid}", repo.store("blob", EVIL))
    other = git_repos.make(repo.path.parent / "other")
    elsewhere = other.commit({b"a": EVIL, b"more": b"?"})
    variables = _variables(other, planted(repo.path.parent / "planted", marker), marker)[name]
    commands = [["show", "HEAD:a"], ["status"], ["cat-file", "-t", elsewhere], ["show", oid]]
    commands += [["diff", "HEAD~", "HEAD"]]
    plain = [repo.ask(*command).stdout for command in commands]
    moved = [repo.ask(*command, env=variables).stdout for command in commands]
    if name not in ("GIT_DEFAULT_HASH", "GIT_SHALLOW_FILE"):
        assert marker.exists() or plain != moved, "no trap"
    marker.unlink(missing_ok=True)
    reference = everything(repo, commit)[1]
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    git_process.find_git.cache_clear()
    tree, entries = everything(repo, commit)
    assert entries == reference
    assert tree.read(b"a", limit=99) == GOOD
    assert GitTree(repo.path, elsewhere, name="it").entries() == []
    assert not marker.exists()


def test_a_git_planted_on_the_path(
    repo: Repo, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repo.commit({b"a": GOOD})
    planted(repo.path / "git", marker)
    monkeypatch.setenv("PATH", f"{repo.path}:.:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_EXEC_PATH", str(repo.path))
    monkeypatch.chdir(repo.path)
    subprocess.run(["git", "version"], check=False)
    assert marker.exists()
    marker.unlink()
    git_process.find_git.cache_clear()
    everything(repo, commit)
    assert not marker.exists()
    assert git_process.find_git().path.startswith("/")
    assert not git_process.find_git().path.startswith(str(repo.path))


def test_without_git(monkeypatch: pytest.MonkeyPatch, repo: Repo) -> None:
    from verifier.core.errors import UnavailableError

    commit = repo.commit({b"a": GOOD})
    writable = planted(repo.path / "git", repo.path / "marker")
    writable.chmod(0o777)
    for places in ((), ("/nonexistent/git", str(repo.path), str(writable))):
        monkeypatch.setattr(git_process, "_PLACES", places)
        git_process.find_git.cache_clear()
        with pytest.raises(UnavailableError) as caught:
            GitTree(repo.path, commit, name="it").entries()
        assert caught.value.code == "git-missing"
        assert not (repo.path / "marker").exists()
    git_process.find_git.cache_clear()


def test_nothing_is_left_behind(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the repository (not even an access through git) nor in the temporary folder."""
    commit = repo.commit({b"a": GOOD, b"d": {b"b": b"x"}})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = _state(repo.path)
    everything(repo, commit)
    with GitTree(repo.path, commit, name="it") as tree:
        assert len(list(temporary.iterdir())) == 1
        assert len(tree.entries()) == 2
    assert list(temporary.iterdir()) == []
    assert _state(repo.path) == before


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {
        str(path): (s.st_mode, s.st_ctime_ns, s.st_nlink)
        for path in sorted(folder.rglob("*"))
        for s in [path.lstat()]
    }


def test_our_git_sees_only_what_we_set(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of every process, as the process itself has it."""
    commit = repo.commit({b"a": GOOD})
    real = git_process.find_git()
    seen = repo.path / "seen"
    script = repo.path / "git"
    script.write_text(
        f'#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/environ | /usr/bin/sort -u >> {seen}\n'
        f'exec {real.path} "$@"\n'.replace("tr ", "/usr/bin/tr ")
    )
    script.chmod(0o755)
    for name in ("GIT_DIR", "LD_PRELOAD_X", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "/somewhere")
    fake = git_process.Git(path=str(script), version=real.version, detects_collisions=True)
    monkeypatch.setattr("verifier.sources.git.repository.find_git", lambda: fake)
    GitTree(repo.path, commit, name="it").entries()
    keys = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert keys == set(git_process.environment(Path("/x")))
    assert "/somewhere" not in seen.read_text()
