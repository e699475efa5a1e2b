"""Layers for two cores: the largest first, each taken by whichever process has nothing to do.

Decompressing is one thread's work, so two layers are two processes' work. The forked process
leaves what it found in a file in memory; what is not there whole, the parent reads itself, so that
the result is the same whatever becomes of the other process.
"""

import os
import pickle
import struct
from collections.abc import Callable, Sequence
from typing import BinaryIO, Final, NoReturn, TypeVar

from verifier.core.limits import MIB

Job = TypeVar("Job")
Done = TypeVar("Done")

#: Less is read by one process: a fork costs more than it saves.
_WORTH_A_FORK: Final = 4 * MIB
_NUMBER: Final = struct.Struct("=I")


def shared(jobs: Sequence[Job], sizes: Sequence[int], work: Callable[[Job], Done]) -> list[Done]:
    """Return `work` of each job, in their order; `sizes` in bytes say what is worth sharing."""
    order = sorted(range(len(jobs)), key=lambda number: -sizes[number])
    if not jobs or sum(sizes) - sizes[order[0]] < _WORTH_A_FORK:
        return [work(job) for job in jobs]
    found = _by_two(jobs, order, work)
    return [found[at] if at in found else work(job) for at, job in enumerate(jobs)]


def _by_two(
    jobs: Sequence[Job], order: Sequence[int], work: Callable[[Job], Done]
) -> dict[int, Done]:
    queue, filled = os.pipe()
    os.write(filled, b"".join(map(_NUMBER.pack, order[: os.fpathconf(filled, "PC_PIPE_BUF") // 4])))
    os.close(filled)
    with os.fdopen(os.memfd_create("layers"), "w+b") as left:
        child = os.fork()
        if child == 0:
            _be_worker(jobs, queue, left, work)
        found: dict[int, Done] = {}
        try:
            while number := os.read(queue, _NUMBER.size):
                at = _NUMBER.unpack(number)[0]
                found[at] = work(jobs[at])
        finally:
            os.read(queue, _NUMBER.size * len(jobs))  # after an error nothing more is begun
            os.close(queue)
            _, status = os.waitpid(child, 0)
        if status == 0 and left.seek(0, os.SEEK_END):
            left.seek(0)
            found.update(pickle.load(left))  # noqa: S301  (written by our own fork)
    return found


def _be_worker(
    jobs: Sequence[Job], queue: int, left: BinaryIO, work: Callable[[Job], Done]
) -> NoReturn:
    """Be the forked process: work, then end without running anything of the parent's."""
    code = 1
    try:
        found: dict[int, Done] = {}
        while number := os.read(queue, _NUMBER.size):
            at = _NUMBER.unpack(number)[0]
            found[at] = work(jobs[at])
        pickle.dump(found, left)
        left.flush()
        code = 0
    finally:
        os._exit(code)
