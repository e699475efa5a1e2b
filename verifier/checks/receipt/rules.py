"""The written-out list of rules, in the order of the book (receipts.md §2): 115 of them."""

from typing import Final

from verifier.checks.receipt import binding, counters, derived, sanitised
from verifier.checks.receipt.answer import Rule

RULES: Final[tuple[Rule, ...]] = (
    *binding.RULES,
    *counters.RULES,
    *derived.RULES,
    *sanitised.RULES,
)
