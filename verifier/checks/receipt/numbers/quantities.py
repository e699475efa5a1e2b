"""What can be read off one sample, and in which unit; None where something needed is missing.

Rates are exact fractions. A missing usage is null and so is every quantity made of it (K1); a
prompt that was partly cached has no prefill rate (K11).
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple


class Rate:
    """An exact quotient that is not reduced: hundreds of thousands are read, and few are printed.

    Making one takes a fifth of the time of a `Fraction`.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int) -> None:
        """Divide; the denominator is positive."""
        self.numerator = numerator
        self.denominator = denominator

    def __eq__(self, other: object) -> bool:
        """Whether the quotients are equal."""
        if not isinstance(other, Rate | Fraction | int):
            return NotImplemented
        return self.numerator * other.denominator == other.numerator * self.denominator

    def __hash__(self) -> int:
        """Equal quotients have equal ones, of whatever type."""
        return hash(exact(self))

    def __lt__(self, other: "Number") -> bool:
        """Whether this one is smaller."""
        return self.numerator * other.denominator < other.numerator * self.denominator

    def __gt__(self, other: "Number") -> bool:
        """Whether this one is larger."""
        return self.numerator * other.denominator > other.numerator * self.denominator

    def __repr__(self) -> str:
        """Print it as it is written."""
        return f"{self.numerator}/{self.denominator}"


Number = int | Fraction | Rate
Row = Mapping[str, Any]

#: Measured values with names of the study's own: `values.NAME`.
OWN: Final = "values."
_MICROSECONDS: Final = 1_000_000


class Quantity(NamedTuple):
    """How it is read off a row, and its unit."""

    read: Callable[[Row], Number | None]
    unit: str


def _field(group: str, name: str) -> Callable[[Row], Number | None]:
    def read(row: Row) -> Number | None:
        fields = row.get(group)
        found: int | None = fields.get(name) if fields else None
        return found

    return read


def own(name: str) -> Callable[[Row], Number | None]:
    """Return the reader of a value that the study names itself."""

    def read(row: Row) -> Number | None:
        found = (row.get("values") or {}).get(name)
        if found is None or isinstance(found, int):
            return found
        return Fraction(Decimal(found))

    return read


def _rate(amount: int | None, microseconds: int | None) -> Number | None:
    if amount is None or microseconds is None or microseconds <= 0:
        return None
    return Rate(amount * _MICROSECONDS, microseconds)


def _decode(row: Row) -> Number | None:
    """(completion - 1) tokens between the first one and the end (TheGrill, §1.2 of receipts.md)."""
    timing, usage = row.get("timingUs"), row.get("usage")
    if not timing or not usage:
        return None
    tokens, first, settle = usage.get("completionTokens"), timing.get("ttft"), timing.get("settle")
    if tokens is None or tokens < 1 or first is None or settle is None or settle <= first:
        return None
    return Rate((tokens - 1) * _MICROSECONDS, settle - first)


def _prefill(row: Row) -> Number | None:
    usage = row.get("usage")
    if not usage or usage.get("cachedTokens") != 0:
        return None
    return _rate(usage.get("promptTokens"), (row.get("timingUs") or {}).get("ttft"))


def _throughput(row: Row) -> Number | None:
    usage, timing = row.get("usage") or {}, row.get("timingUs") or {}
    return _rate(usage.get("completionTokens"), timing.get("elapsed"))


def _acceptance(row: Row) -> Number | None:
    counters = row.get("counterDeltas") or {}
    accepted, drafts = counters.get("acceptedTokens"), counters.get("drafts")
    return 1 + Fraction(accepted, drafts) if accepted is not None and drafts else None


_COUNTERS: Final = (
    "prefixQueries",
    "prefixHits",
    "drafts",
    "draftTokens",
    "acceptedTokens",
    "localCompute",
    "localHit",
    "external",
    "preemptions",
)
QUANTITIES: Final[dict[str, Quantity]] = {
    **{name: Quantity(_field("timingUs", name), "us") for name in ("ttft", "settle", "elapsed")},
    **{
        name: Quantity(_field("usage", name), "tokens")
        for name in ("promptTokens", "completionTokens", "totalTokens", "cachedTokens")
    },
    **{name: Quantity(_field("counterDeltas", name), "count") for name in _COUNTERS},
    "decodeRate": Quantity(_decode, "tokens/s"),
    "prefillRate": Quantity(_prefill, "tokens/s"),
    "throughput": Quantity(_throughput, "tokens/s"),
    "acceptanceLength": Quantity(_acceptance, "tokens/step"),
}
COUNTERS: Final = frozenset({*_COUNTERS, "requestSuccess", "acceptedPerPosition", "running"})


def exact(number: Number) -> int | Fraction:
    """Return a number as one to compute with."""
    if isinstance(number, Rate):
        return Fraction(number.numerator, number.denominator)
    return number


def reader(name: str) -> Callable[[Row], Number | None]:
    """Return how a quantity is read: one of `QUANTITIES`, or `values.NAME`."""
    return own(name.removeprefix(OWN)) if name.startswith(OWN) else QUANTITIES[name].read


def known(name: str) -> bool:
    """Whether there is such a quantity."""
    return name in QUANTITIES or (name.startswith(OWN) and len(name) > len(OWN))
