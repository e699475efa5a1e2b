"""Rules X: whether what came back was checked, by what, and whether arms answered the same."""

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
from verifier.checks.receipt.document.identities import full
from verifier.checks.receipt.document.model import ClaimKind, GateState, Receipt
from verifier.checks.receipt.numbers.alike import Missing, RowRule
from verifier.checks.receipt.numbers.samples import Row
from verifier.checks.receipt.rules.gates import resting
from verifier.checks.receipt.rules.trials import in_scope
from verifier.checks.receipt.study import Study


def x1_all_checked(study: Study) -> Answer:
    """Ask that every request in scope was checked, and that gates count just those (66 of 66)."""
    tally, scope = study.tally, in_scope(study)
    every = sum(tally.complete.values())
    core = sum(n for (_, _, membership), n in tally.complete.items() if membership == "core")
    if not scope:
        return Uncheckable(missing="completed samples with their checks")
    unchecked, partly = tally.uncheckable.get("X1"), tally.broken.get("X1")
    if partly:
        return Broken(expected="every check of a gate", got=str(partly), path="samples")
    if unchecked and unchecked.count >= scope:
        return Uncheckable(missing="the checks of every sample")
    if unchecked:
        got = f"{scope - unchecked.count:,}; {unchecked}"
        return Broken(expected=f"{scope:,} checked", got=got, path="samples")
    for result in study.receipt.results:
        counted = result.rows[1] if result.kind == "outputCheck" and result.rows else None
        if counted not in (None, core, scope, every):
            got = f"gate {result.gate} of {counted:,}"
            return Broken(expected=f"{scope:,} requests in scope", got=got)
    return Holds(detail=f"{scope:,} requests")


def x1_rows(receipt: Receipt) -> Iterator[RowRule]:
    """Ask of each completed row that it was checked, by every check that a gate names."""
    named = (each.checks for each in receipt.results if each.kind == "outputCheck")
    needed = frozenset(name for checks in named for name in checks)

    def checked(row: Row) -> str | Missing | None:
        if row["status"] != "complete" or row["membership"] == "warmup":
            return None
        checks = row.get("checks")
        if not checks:
            return Missing("no check")
        if len(needed) == 1 and checks[0]["id"] in needed:  # the common row, without a set
            return None
        lacking = needed.difference(check["id"] for check in checks)
        return f"no check {min(lacking)}" if lacking else None

    yield RowRule("X1", checked)


def x2_same_outputs(study: Study) -> Answer:
    """Ask that arms that are called equivalent gave the same outputs, by digest."""
    equal = study.named(ClaimKind.EQUIVALENCE)
    outputs = {arm.id: full(arm.outputs) for arm in study.complete}
    if len(set(outputs.values()) - {None}) > 1:
        got = ", ".join(f"{arm} {digest}" for arm, digest in outputs.items() if digest)
        return Broken(expected="the same outputs in every arm", got=got, claims=equal)
    if equal and (None in outputs.values() or not outputs):
        return Uncheckable(missing="the full digest of the outputs of every complete arm")
    return Holds() if equal else Holds(detail="no equivalence is claimed")


def x3_same_failures(study: Study) -> Answer:
    """Ask that "no regression" rests on one checker and on one set of failures (63 of 73)."""
    claims = study.named(ClaimKind.NO_REGRESSION)
    arms = study.complete
    checkers = {full(arm.checker) for arm in arms} - {None}
    failing = {arm.id: sorted(arm.failing) for arm in arms if arm.failing is not None}
    first = next(iter(failing.values()), [])
    if len(checkers) > 1:
        got = f"{len(checkers)} checkers"
        return Broken(expected="the same checker in every arm", got=got, claims=claims)
    for arm, names in failing.items():
        if names != first:
            changed = sorted(set(names) ^ set(first))
            got = f"arm {arm}: {', '.join(changed[:3])}"
            return Broken(expected="the same failures in every arm", got=got, claims=claims)
    unknown = not arms or any(arm.failing is None or full(arm.checker) is None for arm in arms)
    if claims and unknown:
        return Uncheckable(missing="checker and failingChecks of every complete arm")
    return Holds(detail=f"{len(first)} failures" if failing else "no regression is spoken of")


def x4_stand_ins(study: Study) -> Answer:
    """Ask that doubles, stubs and skips are labelled, and validate no device (seeds/003)."""
    lost, wrong, missing = set[str](), list[str](), list[str]()
    for result in study.receipt.results:
        if result.state is not GateState.PASS:
            continue
        if result.execution is None:
            missing.append(f"whether gate {result.gate} ran on the real thing, execution")
        elif result.execution != "real":
            wrong.append(f"gate {result.gate} on a {result.execution}")
            lost |= resting(study, result)
    tests = study.receipt.tests
    if tests and (bare := [name for name, reason in tests.skipped if reason is None]):
        wrong.append(f"{bare[0]} skipped without a reason")
        lost |= study.named(ClaimKind.CORRECTNESS)
    if wrong:
        expected = "results of the real thing, and every skip with its reason"
        return Broken(expected=expected, got="; ".join(wrong), claims=frozenset(lost))
    return Uncheckable(missing=missing[0]) if missing else Holds()


RULES: Final = (
    Rule(
        "X1",
        "all-checked",
        "outputs",
        only(Consequence.INCOMPLETE),
        x1_all_checked,
        "check every completed request, and write each check into its sample",
    ),
    Rule(
        "X2",
        "same-outputs",
        "outputs",
        only(Consequence.LIMITS),
        x2_same_outputs,
        "do not call the arms equivalent; say in how many cases they differ",
    ),
    Rule(
        "X3",
        "same-failures",
        "outputs",
        only(Consequence.LIMITS),
        x3_same_failures,
        "name the cases that changed; equal counts of failures are not equal failures",
    ),
    Rule(
        "X4",
        "stand-ins",
        "outputs",
        only(Consequence.LIMITS),
        x4_stand_ins,
        "run it on the device that the claim is about, or claim only what the double shows",
    ),
)
