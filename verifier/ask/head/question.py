"""One question about heads, taken through every facet that the policy demands."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from verifier.ask.head.clone import Clone, required
from verifier.ask.head.contents import Contents
from verifier.ask.head.judges import Judges, refuse_inside
from verifier.ask.head.pairs import Pairs, Read
from verifier.ask.trusted import Trust
from verifier.checks.head import check, unread
from verifier.checks.head.approvals import approvals
from verifier.checks.head.event import Event
from verifier.checks.head.holds import holds
from verifier.checks.head.inside import Judged, inside
from verifier.checks.head.objects import base as judge_base
from verifier.checks.head.objects import merge as judge_merge
from verifier.checks.head.objects import objects as judge_objects
from verifier.checks.head.part import Part
from verifier.checks.head.receipts import receipts as judge_receipts
from verifier.checks.head.registry_changes import registry_changes
from verifier.core.coverage import NOT_ASKED
from verifier.core.demand import Approval, HeadDemand
from verifier.core.digest import Digest
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding
from verifier.core.outcome import Failed, Outcome, Result, Subject
from verifier.core.value import frozen
from verifier.policy import judge
from verifier.sources.git.merge import Merged
from verifier.sources.git.objects import FULL_ID, Commit
from verifier.sources.scratch import scratch

if TYPE_CHECKING:
    from verifier.ask.head.approvals import Voices
    from verifier.ask.head.receipts import Receipts

_APPROVALS: Final = "approvals"
_RECEIPTS: Final = "receipts"
_LANDING: Final = ("merge", "registry-changes")
#: What is wrong with a proposal, and not with a commit that may have landed.
_OF_PROPOSALS: Final = ("head-merge-id", "head-nothing")


@frozen
class Statements:
    """What is said of heads: receipts in a folder, bundles with approvals, and by whom.

    `signers` are rows of the registry; with them `bundles` are an approval of their own, by
    `threshold` of the signers or all of them.
    """

    receipts: str | None = None
    bundles: Sequence[str] = ()
    signers: Sequence[str] = ()
    threshold: int | None = None
    trusted_root: str | None = None

    def approval(self) -> Approval | None:
        """Return the approval that the call itself asks for. Raises `WrongCallError`."""
        if not self.signers:
            return None
        most = len(set(self.signers))
        threshold = most if self.threshold is None else self.threshold
        if not 1 <= threshold <= most:
            raise WrongCallError(
                f"--threshold: {threshold} is not between 1 and {most}, the number of signers",
                code="wrong-call",
                remedy="name more signers, or ask for fewer",
            )
        return Approval(
            name="--signer", predicate="", says=(), signers=tuple(self.signers), threshold=threshold
        )


@frozen
class Asked:
    """What a call asks for, beside base and heads."""

    judges: Judges
    statements: Statements
    event: Event | None
    branch: str | None
    tip: bool = True
    """Whether the base has to be the tip of a branch, if the policy demands that."""


class Question:
    """What every head of a call is judged by."""

    def __init__(
        self, clone: Clone, base: Commit | Finding, trust: Trust, demand: HeadDemand, asked: Asked
    ) -> None:
        """Use `of`."""
        self.trust = trust
        self._clone, self._base, self._demand, self._asked = clone, base, demand, asked
        self._contents = Contents(clone, trust, demand, asked.judges)
        said = asked.statements
        own = said.approval()
        self._approvals = (*demand.approvals, *([own] if own else []))
        if said.trusted_root is not None:
            refuse_inside("--trusted-root", said.trusted_root, clone)
        # What a call asks for counts, whatever the policy says of the rest.
        asked_for = {
            _APPROVALS: own is not None,
            _RECEIPTS: said.receipts is not None,
        }
        # Whatever a policy demands, nothing is said of ids that mean something else, or of a hold.
        self._demanded = demand.facets | {"objects", "holds"}
        self._demanded |= {facet for facet, given in asked_for.items() if given}
        self._demanded -= set() if asked.tip else {"base"}
        self.in_scope = self._contents.scope()
        self._voices = self._heard(said) if self._approvals else None
        self._receipts = self._measured(said) if _RECEIPTS in self._demanded else None

    def _heard(self, said: Statements) -> "Voices":
        """Read bundles: signatures take imports that most heads do not need."""
        from verifier.ask.head.approvals import Voices  # noqa: PLC0415

        return Voices(said.bundles, self._approvals, self.trust, said.trusted_root)

    def _measured(self, said: Statements) -> "Receipts":
        """Read receipts, whose rules are half of the program."""
        from verifier.ask.head.receipts import Receipts  # noqa: PLC0415

        return Receipts(
            self._clone, self.trust, self._demand, folder=said.receipts, in_scope=self.in_scope
        )

    @classmethod
    def of(cls, clone: Clone, base: str, asked: Asked) -> Self:
        """Open what judges, from the base where it is named so. Raises as `verify_head` does."""
        found = clone.commit("--base", base)
        judges, statements = asked.judges, asked.statements
        if judges.needs_base:
            required(found, "--base")
        trust = judges.open(clone, found if isinstance(found, Commit) else None)
        demand = trust.policy.head
        if demand is None:
            raise WrongCallError(
                f"policy {trust.policy.name} demands nothing of heads",
                code="wrong-call",
                remedy="judge with a policy that has a [head] table, such as pre-merge",
            )
        if statements.receipts is not None and trust.policy.receipt is None:
            raise WrongCallError(
                f"--receipts: policy {trust.policy.name} does not say how receipts are judged",
                code="wrong-call",
                remedy="judge with a policy that has a [receipt] table",
            )
        if statements.bundles and not (statements.signers or demand.approvals):
            raise WrongCallError(
                "--bundle: nobody is named who has to have signed",
                code="wrong-call",
                remedy="name signers of the registry: --signer NAME; or list approvals in the "
                "policy",
            )
        return cls(clone, found, trust, demand, asked)

    @property
    def demand(self) -> HeadDemand:
        """What the policy demands of heads."""
        return self._demand

    def judged(self, heads: Sequence[str]) -> tuple[Result | Failed, ...]:
        """Judge every head, each followed by what was judged inside it."""
        found = {oid: self._clone.commit("--head", oid) for oid in heads}
        base = self._base
        commits = [each for each in found.values() if isinstance(each, Commit)]
        if isinstance(base, Finding):
            return tuple(self._refused(oid, [base, head]) for oid, head in found.items())
        results: list[Result | Failed] = []
        with scratch() as folder:
            pairs = Pairs(self._clone, base, self._asked.event, self._asked.branch)
            read = {each.pair.head.oid: each for each in pairs.read(commits, folder)}
            for oid, commit in found.items():
                if isinstance(commit, Finding):
                    results.append(self._refused(oid, [commit]))
                else:
                    alone = len(found) == 1
                    results += self._one(read[oid], pairs, folder / f"receipts-{oid}", alone=alone)
        return tuple(results)

    def landing(self, now: Commit) -> tuple[list[Finding], list[Part]]:
        """Say what merging a commit would do to what judges, and who said: not yet.

        Returned are reasons why that cannot be told, and the facets merge, registry-changes, holds.
        """
        base = required(self._base, "--base")
        if self._clone.history.is_ancestor(now.oid, base.oid) is True:
            parts = [Part.absent(name, "the base contains it") for name in _LANDING]
            return [], [*parts, self._holds(now)]
        with scratch() as folder:
            pairs = Pairs(self._clone, base, None, None)
            (read,) = pairs.read([now], folder)
            parts = [self._merge(read), self._registry(read), self._holds(now)]
        told = judge_objects(read.pair).findings
        return [f for f in told if f.code not in _OF_PROPOSALS], parts

    def of_receipt(self, now: Commit) -> list[Part]:
        """Return the same facets where a receipt is asked about, which is of no merge."""
        return [
            *(Part.absent(name, "a receipt is of a commit, not of a merge") for name in _LANDING),
            self._holds(now),
        ]

    def _refused(self, oid: str, sides: Sequence[Commit | Finding]) -> Result:
        reasons = tuple(side for side in sides if isinstance(side, Finding))
        return self._judge(oid, None, unread(reasons))

    def _one(self, read: Read, pairs: Pairs, folder: Path, *, alone: bool) -> list[Result | Failed]:
        head = read.pair.head

        def named(path: str) -> str:
            return path if alone else f"{head.oid}:{path}"

        asked = self._demanded
        hosts = self._contents.hosts(head, named) if "helpers" in asked else []
        placed = self._contents.compositions(head, named) if "compositions" in asked else []
        parts = [
            self._objects(read),
            judge_base(read.pair, pairs.tips),
            self._merge(read),
            self._inside("helpers", hosts),
            self._inside("compositions", placed),
            self._registry(read),
            self._receipt(read, folder),
            self._approval(head),
            self._holds(head),
        ]
        outcome = check(read.pair, parts)
        inner = [each.result for each in (*hosts, *placed) if each.result is not None]
        return [self._judge(head.oid, head, outcome), *inner]

    # ── one facet each ─────────────────────────────────────────────────────────────────────────

    def _objects(self, read: Read) -> Part:
        part = judge_objects(read.pair)
        event, base = self._asked.event, read.pair.base.oid
        others = event.others(base, read.pair.head.oid) if event else []
        # A job that runs again gets its old event: the branch may have moved on since.
        if event and event.base and self._clone.history.is_ancestor(event.base, base) is True:
            others = [each for each in others if each.got != base]
        if not others:
            return part
        return Part.broken("objects", (*part.findings, *others))

    def _merge(self, read: Read) -> Part:
        changed = read.merged.changes if isinstance(read.merged, Merged) else ()
        base, landed = read.pair.base, _landed(read)
        # What judges is judged as the head has it, or stays as the base has it.
        mixed = [
            p.encode() for p in self._contents.judging if self._contents.lands(base, landed, p)
        ]
        judged = [
            change.path
            for change in changed
            if self.in_scope(change.path) or _below(change.path, mixed)
        ]
        return judge_merge(read.pair, read.merged, judged, self._stated_merge())

    def _stated_merge(self) -> str | None:
        """Return the tree of the merge that the forge has made, if this clone holds it."""
        named = self._asked.event.merge if self._asked.event else None
        return None if named is None else self._tree_of(named)

    def _tree_of(self, oid: str) -> str | None:
        """Return the tree of a commit, None if this clone does not hold it."""
        if len(oid) != self._clone.repo.hex_length or not FULL_ID.fullmatch(oid):
            return None
        found = self._clone.history.commit(oid)
        return found.tree if isinstance(found, Commit) else None

    def _inside(self, facet: str, judged: Sequence[Judged]) -> Part:
        if facet not in self._demanded:
            return Part.unasked(facet, NOT_ASKED)
        return inside(facet, judged)

    def _registry(self, read: Read) -> Part:
        base, head, landed = read.pair.base, read.pair.head, _landed(read)
        return registry_changes(
            self._contents.registry_changes(base, head, landed),
            self._contents.policy_change(base, head, landed),
            watched=bool(self._contents.judging),
        )

    def _receipt(self, read: Read, folder: Path) -> Part:
        if self._receipts is None:
            return Part.unasked(_RECEIPTS, NOT_ASKED)
        bound = self._receipts.bound(read.pair.head, folder)
        return judge_receipts(bound, read.pair.head.oid, read.pair.base.oid)

    def _approval(self, head: Commit) -> Part:
        if _APPROVALS not in self._demanded:
            return Part.unasked(_APPROVALS, NOT_ASKED)
        voices = self._voices
        asked = [(each, voices.of(each, head.oid)) for each in self._approvals] if voices else []
        return approvals(asked, head.oid)

    def _holds(self, head: Commit) -> Part:
        held = [
            hold
            for hold in self.trust.policy.holds
            if hold.commit == head.oid or self._tree_of(hold.commit) == head.tree
        ]
        claimed = self._asked.event.claimed if self._asked.event else None
        return holds(held, claimed, self._demand.hold_labels)

    def _judge(self, oid: str, head: Commit | None, outcome: Outcome) -> Result:
        digests = [Digest(kind="git-commit", hex=oid)]
        if head is not None:
            digests.append(Digest(kind="git-tree", hex=head.tree))
        return judge(
            outcome,
            subject=Subject(name=f"head {oid}", digests=tuple(digests)),
            demanded=frozenset(self._demanded),
            waivers=self.trust.policy.waivers,
            now=self.trust.now,
        )


def _landed(read: Read) -> str:
    """Return the tree that the merge leaves; the head's, where none could be computed."""
    return read.merged.tree if isinstance(read.merged, Merged) else read.pair.head.tree


def _below(path: bytes, named: Sequence[bytes]) -> bool:
    return any(path == each or (each.endswith(b"/") and path.startswith(each)) for each in named)
