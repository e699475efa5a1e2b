"""Rules that look at one sample at a time; the rules of their groups say what follows."""

from collections.abc import Iterable

from verifier.checks.receipt import retention_rows
from verifier.checks.receipt.binding import b3_row, b4_row, b7_rows
from verifier.checks.receipt.model import Receipt
from verifier.checks.receipt.outputs import x1_rows
from verifier.checks.receipt.samples import Row
from verifier.checks.receipt.study import Companions
from verifier.checks.receipt.tally import Missing, RowRule
from verifier.checks.receipt.trials import g7_g8_rows, g10_rows


def row_rules(receipt: Receipt, companions: Companions) -> Iterable[tuple[str, RowRule]]:
    """Return the id of each row rule and its function, for one receipt and what is beside it."""
    return (
        ("B3", b3_row),
        ("B4", b4_row),
        *b7_rows(receipt),
        *retention_rows.row_rules(companions),
        ("K12", k12_total),
        *g7_g8_rows(receipt),
        *g10_rows(receipt),
        *x1_rows(receipt),
    )


def k12_total(row: Row) -> str | Missing | None:
    """Ask that the tokens add up, and that the output is no longer than its cap (TheGrill)."""
    usage = row.get("usage")
    if not usage or any(usage.get(n) is None for n in ("promptTokens", "completionTokens")):
        return Missing("usage")
    total = usage.get("totalTokens")
    if total is not None and total != usage["promptTokens"] + usage["completionTokens"]:
        return f"total {total}, not prompt and completion"
    cap = row.get("cap")
    if cap is not None and usage["completionTokens"] > cap:
        return f"{usage['completionTokens']} tokens of at most {cap}"
    if row.get("finishReason") == "length" and cap is not None and usage["completionTokens"] < cap:
        return f"finished by length at {usage['completionTokens']} of {cap}"
    return None
