"""The id that a typo may have meant."""

from pathlib import Path

import pytest
from support import git_repos

from verifier.sources.git.nearest import nearest_commit


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> tuple[git_repos.Repo, str]:
    made = git_repos.make(tmp_path_factory.mktemp("nearest") / "repo")
    oid = ""
    for number in range(30):
        oid = made.commit({b"a": b"%d" % number}, parents=[oid] if oid else [])
    return made, oid


def other(digit: str) -> str:
    return "0" if digit != "0" else "1"


@pytest.mark.parametrize("at", [0, 5, 6, 20, 34, 39])
def test_one_wrong_digit(repo: tuple[git_repos.Repo, str], at: int) -> None:
    made, oid = repo
    assert nearest_commit(made.git_dir, oid[:at] + other(oid[at]) + oid[at + 1 :]) == oid


def test_digits_left_out_too_many_or_swapped(repo: tuple[git_repos.Repo, str]) -> None:
    made, oid = repo
    at = next(n for n in range(10, 38) if oid[n] != oid[n + 1])
    for typo in (
        oid[:20] + oid[21:],
        oid[:20] + "7" + oid[20:],
        oid[:at] + oid[at + 1] + oid[at] + oid[at + 2 :],
        oid[:10] + other(oid[10]) + oid[11:30] + other(oid[30]) + oid[31:],
    ):
        assert nearest_commit(made.git_dir, typo) == oid


def test_what_is_too_far_or_no_commit_has_no_hint(repo: tuple[git_repos.Repo, str]) -> None:
    made, oid = repo
    blob = made.store("blob", b"something else")
    turned = "".join(other(digit) if 8 <= n < 12 else digit for n, digit in enumerate(oid))
    for typo in (blob[:39] + other(blob[39]), turned, "0" * 40, oid[:6], ""):
        assert nearest_commit(made.git_dir, typo) is None


def test_two_that_are_as_near_are_no_answer(tmp_path: Path) -> None:
    made = git_repos.make(tmp_path / "repo")
    ids = [f"{'a' * 20}{digit}{'b' * 19}" for digit in "34"]
    for oid in ids:
        made.store("commit", b"tree " + b"1" * 40, oid=oid)
    assert nearest_commit(made.git_dir, f"{'a' * 20}5{'b' * 19}") is None
    assert nearest_commit(made.git_dir, ids[0][:-1] + "c") == ids[0]
