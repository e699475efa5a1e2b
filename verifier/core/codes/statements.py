"""Of statements, of who may sign them, and of signing them."""

from typing import Final

from verifier.core.codes.row import ERROR, REJECTED, UNDECIDED, Code

ROWS: Final[tuple[Code, ...]] = (
    # envelopes of statements
    Code("statement-envelope", "signature", REJECTED, "the envelope breaks its format"),
    Code("statement-signature", "signature", REJECTED, "none of the keys has signed it"),
    Code("statement-threshold", "signature", UNDECIDED, "fewer keys have signed than needed"),
    # what is signed
    Code("statement-payload-type", "subject", REJECTED, "what is signed is no statement"),
    Code("statement-malformed", "subject", REJECTED, "the statement breaks its format"),
    Code("statement-subject", "subject", REJECTED, "the statement is about something else"),
    Code(
        "statement-subject-digests",
        "subject",
        REJECTED,
        "of one subject, a digest agrees and another does not",
    ),
    Code("statement-subject-weak", "subject", UNDECIDED, "a subject without a digest that counts"),
    Code(
        "statement-subject-not-given",
        "subject",
        UNDECIDED,
        "it was not said what the statement has to be about",
    ),
    # what it says
    Code("statement-says-no", "subject", REJECTED, "the statement says no"),
    Code("statement-says-otherwise", "subject", REJECTED, "the statement does not say so"),
    # FORMATS §2, signers/v1
    Code("signer-ambiguous", "registry", UNDECIDED, "two signers of one name"),
    Code("signer-not-a-key", "signer", UNDECIDED, "a signer without a key"),
    Code("signer-not-this-key", "signer", REJECTED, "it was signed by another key"),
    Code("signer-not-this-identity", "signer", REJECTED, "it was signed by another identity"),
    Code("signer-predicate", "signer", REJECTED, "the signer may not sign this type"),
    Code("signer-not-yet", "signer", REJECTED, "signed before the signer's time"),
    Code("signer-expired", "signer", REJECTED, "signed after the signer's time"),
    Code(
        "signer-time-unproven",
        "signer",
        UNDECIDED,
        "the signer's time has ended, and nothing proves when it was signed",
    ),
    Code("signer-revoked", "signer", REJECTED, "the signer is revoked"),
    Code("signer-compromised", "signer", REJECTED, "the signer's key is compromised"),
    # making a signature
    Code("signing-no-digest", "input", ERROR, "the verdict names no digest to sign"),
)
