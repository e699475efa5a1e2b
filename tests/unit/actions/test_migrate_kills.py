"""A migration killed at every system call: each host is old or new, and recovery ends it.

What is killed is the writing, from the first look at the folder to the exit. The order of writes
and syncs, which a loss of power would test, is read from a trace.
"""

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest
from support import hosts, kills
from support.migrating import Bench
from support.registry import Registry

from verifier.core.errors import PinproofError

pytestmark = pytest.mark.skipif(
    kills.unavailable() is not None, reason=kills.unavailable() or "it is available"
)
OLD: Final = hosts.host("v5")
NEW: Final = hosts.host("v6")
SETS: Final = {"one": ("host.py",), "three": ("a.py", "below/b.py", "c.py")}
#: One file in every run of the suite; a set takes a minute, in .ci/run and make soak.
EACH: Final = ("one", pytest.param("three", marks=pytest.mark.full))
WRITES: Final = ("openat", "write", "fsync", "renameat2", "fchmod", "utimensat", "mkdir", "rename")


class Run:
    """A migration v5 → v6 of some hosts, over and over."""

    def __init__(self, folder: Path, registry: Registry, names: Sequence[str]) -> None:
        self.bench = Bench(folder, registry)
        self.names = names
        self.reset()
        self.planned = self.bench.plan("v6", *(self.bench.folder / name for name in names))
        assert self.planned.sound
        self()
        self.reset()
        self.bench.recover()

    def __call__(self) -> int:
        self.bench.write(self.planned)
        return 0

    def reset(self) -> None:
        for journal in self.bench.journals.glob("*"):
            for file in journal.iterdir():
                file.unlink()
            journal.rmdir()
        for path in sorted(self.bench.folder.rglob("*"), reverse=True):
            if path.is_file():
                path.unlink()
        for name in self.names:
            self.bench.host("v5", name)

    def held(self) -> list[bytes]:
        return [(self.bench.folder / name).read_bytes() for name in self.names]

    def assert_ended(self) -> None:
        """Everything is old, or everything is new, and nothing else is left."""
        held = self.held()
        assert held in ([OLD] * len(held), [NEW] * len(held)), "a mixed set"
        below = {str(Path(name).parent) for name in self.names} - {"."}
        assert set(self.bench.names()) == {*self.names, *below}
        assert self.bench.states() == ([""] if held[0] == NEW else [])


@pytest.fixture(params=EACH)
def run(request: pytest.FixtureRequest, tmp_path: Path, test_registry: Registry) -> Run:
    return Run(tmp_path, test_registry, SETS[request.param])


def test_killed_at_every_call(run: Run) -> None:
    finished = []
    for call in kills.everywhere(run, run.reset):
        held = run.held()
        assert all(data in (OLD, NEW) for data in held), call
        run.bench.recover()
        run.assert_ended()
        finished.append(run.held()[0] == NEW)
    assert len(finished) > 60
    assert finished == sorted(finished), "once all is written, no kill takes it back"
    assert finished[0] is False
    assert finished[-1] is True


#: Moments that leave most to recover, around each exchange; the second stands for all of them.
MOMENTS: Final = tuple(
    pytest.param(number, marks=() if number == 1 else pytest.mark.full) for number in range(4)
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_recovery_killed_at_every_call(run: Run, moment: int) -> None:
    """Begun from a moment that leaves much to do."""
    run.reset()
    calls, code = kills.trace(run)
    assert code == 0
    exchanges = [call.number for call in calls if call.name == "renameat2"]
    assert len(exchanges) == len(run.names)
    at = (exchanges[0], exchanges[0] + 1, exchanges[-1] + 1, len(calls) - 12)[moment]

    def left() -> None:
        run.reset()
        assert kills.killed(run, at) is not None

    def recovering() -> int:
        run.bench.recover()
        return 0

    left()
    recovering()
    for call in kills.everywhere(recovering, left):
        assert all(data in (OLD, NEW) for data in run.held()), call
        run.bench.recover()
        run.assert_ended()


def test_undo_killed_at_every_call(run: Run) -> None:
    def written() -> None:
        run.reset()
        journals.append(run.bench.write(run.planned).journal)

    def undoing() -> int:
        run.bench.undo(journals[-1])
        return 0

    journals: list[str] = []
    written()
    undoing()
    for call in kills.everywhere(undoing, written):
        assert all(data in (OLD, NEW) for data in run.held()), call
        run.bench.recover()
        assert run.held() in ([OLD] * len(run.names), [NEW] * len(run.names))
    assert run.held()[0] == OLD


def test_the_trace_shows_what_a_loss_of_power_needs(run: Run) -> None:
    """Journal, then the new bytes, are on the disk before any name changes; then the folder is."""
    calls, code = kills.trace(run)
    assert code == 0
    seen = [(call.name, path) for call in calls for path in call.paths]
    document = next(i for i, (name, path) in enumerate(seen) if path.endswith("journal.json"))
    pending = _first(seen, lambda name, path: "rename" in name and path.endswith(".pending"))
    assert _synced(seen, "journal.json", document) < pending
    assert _synced(seen, "0.after", 0) < pending
    first_exchange = _first(seen, lambda name, _: name == "renameat2")
    parent = _first(seen[pending:], lambda name, path: name == "fsync" and "hosts" not in path)
    assert pending + parent < _first(seen, lambda _, path: ".pinproof-" in path)
    for name in run.names:
        path = str(run.bench.folder / name)
        exchange = seen.index(("renameat2", path))
        temporary = seen[exchange - 1][1]
        assert ".pinproof-" in temporary
        wrote, synced = (seen.index((call, temporary)) for call in ("write", "fsync"))
        assert pending < wrote < synced < first_exchange
        assert ("fsync", str(Path(path).parent)) in seen[exchange:]
    last = _first(seen[::-1], lambda name, _: name == "renameat2")
    done = _first(seen[::-1], lambda _, path: path.endswith(".pending"))
    assert done < last, "the journal says that all is written after all is"
    told = [name for name, path in seen[len(seen) - done :] if path == str(run.bench.journals)]
    assert "fsync" in told, "and its folder is synced after that"


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EIO])
def test_a_call_that_fails_leaves_all_as_it_was(run: Run, reason: int) -> None:
    """Every call that writes, in turn; where it comes too late to matter, all is new."""
    run.reset()
    calls, _ = kills.trace(run)

    def trying() -> int:
        try:
            return run()
        except PinproofError as error:
            return int(error.exit)

    tried = 0
    for call in calls:
        if call.name not in WRITES or (call.name == "openat" and not call.changes):
            continue
        run.reset()
        code = kills.failing(trying, call, reason)
        assert code in (0, 4), (call, code)
        held = run.held()
        assert held in ([OLD] * len(held), [NEW] * len(held)), call
        run.bench.recover()
        run.assert_ended()
        tried += 1
    assert tried > 10


def _first(seen: Sequence[tuple[str, str]], wanted: Callable[[str, str], bool]) -> int:
    return next(number for number, (name, path) in enumerate(seen) if wanted(name, path))


def _synced(seen: Sequence[tuple[str, str]], ending: str, since: int) -> int:
    return since + _first(seen[since:], lambda n, p: n == "fsync" and p.endswith(ending))
