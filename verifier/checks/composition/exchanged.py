"""A stage whose patch does not make what is pinned, and another stage's patch that says why.

The pins of a stage say what its patch has to make. Where its own does not, the patches of the
other stages are tried on the same files: the right one may have been given to another stage, be
given twice, or be needed first. Nothing of it is kept.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from verifier.catalog.entries.composition import Composition, Stage
from verifier.checks.composition.apply import Applied, apply
from verifier.checks.composition.patch import Patch, read_patch
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where

#: What names the trouble by the pins alone.
WRONG_ORDER: Final = ("stage-swapped", "stage-doubled", "stage-skipped", "stage-stale")
#: Returns the bytes of a file before the stage, None where there is none.
Read = Callable[[bytes], bytes | None]


def exchanged(
    entry: Composition, stage: Stage, read: Read, patches: Mapping[str, bytes]
) -> Finding | None:
    """Name the stage whose patch explains why the own one does not make what is pinned."""
    own = _patch(stage, patches)
    if own is None or not stage.files or _makes(stage, _taken(own, read)):
        return None
    for other, patch in _others(entry, stage, patches):
        if other.patch and stage.patch and other.patch.pin.sha256 == stage.patch.pin.sha256:
            return _finding(stage, f"the patch of stage {other.name}, a second time")
        if _makes(stage, _taken(patch, read)):
            return _finding(stage, f"another: the patch of stage {other.name} makes them")
    at = entry.stages.index(stage)
    for other, patch in _others(entry, stage, patches):
        first = _taken(patch, read) if entry.stages.index(other) > at else None
        if first is None:
            continue
        if _makes(stage, _taken(own, partial(_after, first, read))):
            return Finding(
                code="stage-swapped",
                where=Where(path=f"stage {stage.name}"),
                expected=f"stage {other.name} before stage {stage.name}, which needs it",
                got=f"stage {other.name} behind it",
                cause="only behind it does the patch make the files that are pinned",
                remedy="take the stages in the order in which they were published, each once",
            )
    return None


def _finding(stage: Stage, got: str) -> Finding:
    return Finding(
        code="patch-exchanged",
        where=Where(path=f"stage {stage.name}"),
        expected=f"the patch that makes the files of stage {stage.name} as they are pinned",
        got=got,
        remedy="give each stage the patch that was published for it, and pin that",
    )


def _others(
    entry: Composition, stage: Stage, patches: Mapping[str, bytes]
) -> Iterator[tuple[Stage, Patch]]:
    for other in entry.stages:
        patch = _patch(other, patches) if other is not stage else None
        if patch is not None:
            yield other, patch


def _patch(stage: Stage, patches: Mapping[str, bytes]) -> Patch | None:
    data = patches.get(stage.name)
    if data is None or stage.patch is None or not stage.patch.pin.matches(data):
        return None
    patch = read_patch(data, name=stage.name)
    return patch if isinstance(patch, Patch) else None


def _taken(patch: Patch, read: Read) -> dict[bytes, bytes | None] | None:
    """Return the files that a patch makes, None unless all of it applies."""
    made: dict[bytes, bytes | None] = {}
    for part in patch.files:
        done = apply(part, read(part.path), patch="")
        if not isinstance(done, Applied):
            return None
        made[part.path] = done.data
    return made


def _after(first: Mapping[bytes, bytes | None], read: Read, path: bytes) -> bytes | None:
    return first[path] if path in first else read(path)


def _makes(stage: Stage, made: Mapping[bytes, bytes | None] | None) -> bool:
    """Whether these are the files that a stage lists, as it pins them."""
    rows = {change.path.encode(): change.post for change in stage.files or ()}
    return (
        made is not None
        and made.keys() == rows.keys()
        and all(_is(data, rows[path]) for path, data in made.items())
    )


def _is(data: bytes | None, pin: Pin | None) -> bool:
    return data is None if pin is None else data is not None and pin.matches(data)
