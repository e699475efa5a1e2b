"""The one table of codes: facet, outcome and title of everything pinproof can say.

A code belongs to one facet and has exactly one outcome (ARCHITECTURE §3). Where CHECKS names
two outcomes for one step there are two codes. `docs/codes/<code>.md` explains each; codes are
stable: scripts and waivers name them, prose is never parsed.

Outcomes: `rejected` (the evidence says no), `undecided` (nothing says yes), `error` (there was
nothing to judge with; such a code is never a finding).
"""

from typing import Final

from verifier.core.codes import (
    bundle,
    chain,
    composition,
    evidence,
    git_signature,
    head,
    helper,
    image,
    importing,
    migration,
    pinning,
    policies,
    receipt,
    release,
    signing,
    statements,
    trees,
)
from verifier.core.codes.row import Code

__all__ = ["CODES", "Code"]

#: The order of this table is the order of findings in a report.
_ROWS: Final = (
    *helper.ROWS,
    *trees.ROWS,
    *composition.ROWS,
    *image.ROWS,
    *evidence.ROWS,
    *bundle.ROWS,
    *statements.ROWS,
    *chain.ROWS,
    *git_signature.ROWS,
    *signing.ROWS,
    *head.ROWS,
    *policies.ROWS,
    *receipt.ROWS,
    *release.ROWS,
    *importing.ROWS,
    *migration.ROWS,
    *pinning.ROWS,
)

CODES: Final[dict[str, Code]] = {row.code: row for row in _ROWS}
