"""Journals: what a migration is about to write, kept until it can be told that it is written.

A journal is a folder of the user's state folder, readable by nobody else: `journal.json`
(`journal/v1`), and for each file its bytes before and after. Its name says how far it came, and
changes in one step: `ID.new` (being made; no host was touched), `ID.pending` (hosts may be
changed), `ID` (all of them are, and it can be undone), `ID.undone`, `ID.given-up` (somebody else
changed a host before it was ended). Blobs are read by the pins that the journal gives them.
"""

import json
import os
import re
import shutil
import stat
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, Final

from verifier.actions.durable import create, locked, opened, sync_folder
from verifier.core.clock import print_time
from verifier.core.digest import Pin, sha256
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import DOCUMENT_BYTES, LARGEST_FILE
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.sources import file

SCHEMA: Final = "journal/v1"
_ID: Final = r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}"
_DOCUMENT: Final = "journal.json"


@frozen
class Record:
    """One file of a journal. `path` is absolute, `temporary` a name in the same folder.

    `bytecode` are compiled files of the old content, below the folder, that go with it.
    """

    path: str
    temporary: str
    before: Pin
    after: Pin
    lineage: str
    source: str
    target: str
    bytecode: tuple[str, ...]


@frozen
class Journal:
    """A journal on disk: its folder, and what it says."""

    folder: Path
    records: tuple[Record, ...]

    @property
    def id(self) -> str:
        """What `--undo` takes."""
        return self.folder.name.partition(".")[0]

    def text(self, number: int, side: str) -> bytes:
        """Return the bytes of a record, `before` or `after`, proved by their pin."""
        pin = self.records[number].before if side == "before" else self.records[number].after
        data = file.read(str(self.folder / f"{number}.{side}"), limit=LARGEST_FILE).data
        if not pin.matches(data):
            raise damaged(self.folder, f"{number}.{side} is not what was written")
        return data


def prepare(
    journals: Path,
    records: Sequence[Record],
    blobs: Sequence[tuple[bytes, bytes]],
    *,
    now: datetime,
) -> Journal:
    """Write a journal; when this returns it is on the disk, and pending.

    Raises `UnavailableError`, leaving nothing behind, if the state folder cannot hold it.
    """
    made: Path | None = None
    try:
        for folder in (*reversed(journals.parents), journals):
            folder.mkdir(exist_ok=True, mode=0o700)
        _refuse_of_others(journals)
        with opened(journals) as above, locked(above, shown=str(journals), wait=True):
            name = _free(journals, records, now)
            made = journals / f"{name}.new"
            made.mkdir(mode=0o700)
            with opened(made) as below:
                for number, (before, after) in enumerate(blobs):
                    _write(below, f"{number}.before", before)
                    _write(below, f"{number}.after", after)
                document = {"schema": SCHEMA, "files": [_printed(record) for record in records]}
                _write(below, _DOCUMENT, json.dumps(document, indent=2).encode() + b"\n")
                sync_folder(below)
            made = pending = made.rename(journals / f"{name}.pending")
            sync_folder(above)
    except OSError as error:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise UnavailableError(
            f"{journals}: the journal cannot be written: {(error.strerror or 'refused').lower()}",
            code="cannot-write",
            remedy="make room, or name another state folder with XDG_STATE_HOME; "
            "no host file was touched",
        ) from error
    return Journal(folder=pending, records=tuple(records))


def move(journal: Journal, ending: str) -> Journal:
    """Give a journal another state, durably: `""` once written, `.undone` once undone."""
    folder = journal.folder.rename(journal.folder.with_name(f"{journal.id}{ending}"))
    with opened(folder.parent) as above:
        sync_folder(above)
    return Journal(folder=folder, records=journal.records)


def drop(journal: Journal) -> None:
    """Forget a journal whose files are as they were before it."""
    shutil.rmtree(move(journal, ".new").folder)


def unfinished(journals: Path) -> list[Path]:
    """Return the folder of every journal whose hosts may be half written, oldest first."""
    return _folders(journals, ".pending")


def clear(journals: Path) -> None:
    """Remove what never became a journal, because its process was killed."""
    if journals.is_dir():
        with opened(journals) as above, locked(above, shown=str(journals), wait=True):
            for folder in _folders(journals, ".new"):
                if folder.is_dir() and not folder.is_symlink():
                    shutil.rmtree(folder)
                else:
                    folder.unlink()


def find(journals: Path, name: str) -> Journal:
    """Return the journal that `--undo` names, by its id or the path of its folder."""
    folder = Path(name) if "/" in name else journals / name
    if re.fullmatch(_ID, folder.name) and folder.is_dir():
        return load(folder)
    states = {
        ".pending": ("it was not finished", "pinproof migrate --recover ends it"),
        ".undone": ("it was undone already", "nothing is left to undo"),
        ".given-up": (
            "it was given up: somebody else changed a file of it before it was ended",
            f"the bytes that its files had are in {folder.name.partition('.')[0]}.given-up",
        ),
    }
    for ending, (what, remedy) in states.items():
        if folder.name and folder.with_name(f"{folder.name.partition('.')[0]}{ending}").is_dir():
            raise UnavailableError(f"{name}: {what}", code="journal-unknown", remedy=remedy)
    there = [path.name for path in _folders(journals, "")]
    what = "there is no journal in that folder" if "/" in name else "there is no such journal"
    raise UnavailableError(
        f"{name or 'an empty name'}: {what}",
        code="journal-unknown",
        remedy=f"name one of {', '.join(there[-5:])}"
        if there
        else "none is kept in the state folder",
    )


def damaged(folder: Path, what: str) -> PinproofError:
    """Return the error for a journal that nothing may be written from."""
    return UnavailableError(
        f"{folder}: {what}",
        code="journal-damaged",
        remedy="compare the hosts with pinproof verify helper, and restore by hand; "
        "nothing was written",
    )


# ── on disk ────────────────────────────────────────────────────────────────────────────────────


def _free(journals: Path, records: Sequence[Record], now: datetime) -> str:
    """Return an id that no journal has: when it was made, and a digest of what it holds."""
    told = json.dumps([_printed(record) for record in records])
    day = re.sub("[-:]", "", print_time(now))
    taken = {path.name.partition(".")[0] for path in journals.iterdir()}
    names = (f"{day}-{sha256(f'{told}{number}'.encode())[:8]}" for number in count())
    return next(name for name in names if name not in taken)


def _folders(journals: Path, ending: str) -> list[Path]:
    if not journals.is_dir():
        return []
    _refuse_of_others(journals)
    wanted = re.compile(_ID + re.escape(ending))
    return sorted(path for path in journals.iterdir() if wanted.fullmatch(path.name))


def _write(folder: int, name: str, data: bytes) -> None:
    descriptor = create(folder, name, data)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _printed(record: Record) -> dict[str, Any]:
    return {
        "path": record.path,
        "temporary": record.temporary,
        "before": {"sha256": record.before.sha256, "length": record.before.length},
        "after": {"sha256": record.after.sha256, "length": record.after.length},
        "lineage": record.lineage,
        "source": record.source,
        "target": record.target,
        "bytecode": list(record.bytecode),
    }


def load(folder: Path) -> Journal:
    """Read a journal; one that others may write to is worth nothing.

    Raises `UnavailableError` (`journal-damaged`) for one that is not as it was written.
    """
    try:
        _refuse_of_others(folder)
        data = file.read(str(folder / _DOCUMENT), limit=DOCUMENT_BYTES).data
        return Journal(folder=folder, records=_records(data, folder))
    except (OSError, MalformedError, UnavailableError) as error:
        if isinstance(error, UnavailableError) and error.code == "journal-damaged":
            raise
        raise damaged(folder, f"{_DOCUMENT} cannot be read: {error}") from error


def _refuse_of_others(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise damaged(folder, "it is not a folder of this user")
    if status.st_mode & 0o022:
        raise damaged(folder, "others may write to it")


def _records(data: bytes, folder: Path) -> tuple[Record, ...]:
    table = Table.json(data, what=_DOCUMENT, remedy=f"look into {folder}")
    table.text("schema", choices=[SCHEMA])
    records = []
    for row in table.tables("files"):
        records.append(
            Record(
                path=row.text("path", pattern=r"(/[^/\0]+)+", form="an absolute path"),
                temporary=row.text("temporary", pattern=r"\.pinproof-[0-9a-f]{16}"),
                before=row.pin("before"),
                after=row.pin("after"),
                lineage=row.text("lineage"),
                source=row.text("source"),
                target=row.text("target"),
                bytecode=row.texts("bytecode"),
            )
        )
        for name in records[-1].bytecode:
            if not re.fullmatch(r"(__pycache__/)?[^/\0]+\.pyc", name):
                row.mistake("bytecode", "is no name of a compiled file")
        row.close()
    if not records:
        table.mistake("files", "is empty")
    table.done()
    return tuple(records)
