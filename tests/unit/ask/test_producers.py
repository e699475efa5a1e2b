"""Files of producers at full commits: what is absent, and what could not be looked at."""

from pathlib import Path

import pytest
from support import git_repos, pinning

from verifier.ask.producers import Producers, clones_by_url
from verifier.ask.reading import Reach
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding

URL = "https://example.org/a"


def code(found: object) -> str:
    assert isinstance(found, Finding)
    return found.code


def test_a_broken_tree_hides_every_path_below_it(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "a")
    commit = repo.commit({b"a": b"a\n", b"b": {b"c": b"c\n"}})
    root = repo.git("rev-parse", f"{commit}^{{tree}}").decode().strip()
    with Producers({URL: str(repo.path)}, Reach()) as read:
        assert read.read(URL, commit, "a") == b"a\n"
        assert code(read.read(URL, commit, "z")) == "pin-path-absent"
        assert code(read.read(URL, commit, "b")) == "pin-path-absent"
    repo.store("tree", b"", oid=root)
    with Producers({URL: str(repo.path)}, Reach()) as read:
        for path in ("a", "b/c", "z"):
            assert code(read.read(URL, commit, path)) == "git-object-forged", path


def test_a_clone_is_asked_for_by_its_url(tmp_path: Path) -> None:
    commit = pinning.project(tmp_path)
    with Producers({pinning.GATE: str(tmp_path / "producer")}, Reach()) as read:
        assert code(read.read(URL, commit, "overlay/gate.py")) == "pin-clone-missing"
        assert isinstance(read.read(pinning.GATE, commit, "overlay/gate.py"), bytes)
        found = read.commit(pinning.GATE, commit)
        assert not isinstance(found, Finding)
        assert found.oid == commit
        assert code(read.commit(pinning.GATE, "0" * 40)) == "git-object-missing"


def test_urls_may_hold_an_equals_sign_and_none_is_given_twice() -> None:
    assert clones_by_url(["https://a/?b=c=/clone"]) == {"https://a/?b=c": "/clone"}
    for values in (["/clone"], ["=x"], ["u="], ["u=a", "u=b"]):
        with pytest.raises(WrongCallError):
            clones_by_url(values)
