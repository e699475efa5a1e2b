"""Of in-toto layouts and links."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final = (
    # the layout, and layouts below it
    Code("chain-layout-malformed", "layout", REJECTED, "the layout breaks its format"),
    Code("chain-layout-signature", "layout", REJECTED, "no given key has signed this layout"),
    Code("chain-layout-unsigned", "layout", UNDECIDED, "the layout carries no signature"),
    Code("chain-layout-threshold", "layout", UNDECIDED, "too few of the given keys have signed"),
    Code("chain-layout-expired", "layout", UNDECIDED, "the layout has expired"),
    Code("chain-inspections", "layout", UNDECIDED, "the layout asks to run programs"),
    Code("chain-no-steps", "layout", UNDECIDED, "the layout has no steps"),
    Code("chain-rule-unknown", "layout", REJECTED, "an artifact rule that in-toto does not define"),
    Code("chain-sublayout-depth", "layout", REJECTED, "layouts lie too deep below each other"),
    # links
    Code("chain-link-malformed", "steps", REJECTED, "a link breaks its format"),
    Code("chain-link-signature", "steps", REJECTED, "no key of the layout has signed this link"),
    Code("chain-link-unauthorised", "steps", REJECTED, "a link by a key that may not do this step"),
    Code("chain-link-name", "steps", REJECTED, "a link is about another step than its file name"),
    Code("chain-links-disagree", "steps", REJECTED, "two links of one step list other artifacts"),
    Code("chain-link-unsigned", "steps", UNDECIDED, "a link carries no signature"),
    Code("chain-link-unread", "steps", UNDECIDED, "a link is no plain file, or too large"),
    Code("chain-key-unsupported", "steps", UNDECIDED, "a key of a kind that pinproof does not use"),
    Code("chain-link-missing", "steps", UNDECIDED, "a step has no link"),
    Code("chain-threshold", "steps", UNDECIDED, "fewer keys than the step demands"),
    Code("chain-command", "steps", UNDECIDED, "a step ran another command than expected"),
    # artifacts
    Code("chain-artifact-disallowed", "artifacts", REJECTED, "an artifact that no rule permits"),
    Code("chain-artifact-required", "artifacts", REJECTED, "a required artifact is not there"),
    Code("chain-product-differs", "artifacts", REJECTED, "a product is not what the chain made"),
    Code("chain-product-unknown", "artifacts", UNDECIDED, "the chain made no such product"),
    Code("chain-no-artifacts", "artifacts", UNDECIDED, "no link lists a material or product"),
    Code("chain-artifact-unruled", "artifacts", UNDECIDED, "an artifact that no rule speaks of"),
    Code("chain-artifact-weak", "artifacts", UNDECIDED, "an artifact without a SHA-256"),
    Code(
        "chain-artifact-collision",
        "artifacts",
        UNDECIDED,
        "two artifacts that some file systems take for one",
    ),
    Code("chain-rule-idle", "artifacts", UNDECIDED, "a rule found nothing to apply to"),
    Code("chain-too-large", "artifacts", UNDECIDED, "more rules and artifacts than are compared"),
    Code("chain-second-opinion", "artifacts", UNDECIDED, "in-toto's own functions do not agree"),
)
