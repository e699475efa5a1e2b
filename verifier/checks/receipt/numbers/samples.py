"""Samples: what one row may hold, and where rows come from.

A row stays the object that JSON gave, because a receipt may hold a hundred thousand of them and a
side file ten million. Each is examined once, on its way through; the path of a mistake is made
only for the mistake.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from verifier.checks.receipt.numbers.quantities import COUNTERS
from verifier.core.limits import SAMPLE_BYTES
from verifier.core.strict import read_large_json

Row = Mapping[str, Any]

MEMBERSHIPS: Final = frozenset({"core", "exploratory", "warmup", "control"})
STATUSES: Final = frozenset(
    {"complete", "failed", "timedOut", "truncated", "cancelled", "malformed"}
)
_TEXTS: Final = ("arm", "case", "membership", "status")
INTEGERS: Final = ("attempt", "httpStatus", "cap", "depth", "exitCode", "repetition")
GROUPS: Final[dict[str, frozenset[str]]] = {
    "usage": frozenset({"promptTokens", "completionTokens", "totalTokens", "cachedTokens"}),
    "timingUs": frozenset({"ttft", "settle", "elapsed", "start"}),
    "counterDeltas": COUNTERS,
}
DIGESTS: Final = ("request", "response", "epoch")
_DIGEST_FIELDS: Final = frozenset({"sha256", "bytes", "name"})
_FLAGS: Final = ("postHoc", "idleBefore")
_ALLOWED: Final = frozenset(
    {*_TEXTS, *INTEGERS, *GROUPS, *DIGESTS, *_FLAGS, "values", "checks", "finishReason"}
)
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?")
#: What is neither text that names, nor an integer, nor a group of integers.
RARER: Final = _ALLOWED.difference(_TEXTS, INTEGERS, GROUPS)
_CHECK: Final = frozenset({"id", "passed"})


def mistake(row: Any) -> str | None:
    """Say what is wrong with one row, None if nothing is."""
    if type(row) is not dict:
        return "is no object"
    if not row.keys() <= _ALLOWED:
        return f"{min(row.keys() - _ALLOWED)}: unknown key"
    return _texts(row) or _numbers(row) or _rarer(row)


def _texts(row: Row) -> str | None:
    for name in _TEXTS:
        if type(row.get(name)) is not str or not row[name]:
            return f"{name}: expected text"
    if row["membership"] not in MEMBERSHIPS:
        return f"membership: none of {', '.join(sorted(MEMBERSHIPS))}"
    if row["status"] not in STATUSES:
        return f"status: none of {', '.join(sorted(STATUSES))}"
    return None


def _numbers(row: Row) -> str | None:
    for name in INTEGERS:
        if name in row and not _integer_or_null(row[name]):
            return f"{name}: expected an integer from 0, or null"
    for name, fields in GROUPS.items():
        if name in row and (wrong := _group(row[name], fields)):
            return f"{name}{wrong}"
    return None


def _integer_or_null(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _group(value: Any, fields: frozenset[str]) -> str | None:
    if value is None:
        return None
    if type(value) is not dict:
        return ": expected an object"
    if not value.keys() <= fields:
        return f".{min(value.keys() - fields)}: unknown key"
    for name, each in value.items():
        if each is None:
            continue
        if name == "acceptedPerPosition":
            if type(each) is list and all(map(_integer, each)):
                continue
            return f".{name}: expected a list of integers from 0, or null"
        if type(each) is int and each >= 0:
            continue
        return f".{name}: expected an integer from 0, or null"
    return None


def _integer(value: Any) -> bool:
    return type(value) is int and value >= 0


def _rarer(row: Row) -> str | None:
    """Examine what most rows have little or nothing of."""
    for name in _FLAGS:
        if name in row and type(row[name]) is not bool:
            return f"{name}: expected true or false"
    if type(row.get("finishReason", "")) is not str and row["finishReason"] is not None:
        return "finishReason: expected text, or null"
    for name in DIGESTS:
        if name in row and (wrong := _digest(row[name])):
            return f"{name}{wrong}"
    for name, value in _pairs(row.get("values")):
        if value is None or type(value) is int:
            continue
        if type(value) is not str or not _DECIMAL.fullmatch(value):
            return f"values.{name}: expected a decimal as a string, an integer, or null"
    if type(row.get("values", {})) is not dict:
        return "values: expected an object"
    return _checks(row.get("checks", []))


def _pairs(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if type(value) is dict else ()


def _digest(value: Any) -> str | None:
    if type(value) is not dict or not value.keys() <= _DIGEST_FIELDS:
        return ": expected an object with sha256, and perhaps bytes and name"
    if type(value.get("sha256")) is not str:
        return ".sha256: expected text"
    if "bytes" in value and not _integer(value["bytes"]):
        return ".bytes: expected an integer from 0"
    return None if type(value.get("name", "")) is str else ".name: expected text"


def _checks(value: Any) -> str | None:
    if type(value) is not list:
        return "checks: expected a list"
    for each in value:
        sound = type(each) is dict and each.keys() == _CHECK
        if not sound or type(each["id"]) is not str or type(each["passed"]) is not bool:
            return "checks: expected objects with id, a text, and passed, true or false"
    return None


class SideFile:
    """The samples of a side file, one strict JSON object a line, read anew at every iteration.

    Iterating raises `ValueError` naming the line that is wrong, but only after the last piece: if
    the file changed meanwhile, that is what has to be said, and `pieces` says it at its end.
    """

    def __init__(self, pieces: Callable[[], Iterable[bytes]]) -> None:
        """Hold what opens the file once more."""
        self._pieces = pieces

    def __iter__(self) -> Iterator[Any]:
        """Read the file from its beginning."""
        pieces = iter(self._pieces())
        try:
            yield from _lines(pieces)
        except ValueError:
            for _ in pieces:
                pass
            raise


def _lines(pieces: Iterable[bytes]) -> Iterator[Any]:
    rest, number = b"", 0
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            yield _line(line, number)
        if len(rest) > SAMPLE_BYTES:
            raise ValueError(f"line {number + 1}: longer than {SAMPLE_BYTES:,} bytes")
    if rest:
        raise ValueError(f"line {number + 1}: the file ends within it")


def _line(line: bytes, number: int) -> Any:
    try:
        return read_large_json([line], limit=SAMPLE_BYTES)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None
