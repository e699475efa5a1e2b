"""One file of a transaction: its new bytes written beside it, its name taken, and all that undone.

Beside a file stand at most two more, under names that its journal records: `temporary`, which
holds the new bytes and after the exchange what was displaced, and `temporary.back`, which holds
old bytes on their way back where nothing displaced is left.
"""

import contextlib
import os
import time
from contextlib import ExitStack
from typing import Final

from verifier.actions.durable import create, exchange, sync_folder
from verifier.actions.journal import Record
from verifier.core.digest import Pin
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import LARGEST_FILE
from verifier.core.value import frozen
from verifier.sources import standing
from verifier.sources.folder import OPEN
from verifier.sources.standing import Target

#: A compiled file matches its source by size and whole seconds; a new file must not be taken
#: for the one that another compiled file was made of.
_APART: Final = 2 * 10**9
BACK: Final = ".back"
#: What stands for the pin of something that is no readable file.
_FOREIGN: Final = Pin(sha256="", length=None)


@frozen
class Place:
    """One file of a journal while its folder is open and locked; `shown` is for people.

    `number` is its place in the journal.
    """

    record: Record
    number: int
    shown: str
    folder: int
    name: str


def write_beside(place: Place, target: Target, data: bytes) -> tuple[str, ...]:
    """Write new bytes beside a file, with all that it is but its bytes and time, and sync them.

    Returns what could not be carried over, in words.
    """
    return _write(place, place.record.temporary, target, data)


def take_name(place: Place, target: Target) -> None:
    """Give the name to what was written beside it; raise if what had it is not what was read."""
    temporary = place.record.temporary
    if exchange(place.folder, temporary, place.name):
        sync_folder(place.folder)
        _refuse_other(place, temporary, target)
        return
    _refuse_other(place, place.name, target)
    os.rename(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    sync_folder(place.folder)


def undisplace(place: Place) -> None:
    """Give back the name of a file that was displaced though nobody planned for it."""
    record = place.record
    if pin_of(place, place.name) != record.after:
        return
    displaced = pin_of(place, record.temporary)
    if displaced is not None and displaced not in (record.before, record.after):
        exchange(place.folder, record.temporary, place.name)
        sync_folder(place.folder)


def restore(place: Place, data: bytes) -> bool:
    """Put the old file back; where it is gone, a new one of its bytes `data`.

    False if somebody else wrote to the file in this very moment: it is then left as it is.
    """
    aside = place.record.temporary
    if pin_of(place, aside) != place.record.before:
        aside += BACK
        remove(place, aside)
        target = standing.look(place.shown, place.folder, place.name, limit=LARGEST_FILE)
        _write(place, aside, target, data)
    if exchange(place.folder, aside, place.name):
        if pin_of(place, aside) != place.record.after:
            exchange(place.folder, aside, place.name)
    elif pin_of(place, place.name) == place.record.after:
        os.rename(aside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    sync_folder(place.folder)
    return pin_of(place, place.name) == place.record.before


def remove_compiled(place: Place) -> None:
    """Remove the compiled files of the old bytes."""
    for path in place.record.bytecode:
        _remove_compiled(place, path)


def remove(place: Place, name: str) -> None:
    """Remove a name of the file's folder if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.lstat(name, dir_fd=place.folder)  # or a file system without room for it would object
        os.unlink(name, dir_fd=place.folder)


def pin_of(place: Place, name: str) -> Pin | None:
    """Pin what has a name of the file's folder; None if nothing has it."""
    try:
        found = standing.look(place.shown, place.folder, name, limit=LARGEST_FILE)
    except UnavailableError as error:
        missing = isinstance(error.__cause__, FileNotFoundError)
        return None if missing else _FOREIGN
    return Pin.of(found.data)


def changed(place: Place) -> PinproofError:
    """Return the error for a file that is not what was planned for."""
    return UnavailableError(
        f"{place.shown}: it was changed by somebody else since it was read",
        code="migrate-changed",
        remedy="find out who writes to it, then plan again; nothing was written",
    )


def owner_lost(place: Place, target: Target) -> PinproofError:
    """Return the error for a file whose owner this user cannot give to another one."""
    owner = f"{target.standing.uid}:{target.standing.gid}"
    return UnavailableError(
        f"{place.shown}: its owner {owner} cannot be kept by this user",
        code="migrate-attributes",
        remedy="migrate it as its owner, or as root; nothing was written",
    )


def _refuse_other(place: Place, name: str, target: Target) -> None:
    try:
        there = standing.look(place.shown, place.folder, name, limit=LARGEST_FILE)
    except UnavailableError:
        raise changed(place) from None
    if there.standing != target.standing or there.data != target.data:
        raise changed(place)


def _write(place: Place, name: str, target: Target, data: bytes) -> tuple[str, ...]:
    descriptor = create(place.folder, name, data)
    try:
        notes = _carry(descriptor, place, target)
        now, then = time.time_ns(), target.standing.modified
        os.utime(descriptor, ns=(now, now if abs(now - then) >= _APART else then + _APART))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return notes


def _carry(descriptor: int, place: Place, target: Target) -> tuple[str, ...]:
    """Copy owner, then mode, then attributes; return what could not be copied."""
    was, made = target.standing, os.fstat(descriptor)
    if (was.uid, was.gid) != (made.st_uid, made.st_gid):
        try:
            os.fchown(descriptor, was.uid, was.gid)
        except PermissionError:
            raise owner_lost(place, target) from None
    with contextlib.suppress(OSError):
        os.removexattr(descriptor, standing.ACL)  # a folder may give one to every new file
    os.fchmod(descriptor, was.mode_without_list)
    notes = [f"{name} is gone, as --drop-attributes allows" for name in was.not_carried]
    for name, value in was.attributes:
        if name in was.not_carried:
            continue
        try:
            os.setxattr(descriptor, name, value)
        except OSError as error:
            notes.append(f"{name} was not copied: {(error.strerror or 'refused').lower()}")
    return tuple(notes)


def _remove_compiled(place: Place, path: str) -> None:
    *folders, name = path.split("/")
    with contextlib.suppress(FileNotFoundError), ExitStack() as stack:
        folder = place.folder
        for below in folders:
            folder = os.open(below, OPEN | os.O_DIRECTORY, dir_fd=folder)
            stack.callback(os.close, folder)
        os.unlink(name, dir_fd=folder)
