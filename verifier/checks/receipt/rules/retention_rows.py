"""Rules E6, E8 and E15 where they look at one sample at a time."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from verifier.checks.receipt.numbers.alike import Ask, Missing, RowRule
from verifier.checks.receipt.numbers.samples import Row
from verifier.checks.receipt.study import Companions
from verifier.core.digest import HEX64, Pin

#: What a request that did not end well cannot have measured as 0.
_MEASURED: Final = (
    ("timingUs", ("ttft", "settle", "elapsed")),
    ("usage", ("promptTokens", "completionTokens", "totalTokens")),
)


def row_rules(companions: Companions) -> Iterable[RowRule]:
    """Return the row rules of group E, with the files that are beside the receipt."""
    return (
        RowRule("E6", e6_attempt),
        RowRule("E8", _e8_stored(companions.files)),
        RowRule("E15", e15_no_zero),
    )


def e6_attempt(row: Row) -> str | Missing | None:
    """Ask that a sample says which attempt it is, counted from 1."""
    attempt = row.get("attempt")
    if attempt is None:
        return Missing("attempt")
    if attempt < 1:
        return "attempt 0: they are counted from 1"
    if attempt > 1 and row.get("repetition") is None:
        return Missing("repetition, of which this is another attempt")
    return None


def _e8_stored(files: Mapping[str, Pin] | None) -> Ask:
    """Ask that the stored response is the recorded one, byte for byte; nothing was stripped."""

    def ask(row: Row) -> str | Missing | None:
        if row["status"] != "complete":
            return None
        response = row.get("response") or {}
        if lacking := _lacking(response, files):
            return Missing(lacking)
        stored = (files or {})[response["name"]]
        if stored.sha256 != response["sha256"]:
            return "the stored response is not the recorded one"
        if stored.length not in (None, response["bytes"]):
            return f"{stored.length:,} bytes are stored, {response['bytes']:,} recorded"
        return None

    return ask


def _lacking(response: Mapping[str, Any], files: Mapping[str, Pin] | None) -> str | None:
    if "name" not in response or "bytes" not in response:
        return "name and bytes of the response"
    if not HEX64.fullmatch(response["sha256"]):
        return "the full digest of the response"
    if files is None:
        return "the folder of evidence"
    return None if response["name"] in files else "the stored response"


def e15_no_zero(row: Row) -> str | Missing | None:
    """Ask that a request without a result has null for what it did not measure, and not 0."""
    if row["status"] == "complete":
        return None
    for group, names in _MEASURED:
        found = row.get(group) or {}
        for name in names:
            if found.get(name) == 0:
                return f"{row['status']}, and {group}.{name} is 0"
    for name, value in (row.get("values") or {}).items():
        if value is not None and Decimal(value) == 0:
            return f"{row['status']}, and values.{name} is 0"
    return None
