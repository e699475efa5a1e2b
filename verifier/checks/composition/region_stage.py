"""A stage of regions, taken again: the preimage with a registered helper version in it.

1. The version is registered and was published, and the stage replaces one file, its host.
2. Where the postimage is at hand: it differs from the preimage by what an install of the version
   writes, and by no other byte.
3. Where it is not: the version's texts are looked for in the preimage and in the source, each
   proved by its pin, and put in as an installer does.

Finding, taking out and putting in are those of `checks.helper.install`, and the registry's entry
says what the regions are: nothing of others is run (CHECKS "composition", "helper").
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from verifier.catalog.entries.composition import Change, Operation, Stage
from verifier.catalog.entries.helper import Lineage, Published, Version
from verifier.checks.composition.stage_finding import stage_finding
from verifier.checks.helper.install import Bare, compared, installed_in, put_in, taken_out
from verifier.checks.helper.payload import Search
from verifier.checks.helper.regions import Installed
from verifier.core.finding import Finding
from verifier.core.value import frozen


@frozen
class Helpers:
    """What stages of regions are taken from.

    `lineages` returns the version that a stage names, None where the registry has none.
    `texts` returns the files of the source, each with whether it may be Python.
    """

    lineages: Callable[[str], tuple[Lineage, Version] | None] = lambda _: None
    texts: Callable[[], Iterable[tuple[bytes, bool]]] = field(default=lambda: iter(()))


def taken(
    stage: Stage, change: Change, before: bytes, after: bytes | None, helpers: Helpers
) -> bytes | Finding:
    """Return what the stage makes of `before`; `after` is the postimage where it is at hand."""
    named = helpers.lineages(stage.regions or "")
    if named is None or named[1].body is None:
        return _finding("stage-regions-unknown", stage, change, got="it is not registered")
    lineage, version = named
    if len(stage.files or ()) != 1 or change.operation is not Operation.REPLACE:
        got = f"{len(stage.files or ())} files, and to {change.operation} one"
        return _finding("stage-regions", stage, change, expected="one host, changed", got=got)
    if after is not None:
        moved = compared(before, installed_in(before, lineage), after, lineage)
        if moved is not None and moved.after and moved.after.helper.version == version:
            return after
        got = "other bytes too" if moved is None else _standing(moved.after)
        what = f"the preimage, but for {stage.regions}"
        return _finding("stage-regions", stage, change, expected=what, got=got)
    return _put_in(stage, change, before, (lineage, version, named[1].body), helpers)


def version_in(data: bytes, lineage: Lineage, version: Version) -> Installed | None:
    """Find a version with all its sites in a host; None if another stands there, or none."""
    found = installed_in(data, lineage)
    return found if found is not None and found.helper.version == version else None


def _put_in(
    stage: Stage,
    change: Change,
    before: bytes,
    wanted: tuple[Lineage, Version, Published],
    helpers: Helpers,
) -> bytes | Finding:
    lineage, version, body = wanted
    search = Search(lineage, version, body)
    search.look(before)
    looked = list(_looked_at(search, helpers))
    if not search.complete:
        missing = search.missing(looked, looked_at="the preimage and the source")
        return _finding(
            "stage-regions-unknown", stage, change, expected=missing.expected, got=missing.got
        )
    installed = installed_in(before, lineage)
    if installed is None and not lineage.end_anchors:
        what = f"the postimage {change.post}, since no anchor of {lineage.name} is registered"
        return _finding("stage-regions-unknown", stage, change, expected=what, got="not at hand")
    bare = taken_out(before, installed) if installed else Bare(data=before, contexts={})
    made = put_in(bare, lineage, body, search.pieces())
    if isinstance(made, Finding):
        return _finding(
            "stage-regions",
            stage,
            change,
            expected=made.expected,
            got=made.got,
            line=made.where.line,
        )
    return made


def _looked_at(search: Search, helpers: Helpers) -> Iterator[bytes]:
    """Look through the source until all is found."""
    for data, python in () if search.complete else helpers.texts():
        search.look_at_file(data, python=python)
        yield data
        if search.complete:
            return


def _standing(installed: Installed | None) -> str:
    return f"version {installed.helper.version.id}" if installed else "no published version in it"


def _finding(
    code: str,
    stage: Stage,
    change: Change,
    *,
    expected: str | None = None,
    got: str | None = None,
    line: int | None = None,
) -> Finding:
    wanted = expected or f"a published version {stage.regions}"
    return stage_finding(code, stage, change.path.encode(), expected=wanted, got=got, line=line)
