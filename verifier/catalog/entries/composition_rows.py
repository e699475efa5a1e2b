"""Every digest of a composition as a row of its own: what the look-up index is made of."""

from collections.abc import Iterator
from typing import NamedTuple

from verifier.catalog.entries.composition import Component, Composition, Stage, Wanted
from verifier.catalog.entries.helper import PinRow
from verifier.catalog.index import Row
from verifier.core.digest import Pin


class IdRow(NamedTuple):
    """One git id of an entry: its row, kind, the id, and what it is of."""

    row: str
    kind: str
    id: str
    what: str


def pins(entry: Composition) -> Iterator[PinRow]:
    """Return every pin of the entry."""
    if entry.manifest:
        yield PinRow("manifest", "file", entry.manifest.pin, "the manifest of its overlay")
    for stage in entry.stages:
        yield from _of_stage(stage)
    for component in entry.components:
        yield from _of_component(component)
    for retained in entry.retained:
        for path, file in retained.files or ():
            yield PinRow(
                f"retained/{retained.name}/{path}", "file", pin_of(file), f"{path}, retained"
            )
    for path, file in entry.table.items():
        yield PinRow(f"table/{path}", "file", pin_of(file), f"{path} at the final stage")


def ids(entry: Composition) -> Iterator[IdRow]:
    """Return every git id of the entry."""
    origins = (("base", entry.base), ("target", entry.target))
    named = [(at, f"its {at}", o.commit, o.tree) for at, o in origins if o]
    named += [(f"stage/{s.name}", f"stage {s.name}", None, s.tree) for s in entry.stages]
    named += [
        (f"component/{c.name}", f"component {c.name}", c.commit, c.tree) for c in entry.components
    ]
    for at, what, commit, tree in named:
        if commit:
            yield IdRow(f"{at}/commit", "git-commit", commit, f"the commit of {what}")
        if tree:
            yield IdRow(f"{at}/tree", "git-tree", tree, f"the tree of {what}")


def hints(entry: Composition) -> Iterator[tuple[str, Row]]:
    """Return what the look-up index holds of the entry: digest or id, and row."""
    for pin in pins(entry):
        yield pin.pin.sha256, Row(pin.kind, "composition", entry.name, pin.row)
    for found in ids(entry):
        yield found.id, Row(found.kind, "composition", entry.name, found.row)


def pin_of(file: Wanted) -> Pin:
    """Return what a file's content has to be."""
    return Pin(sha256=file.sha256, length=file.length)


def _of_stage(stage: Stage) -> Iterator[PinRow]:
    at = f"stage/{stage.name}"
    if stage.patch:
        yield PinRow(f"{at}/patch", "file", stage.patch.pin, f"the patch of stage {stage.name}")
    for change in stage.files or ():
        if change.pre:
            what = f"{change.path} before stage {stage.name}"
            yield PinRow(f"{at}/pre/{change.path}", "file", change.pre, what)
        if change.post:
            what = f"{change.path} after stage {stage.name}"
            yield PinRow(f"{at}/post/{change.path}", "file", change.post, what)


def _of_component(component: Component) -> Iterator[PinRow]:
    at, name = f"component/{component.name}", component.name
    if component.contract:
        yield PinRow(f"{at}/contract", "file", component.contract, f"the contract of {name}")
    for source in component.sources:
        what = f"the source of {name} below {source.root}, by {source.algorithm}"
        row = f"{at}/source/{source.algorithm}/{source.root}"
        yield PinRow(row, "source", Pin(sha256=source.sha256, length=None), what)
