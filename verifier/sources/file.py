"""One file, given by path or on standard input, read once and whole.

A link given as an argument is followed and named; anything but a regular file is refused
before it is read, so that a FIFO cannot hold a run up. The bytes that are returned are the
bytes that are judged: nothing is opened twice.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import LARGEST_FILE
from verifier.core.value import frozen
from verifier.sources.unavailable import changed, too_large, unreadable

STDIN: Final = "-"
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


@frozen
class FileBytes:
    """The bytes of one file. `mtime` (whole seconds) is None for standard input.

    `link` is what a link given as an argument points at, as it is written there.
    """

    name: str
    data: bytes
    mtime: int | None = None
    link: str | None = None


@frozen
class FileDigests:
    """What a file hashes to, in lower-case hex by algorithm, and its length."""

    name: str
    length: int
    digests: dict[str, str]
    link: str | None = None


def read(name: str, *, limit: int, stdin: BinaryIO | None = None) -> FileBytes:
    """Read the file called `name`, `-` being `stdin`.

    Raises `UnavailableError` if it is missing, unreadable, no regular file, larger than
    `limit` bytes, or changes while it is read.
    """
    if name == STDIN:
        if stdin is None:
            raise _no_stdin()
        data = stdin.read(limit + 1)
        if len(data) > limit:
            raise too_large(name, limit)
        return FileBytes(name=name, data=data)
    try:
        return _read(name, limit)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def opened(name: str, *, limit: int) -> tuple[bytes, os.stat_result]:
    """Read the file called `name` whole, with the status of the very file that was read.

    Raises `UnavailableError` as `read` does.
    """
    try:
        return _opened(name, limit)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def _opened(name: str, limit: int) -> tuple[bytes, os.stat_result]:
    descriptor = os.open(name, _FLAGS)
    try:
        return read_open(name, descriptor, limit)
    finally:
        os.close(descriptor)


def _read(name: str, limit: int) -> FileBytes:
    link = str(Path(name).readlink()) if Path(name).is_symlink() else None
    data, status = _opened(name, limit)
    return FileBytes(name=name, data=data, mtime=int(status.st_mtime), link=link)


def read_open(name: str, descriptor: int, limit: int) -> tuple[bytes, os.stat_result]:
    """Read an open file whole, with its status; `name` is what errors call it.

    Raises `UnavailableError` as `read` does, `OSError` for what the system refuses.
    """
    before = _regular(name, descriptor, limit)
    data = bytearray()
    for chunk in _chunks(name, descriptor, limit, before):
        data += chunk
    return bytes(data), before


def digests(name: str, algorithms: Iterable[str]) -> FileDigests:
    """Hash the file called `name` by several algorithms in one reading, and keep none of it.

    Raises `UnavailableError` as `read` does.
    """
    if name == STDIN:
        raise _no_stdin()
    running = {algorithm: hashlib.new(algorithm) for algorithm in algorithms}
    try:
        link = str(Path(name).readlink()) if Path(name).is_symlink() else None
        descriptor = os.open(name, _FLAGS)
        try:
            before = _regular(name, descriptor, LARGEST_FILE)
            for chunk in _chunks(name, descriptor, LARGEST_FILE, before):
                for each in running.values():
                    each.update(chunk)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    found = {algorithm: each.hexdigest() for algorithm, each in running.items()}
    return FileDigests(name=name, length=before.st_size, digests=found, link=link)


def _regular(name: str, descriptor: int, limit: int) -> os.stat_result:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _not_a_file(name, status.st_mode)
    if status.st_size > limit:
        raise too_large(name, limit, status.st_size)
    return status


def _chunks(name: str, descriptor: int, limit: int, before: os.stat_result) -> Iterator[bytes]:
    """Yield a file's bytes; at its end refuse one that changed meanwhile."""
    length = 0
    while chunk := os.read(descriptor, min(1 << 20, limit + 1 - length)):
        length += len(chunk)
        yield chunk
    after = os.fstat(descriptor)
    if (before.st_size, before.st_mtime_ns, length) != (
        after.st_size,
        after.st_mtime_ns,
        after.st_size,
    ):
        raise changed(name)


def _no_stdin() -> PinproofError:
    return UnavailableError(
        "-: standard input is closed, or not what is read here",
        code="cannot-read",
        remedy="write it to a file, and give that by its path; ./- is a file called -",
    )


def _not_a_file(name: str, mode: int) -> PinproofError:
    kind = next((words for test, words in _KINDS if test(mode)), "no regular file")
    return UnavailableError(
        f"{name}: expected a file, got {kind}",
        code="not-a-file",
        remedy="name the host file itself; - reads from standard input",
    )
