"""What a composition wants of a tree: each path at the final stage, and where it was before."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from verifier.catalog.entries.composition import Composition, Moment, Scope, Wanted
from verifier.core.value import frozen
from verifier.sources.tree import TreeEntry
from verifier.sources.within import Within

BASE: Final = "base"


class Past(NamedTuple):
    """One state of a path: the stages at which it is so, from `first` up to, without, `end`.

    Stages are counted from 0, the base. `file` is None where the path does not exist then; a
    state that the entry does not tell is not listed.
    """

    first: int
    end: int
    file: Wanted | None


@frozen
class Expected:
    """The paths of a composition, as bytes, as the final stage leaves them."""

    files: dict[bytes, Wanted]
    deleted: frozenset[bytes]
    retained: dict[bytes, str]
    histories: dict[bytes, tuple[Past, ...]]
    stages: tuple[str, ...]
    listed: bool
    """Whether every file of the scope is known."""

    @property
    def final(self) -> int:
        """The number of the final stage."""
        return len(self.stages) - 1


def expected(entry: Composition) -> Expected:
    """Follow the stages of an entry to what the last of them leaves."""
    stages = (BASE, *(stage.name for stage in entry.stages))
    numbers = {name: number for number, name in enumerate(stages)}
    files = {path.encode(): file for path, file in entry.table.items()}
    deleted: set[bytes] = set()
    histories: dict[bytes, tuple[Past, ...]] = {}
    for path, moments in entry.histories().items():
        name, last = path.encode(), moments[-1]
        histories[name] = tuple(_pasts(moments, numbers))
        if last.pin is None:
            deleted.add(name)
        else:
            mode = files[name].mode if name in files else last.mode
            files[name] = Wanted(last.pin.sha256, last.pin.length, mode)
    retained: dict[bytes, str] = {}
    for row in entry.retained:
        for path, file in row.files or ():
            retained[path.encode()] = row.name
            files.setdefault(path.encode(), file)
    told = all(stage.files is not None for stage in entry.stages)
    return Expected(
        files=files,
        deleted=frozenset(deleted),
        retained=retained,
        histories=histories,
        stages=stages,
        listed=entry.scope.complete and (bool(entry.table) or told),
    )


def path_scope(scope: Scope) -> Within:
    """Return the paths that a scope means."""
    return Within(map(str.encode, scope.include), map(str.encode, scope.exclude))


class Scoped(NamedTuple):
    """What of a tree lies in the scope, and the paths that only some file systems put there."""

    here: list[TreeEntry]
    near: list[bytes]
    beside: tuple[tuple[bytes, bytes], ...] = ()
    """What a prefix leaves out and some file systems put below it: its name, and where there."""
    empty: frozenset[bytes] = frozenset()
    """Folders without anything in them, where the source can tell."""


def scoped(scope: Scope, entries: list[TreeEntry]) -> Scoped:
    """Look only at the scope, and at what is on the way to it."""
    within = path_scope(scope)
    if within.all:
        return Scoped(entries, [])
    here, near = within.parted(entries, _path)
    return Scoped(here, [entry.path for entry in near])


def _path(entry: TreeEntry) -> bytes:
    return entry.path


def _pasts(moments: tuple[Moment, ...], numbers: dict[str, int]) -> Iterator[Past]:
    starts = [numbers[moment.stage] for moment in moments]
    for moment, first, end in zip(moments, starts, [*starts[1:], len(numbers)], strict=True):
        if moment.known:
            pin = moment.pin
            file = Wanted(pin.sha256, pin.length, moment.mode) if pin else None
            yield Past(first, end, file)
