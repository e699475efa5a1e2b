"""Many pieces of work shared between two processes, with results in the order of the work.

For work of the interpreter, for which threads would wait for each other. The other process is
forked after everything is imported and returns its results through a pipe when it is done. What it
does not return, because it died, is done here: absence never passes for a result.
"""

import gc
import os
import pickle
from collections.abc import Callable, Sequence
from typing import Final, NoReturn, TypeVar

A = TypeVar("A")
R = TypeVar("R")

#: Fewer pieces are done in this process alone: a fork costs more than it saves.
_WORTH_A_FORK: Final = 64


def done_by_two(work: Callable[[A], R], pieces: Sequence[A]) -> list[R]:
    """Do `work` on every piece and return the results in order; a result must be a value."""
    if len(pieces) < _WORTH_A_FORK or len(os.sched_getaffinity(0)) < 2:  # noqa: PLR2004
        return [work(piece) for piece in pieces]
    reading, writing = os.pipe()
    gc.freeze()  # so that a collection in either does not copy what they share
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_worker(work, pieces[1::2], writing)
    os.close(writing)
    try:
        ours = [work(piece) for piece in pieces[::2]]
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
    finally:
        _, status = os.waitpid(child, 0)
    # What is unpickled was written by this program, in a process of its own.
    theirs = [work(piece) for piece in pieces[1::2]] if status else pickle.loads(data)  # noqa: S301
    results: list[R] = [*ours, *theirs]
    results[::2], results[1::2] = ours, theirs
    return results


def _be_worker(work: Callable[[A], R], pieces: Sequence[A], writing: int) -> NoReturn:
    """Be the forked process: work, then end without running anything of the parent's."""
    code = 1
    try:
        data = pickle.dumps([work(piece) for piece in pieces], protocol=5)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(data)
        code = 0
    finally:
        os._exit(code)
