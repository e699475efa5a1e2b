"""Whether an earlier verdict, or a receipt, for one commit covers another."""

from pathlib import Path
from typing import Final

from verifier.ask import receipt
from verifier.ask.head.clone import Clone, required
from verifier.ask.head.judges import Judges
from verifier.ask.head.question import Asked, Question, Statements
from verifier.ask.head.receipts import judged_as_measured, measured_commit
from verifier.ask.reading import Reach
from verifier.checks.head.documentation import Difference, difference
from verifier.checks.head.earlier import Earlier, is_report
from verifier.checks.head.still import Now, Then, check
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.errors import WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import RECEIPT_BYTES
from verifier.core.outcome import Report, Subject
from verifier.core.printable import printable
from verifier.policy import judge
from verifier.sources import file
from verifier.sources.evidence_folder import EvidenceFolder
from verifier.sources.git.faults import of_fault
from verifier.sources.git.objects import Commit, Fault, shown

KIND: Final = "still-valid"
#: Ancestors of the earlier commit that are compared with the tree of now.
_LOOKED_BACK: Final = 1_000


def still_valid(
    repo: str,
    earlier: str,
    *,
    base: str,
    head: str,
    judges: Judges | None = None,
    statements: Statements | None = None,
    reach: Reach | None = None,
) -> Report:
    """Judge whether what the file `earlier` says of one commit holds for the commit `head`.

    It is a report that `verify_head` made of a merge into `base`, or a measurement receipt. What it
    says is computed again, and whatever depends on where a commit comes from (what a merge leaves
    of registry and policy, who holds it back) is asked of the commit now. Raises as `verify_head`
    does, and `MalformedError` for a file that is neither.
    """
    judges = judges or Judges()
    data = file.read(earlier, limit=RECEIPT_BYTES).data
    with Clone(repo, reach or Reach()) as clone:
        # When the earlier verdict was given the base was a tip; by now it may have moved on.
        asked = Asked(
            judges=judges,
            statements=statements or Statements(),
            event=None,
            branch=None,
            tip=False,
        )
        question = Question.of(clone, base, asked)
        now = required(clone.commit("--head", head), "--head")
        if is_report(data):
            said = Earlier.parse(data, what=earlier)
            then, commit = _of_report(clone, question, said, earlier, base)
            unclear, landing = question.landing(now)
        else:
            document = receipt.parsed(earlier, [data])
            then, commit = _of_receipt(clone, question, document)
            unclear, landing = [], question.of_receipt(now)
        wrong, facts = _compared(clone, commit, now, question)
        outcome = check(then, facts, [*wrong, *unclear], landing)
        return question.trust.report(
            (
                judge(
                    outcome,
                    subject=Subject(
                        name=f"head {now.oid}",
                        digests=(
                            Digest(kind="git-commit", hex=now.oid),
                            Digest(kind="git-tree", hex=now.tree),
                        ),
                    ),
                    demanded=frozenset(FACETS[KIND]),
                    waivers=question.trust.policy.waivers,
                    now=question.trust.now,
                ),
            )
        )


def _of_report(
    clone: Clone, question: Question, said: Earlier, name: str, base: str
) -> tuple[Then, Commit]:
    """Ask again what the report says that it has answered: of its head, into the base given.

    A report that nobody signed must not choose what is compared: neither judges nor base.
    """
    same_base = said.base == base
    again = question.judged([said.head]) if same_base else (None,)
    commit = required(clone.commit("the report's head", said.head), "the report's head")
    then = Then(
        name=name,
        commit=said.head,
        verdict=said.verdict,
        again=again[0],
        same_policy=said.policy == question.trust.policy.facts.sha256,
        other_base=None if same_base else said.base,
    )
    return then, commit


def _of_receipt(
    clone: Clone, question: Question, document: "receipt.Document"
) -> tuple[Then, Commit]:
    measured = measured_commit(document)
    if measured is None:
        raise WrongCallError(
            f"{document.name}: it does not name the full id of a commit as subject source",
            code="wrong-call",
            remedy="a receipt without the commit that it measured cannot be compared with one",
        )
    commit = required(clone.commit("the receipt's commit", measured), "the receipt's commit")
    folder = str(Path(document.name).parent)
    again = judged_as_measured(
        document, measured, EvidenceFolder(Path(folder), name=folder), question.trust
    )
    then = Then(
        name=document.name, commit=measured, verdict="verified", again=again, same_policy=True
    )
    return then, commit


def _compared(
    clone: Clone, then: Commit, now: Commit, question: Question
) -> tuple[list[Finding], Now]:
    trees, reader = clone.known.trees, clone.repo.reader
    wrong = [
        of_fault(fault, path=printable(shown(path)) or None)
        for commit in (then, now)
        for path, fault in trees.read_below(reader, commit.tree)
    ]
    apart = Difference(documentation=(), unfit=(), others=())
    if not wrong:
        try:
            changes = trees.changes(reader, then.tree, now.tree)
            apart = difference(changes, question.demand, question.in_scope)
        except OverflowError:
            wrong.append(of_fault(Fault("git-tree-large", "more paths differ than are read")))
    below = clone.history.is_ancestor(then.oid, now.oid)
    facts = Now(
        commit=now.oid,
        tree=now.tree,
        same_tree=then.tree == now.tree,
        difference=apart,
        below=below if isinstance(below, bool) else None,
        reverted=_reverted(clone, then, now),
    )
    return wrong, facts


def _reverted(clone: Clone, then: Commit, now: Commit) -> str | None:
    """Find an ancestor of the earlier commit that has the tree of now."""
    seen: dict[str, None] = {}
    level = list(then.parents)
    while level and len(seen) < _LOOKED_BACK:
        seen |= dict.fromkeys(level)
        clone.history.read(level)
        commits = [clone.history.commit(oid) for oid in level]
        for commit in commits:
            if isinstance(commit, Commit) and commit.tree == now.tree:
                return commit.oid
        level = [
            parent
            for commit in commits
            if isinstance(commit, Commit)
            for parent in dict.fromkeys(commit.parents)
            if parent not in seen
        ]
    return None
