"""Branches of a clone, as its files say: packed, loose, symbolic, and whatever else lies there."""

import os
import time
from pathlib import Path

import pytest
from support import git_repos

from verifier.core.errors import UnavailableError
from verifier.sources.git.refs import references
from verifier.sources.git.store import find

ONE, OTHER = "1" * 40, "2" * 40


def listed(repo: git_repos.Repo) -> dict[str, str]:
    return references(find(repo.path, (), anywhere=False))


def packed(repo: git_repos.Repo, *lines: str) -> None:
    text = "".join(f"{line}\n" for line in lines)
    (repo.git_dir / "packed-refs").write_bytes(text.encode("utf-8", "surrogateescape"))


@pytest.fixture
def repo(tmp_path: Path) -> git_repos.Repo:
    return git_repos.make(tmp_path / "repo")


def test_loose_and_packed_and_the_loose_one_counts(repo: git_repos.Repo) -> None:
    packed(
        repo,
        "# pack-refs with: peeled fully-peeled sorted ",
        f"{ONE} refs/heads/main",
        f"{ONE} refs/remotes/origin/topic/deep",
        f"{ONE} refs/tags/v1",
        f"^{OTHER}",
    )
    repo.point("refs/heads/main", OTHER)
    repo.point("refs/heads/a/b", ONE)
    repo.point("refs/tags/v2", OTHER)
    assert listed(repo) == {
        "refs/heads/a/b": ONE,
        "refs/heads/main": OTHER,
        "refs/remotes/origin/topic/deep": ONE,
    }


def test_symbolic_references_lead_to_what_they_name(repo: git_repos.Repo) -> None:
    packed(repo, f"{ONE} refs/remotes/origin/main")
    repo.point("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main")
    repo.point("refs/heads/lost", "ref: refs/heads/nowhere")
    repo.point("refs/heads/round", "ref: refs/heads/about")
    repo.point("refs/heads/about", "ref: refs/heads/round")
    repo.point("refs/heads/out", "ref: refs/heads/../../../secret")
    assert listed(repo) == {
        "refs/remotes/origin/HEAD": ONE,
        "refs/remotes/origin/main": ONE,
    }


def test_what_is_no_reference_is_none(repo: git_repos.Repo, tmp_path: Path) -> None:
    packed(
        repo,
        "not a line",
        "",
        f"{ONE[:-1]} refs/heads/short",
        f"{ONE.replace('1', 'A')} refs/heads/capital",
        f"{ONE}refs/heads/glued",
        f"{ONE}\trefs/heads/tab",
        f"{ONE} heads/other",
        f"{ONE} refs/heads/nul\0l",
        f"{ONE} refs/heads/../../../../etc/hostname",
        f"{ONE} refs/heads/\udcff",
    )
    repo.point("refs/heads/empty", "")
    repo.point("refs/heads/words", "main")
    repo.point("refs/heads/long", f"{ONE} {OTHER}")
    place = repo.git_dir / "refs" / "heads"
    (tmp_path / "secret").write_text(f"{OTHER}\n")
    (place / "link").symlink_to(tmp_path / "secret")
    (place / "folder").symlink_to(tmp_path)
    os.mkfifo(place / "pipe")
    (place / "new\nline").write_text(f"{OTHER}\n")
    found = listed(repo)
    assert OTHER not in {v for name, v in found.items() if name != "refs/heads/new\nline"}
    assert {name for name in found if "\n" not in name} == {
        "refs/heads/nul\0l",
        "refs/heads/../../../../etc/hostname",
        "refs/heads/\udcff",
    }


def test_a_folder_of_references_that_is_a_link_is_not_followed(
    repo: git_repos.Repo, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "main").write_text(f"{OTHER}\n")
    (repo.git_dir / "refs" / "heads").rename(repo.git_dir / "refs" / "gone")
    (repo.git_dir / "refs" / "heads").symlink_to(elsewhere)
    with pytest.raises(UnavailableError):
        listed(repo)


def test_many_packed_branches_are_read_once(repo: git_repos.Repo) -> None:
    packed(repo, *(f"{ONE} refs/remotes/origin/b{number:05}" for number in range(20_000)))
    began = time.process_time()
    assert len(listed(repo)) == 20_000
    assert time.process_time() - began < 2
