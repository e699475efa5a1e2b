"""Facet `approvals`: what others have signed about exactly this head.

A review or a run of tests is of one commit; what was signed of an earlier one says nothing of this
one (receipts rule G14, and OpenSwarm pull 491: results of head A must not satisfy head B). Each
approval that the policy lists needs its number of different signers, each with a statement of the
type that is named, about this commit, that says every word that is asked for.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from verifier.checks.head.part import Part
from verifier.core.demand import Approval
from verifier.core.finding import Finding, Where
from verifier.core.value import frozen

FACET: Final = "approvals"
_SIGN: Final = "have one of them sign (pinproof sign statement), and give it with --bundle FILE"


@frozen
class Voice:
    """One bundle, as far as it can speak for an approval.

    `commits` are those that its statement is about; `by` are the signers that count, each with what
    tells it from the others, a key or an account; `refused` is why a signer does not. What nobody
    has signed who is asked tells nothing: `commits` of such a bundle only explain a refusal.
    """

    bundle: str
    commits: tuple[str, ...]
    by: tuple[tuple[str, str], ...]
    refused: tuple[Finding, ...]


def approvals(asked: Sequence[tuple[Approval, Sequence[Voice]]], head: str) -> Part:
    """Judge every approval that is asked for by the voices that may speak for it."""
    if not asked:
        finding = Finding(
            code="head-approval-none",
            expected="an approval that the policy lists, or the call asks for",
            got="none is listed, and --signer names nobody",
            remedy="list approvals in the policy; or name who has to approve: --signer NAME",
        )
        return Part.broken(FACET, (finding,))
    findings: list[Finding] = []
    told: list[str] = []
    for approval, voices in asked:
        here = [voice for voice in voices if head in voice.commits]
        # One key counts once, under however many names.
        by: dict[str, str] = {}
        for name, mark in (pair for voice in here for pair in voice.by):
            by.setdefault(mark, name)
        names = tuple(dict.fromkeys(by.values()))
        # A signed "no" about this head counts whatever others have said.
        no = [_no(f, v) for v in here for f in v.refused if f.code == "statement-says-no"]
        findings += no
        if len(by) >= approval.threshold:
            told.append(f"{approval.name} by {', '.join(names)}")
        elif not no:
            findings.append(_missing(approval, names, voices, head))
    if findings:
        return Part.broken(FACET, tuple(findings), f"{len(told)} of {len(asked)} given")
    return Part.held(FACET, "; ".join(told))


def _missing(
    approval: Approval, names: Sequence[str], voices: Sequence[Voice], head: str
) -> Finding:
    what = f"{approval.name}: {approval.predicate or 'a statement'}"
    says = f" that says {', '.join(approval.says)}" if approval.says else ""
    who = f"{approval.threshold} of {', '.join(approval.signers)}"
    expected = f"{what}{says} about {head}, by {who}"
    # Where somebody counts who is asked, that others have not signed it is no reason.
    refused = [(v, f) for v in voices if head in v.commits and not v.by for f in v.refused]
    older = [v for v in voices if v.commits and head not in v.commits]
    if refused:
        voice, reason = refused[0]
        others = reason.code == "bundle-signature"
        return Finding(
            code="head-approval",
            where=Where(path=voice.bundle),
            expected=expected,
            got=f"{reason.code}: {reason.row.title}",
            cause="somebody else has signed it, or it was changed since"
            if others
            else reason.cause or reason.got,
            remedy=_SIGN if others else reason.remedy,
        )
    if older:
        return Finding(
            code="head-approval-stale",
            where=Where(path=older[0].bundle),
            expected=expected,
            got=f"a statement about {', '.join(older[0].commits)}",
            cause="it was given for an earlier head, or for another proposal",
            remedy="ask its signers to look at this head and sign again; an older one is kept as "
            "what it was",
        )
    bundles = f"none among {len(voices)} bundle{'' if len(voices) == 1 else 's'}"
    got = f"{len(names)} of them: {', '.join(names)}" if names else bundles if voices else "none"
    return Finding(
        code="head-approval-none",
        expected=expected,
        got=got,
        remedy=f"{_SIGN}; one key counts once",
    )


def _no(finding: Finding, voice: Voice) -> Finding:
    return replace(
        finding,
        where=Where(path=voice.bundle),
        remedy="mend what it names, and push; a no that was signed stands for the head it is about",
    )
