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
    Code(
        "receipt-e1-totals",
        "retention",
        REJECTED,
        "totals are not those of the samples, or do not add up",
    ),
    Code(
        "receipt-e2-exploratory",
        "retention",
        REJECTED,
        "exploratory samples in a core figure or a gate",
    ),
    Code("receipt-e3-post-hoc", "claims", UNDECIDED, "added after a result, and not marked so"),
    Code(
        "receipt-e4-unaccounted", "retention", UNDECIDED, "planned requests are not accounted for"
    ),
    Code(
        "receipt-e5-captures", "retention", UNDECIDED, "a failed or partial capture is not listed"
    ),
    Code("receipt-e6-replaced", "retention", REJECTED, "a rejected attempt was replaced"),
    Code(
        "receipt-e7-warm-ups",
        "retention",
        REJECTED,
        "warm-ups are not as declared, or are in a figure",
    ),
    Code("receipt-e8-stripped", "retention", REJECTED, "a stored response is not the recorded one"),
    Code("receipt-e9-cases-kept", "retention", UNDECIDED, "a declared case has no samples"),
    Code(
        "receipt-e10-evidence",
        "retention",
        UNDECIDED,
        "raw evidence lacks its digest, size or reason",
    ),
    Code("receipt-e11-tests", "retention", REJECTED, "counts of tests do not add up"),
    Code(
        "receipt-e12-sample-count", "retention", REJECTED, "other samples are listed than declared"
    ),
    Code("receipt-e13-role-reuse", "retention", REJECTED, "one piece of evidence in two roles"),
    Code(
        "receipt-e14-deviations", "claims", UNDECIDED, "a deviation is not listed with its effect"
    ),
    Code("receipt-e15-zero", "retention", REJECTED, "no result is given as 0"),
    Code("receipt-n1-few-samples", "claims", UNDECIDED, "a conclusion from few samples"),
    Code(
        "receipt-n2-opposite-signs",
        "claims",
        UNDECIDED,
        "pairs of arms differ in opposite directions",
    ),
    Code("receipt-n3-disjoint-ranges", "claims", UNDECIDED, "disjoint ranges of very few samples"),
    Code("receipt-n4-spread", "claims", UNDECIDED, "a middle without its spread"),
    Code("receipt-n5-percentile", "claims", UNDECIDED, "a percentile of too few samples"),
    Code("receipt-n6-replication", "claims", UNDECIDED, "a side was booted only once"),
    Code("receipt-n7-short-window", "claims", UNDECIDED, "one short window"),
    Code(
        "receipt-n8-margin", "claims", UNDECIDED, "no regression without a margin declared before"
    ),
    Code("receipt-n9-control-left-out", "statistics", UNDECIDED, "a control was left out"),
)
