"""A tree against a composition: whether it stands at the final stage, and nothing else is there.

The steps are those of CHECKS "composition", at a place; `expected` and `files` hold the parts.

1. *Scope*: only what lies in the path scope is looked at; ignored things are listed.
2. *Git tree*: of a whole commit, the tree that the final stage leaves, where that is pinned.
3. *Files*: every listed file is there, of its type, with its bytes; links are never followed.
4. *Stages*: what is not as the final stage leaves it may be as an earlier one did. If one stage
   explains every file, the tree stands there, else it is mixed. Both are refused.
5. *Line ends*: bytes whose CRLF or LF form alone is pinned are named as that, and refused.
6. *Unlisted*: where the entry lists all of its scope, there is nothing else.
7. *Modes*: equal where both sides have one; unknown is not equal.
8. *Retained*: files that had to stay are as they were.

Lineage, patches, stages, orders and components are facets of the proof, not of a place.
"""

from collections.abc import Callable, Iterator
from typing import Final

from verifier.catalog.entries.composition import Composition, StageKind
from verifier.checks.composition import files, told
from verifier.checks.composition.expected import Expected, Scoped, expected
from verifier.checks.composition.files import Compared
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding
from verifier.core.outcome import Identified, Outcome
from verifier.core.value import frozen

__all__ = ["NOT_PROVEN_AT_A_PLACE", "Standing", "check", "unchecked"]

#: What a tree at a place leaves open, and a proof does not.
NOT_PROVEN_AT_A_PLACE: Final = "that the stages follow from their sources (--prove)"
_NEEDS_PROOF: Final = "needs --prove"
_MOST_IGNORED: Final = 4


@frozen
class Standing:
    """What lies in the path scope of a tree (step 1), paths relative to the composition's root.

    `read` returns the bytes of a path, None where they are not to be had. `git_tree` is the id
    of the tree of a whole commit. `whole` says that all was listed, and nothing refused.
    """

    scoped: Scoped
    read: Callable[[bytes], bytes | None]
    git_tree: str | None
    whole: bool
    ignored: tuple[str, ...] = ()
    not_proven: tuple[str, ...] = ()


def check(tree: Standing, entry: Composition) -> Outcome:
    """Check a tree against the final stage of one composition.

    Returns the stage at which it stands, if it is one, every finding, and the coverage of all
    facets of compositions.
    """
    if not tree.whole:
        return unchecked("the source was not read whole", not_proven=tree.not_proven)
    wanted = expected(entry)
    tree_stage = _stage_of_tree(tree.git_tree, entry)  # 2
    seen = files.compare(tree.scoped, wanted, tree.read)  # 3 to 8
    findings = [*seen.findings, *_of_git_tree(tree.git_tree, entry, wanted, tree_stage)]
    stage = tree_stage
    if wanted.files or wanted.deleted:
        if not seen.anything:
            findings = [_not_here(entry)]
        stage = seen.stage
    coverage = tuple(_coverage(entry, wanted, seen, findings, tree_stage))
    findings += _retained_unknown(entry)
    if not entry.scope.complete:
        findings.append(_incomplete(entry))
    return Outcome(
        kind="composition",
        identified=_identified(entry, wanted, stage, findings),
        findings=tuple(findings),
        coverage=coverage,
        not_proven=tuple(_not_proven(tree, entry, wanted)),
    )


def unchecked(
    why: str = "", *, findings: tuple[Finding, ...] = (), not_proven: tuple[str, ...] = ()
) -> Outcome:
    """Return the outcome of a check that did not come about: nothing is identified or held."""
    return Outcome(
        kind="composition",
        identified=(),
        findings=findings,
        coverage=tuple(
            Covered(facet=facet, state=State.NOT_CHECKED, detail=why)
            for facet in FACETS["composition"]
        ),
        not_proven=not_proven,
    )


def _stage_of_tree(git_tree: str | None, entry: Composition) -> int | None:
    """Return the number of the last stage that leaves this git tree."""
    trees = [entry.base.tree, *(stage.tree for stage in entry.stages)]
    found = [number for number, tree in enumerate(trees) if tree and tree == git_tree]
    return found[-1] if found else None


def _of_git_tree(
    git_tree: str | None, entry: Composition, wanted: Expected, stage: int | None
) -> Iterator[Finding]:
    """Say what the commit's tree is, where no file is listed that could say it."""
    pinned = entry.stages[-1].tree
    if stage == wanted.final or wanted.files or wanted.deleted:
        return
    if git_tree is None or pinned is None:
        yield Finding(
            code="composition-files-unknown",
            expected=f"a commit whose tree is {pinned}" if pinned else "an entry that lists files",
            got="no git tree of the whole repository" if pinned else "an entry that lists none",
            remedy="name the whole commit as git:REPO@COMMIT, without a path or --prefix",
        )
    elif stage is not None:
        yield told.earlier(wanted, stage, f"tree {git_tree}")
    else:
        yield Finding(
            code="composition-tree",
            expected=f"tree {pinned}, as {entry.name} has it after stage {wanted.stages[-1]}",
            got=f"tree {git_tree}",
            remedy="name the commit that has the pinned tree",
        )


def _not_here(entry: Composition) -> Finding:
    return Finding(
        code="composition-not-here",
        expected=f"files of {entry.name} in {', '.join(entry.scope.include)}",
        got="none of them",
        cause="another folder was named, or the composition is not installed",
        remedy="name the folder that holds these paths: --prefix says where in SOURCE it lies",
    )


def _incomplete(entry: Composition) -> Finding:
    return Finding(
        code="composition-incomplete",
        expected="an entry with complete = true",
        got=f"only the listed files of {', '.join(entry.scope.include)} are vouched for",
        remedy="judge with a policy that does not demand unlisted, such as region",
    )


def _retained_unknown(entry: Composition) -> Iterator[Finding]:
    for row in entry.retained:
        if row.files is None:
            yield Finding(
                code="composition-retained-unknown",
                expected=f"the files of {row.name}",
                got=f"their number, {row.count}",
                remedy="judge with a policy that does not demand retained",
            )


def _identified(
    entry: Composition, wanted: Expected, stage: int | None, findings: list[Finding]
) -> tuple[Identified, ...]:
    """Say at which stage the tree stands, or that it stands at none or several."""
    codes = {finding.code for finding in findings}
    if codes & {"composition-not-here", "composition-files-unknown"}:
        return ()
    if stage is None:
        standing = "mixed" if "composition-mixed" in codes else "changed"
        return (Identified(entry=entry.name, version=standing, status="no-stage"),)
    final = stage == wanted.final
    name = wanted.stages[stage]
    return (Identified(entry=entry.name, version=name, status="stage", current=final),)


def _coverage(
    entry: Composition,
    wanted: Expected,
    seen: Compared,
    findings: list[Finding],
    tree_stage: int | None,
) -> Iterator[Covered]:
    broken = {finding.row.facet for finding in findings}
    by_tree = tree_stage == wanted.final and not wanted.files and not wanted.deleted
    if by_tree:
        by = f"git tree of stage {wanted.stages[-1]}"
        yield Covered(facet="final-stage", state=State.HELD, detail=by)
        all_of_it = Covered(facet="unlisted", state=State.HELD, detail=by)
        yield all_of_it if entry.scope.complete else _not_listed()
        yield Covered(facet="modes", state=State.HELD, detail=by)
    elif not seen.anything:
        not_held = bool(findings) and findings[0].row.outcome == "rejected"
        final = State.NOT_HELD if not_held else State.NOT_CHECKED
        yield Covered(facet="final-stage", state=final)
        yield Covered(facet="unlisted", state=State.NOT_CHECKED)
        yield Covered(facet="modes", state=State.NOT_CHECKED)
    else:
        yield _final_stage(entry, wanted, seen, broken)
        yield _unlisted(entry, wanted, seen, whole=tree_stage == wanted.final)
        yield _modes(wanted, seen, broken)
    yield from _of_proof(entry)
    yield _retained(entry, wanted, seen)


def _final_stage(entry: Composition, wanted: Expected, seen: Compared, broken: set[str]) -> Covered:
    count = told.counted(len(wanted.files))
    some = "" if wanted.listed else ", all that are listed"
    if "final-stage" in broken or seen.right < len(wanted.files):
        detail = f"{seen.right:,} of {count} as stage {entry.stages[-1].name} leaves them"
        return Covered(facet="final-stage", state=State.NOT_HELD, detail=detail)
    detail = f"{count} as stage {entry.stages[-1].name} leaves them{some}"
    bare = sum(file.length is None for file in wanted.files.values())
    if bare:
        detail += f" · length not pinned of {bare:,}"
        return Covered(facet="final-stage", state=State.HELD_LENGTH_NOT_PINNED, detail=detail)
    return Covered(facet="final-stage", state=State.HELD, detail=detail)


def _not_listed() -> Covered:
    return Covered(
        facet="unlisted",
        state=State.NOT_CHECKED,
        detail="the entry does not list every file of its scope",
    )


def _unlisted(entry: Composition, wanted: Expected, seen: Compared, *, whole: bool) -> Covered:
    """Say whether nothing else is there; `whole` says that the git tree is the pinned one."""
    if not wanted.listed and entry.scope.complete and whole:
        by = f"git tree of stage {wanted.stages[-1]}"
        return Covered(facet="unlisted", state=State.HELD, detail=by)
    if not wanted.listed:
        return _not_listed()
    if seen.strangers:
        found = told.counted(seen.strangers)
        return Covered(facet="unlisted", state=State.NOT_HELD, detail=f"{found} beyond the list")
    detail = f"nothing but {told.counted(seen.in_scope)} in the scope"
    return Covered(facet="unlisted", state=State.HELD, detail=detail)


def _modes(wanted: Expected, seen: Compared, broken: set[str]) -> Covered:
    if "modes" in broken:
        state = State.NOT_HELD if seen.other_modes else State.NOT_CHECKED
        detail = "" if seen.other_modes else f"{seen.modes:,} of {told.counted(len(wanted.files))}"
        return Covered(facet="modes", state=state, detail=detail)
    # A file that is not there, or of another type, has no mode to compare.
    state = State.HELD if seen.modes == len(wanted.files) else State.NOT_CHECKED
    detail = f"{seen.modes:,} of {told.counted(len(wanted.files))}"
    return Covered(facet="modes", state=state, detail=detail)


def _of_proof(entry: Composition) -> Iterator[Covered]:
    """Say which facets only a proof from the sources can hold."""
    kinds = {stage.kind for stage in entry.stages}
    for facet, applies in (
        ("lineage", entry.base.commit is not None),
        ("patches", StageKind.PATCH in kinds),
        ("stages", True),
        ("orders", any(stage.independent for stage in entry.stages)),
        ("components", bool(entry.components)),
    ):
        if applies:
            yield Covered(facet=facet, state=State.NOT_CHECKED, detail=_NEEDS_PROOF)
        else:
            yield Covered(facet=facet, state=State.NOT_APPLICABLE, detail="the entry has none")


def _retained(entry: Composition, wanted: Expected, seen: Compared) -> Covered:
    if not entry.retained:
        return Covered(facet="retained", state=State.NOT_APPLICABLE, detail="the entry has none")
    if any(row.files is None for row in entry.retained):
        unknown = "the entry does not say which files"
        return Covered(facet="retained", state=State.NOT_HELD, detail=unknown)
    if not seen.anything:
        return Covered(facet="retained", state=State.NOT_CHECKED)
    if seen.retained < len(wanted.retained):
        return Covered(facet="retained", state=State.NOT_HELD)
    bare = any(wanted.files[path].length is None for path in wanted.retained)
    state = State.HELD_LENGTH_NOT_PINNED if bare else State.HELD
    return Covered(facet="retained", state=state, detail=told.counted(len(wanted.retained)))


def _not_proven(tree: Standing, entry: Composition, wanted: Expected) -> Iterator[str]:
    yield "what the files do"
    if "./" not in entry.scope.include:
        yield f"what lies outside of {', '.join(entry.scope.include)}"
    if entry.scope.exclude:
        yield f"what lies in {', '.join(entry.scope.exclude)}"
    if not wanted.listed and wanted.files:
        yield "files of the scope that the entry does not list"
    yield NOT_PROVEN_AT_A_PLACE
    yield from tree.not_proven
    if tree.ignored:
        more = len(tree.ignored) - _MOST_IGNORED
        rest = f"; {more:,} more" if more > 0 else ""
        yield f"what was left out: {'; '.join(tree.ignored[:_MOST_IGNORED])}{rest}"
