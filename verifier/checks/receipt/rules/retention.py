"""Rules E: membership and retention. E1, 2, 3, 7, 9 and 12 stand in `membership`."""

import re
from collections import defaultdict
from collections.abc import Iterator
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
from verifier.checks.receipt.document.identities import Evidence
from verifier.checks.receipt.document.model import Arm, ArmState, Counts, GateState, Kind
from verifier.checks.receipt.rules import claimed, membership
from verifier.checks.receipt.rules.claimed import listed
from verifier.checks.receipt.study import Study
from verifier.core.printable import quoted

#: Which statuses of samples each count is about.
_STATUSES: Final = (
    ("complete", ("complete",)),
    ("failed", ("failed", "malformed")),
    ("timed_out", ("timedOut",)),
    ("truncated", ("truncated",)),
    ("cancelled", ("cancelled",)),
)
_RULE_ID: Final = re.compile("[ABEKDNGXPT][1-9][0-9]?|none")
_NO_RESULT: Final = frozenset({GateState.INVALID, GateState.INCOMPLETE, GateState.NOT_RUN})


def e4_all_accounted(study: Study) -> Answer:
    """Ask that planned is complete and failed and interrupted and not started, in every arm."""
    if not study.receipt.arms:
        return Uncheckable(missing="arms")
    wrong = [f"{arm.id}: {why}" for arm in study.receipt.arms for why in _unaccounted(study, arm)]
    if wrong:
        return Broken(expected="all planned requests", got=listed(wrong), path="arms")
    if absent := [arm.id for arm in study.receipt.arms if arm.counts is None]:
        return Uncheckable(missing=f"counts of {listed(absent)}")
    planned = sum(arm.counts.planned for arm in study.receipt.arms if arm.counts)
    return Holds(detail=f"{planned:,} planned requests")


def _unaccounted(study: Study, arm: Arm) -> Iterator[str]:
    counts = arm.counts
    if counts is None:
        return
    if counts.total != counts.planned:
        yield f"{counts.planned:,} planned, {counts.total:,} accounted for"
    if (planned := _planned(study)) is not None and counts.planned < planned:
        yield f"{counts.planned:,} planned, {planned:,} by the design"
    if study.tally.rows:
        yield from _unlisted(study, arm.id, counts)


def _planned(study: Study) -> int | None:
    """Return how many requests the design plans for an arm, None if it does not say."""
    design = study.receipt.design
    if design is None or design.repetitions is None or design.warmups is None:
        return None
    return len(design.cases) * (design.repetitions + design.warmups)


def _unlisted(study: Study, arm: str, counts: Counts) -> Iterator[str]:
    """Compare counts with samples; a request that was tried again has several of them (E6)."""
    tally = study.tally
    again = sum(tries.total() for place, tries in tally.retried.items() if place[0] == arm)
    found = {
        name: sum(tally.statuses[arm, status] for status in statuses)
        for name, statuses in _STATUSES
    }
    started = counts.planned - counts.not_started
    if sum(found.values()) - again != started:
        yield f"{started:,} started, {sum(found.values()) - again:,} listed"
    for name, number in found.items():
        stated: int = getattr(counts, name)
        if number != stated and (name == "complete" or not again):
            yield f"{stated:,} {name.replace('_', ' ')}, {number:,} listed"


def e5_captures_kept(study: Study) -> Answer:
    """Ask that failed and partial captures are listed, with their state and digest."""
    if not study.receipt.arms:
        return Uncheckable(missing="arms")
    wrong, unknown = list[str](), list[str]()
    for arm in study.receipt.arms:
        failed = [capture for capture in arm.captures if capture.state is not ArmState.COMPLETE]
        if arm.state in (ArmState.INVALID, ArmState.INCOMPLETE) and not failed:
            wrong.append(f"{arm.id} is {arm.state} and lists no such capture")
        if arm.state is ArmState.COMPLETE and arm.captures and len(failed) == len(arm.captures):
            wrong.append(f"{arm.id} is complete and lists no such capture")
        elif arm.state is ArmState.COMPLETE and not arm.captures:
            unknown.append(arm.id)
        wrong += [
            f"attempt {capture.attempt} of {arm.id} has no digest"
            for capture in failed
            if capture.evidence.digest is None and capture.state is not ArmState.NOT_STARTED
        ]
    if wrong:
        return Broken(expected="every capture that was made", got=listed(wrong), path="arms")
    if unknown:
        return Uncheckable(missing=f"captures of {listed(unknown)}")
    return Holds(detail=f"{sum(len(arm.captures) for arm in study.receipt.arms)} captures")


def e6_not_replaced(study: Study) -> Answer:
    """Ask that attempts have no gaps, and that an accepted later one carries the earlier ones."""
    wrong = [text for arm in study.receipt.arms for text in _captures_replaced(arm)]
    wrong += _samples_replaced(study)
    noted = study.tally.broken.get("E6")
    if noted:
        wrong.append(str(noted))
    if wrong:
        return Broken(expected="all attempts, from 1 on", got=listed(wrong))
    if missing := study.tally.uncheckable.get("E6"):
        return Uncheckable(missing=str(missing))
    if not study.tally.rows and not any(arm.captures for arm in study.receipt.arms):
        return Uncheckable(missing="attempts of captures and samples")
    again = sum(tries.total() for tries in study.tally.retried.values())
    return Holds(detail=f"{again} samples were taken again")


def _captures_replaced(arm: Arm) -> Iterator[str]:
    ordered = sorted(arm.captures, key=lambda capture: capture.attempt)
    attempts = [capture.attempt for capture in ordered]
    if attempts != list(range(1, len(attempts) + 1)):
        yield f"{arm.id} has captures {', '.join(map(str, attempts))}"
    for capture in ordered[:-1]:
        if capture.state is ArmState.COMPLETE:
            yield f"attempt {capture.attempt} of {arm.id} was complete and taken again"


def _samples_replaced(study: Study) -> Iterator[str]:
    for place, tries in sorted(study.tally.retried.items()):
        rejected = study.tally.rejected.get(place, set())
        for (repetition, attempt), times in sorted(tries.items()):
            where = f"{place[0]}, case {place[1]}, repetition {repetition}"
            if times > 1:
                yield f"{where}: attempt {attempt} is there {times} times"
            earlier = ((n, (repetition, n) in rejected) for n in range(1, attempt))
            gap = next((n for n, kept in earlier if not kept), None)
            if gap is not None:
                yield f"{where}: attempt {attempt} without a rejected attempt {gap}"


def e8_nothing_stripped(study: Study) -> Answer:
    """Ask that stored responses have the recorded digest and length (`retention_rows`)."""
    if broken := study.tally.broken.get("E8"):
        return Broken(expected="the recorded bytes", got=str(broken), path="samples")
    if missing := study.tally.uncheckable.get("E8"):
        return Uncheckable(missing=str(missing))
    if not study.tally.rows:
        return Uncheckable(missing="the samples")
    return Holds(detail=f"{study.tally.checked('E8'):,} responses")


def e10_evidence_pinned(study: Study) -> Answer:
    """Ask that raw evidence has a digest and a size, and a reason if it is not published."""
    captures = [capture.evidence for arm in study.receipt.arms for capture in arm.captures]
    found = [*study.receipt.evidence, *captures]
    if wrong := [f"{each.name}: {why}" for each in found for why in _unpinned(each)]:
        return Broken(expected="digest, size and reason", got=listed(wrong), path="evidence")
    if not captures and not any(each.role == "raw" for each in found):
        return Uncheckable(missing="raw evidence")
    return Holds(detail=f"{len(found)} files")


def _unpinned(each: Evidence) -> Iterator[str]:
    if each.digest is None:
        yield "no digest"
    elif each.digest.full is None:
        yield "an abbreviated digest"
    if each.length is None:
        yield "no size"
    if not each.published and not each.reason:
        yield "unpublished without a reason"


def e11_tests_add_up(study: Study) -> Answer:
    """Ask that run is passed, failed, errors and skipped, and every skip has a reason.

    A failure that is disclosed as another's stays among the failed ones; it is not subtracted.
    """
    tests = study.receipt.tests
    if tests is None and study.receipt.kind is not Kind.TESTS:
        return Holds(detail="no test is counted")
    if tests is None:
        return Uncheckable(missing="the counts of tests")
    parts = (tests.passed, tests.failed, tests.errors, len(tests.skipped))
    wrong = list[str]()
    if sum(parts) != tests.run:
        wrong.append(f"{' + '.join(map(str, parts))} = {sum(parts)}")
    wrong += [f"skipped without a reason: {name}" for name, reason in tests.skipped if not reason]
    if len(tests.disclosed) > tests.failed + tests.errors:
        wrong.append(f"{len(tests.disclosed)} failures disclosed, {tests.failed} counted")
    if wrong:
        return Broken(expected=f"{tests.run} tests", got=listed(wrong), path="tests")
    return Holds(detail=f"{tests.run} = {' + '.join(map(str, parts))}")


def e13_one_role(study: Study) -> Answer:
    """Ask that no digest of evidence is presented in two roles."""
    uses = defaultdict[str, set[str]](set)
    for arm in study.receipt.arms:
        for capture in arm.captures:
            if capture.evidence.digest and capture.evidence.digest.full:
                uses[capture.evidence.digest.full].add(f"attempt {capture.attempt} of {arm.id}")
        for activation in arm.activation:
            if activation.evidence and activation.evidence.full:
                uses[activation.evidence.full].add(f"activation in {arm.id}")
    for each in study.receipt.evidence:
        if each.digest and each.digest.full and each.role not in (None, "raw"):
            uses[each.digest.full].add(f"{each.role} evidence")
    if not uses and not study.receipt.evidence:
        return Uncheckable(missing="digests of evidence")
    if wrong := [" and ".join(sorted(names)) for names in uses.values() if len(names) > 1]:
        return Broken(expected="evidence of its own for each", got=listed(wrong))
    return Holds(detail=f"{len(uses)} digests")


def e14_deviations(study: Study) -> Answer:
    """Ask that deviations from the protocol are a list that says what each affects.

    That is a rule by its id, a loaded file by its path (B6), or an arm. A deviation that the
    receipt shows elsewhere, and does not list, is one without its effect.
    """
    runtime = study.receipt.runtime
    named = {file.path for file in runtime.files} if runtime else set()
    named |= {arm.id for arm in study.receipt.arms}
    wrong = []
    for number, (_, affects) in enumerate(study.receipt.deviations):
        unknown = [each for each in affects if each not in named and not _RULE_ID.fullmatch(each)]
        if unknown or not affects:
            what = f"no rule, file or arm {quoted(unknown[0])}" if unknown else "no effect stated"
            wrong.append(f"deviation {number}: {what}")
    if not study.receipt.deviations:
        wrong += [f"not listed: {what}" for what in _departures(study)]
    if wrong:
        return Broken(
            expected="every deviation, with the rules that it affects, or none",
            got=listed(wrong),
            path="deviations",
            claims=frozenset(claim.id for claim in study.receipt.claims),
        )
    return Holds(detail=f"{len(study.receipt.deviations)} deviations")


def _departures(study: Study) -> Iterator[str]:
    """Yield what was not as planned or recorded, by the receipt's own fields."""
    for arm in study.receipt.arms:
        planned = arm.planned_settings
        if planned and arm.settings and dict(planned) != dict(arm.settings):
            yield f"settings of {arm.id}"
    for file in study.receipt.runtime.files if study.receipt.runtime else ():
        loaded, recorded = file.loaded, file.recorded
        if loaded and recorded and loaded.full and recorded.full and loaded.full != recorded.full:
            yield f"{file.path} on rank {file.rank}"


def e15_no_result_is_not_zero(study: Study) -> Answer:
    """Ask that what has no result is null: a rejected or crashed run measured nothing, not 0."""
    wrong = [
        f"figure {name} is 0 and comes of no complete sample"
        for name, computed in study.figures.items()
        if computed.figure.value == 0 and _of_nothing(study, name)
    ]
    wrong += [
        f"gate {result.gate} is {result.state} and observed 0"
        for result in study.receipt.results
        if result.state in _NO_RESULT and result.observed == 0
    ]
    if noted := study.tally.broken.get("E15"):
        wrong.append(str(noted))
    if wrong:
        return Broken(expected="null for what was not measured", got=listed(wrong))
    if not study.tally.rows:
        return Uncheckable(missing="the samples")
    return Holds(detail=f"{study.tally.rows:,} samples")


def _of_nothing(study: Study, name: str) -> bool:
    figure = study.figures[name].figure
    below = [o for operand in figure.operands.values() for o in claimed.below(study, operand)]
    return any(o.quantity and not study.tally.selected(o).rows for o in below)


_HERE: Final = "retention"
_INVALID: Final = only(Consequence.INVALID)
_INCONSISTENT: Final = only(Consequence.INCONSISTENT)
_INCOMPLETE: Final = only(Consequence.INCOMPLETE)
_LIMITS: Final = only(Consequence.LIMITS)
_UNCHECKABLE: Final = only(Consequence.UNCHECKABLE)
_CORRECT: Final = "correct the receipt from the raw evidence; change no measured value"
_PUBLISH: Final = "publish what is missing, also where it failed or showed no benefit"
_APART: Final = "keep the two apart: correct the receipt, and withdraw what was made of both"

RULES: Final = (
    Rule("E1", "totals", _HERE, _INCONSISTENT, membership.e1_totals, _CORRECT),
    Rule("E2", "exploratory", _HERE, _INVALID, membership.e2_exploratory_apart, _APART),
    Rule("E3", "post-hoc", _HERE, _LIMITS, membership.e3_marked_post_hoc, _APART),
    Rule("E4", "unaccounted", _HERE, _INCOMPLETE, e4_all_accounted, _PUBLISH),
    Rule("E5", "captures", _HERE, _INCOMPLETE, e5_captures_kept, _PUBLISH),
    Rule("E6", "replaced", _HERE, _INVALID, e6_not_replaced, _PUBLISH),
    Rule("E7", "warm-ups", _HERE, _INCONSISTENT, membership.e7_warm_ups, _CORRECT),
    Rule("E8", "stripped", _HERE, _INVALID, e8_nothing_stripped, _PUBLISH),
    Rule("E9", "cases-kept", _HERE, _INCOMPLETE, membership.e9_cases_kept, _PUBLISH),
    Rule("E10", "evidence", _HERE, _UNCHECKABLE, e10_evidence_pinned, _CORRECT),
    Rule("E11", "tests", _HERE, _INCONSISTENT, e11_tests_add_up, _CORRECT),
    Rule("E12", "sample-count", _HERE, _INCONSISTENT, membership.e12_sample_count, _CORRECT),
    Rule("E13", "role-reuse", _HERE, _INVALID, e13_one_role, _APART),
    Rule("E14", "deviations", _HERE, _LIMITS, e14_deviations, _CORRECT),
    Rule("E15", "zero", _HERE, _INVALID, e15_no_result_is_not_zero, _CORRECT),
)
