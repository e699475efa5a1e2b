"""Rules that look at one sample at a time; the rules of their groups say what follows."""

from collections.abc import Iterable

from verifier.checks.receipt import counter_rows
from verifier.checks.receipt.model import Receipt
from verifier.checks.receipt.tally import RowRule


def row_rules(receipt: Receipt) -> Iterable[tuple[str, RowRule]]:
    """Return the id of each row rule and its function, for one receipt."""
    return (*counter_rows.row_rules(receipt),)
