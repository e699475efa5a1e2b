"""Whether a verdict on one commit covers another: squash, rebase, documentation, or nothing.

1. *Earlier*: what the earlier verdict says comes out again, when it is computed from the same
   commits with what judges now. That its base was a branch's tip then cannot be seen any more.
2. *Change*: the commit now is the same, has the same tree (squash and rebase keep it), or differs
   in documentation alone, by the base's policy. Everything else needs a verdict of its own:
   - commits on top: the head has moved;
   - a commit that does not have the old one below it: it was rewritten, as by a force-push;
   - the tree of an ancestor of the old one: it takes back what was judged.
3. *Merge, registry changes, holds*: the same tree may come from elsewhere, and merge into something
   else; and nobody holds back the commit now.
"""

from collections.abc import Sequence
from typing import Final

from verifier.checks.head.documentation import Difference
from verifier.checks.head.part import Part
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Failed, Identified, Outcome, Result
from verifier.core.value import frozen
from verifier.core.verdict import Verdict

_MOST_NAMED: Final = 5
_AGAIN: Final = "verify the commit that there is now; a verdict for one never counts for another"
_NOT_PROVEN: Final = (
    "that the base was the tip of its branch when the earlier verdict was given",
    "that nothing else has come to the branch beside this commit",
)


@frozen
class Then:
    """The earlier verdict: where it stands, what it says, and what came of asking again.

    `again` is None where that could not be asked; `other_base` is the base that it is about, if
    that is not the one that was given.
    """

    name: str
    commit: str
    verdict: str
    again: Result | Failed | None
    same_policy: bool
    other_base: str | None = None


@frozen
class Now:
    """The commit now, as it stands to the earlier one.

    `below` says whether the earlier commit is among its ancestors, None if that is unknown;
    `reverted` names an ancestor of the earlier one that has the tree of now.
    """

    commit: str
    tree: str
    same_tree: bool
    difference: Difference
    below: bool | None
    reverted: str | None


def check(then: Then, now: Now, wrong: Sequence[Finding], landing: Sequence[Part]) -> Outcome:
    """Put all together; `wrong` is what reading brought to light, `landing` step 3."""
    objects = (
        Part.broken("objects", tuple(wrong))
        if wrong
        else Part.held("objects", "both commits and their trees hash to their ids")
    )
    parts = (objects, _earlier(then), _change(then, now), *landing)
    return Outcome(
        kind="still-valid",
        identified=(
            Identified(entry="then", version=then.commit, status="commit"),
            Identified(entry="now", version=now.commit, status="commit"),
        ),
        findings=tuple(f for part in parts for f in part.findings),
        coverage=tuple(part.covered for part in parts),
        not_proven=_NOT_PROVEN,
    )


def _earlier(then: Then) -> Part:
    where = Where(path=then.name)
    findings: list[Finding] = []
    if then.verdict != "verified":
        findings.append(
            Finding(
                code="still-not-verified",
                where=where,
                expected="verified",
                got=f"it says: {then.verdict}",
                remedy=_AGAIN,
            )
        )
    elif then.other_base is None and (
        not isinstance(then.again, Result) or then.again.verdict is not Verdict.VERIFIED
    ):
        findings.append(_contradicted(then, where))
    if then.other_base is not None:
        findings.append(
            Finding(
                code="still-other-base",
                where=where,
                expected="a verdict of a merge into the base that was given",
                got=f"one of a merge into {then.other_base}",
                cause="the base has moved since, or the file was changed",
                remedy=f"{_AGAIN}; if you trust that base: --base {then.other_base}",
            )
        )
    if not then.same_policy:
        findings.append(
            Finding(
                code="still-other-policy",
                where=where,
                expected="the policy that judges now",
                got="a policy of another digest",
                cause="what was demanded then may be less than what is demanded now",
                remedy="name that policy again, or verify the commit now by this one",
            )
        )
    if findings:
        return Part.broken("earlier", tuple(findings))
    return Part.held("earlier", f"verified {then.commit[:12]}, and does so again")


def _contradicted(then: Then, where: Where) -> Finding:
    again = then.again
    rejected = isinstance(again, Result) and again.verdict is Verdict.REJECTED
    if isinstance(again, Result):
        reason = again.deciding
        got = f"{again.verdict}: {reason.code}, {reason.row.title}" if reason else again.verdict
    else:
        got = f"{again.code}: {again.message}" if again else "it could not be asked again"
    return Finding(
        code="still-contradicted" if rejected else "still-not-verified",
        where=where,
        expected=f"that {then.commit} is verified, as it says",
        got=str(got),
        cause="the file was changed, or something else judged then" if rejected else None,
        remedy=_AGAIN,
    )


def _change(then: Then, now: Now) -> Part:
    if now.commit == then.commit:
        return Part.held("change", "the same commit")
    if now.same_tree:
        how = "on top of it" if now.below else "as after a squash, a rebase or an amended message"
        return Part.held("change", f"another commit with the same tree {now.tree[:12]}, {how}")
    paths = now.difference
    if paths.harmless and paths.documentation:
        return Part.held("change", f"documentation alone: {_listed(paths.documentation)}")
    return Part.broken("change", (_moved(then, now),))


def _moved(then: Then, now: Now) -> Finding:
    paths = now.difference
    unfit = [f"{path} ({why})" for path, why in paths.unfit]
    changed = _listed([*paths.others, *unfit])
    if now.reverted is not None:
        return Finding(
            code="still-reverted",
            expected=f"what was judged in {then.commit}",
            got=f"{now.commit} has the tree of {now.reverted}, from before it",
            remedy=_AGAIN,
        )
    if now.below:
        return Finding(
            code="still-moved",
            expected=f"{then.commit}, or a change of documentation alone",
            got=f"commits on top of it, up to {now.commit}; they change {changed}",
            remedy=_AGAIN,
        )
    return Finding(
        code="still-rewritten",
        expected=f"{then.commit}, or its tree",
        got=f"{now.commit}, which {_how(now)}; it differs in {changed}",
        cause="a force-push, or another branch",
        remedy=_AGAIN,
    )


def _how(now: Now) -> str:
    return "does not have it among its ancestors" if now.below is False else "may not come after it"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
