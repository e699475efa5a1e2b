"""The harness sees what a kill can leave: a careless run is caught, a careful one is not."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from support import kills, system_calls

pytestmark = pytest.mark.skipif(
    kills.unavailable() is not None, reason=kills.unavailable() or "it is available"
)

OLD: Final = b"old\n" * 1000
NEW: Final = b"new\n" * 2000


def careless(target: Path) -> None:
    """Open, truncate, write: in between the file is neither."""
    with target.open("wb") as file:
        file.write(NEW)


def careful(target: Path) -> int:
    """Write beside it, sync, rename, sync the folder."""
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    beside = f".{target.name}.new"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=folder)
    try:
        os.write(file, NEW)
        os.fsync(file)
        os.rename(beside, target.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as reason:
        print(reason)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        return reason.errno or 0
    return 0


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Make the file that a run replaces."""
    target = tmp_path / "target"
    reset(target)
    return target


def reset(target: Path) -> None:
    for path in target.parent.iterdir():
        path.unlink()
    target.write_bytes(OLD)


def test_a_trace_shows_order_and_paths(target: Path) -> None:
    calls, code = kills.trace(lambda: careful(target))
    assert code == 0
    assert target.read_bytes() == NEW
    assert [call.number for call in calls] == list(range(len(calls)))
    folder, beside = str(target.parent), str(target.parent / ".target.new")
    seen = [(c.name.removesuffix("2"), c.paths, c.result) for c in calls if c.changes]
    made = next(c.result for c in calls if c.name == "openat" and c.changes)
    assert seen == [
        ("openat", (beside,), made),
        ("write", (beside,), len(NEW)),
        ("fsync", (beside,), 0),
        ("renameat", (beside, str(target)), 0),
        ("fsync", (folder,), 0),
    ]
    assert calls[0].path == folder
    assert (calls[-1].name, calls[-1].result) == ("exit_group", None)


def test_a_failed_call_shows_its_error(target: Path) -> None:
    def run() -> int:
        os.chdir(target.parent)
        with contextlib.suppress(FileNotFoundError):
            Path("missing").stat()
        return 0

    calls, _ = kills.trace(run)
    missing = str(target.parent / "missing")
    assert [call.result for call in calls if call.path == missing] == [-errno.ENOENT]


def test_registers_tell_the_same_as_the_kernel(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked before Linux 5.3; addresses aside, which may differ from fork to fork."""

    def seen() -> list[kills.Call]:
        reset(target)
        calls, _ = kills.trace(lambda: careful(target))
        return [call._replace(args=call.args[:1]) for call in calls]

    told = seen()
    monkeypatch.setattr(system_calls, "_info", lambda _: None)
    assert seen() == told


def test_the_call_killed_at_is_not_executed_and_those_before_are(target: Path) -> None:
    folders = [target.parent / str(n) for n in range(3)]

    def run() -> None:
        for folder in folders:
            folder.mkdir()

    made = []
    for at in range(4):
        call = kills.killed(run, at)
        assert call is not None
        assert call.path == (str(folders[at]) if at < 3 else "")
        made.append(sum(folder.exists() for folder in folders))
        for folder in folders[:at]:
            folder.rmdir()
    assert made == [0, 1, 2, 3]
    assert kills.killed(run, 4) is None


def test_a_careless_run_is_seen_to_tear(target: Path) -> None:
    left = [
        (call.name, target.read_bytes())
        for call in kills.everywhere(lambda: careless(target), lambda: reset(target))
    ]
    assert ("write", b"") in left
    assert [data for _, data in left if data not in (OLD, NEW)]
    assert left[-1] == ("exit_group", NEW)


def test_a_careful_run_is_not(target: Path) -> None:
    left = []
    for call in kills.everywhere(lambda: careful(target), lambda: reset(target)):
        assert target.read_bytes() in (OLD, NEW), call
        left.append(target.read_bytes())
    assert set(left) == {OLD, NEW}


def test_every_failure_reaches_the_run(target: Path) -> None:
    calls, _ = kills.trace(lambda: careful(target))
    changing = [call for call in calls if call.changes]
    for call in changing[1:]:
        for error in (errno.ENOSPC, errno.EIO):
            reset(target)
            assert kills.failing(lambda: careful(target), call, error) == error
            renamed = call is changing[-1]
            assert target.read_bytes() == (NEW if renamed else OLD), call
            assert list(target.parent.iterdir()) == [target]
    reset(target)
    assert kills.failing(lambda: careful(target), changing[0], errno.EROFS) == kills.RAISED


def test_a_failure_can_last(target: Path) -> None:
    def run() -> int:
        failed = 0
        for name in ("a", "b", "c"):
            try:
                (target.parent / name).mkdir()
            except OSError:
                failed += 1
        return failed

    calls, _ = kills.trace(run)
    second = [call for call in calls if call.name.startswith("mkdir")][1]
    for name in "abc":
        (target.parent / name).rmdir()
    assert kills.failing(run, second, errno.ENOSPC, lasting=True) == 2
    (target.parent / "a").rmdir()
    assert kills.failing(run, second, errno.ENOSPC) == 1


def test_another_call_than_the_one_traced_is_an_error(target: Path) -> None:
    calls, _ = kills.trace(lambda: careful(target))
    with pytest.raises(AssertionError, match="is not"):
        kills.failing(lambda: careful(target), calls[0]._replace(name="fsync"), errno.EIO)
    with pytest.raises(AssertionError, match="ended before"):
        kills.failing(lambda: 0, calls[-1], errno.EIO)


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (lambda: None, 0),
        (lambda: 3, 3),
        (lambda: sys.exit(4), 4),
        (lambda: sys.exit("reason"), 1),
        (lambda: 1 // 0, kills.RAISED),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), -signal.SIGTERM),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), -signal.SIGKILL),
        (lambda: subprocess.run([sys.executable, "-c", "exit(5)"], check=False).returncode, 5),
        (lambda: os.execv("/bin/sh", ["sh", "-c", "exit 6"]), 6),  # noqa: S606
    ],
)
def test_an_exit_is_that_of_the_run(run: Callable[[], object], code: int) -> None:
    assert kills.trace(run)[1] == code


def test_a_run_that_raises_is_not_taken_for_one_that_was_tried() -> None:
    with pytest.raises(AssertionError, match="did not return"):
        kills.killed(lambda: 1 // 0, 100)


def test_a_run_without_calls_behind_the_first_is_not_taken_for_one_that_was_tried() -> None:
    with pytest.raises(AssertionError, match="ended before"):
        list(kills.everywhere(lambda: 0, lambda: None, since=100))


def test_a_run_that_waits_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "SECONDS", 1)
    assert kills.trace(lambda: time.sleep(50))[1] == -signal.SIGALRM


def test_output_goes_where_it_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def run() -> None:
        print("out")
        print("error", file=sys.stderr)
        os.write(1, b"raw\n")
        raise ValueError("its reason")

    path = tmp_path / "output"
    with path.open("wb") as file:
        kills.trace(run, output=file.fileno())
    kills.trace(run)
    text = path.read_text()
    for line in ("out\n", "error\n", "raw\n", "ValueError: its reason\n"):
        assert line in text
    assert capfd.readouterr() == ("", "")


def test_threads_here_are_no_warning_and_no_hindrance(target: Path) -> None:
    done = threading.Event()
    waiting = threading.Thread(target=done.wait)
    waiting.start()
    try:
        assert kills.killed(lambda: careful(target), 3) is not None
    finally:
        done.set()
        waiting.join()


@pytest.fixture
def without_children() -> Iterator[None]:
    """No child is left behind, dead or alive."""
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.usefixtures("without_children")
def test_hundreds_of_kills_leave_no_child(target: Path) -> None:
    kills_made = 0
    while kills_made < 300:
        for call in kills.everywhere(lambda: careful(target), lambda: reset(target)):
            assert target.read_bytes() in (OLD, NEW), call
            kills_made += 1
