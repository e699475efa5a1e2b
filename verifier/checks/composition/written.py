"""A composition, written down: the entry that pins what base, target and patches make.

The stages are taken once, exactly as a proof takes them, and every pin is of the bytes that were
seen. What comes out is data for a TOML file; whoever writes it proves it first.

1. *Overlay*: what changes between base and target inside the scope, if there is a target.
2. *Patches*: each read strictly and applied exactly; what it changes are its rows.
3. *Trees*: the git tree of the whole repository after each stage.
4. *Retained*: the other files of the scope, or, of many, a table of all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verifier.catalog.entries.composition import Operation, Scope
from verifier.checks.composition.apply import Applied, apply
from verifier.checks.composition.components import Read
from verifier.checks.composition.lineage import differences
from verifier.checks.composition.patch import Patch, read_patch
from verifier.checks.composition.state import Contents, Found, State
from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.limits import ENTRY_FILES
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.tree import FILE_MODE, GITLINK_MODE


class Origins(NamedTuple):
    """Commits of base and target, None of plain trees, and where they are published."""

    base: str | None
    target: str | None
    repository: str | None


class Step(NamedTuple):
    """A patch that becomes a stage of that name; `path` says where it was published."""

    name: str
    data: bytes
    path: str | None


@frozen
class Written:
    """An entry as data, and the rows of its files table, None where it needs none."""

    entry: dict[str, Any]
    table: dict[str, str] | None


def write_down(
    name: str,
    project: str,
    *,
    origins: Origins,
    scope: Scope,
    base: Read,
    target: Read | None,
    patches: Sequence[Step],
    contents: Contents,
) -> Written | tuple[Finding, ...]:
    """Return the entry, or why there can be none: a patch that is refused, a submodule."""
    state = State(base.entries, contents, base.hex_length)
    entry: dict[str, Any] = {"schema": "composition/v1", "name": name, "project": project}
    if origins.base is None and state.tree() is None:
        return (_no_tree(),)
    entry["base"] = _origin(origins.base, state.tree(), origins.repository)
    stages: list[dict[str, Any]] = []
    if target is not None:
        goal = State(target.entries, contents, target.hex_length)
        entry["target"] = _origin(origins.target, goal.tree(), None)
        stages.append(_overlay(state, goal.files, scope))
    for step in patches:
        stage = _patch(state, step, scope)
        if not isinstance(stage, dict):
            return stage
        stages.append(stage)
    if not stages or not all(stage["files"] for stage in stages):
        return (_nothing(scope),)
    here = {path.decode(): file for path, file in state.files.items() if scope.holds(_text(path))}
    links = [path for path, file in here.items() if file.mode == GITLINK_MODE]
    if links:
        return (_submodule(links[0]),)
    entry["scope"] = {
        "include": list(scope.include),
        **({"exclude": list(scope.exclude)} if scope.exclude else {}),
        "complete": True,
    }
    entry["stage"] = stages
    changed = {row["path"] for stage in stages for row in stage["files"]}
    kept = {path: file for path, file in here.items() if path not in changed}
    if len(here) > ENTRY_FILES:
        return Written(entry=entry, table={path: _row(file) for path, file in sorted(here.items())})
    if kept:
        rows = [
            {"path": path, **_pin(file), "mode": _mode(file)} for path, file in sorted(kept.items())
        ]
        entry["retained"] = [{"name": "untouched", "count": len(rows), "files": rows}]
    return Written(entry=entry, table=None)


def _overlay(state: State, goal: Mapping[bytes, Found], scope: Scope) -> dict[str, Any]:
    rows = []
    for path, operation in differences(scope, state.files, goal).items():
        before, after = state.files.get(path), goal.get(path)
        rows.append(_change(path, operation, before, after))
        if after is None:
            state.remove(path)
        else:
            state.put(path, after)
    return {"name": "overlay", "kind": "overlay", "tree": state.tree(), "files": rows}


def _patch(state: State, step: Step, scope: Scope) -> dict[str, Any] | tuple[Finding, ...]:
    read = read_patch(step.data, name=step.name)
    if not isinstance(read, Patch):
        return (read,)
    state.expect(change.path for change in read.files)
    rows = []
    for change in read.files:
        if not scope.holds(_text(change.path)):
            return (_outside(change.path, step),)
        before = state.files.get(change.path)
        done = apply(change, state.data(change.path), patch=step.name)
        if not isinstance(done, Applied):
            return done
        if done.data is None:
            state.remove(change.path)
        else:
            kept = FILE_MODE if before is None else before.mode
            mode = kept if change.mode is None else change.mode
            state.put_bytes(change.path, done.data, mode)
        operation = Operation(change.operation)
        rows.append(_change(change.path, operation, before, state.files.get(change.path)))
    patch = {"sha256": (pin := Pin.of(step.data)).sha256, "length": pin.length}
    if step.path is not None:
        patch["path"] = step.path
    return {
        "name": step.name,
        "kind": "patch",
        "tree": state.tree(),
        "patch": patch,
        "files": rows,
    }


def _origin(commit: str | None, tree: str | None, repository: str | None) -> dict[str, str]:
    found = {} if commit is None else {"commit": commit}
    if tree is not None:
        found["tree"] = tree
    return {"repository": repository, **found} if repository is not None else found


def _change(
    path: bytes, operation: Operation, before: Found | None, after: Found | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"path": path.decode(), "operation": str(operation)}
    if before is not None:
        row["pre"] = _pin(before)
    if after is not None:
        row["post"] = _pin(after)
        row["mode"] = _mode(after)
    return row


def _pin(file: Found) -> dict[str, Any]:
    return {"sha256": file.sha256, "length": file.length}


def _mode(file: Found) -> str:
    return f"{FILE_MODE if file.mode is None else file.mode:o}"


def _row(file: Found) -> str:
    return f"{file.sha256} {file.length} {_mode(file)}"


def _text(path: bytes) -> str:
    return path.decode(errors="surrogateescape")


def _no_tree() -> Finding:
    return Finding(
        code="lineage-unread",
        where=Where(path="base"),
        expected="files and links alone, none of them too large, as a git tree holds them",
        got="a tree without an id",
        remedy="pin it from a clone: --base COMMIT",
    )


def _nothing(scope: Scope) -> Finding:
    return Finding(
        code="lineage-unchanged",
        expected=f"a change inside {', '.join(scope.include)} at every stage",
        got="none",
        remedy="name another scope, a later target, or a patch",
    )


def _outside(path: bytes, step: Step) -> Finding:
    return Finding(
        code="stage-unlisted",
        where=Where(path=printable(_text(path))),
        expected="patches that change files of the scope alone",
        got=f"patch {step.name} changes it",
        remedy="widen the scope: --include names folders as folder/, or ./ for all",
    )


def _submodule(path: str) -> Finding:
    return Finding(
        code="stage-mode",
        where=Where(path=printable(path)),
        expected="files and links",
        got="a submodule",
        remedy="leave it out of the scope: --exclude PATH; pin its repository as a component",
    )
