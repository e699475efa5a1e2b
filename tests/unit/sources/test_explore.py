"""A clone by name: GitPython answers, the objects decide, and nothing of the clone is run."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import git_repos, pinning, runs
from support.registry import NOW

from verifier.core.errors import UnavailableError, WrongCallError
from verifier.sources import explore

PATH = "overlay/patch_queue.py"


@pytest.fixture
def clone(tmp_path: Path) -> git_repos.Repo:
    pinning.producer(tmp_path / "fq", {})
    return git_repos.Repo(tmp_path / "fq", tmp_path / "fq/.git")


def ids(clone: git_repos.Repo, *words: str) -> list[str]:
    return clone.git("log", "--format=%H", *words).decode().split()


def test_names_and_commits_are_those_of_git(clone: git_repos.Repo) -> None:
    found = explore.history(clone.path, path=PATH)
    assert [step.commit for step in found.steps] == ids(clone, "--", PATH)
    assert {(n.kind, n.name, n.commit) for n in found.names} == {
        ("branch", "main", ids(clone)[0]),
        ("tag", "v6", ids(clone, "v6")[0]),
    }
    assert found.head == ids(clone)[0]
    assert not found.findings
    assert not found.cut
    assert found.steps[0].subject == "The fair share, v6-carry"
    assert len(explore.history(clone.path, path="hosts/clean.py").steps) == 1
    assert [s.commit for s in explore.history(clone.path, path=PATH, tip="v6").steps] == ids(
        clone, "v6", "--", PATH
    )


def test_annotated_tags_packed_references_and_merges(clone: git_repos.Repo) -> None:
    first, second = ids(clone)[:2]
    clone.tag("release", first)
    clone.git("branch", "side", second)
    clone.git("pack-refs", "--all")
    merge = clone.commit_of(
        clone.git("rev-parse", f"{first}^{{tree}}").decode().strip(), parents=[first, second]
    )
    found = explore.history(clone.path, path=PATH)
    assert ("tag", "release", first) in {(n.kind, n.name, n.commit) for n in found.names}
    assert ("branch", "side", second) in {(n.kind, n.name, n.commit) for n in found.names}
    assert found.head == merge
    assert merge not in [step.commit for step in found.steps]
    assert not found.findings


def test_nothing_of_the_clone_or_the_environment_is_run(
    clone: git_repos.Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 0\n")
    trap.chmod(0o755)
    clone.configure(
        f"[core]\n\tfsmonitor = {trap}\n\tsshCommand = {trap}\n\tpager = {trap}\n\thooksPath = "
        f"{tmp_path}\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {trap}\n[alias]\n\t"
        f"rev-list = !{trap}\n[diff]\n\texternal = {trap}\n[include]\n\tpath = {tmp_path}/more\n"
    )
    (clone.git_dir / "hooks").mkdir(exist_ok=True)
    (clone.git_dir / "hooks/post-checkout").write_text(trap.read_text())
    for name, value in {
        "GIT_PYTHON_GIT_EXECUTABLE": str(trap),
        "GIT_DIR": str(tmp_path),
        "GIT_EXTERNAL_DIFF": str(trap),
        "GIT_SSH_COMMAND": str(trap),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(trap),
        "GIT_TRACE": str(tmp_path / "trace"),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "git").write_text(trap.read_text())
    (tmp_path / "git").chmod(0o755)
    before = dict(os.environ)
    content = runs.content(clone.path)
    found = explore.history(clone.path, path=PATH)
    assert len(found.steps) == 6
    assert dict(os.environ) == before
    assert runs.content(clone.path) == content
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "trace").exists()


def test_replaced_and_grafted_history_is_not_followed(clone: git_repos.Repo) -> None:
    every = ids(clone, "--", PATH)
    clone.git("replace", every[0], every[3])
    (clone.git_dir / "info").mkdir(exist_ok=True)
    (clone.git_dir / "info/grafts").write_text(f"{every[1]}\n")
    plain = subprocess.run(
        ["git", "log", "--format=%H", "--", PATH],
        cwd=clone.path,
        env=git_repos.ENVIRONMENT,
        capture_output=True,
        check=True,
    )
    assert plain.stdout.decode().split() != every, "git follows them"
    assert [step.commit for step in explore.history(clone.path, path=PATH).steps] == every


def test_a_path_is_no_pattern(clone: git_repos.Repo) -> None:
    for path in (":(glob)**", ":/", "overlay/*.py", "-1"):
        assert explore.history(clone.path, path=path).steps == ()
    for path in ("../fq/overlay/patch_queue.py", "overlay/../overlay/patch_queue.py", "/etc/x"):
        with pytest.raises(WrongCallError):
            explore.history(clone.path, path=path)


@pytest.mark.parametrize("name", ["forged", "missing"])
def test_commits_that_do_not_hash_are_left_out(clone: git_repos.Repo, name: str) -> None:
    oid = ids(clone)[2]
    if name == "forged":
        other = clone.git("cat-file", "commit", ids(clone)[3])
        clone.store("commit", other, oid=oid)
        found = explore.history(clone.path, path=PATH)
        assert [finding.code for finding in found.findings][:1] == ["explore-contradicted"]
        assert oid not in [step.commit for step in found.steps]
    else:
        clone.loose(oid).unlink()
        with pytest.raises(UnavailableError, match="cannot be explored"):
            explore.history(clone.path, path=PATH)


def test_a_lie_is_named_and_not_listed(
    clone: git_repos.Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ids(clone)[:2]

    def lies(_there: Any) -> Iterator[tuple[str, str]]:
        yield "refs/tags/v6", first
        yield "refs/heads/main", first

    monkeypatch.setattr(explore, "_said", lies)
    monkeypatch.setattr(explore, "_log", lambda *_: ([second, "0" * 40], False))
    found = explore.history(clone.path, path="hosts/clean.py")
    assert [name.name for name in found.names] == ["main"]
    assert found.steps == ()
    assert [finding.code for finding in found.findings] == ["explore-contradicted"] * 3
    ran = runs.run(["list", "history", "fq"], cwd=clone.path.parent, clock=NOW)
    assert ran.exit == 3
    assert b"not so" in ran.stdout


def test_sha256_and_unborn_repositories_say_so(tmp_path: Path) -> None:
    wide = git_repos.make(tmp_path / "wide", sha256=True)
    wide.commit({b"a": b"a\n"})
    with pytest.raises(UnavailableError, match="SHA-256"):
        explore.history(wide.path, path="a")
    git_repos.make(tmp_path / "empty")
    with pytest.raises(UnavailableError, match="no commit checked out"):
        explore.history(tmp_path / "empty", path="a")


def test_clean_is_our_walk(clone: git_repos.Repo) -> None:
    def told() -> bytes:
        ran = runs.run(["list", "history", "fq"], cwd=clone.path.parent, clock=NOW)
        assert ran.exit == 0
        return ran.stdout

    assert b"clean: 3 files" in told()
    (clone.path / PATH).write_bytes((clone.path / PATH).read_bytes().replace(b"\n", b"\r\n"))
    clone.git("config", "core.autocrlf", "true")
    clone.git("update-index", "--assume-unchanged", PATH)
    assert clone.git("status", "--porcelain") == b"", "git calls it clean"
    assert f"not clean: {PATH}".encode() in told()
    (clone.path / "extra").write_text("x")
    assert b"extra" in told()
