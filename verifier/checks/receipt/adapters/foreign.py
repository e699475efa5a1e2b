"""What all adapters share: how a foreign file is read, what is refused, and what comes out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from verifier.core.clock import print_time
from verifier.core.errors import WrongCallError
from verifier.core.limits import MISTAKES_SHOWN
from verifier.core.strict import read_foreign_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen

REMEDY: Final = "import what the program wrote, whole and as it wrote it"

#: What is wrong with foreign evidence, the gravest first: its code, and how it is introduced.
REFUSED: Final = {
    "import-not-a-file": "expected regular files, got",
    "import-missing": "missing",
    "import-extra": "does not belong here",
    "import-truncated": "not as long as it is recorded",
    "import-contradicts": "contradicts itself",
    "import-unsupported": "is not read",
}


@frozen
class Imported:
    """The predicate of a receipt, the fingerprint of what it was made of, and what is not said."""

    fingerprint: str
    predicate: Mapping[str, Any]
    unsaid: tuple[str, ...]

    def statement(self, kind: str) -> dict[str, Any]:
        """Return the statement; its one subject is the evidence that was imported."""
        return {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "evidence", "digest": {"sha256": self.fingerprint}}],
            "predicateType": kind,
            "predicate": dict(self.predicate),
        }


class Refusals:
    """What is wrong with a piece of foreign evidence, by code."""

    def __init__(self, what: str) -> None:
        """Begin with nothing; `what` names the evidence."""
        self._what = what
        self._noted: dict[str, list[str]] = defaultdict(list)

    def note(self, code: str, text: str) -> None:
        """Note one thing."""
        self._noted[code].append(text)

    def done(self) -> None:
        """Raise `WrongCallError` for the gravest code that anything was noted of."""
        for code, words in REFUSED.items():
            if noted := self._noted[code]:
                more = len(noted) - MISTAKES_SHOWN
                told = "; ".join(noted[:MISTAKES_SHOWN]) + (
                    f"; and {more} more" if more > 0 else ""
                )
                raise WrongCallError(f"{self._what}: {words}: {told}", code=code, remedy=REMEDY)


def read_object(data: bytes, *, what: str, limit: int) -> dict[str, Any]:
    """Parse a foreign JSON object; numbers that are no integers stay decimals.

    Raises `MalformedError`.
    """
    try:
        value = read_foreign_json(data, limit=limit)
    except ValueError as error:
        raise MalformedError(what, [str(error)], remedy=REMEDY) from None
    if not isinstance(value, dict):
        raise MalformedError(what, ["is no object"], remedy=REMEDY)
    return value


def table(value: dict[str, Any], *, what: str) -> Table:
    """Return a reader of named fields; what is not asked for is left aside."""
    return Table(value, what=what, remedy=REMEDY)


def sound(*tables: Table) -> None:
    """Raise `MalformedError` if a field that was asked for is not of its type."""
    for each in tables:
        if not each.sound:
            each.keys()
            each.done()


def time_of(milliseconds: int) -> str:
    """Return the whole second in which a Unix time falls."""
    return print_time(datetime.fromtimestamp(milliseconds // 1000, tz=UTC))


def counted(statuses: Sequence[str], *, planned: int) -> dict[str, int]:
    """Return what became of requests: those of `planned` that have no status were not started."""
    counts = {name: statuses.count(name) for name in ("complete", "timedOut", "truncated")}
    return {
        "planned": planned,
        **counts,
        "failed": statuses.count("failed") + statuses.count("malformed"),
        "cancelled": statuses.count("cancelled"),
        "notStarted": planned - len(statuses),
    }
