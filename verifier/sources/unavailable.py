"""Errors that every source has in common: what cannot be read, is too large, or changed meanwhile.

`name` is what the user called it, made printable where it comes from a file system.
"""

from verifier.core.errors import UnavailableError


def unreadable(name: str, error: OSError | ValueError) -> UnavailableError:
    """Return the error for what the system does not give."""
    reason = error.strerror if isinstance(error, OSError) else "not a file name"
    return UnavailableError(
        f"{name}: {(reason or 'cannot be read').lower()}",
        code="cannot-read",
        remedy="check the path and that you may read it",
    )


def changed(name: str) -> UnavailableError:
    """Return the error for what is not what it was a moment before."""
    return UnavailableError(
        f"{name}: changed while it was read",
        code="changed-while-read",
        remedy="wait until nothing writes to it, then ask again",
    )


def too_large(name: str, limit: int, size: int | None = None) -> UnavailableError:
    """Return the error for a file of `size` bytes, unknown but more than `limit` if None."""
    got = "more" if size is None else f"{size:,}"
    return UnavailableError(
        f"{name}: expected at most {limit:,} bytes, got {got}",
        code="too-large",
        remedy="check that this is the file you mean; --max-size BYTES raises the limit",
    )
