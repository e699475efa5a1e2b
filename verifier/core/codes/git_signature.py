"""Of signatures of commits and tags."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final = (
    Code("git-signature-broken", "signature", REJECTED, "the signature is not over these bytes"),
    Code("git-signature-malformed", "signature", REJECTED, "the signature breaks its format"),
    Code("git-signature-several", "signature", REJECTED, "more than one signature"),
    Code(
        "git-signature-namespace",
        "signature",
        REJECTED,
        "the signature was made for something else",
    ),
    Code("git-signature-missing", "signature", UNDECIDED, "it carries no signature"),
    Code(
        "git-signature-unsupported",
        "signature",
        UNDECIDED,
        "a signature of a kind that is not checked",
    ),
    Code("git-signature-weak", "signature", UNDECIDED, "the signature rests on a weak hash"),
    Code(
        "git-signature-program", "signature", UNDECIDED, "no program here checks OpenPGP signatures"
    ),
    Code("git-signature-signer", "signer", REJECTED, "it was signed by another key than you named"),
    Code("git-signature-revoked", "signer", REJECTED, "the key has been revoked by its owner"),
    Code("git-signature-expired", "time", UNDECIDED, "the key or the signature has expired"),
    Code("git-signature-merged-tag", "signature", REJECTED, "a merged tag is not as it was signed"),
)
