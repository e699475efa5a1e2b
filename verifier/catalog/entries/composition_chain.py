"""What holds between the stages of a composition, as far as the entry alone can show it.

Walking the stages in order, every preimage has to be what the stages before left: a file that is
added does not exist, one that is replaced or deleted does, with the pin of the last postimage.
A stage whose files are not known makes what came before it unknown. Sources: issue "Composed
sources", bad input; CHECKS "composition".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from verifier.catalog.entries.composition import (
    Change,
    Composition,
    Moment,
    Operation,
    Stage,
    StageKind,
    Wanted,
)
from verifier.core.digest import Pin
from verifier.core.printable import quoted
from verifier.core.table import Table

#: What reports call a tree that stands at no stage: before all, at several, at none.
RESERVED: Final = frozenset({"base", "mixed", "changed"})


def check(table: Table, entry: Composition) -> None:
    """Note every contradiction of an entry whose values are sound by themselves."""
    for what, names in (
        ("stage", [stage.name for stage in entry.stages]),
        ("component", [component.name for component in entry.components]),
        ("retained", [retained.name for retained in entry.retained]),
    ):
        for name in repeated(names):
            table.mistake(what, f"{name} is given twice")
    if not entry.stages:
        table.mistake("stage", "missing: a composition has at least one")
    for name in sorted(RESERVED & {stage.name for stage in entry.stages}):
        table.mistake("stage", f"{name} is a word of reports, and no stage's name")
    _check_stages(table, entry)
    _check_chain(table, entry)
    _check_retained(table, entry)
    _check_manifest(table, entry)
    if entry.scope.complete:
        _check_complete(table, entry)
    if entry.files_table and entry.files_table.path != f"{entry.name}.files.json":
        table.mistake("files_table.path", f"is not {entry.name}.files.json")


def contradictions(entry: Composition, rows: Mapping[str, Wanted]) -> Iterator[str]:
    """Name where the files table says something else than stages and retained files."""
    for path, moments in entry.histories().items():
        last, row = moments[-1], rows.get(path)
        if last.pin is None and row is not None:
            yield f"{quoted(path)}: stage {last.stage} deletes it"
        elif last.pin is not None and (row is None or not _same(_pin(row), last.pin)):
            yield f"{quoted(path)}: is not what stage {last.stage} leaves"
        elif last.pin is not None and row and last.mode not in (None, row.mode):
            yield f"{quoted(path)}: has another mode than stage {last.stage} leaves"
    for retained in entry.retained:
        for path, file in retained.files or ():
            row = rows.get(path)
            if row is None or not _same(_pin(row), _pin(file)):
                yield f"{quoted(path)}: is not what retained {retained.name} says"
            elif file.mode not in (None, row.mode):
                yield f"{quoted(path)}: has another mode than retained {retained.name} says"
    yield from _files_above(rows)


def _files_above(rows: Mapping[str, Wanted]) -> Iterator[str]:
    """Name the rows that lie below another row, which is a file."""
    folders = {path.rpartition("/")[0] for path in rows}
    clear: set[str] = {""}
    for folder in sorted(folders):
        above = folder
        while above not in clear:
            if above in rows:
                yield f"{quoted(above)}: is a file, and others lie below it"
                break
            above = above.rpartition("/")[0]
        else:
            clear.add(folder)


def repeated(values: Iterable[str]) -> list[str]:
    """Return the values that occur more than once, in order."""
    return [value for value, count in Counter(values).items() if count > 1]


def _check_stages(table: Table, entry: Composition) -> None:
    known = {component.name for component in entry.components}
    marked = [stage for stage in entry.stages if stage.independent]
    if len(marked) == 1:
        table.mistake(_at(entry, marked[0]), "independent: there is no other such stage")
    numbers = [number for number, stage in enumerate(entry.stages) if stage.independent]
    between = entry.stages[numbers[0] : numbers[-1]] if numbers else ()
    for stage in between:
        if not stage.independent:
            # Their orders are tried on one tree, so nothing may come in between.
            table.mistake(_at(entry, stage), "stands between stages that are independent")
    if len({stage.independent for stage in marked}) > 1:
        table.mistake("stage", "independent: the stages do not name the same agreement")
    for stage in entry.stages:
        at = _at(entry, stage)
        for path in repeated(change.path for change in stage.files or ()):
            table.mistake(at, f"{quoted(path)} is listed twice")
        if stage.component is not None and stage.component not in known:
            table.mistake(f"{at}.component", f"there is no component {stage.component}")
        if stage.independent and stage.files is None:
            table.mistake(f"{at}.independent", "its files are not known")
    for second in [s for s in entry.stages if s.kind is StageKind.OVERLAY][1:]:
        table.mistake(_at(entry, second), "a second overlay: there is one target")


def _check_chain(table: Table, entry: Composition) -> None:
    state: dict[str, Moment] = {}
    for number, stage in enumerate(entry.stages):
        if stage.files is None and stage.kind is not StageKind.COMPONENT:
            state.clear()
        for row, change in enumerate(stage.files or ()):
            at = f"stage[{number}].files[{row}]"
            before = state.get(change.path)
            wrong = _contradiction(change, before)
            if wrong:
                table.mistake(at, f"{quoted(change.path)} {wrong}")
            for clash in _in_the_way(change, state):
                table.mistake(at, f"{quoted(change.path)} {clash}")
            mode = change.mode if change.mode is not None else before and before.mode
            state[change.path] = Moment(stage.name, known=True, pin=change.post, mode=mode)


def _contradiction(change: Change, before: Moment | None) -> str | None:
    """Say what is wrong with a change after what the stages before it left, if anything is."""
    if before is None:
        return _no_change(change, None)
    exists = before.pin is not None
    if change.operation is Operation.ADD:
        return f"is added, but exists after stage {before.stage}" if exists else None
    if not exists:
        return f"does not exist after stage {before.stage}: its preimage cannot be reached"
    if change.pre and before.pin and not _same(change.pre, before.pin):
        left = before.pin.sha256[:12]
        return f"has the preimage {change.pre.sha256[:12]}, but stage {before.stage} leaves {left}"
    return _no_change(change, before)


def _no_change(change: Change, before: Moment | None) -> str | None:
    """Say that a change does nothing, or gives one digest two lengths."""
    if not (change.pre and change.post) or change.pre.sha256 != change.post.sha256:
        return None
    if not _same(change.pre, change.post):
        return "has one digest with two lengths"
    same_mode = change.mode is None or (before and before.mode == change.mode)
    return "is not changed by this stage" if same_mode else None


def _in_the_way(change: Change, state: Mapping[str, Moment]) -> Iterator[str]:
    """Name a file that stands where a folder above this one would have to."""
    above = change.path.rpartition("/")[0]
    while above and change.post:
        moment = state.get(above)
        if moment and moment.pin:
            yield f"lies below {quoted(above)}, a file after stage {moment.stage}"
        above = above.rpartition("/")[0]


def _check_retained(table: Table, entry: Composition) -> None:
    changed = {change.path: stage.name for stage, change in entry.changes()}
    paths = [path for retained in entry.retained for path, _ in retained.files or ()]
    for path in repeated(paths):
        table.mistake("retained", f"{quoted(path)} is listed twice")
    for path in dict.fromkeys(paths):
        if path in changed:
            table.mistake("retained", f"{quoted(path)} is changed by stage {changed[path]}")


def _check_manifest(table: Table, entry: Composition) -> None:
    overlay = next((s for s in entry.stages if s.kind is StageKind.OVERLAY), None)
    if entry.manifest is None:
        return
    if overlay is None:
        table.mistake("manifest", "there is no overlay that it could be of")
        return
    files = overlay.files or ()
    added = sum(change.operation is Operation.ADD for change in files)
    for key, listed, said in (
        ("rows", len(files), entry.manifest.rows),
        ("added", added, entry.manifest.added),
    ):
        if said is not None and overlay.files is not None and _more(listed, said, entry):
            table.mistake(f"manifest.{key}", f"{said}, but the overlay lists {listed}")


def _more(listed: int, said: int, entry: Composition) -> bool:
    return listed != said if entry.scope.complete else listed > said


def _check_complete(table: Table, entry: Composition) -> None:
    """Refuse to call complete what leaves open which files there are.

    A files table lists them, and the git tree of the final stage stands for all of them.
    """
    if entry.files_table or (entry.stages and entry.stages[-1].tree):
        return
    for stage in entry.stages:
        if stage.files is None:
            table.mistake(_at(entry, stage), "its files are not known, but the scope is complete")
    for number, retained in enumerate(entry.retained):
        if retained.files is None:
            what = f"retained[{number}]"
            table.mistake(what, "its files are not known, but the scope is complete")


def _at(entry: Composition, stage: Stage) -> str:
    return f"stage[{entry.stages.index(stage)}]"


def _pin(file: Wanted) -> Pin:
    return Pin(sha256=file.sha256, length=file.length)


def _same(one: Pin, other: Pin) -> bool:
    """Whether two pins can be of the same bytes; a length that is not known fits any."""
    lengths = {one.length, other.length} - {None}
    return one.sha256 == other.sha256 and len(lengths) <= 1
