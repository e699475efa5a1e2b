"""The written-out list of rules, in the order of the book (receipts.md §2): 115 of them."""

from typing import Final

from verifier.checks.receipt.answer import Rule
from verifier.checks.receipt.rules import (
    binding,
    counters,
    derived,
    design,
    gates,
    lineage,
    outputs,
    provenance,
    retention,
    sanitised,
    scope,
    statistics,
    times,
    trials,
)

RULES: Final[tuple[Rule, ...]] = (
    *binding.RULES,
    *provenance.RULES,
    *lineage.RULES,
    *design.RULES,
    *retention.RULES,
    *counters.RULES,
    *derived.RULES,
    *statistics.RULES,
    *gates.RULES,
    *trials.RULES,
    *scope.RULES,
    *outputs.RULES,
    *sanitised.RULES,
    *times.RULES,
)
