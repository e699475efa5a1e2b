"""Rules that look at one sample at a time; the rules of their groups say what follows."""

from collections.abc import Iterable

from verifier.checks.receipt.document.model import Receipt
from verifier.checks.receipt.numbers.alike import RowRule
from verifier.checks.receipt.rules import counter_rows, retention_rows
from verifier.checks.receipt.rules.binding import b3_row, b4_row, b7_rows
from verifier.checks.receipt.rules.outputs import x1_rows
from verifier.checks.receipt.rules.trials import g7_g8_rows, g10_rows
from verifier.checks.receipt.study import Companions


def row_rules(receipt: Receipt, companions: Companions) -> Iterable[RowRule]:
    """Return the id of each row rule and its function, for one receipt and what is beside it."""
    return (
        RowRule("B3", b3_row),
        RowRule("B4", b4_row),
        *b7_rows(receipt),
        *retention_rows.row_rules(companions),
        *counter_rows.row_rules(receipt),
        *g7_g8_rows(receipt),
        *g10_rows(receipt),
        *x1_rows(receipt),
    )
