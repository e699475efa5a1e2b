"""What is wrong with the order of stages, where a preimage is not the one that is pinned.

The pins of all stages say which bytes each makes, so the difference has a name: a stage that
stands before the one it needs (swapped), stands twice (doubled), starts from what a later stage
has changed since (stale), or needs bytes that no stage makes (skipped).
"""

from typing import Final

from verifier.catalog.entries.composition import Change, Composition, Stage
from verifier.checks.composition.state import Found
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable

_REMEDY: Final = "take the stages in the order in which they were published, each once"


def wrong_preimage(
    entry: Composition, stage: Stage, change: Change, before: Found | None
) -> Finding:
    """Name why a file is not what a stage starts from."""
    code, cause = _named(entry, stage, change, before)
    expected = "no file" if change.pre is None else str(change.pre)
    if change.pre is None and before is None:
        expected = "a file"
    return Finding(
        code=code,
        where=Where(path=printable(change.path)),
        expected=expected,
        got="no file" if before is None else str(before.pin),
        cause=f"at stage {stage.name}: {cause}" if cause else f"at stage {stage.name}",
        remedy=_REMEDY,
    )


def _named(
    entry: Composition, stage: Stage, change: Change, before: Found | None
) -> tuple[str, str | None]:
    """Return the code and the words for it."""
    number = entry.stages.index(stage)
    touching = [
        (at, one, row)
        for at, one in enumerate(entry.stages)
        for row in one.files or ()
        if row.path == change.path and one is not stage
    ]
    if _is(before, change.post):
        twin = next((one for at, one, row in touching if at < number and row == change), None)
        if twin is not None:
            return "stage-doubled", f"stage {twin.name} has made the same change before"
        return "stage-doubled", "the file is what this stage makes of it already"
    wanted = change.pre
    makers = [(at, one) for at, one, row in touching if _same(row.post, wanted)]
    later = next((one for at, one in makers if at > number), None)
    if later is not None:
        return "stage-swapped", f"stage {later.name} makes what it starts from, and comes after it"
    earlier = [(at, row) for at, _, row in touching if at < number]
    starts = [row for _, row in earlier if _same(row.pre, wanted)]
    if earlier and (starts or any(at < number for at, _ in makers)):
        last, row = max(earlier, key=lambda found: found[0])
        name = entry.stages[last].name
        if _same(row.post, wanted):
            name = f"{name} makes it, and a later one that lists no files"
        return "stage-stale", f"stage {name} has changed it since: the pin is stale"
    if earlier:
        last = max(at for at, _ in earlier)
        return (
            "stage-skipped",
            f"one is missing behind stage {entry.stages[last].name}, or the pin is stale",
        )
    return "stage-preimage", None


def _is(before: Found | None, pin: Pin | None) -> bool:
    return before is not None and pin is not None and before.matches(pin)


def _same(one: Pin | None, other: Pin | None) -> bool:
    return one is not None and other is not None and one.sha256 == other.sha256
