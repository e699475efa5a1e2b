"""Rules A9 and A10: as often, and the same work, in all arms that are compared."""

from collections.abc import Iterator
from typing import Final

from verifier.checks.receipt.answer import Answer, Broken
from verifier.checks.receipt.document.model import Arm, Claim, ClaimKind
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.numbers.tally import Extent
from verifier.checks.receipt.rules import claimed
from verifier.checks.receipt.rules.claimed import limit, listed
from verifier.checks.receipt.study import Study

_CORE: Final = "core"
#: Settings that decide what a model is asked for, in lower case.
_SAMPLING: Final = ("temperature", "top_p", "top_k", "min_p", "seed", "max_tokens", "sampling")
#: What depends on how much was put out; time to first token does not.
_OUTPUT: Final = frozenset({"throughput", "decodeRate", "completionTokens", "settle", "elapsed"})


def a9_balanced(study: Study) -> Answer:
    """Ask that all compared arms were repeated as often, or that the imbalance is stated and used.

    It is stated by a deviation that affects A9, and used if figures of the claim have every arm.
    """
    stated = any("A9" in affects for _, affects in study.receipt.deviations)

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.measured(study, claim)
        counts = {arm.id: _repetitions(study, arm) for arm in compared}
        if not any(counts.values()):
            return Missing("the samples of the compared arms")
        if len(set(map(_value, counts.values()))) == 1:
            return None
        used = {arm for arm, _, _ in claimed.places(study, claim)}
        if stated and counts.keys() <= used:
            return None
        shown = listed(f"{arm} {_shown(count)}" for arm, count in counts.items())
        return f"{shown}; {'stated, but not all arms are used' if stated else 'not stated'}"

    return limit(claimed.comparing(study), ask, expected="as many repetitions in each arm")


def _repetitions(study: Study, arm: Arm) -> dict[str, int]:
    places = study.tally.matching([arm.id], [], _CORE)
    return {case: study.tally.complete[arm_id, case, kind] for arm_id, case, kind in places}


def _value(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items()))


def _shown(counts: dict[str, int]) -> str:
    return ", ".join(f"{case} {number}" for case, number in sorted(counts.items())) or "no samples"


def a10_same_work(study: Study) -> Answer:
    """Ask that all compared arms had the same work: prompts, caps, sampling and seed.

    What is compared by its output must have put out as much: a run that answers less is faster.
    """
    claims = claimed.comparing(study)
    expected = "prompt tokens, output cap, sampling and seed the same in all arms"
    answer = limit(claims, lambda claim: _asked(study, claim), expected=expected)
    if isinstance(answer, Broken):
        return answer
    by_output = [
        claim
        for claim in (*claims, *study.claims(ClaimKind.THROUGHPUT))
        if claim.kind is ClaimKind.THROUGHPUT or _by_output(study, claim)
    ]
    output = limit(
        by_output,
        lambda claim: _amounts(study, claim, "completionTokens"),
        expected="as many tokens put out in all arms",
        condition="output",
    )
    return output if isinstance(output, Broken) else answer


def _by_output(study: Study, claim: Claim) -> bool:
    quantities = {operand.quantity for operand in claimed.leaves(study, claim)}
    return bool(quantities & _OUTPUT)


def _asked(study: Study, claim: Claim) -> str | Missing | None:
    """Compare what was asked for; equal requests are the same prompts, caps and sampling."""
    compared = claimed.measured(study, claim)
    for name in _SAMPLING:
        if len({_lowered(arm).get(name) for arm in compared if arm.settings}) > 1:
            return f"{name} is not the same in all arms"
    missing = None
    for name in ("promptTokens", "cap"):
        found = _amounts(study, claim, name)
        if isinstance(found, str):
            return found
        missing = missing or found
    if missing is not None or _amounts(study, claim, "request") is None:
        return missing
    declared = all({"temperature", "seed"} <= _lowered(arm).keys() for arm in compared)
    return None if declared else Missing("digests of equal requests, or temperature and seed")


def _lowered(arm: Arm) -> dict[str, str]:
    return {name.lower(): value for name, value in arm.settings.items()}


def _amounts(study: Study, claim: Claim, name: str) -> str | Missing | None:
    """Compare an amount case by case: least, most and mean must be the same in all arms."""
    compared = [arm.id for arm in claimed.measured(study, claim)]
    places = [*study.tally.matching(compared, [], _CORE)] if compared else []
    if not places:
        return Missing("the samples of the compared arms")
    first = dict[str, tuple[str, Extent]]()
    lacking = None
    for place in places:
        arm, case, _ = place
        extent = study.tally.work[place][name]
        if extent.count < study.tally.complete[place]:
            lacking = Missing(f"{name} of samples of {arm}, case {case}")
        elif extent.count:
            other, known = first.setdefault(case, (arm, extent))
            if differences := [*_differences(extent, known)]:
                return f"{name} in case {case}: {arm} {differences[0]}, {other} {differences[1]}"
    return lacking


def _differences(one: Extent, other: Extent) -> Iterator[str]:
    """Yield what is to be shown of both, nothing if they are the same."""
    same = (one.least, one.most) == (other.least, other.most)
    if not same or one.total * other.count != other.total * one.count:
        for each in (one, other):
            yield f"{each.least:,} to {each.most:,}, {each.total:,} in {each.count:,}"
