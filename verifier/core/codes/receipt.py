"""Of measurement receipts: what is common to all rules; the rules' own rows stand beside."""

from typing import Final

from verifier.core.codes import receipt_binding, receipt_design, receipt_numbers
from verifier.core.codes.row import REJECTED, UNDECIDED, Code

_FACETS: Final = (
    "identity",
    "arms",
    "retention",
    "counters",
    "figures",
    "statistics",
    "gates",
    "outputs",
    "sanitised",
    "exact-head",
)

#: Of several broken rules the first in this order is told as the reason: what was measured, then
#: how, then which requests and counters, then the numbers; gates and claims follow from them.
_GROUPS: Final = "baekdngxpt"
_RULES: Final = (*receipt_binding.ROWS, *receipt_design.ROWS, *receipt_numbers.ROWS)

ROWS: Final[tuple[Code, ...]] = (
    *sorted(_RULES, key=lambda row: _GROUPS.index(row.code.removeprefix("receipt-")[0])),
    Code("receipt-samples-file", "input", REJECTED, "the samples are not those that were pinned"),
    Code("receipt-gates-changed", "gates", REJECTED, "a gate was judged by other terms"),
    Code("receipt-gates-design", "gates", REJECTED, "laid out in another way than was declared"),
    Code("receipt-gates-missing", "gates", UNDECIDED, "a declared gate has no outcome"),
    Code("receipt-gates-added", "gates", UNDECIDED, "a gate that was never declared"),
    Code("receipt-gates-unproven", "gates", UNDECIDED, "no proof of when the gates were declared"),
    Code("receipt-no-claim-left", "input", UNDECIDED, "every claim is taken away by a rule"),
    Code("receipt-claim-lost", "input", UNDECIDED, "a claim that was asked for is taken away"),
    *(
        Code(f"receipt-uncheckable-{facet}", facet, UNDECIDED, "a rule lacks what it is asked of")
        for facet in _FACETS
    ),
    Code("receipt-unsigned", "signed", UNDECIDED, "no signature by anybody who was named"),
)
