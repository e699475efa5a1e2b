"""Hashing the files of a folder: opened where they lie, shared between two processes.

Every folder is opened step by step with `O_NOFOLLOW`, so that one replaced by a link since it was
listed is an error and not another tree. Much work is shared with a forked process: hashing small
files is work for the interpreter, for which threads would wait for each other (reference figures
of speed: 3 times `sha256sum -c`). Large files are left until the others are done, and then shared
one by one, so that two of them never wait in a row.
"""

import hashlib
import mmap
import os
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, NoReturn

from verifier.core.limits import MIB
from verifier.core.printable import printable
from verifier.sources.folder import OPEN, opened
from verifier.sources.unavailable import changed, unreadable

_BUFFER: Final = 256 * 1024
#: Fewer files, or fewer bytes of large ones, are hashed in this process alone: a fork costs more
#: than it saves.
_WORTH_A_FORK: Final = 2_000
_BYTES_WORTH_A_FORK: Final = 32 * MIB
#: So many files at least are taken from the queue at once, so that their folder is opened once.
_TOGETHER: Final = 64
#: Larger files wait until the others are done.
_LARGE: Final = 128 * 1024
#: A place on the board: its mark, length, digest.
_RECORD: Final = struct.Struct("=BQ32s")
#: What a place is marked with; a place that nobody wrote has none of them.
IS_FILE, IS_PROGRAM, _IS_LARGE = 1, 2, 3
_NUMBER: Final = struct.Struct("=H")


class Run(NamedTuple):
    """Files of one folder, by their names in it."""

    folder: bytes
    names: Sequence[bytes]

    @property
    def folders(self) -> Iterator[bytes]:
        """The folders on the way to it, from the root down."""
        return filter(None, self.folder.split(b"/"))

    def path(self, name: bytes) -> bytes:
        """Return the path below the root of one of its files."""
        return self.folder + b"/" + name if self.folder else name


class Place(NamedTuple):
    """What a file was when it was hashed, or that it is large and was not."""

    mark: int
    length: int
    digest: bytes


def hashed(root: bytes, runs: list[Run], name: str) -> list[Place]:
    """Hash the files of all runs, in their order: first the small ones, then the large ones."""
    task = _Task(root, name, limit=_LARGE, together=_TOGETHER)
    count = sum(len(run.names) for run in runs)
    places = _by_two(task, runs) if count >= _WORTH_A_FORK else list(_alone(task, runs))
    large = [at for at, place in enumerate(places) if place.mark == _IS_LARGE]
    if not large:
        return places
    # The largest first: what is left for the end, when one of two has nothing to do, is small.
    large.sort(key=lambda at: places[at].length, reverse=True)
    flat = [Run(run.folder, [name]) for run in runs for name in run.names]
    task = task._replace(limit=sys.maxsize, together=1)
    alone = len(large) == 1 or sum(places[at].length for at in large) < _BYTES_WORTH_A_FORK
    found = (_alone if alone else _by_two)(task, [flat[at] for at in large])
    for at, place in zip(large, found, strict=True):
        places[at] = place
    return places


class _Task(NamedTuple):
    """Below which root to hash, and how to call it.

    Files longer than `limit` have to wait; at least `together` are taken from the queue at once.
    """

    root: bytes
    name: str
    limit: int
    together: int


def _alone(task: _Task, runs: Sequence[Run]) -> Iterator[Place]:
    """Hash files one after the other; those of one run share their folder's descriptor."""
    buffer = bytearray(_BUFFER)
    for run in runs:
        name = b""
        try:
            with opened(task.root, run.folders) as below:
                for name in run.names:
                    place = _hash_one(name, below, buffer, task.limit)
                    if place is None:
                        raise changed(shown(task.name, run.path(name)))
                    yield place
        except OSError as error:
            where = run.path(name) if name else run.folder
            raise unreadable(shown(task.name, where), error) from error


def _hash_one(name: bytes, below: int, buffer: bytearray, limit: int) -> Place | None:
    """Hash one file; None if it is no file any more, or changes its length."""
    descriptor = os.open(name, OPEN, dir_fd=below)
    try:
        status = os.fstat(descriptor)
        mode, size = status.st_mode, status.st_size
        if not stat.S_ISREG(mode):
            return None
        if size > limit:
            return Place(_IS_LARGE, size, b"")
        view = memoryview(buffer)
        length = count = os.readv(descriptor, [buffer])
        running = hashlib.sha256(view[:count])
        while count and (length < size or count == _BUFFER):
            count = os.readv(descriptor, [buffer])
            running.update(view[:count])
            length += count
    finally:
        os.close(descriptor)
    if length != size:
        return None
    return Place(IS_PROGRAM if mode & 0o100 else IS_FILE, size, running.digest())


# ── two processes ──────────────────────────────────────────────────────────────────────────────


class _Batch(NamedTuple):
    """What is taken from the queue at once: some runs, the place of their first file, how many."""

    start: int
    files: int
    runs: Sequence[Run]


def _by_two(task: _Task, runs: Sequence[Run]) -> list[Place]:
    """Hash in this process and a forked one, which take batches from one queue.

    The queue is a pipe filled with their numbers before the fork, at most 4,096, for which there
    is room in it; results go onto a board of
    shared memory. A worker that dies leaves places of the board empty, and that is an error:
    absence never passes for a digest.
    """
    count = sum(len(run.names) for run in runs)
    batches = list(_batches(runs, max(task.together, count // 4_096 + 1)))
    board = mmap.mmap(-1, count * _RECORD.size)
    queue, filled = os.pipe()
    os.write(filled, b"".join(_NUMBER.pack(number) for number in range(len(batches))))
    os.close(filled)
    child = os.fork()
    if child == 0:
        _be_worker(task, batches, board, queue)
    try:
        _work(task, batches, board, queue)
    finally:
        os.read(queue, _NUMBER.size * len(batches))  # after an error the worker need not go on
        os.close(queue)
        _, status = os.waitpid(child, 0)
    places = [Place(*record) for record in _RECORD.iter_unpack(board)]
    if not status and all(place.mark for place in places):
        return places
    for batch in batches:
        if not all(place.mark for place in places[batch.start : batch.start + batch.files]):
            # What the worker met is met again and told; what is gone is an error all the same.
            list(_alone(task, batch.runs))
    raise changed(task.name)


def _batches(runs: Sequence[Run], size: int) -> Iterator[_Batch]:
    """Cut runs into batches of at least `size` files, the last one excepted."""
    waiting: list[Run] = []
    start, files = 0, 0
    for run in runs:
        for at in range(0, len(run.names), size):
            piece = run._replace(names=run.names[at : at + size])
            waiting.append(piece)
            files += len(piece.names)
            if files >= size:
                yield _Batch(start, files, waiting)
                start, files, waiting = start + files, 0, []
    if waiting:
        yield _Batch(start, files, waiting)


def _work(task: _Task, batches: Sequence[_Batch], board: mmap.mmap, queue: int) -> None:
    """Take batches from the queue until it is empty, and write each result onto the board."""
    while number := os.read(queue, _NUMBER.size):
        batch = batches[_NUMBER.unpack(number)[0]]
        for at, place in enumerate(_alone(task, batch.runs), batch.start):
            _RECORD.pack_into(board, at * _RECORD.size, *place)


def _be_worker(task: _Task, batches: Sequence[_Batch], board: mmap.mmap, queue: int) -> NoReturn:
    """Be the forked process: work, then end without running anything of the parent's."""
    code = 1
    try:
        _work(task, batches, board, queue)
        code = 0
    finally:
        os._exit(code)


def shown(name: str, path: bytes) -> str:
    """Name a path below what the user called `name`."""
    return f"{name}: {printable(os.fsdecode(path))}" if path else name
