"""One transaction over some files: a journal first, then every file, or none of them.

The steps 2 to 6 of `migrate`. Whatever goes wrong puts every file back; what a kill leaves is ended
by the same function, from what is on the disk alone.
"""

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from verifier.actions import journal as journals_of
from verifier.actions.durable import locked
from verifier.actions.journal import Journal, Record
from verifier.actions.replacing import (
    Place,
    changed,
    clean,
    pin_of,
    remove,
    restore,
    take_name,
    undisplace,
    write_beside,
)
from verifier.ask.migration import named_twice
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import LARGEST_FILE
from verifier.sources import standing
from verifier.sources.folder import opened
from verifier.sources.standing import Target
from verifier.sources.unavailable import unreadable

_DEFERRED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def carry_out(
    places: Sequence[Place],
    targets: Sequence[Target],
    blobs: Sequence[tuple[bytes, bytes]],
    *,
    journals: Path,
    now: datetime,
) -> tuple[Journal, list[tuple[str, ...]]]:
    """Write all files, whose folders are open and locked; return the journal, and notes on each.

    Raises `UnavailableError` if one cannot be written or is not what was read; all of them then
    hold what they held, unless the error says that they could not be put back.
    """
    with _signals_deferred():
        told = [place.record for place in places]
        journal = journals_of.prepare(journals, told, blobs, now=now)  # 2
        try:
            notes = _carried_out(journal, places, targets)  # 3 to 5
        except BaseException as error:
            _put_back(journal, places)
            if isinstance(error, OSError):
                raise refused_by_system(error, places[0].shown) from error
            raise
        journal = _told(journal, places)  # 6
        _signals_too_late()
    return journal, notes


def end(journal: Journal, places: Sequence[Place], *, finish: bool) -> bool:
    """End a pending journal from what is on the disk; return whether all files are written.

    It goes forward only if it may, a file was written, and no file holds anything foreign.
    """
    for place in places:
        undisplace(place)
    pins = [pin_of(place, place.name) for place in places]
    new = [pin == place.record.after for pin, place in zip(pins, places, strict=True)]
    old = [pin == place.record.before for pin, place in zip(pins, places, strict=True)]
    foreign = [p for p, is_new, is_old in zip(places, new, old, strict=True) if not is_new | is_old]
    forward = finish and any(new) and not foreign
    for number, place in enumerate(places):
        if forward and old[number]:
            target = standing.look(place.shown, place.folder, place.name, limit=LARGEST_FILE)
            remove(place, place.record.temporary)
            write_beside(place, target, journal.text(number, "after"))
            take_name(place, target)
        elif not forward and new[number]:
            restore(place, journal.text(number, "before"))
    clean(places, bytecode=forward)
    if forward:
        journals_of.move(journal, "")
    elif foreign and finish:
        given_up = journals_of.move(journal, ".given-up")
        gone = pins[places.index(foreign[0])] is None
        what = "is gone" if gone else "was changed by somebody else, and is left as it is"
        raise UnavailableError(
            f"{foreign[0].shown}: it {what}; the migration of it was not ended",
            code="migrate-changed",
            remedy="other files of the same set hold their old bytes, and those that this one had "
            f"are in {given_up.folder}",
        )
    else:
        journals_of.drop(journal)
    return forward


@contextmanager
def open_places(records: Sequence[Record], shown: Sequence[str]) -> Iterator[list[Place]]:
    """Open the folder of every file, following no link, and lock each folder once."""
    with ExitStack() as stack:
        folders: dict[tuple[int, int], int] = {}
        places: list[Place] = []
        for record, name in zip(records, shown, strict=True):
            *above, base = record.path.split("/")[1:]
            try:
                folder = stack.enter_context(opened(Path("/"), above))
            except OSError as error:
                raise _not_there(name, error) from error
            status = os.fstat(folder)
            folder = folders.setdefault((status.st_dev, status.st_ino), folder)
            if any((place.folder, place.name) == (folder, base) for place in places):
                raise named_twice(name)
            places.append(Place(record=record, shown=name, folder=folder, name=base))
        for identity in sorted(folders):
            first = next(place.shown for place in places if place.folder == folders[identity])
            stack.enter_context(locked(folders[identity], shown=first))
        yield places


def refused_by_system(error: OSError, shown: str) -> PinproofError:
    """Return the error for what the system did not do; all files hold what they held."""
    return UnavailableError(
        f"{shown}: {(error.strerror or 'cannot be written').lower()}",
        code="cannot-write",
        remedy="make room or get the right to write to its folder; nothing was written",
    )


def _carried_out(
    journal: Journal, places: Sequence[Place], targets: Sequence[Target]
) -> list[tuple[str, ...]]:
    notes = [
        write_beside(place, target, journal.text(number, "after"))  # 3
        for number, (place, target) in enumerate(zip(places, targets, strict=True))
    ]
    if signal.sigpending() & set(_DEFERRED):
        raise KeyboardInterrupt
    for place, target in zip(places, targets, strict=True):  # 4
        take_name(place, target)
    for place in places:  # 5
        if pin_of(place, place.name) != place.record.after:
            raise changed(place)
    clean(places)
    return notes


def _told(journal: Journal, places: Sequence[Place]) -> Journal:
    try:
        return journals_of.move(journal, "")
    except OSError as error:
        raise UnavailableError(
            f"{places[0].shown}: it was written, but its journal {journal.id} cannot say so: "
            f"{(error.strerror or 'refused').lower()}",
            code="migrate-unfinished",
            remedy="see to the state folder, then end it with pinproof migrate --recover",
        ) from error


def _put_back(journal: Journal, places: Sequence[Place]) -> None:
    try:
        end(journal, places, finish=False)
    except (OSError, PinproofError) as error:
        raise UnavailableError(
            f"{places[0].shown}: it could not be written, nor put back: "
            f"{getattr(error, 'strerror', None) or error}",
            code="migrate-unfinished",
            remedy="see to the disk, then end it with pinproof migrate --recover",
        ) from error


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Keep signals that end a process from ending it between two steps."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _signals_too_late() -> None:
    """Take back what came after the last moment to heed it: all is written, and must be told."""
    while signal.sigpending() & set(_DEFERRED):
        signal.sigwait(_DEFERRED)


def _not_there(name: str, error: OSError) -> PinproofError:
    if error.errno not in (errno.ELOOP, errno.ENOTDIR):
        return unreadable(name, error)
    return UnavailableError(
        f"{name}: expected folders on the way to it, got a link or another file",
        code="migrate-link",
        remedy="put the folder back where it was; no link is followed to what a journal names",
    )
