"""Scratch: the one temporary folder of a run, gone when the run is (ARCHITECTURE, law 3)."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch(*, beside: Path | None = None) -> Iterator[Path]:
    """Make an empty folder that only this user may enter, and remove it with all it holds.

    `beside` asks for one next to that path, on its file system, so that files can be moved from
    one to the other whole.
    """
    place = None if beside is None else beside.resolve().parent
    with tempfile.TemporaryDirectory(prefix=".pinproof-", dir=place) as folder:
        yield Path(folder)
