"""Of measurement receipts, rules A, E and N: arms, retention, statistics."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final[tuple[Code, ...]] = (
    Code(
        "receipt-a1-arms-present",
        "arms",
        UNDECIDED,
        "a setting that is compared has no arm of its own",
    ),
    Code(
        "receipt-a2-control", "arms", UNDECIDED, "the unchanged deployment was not measured again"
    ),
    Code("receipt-a3-order", "arms", REJECTED, "the order of the arms is not the declared one"),
    Code("receipt-a4-fresh-boots", "claims", UNDECIDED, "an arm did not get a fresh boot"),
    Code("receipt-a5-overlap", "arms", REJECTED, "arms or captures overlap"),
    Code(
        "receipt-a6-interleaved",
        "claims",
        UNDECIDED,
        "called interleaved, and measured one after the other",
    ),
    Code(
        "receipt-a7-attribution",
        "claims",
        UNDECIDED,
        "the effect of several features is attributed to one",
    ),
    Code(
        "receipt-a8-interaction",
        "claims",
        UNDECIDED,
        "an interaction without all combinations of its factors",
    ),
    Code("receipt-a9-balance", "claims", UNDECIDED, "the compared arms were not repeated as often"),
    Code(
        "receipt-a10-same-work", "claims", UNDECIDED, "the compared arms did not have the same work"
    ),
    Code(
        "receipt-a10-same-work-output",
        "claims",
        UNDECIDED,
        "the compared arms did not put out as much",
    ),
    Code(
        "receipt-a11-same-factor",
        "claims",
        UNDECIDED,
        "the arms differ in algorithm or topology as well",
    ),
    Code(
        "receipt-a12-control-movement",
        "claims",
        UNDECIDED,
        "the effect is no larger than the control's own movement",
    ),
    Code("receipt-a13-invalid-baseline", "arms", REJECTED, "scored against an invalid baseline"),
    Code("receipt-a14-advanced", "arms", REJECTED, "went on after a capture was rejected"),
    Code(
        "receipt-a15-same-condition",
        "claims",
        UNDECIDED,
        "cells of different condition are compared",
    ),
    Code("receipt-a16-reference", "claims", UNDECIDED, "the reference is not named by its setting"),
)
