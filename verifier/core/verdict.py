"""Verdicts, exit codes, and the one place where success comes from (ARCHITECTURE §3)."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """What a run says of one subject. There is no fourth answer and no default."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


class Exit(IntEnum):
    """The published exit codes; all others are reserved."""

    OK = 0
    REJECTED = 1
    USAGE = 2
    UNDECIDED = 3
    ENVIRONMENT = 4
    INTERNAL = 5
    INTERRUPTED = 130


_OF_VERDICT = {
    Verdict.VERIFIED: Exit.OK,
    Verdict.REJECTED: Exit.REJECTED,
    Verdict.UNDECIDED: Exit.UNDECIDED,
}

#: Several subjects: the first of these that occurs decides.
_PRECEDENCE = (Exit.REJECTED, Exit.INTERNAL, Exit.ENVIRONMENT, Exit.UNDECIDED, Exit.OK)


def exit_of(outcomes: Iterable[Verdict | Exit]) -> Exit:
    """Return the exit code for one run over all its subjects.

    `outcomes` holds a verdict a judged subject and an `Exit` a subject that could not be
    judged. A run without subjects is a fault of ours, never a success.
    """
    codes = {o if isinstance(o, Exit) else _OF_VERDICT[o] for o in outcomes}
    return next((code for code in _PRECEDENCE if code in codes), Exit.INTERNAL)


def exit_of_answer(*, known: bool) -> Exit:
    """Return the exit code of a question that is no verdict: `identify`, `explain`, `list`."""
    return exit_of([Verdict.VERIFIED if known else Verdict.UNDECIDED])
