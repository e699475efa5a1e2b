"""Of releases of tools."""

from typing import Final

from verifier.core.codes.row import REJECTED, UNDECIDED, Code

ROWS: Final[tuple[Code, ...]] = (
    Code("release-files", "files", REJECTED, "a file is missing, or one too many"),
    Code("release-checksum", "files", REJECTED, "a checksum is not that of the file"),
    Code("release-checksum-form", "files", REJECTED, "a checksum is not written as it must be"),
    Code("release-receipt-malformed", "receipt", REJECTED, "the build receipt breaks its format"),
    Code("release-receipt-printed", "receipt", REJECTED, "the build receipt was printed anew"),
    Code("release-receipt-binding", "receipt", REJECTED, "the build receipt is of other files"),
    Code("release-smoke", "receipt", REJECTED, "the smoke summary is of something else"),
    Code("release-build", "receipt", REJECTED, "the build says that it is not fit to publish"),
    Code("release-version", "commit", REJECTED, "another version or target"),
    Code("release-commit", "commit", REJECTED, "built from another commit"),
    Code("release-members", "members", REJECTED, "archive and receipt list other files"),
    Code("release-member", "members", REJECTED, "a file of the archive is not as declared"),
    Code("release-machine", "members", REJECTED, "the program is for another machine"),
    Code("release-staging", "published", REJECTED, "a staging build, not the published one"),
    Code("release-not-published", "published", REJECTED, "not the file that was published"),
    Code("release-unpublished", "published", UNDECIDED, "no digest of the published file is known"),
    Code("release-not-here", "input", UNDECIDED, "nothing of that release is here"),
)
