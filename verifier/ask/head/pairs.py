"""Base and head as they are read: where they part, what differs, what the merge would be."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from verifier.ask.head.clone import Clone
from verifier.checks.head.event import Event
from verifier.checks.head.objects import Pair, Tips
from verifier.core.errors import PinproofError
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.git.blobs import Leaf, read_blobs
from verifier.sources.git.faults import of_fault
from verifier.sources.git.history import Unknown
from verifier.sources.git.merge import Conflict, Merged, NotMerged, merge
from verifier.sources.git.objects import Commit, Fault, shown
from verifier.sources.git.refs import references
from verifier.sources.git.trees import Change
from verifier.sources.tree import GITLINK_MODE

#: How a forge calls the merge that it makes of every proposal: no branch that anybody pushed.
_FORGES: Final = ("/merge", "/merge-requests/")
_REMOTES: Final = "refs/remotes/"
_TOO_MANY: Final = "more paths differ than are read"


@frozen
class Read:
    """One pair with what lies between: the changes of the head since it parted from the base."""

    pair: Pair
    changes: tuple[Change, ...]
    merged: Merged | Conflict | NotMerged | None


class Pairs:
    """Reads pairs of one base; what they share is read once."""

    def __init__(self, clone: Clone, base: Commit, event: Event | None, branch: str | None) -> None:
        """Read the clone's branches."""
        self._clone, self._base = clone, base
        self._branch = branch or (event.branch if event else None)
        self._named = branch is not None
        self._branches = references(clone.repo.found)

    def read(self, heads: Sequence[Commit], scratch: Path) -> list[Read]:
        """Read the pairs; `scratch` is an empty folder for merges."""
        found = [self._between(head) for head in heads]
        strict, unproven = self._checked()
        return [
            Read(
                pair=self._pair(head, relation, (*wrong, *strict), len(changes), unproven),
                changes=tuple(changes),
                merged=None if wrong else self._merged(head, relation, scratch / str(number)),
            )
            for number, (head, (relation, changes, wrong)) in enumerate(
                zip(heads, found, strict=True)
            )
        ]

    @cached_property
    def tips(self) -> Tips:
        """The branches, and which of them went on from the base."""
        wanted = self._branch
        considered = {
            name: oid
            for name, oid in self._branches.items()
            if wanted is None or _is_called(name, wanted)
        }
        at = {name for name, oid in considered.items() if oid == self._base.oid}
        # A branch of this clone may lag behind the one that it was made from.
        looked = considered if not at else self._upstream(at)
        above = self._clone.history.above(self._base.oid, looked.values())
        behind = [name for name, oid in looked.items() if oid in above]
        behind.sort(key=lambda name: (not name.startswith("refs/remotes/"), name))
        return Tips(
            branches=self._branches,
            wanted=wanted,
            named=self._named,
            at=tuple(sorted(at)),
            behind=tuple(behind),
        )

    def _upstream(self, local: set[str]) -> dict[str, str]:
        """Return the remote branches of the same names; none if one of `local` is remote itself."""
        if any(name.startswith(_REMOTES) for name in local):
            return {}
        return {
            name: oid
            for name, oid in self._branches.items()
            if name.startswith(_REMOTES) and any(_is_called(name, _short(each)) for each in local)
        }

    def _pair(
        self,
        head: Commit,
        relation: tuple[str, ...] | Unknown,
        wrong: tuple[Finding, ...],
        count: int,
        unproven: tuple[str, ...],
    ) -> Pair:
        repo = self._clone.repo
        notes = {
            note: None
            for side in (self._base, head)
            for note in (*repo.notes.findings(side.oid), *repo.linker.findings())
        }
        return Pair(
            base=self._base,
            head=head,
            relation=relation,
            pushed=self._is_pushed(head.oid),
            wrong=wrong,
            notes=tuple(notes),
            counted=count,
            not_proven=unproven,
        )

    def _is_pushed(self, oid: str) -> bool:
        return any(
            value == oid and not name.endswith(_FORGES[0]) and _FORGES[1] not in name
            for name, value in self._branches.items()
        )

    def _between(
        self, head: Commit
    ) -> tuple[tuple[str, ...] | Unknown, list[Change], list[Finding]]:
        """Read all trees of base, head and merge bases, and every file that differs."""
        clone = self._clone
        relation = clone.history.merge_bases(self._base.oid, head.oid)
        parted = map(clone.history.commit, () if isinstance(relation, Unknown) else relation)
        commits = [self._base, head, *(each for each in parted if isinstance(each, Commit))]
        wrong: dict[Finding, None] = {}
        if isinstance(relation, Unknown) and relation.damaged:
            wrong[of_fault(relation.damaged)] = None
        for commit in commits:
            for path, fault in clone.known.trees.read_below(clone.repo.reader, commit.tree):
                wrong[of_fault(fault, path=printable(shown(path)) or None)] = None
        if wrong:
            return relation, [], list(wrong)
        since = commits[2:] or [self._base]
        try:
            changes = self._changes(since[0].tree, head.tree)
            others = [c for each in since[1:] for c in self._changes(each.tree, head.tree)]
            others += [c for each in since for c in self._changes(each.tree, self._base.tree)]
        except OverflowError:
            return relation, [], [of_fault(Fault("git-tree-large", _TOO_MANY))]
        wrong |= self._hashed((*changes, *others))
        return relation, changes, list(wrong)

    def _changes(self, before: str, after: str) -> list[Change]:
        return self._clone.known.trees.changes(self._clone.repo.reader, before, after)

    def _hashed(self, changes: Iterable[Change]) -> dict[Finding, None]:
        """Read every file on both sides of changes; name those that cannot be used."""
        leaves = [
            Leaf(change.path, item.mode, item.oid)
            for change in changes
            for item in (change.before, change.after)
            if item is not None
        ]
        found = read_blobs(self._clone.repo, leaves, self._clone.known.blobs)
        wrong: dict[Finding, None] = {}
        for leaf in leaves:
            got = found.get(leaf.oid)
            if got is not None and got.fault is not None:
                wrong[of_fault(got.fault, path=printable(shown(leaf.path)))] = None
            elif got is None and leaf.mode != GITLINK_MODE:
                wrong[of_fault(Fault("git-tree-large", "more bytes differ than are read"))] = None
        return wrong

    def _checked(self) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
        """Let git check the commits and trees that were read: its format rules, collisions."""
        clone = self._clone
        objects = [("commit", data) for _, data in clone.history.fresh()]
        objects += [("tree", data) for _, data in clone.known.trees.fresh()]
        if not objects:
            return (), ()
        clone.repo.strict.start(objects)
        findings, unproven = clone.repo.strict.finish()
        return tuple(findings), tuple(unproven)

    def _merged(
        self, head: Commit, relation: tuple[str, ...] | Unknown, scratch: Path
    ) -> Merged | Conflict | NotMerged | None:
        clone, base = self._clone, self._base
        if isinstance(relation, Unknown) or not relation or {base.oid, head.oid} & {*relation}:
            return None
        scratch.mkdir()
        try:
            return merge(
                clone.repo,
                clone.history,
                clone.known.trees,
                into=base,
                merged=head,
                bases=relation,
                scratch=scratch,
            )
        except PinproofError as error:
            return NotMerged(words=error.message)


def _short(name: str) -> str:
    return name.removeprefix("refs/heads/")


def _is_called(name: str, branch: str) -> bool:
    """Whether a reference is the branch of that name, here or as some remote has it."""
    if name == f"refs/heads/{branch}":
        return True
    remote, _, rest = name.removeprefix(_REMOTES).partition("/")
    return name.startswith(_REMOTES) and bool(remote) and rest == branch
