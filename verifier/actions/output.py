"""Writing a rendering to a file: whole or not at all.

The bytes go into a temporary file of the same folder, which then takes the name; a reader of
the name sees the old file or the new one, and a refusal leaves the folder as it was.
"""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from verifier.core.errors import UnavailableError

#: What file systems say that have no hard links.
_NO_LINKS: Final = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)


def write(path: str, data: bytes, *, inputs: Iterable[str] = (), new: bool = False) -> None:
    """Write `data` to `path` atomically. Raises `UnavailableError`, leaving nothing behind.

    A path that is anything but a regular file, or one of the `inputs`, is refused: taking its
    name would destroy a device, orphan a FIFO's reader, or replace what was just judged. With
    `new`, anything that is there is refused, also what comes between looking and writing.
    """
    if new:
        refuse_existing(path)
    target = Path(path)
    refuse(path, inputs)
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, 0o666 & ~_umask())
            os.fsync(descriptor)
        if new:
            _take(temporary, target)
        else:
            os.replace(temporary, target)  # noqa: PTH105  (two names, neither owns the other)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise _cannot(path, (error.strerror or "cannot be written").lower()) from error


def _take(temporary: str, target: Path) -> None:
    """Give a file a name that nobody has taken; raises `OSError` where somebody has."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A memory stick, for one: the name is taken by an empty file, which is then replaced.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        os.replace(temporary, target)  # noqa: PTH105  (two names, neither owns the other)
    else:
        Path(temporary).unlink()


def refuse(path: str, inputs: Iterable[str]) -> None:
    """Raise `UnavailableError` for a path that `write` would refuse, as far as can be seen."""
    if not Path(path).parent.is_dir():
        raise _cannot(path, "there is no such folder")
    try:
        there = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISREG(there.st_mode):
        raise _cannot(path, "exists and is no regular file")
    for name in inputs:
        with contextlib.suppress(OSError, ValueError):
            if os.path.samestat(there, Path(name).stat()):
                raise _cannot(path, "is the file that was judged")


def refuse_existing(*paths: str) -> None:
    """Raise `UnavailableError` if any of these is there, or could not be written.

    An entry that was reviewed or signed is never written over.
    """
    for path in paths:
        refuse(path, ())
        if os.path.lexists(path):
            raise UnavailableError(
                f"{path}: exists already, and is not written over",
                code="cannot-write",
                remedy="give another name, or remove it; nothing was written",
            )


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _cannot(path: str, reason: str) -> UnavailableError:
    return UnavailableError(
        f"{path}: {reason}",
        code="cannot-write",
        remedy="name a file in a folder that you may write to; nothing was written there",
    )
