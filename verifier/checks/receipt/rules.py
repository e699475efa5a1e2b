"""The written-out list of rules, in the order of the book (receipts.md §2): 115 of them."""

from typing import Final

from verifier.checks.receipt import binding, design, retention, statistics
from verifier.checks.receipt.answer import Rule

RULES: Final[tuple[Rule, ...]] = (
    *binding.RULES,
    *design.RULES,
    *retention.RULES,
    *statistics.RULES,
)
