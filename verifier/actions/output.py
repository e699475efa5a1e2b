"""Writing a rendering to a file: whole or not at all.

The bytes go into a temporary file of the same folder, which then takes the name; a reader of
the name sees the old file or the new one, and a refusal leaves the folder as it was.
"""

import contextlib
import os
import tempfile
from pathlib import Path

from verifier.core.errors import UnavailableError


def write(path: str, data: bytes) -> None:
    """Write `data` to `path` atomically. Raises `UnavailableError`, leaving nothing behind."""
    target = Path(path)
    if target.is_dir():
        raise _cannot(path, "is a folder")
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, 0o666 & ~_umask())
            os.fsync(descriptor)
        os.replace(temporary, target)  # noqa: PTH105  (two names, neither owns the other)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise _cannot(path, (error.strerror or "cannot be written").lower()) from error


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
