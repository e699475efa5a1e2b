"""One transaction over some files: a journal first, then every file, or none of them.

The steps 2 to 6 of `migrate`. Whatever goes wrong puts every file back; what a kill leaves is ended
by the same function, from what is on the disk alone.
"""

import errno
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

from verifier.actions import journal as journals_of
from verifier.actions.durable import locked, sync_folder
from verifier.actions.journal import Journal, Record
from verifier.actions.replacing import (
    BACK,
    Place,
    changed,
    pin_of,
    remove,
    remove_compiled,
    restore,
    take_name,
    undisplace,
    write_beside,
)
from verifier.ask.migration import named_twice, resolved
from verifier.core.digest import Pin
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import LARGEST_FILE
from verifier.core.value import frozen
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


@frozen
class Ended:
    """How a pending journal was ended: all written, or all as before; and notes on each file."""

    forward: bool
    notes: tuple[tuple[str, ...], ...]


def end(
    journal: Journal,
    places: Sequence[Place],
    *,
    finish: bool,
    may_write: Callable[[Record, bytes], bool] = lambda _record, _data: True,
) -> Ended:
    """End a pending journal from what is on the disk.

    It goes forward only if it may, a file was written, all others can be, and none holds anything
    foreign. `may_write` is asked of bytes that only the journal still has. Raises
    `UnavailableError` if somebody else changed a file meanwhile: that one is left as it is, the
    others hold their old bytes, and the journal is kept for the bytes that the one had.
    """
    for place in places:
        undisplace(place)
    pins = {place: pin_of(place, place.name) for place in places}
    old = [place for place in places if pins[place] == place.record.before]
    new = [place for place in places if pins[place] == place.record.after]
    foreign = [place for place in places if place not in old and place not in new]
    whole = len(places) == len(journal.records) and not foreign
    forward = finish and whole and bool(new) and all(_can(p, journal, may_write) for p in old)
    notes: dict[Place, tuple[str, ...]] = {}
    if forward:
        notes = {place: _written_now(place, journal) for place in old}
    else:
        foreign += [place for place in new if not _put_one_back(place, journal, may_write)]
    displaced = [p for p in foreign if pin_of(p, p.record.temporary) in (None, p.record.before)]
    _tidy(journal, places, bytecode=forward)
    gone = [r.path for r in journal.records if r.path not in {p.record.path for p in places}]
    if forward:
        journals_of.move(journal, "")
    elif displaced or (finish and (foreign or gone)):
        raise _given_up(journals_of.move(journal, ".given-up"), foreign, gone, pins)
    else:
        journals_of.drop(journal)
    return Ended(forward=forward, notes=tuple(notes.get(place, ()) for place in places))


def _can(place: Place, journal: Journal, may_write: Callable[[Record, bytes], bool]) -> bool:
    """Whether a file that is still old may be written after all, without an option to say so."""
    target = standing.look(place.shown, place.folder, place.name, limit=LARGEST_FILE)
    try:
        standing.refuse_obstacles(target, break_hard_link=False, drop_attributes=False)
    except UnavailableError:
        return False
    return may_write(place.record, journal.text(place.number, "after"))


def _written_now(place: Place, journal: Journal) -> tuple[str, ...]:
    target = standing.look(place.shown, place.folder, place.name, limit=LARGEST_FILE)
    _tidy(journal, [place], bytecode=False)
    notes = write_beside(place, target, journal.text(place.number, "after"))
    take_name(place, target)
    return notes


def _put_one_back(
    place: Place, journal: Journal, may_write: Callable[[Record, bytes], bool]
) -> bool:
    before = journal.text(place.number, "before")
    there = pin_of(place, place.record.temporary) == place.record.before
    if not there and not may_write(place.record, before):
        raise UnavailableError(
            f"{place.shown}: its previous bytes are no version that the registry knows",
            code="journal-unauthentic",
            remedy=f"they are in {journal.folder}; if they are right, restore them by hand",
        )
    return restore(place, before)


def _tidy(journal: Journal, places: Sequence[Place], *, bytecode: bool) -> None:
    """Remove what this migration put beside its files, and nothing else of these names."""
    for place in places:
        for name in (place.record.temporary, place.record.temporary + BACK):
            if _is_ours(place, name, journal):
                remove(place, name)
        if bytecode:
            remove_compiled(place)
        sync_folder(place.folder)


def _is_ours(place: Place, name: str, journal: Journal) -> bool:
    """Whether a file beside a host holds old or new bytes, whole or their beginning."""
    pin = pin_of(place, name)
    if pin is None or pin in (place.record.before, place.record.after):
        return pin is not None
    try:
        data = standing.look(place.shown, place.folder, name, limit=LARGEST_FILE).data
    except UnavailableError:
        return False
    return any(journal.text(place.number, side).startswith(data) for side in ("before", "after"))


def _given_up(
    journal: Journal,
    foreign: Sequence[Place],
    gone: Sequence[str],
    pins: Mapping[Place, Pin | None],
) -> PinproofError:
    name = foreign[0].shown if foreign else gone[0]
    missing = not foreign or pins[foreign[0]] is None
    what = "is gone" if missing else "was changed by somebody else, and is left as it is"
    return UnavailableError(
        f"{name}: it {what}; its migration was given up",
        code="migrate-changed",
        remedy="other files of the same set hold their old bytes, and those that this one had "
        f"are in {journal.folder}",
    )


@contextmanager
def open_places(
    records: Sequence[Record], shown: Sequence[str], *, without_gone: bool = False
) -> Iterator[list[Place]]:
    """Open the folder of every file, following no link, and lock each folder once.

    `without_gone` leaves out files whose folder is not there any longer.
    """
    with ExitStack() as stack:
        folders: dict[tuple[int, int], int] = {}
        places: list[Place] = []
        for number, (record, name) in enumerate(zip(records, shown, strict=True)):
            *above, base = record.path.split("/")[1:]
            try:
                folder = stack.enter_context(opened(Path("/"), above))
            except OSError as error:
                if without_gone and error.errno == errno.ENOENT:
                    continue
                raise _not_there(name, error) from error
            status = os.fstat(folder)
            folder = folders.setdefault((status.st_dev, status.st_ino), folder)
            if any((place.folder, place.name) == (folder, base) for place in places):
                raise named_twice(name)
            place = Place(record=record, number=number, shown=name, folder=folder, name=base)
            places.append(place)
        for identity in sorted(folders):
            first = next(place.shown for place in places if place.folder == folders[identity])
            stack.enter_context(locked(folders[identity], shown=first))
        yield places


def refused_by_system(error: OSError, shown: str) -> PinproofError:
    """Return the error for what the system did not do; all files hold what they held."""
    if error.errno == errno.EBUSY:
        return standing.mounted(shown)
    return UnavailableError(
        f"{shown}: {(error.strerror or 'cannot be written').lower()}",
        code="cannot-write",
        remedy="make room or get the right to write to its folder; nothing was written",
    )


def _carried_out(
    journal: Journal, places: Sequence[Place], targets: Sequence[Target]
) -> list[tuple[str, ...]]:
    notes = [
        write_beside(place, target, journal.text(place.number, "after"))  # 3
        for place, target in zip(places, targets, strict=True)
    ]
    if signal.sigpending() & set(_DEFERRED):
        raise KeyboardInterrupt
    for place, target in zip(places, targets, strict=True):  # 4
        take_name(place, target)
    for place in places:  # 5
        if pin_of(place, place.name) != place.record.after or not _leads_here(place):
            raise changed(place)
    _tidy(journal, places, bytecode=True)
    return notes


def _leads_here(place: Place) -> bool:
    """Whether the path still leads to the folder that was locked, and not to another one."""
    try:
        with opened(Path("/"), place.record.path.split("/")[1:-1]) as again:
            same = os.path.samestat(os.fstat(again), os.fstat(place.folder))
    except OSError:
        return False
    return same and resolved(place.shown) == place.record.path


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
        if isinstance(error, PinproofError) and error.code == "migrate-changed":
            raise
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
