"""Of policies: what they name, and when their waivers end."""

from typing import Final

from verifier.core.codes.row import UNDECIDED, Code

ROWS: Final = (
    Code("policy-unknown-name", "names", UNDECIDED, "the policy names what is not registered"),
    Code("policy-waiver-over", "waivers", UNDECIDED, "a waiver of the policy has ended"),
)
