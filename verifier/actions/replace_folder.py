"""A whole folder in one step: written beside, then given the name.

What is written beside has one fixed name, `.NAME.new`, so that a run that was killed leaves at
most one such folder, and the next one begins by removing it. Everything is on the disk before the
name is given, and the name is given by one system call (`durable.exchange`); whoever looks sees
the old folder or the new one. A lock on the folder above keeps two runs apart.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from verifier.actions.durable import exchange, locked, opened, sync_folder
from verifier.core.errors import PinproofError, UnavailableError


def place_of(folder: str) -> Path:
    """Return the path of a folder whose name can be given away: as the user wrote it, if it can.

    A link is followed: what it leads to is replaced, and not the link.
    """
    place = Path(folder)
    return place.resolve() if place.is_symlink() or place.name in ("", "..") else place


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Keep other runs away from what lies in the folder of `place`."""
    try:
        above = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise cannot(place, error) from None
    try:
        with locked(above, shown=str(place), code="signing-busy"):
            yield
    finally:
        os.close(above)


def replace_folder(
    place: Path, files: Mapping[str, bytes], *, check: Callable[[Path], None] | None = None
) -> None:
    """Make `place` a folder that holds exactly `files`, or leave it as it was.

    `check` looks at the new folder before it takes the name, and raises if it will not do.
    """
    beside = place.parent / f".{place.name}.new"
    try:
        _clear(beside)
        beside.mkdir()
        for path, data in files.items():
            _write(beside / path, data)
        for folder, _, _ in os.walk(beside):
            _sync(Path(folder))
        if check is not None:
            check(beside)
        with opened(place.parent) as above:
            _take_name(above, beside.name, place)
            sync_folder(above)
    except OSError as error:
        raise cannot(place, error) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def remove_folder(place: Path) -> None:
    """Remove a folder and all that it holds, if it is there."""
    try:
        if os.path.lexists(place):
            # Under another name first: half of it must not be taken for the whole.
            away = place.parent / f".{place.name}.new"
            _clear(away)
            place.rename(away)
            _clear(away)
    except OSError as error:
        raise cannot(place, error) from None


def cannot(place: Path, error: OSError) -> PinproofError:
    """Return the error for what the system refuses."""
    return UnavailableError(
        f"{place}: {(error.strerror or 'cannot be written').lower()}",
        code="cannot-write",
        remedy="make room, and the folder above it writable; it is as it was before",
    )


def _take_name(above: int, beside: str, place: Path) -> None:
    if not os.path.lexists(place):
        os.rename(beside, place.name, src_dir_fd=above, dst_dir_fd=above)
    elif not exchange(above, beside, place.name):
        raise UnavailableError(
            f"{place}: this file system cannot exchange two folders in one step",
            code="cannot-write",
            remedy="work on a local file system (ext4, xfs, btrfs, tmpfs); it is as it was before",
        )


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    with opened(folder) as descriptor:
        sync_folder(descriptor)


def _clear(folder: Path) -> None:
    if os.path.lexists(folder):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
        else:
            shutil.rmtree(folder)
