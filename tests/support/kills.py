"""Runs that are killed, or made to fail, at one of their system calls; and the list of these calls.

A promise like "killed at any moment, the file is the old or the new one" is kept or broken between
two system calls, so that is where a run is stopped. The run is a callable. Each time, a fork of
this process, which has everything imported, calls it under ptrace(2), so that a kill costs as much
as a fork. What is called should have run here once before: what it imports late, each fork would
import for itself.

Killed means SIGKILL at the entry of a call, which is then not executed. A kill behind a call leaves
what a kill at the entry of the next one leaves, so there is one direction; the last call is the
exit. It is the process that dies and not the machine: that a loss of power does no harm either has
to be read from the order of writes and syncs in a `trace`.

Calls that only manage the memory of the process are left out of list and count: they leave nothing
on a disk, and how many there are differs from fork to fork, so that with them a number would not
mean the same call in each. Calls of other threads and of processes that the run starts are not seen
either, and such processes outlive a kill.
"""

import contextlib
import ctypes
import errno
import functools
import gc
import itertools
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, NoReturn, Self

from support import system_calls

#: The exit code of a run that ended by an exception, whose traceback is in its output.
RAISED: Final = 255

#: A run that takes longer is ended by SIGALRM: it waits for what a fork has not got.
SECONDS: Final = 60

#: mmap is left out where it has no descriptor.
_MEMORY: Final = frozenset({"brk", "madvise", "mprotect", "mremap", "munmap"})

_OPEN_FLAGS: Final = {"open": 1, "openat": 2}
_AT_FDCWD: Final = -100
_WALL: Final = 0x40000000
_PAGE: Final = 4096


class Call(NamedTuple):
    """A system call of a run."""

    number: int
    """Its place among the calls of the run, from 0."""
    name: str
    """Its name, `syscall_N` if it is none of those in the table."""
    args: tuple[int, ...]
    """Six registers, unsigned."""
    paths: tuple[str, ...]
    """What it acts on: the paths it is given, made absolute but not resolved, or where its
    descriptors led at its entry."""
    result: int | None
    """What it returned, -errno if it failed; None if it was not executed or did not return."""
    changes: bool
    """Whether it may change what is stored, or make a change last: what a test lets fail."""

    @property
    def path(self) -> str:
        """The first of the paths, empty if there is none."""
        return self.paths[0] if self.paths else ""


def trace(run: Callable[[], object], *, output: int | None = None) -> tuple[list[Call], int]:
    """Run to the end; return all calls, the exit last, and the exit code (-N if by signal N).

    The code is what the callable returns if that is an int, and 0 if it is anything else. Its
    standard output and error go to the descriptor `output`, by default nowhere; 2 shows them. A
    pipe has to be read meanwhile, a file need not.
    """
    calls = []
    with _Child(run, output) as child:
        while child.enter():
            call = child.call()
            calls.append(call._replace(result=child.result() if child.leave() else None))
    return calls, child.exit


def killed(run: Callable[[], object], at: int, *, output: int | None = None) -> Call | None:
    """Kill at the entry of call number `at`; return that call, or None if the run ended before.

    A run that ends by an exception or a signal of its own is a mistake of the test: calls that
    should have followed would be taken for tried.
    """
    with _Child(run, output) as child:
        while child.enter():
            if child.number == at:
                return child.call()
            child.leave()
    assert 0 <= child.exit != RAISED, f"the run did not return, exit {child.exit}; see its output"
    return None


def everywhere(
    run: Callable[[], object],
    prepare: Callable[[], object],
    *,
    since: int = 0,
    output: int | None = None,
) -> Iterator[Call]:
    """Kill at each call in turn, the exit last; yield the call, to look what is left.

    `prepare` is called before each run, and before the one that gets to its end.
    """
    for at in itertools.count(since):
        prepare()
        call = killed(run, at, output=output)
        if call is None:
            assert at > since, f"the run ended before call {since}"
            return
        yield call


def failing(
    run: Callable[[], object],
    call: Call,
    error: int,
    *,
    lasting: bool = False,
    output: int | None = None,
) -> int:
    """Let a call of an earlier trace fail with this errno, not executed; return the exit code.

    `lasting`: every later call of that name fails as well, as on a disk that stays full.
    """
    with _Child(run, output) as child:
        while child.enter():
            if child.number == call.number:
                assert child.kind.name == call.name, f"{child.call()} is not {call}"
                child.refuse(error)
            elif lasting and child.number > call.number and child.kind.name == call.name:
                child.refuse(error)
            else:
                child.leave()
    assert child.number >= call.number, f"the run ended before {call}"
    return child.exit


@functools.cache
def unavailable() -> str | None:
    """Return why no run can be traced here, the reason of a skip; None where one can."""
    if reason := system_calls.unknown_machine():
        return reason
    try:
        calls, code = trace(lambda: os.access("/", os.F_OK) + 6)
    except OSError as refused:
        return f"ptrace is not allowed here: {refused}"
    if code != 7 or [call.path for call in calls[:1]] != ["/"]:
        return f"ptrace does not show the system calls here: exit {code}, {calls}"
    return None


class _Child:
    """A run in a fork of this process, under ptrace from before its first call.

    `enter` a call, then `leave` or `refuse` it, from the thread that made this: it is the tracer.
    """

    def __init__(self, run: Callable[[], object], output: int | None) -> None:
        self.number = -1
        self.kind = system_calls.Kind("")
        self.exit = 0
        self._args: tuple[int, ...] = ()
        self._ended = False
        with warnings.catch_warnings():
            # Python 3.12 and newer warn where there are threads, as under xdist. Their locks, those
            # of Python and libc aside, are none that a run should need.
            warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
            self._pid = os.fork()
        if not self._pid:
            _be_traced(run, output)
        try:
            self._begin()
        except BaseException:
            self._kill()
            raise

    def _begin(self) -> None:
        """Wait until the child stops itself, a signal that is not delivered when it goes on."""
        while (stopped_by := self._wait()) not in (0, signal.SIGSTOP):
            system_calls.ptrace(system_calls.CONT, self._pid, 0, stopped_by)
        if self._ended:
            code = self.exit if self.exit > 0 else errno.EPERM
            raise OSError(code, f"{os.strerror(code)} (exit {self.exit})")
        options = system_calls.TRACESYSGOOD | system_calls.TRACEEXEC | system_calls.EXITKILL
        system_calls.ptrace(system_calls.SETOPTIONS, self._pid, 0, options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()

    def _kill(self) -> None:
        if not self._ended:
            os.kill(self._pid, signal.SIGKILL)
        while not self._ended:
            self._wait()

    def _wait(self) -> int:
        """Wait for the child alone; return the signal that stopped it, an event in higher bits."""
        _, status = os.waitpid(self._pid, _WALL)
        if os.WIFSTOPPED(status):
            return status >> 8
        self._ended = True
        self.exit = os.waitstatus_to_exitcode(status)
        return 0

    def _step(self) -> bool:
        """Go on to the next entry or exit of a call, delivering signals; false at the end."""
        deliver = 0
        while not self._ended:
            with contextlib.suppress(ProcessLookupError):  # someone killed it, as the wait will say
                system_calls.ptrace(system_calls.SYSCALL, self._pid, 0, deliver)
            stopped_by = self._wait()
            if stopped_by == signal.SIGTRAP | 0x80:
                return True
            deliver = stopped_by if stopped_by < 0x100 else 0
        return False

    def enter(self) -> bool:
        """Go on to the entry of the next call that counts; false at the end of the run."""
        while self._step():
            number, self._args = system_calls.entered(self._pid)
            self.kind = system_calls.kind(number)
            name = self.kind.name
            if name not in _MEMORY and not (name == "mmap" and _signed(self._args[4]) < 0):
                self.number += 1
                return True
            self._step()
        return False

    def leave(self) -> bool:
        """Let the call be executed; false if it did not return."""
        return self._step()

    def refuse(self, error: int) -> None:
        """Let the call fail instead."""
        system_calls.skip(self._pid)
        if self._step():
            system_calls.answer(self._pid, -error)

    def result(self) -> int:
        """Return the result of the call just left."""
        return system_calls.returned(self._pid)

    def call(self) -> Call:
        """Return the call just entered, and what it acts on now."""
        paths = tuple(filter(None, map(self._acts_on, self.kind.acts_on)))
        changes = self.kind.changes
        if flags := _OPEN_FLAGS.get(self.kind.name):
            makes = os.O_CREAT | os.O_TRUNC | (os.O_TMPFILE & ~os.O_DIRECTORY)
            changes = self._args[flags] & makes != 0
        if paths and (not paths[0].startswith("/") or paths[0].startswith("/dev/")):
            changes = False  # a pipe, a socket, nowhere
        return Call(self.number, self.kind.name, self._args, paths, None, changes)

    def _acts_on(self, word: str) -> str:
        """Look up what a word of the table stands for, empty if that leads nowhere."""
        folder, is_path, argument = word.replace(".", "/").rpartition("/")
        value = self._args[int(argument)]
        if not is_path:
            return self._leads_to(_signed(value))
        path = self._text(value)
        if path.startswith("/"):
            return path
        base = self._leads_to(_signed(self._args[int(folder)]) if folder else _AT_FDCWD)
        return f"{base.rstrip('/')}/{path}" if path else base

    def _leads_to(self, descriptor: int) -> str:
        what = "cwd" if descriptor == _AT_FDCWD else f"fd/{descriptor}"
        try:
            return str(Path(f"/proc/{self._pid}/{what}").readlink())
        except OSError:
            return ""

    def _text(self, address: int) -> str:
        """Read what ends with a zero byte, page by page, as the next one may be none of its own."""
        text = b""
        memory = os.open(f"/proc/{self._pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            while b"\0" not in text:
                more = os.pread(memory, _PAGE - address % _PAGE, address)
                text += more
                address += len(more)
        except (OSError, OverflowError):
            return ""  # the kernel will refuse the call as well
        finally:
            os.close(memory)
        return os.fsdecode(text.partition(b"\0")[0])


def _signed(register: int) -> int:
    """Read a descriptor, as which AT_FDCWD and "none" are negative."""
    return ctypes.c_int(register & 0xFFFFFFFF).value


def _be_traced(run: Callable[[], object], output: int | None) -> NoReturn:
    """Be the child; of pytest nothing runs in it, at its exit neither."""
    code = RAISED
    try:
        _settle(output)
        try:
            system_calls.ptrace(system_calls.TRACEME, 0, 0, 0)
        except OSError as refused:
            os._exit(refused.errno or errno.EPERM)
        signal.alarm(SECONDS)
        os.kill(os.getpid(), signal.SIGSTOP)
        value = run()
        code = value & 0xFF if isinstance(value, int) else 0
    except SystemExit as ended:
        code = ended.code & 0xFF if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  (whatever it is, it must not get back to pytest)
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _settle(output: int | None) -> None:
    """Cut the child off from what this process has open, and let each run be the same."""
    gc.freeze()  # garbage of this process is not the child's to close or delete
    gc.disable()
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nowhere if output is None else output, descriptor)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  (a descriptor, for good)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
