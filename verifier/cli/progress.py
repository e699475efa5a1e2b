"""A sign of life on a terminal for what takes longer than a second.

A timer signal writes it, not a thread: trees are hashed by forked processes, and a process with
threads must not fork. Nothing is written where standard error is no terminal.
"""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SECOND: Final = 1.0


@contextmanager
def shown(what: str) -> Iterator[None]:
    """Show `what` and the seconds so far, from the first second on, until the block ends."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    began = time.monotonic()

    def tick(_number: int, _frame: FrameType | None) -> None:
        sys.stderr.write(f"\r{what} … {time.monotonic() - began:.0f} s")
        sys.stderr.flush()

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, _SECOND, _SECOND)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if time.monotonic() - began >= _SECOND:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
