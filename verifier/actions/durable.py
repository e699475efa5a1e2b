"""Writes that are on the disk when they return, and names that change in one step.

Linux: `renameat2(2)` with RENAME_EXCHANGE gives two names each other's file, so that whoever
looks sees one of the two, and what was displaced can still be looked at. `flock(2)` on a folder
keeps two migrations apart; it ends with the process that holds it, however that ends.
"""

import ctypes
import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from verifier.core.errors import UnavailableError

_EXCHANGE: Final = 2
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WORK: Final = {"migrate-busy": "migration", "signing-busy": "run of pinproof"}
_AGAIN: Final = {
    "migrate-busy": "wait until it has ended, then plan again: the file may have changed",
    "signing-busy": "wait until it has ended, then do this again: there may be more signatures",
}
_UNSUPPORTED: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.ENOTTY)


def create(folder: int, name: str, data: bytes) -> int:
    """Write a new file that only this user may read; return its descriptor, not yet synced."""
    descriptor = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def sync_folder(folder: int) -> None:
    """Make the names of a folder durable, where its file system can say so."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network and user-space file systems have none
            raise


def exchange(folder: int, one: str, other: str) -> bool:
    """Give two names of a folder each other's file. False if this system cannot."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    if renameat2(folder, os.fsencode(one), folder, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), one)


@contextmanager
def locked(
    folder: int, *, shown: str, wait: bool = False, code: str = "migrate-busy"
) -> Iterator[None]:
    """Keep other runs out of a folder; raises `UnavailableError` if one is in it."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise UnavailableError(
            f"{shown}: another {_WORK[code]} is at work in its folder",
            code=code,
            remedy=_AGAIN[code],
        ) from None
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Hold a folder open."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
