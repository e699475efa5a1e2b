"""Programs of the operating system that pinproof may run: found once, by absolute path (law 4)."""

import contextlib
import stat
from collections.abc import Iterable
from pathlib import Path


def find(places: Iterable[str]) -> Path | None:
    """Return the first of `places` that is a program which not everybody may write, or None.

    Never along `PATH`: what a user, a repository or a folder adds to it is not asked.
    """
    for place in places:
        with contextlib.suppress(OSError):
            found = Path(place).resolve(strict=True)
            mode = found.stat().st_mode
            if stat.S_ISREG(mode) and mode & stat.S_IXUSR and not mode & stat.S_IWOTH:
                return found
    return None
