"""Small compositions made of values: a base, a target, patches, and the entry that pins them."""

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verifier.catalog.entries.composition import (
    Agreement,
    Change,
    Composition,
    Operation,
    Origin,
    Patch,
    Retained,
    Scope,
    Stage,
    StageKind,
    Wanted,
)
from verifier.checks.composition.components import Read
from verifier.checks.composition.lineage import Ancestry
from verifier.checks.composition.proof import Material, Proof, prove
from verifier.core.digest import Pin
from verifier.sources.git.tree_id import TreeIds, blob_id
from verifier.sources.tree import TreeEntry, Type

Files = dict[str, bytes]


def entries(files: Mapping[str, bytes], modes: Mapping[str, int] | None = None) -> list[TreeEntry]:
    """Return files as a commit would give them."""
    return [
        TreeEntry(
            path.encode(),
            Type.FILE,
            (modes or {}).get(path, 0o100644),
            len(data),
            hashlib.sha256(data).hexdigest(),
            None,
            blob_id(data),
        )
        for path, data in sorted(files.items())
    ]


def tree(files: Mapping[str, bytes]) -> str:
    found = TreeIds((p.encode(), 0o100644, blob_id(data)) for p, data in files.items()).id()
    assert found is not None
    return found


def diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bytes:
    """Write the patch from some files to others, none of them without a final newline."""
    text = b""
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        name = path.encode()
        text += b"diff --git a/%b b/%b\n" % (name, name)
        if old is None:
            text += b"new file mode 100644\n"
        if new is None:
            text += b"deleted file mode 100644\n"
        sides = [(data or b"").splitlines(keepends=True) for data in (old, new)]
        names = [
            b"/dev/null" if data is None else side + name
            for side, data in ((b"a/", old), (b"b/", new))
        ]
        text += b"".join(
            difflib.diff_bytes(difflib.unified_diff, sides[0], sides[1], names[0], names[1])
        )
    return text


def changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[Change, ...]:
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        operation = Operation.REPLACE if old is not None else Operation.ADD
        found.append(
            Change(
                path=path,
                operation=Operation.DELETE if new is None else operation,
                pre=None if old is None else Pin.of(old),
                post=None if new is None else Pin.of(new),
                mode=None if new is None else 0o100644,
            )
        )
    return tuple(found)


class Everything:
    """Contents from memory; `asked` is what was read."""

    def __init__(self, *sides: Mapping[str, bytes]) -> None:
        self.held = {hashlib.sha256(d).hexdigest(): d for side in sides for d in side.values()}

    def expect(self, digests: Sequence[str]) -> None:
        pass

    def get(self, digest: str) -> bytes | None:
        return self.held.get(digest)


@dataclass
class Composed:
    """A chain of trees, each after one stage: the base, the overlay's, then the patches'."""

    steps: list[tuple[str, Files]]
    stages: list[Stage] = field(default_factory=list)
    patches: dict[str, bytes] = field(default_factory=dict)
    independent: Agreement | None = None
    more: dict[str, Any] = field(default_factory=dict)
    ancestry: Ancestry = field(default_factory=lambda: Ancestry(known=True, holds=True))
    material: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        before = self.steps[0][1]
        for number, (name, after) in enumerate(self.steps[1:]):
            kind = StageKind.PATCH if number else StageKind.OVERLAY
            if kind is StageKind.PATCH:
                self.patches[name] = diff(before, after)
            self.stages.append(
                Stage(
                    name=name,
                    kind=kind,
                    files=changes(before, after),
                    patch=Patch(pin=Pin.of(self.patches[name]), path=None) if number else None,
                    independent=self.independent if number else None,
                    tree=tree(after),
                )
            )
            before = after

    @property
    def entry(self) -> Composition:
        values: dict[str, Any] = {
            "name": "ours",
            "project": "tests",
            "source": None,
            "base": Origin(repository=None, commit="1" * 40, tree=tree(self.steps[0][1])),
            "target": Origin(repository=None, commit="2" * 40, tree=tree(self.steps[1][1])),
            "scope": Scope(include=("./",), exclude=(), complete=True),
            "manifest": None,
            "stages": tuple(self.stages),
            "components": (),
            "retained": self.rest,
            "files_table": None,
        }
        return Composition(**{**values, **self.more})

    @property
    def rest(self) -> tuple[Retained, ...]:
        """What no stage lists: the entry is complete."""
        if any(stage.files is None for stage in self.stages):
            return ()
        touched = {change.path for stage in self.stages for change in stage.files or ()}
        kept = tuple(
            (path, Wanted(hashlib.sha256(data).hexdigest(), len(data), 0o100644))
            for path, data in sorted(self.steps[0][1].items())
            if path not in touched
        )
        return (Retained(name="rest", count=None, files=kept),) if kept else ()

    def prove(self) -> Proof:
        base, target = self.steps[0][1], self.steps[1][1]
        contents = Everything(base, target)
        values: dict[str, Any] = {
            "base": Read(entries=entries(base), read=lambda e: contents.get(e.sha256 or "")),
            "target": Read(entries=entries(target), read=lambda e: contents.get(e.sha256 or "")),
            "ancestry": self.ancestry,
            "patches": self.patches,
            "contents": contents,
        }
        return prove(self.entry, Material(**{**values, **self.material}))

    def codes(self) -> set[str]:
        return {finding.code for finding in self.prove().outcome.findings}
