"""The program that repositories are read with: `git`, found, started, listened to (laws 4, 5).

It is looked for in a fixed list of system folders, never along `PATH`. It runs in a bare folder
of ours with an environment of ours: no system, user or repository configuration, no replace
refs, no grafts, no lazy fetch, no protocol, nothing on `PATH`. What it answers is believed only
after it has been hashed (`reader`). It is a parser of hostile bytes: its memory is limited,
and each answer has a deadline.
"""

import contextlib
import math
import os
import re
import resource
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from fcntl import F_SETPIPE_SZ, fcntl
from functools import cache
from pathlib import Path
from typing import IO, Final, NamedTuple

from verifier.core.errors import UnavailableError
from verifier.core.limits import GIT_BYTES_PER_SECOND, GIT_MEMORY_BYTES, GIT_OBJECT_SECONDS
from verifier.core.value import frozen
from verifier.sources.program import find

#: Where an operating system puts git. Nothing a user or a repository says adds to it.
_PLACES: Final = ("/usr/bin/git", "/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git")
#: The first git that answers questions on size and on content in one process.
_BATCH_COMMAND: Final = (2, 36)
#: What a git that watches for SHA-1 collisions (SHA1DC) says when it meets one.
COLLISION: Final = b"SHA-1 appears to be part of a collision attack"
_PIPE: Final = 1 << 20
#: Seconds of silence after which git is told that there are no more questions.
_SILENCE: Final = 1.0
_LINE: Final = 256
_ZERO: Final = ord("0")
_TYPES: Final = {b"blob": "blob", b"tree": "tree", b"commit": "commit", b"tag": "tag"}
ENVIRONMENT: Final = {
    "PATH": "/nonexistent",
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "LC_ALL": "C",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}


@frozen
class Git:
    """The git that was found: where, which version, and whether it detects SHA-1 collisions."""

    path: str
    version: tuple[int, ...]
    detects_collisions: bool

    @property
    def batches(self) -> bool:
        """Whether one process answers every kind of question."""
        return self.version >= _BATCH_COMMAND


class Header(NamedTuple):
    """What git says of an object before it gives the content."""

    kind: str
    size: int


class BrokenAnswerError(Exception):
    """Git died, fell silent, or said something else than was asked; `slow` if silent."""

    def __init__(self, *, slow: bool = False) -> None:
        """Keep which of them it was."""
        super().__init__()
        self.slow = slow


@cache
def find_git() -> Git:
    """Find git once a run. Raises `UnavailableError` where there is none."""
    found = find(_PLACES)
    if found is not None:
        return _asked(found)
    raise UnavailableError(
        f"git was not found; looked for {', '.join(_PLACES)}",
        code="git-missing",
        remedy="install git from your system's packages",
    )


def _asked(path: Path) -> Git:
    said = subprocess.run(  # noqa: S603  (an absolute path and a word of ours)
        [path, "version"],
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=GIT_OBJECT_SECONDS,
        check=False,
    )
    found = re.match(rb"git version (\d+)\.(\d+)", said.stdout)
    if found is None:
        raise failed("it does not say its version")
    version = tuple(map(int, found.groups()))
    return Git(path=str(path), version=version, detects_collisions=COLLISION in path.read_bytes())


def failed(why: str) -> UnavailableError:
    """Return the error for a git that does not do what git does."""
    return UnavailableError(
        f"git did not answer: {why}",
        code="git-failed",
        remedy="run git fsck in the repository, then ask again; a newer git may help",
    )


def environment(folder: Path) -> dict[str, str]:
    """Return all that git is told: our settings, and our folder as the repository."""
    return {**ENVIRONMENT, "GIT_DIR": str(folder)}


class Channel:
    """Questions to `git cat-file` in a folder of ours, and its answers in the order asked."""

    def __init__(self, git: Git, folder: Path, number: int, *, memory: int) -> None:
        """Remember where to run; git starts with the first question.

        `memory` is how much git may hold beyond what it maps.
        """
        self._git, self._folder, self._memory = git, folder, memory + GIT_MEMORY_BYTES
        self._stderr = folder / f"complaints-{number}"
        self._process: subprocess.Popen[bytes] | None = None
        self._data, self._at = b"", 0
        self._allowed, self._until = 0.0, math.inf
        self._poll, self._answers = select.poll(), -1
        self._feeder = threading.Thread()
        self._stopped = False

    def answers(self, verb: str, ids: Sequence[str]) -> Iterator[Header | None]:
        """Ask for `info` or `contents` of objects; None where git has no such object.

        Of contents, take `pieces` after each header, and their `end`.
        """
        self._ask(verb, ids)
        for oid in ids:
            yield self._header(oid)

    def expand(self, abbreviated: str) -> str | None:
        """Return the one full id that begins so, or None."""
        self._ask("info", [abbreviated])
        self._begin(0)
        words = self._line().split(b" ")
        return words[0].decode() if len(words) == 3 else None  # noqa: PLR2004

    def pieces(self, size: int) -> Iterator[memoryview]:
        """Yield the `size` bytes of the object whose header came last, as they arrive."""
        self._begin(size)
        while size:
            if self._at == len(self._data):
                self._fill()
            piece = memoryview(self._data)[self._at : self._at + size]
            self._at += len(piece)
            size -= len(piece)
            yield piece

    def end(self) -> None:
        """Take the line feed behind a content."""
        if self._at == len(self._data):
            self._fill()
        if self._data[self._at] != 0x0A:  # noqa: PLR2004
            raise BrokenAnswerError
        self._at += 1

    def stop(self) -> None:
        """End git, and start no other: what is still asked by another thread fails."""
        self._stopped = True
        self.kill()

    def kill(self) -> None:
        """End git without a word; the next question starts another."""
        if self._process is not None:
            self._process.kill()
            self._reap()

    def close(self) -> None:
        """Let git end, and insist that it says that all went well."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()
        try:
            code = process.wait(GIT_OBJECT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        self._reap()
        if code:
            raise failed(f"it ended with exit code {code}")

    def complaints(self) -> bytes:
        """Return what git wrote on standard error so far, at most a little of it."""
        if not self._stderr.exists():
            return b""
        with self._stderr.open("rb") as file:
            return file.read(1 << 16)

    def _ask(self, verb: str, ids: Sequence[str]) -> None:
        """Send questions from a thread, so that neither side waits for the other for ever."""
        if self._process is not None and _pipe(self._process.stdin).closed:
            self.close()
        process = self._process or self._start(verb)
        prefix, last = (f"{verb} ", "flush\n") if self._git.batches else ("", "")
        text = "".join([f"{prefix}{oid}\n" for oid in ids]) + last

        def feed() -> None:
            with contextlib.suppress(OSError, ValueError):
                _pipe(process.stdin).write(text.encode())
                _pipe(process.stdin).flush()
                if not self._git.batches:
                    _pipe(process.stdin).close()

        self._feeder = threading.Thread(target=feed, daemon=True)
        self._feeder.start()

    def _start(self, verb: str) -> subprocess.Popen[bytes]:
        if self._stopped:
            raise failed("it was told to end")
        alone = {"info": "--batch-check", "contents": "--batch"}
        asked = "--batch-command" if self._git.batches else alone[verb]
        with self._stderr.open("ab") as complaints:
            process = subprocess.Popen(  # noqa: S603  (an absolute path and words of ours)
                [self._git.path, "cat-file", asked, "--buffer"],
                env=environment(self._folder),
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        # Only memory of its own counts, not packs that it maps.
        _limit(process.pid, resource.RLIMIT_DATA, self._memory)
        _limit(process.pid, resource.RLIMIT_CORE, 0)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # a smaller pipe is only slower
                fcntl(_pipe(pipe), F_SETPIPE_SZ, _PIPE)
        self._process, self._data, self._at = process, b"", 0
        self._answers = _pipe(process.stdout).fileno()
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        return process

    def _reap(self) -> None:
        process = self._process
        if process is not None:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    _pipe(pipe).close()
        self._process = None

    def _header(self, oid: str) -> Header | None:
        self._begin(0)
        name, _, rest = self._line().partition(b" ")
        if name != oid.encode("ascii"):
            raise BrokenAnswerError
        if rest == b"missing":
            return None
        kind, _, size = rest.partition(b" ")
        if kind not in _TYPES or not size.isdigit() or (size[0] == _ZERO and len(size) > 1):
            raise BrokenAnswerError
        return Header(_TYPES[kind], int(size))

    def _begin(self, size: int) -> None:
        """Allow time for an object; the clock starts when git is first waited for."""
        self._allowed, self._until = GIT_OBJECT_SECONDS + size / GIT_BYTES_PER_SECOND, math.inf

    def _line(self) -> bytes:
        while (end := self._data.find(b"\n", self._at)) < 0:
            if len(self._data) - self._at > _LINE:
                raise BrokenAnswerError
            self._fill()
        line = self._data[self._at : end]
        self._at = end + 1
        return line

    def _fill(self) -> None:
        """Wait for more, no longer than the object at hand may take."""
        if self._until == math.inf:
            self._until = time.monotonic() + self._allowed
        if not self._waited(min(_SILENCE, self._until - time.monotonic())):
            self._hang_up()
            if not self._waited(self._until - time.monotonic()):
                raise BrokenAnswerError(slow=True)
        more = os.read(self._answers, _PIPE)
        if not more:
            raise BrokenAnswerError
        self._data = more if self._at == len(self._data) else self._data[self._at :] + more
        self._at = 0

    def _waited(self, seconds: float) -> bool:
        return seconds > 0 and bool(self._poll.poll(seconds * 1000))

    def _hang_up(self) -> None:
        """Ask nothing more of a git that is silent: one that waits for us ends at once.

        It does when an object is shorter than its header says; one at work answers first.
        """
        if self._process is not None and not self._feeder.is_alive():
            with contextlib.suppress(OSError):
                _pipe(self._process.stdin).close()


def _limit(process: int, what: int, most: int) -> None:
    """Lower one limit of a process, never raise it; one that is gone needs none."""
    with contextlib.suppress(ProcessLookupError):
        _, hard = resource.prlimit(process, what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.prlimit(process, what, (most, most))


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise failed("it was started without a pipe")
    return pipe
