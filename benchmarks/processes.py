"""Whole processes, measured from outside by the kernel: wall clock, processor time, peak memory."""

import subprocess
import sys
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
        self._printed = folder / "printed"
        launcher = Path(__file__).with_name("launcher.py")
        self._launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder)},
            text=True,
        )
        self.floor = int(self._answer())

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
        return samples

    def _answer(self) -> str:
        assert self._launcher.stdout is not None
        if line := self._launcher.stdout.readline():
            return line
        raise WrongExitError("the launcher ended: is every program there?")


def spread(values: Sequence[float], scale: float) -> tuple[str, str]:
    """Print a median, and the least and the greatest value."""
    low, middle, high = (value * scale for value in (min(values), median(values), max(values)))
    return f"{middle:,.1f}", f"{low:,.1f} - {high:,.1f}"
