"""Whole processes, measured from outside by the kernel: wall clock, processor time, peak memory."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple, Self

ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",  # what is measured was compiled when it was installed
}
WARM_UPS: Final = 2


class Command(NamedTuple):
    """A process to measure, and the exit code without which its figures mean nothing."""

    name: str
    argv: tuple[str, ...]
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


class Processes:
    """Runs processes in a folder, which also is their home; they read no input."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {**ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder)}
        self._printed = folder / "printed"
        launcher = Path(__file__).with_name("launcher.py")
        self._launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=self._environment,
            text=True,
        )
        self.floor = int(self._answer())
        #: What the first comparison of a section measured, for the receipt of its section.
        self.compared: dict[str, list[Sample]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._launcher.communicate()

    def run(self, command: Command) -> Sample:
        """Run a process to its end."""
        assert self._launcher.stdin is not None
        self._launcher.stdin.write("\0".join((str(self._printed), *command.argv)) + "\n")
        self._launcher.stdin.flush()
        began, ended, code, cpu, peak = self._answer().split()
        if int(code) != command.exit:
            said = self.printed()[-2000:]
            raise WrongExitError(f"{command.name}: exit {code}, expected {command.exit}\n{said}")
        return Sample(int(began), int(ended), float(cpu), int(peak))

    def peaks(self, command: Command) -> int:
        """Run a process once more, and add up the peaks of it and of all that it starts.

        What two of them share, as a forked one does with its parent, counts twice.
        """
        peaks: dict[int, int] = {}
        with self._printed.open("wb") as printed:
            process = subprocess.Popen(
                command.argv,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                env=self._environment,
            )
            while process.poll() is None:
                _note_peaks(process.pid, peaks)
                time.sleep(0.002)
        return sum(peaks.values())

    def printed(self) -> str:
        """Return what the last process printed, errors among it."""
        return self._printed.read_text(errors="replace")

    def interleaved(
        self,
        commands: Sequence[Command],
        *,
        rounds: int,
        after: Callable[[Sample], None] = lambda _sample: None,
    ) -> dict[str, list[Sample]]:
        """Measure A B C A B C …: what disturbs the machine for a while disturbs all of them."""
        samples: dict[str, list[Sample]] = {command.name: [] for command in commands}
        for number in range(-WARM_UPS, rounds):
            for command in commands:
                sample = self.run(command)
                if number >= 0:
                    samples[command.name].append(sample)
                    after(sample)
        if len(commands) > 1 and not self.compared:
            self.compared = samples
        return samples

    def _answer(self) -> str:
        assert self._launcher.stdout is not None
        if line := self._launcher.stdout.readline():
            return line
        raise WrongExitError("the launcher ended: is every program there?")


def _note_peaks(process: int, peaks: dict[int, int]) -> None:
    """Note the peak so far of a process and of all below it; one that has ended keeps its last."""
    waiting = [process]
    while waiting:
        process = waiting.pop()
        below = Path(f"/proc/{process}")
        with contextlib.suppress(OSError):
            for line in (below / "status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peaks[process] = int(line.split()[1]) * 1024
            for thread in (below / "task").iterdir():
                waiting += map(int, (thread / "children").read_text().split())


def spread(values: Sequence[float], scale: float) -> tuple[str, str]:
    """Print a median, and the least and the greatest value."""
    low, middle, high = (value * scale for value in (min(values), median(values), max(values)))
    return f"{middle:,.1f}", f"{low:,.1f} - {high:,.1f}"
