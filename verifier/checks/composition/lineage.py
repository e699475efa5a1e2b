"""Base and target of a composition: that they are the pinned ones, and what lies between them.

1. *Trees*: the git tree of each, computed by us from its entries, is the pinned one.
2. *Ancestry*: the base is an ancestor of the target, so that it is their merge base; of plain
   trees there is no history, and the report says that.
3. *Difference*: our own comparison of the two trees inside the scope is what the overlay lists,
   path by path and operation by operation, and has as many rows as its manifest counts.
4. *Manifest*: its bytes have the pin, and its rows are the overlay's, where its schema is read.
5. *Native inputs*: the same git object in base and target, with the pinned id where one is.

Source: CHECKS "composition"; what it stands for at the installer is checks 1 to 5 of the
reference on compositions (its section 4).
"""

from collections.abc import Iterator, Mapping
from typing import Final, Self

from verifier.catalog.entries.composition import Composition, Operation, Origin, Scope, StageKind
from verifier.checks.composition.manifest import check_manifest
from verifier.checks.composition.state import Found, State
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.git.history import Unknown

NO_HISTORY: Final = "that the base came before the target: they are trees without a history"
_ASK = "name clones of the repositories that the entry means, with their whole history"
_ENTRY = "compare the entry with what was published; if the entry is wrong, report it"


@frozen
class Ancestry:
    """Whether the base is an ancestor of the target; `known` is False where history ends early."""

    known: bool
    holds: bool = False
    why: str = ""

    @classmethod
    def of(cls, answer: bool | Unknown) -> Self:  # noqa: FBT001  (a value that is turned into another)
        """Turn an answer, or why there is none, into a value."""
        if isinstance(answer, Unknown):
            return cls(known=False, why=answer.words)
        return cls(known=True, holds=answer)


def check_lineage(
    entry: Composition,
    base: State,
    target: State | None,
    ancestry: Ancestry,
    manifest: bytes | None = None,
) -> Iterator[Finding]:
    """Check base and target against the entry, each other, and the bytes of the `manifest`."""
    yield from _tree("base", entry.base, base)
    if entry.target is None:
        return
    if target is None:
        yield _missing("target", "the target's commit", "not read")
        return
    yield from _tree("target", entry.target, target)
    yield from _ancestry(entry, ancestry)
    between = differences(entry.scope, base.files, target.files)
    yield from _difference(entry, between)
    yield from _manifest(entry, between)
    if entry.manifest is not None:
        yield from check_manifest(entry, entry.manifest, manifest)
    yield from _native(entry, base, target)


def differences(
    scope: Scope, base: Mapping[bytes, Found], target: Mapping[bytes, Found]
) -> dict[bytes, Operation]:
    """Return what the scope's files become between base and target, by path, sorted."""
    found: dict[bytes, Operation] = {}
    for path in base.keys() | target.keys():
        here, there = base.get(path), target.get(path)
        if here is not None and there is not None:
            if (here.sha256, here.mode) == (there.sha256, there.mode):
                continue
            operation = Operation.REPLACE
        else:
            operation = Operation.ADD if here is None else Operation.DELETE
        if scope.holds(path.decode(errors="surrogateescape")):
            found[path] = operation
    return dict(sorted(found.items()))


def _tree(name: str, origin: Origin, state: State) -> Iterator[Finding]:
    if origin.tree is None:
        return
    tree = state.tree()
    if tree is None:
        yield _missing(name, f"tree {origin.tree}", "not all of it was read")
    elif tree != origin.tree:
        yield Finding(
            code="lineage-tree",
            where=Where(path=name),
            expected=f"tree {origin.tree}",
            got=f"tree {tree}",
            cause=f"commit {origin.commit} has another tree" if origin.commit else None,
            remedy=_ENTRY,
        )


def _ancestry(entry: Composition, ancestry: Ancestry) -> Iterator[Finding]:
    if not _has_history(entry):
        return
    expected = f"base {entry.base.commit} among the ancestors of the target"
    if not ancestry.known:
        yield Finding(
            code="lineage-history",
            where=Where(path="target"),
            expected=expected,
            got=ancestry.why or "not looked at",
            remedy="git fetch --unshallow in the clone completes its history",
        )
    elif not ancestry.holds:
        yield Finding(
            code="lineage-ancestor",
            where=Where(path="target"),
            expected=expected,
            got="it is none",
            cause="the overlay is no later state of its base",
            remedy=_ENTRY,
        )


def unproven(entry: Composition) -> Iterator[str]:
    """Say that nothing shows which of base and target came first, where they are no commits."""
    if entry.target is not None and not _has_history(entry):
        yield NO_HISTORY


def _has_history(entry: Composition) -> bool:
    return None not in (entry.base.commit, entry.target and entry.target.commit)


def _difference(entry: Composition, found: Mapping[bytes, Operation]) -> Iterator[Finding]:
    overlay = next((s for s in entry.stages if s.kind is StageKind.OVERLAY), None)
    if overlay is None or overlay.files is None:
        return
    listed = {change.path.encode(): change.operation for change in overlay.files}
    for path in sorted(listed.keys() | found.keys()):
        if path not in listed:
            if entry.scope.complete:
                yield _differs("lineage-unlisted", path, "unlisted, so unchanged", found[path])
        elif path not in found:
            yield _differs("lineage-unchanged", path, f"to {listed[path]} it", None)
        elif listed[path] is not found[path]:
            yield _differs("lineage-operation", path, f"to {listed[path]} it", found[path])


def _manifest(entry: Composition, found: Mapping[bytes, Operation]) -> Iterator[Finding]:
    manifest = entry.manifest
    if manifest is None:
        return
    added = sum(operation is Operation.ADD for operation in found.values())
    for what, said, got in (
        ("rows", manifest.rows, len(found)),
        ("added", manifest.added, added),
    ):
        if said not in (None, got):
            yield Finding(
                code="lineage-rows",
                where=Where(path="manifest"),
                expected=f"{said:,} {what}, as the manifest counts",
                got=f"{got:,} between base and target inside the scope",
                remedy=_ENTRY,
            )


def _native(entry: Composition, base: State, target: State) -> Iterator[Finding]:
    for native in entry.base.native_inputs:
        path = native.path.encode()
        ids = [("base", base.tree(path)), ("target", target.tree(path))]
        expected = native.id or ids[0][1] or "an object in both"
        wrong = [f"{side} {oid or 'nothing'}" for side, oid in ids if oid != expected]
        if base.tree() is None or target.tree() is None:
            yield _missing("target", f"{native.path} in base and target", "not all was read")
        elif wrong:
            yield Finding(
                code="lineage-native",
                where=Where(path=printable(native.path)),
                expected=expected,
                got=", ".join(wrong),
                cause="binaries that were built from it are not those of the target",
                remedy=_ENTRY,
            )


def _missing(name: str, expected: str, got: str) -> Finding:
    return Finding(
        code="lineage-unread", where=Where(path=name), expected=expected, got=got, remedy=_ASK
    )


def _differs(code: str, path: bytes, expected: str, got: Operation | None) -> Finding:
    return Finding(
        code=code,
        where=Where(path=printable(path.decode(errors="surrogateescape"))),
        expected=expected,
        got="it is the same in both" if got is None else f"the target would {got} it",
        cause="at the overlay",
        remedy=_ENTRY,
    )
