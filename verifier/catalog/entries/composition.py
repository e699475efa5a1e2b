"""composition/v1: a base, ordered stages on top of it, and what the last of them leaves.

A *stage* replaces whole files (`overlay`), applies a patch (`patch`), writes the regions of a
helper lineage (`regions`), or brings a component (`component`). Each names the files that it
changes with their pins before and after it, so the state of a file at every stage follows from
the entry alone; the final stage is always the measure. No text of any file is held: digests and
lengths are enough (law 6). FORMATS §2 is the source of every field; `composition_format` reads
them, `composition_chain` checks what holds between stages, `composition_rows` lists the pins.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from verifier.core.digest import Pin
from verifier.core.value import frozen


class Operation(StrEnum):
    """What a stage does to a file."""

    ADD = "add"
    REPLACE = "replace"
    DELETE = "delete"


class StageKind(StrEnum):
    """How a stage changes files."""

    OVERLAY = "overlay"
    PATCH = "patch"
    REGIONS = "regions"
    COMPONENT = "component"


class Agreement(StrEnum):
    """What has to be the same in whichever order stages that are independent are taken."""

    BYTES = "bytes"
    SYNTAX = "syntax"


class Wanted(NamedTuple):
    """A file as it has to be: content, and mode where that is pinned too."""

    sha256: str
    length: int | None
    mode: int | None


class Change(NamedTuple):
    """What one stage does to one file.

    `pre` is None of an `add`, and where an incomplete entry does not know it; `post` is None of
    a `delete`. `mode` is the git mode after the stage, None where it is not pinned.
    """

    path: str
    operation: Operation
    pre: Pin | None
    post: Pin | None
    mode: int | None


@frozen
class NativeInput:
    """A path whose git object is the same in base and target; `id` where it is published."""

    path: str
    id: str | None


@frozen
class Origin:
    """A commit of a repository, or the tree of one; at least one of the two is known."""

    repository: str | None
    commit: str | None
    tree: str | None
    native_inputs: tuple[NativeInput, ...] = ()
    """Of the base alone: what the target must not have changed."""


@frozen
class Published:
    """Where the composition itself was published."""

    commit: str
    path: str


@frozen
class Scope:
    """The paths that the composition speaks of: exact, or folders that end in `/`; `./` is all.

    `complete` says that every file in it is listed; without it only listed ones are vouched for.
    """

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    complete: bool

    def holds(self, path: str) -> bool:
        """Whether a path, relative to the root of the tree, lies in the scope."""
        return _any(self.include, path) and not _any(self.exclude, path)


@frozen
class Manifest:
    """The manifest that the overlay was published with, and how many rows it has."""

    schema: str
    pin: Pin
    rows: int
    added: int | None


@frozen
class Patch:
    """The patch file of a stage. `path` says where it was published, and is never followed."""

    pin: Pin
    path: str | None


@frozen
class Stage:
    """One step. `files` is None where it is not known which files it changes.

    `tree` is the git tree of the whole repository after it. `regions` names the helper version
    that a stage of that kind writes, as `lineage/version`. `independent` marks the stages that
    may be taken in any order among each other, and what then has to agree.
    """

    name: str
    kind: StageKind
    files: tuple[Change, ...] | None
    patch: Patch | None = None
    component: str | None = None
    regions: str | None = None
    independent: Agreement | None = None
    tree: str | None = None


@frozen
class SourceDigest:
    """A digest over the folder `root` of a component, by a named algorithm."""

    algorithm: str
    root: str
    sha256: str


@frozen
class Component:
    """Another repository that goes into the composition."""

    name: str
    repository: str | None
    commit: str | None
    tree: str | None
    sources: tuple[SourceDigest, ...]
    contract: Pin | None


@frozen
class Retained:
    """Files that no stage may change. Without `files` only their number is known."""

    name: str
    count: int | None
    files: tuple[tuple[str, Wanted], ...] | None


@frozen
class FilesTable:
    """The JSON beside an entry that lists every file of the final stage in the scope."""

    path: str
    pin: Pin


class Moment(NamedTuple):
    """A file after one stage. `known` is False where the entry does not say.

    `pin` is None where the file does not exist, or is not known. `stage` is "base" before all.
    """

    stage: str
    known: bool
    pin: Pin | None
    mode: int | None


@frozen
class Composition:
    """A parsed composition/v1 entry; every invariant that needs no content holds.

    `table` holds the rows of `files_table` by path, once the catalog has read them.
    """

    name: str
    project: str
    source: Published | None
    base: Origin
    target: Origin | None
    scope: Scope
    manifest: Manifest | None
    stages: tuple[Stage, ...]
    components: tuple[Component, ...]
    retained: tuple[Retained, ...]
    files_table: FilesTable | None
    table: Mapping[str, Wanted] = field(default_factory=dict)

    def component(self, name: str) -> Component | None:
        """Find a component by its name."""
        return next((c for c in self.components if c.name == name), None)

    def changes(self) -> Iterator[tuple[Stage, Change]]:
        """Every change that the entry lists, in the order of the stages."""
        return ((stage, change) for stage in self.stages for change in stage.files or ())

    def histories(self) -> dict[str, tuple[Moment, ...]]:
        """Return each path that a stage changes as it is at the base and after each change."""
        found: dict[str, list[Moment]] = {}
        for stage, change in self.changes():
            moments = found.setdefault(change.path, [])
            if not moments:
                known = change.pre is not None or change.operation is Operation.ADD
                moments.append(Moment("base", known, change.pre, None))
            mode = change.mode
            if mode is None and change.operation is Operation.REPLACE:
                mode = moments[-1].mode
            moments.append(Moment(stage.name, known=True, pin=change.post, mode=mode))
        return {path: tuple(moments) for path, moments in found.items()}


def _any(patterns: tuple[str, ...], path: str) -> bool:
    return any(
        pattern in ("./", path) or (pattern[-1] == "/" and path.startswith(pattern))
        for pattern in patterns
    )
