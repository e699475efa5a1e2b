"""What stops a run before a judgement is reached: never a verdict, always with a remedy.

A *finding* says that a check did not hold; an exception of this module says that there was
nothing to judge with (ARCHITECTURE, law 8). The remedy is a required argument so that nobody
can forget it.
"""

from typing import ClassVar

from verifier.core.verdict import Exit


class PinproofError(Exception):
    """No judgement was reached. `code` is one of `core.codes`, `remedy` what the user may do."""

    exit: ClassVar[Exit]

    def __init__(self, message: str, *, code: str, remedy: str) -> None:
        """Keep the one-line message, its code, and the remedy apart for every rendering."""
        super().__init__(message)
        self.message = message
        self.code = code
        self.remedy = remedy


class WrongCallError(PinproofError):
    """An argument, policy or demand does not parse, is empty, or names something unknown."""

    exit = Exit.USAGE


class UnavailableError(PinproofError):
    """The environment does not allow a judgement: an unreadable file, missing shipped data."""

    exit = Exit.ENVIRONMENT
