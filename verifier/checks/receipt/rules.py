"""The written-out list of rules, in the order of the book (receipts.md §2): 115 of them."""

from typing import Final

from verifier.checks.receipt import (
    binding,
    design,
    gates,
    lineage,
    outputs,
    provenance,
    retention,
    scope,
    statistics,
    times,
    trials,
)
from verifier.checks.receipt.answer import Rule

RULES: Final[tuple[Rule, ...]] = (
    *binding.RULES,
    *provenance.RULES,
    *lineage.RULES,
    *design.RULES,
    *retention.RULES,
    *statistics.RULES,
    *gates.RULES,
    *trials.RULES,
    *scope.RULES,
    *outputs.RULES,
    *times.RULES,
)
