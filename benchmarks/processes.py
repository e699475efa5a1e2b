"""Whole processes, measured from outside: wall clock, processor time, peak memory.

`os.wait4` gives the kernel's account of exactly one child. Its peak memory has a floor: until it
executes its program, a child counts what its parent holds. So this process stays small (no
dataclasses, statistics or cryptography here), and a peak at that floor is printed with `≤`.
"""

import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",  # what is measured was compiled when it was installed
}
WARM_UPS = 2


class Command(NamedTuple):
    """A process to measure, and the exit code without which its figures mean nothing."""

    name: str
    argv: Sequence[str]
    exit: int = 0


class Sample(NamedTuple):
    """What one process took: clock readings in ns, seconds of processor time, peak in bytes."""

    began: int
    ended: int
    cpu: float
    peak: int

    @property
    def wall(self) -> float:
        return (self.ended - self.began) / 1e9


class WrongExitError(Exception):
    """A process did not do what it is measured for."""


def run(command: Command, folder: Path) -> Sample:
    """Run a process to its end in `folder`, which also is its home; it reads no input."""
    printed = folder / "printed"
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(printed), writing, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    environment = {**ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder)}
    began = time.perf_counter_ns()
    child = os.posix_spawn(command.argv[0], command.argv, environment, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    ended = time.perf_counter_ns()
    if (got := os.waitstatus_to_exitcode(status)) != command.exit:
        said = printed.read_text(errors="replace")[-2000:]
        raise WrongExitError(f"{command.name}: exit {got}, expected {command.exit}\n{said}")
    return Sample(began, ended, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def interleaved(
    commands: Sequence[Command],
    *,
    rounds: int,
    folder: Path,
    after: Callable[[Command, Sample], None] | None = None,
) -> dict[str, list[Sample]]:
    """Measure A B C A B C …: what disturbs the machine for a while disturbs all of them."""
    samples: dict[str, list[Sample]] = {command.name: [] for command in commands}
    for number in range(-WARM_UPS, rounds):
        for command in commands:
            sample = run(command, folder)
            if number >= 0:
                samples[command.name].append(sample)
                if after is not None:
                    after(command, sample)
    return samples


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def floor() -> int:
    """Return the peak memory of this process, below which no child's peak can be told."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
