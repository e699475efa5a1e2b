"""Every environment variable that pinproof reads, and what for. No other module reads one."""

import os
from pathlib import Path
from typing import Final

VARIABLES: Final = {
    "NO_COLOR": "set and not empty: no colour, as https://no-color.org says",
    "TERM": "dumb: no colour",
    "XDG_STATE_HOME": "where journals and floors are kept, in pinproof/; an absolute path",
    "HOME": "where they are kept without that, in .local/state/pinproof/",
    "SSL_CERT_FILE": "read by OpenSSL, of update registry alone: certificates of servers",
    "SSL_CERT_DIR": "the same, as a folder",
    "OPENSSL_CONF": "taken out: no configuration of OpenSSL decides what a signature or digest is",
    "TMPDIR": "where a run's temporary folder lies (Python's tempfile; TEMP and TMP likewise)",
}


def forget_openssl() -> None:
    """Take out what would configure OpenSSL, before it is loaded.

    The file that the variable names can switch algorithms off, or load another library in place of
    OpenSSL's own; the verdict would be another one, or a fault.
    """
    os.environ.pop("OPENSSL_CONF", None)


def colour_wanted(*, terminal: bool) -> bool:
    """Decide whether to colour what goes to standard output."""
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def state_folder() -> Path | None:
    """Return the folder of this user for what pinproof keeps; None where neither is set.

    A relative XDG_STATE_HOME is ignored, as the XDG base directory specification says.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if state.is_absolute():
        return state / "pinproof"
    home = Path(os.environ.get("HOME", ""))
    return home / ".local/state/pinproof" if home.is_absolute() else None
