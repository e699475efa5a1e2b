"""Every environment variable that pinproof reads, and what for. No other module reads one."""

import os
from typing import Final

VARIABLES: Final = {
    "NO_COLOR": "set and not empty: no colour, as https://no-color.org says",
    "TERM": "dumb: no colour",
}


def colour_wanted(*, terminal: bool) -> bool:
    """Decide whether to colour what goes to standard output."""
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
