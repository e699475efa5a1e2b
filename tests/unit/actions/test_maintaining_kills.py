"""Signing, rotating and updating, killed at every system call or on a full disk.

Whatever is left is the old registry or the new one, and the same run again ends it.
"""

import contextlib
import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from support import kills
from support.maintaining import Team, content
from support.registry import NOW, entries

from verifier.actions.sign_registry import Signing, propose_root, sign_registry
from verifier.catalog.tuf.rotation import KeyChange
from verifier.core.errors import PinproofError
from verifier.evidence.private_key import PrivateKey, load

pytestmark = pytest.mark.skipif(
    kills.unavailable() is not None, reason=kills.unavailable() or "it is available"
)


FAIR: Final = "pinproof/helper/example-fair-queue.toml"
#: Where a kill can make a difference; every call is tried in .ci/run and make soak.
NAMES: Final = ("renameat2", "rename", "renameat", "mkdir", "unlink", "unlinkat", "rmdir")


def moments(run: "Run", *, every: bool) -> Iterator[kills.Call]:
    """Kill at every call, or at those that give and take names; the last is the end."""
    if every:
        yield from kills.everywhere(run, run.reset)
        return
    run.reset()
    calls, code = kills.trace(run)
    assert code == 0
    chosen = [call for call in calls if call.changes and call.name in NAMES]
    assert len(chosen) > 10
    for call in (*chosen[::3], *(c for c in chosen if c.name.startswith("rename")), calls[-1]):
        run.reset()
        assert kills.killed(run, call.number) is not None
        yield call


class Run:
    """One run over a registry that is put back before each."""

    def __init__(self, place: Path, step: Callable[[str, Signing], object], *names: str) -> None:
        self.team = Team(place)
        self.team.begin()
        self.team.put(FAIR, entries()[FAIR])
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
        with contextlib.suppress(PinproofError):  # nothing may be left to do
            self()
        assert content(self.team.registry) == self.new


def sign(folder: str, signing: Signing) -> object:
    return sign_registry(folder, signing)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "team").mkdir()
    return Run(tmp_path / "team", sign, "mine2", "online")


EACH: Final = [False, pytest.param(True, marks=pytest.mark.full)]


@pytest.mark.parametrize("every", EACH)
def test_signing_killed(run: Run, every: bool) -> None:
    finished = set()
    for call in moments(run, every=every):
        done = run.assert_whole(call)
        finished.add(done)
        if not done:
            run.finish()
    assert finished == {False, True}


def test_signing_on_a_full_disk(run: Run) -> None:
    run.reset()
    calls, code = kills.trace(run)
    assert code == 0
    names = ("openat", "write", "fsync", "mkdir", "rename", "renameat", "renameat2")
    chosen = [call for call in calls if call.changes and call.name in names]
    assert len(chosen) > 20
    for call in chosen[::5]:
        run.reset()
        before = content(run.team.registry)
        code = kills.failing(run, call, errno.ENOSPC, lasting=call.name == "write")
        done = run.assert_whole(call)
        if code:
            assert done or content(run.team.registry) == before
        if not done:
            run.finish()


@pytest.mark.parametrize("every", EACH)
def test_a_rotation_killed(tmp_path: Path, every: bool) -> None:
    def rotate(folder: str, signing: Signing) -> object:
        return propose_root(folder, KeyChange(), signing)

    (tmp_path / "team").mkdir()
    run = Run.__new__(Run)
    run.team = Team(tmp_path / "team")
    run.team.begin()
    run.kept = tmp_path / "kept"
    shutil.copytree(run.team.place, run.kept)
    run.step = rotate
    run.keys = (run.key("root1"), run.key("root2"))
    run.old = content(run.team.registry)
    run()
    run.new = content(run.team.registry)
    finished = set()
    for call in moments(run, every=every):
        finished.add(run.assert_whole(call))
        if not run.assert_whole(call):
            run.finish()
    assert finished == {False, True}
