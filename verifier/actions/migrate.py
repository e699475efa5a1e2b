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

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from verifier.actions import journal as journals_of
from verifier.actions.durable import locked
from verifier.actions.journal import Journal, Record
from verifier.actions.replacing import Place, changed, owner_lost
from verifier.actions.transaction import carry_out, end, open_places, refused_by_system
from verifier.ask.migration import Request, compiled_from, identified, resolved
from verifier.ask.trusted import Trust
from verifier.catalog.refused import Refused
from verifier.core.digest import Pin
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import LARGEST_FILE
from verifier.core.migration import Migrated, Plan, Planned, Recovered, Replaced
from verifier.core.outcome import Failed
from verifier.sources import standing
from verifier.sources.file import FileBytes
from verifier.sources.standing import Target


def write(planned: Planned, request: Request, *, journals: Path, now: datetime) -> Migrated:
    """Write every plan that has something to do: all of them, or none.

    `journals` is the folder that journals are kept in. Raises `UnavailableError` if a file is no
    longer what was planned for or cannot be replaced; all files then hold what they held.
    """
    plans = [plan for plan in planned.plans if plan is not None and not plan.idle]
    if not planned.sound:
        raise ValueError("a plan that is not sound cannot be written")
    records = [_record(plan, resolved(plan.name)) for plan in plans]
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
        plan = Plan(
            name=record.path,
            lineage=record.lineage,
            source=identified(after, record.lineage, trust) or record.target,
            target=_authentic(record, before, trust, old),
            before=after,
            after=before,
            now="",
            then="",
            changes="",
        )
        records.append(_record(plan, record.path))
        blobs.append((after, before))
    shown = [record.path for record in records]
    done = _written("undone", records, blobs, shown, request, journals=journals, now=now)
    journals_of.move(old, ".undone")
    return done


def recover(trust: Trust, *, journals: Path) -> Recovered:
    """End what a kill or a power cut left unfinished: finish it if all can be, else go back.

    A file that was changed by somebody else meanwhile is left as it is and named among `failed`;
    the others of its set hold their old bytes then. What only the journal still has is written
    only if the registry knows it.
    """
    ended: list[Migrated] = []
    failed: list[Failed] = []
    for folder in journals_of.unfinished(journals):
        try:
            ended.append(_ended(journals_of.load(folder), trust))
        except PinproofError as error:
            failed.append(Failed.of(folder.stem, error))
        except OSError as error:
            failed.append(Failed.of(folder.stem, refused_by_system(error, folder.stem)))
    journals_of.clear(journals)
    return Recovered(ended=tuple(ended), failed=tuple(failed))


def _ended(journal: Journal, trust: Trust) -> Migrated:
    def known(record: Record, data: bytes) -> bool:
        return identified(data, record.lineage, trust) is not None

    paths = [record.path for record in journal.records]
    with open_places(journal.records, paths, without_gone=True) as places:
        how = end(journal, places, finish=True, may_write=known)
    files = tuple(_replaced(place, said) for place, said in zip(places, how.notes, strict=True))
    if how.forward:
        return Migrated(word="finished", files=files, journal=journal.id)
    return Migrated(word="restored", files=files)


def refuse_unfinished(paths: Sequence[str], *, journals: Path) -> None:
    """Raise `UnavailableError` if a migration of one of these files was begun and not finished.

    One that is being written at this moment is no such: then another migration is at work.
    """
    shown = {resolved(path): path for path in paths}
    for folder, path in _unfinished(shown, journals):
        with standing.folder_of(path) as (below, _), locked(below, shown=shown[path]):
            if folder.is_dir():
                raise _begun(shown[path])


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
    with open_places(records, shown) as there:  # 1
        targets = [_unchanged(place, request, undoing=word == "undone") for place in there]
        shown_by_path = {place.record.path: place.shown for place in there}
        for _, path in _unfinished(shown_by_path, journals):
            raise _begun(shown_by_path[path])
        places = list(map(_with_bytecode, there, targets))
        journal, notes = carry_out(places, targets, blobs, journals=journals, now=now)
    files = tuple(_replaced(place, said) for place, said in zip(places, notes, strict=True))
    return Migrated(word=word, files=files, journal=journal.id)


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
    was = target.standing
    if os.geteuid() and (was.uid != os.geteuid() or was.gid not in {os.getegid(), *os.getgroups()}):
        raise owner_lost(place, target)
    return target


def _unfinished(paths: Iterable[str], journals: Path) -> Iterator[tuple[Path, str]]:
    """Find the pending journals that name one of these paths."""
    wanted = set(paths)
    for folder in journals_of.unfinished(journals):
        try:
            records = journals_of.load(folder).records
        except UnavailableError:
            if folder.is_dir():
                raise
            continue  # it was ended while it was looked at
        yield from ((folder, record.path) for record in records if record.path in wanted)


def _begun(shown: str) -> PinproofError:
    return UnavailableError(
        f"{shown}: a migration of it was begun and not finished",
        code="migrate-unfinished",
        remedy="end it with pinproof migrate --recover, then plan again",
    )


def _record(plan: Plan, path: str) -> Record:
    return Record(
        path=path,
        temporary=f".pinproof-{secrets.token_hex(8)}",  # nobody else can take the name first
        before=Pin.of(plan.before),
        after=Pin.of(plan.after),
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
    for folder in {str(Path(found.name).parent / Path(name).parent) for name in names}:
        if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
            raise UnavailableError(
                f"{place.shown}: {folder} holds compiled files of it, and may not be written to",
                code="cannot-write",
                remedy="remove them first: Python would go on loading them; nothing was written",
            )
    return replace(place, record=replace(place.record, bytecode=names))


def _no_longer(place: Place) -> PinproofError:
    return UnavailableError(
        f"{place.shown}: it no longer holds what the migration wrote",
        code="migrate-changed",
        remedy="look at it with pinproof verify helper; the bytes from before the migration are "
        "in its journal, and nothing was written",
    )


def _authentic(record: Record, before: bytes, trust: Trust, old: Journal) -> str:
    """Name what is about to be given back; raise if the registry does not know it."""
    if isinstance(trust.catalog, Refused):
        raise UnavailableError(
            f"{record.path}: the registry cannot be used ({trust.catalog.findings[0].code}), and "
            "nothing else says what its previous bytes are",
            code="journal-unauthentic",
            remedy=trust.catalog.findings[0].remedy,
        )
    known = identified(before, record.lineage, trust)
    if known is None:
        raise UnavailableError(
            f"{record.path}: its previous bytes are no version that the registry knows",
            code="journal-unauthentic",
            remedy=f"they are in {old.folder}; if they are right, restore them by hand",
        )
    return known


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
