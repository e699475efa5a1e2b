"""Three small overlays for the host of the example, and one that does not go with the first.

Each writes a region between two sentinels before its own anchor, and one line at its own call
site, so the three can be installed in any order: the bytes are the same. `late` writes right
behind the same line as `quota`; whichever comes second stands first, and the bytes differ.

    python overlays.py host.py quota trace pause
"""

import argparse
from pathlib import Path
from typing import Final, NamedTuple


class Overlay(NamedTuple):
    """A region before `anchor`, and `line` behind the one line `site`."""

    name: str
    region: str
    anchor: str
    site: str
    line: str

    @property
    def begin(self) -> str:
        """The sentinel that a region begins with."""
        return f"# [example-{self.name}:v1] begin\n"

    @property
    def end(self) -> str:
        """The sentinel that a region ends with."""
        return f"# [example-{self.name}:v1] end\n"


TURN: Final = "        turn = max(self.now, self.last.get(who, 0)) + 1\n"

OVERLAYS: Final = (
    Overlay(
        "quota",
        "_quota_asked: dict[str, int] = {}\n",
        "from heapq import heapify, heappop, heappush\n",
        TURN,
        "        _quota_asked[who] = turn  # [example-quota:v1]\n",
    ),
    Overlay(
        "trace",
        "_trace_turns: list[int] = []\n",
        "class Queue:\n",
        "        self.now = turn\n",
        "        _trace_turns.append(turn)  # [example-trace:v1]\n",
    ),
    Overlay(
        "pause",
        "_pause_seen: list[float] = []\n",
        "import itertools\n",
        "        end = time.monotonic() + seconds\n",
        "        _pause_seen.append(end)  # [example-pause:v1]\n",
    ),
    Overlay(
        "late",
        "_late_turns: list[int] = []\n",
        "import time\n",
        TURN,
        "        _late_turns.append(turn)  # [example-late:v1]\n",
    ),
)


class RefusedError(Exception):
    """The host is not as an overlay needs it; nothing was written."""


def _swap(text: bytes, old: str, new: str) -> bytes:
    """Put `new` where `old` is, which must be in exactly one place."""
    if text.count(old.encode()) != 1:
        raise RefusedError(f"expected once, found {text.count(old.encode())} times: {old.strip()}")
    return text.replace(old.encode(), new.encode())


def install(text: bytes, name: str) -> bytes:
    """Return the host with the overlay of that name in it."""
    (overlay,) = (one for one in OVERLAYS if one.name == name)
    if overlay.begin.encode() in text:
        raise RefusedError(f"already there: {name}")
    region = f"{overlay.begin}{overlay.region}{overlay.end}"
    text = _swap(text, overlay.anchor, region + overlay.anchor)
    return _swap(text, overlay.site, overlay.site + overlay.line)


def main() -> None:
    """Write overlays into the named host, in the order given, in place."""
    parser = argparse.ArgumentParser(description="Write overlays into a host.")
    parser.add_argument("host", type=Path)
    parser.add_argument("names", nargs="+", choices=[one.name for one in OVERLAYS])
    arguments = parser.parse_args()
    text = arguments.host.read_bytes()
    try:
        for name in arguments.names:
            text = install(text, name)
    except RefusedError as refusal:
        parser.exit(1, f"{arguments.host}: {refusal}\n")
    arguments.host.write_bytes(text)


if __name__ == "__main__":
    main()
