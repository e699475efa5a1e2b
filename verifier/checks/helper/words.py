"""Sentences that several steps of the helper check end with, each written once."""

from typing import Final

RESTORE: Final = "restore the pinned file, or reinstall the overlay on a pristine one"
KEEP_MARKERS: Final = (
    f"{RESTORE}; do not delete or edit markers: the file would then look pristine and is not"
)
REPORT: Final = (
    "keep the file; ask the registry's maintainers whether this body was published, "
    "or restore the pinned file"
)
CONVERT: Final = (
    "take the file from its producer again, without tools that convert line ends or encodings"
)
LOOK: Final = (
    "look at the named place; if the change is not yours, restore the pinned file or reinstall "
    "the overlay on a pristine one"
)
