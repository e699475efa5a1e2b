"""Writing migrations: a host holds its old bytes or its new ones, at every moment (CHECKS migrate).

1. Every folder is locked; every file is read again and must be what was planned for.
2. A journal with all bytes, before and after, is on the disk before any folder is touched.
3. Each file's new bytes are written beside it, synced, with its owner, mode and attributes.
4. Each takes the name by exchange; what was displaced must be what was read in step 1.
5. Each is read back. Then the displaced file goes, and compiled files of the old bytes.
6. The journal is renamed to say that all is written.

Whatever goes wrong in steps 3 to 5 puts every file back, and so does `recover` after a kill, unless
all of them were written: then it finishes. Nobody sees a set of which some are old and some new
once either has ended. Not proven: that nobody writes to a file through a descriptor that was open
before; and where the file system cannot exchange names, that nobody replaces the file in the
moment between the last look and the renaming.
"""

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
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
from verifier.ask.migration import Request, authentic, compiled_from, named_twice, resolved
from verifier.ask.trusted import Trust
from verifier.catalog.refused import Refused
from verifier.core.clock import print_time
from verifier.core.digest import Pin, sha256
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import LARGEST_FILE
from verifier.core.migration import Migrated, Plan, Planned, Recovered, Replaced
from verifier.core.outcome import Failed
from verifier.sources import standing
from verifier.sources.file import FileBytes
from verifier.sources.folder import opened
from verifier.sources.standing import Target
from verifier.sources.unavailable import unreadable

_DEFERRED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def write(planned: Planned, request: Request, *, journals: Path, now: datetime) -> Migrated:
    """Write every plan that has something to do: all of them, or none.

    `journals` is the folder that journals are kept in. Raises `UnavailableError` if a file is no
    longer what was planned for or cannot be replaced; all files then hold what they held.
    """
    plans = [plan for plan in planned.plans if plan is not None and not plan.idle]
    if not planned.sound:
        raise ValueError("a plan that is not sound cannot be written")
    records = [_record(plan, resolved(plan.name), now) for plan in plans]
    blobs = [(plan.before, plan.after) for plan in plans]
    shown = [plan.name for plan in plans]
    done = _written("written", records, blobs, shown, request, journals=journals, now=now)
    return replace(done, planned=planned)


def undo(name: str, trust: Trust, request: Request, *, journals: Path, now: datetime) -> Migrated:
    """Give the files of a journal their previous bytes, if they still hold what it wrote.

    Raises `UnavailableError` if one of them does not, or if the previous bytes are no version or
    base that the registry knows; nothing is then written.
    """
    old = journals_of.find(journals, name)
    records, blobs = [], []
    for number, record in enumerate(old.records):
        before, after = old.text(number, "before"), old.text(number, "after")
        _refuse_unauthentic(record, before, trust, old)
        plan = Plan(
            name=record.path,
            lineage=record.lineage,
            source=record.target,
            target=record.source,
            before=after,
            after=before,
            now="",
            then="",
            changes="",
        )
        records.append(_record(plan, record.path, now))
        blobs.append((after, before))
    shown = [record.path for record in records]
    done = _written("undone", records, blobs, shown, request, journals=journals, now=now)
    journals_of.move(old, ".undone")
    return done


def recover(*, journals: Path) -> Recovered:
    """End what a kill or a power cut left unfinished: finish it if all can be, else go back.

    A file that was changed by somebody else meanwhile is left as it is and named among `failed`;
    the others of its set hold their old bytes then.
    """
    ended: list[Migrated] = []
    failed: list[Failed] = []
    for folder in journals_of.unfinished(journals):
        try:
            journal = journals_of.load(folder)
            with _open(journal.records, [r.path for r in journal.records]) as places:
                forward = _end(journal, places, finish=True)
        except PinproofError as error:
            failed.append(Failed.of(folder.stem, error))
            continue
        except OSError as error:
            failed.append(Failed.of(folder.stem, _refused_by_system(error, folder.stem)))
            continue
        word = "finished" if forward else "restored"
        files = tuple(_replaced(place, ()) for place in places)
        ended.append(Migrated(word=word, files=files, journal=journal.id if forward else ""))
    journals_of.clear(journals)
    return Recovered(ended=tuple(ended), failed=tuple(failed))


def refuse_unfinished(paths: Sequence[str], *, journals: Path) -> None:
    """Raise `UnavailableError` if a migration of one of these files was begun and not finished."""
    shown = {resolved(path): path for path in paths}
    for folder in journals_of.unfinished(journals):
        for record in journals_of.load(folder).records:
            if record.path in shown:
                raise UnavailableError(
                    f"{shown[record.path]}: a migration of it was begun and not finished",
                    code="migrate-unfinished",
                    remedy="end it with pinproof migrate --recover, then plan again",
                )


# ── one transaction ────────────────────────────────────────────────────────────────────────────


def _written(
    word: str,
    records: Sequence[Record],
    blobs: Sequence[tuple[bytes, bytes]],
    shown: Sequence[str],
    request: Request,
    *,
    journals: Path,
    now: datetime,
) -> Migrated:
    with _open(records, shown) as there:  # 1
        targets = [_unchanged(place, request, undoing=word == "undone") for place in there]
        refuse_unfinished([place.record.path for place in there], journals=journals)
        places = list(map(_with_bytecode, there, targets))
        with _signals_deferred():
            told = [place.record for place in places]
            journal = journals_of.prepare(journals, told, blobs, now=now)  # 2
            try:
                notes = _carried_out(journal, places, targets)  # 3 to 5
            except BaseException as error:
                _put_back(journal, places)
                if isinstance(error, OSError):
                    raise _refused_by_system(error, places[0].shown) from error
                raise
            journal = _told(journal, places)  # 6
            _signals_too_late()
    files = tuple(_replaced(place, said) for place, said in zip(places, notes, strict=True))
    return Migrated(word=word, files=files, journal=journal.id)


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
        _end(journal, places, finish=False)
    except (OSError, PinproofError) as error:
        raise UnavailableError(
            f"{places[0].shown}: it could not be written, nor put back: "
            f"{getattr(error, 'strerror', None) or error}",
            code="migrate-unfinished",
            remedy="see to the disk, then end it with pinproof migrate --recover",
        ) from error


def _end(journal: Journal, places: Sequence[Place], *, finish: bool) -> bool:
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


# ── what a transaction stands on ───────────────────────────────────────────────────────────────


@contextmanager
def _open(records: Sequence[Record], shown: Sequence[str]) -> Iterator[list[Place]]:
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


def _unchanged(place: Place, request: Request, *, undoing: bool) -> Target:
    """Read a file again, and refuse it unless it is what was planned for, or written once."""
    target = standing.look(place.shown, place.folder, place.name, limit=LARGEST_FILE)
    if not place.record.before.matches(target.data):
        raise _no_longer(place) if undoing else changed(place)
    standing.refuse_obstacles(
        target,
        break_hard_link=request.break_hard_link,
        drop_attributes=request.drop_attributes,
    )
    return target


def _record(plan: Plan, path: str, now: datetime) -> Record:
    before, after = Pin.of(plan.before), Pin.of(plan.after)
    told = f"{path}\0{before}\0{after}\0{print_time(now)}"
    return Record(
        path=path,
        temporary=f".pinproof-{sha256(told.encode())[:16]}",
        before=before,
        after=after,
        lineage=plan.lineage,
        source=plan.source,
        target=plan.target,
        bytecode=(),
    )


def _with_bytecode(place: Place, target: Target) -> Place:
    """Look once more for compiled files of the old bytes: Python may have written some since."""
    mtime = target.standing.modified // 10**9
    found = FileBytes(name=place.record.path, data=target.data, mtime=mtime)
    names = compiled_from(found, shown=place.shown)
    return replace(place, record=replace(place.record, bytecode=names))


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


def _no_longer(place: Place) -> PinproofError:
    return UnavailableError(
        f"{place.shown}: it no longer holds what the migration wrote",
        code="migrate-changed",
        remedy="look at it with pinproof verify helper; the bytes from before the migration are "
        "in its journal, and nothing was written",
    )


def _refuse_unauthentic(record: Record, before: bytes, trust: Trust, old: Journal) -> None:
    if isinstance(trust.catalog, Refused):
        raise UnavailableError(
            f"{record.path}: the registry cannot be used ({trust.catalog.findings[0].code}), and "
            "nothing else says what its previous bytes are",
            code="journal-unauthentic",
            remedy=trust.catalog.findings[0].remedy,
        )
    if not authentic(record.path, before, record.lineage, trust):
        raise UnavailableError(
            f"{record.path}: its previous bytes are no version that the registry knows",
            code="journal-unauthentic",
            remedy=f"they are in {old.folder}; if they are right, restore them by hand",
        )


def _not_there(name: str, error: OSError) -> PinproofError:
    if error.errno not in (errno.ELOOP, errno.ENOTDIR):
        return unreadable(name, error)
    return UnavailableError(
        f"{name}: expected folders on the way to it, got a link or another file",
        code="migrate-link",
        remedy="put the folder back where it was; no link is followed to what a journal names",
    )


def _refused_by_system(error: OSError, shown: str) -> PinproofError:
    return UnavailableError(
        f"{shown}: {(error.strerror or 'cannot be written').lower()}",
        code="cannot-write",
        remedy="make room or get the right to write to its folder; nothing was written",
    )


def _replaced(place: Place, notes: tuple[str, ...]) -> Replaced:
    record = place.record
    return Replaced(
        name=place.shown,
        lineage=record.lineage,
        source=record.source,
        target=record.target,
        before=record.before,
        after=record.after,
        bytecode=record.bytecode,
        notes=notes,
    )
