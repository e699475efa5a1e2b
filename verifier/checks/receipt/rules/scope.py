"""Rules G12 to G17: how far a claim reaches, who made it, and what is not claimed."""

import re
from typing import Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.document.identities import full
from verifier.checks.receipt.document.model import Claim, ClaimKind, GateState
from verifier.checks.receipt.rules.gates import SUPPORTS
from verifier.checks.receipt.study import Study

#: The closed list of what a change may be said to be (inference-runtime-profiles).
STATUSES: Final = ("implemented", "qualified", "research-only", "unsupported")
#: Claims that no measurement supports by itself, whether there are gates or not.
_ALWAYS: Final = frozenset({ClaimKind.CORRECTNESS, ClaimKind.EQUIVALENCE, ClaimKind.RESIDENCY})
_NUMBER: Final = re.compile("(0|[1-9][0-9]{0,17})(K?)")


def g12_separate_gates(study: Study) -> Answer:
    """Ask that each claim rests on a gate of its own kind; a fast answer is not a right one."""
    results, lost = study.receipt.results, dict[str, str]()
    for claim in study.claims():
        kinds = [kind for kind, claims in SUPPORTS.items() if claim.kind in claims]
        if not kinds or not (results or claim.kind in _ALWAYS):
            continue
        # A regression is what a performance gate that failed shows.
        enough = {GateState.PASS} | (
            {GateState.FAIL} if claim.kind is ClaimKind.REGRESSION else set()
        )
        if not any(each.kind in kinds and each.state in enough for each in results):
            lost[claim.id] = " or ".join(kinds)
    if lost:
        name, kinds_text = next(iter(lost.items()))
        passed = sorted({each.kind for each in results if each.state is GateState.PASS})
        return Broken(
            expected=f"claim {name} on a {kinds_text} gate",
            got=f"passed: {', '.join(passed) or 'none'}",
            claims=frozenset(lost),
        )
    return Holds()


def g13_scope(study: Study) -> Answer:
    """Ask that what is claimed lies inside what was measured: context, concurrency, topology."""
    measured, lost, first = study.receipt.measured_scope, set[str](), None
    if not measured:
        return Uncheckable(missing="the measured scope, scope.measured")
    for claim in study.claims():
        for name, wanted in claim.scope.items():
            if not _inside(name, wanted, measured.get(name)):
                lost.add(claim.id)
                first = first or (f"{name} {measured.get(name, 'not measured')}", wanted, claim)
    if first:
        expected, wanted, claim = first
        got = f"claim {claim.id} of {wanted}"
        return Broken(expected=f"within {expected}", got=got, claims=frozenset(lost))
    return Holds(detail=", ".join(sorted(measured)))


def _inside(name: str, wanted: str, measured: str | None) -> bool:
    """Whether one claimed value was measured: one of a list, or within a Max or a Min."""
    if measured is None:
        return False
    listed = [each.strip() for each in measured.split(",")]
    if name.endswith(("Max", "Min")):
        return any(_reaches(wanted, each, most=name.endswith("Max")) for each in listed)
    return all(
        any(each.strip() == one or _called(each.strip(), one) for one in listed)
        for each in wanted.split(",")
    )


def _reaches(wanted: str, measured: str, *, most: bool) -> bool:
    claim, bound = _NUMBER.fullmatch(wanted), _NUMBER.fullmatch(measured)
    if claim is None or bound is None:
        return wanted == measured
    far, reached = (int(each[1]) * (1024 if each[2] else 1) for each in (claim, bound))
    within = far <= reached if most else far >= reached
    return within or _called(wanted, measured)


def _called(label: str, number: str) -> bool:
    """Whether a label as `8K` names a number: 8,194 and 8,000 are both called that."""
    named, value = _NUMBER.fullmatch(label), _NUMBER.fullmatch(number)
    if named is None or value is None or not named[2] or value[2]:
        return False
    return int(named[1]) in {(2 * int(value[1]) + unit) // (2 * unit) for unit in (1000, 1024)}


def g14_approval(study: Study) -> Answer:
    """Ask that the approval names the exact final head; a later commit needs another one."""
    receipt, approved = study.receipt, full(study.receipt.approval)
    final = study.companions.head or full(receipt.claim_head or receipt.source)
    if approved is None or final is None:
        return Uncheckable(missing="the full commit that was approved, approvedHead")
    if approved != final:
        return Broken(expected=f"approval of {final}", got=f"approval of {approved}")
    return Holds(detail=approved[:12])


def g15_reproduced(study: Study) -> Answer:
    """Ask that "reproduced" was done by somebody else than the one who reports it."""
    receipt, lost = study.receipt, study.named(ClaimKind.REPRODUCED)
    independent = receipt.assurance == "independentlyReproduced"
    if independent and receipt.reproducer is None:
        return Uncheckable(missing="who reproduced it, reproducer")
    names = [(name or "").strip().casefold() for name in (receipt.reproducer, receipt.reporter)]
    if independent and names[0] == names[1]:
        got = f"{receipt.reporter} as both"
        return Broken(expected="a reproducer apart from the reporter", got=got, claims=lost)
    if lost and not independent:
        expected = f"independentlyReproduced, for claim {min(lost)}"
        return Broken(expected=expected, got=receipt.assurance, claims=lost)
    return Holds(detail=receipt.assurance)


def g16_status(study: Study) -> Answer:
    """Ask that the status is a word of the closed list."""
    status = study.receipt.status
    if status is None:
        return Uncheckable(missing="the status of what was measured, status")
    if status not in STATUSES:
        return Broken(expected=", ".join(STATUSES), got=status, path="status")
    return Holds(detail=status)


def g17_not_claimed(study: Study) -> Answer:
    """Ask that a list says what is not claimed, and that no claim says the opposite.

    An entry contradicts a claim if it is its id, its kind or one of its scope as `name: value`, or
    if the claim's text holds it as whole words.
    """
    listed = study.receipt.not_claimed
    if not listed:
        return Broken(expected="a list of what is not claimed, scope.notClaimed", got="none")
    denied = {
        claim.id: entry for claim in study.claims() for entry in listed if _denies(entry, claim)
    }
    if denied:
        name, entry = next(iter(denied.items()))
        return Broken(
            expected=f"no claim of what is not claimed: {entry}",
            got=f"claim {name}",
            condition="contradicted",
            claims=frozenset(denied),
        )
    return Holds(detail=f"{len(listed)} entries")


def _denies(entry: str, claim: Claim) -> bool:
    said = entry.casefold().strip()
    names = {claim.id, claim.kind, *(f"{name}: {value}" for name, value in claim.scope.items())}
    if said in {name.casefold() for name in names}:
        return True
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", claim.text.casefold()) is not None


RULES: Final = (
    Rule(
        "G12",
        "separate-gates",
        "gates",
        only(Consequence.LIMITS),
        g12_separate_gates,
        "measure what the claim is about under a gate of that kind, or do not claim it",
    ),
    Rule(
        "G13",
        "scope",
        "gates",
        only(Consequence.LIMITS),
        g13_scope,
        "claim what was measured, or measure what is claimed",
    ),
    Rule(
        "G14",
        "approval",
        "exact-head",
        only(Consequence.STALE),
        g14_approval,
        "have the final head reviewed, and name it in full as approvedHead",
    ),
    Rule(
        "G15",
        "reproduced",
        "gates",
        only(Consequence.LIMITS),
        g15_reproduced,
        "call it author-reported until somebody else has measured it",
    ),
    Rule(
        "G16",
        "status",
        "gates",
        only(Consequence.INVALID),
        g16_status,
        "use the word of the list that is true, and say the rest in the text of a claim",
    ),
    Rule(
        "G17",
        "not-claimed",
        "gates",
        dict.fromkeys(("", "contradicted"), Consequence.LIMITS),
        g17_not_claimed,
        "list what the study does not show, and take back the claims that it contradicts",
    ),
)
