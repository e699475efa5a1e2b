"""Rules A1 to A6: which arms there are, in which order, and when."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import Arm, ArmState, Claim, ClaimKind, Design, Role
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.rules import claimed
from verifier.checks.receipt.rules.claimed import limit, listed
from verifier.checks.receipt.study import Study

#: Designs whose letters say which side is measured when; they may be repeated as a whole.
_LETTERS: Final = ("BAAB", "ABBA", "AAB", "ABA")


def a1_arms_present(study: Study) -> Answer:
    """Ask that every setting that is compared has an arm of its own, here or by digest."""
    known = {arm.id for arm in study.receipt.arms}
    if absent := sorted(_named(study) - known):
        return Broken(expected="an arm of its own for each", got=f"no arm {listed(absent)}")
    one_sided, unknown = list[str](), list[str]()
    for claim in claimed.comparing(study):
        compared = claimed.arms(study, claim)
        candidates, controls = claimed.sides(compared)
        if not compared and known:
            unknown.append(claim.id)
        elif not (candidates and controls) and not _elsewhere(study, claim):
            one_sided.append(claim.id)
    if one_sided:
        return Broken(
            expected="a candidate and what it is compared with",
            got=f"one of them alone: claim {listed(one_sided)}",
            path="claims",
        )
    if unknown:
        return Uncheckable(missing=f"the arms that are compared by claim {listed(unknown)}")
    return Holds(detail=f"{len(known)} arms") if known else Uncheckable(missing="arms")


def _named(study: Study) -> set[str]:
    """Return the arms that the design, the claims and the figures speak of."""
    found = set(study.receipt.design.order) if study.receipt.design else set()
    for claim in study.receipt.claims:
        found.update(claim.arms)
    for figure in study.receipt.figures:
        found.update(arm for operand in figure.operands.values() for arm in operand.arms)
    return found


def _elsewhere(study: Study, claim: Claim) -> bool:
    """Whether one of its figures is taken from another receipt by its digest."""
    copied = (figure.copied for figure in claimed.figures(study, claim))
    return any(each and each[0] and each[0].full for each in copied)


def a2_control(study: Study) -> Answer:
    """Ask that the unchanged deployment was measured again: A … A2, or a return to it."""
    if not claimed.comparing(study):
        return Holds(detail="nothing is compared")
    _, controls = claimed.sides(study.receipt.arms)
    expected = "two complete arms of the unchanged deployment"
    complete = [arm for arm in controls if arm.state is ArmState.COMPLETE]
    if len(complete) < 2:  # noqa: PLR2004
        states = listed(f"{arm.id} {arm.state}" for arm in controls)
        return Broken(expected=expected, got=states or "no control", path="arms")
    declared = [claimed.setting(arm) for arm in complete if arm.settings]
    if len(set(declared)) == len(declared):
        if unset := [arm.id for arm in complete if not arm.settings]:
            return Uncheckable(missing=f"the settings of {listed(unset)}")
        names = ", ".join(sorted(claimed.differing(complete)))
        return Broken(expected=expected, got=f"each control differs in {names}", path="arms")
    return Holds(detail=", ".join(arm.id for arm in complete))


def a3_order(study: Study) -> Answer:
    """Ask that the order is recorded, and is the one of the declared design."""
    design = study.receipt.design
    if design is None:
        return Uncheckable(missing="the design")
    started = [arm for arm in study.receipt.arms if arm.state is not ArmState.NOT_STARTED]
    if wrong := _against_design(design, study.receipt.arms):
        return Broken(expected=f"design {design.kind}", got=wrong, path="design.order")
    timed = sorted((a for a in started if a.started_at), key=lambda a: (a.started_at, a.id))
    by_time = [arm.id for arm in timed]
    by_order = [name for name in design.order if name in by_time]
    if by_time != by_order:
        return Broken(
            expected=f"starts in the order {' '.join(by_order)}",
            got=f"{' '.join(by_time)}",
            path="design.order",
        )
    if len(timed) < len(started) or not started:
        untimed = [arm.id for arm in started if arm.started_at is None]
        return Uncheckable(missing=f"startedAt of {listed(untimed) or 'any arm'}")
    return Holds(detail=" ".join(by_order))


def _against_design(design: Design, arms: tuple[Arm, ...]) -> str | None:
    """Say how the recorded order departs from the kind of design, None if it does not."""
    roles = {arm.id: "B" if arm.role is Role.CANDIDATE else "A" for arm in arms}
    if unlisted := sorted(roles.keys() - set(design.order)):
        return f"not in the order: arm {listed(unlisted)}"
    if design.kind == "single":
        return None if len(arms) == 1 else f"{len(arms)} arms"
    if design.kind not in _LETTERS or not set(design.order) <= roles.keys():
        return None  # an order of its own (A6), or one with an arm that is not there (A1)
    letters = "".join(roles[name] for name in design.order)
    times = len(letters) // len(design.kind)
    return None if times and letters == design.kind * times else f"order {letters}"


def a4_fresh_boots(study: Study) -> Answer:
    """Ask that a fresh boot is a new process with a later start for each arm."""
    if study.receipt.design is None:
        return Uncheckable(missing="the design")
    if not study.receipt.design.fresh_boots:
        return Holds(detail="no fresh boot is claimed")
    reused = dict[str, str](_reused(study.complete))

    def ask(claim: Claim) -> str | Missing | None:
        of = claimed.measured(study, claim)
        if stale := [reused[arm.id] for arm in of if arm.id in reused]:
            return listed(stale)
        lacking = [arm.id for arm in of if not (arm.boot and arm.boot.full)]
        lacking += [arm.id for arm in of if not arm.process_started_at or not arm.started_at]
        return Missing(f"bootId and times of {listed(lacking)}") if lacking or not of else None

    answer = limit(claimed.comparing(study), ask, expected="a new process for each arm")
    if reused and not isinstance(answer, Broken):
        return Broken(expected="a new process for each arm", got=listed(reused.values()))
    return answer


def _reused(arms: tuple[Arm, ...]) -> Iterator[tuple[str, str]]:
    """Yield each arm that did not get a process of its own, and why that is seen."""
    boots = dict[str, str]()
    for arm in arms:
        boot = arm.boot.full if arm.boot else None
        if boot in boots:
            yield arm.id, f"{arm.id} has the boot of {boots[boot]}"
        elif boot:
            boots[boot] = arm.id
        if arm.process_started_at and arm.started_at and arm.process_started_at > arm.started_at:
            yield arm.id, f"the process of {arm.id} started after it"
    timed = [a for a in arms if a.process_started_at and a.started_at]
    timed.sort(key=lambda a: (a.started_at, a.id))
    for before, after in pairwise(timed):
        if _not_later(before, after):
            yield after.id, f"the process of {after.id} is no newer than that of {before.id}"


def _not_later(before: Arm, after: Arm) -> bool:
    first, second = before.process_started_at, after.process_started_at
    return first is not None and second is not None and second <= first


def a5_no_overlap(study: Study) -> Answer:
    """Ask that no arm, and no capture of one, overlaps another, and that each ends after it began.

    Arms that never started have no times. Captures are held to it where they say their times.
    """
    started = [arm for arm in study.receipt.arms if arm.state is not ArmState.NOT_STARTED]
    if wrong := [*_backwards(started), *_overlapping(started), *_outside(started)]:
        return Broken(expected="one after the other", got=listed(wrong), path="arms")
    untimed = [arm.id for arm in started if arm.started_at is None or arm.finished_at is None]
    if untimed or not started:
        return Uncheckable(missing=f"startedAt and finishedAt of {listed(untimed) or 'any arm'}")
    return Holds(detail=f"{len(started)} arms")


def _backwards(arms: list[Arm]) -> Iterator[str]:
    for arm in arms:
        if arm.started_at and arm.finished_at and arm.finished_at < arm.started_at:
            yield f"{arm.id} finished before it started"


def _overlapping(arms: list[Arm]) -> Iterator[str]:
    timed = [arm for arm in arms if arm.started_at]
    timed.sort(key=lambda arm: (arm.started_at, arm.id))
    for before, after in pairwise(timed):
        if after.started_at == before.started_at:
            yield f"{after.id} started together with {before.id}"
        elif before.finished_at and after.started_at and after.started_at < before.finished_at:
            yield f"{after.id} started before {before.id} had finished"


def _outside(arms: list[Arm]) -> Iterator[str]:
    for arm in arms:
        last = arm.started_at
        for capture in sorted(arm.captures, key=lambda capture: capture.attempt):
            begun, ended = capture.started_at, capture.finished_at
            if begun and last and begun < last:
                yield f"attempt {capture.attempt} of {arm.id} started before what precedes it ended"
            if begun and ended and ended < begun:
                yield f"attempt {capture.attempt} of {arm.id} finished before it started"
            if ended and arm.finished_at and ended > arm.finished_at:
                yield f"attempt {capture.attempt} of {arm.id} finished after the arm"
            last = ended or begun or last


def a6_interleaved(study: Study) -> Answer:
    """Ask that what is called interleaved was: a setting was left and returned to."""

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.measured(study, claim)
        ordered = claimed.in_order(study, compared) if compared else None
        if ordered is None:
            return Missing("the order of the arms")
        if not all(arm.settings for arm in ordered):
            return Missing("the settings of the arms")
        settings = [claimed.setting(arm) for arm in ordered]
        runs = 1 + sum(left != right for left, right in pairwise(settings))
        if runs > len(set(settings)):
            return None
        return f"the order was {' '.join(arm.id for arm in ordered)}, one setting after the other"

    claims = study.claims(ClaimKind.INTERLEAVED)
    return limit(claims, ask, expected="arms of the settings in turn")
