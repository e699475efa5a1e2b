"""Signing, rotating and updating, killed at every system call or on a full disk.

Whatever is left is the old registry or the new one, and the same run again ends it.
"""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support import kills
from support.maintaining import Team, content
from support.registry import NOW

from verifier.actions.sign_registry import Signing, propose_root, sign_registry
from verifier.catalog.tuf.rotation import RootChange
from verifier.core.errors import PinproofError
from verifier.evidence.private_key import PrivateKey, load

pytestmark = pytest.mark.skipif(
    kills.unavailable() is not None, reason=kills.unavailable() or "it is available"
)


class Run:
    """One run over a registry that is put back before each."""

    def __init__(self, place: Path, step: Callable[[str, Signing], object], *names: str) -> None:
        self.team = Team(place)
        self.team.begin()
        self.team.fill()
        self.team.waits("sign registry reg --key @mine1 --key @targets")
        self.kept = place.parent / "kept"
        shutil.copytree(place, self.kept)
        self.step = step
        self.keys = tuple(self.key(name) for name in names)
        self.old = content(self.team.registry)
        self()
        self.new = content(self.team.registry)
        assert self.old != self.new

    def key(self, name: str) -> PrivateKey:
        return load(str(self.team.place / f"keys/{name}.key"), None)

    def __call__(self) -> int:
        self.step(str(self.team.registry), Signing(keys=self.keys, now=NOW))
        return 0

    def reset(self) -> None:
        shutil.rmtree(self.team.place)
        shutil.copytree(self.kept, self.team.place)

    def assert_whole(self, call: kills.Call) -> bool:
        held = content(self.team.registry)
        assert held in (self.old, self.new), call
        return held == self.new

    def finish(self) -> None:
        """Do it again, as whoever was interrupted would."""
        try:
            self()
        except PinproofError as error:
            assert error.code in ("signing-nothing", "signing-key-repeated", "signing-draft-other")
        assert content(self.team.registry) == self.new


def sign(folder: str, signing: Signing) -> object:
    return sign_registry(folder, signing)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "team").mkdir()
    return Run(tmp_path / "team", sign, "mine2", "online")


def test_signing_killed_at_every_call(run: Run) -> None:
    finished = []
    for call in kills.everywhere(run, run.reset):
        done = run.assert_whole(call)
        finished.append(done)
        if not done:
            run.finish()
    assert len(finished) > 60
    assert finished == sorted(finished)
    assert finished[0] is False
    assert finished[-1] is True


def test_signing_on_a_full_disk(run: Run) -> None:
    run.reset()
    calls, code = kills.trace(run)
    assert code == 0
    tried = 0
    for call in calls:
        if not call.changes or call.name not in ("openat", "write", "fsync", "mkdir", "rename"):
            continue
        tried += 1
        run.reset()
        before = content(run.team.registry)
        code = kills.failing(run, call, errno.ENOSPC, lasting=call.name == "write")
        done = run.assert_whole(call)
        if code:
            assert done or content(run.team.registry) == before
        if not done:
            run.finish()
    assert tried > 20


def test_a_rotation_killed_around_its_exchange(tmp_path: Path) -> None:
    def rotate(folder: str, signing: Signing) -> object:
        return propose_root(folder, RootChange(), signing)

    (tmp_path / "team").mkdir()
    run = Run.__new__(Run)
    run.team = Team(tmp_path / "team").signed()
    run.kept = tmp_path / "kept"
    shutil.copytree(run.team.place, run.kept)
    run.step = rotate
    run.keys = (run.key("root1"), run.key("root2"))
    run.old = content(run.team.registry)
    run()
    run.new = content(run.team.registry)
    finished = []
    for call in kills.everywhere(run, run.reset):
        finished.append(run.assert_whole(call))
        if not finished[-1]:
            run.finish()
    assert finished == sorted(finished)
    assert finished[-1] is True
