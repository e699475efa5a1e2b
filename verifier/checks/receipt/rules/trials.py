"""Rules G6 to G11: requests that count as success, rows that pass, failures that are waived."""

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
from verifier.checks.receipt.document.model import Arm, ArmState, GateState, Kind, Receipt
from verifier.checks.receipt.numbers.alike import Missing, RowRule
from verifier.checks.receipt.numbers.samples import Row
from verifier.checks.receipt.rules.gates import NO_GATE, resting
from verifier.checks.receipt.study import Study

_OK: Final = 200
_BROKEN_OFF: Final = ("truncated", "timedOut", "malformed")
#: Gates about what was produced and not how fast.
_CONTENT: Final = ("outputCheck", "stateSafety", "activation")


def g6_content(study: Study) -> Answer:
    """Ask that a pass rests on checked content, not on HTTP 200 or a server that started."""
    passed = [each for each in study.receipt.results if each.state is GateState.PASS]
    if not passed:
        return NO_GATE
    for result in passed:
        if result.kind in _CONTENT and not result.checks:
            return Broken(
                expected=f"gate {result.gate} judged by checks of content",
                got="no check is named",
                claims=resting(study, result),
            )
    unchecked = study.tally.uncheckable.get("X1")
    if not study.tally.rows:
        return Uncheckable(missing="samples with their checks")
    if unchecked and unchecked.count >= in_scope(study):
        lost = frozenset[str]().union(*(resting(study, each) for each in passed))
        got = "complete requests alone, not one of them checked"
        return Broken(expected="requests whose content was checked", got=got, claims=lost)
    return Holds(detail=f"{len(passed)} gates")


def in_scope(study: Study) -> int:
    """Count the completed requests whose output is to be checked: all but warm-ups (X1)."""
    complete = study.tally.complete.items()
    return sum(number for (_, _, membership), number in complete if membership != "warmup")


def g7_broken_stream(study: Study) -> Answer:
    """Ask that an arm with a truncated, timed-out or malformed request is marked invalid."""
    if noted := study.tally.broken.get("G7"):
        return Broken(expected="a trial that is marked invalid", got=str(noted), path="samples")
    for arm in study.complete:
        listed = sum(study.tally.statuses[arm.id, status] for status in _BROKEN_OFF)
        if arm.counts and arm.counts.timed_out + arm.counts.truncated > listed:
            got = f"{arm.counts.timed_out} timed out, {arm.counts.truncated} truncated"
            return Broken(expected=f"arm {arm.id} marked invalid", got=got)
    return _no_requests(study) or Holds(detail=f"{len(study.complete)} arms")


def g8_unfinished(study: Study) -> Answer:
    """Ask that a cancelled or unfinished request counts as incomplete, never as success."""
    if noted := study.tally.broken.get("G8"):
        return Broken(expected="requests that ended", got=str(noted), path="samples")
    for arm in study.complete:
        counts = arm.counts
        if counts and counts.cancelled + counts.not_started:
            got = f"{counts.cancelled} cancelled, {counts.not_started} not started"
            return Broken(expected=f"every request of arm {arm.id} to its end", got=got)
    if noted := study.tally.uncheckable.get("G8"):
        return Uncheckable(missing=str(noted))
    return _no_requests(study) or Holds(detail=f"{len(study.complete)} arms")


def _rows_of(study: Study, arm: Arm) -> int:
    return sum(number for (name, _), number in study.tally.statuses.items() if name == arm.id)


def _no_requests(study: Study) -> Uncheckable | None:
    for arm in study.complete:
        if not arm.counts and not _rows_of(study, arm):
            return Uncheckable(missing=f"samples or counts of arm {arm.id}")
    return None if study.receipt.arms else Uncheckable(missing="arms")


def g7_g8_rows(receipt: Receipt) -> Iterator[RowRule]:
    """Ask of each row of a complete arm how its request ended; explored ones may break off."""
    complete = {arm.id for arm in receipt.arms if arm.state is ArmState.COMPLETE}
    streamed = receipt.kind in (Kind.SERVING, Kind.CANARY)

    def broken_off(row: Row) -> str | None:
        if row["status"] not in _BROKEN_OFF or row["arm"] not in complete:
            return None
        return None if row["membership"] == "exploratory" else f"{row['arm']} {row['status']}"

    def unfinished(row: Row) -> str | Missing | None:
        if row["status"] == "complete":
            if row.get("httpStatus", _OK) != _OK and row["httpStatus"] is not None:
                return f"complete with HTTP status {row['httpStatus']}"
            if row.get("exitCode"):
                return f"complete with exit code {row['exitCode']}"
            return Missing("finishReason") if streamed and not row.get("finishReason") else None
        if row["status"] == "cancelled" and row["arm"] in complete:
            return f"{row['arm']} cancelled"
        return None

    yield RowRule("G7", broken_off)
    yield RowRule("G8", unfinished)


def g9_nothing_measured(study: Study) -> Answer:
    """Ask that each arm that started measured something: nothing is no pass and no regression."""
    measured = dict.fromkeys((arm.id for arm in study.started), 0)
    for (name, _, membership), number in study.tally.complete.items():
        if membership in ("core", "control") and name in measured:
            measured[name] += number
    if not study.tally.rows:
        for arm in study.started:
            if arm.counts is None:
                return Uncheckable(missing=f"samples or counts of arm {arm.id}")
            measured[arm.id] = arm.counts.complete
    if empty := [name for name, number in measured.items() if not number]:
        got = f"none in {', '.join(empty)}"
        return Broken(expected="completed measurements in every arm that started", got=got)
    return Holds(detail=f"{sum(measured.values())}") if measured else Uncheckable(missing="arms")


def g10_every_row(study: Study) -> Answer:
    """Ask that all rows of a gate passed; most of them are not enough (301 of 354)."""
    passed = [each for each in study.receipt.results if each.state is GateState.PASS]
    for result in passed:
        if result.rows and result.rows[0] != result.rows[1]:
            got = f"{result.rows[0]:,} of {result.rows[1]:,}"
            return Broken(expected=f"every row of gate {result.gate} to pass", got=got)
    if noted := study.tally.broken.get("G10"):
        return Broken(expected="every check to pass", got=str(noted), path="samples")
    for result in passed:
        if result.kind == "outputCheck" and not (result.rows and result.rows[1]):
            return Uncheckable(missing=f"how many rows of gate {result.gate} passed, rows")
    return Holds(detail=f"{len(passed)} gates") if study.receipt.results else NO_GATE


def g10_rows(receipt: Receipt) -> Iterator[RowRule]:
    """Ask of each row that no check failed which a gate that passed is made of."""
    passed = [each for each in receipt.results if each.state is GateState.PASS]
    gated = frozenset(name for each in passed for name in each.checks)

    def failed(row: Row) -> str | None:
        for check in row.get("checks", ()):
            if not check["passed"] and check["id"] in gated:
                return f"check {check['id']} failed"
        return None

    if gated:
        yield RowRule("G10", failed)


def g11_waiver(study: Study) -> Answer:
    """Ask that a waived gate is no pass: its failure is kept, with who waived it and why."""
    results = study.receipt.results
    for result in results:
        waived = result.state is GateState.WAIVED
        failure = result.observed is not None or result.rows or result.exit_code
        if result.waiver and not waived:
            got = f"{result.state}, waived by {result.waiver.by}"
            return Broken(expected=f"gate {result.gate} WAIVED", got=got, condition="other-state")
        if waived and not (result.waiver and failure):
            got = "no waiver" if result.waiver is None else "no observed, rows or exitCode"
            expected = f"who waived gate {result.gate}, why, and the failure that was waived"
            return Broken(expected=expected, got=got, condition="unexplained")
    for result in results:
        if result.state is GateState.WAIVED and result.waiver:
            got = f"waived by {result.waiver.by}: {result.waiver.reason}"
            return Broken(expected=f"gate {result.gate} passed", got=got)
    return Holds(detail="nothing is waived") if results else NO_GATE


RULES: Final = (
    Rule(
        "G6",
        "content",
        "gates",
        only(Consequence.LIMITS),
        g6_content,
        "check what came back, and name the checks in the gate and in every sample",
    ),
    Rule(
        "G7",
        "broken-stream",
        "gates",
        only(Consequence.INVALID),
        g7_broken_stream,
        "mark the arm invalid, keep its capture, and measure again under a new attempt",
    ),
    Rule(
        "G8",
        "unfinished",
        "gates",
        only(Consequence.INCOMPLETE),
        g8_unfinished,
        "mark the arm incomplete, and write of every request how it ended",
    ),
    Rule(
        "G9",
        "nothing-measured",
        "gates",
        only(Consequence.INCOMPLETE),
        g9_nothing_measured,
        "keep the capture as incomplete, correct the harness, and measure again",
    ),
    Rule(
        "G10",
        "every-row",
        "gates",
        only(Consequence.FAIL),
        g10_every_row,
        "say that the gate failed, and list the rows that did",
    ),
    Rule(
        "G11",
        "waiver",
        "gates",
        dict.fromkeys(("", "other-state", "unexplained"), Consequence.WAIVED),
        g11_waiver,
        "write WAIVED with who and why beside the failure; nothing makes it a pass",
    ),
)
