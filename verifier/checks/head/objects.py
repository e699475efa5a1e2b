"""Facets `objects`, `base` and `merge`: which three things are meant, and what they are made of.

1. *Ids*: base and head are commits of this clone, in full; neither is the forge's merge of both,
   which stands for a head that nobody pushed (actions/checkout issue 299).
2. *Objects*: the commits between them, their trees and what differs were read, and every object
   hashes to its id; what the clone says of itself (replacements, an early end of its history)
   is named and refused, because other tools on the way to the merge would follow it.
3. *Base*: it is the tip of the branch that it is meant to be, in this clone's references.
4. *Merge*: the tree that the two would leave, computed here. Where the merge changes a file that
   was judged in the head, the verdict would be about other bytes than those that land.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from verifier.checks.head.part import Part
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Identified
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.git.history import Unknown
from verifier.sources.git.merge import Conflict, Merged, NotMerged
from verifier.sources.git.objects import Commit, shown

_MOST_NAMED: Final = 5
_DEEPEN: Final = "git fetch --unshallow; in a workflow: actions/checkout with fetch-depth: 0"
_UPDATE: Final = "bring the base into the head (rebase or merge), and verify the new head"


@frozen
class Pair:
    """Base and head, as they were read.

    `relation` are their merge bases, or why those are unknown. `pushed` says whether a branch of
    the clone has the head as its tip: an event is no proof of that. `wrong` is what reading objects
    brought to light, `notes` what the clone says of itself.
    """

    base: Commit
    head: Commit
    relation: tuple[str, ...] | Unknown
    pushed: bool = False
    wrong: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    counted: int = 0
    not_proven: tuple[str, ...] = ()

    @property
    def forward(self) -> bool:
        """Whether the head contains the base: merging them changes nothing of the head."""
        return self.relation == (self.base.oid,)

    @property
    def identified(self) -> tuple[Identified, ...]:
        """Name both, with the tree of each."""
        return tuple(
            Identified(entry=name, version=oid, status=status)
            for name, side in (("base", self.base), ("head", self.head))
            for status, oid in (("commit", side.oid), ("tree", side.tree))
        )


def objects(pair: Pair) -> Part:
    """Judge steps 1 and 2."""
    findings = [*_ids(pair), *_clone(pair), *pair.wrong]
    if any(finding.row.facet == "tree" for finding in pair.wrong):
        findings.append(_unreadable(pair.wrong))
    relation = pair.relation
    if isinstance(relation, Unknown):
        findings += [] if relation.damaged else [_shallow(relation)]
    elif not relation:
        findings.append(
            Finding(
                code="head-unrelated",
                expected="a common ancestor",
                got="none",
                remedy="check that both ids are of this project; git would refuse this merge",
            )
        )
    elif pair.head.oid in relation:
        findings.append(
            Finding(
                code="head-nothing",
                expected="commits that the base does not have",
                got=f"head {pair.head.oid} is {_same(pair)}",
                remedy="check the order: --base is what is merged into, --head what is proposed",
            )
        )
    if findings:
        return Part.broken("objects", tuple(findings))
    files = f"{pair.counted:,} file{'' if pair.counted == 1 else 's'}"
    detail = f"{files} changed since they parted; all that was read hashes to its id"
    return Part.held("objects", detail, not_proven=pair.not_proven)


def _shallow(relation: Unknown) -> Finding:
    return Finding(
        code="head-shallow",
        expected="the commits from base and head down to where they part",
        got=relation.words,
        remedy=_DEEPEN,
    )


def _same(pair: Pair) -> str:
    return "the base itself" if pair.head.oid == pair.base.oid else "an ancestor of the base"


def _ids(pair: Pair) -> Iterable[Finding]:
    """Find the forge's merge commit in the place of a head: its first parent is the base.

    Or what the base was when that merge was made. A branch may begin with such a commit too; then
    it is its tip somewhere.
    """
    parents, parted = pair.head.parents, pair.relation
    older = () if isinstance(parted, Unknown) else parted
    bases = (pair.base.oid, *older)
    if not pair.pushed and len(parents) == 2 and parents[0] in bases:  # noqa: PLR2004
        which = "base" if parents[0] == pair.base.oid else "an older base"
        yield Finding(
            code="head-merge-id",
            expected="the commit that is proposed",
            got=f"{pair.head.oid}, a merge of {which} and {parents[1]}",
            cause="forges make such a commit for every pull request, and workflows run on it",
            remedy=f"give what was pushed: --head {parents[1]}; fetch its branch if it is this one",
        )


def _clone(pair: Pair) -> Iterable[Finding]:
    seen = {note.code: note for note in reversed(pair.notes)}
    for code in ("git-replaced", "git-grafted"):
        if note := seen.get(code):
            yield Finding(
                code="head-replaced",
                expected="a clone that shows every commit as it is",
                got=note.got,
                cause="it changes no answer here; other tools follow it, and see another history",
                remedy=note.remedy,
            )


def _unreadable(wrong: tuple[Finding, ...]) -> Finding:
    first = wrong[0]
    return Finding(
        code="head-unreadable",
        where=first.where,
        expected="objects that are there, and hash to their ids",
        got=f"{first.code}: {first.got}",
        remedy=first.remedy,
    )


# ── the base ───────────────────────────────────────────────────────────────────────────────────


@frozen
class Tips:
    """Branches of this clone by name; `wanted` is the one that the base should be the tip of.

    `named` says whether the caller has said so, and not only an event.

    `at` are those that have the base as their tip; `behind` those that have it among their
    ancestors and went on: all such, or the remote ones by whose names the clone's own lag behind.
    """

    branches: Mapping[str, str]
    wanted: str | None
    named: bool
    at: tuple[str, ...]
    behind: tuple[str, ...]


_SERVER: Final = "that the branch still stands there on the server"
_WHICH: Final = "that this is the branch to merge into (--base-ref names it)"


def base(pair: Pair, tips: Tips) -> Part:
    """Judge step 3."""
    if tips.at and not tips.behind:
        more = f" and {len(tips.at) - 1} more" if len(tips.at) > 1 else ""
        detail = f"{pair.base.oid[:12]}, the tip of {printable(tips.at[0])}{more}"
        which = () if tips.named else (_WHICH,)
        return Part.held("base", detail, not_proven=(_SERVER, *which))
    asked = f"branch {printable(tips.wanted)}" if tips.wanted else "a branch of this clone"
    # A branch of the proposal itself has the base below it too.
    behind = [name for name in tips.behind if tips.branches[name] != pair.head.oid]
    if behind:
        name = behind[0]
        finding = Finding(
            code="head-base-moved",
            expected=f"the tip of {asked}",
            got=f"{pair.base.oid}; {printable(name)} is at {tips.branches[name]} now",
            remedy=f"judge against what is there now: --base {tips.branches[name]}; what was said "
            "of the older base does not hold for it",
        )
    else:
        finding = Finding(
            code="head-base-not-tip",
            expected=f"the tip of {asked}",
            got=pair.base.oid,
            remedy="git fetch origin, give the tip of the branch that is merged into, and name "
            "that branch: --base-ref NAME",
        )
    return Part.broken("base", (finding,))


# ── the merge ──────────────────────────────────────────────────────────────────────────────────


def merge(
    pair: Pair,
    merged: Merged | Conflict | NotMerged | None,
    judged: Iterable[bytes],
    stated: str | None,
) -> Part:
    """Judge step 4; `merged` is None where none was needed, or none could be tried.

    `judged` are the paths that count; `stated` is the tree of the forge's own merge, if known.
    """
    if pair.forward:
        return _merged(pair.head.tree, "as in the head, which contains the base", stated)
    if merged is None:
        return Part.unasked("merge", "there is nothing to merge, or no common history")
    if isinstance(merged, NotMerged):
        finding = Finding(
            code="head-merge-unknown",
            expected="the tree that merging head into base leaves",
            got=merged.words,
            remedy=_UPDATE,
        )
        return Part.broken("merge", (finding,))
    if isinstance(merged, Conflict):
        return Part.broken("merge", (_conflict(merged),))
    touched = {change.path for change in merged.changes}
    apart = sorted(touched & set(judged))
    if apart:
        return Part.broken("merge", tuple(_differs(path) for path in apart[:_MOST_NAMED]))
    count = len(merged.changes)
    what = f"computed here; {count:,} file{'' if count == 1 else 's'} other than in head"
    return _merged(merged.tree, what, stated)


def _merged(tree: str, what: str, stated: str | None) -> Part:
    other = () if stated in (None, tree) else (f"the forge's merge, whose tree is {stated}",)
    found = Identified(entry="merge", version=tree, status="tree", detail=what)
    part = Part.held("merge", f"tree {tree[:12]}, {what}", not_proven=other)
    return replace(part, identified=(found,))


def _conflict(merged: Conflict) -> Finding:
    names = [printable(shown(path)) for path in merged.paths]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return Finding(
        code="head-merge-conflict",
        where=Where(path=names[0] if names else None),
        expected="changes that can be put together",
        got=f"conflicts in {', '.join(names[:_MOST_NAMED])}{more}",
        remedy=_UPDATE,
    )


def _differs(path: bytes) -> Finding:
    return Finding(
        code="head-merge-differs",
        where=Where(path=printable(shown(path))),
        expected="the bytes that were judged in the head",
        got="other bytes after the merge: the base has changed it since they parted",
        remedy=_UPDATE,
    )
