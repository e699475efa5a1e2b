"""Of measurement receipts, rules K, D and P: counters, figures, sanitising."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

_COUNTERS: Final = (
    Code("receipt-k1-null-not-zero", "counters", REJECTED, "missing usage stands as a number"),
    Code("receipt-k2-one-success", "counters", REJECTED, "a request did not count as one success"),
    Code("receipt-k3-prefix-queries", "counters", REJECTED, "prefix queries are not the prompt"),
    Code("receipt-k4-positions", "counters", REJECTED, "tokens by position are not those accepted"),
    Code("receipt-k5-drafts", "counters", REJECTED, "more accepted or drafted than there can be"),
    Code("receipt-k6-conservation", "counters", REJECTED, "drafts do not account for the output"),
    Code("receipt-k7-one-epoch", "counters", REJECTED, "counters of several epochs, or of others"),
    Code("receipt-k8-cold", "claims", UNDECIDED, "a cold start is claimed and not proven"),
    Code(
        "receipt-k9-prompt-parts", "counters", REJECTED, "the parts of a prompt are not the prompt"
    ),
    Code("receipt-k10-cache-hit", "claims", UNDECIDED, "a cache hit is claimed and not counted"),
    Code("receipt-k11-prefill-cached", "counters", REJECTED, "a prefill rate of cached prompts"),
    Code("receipt-k12-totals", "counters", REJECTED, "tokens do not add up, or exceed their cap"),
    Code("receipt-k13-same-process", "counters", REJECTED, "a server was restarted in an arm"),
    Code("receipt-k14-pressure", "claims", UNDECIDED, "preemptions, swaps or faults not recorded"),
    Code("receipt-k15-resident", "claims", UNDECIDED, "resident at once is claimed and not shown"),
)
_FIGURES: Final = (
    Code("receipt-d1-recomputed", "figures", REJECTED, "a figure is not what its samples come to"),
    Code("receipt-d1-recomputed-unit", "figures", REJECTED, "a figure is in another unit"),
    Code("receipt-d2-rounding", "figures", REJECTED, "a figure is outside of what rounding allows"),
    Code("receipt-d3-median", "figures", REJECTED, "a median is not that of its samples"),
    Code("receipt-d3-median-core", "figures", REJECTED, "a cited median is not of core samples"),
    Code("receipt-d4-change", "figures", REJECTED, "a change is not candidate by baseline"),
    Code("receipt-d4-change-direction", "figures", REJECTED, "a change goes against its claim"),
    Code(
        "receipt-d4-change-baseline", "figures", REJECTED, "the baseline of a change is no baseline"
    ),
    Code("receipt-d5-acceptance-length", "figures", REJECTED, "an acceptance length is off"),
    Code("receipt-d5-acceptance-length-ratios", "figures", REJECTED, "a mean of acceptance ratios"),
    Code(
        "receipt-d5-acceptance-length-window", "figures", REJECTED, "accepted and drafts of others"
    ),
    Code("receipt-d6-rate", "figures", REJECTED, "a rate is not its tokens by its time"),
    Code("receipt-d6-rate-operands", "figures", REJECTED, "a rate of other tokens than counted"),
    Code("receipt-d7-label", "claims", UNDECIDED, "a throughput of all requests, or of one?"),
    Code("receipt-d8-normalised-decode", "figures", REJECTED, "a normalised decode is off"),
    Code(
        "receipt-d8-normalised-decode-window", "figures", REJECTED, "rate and acceptance of others"
    ),
    Code("receipt-d9-geometric-mean", "figures", REJECTED, "a geometric mean is not of its set"),
    Code("receipt-d10-client-clock", "claims", UNDECIDED, "a client's clock passes for a server's"),
)
_SANITISED: Final = (
    Code("receipt-p1-credentials", "sanitised", REJECTED, "it holds a credential"),
    Code("receipt-p2-hosts", "sanitised", REJECTED, "it names a host, address, home or person"),
    Code("receipt-p3-prompts", "sanitised", REJECTED, "it holds a prompt or an output"),
    Code("receipt-p4-original", "sanitised", UNDECIDED, "redacted, and the original is not pinned"),
    Code(
        "receipt-p5-whole-fields", "sanitised", REJECTED, "redacting was not said, or went too far"
    ),
    Code("receipt-p6-characters", "sanitised", REJECTED, "characters that hide what it says"),
)
ROWS: Final[tuple[Code, ...]] = (*_COUNTERS, *_FIGURES, *_SANITISED)
