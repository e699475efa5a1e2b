"""What the stages leave in the end, against what the entry lists of its final stage.

1. *Listed*: every file that the entry lists of its final stage, by a stage, its files table or as
   retained, is in the computed tree: as a file or a link, with its pin, and with its mode where
   that is pinned.
2. *Unlisted*: where the entry lists all of its scope, the computed tree has nothing else in it.

A path of which something is said already is not named again.
"""

from collections.abc import Collection, Iterator
from typing import Final

from verifier.catalog.entries.composition import Composition, Wanted
from verifier.checks.composition.expected import Expected, expected
from verifier.checks.composition.stage_finding import shown
from verifier.checks.composition.state import Found, State
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.sources.tree import GITLINK_MODE, LINK_MODE

_REMEDY: Final = (
    "compare the entry with what was published, and have it written anew: pin composition"
)


def check_final(entry: Composition, state: State, said: Collection[Finding]) -> Iterator[Finding]:
    """Compare the tree behind the last stage with the entry, in both directions."""
    if state.lost is not None:
        return
    wanted = expected(entry)
    named = {finding.where.path for finding in said}
    for path, file in sorted(wanted.files.items()):  # 1
        wrong = _wrong(state.files.get(path), file)
        if wrong is not None and shown(path) not in named:
            yield _differs(path, wrong, wanted)
    if not wanted.listed:
        return
    for path in sorted(state.files.keys() - wanted.files.keys()):  # 2
        text = path.decode(errors="surrogateescape")
        if entry.scope.holds(text) and shown(path) not in named:
            yield Finding(
                code="stage-final-unlisted",
                where=Where(path=shown(path)),
                expected="nothing in the scope but what the entry lists: complete = true",
                got=str(state.files[path].pin),
                cause="the stages leave it, and no stage, table or retained row lists it",
                remedy=_REMEDY,
            )


def _differs(path: bytes, wrong: tuple[str, str], wanted: Expected) -> Finding:
    row = wanted.retained.get(path)
    return Finding(
        code="stage-final" if row is None else "retained-changed",
        where=Where(path=shown(path)),
        expected=wrong[0],
        got=wrong[1],
        cause="the stages leave it otherwise" if row is None else f"retained {row}",
        remedy=_REMEDY,
    )


def _wrong(found: Found | None, file: Wanted) -> tuple[str, str] | None:
    """Say what was expected and what is there, None where that is the same."""
    pin = Pin(sha256=file.sha256, length=file.length)
    if found is None:
        return str(pin), "no file"
    kind = "a link" if file.mode == LINK_MODE else "a regular file"
    there = {LINK_MODE: "a link", GITLINK_MODE: "a submodule"}.get(
        found.mode or 0, "a regular file"
    )
    if found.mode is not None and there != kind:
        return f"{kind} {pin}", there
    if not found.matches(pin):
        return str(pin), str(found.pin)
    if file.mode is not None and found.mode is not None and file.mode != found.mode:
        return f"mode {file.mode:o}", f"mode {found.mode:o}"
    return None
