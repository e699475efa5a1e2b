"""Write a version of the helper `example-fair-queue` into the host of the example.

Every published version stands here as it was published, and is never edited again: what
v5 and v5-main share is a marker and a length, what sets them apart is two digits. Each
helper begins with the one line feed before its first line and ends with the two blank
lines before what follows it. A site is a block of the host with and without our lines.

    python installer.py host.py --version v6
"""

import argparse
from pathlib import Path
from typing import Final, NamedTuple

PREFIX: Final = "# [example-fair-queue"
NEEDLE: Final = "from heapq import heapify, heappop, heappush\n"
IMPORTS: Final = "import itertools\nimport time\n"
IMPORTS_WITH_OS: Final = "import itertools\nimport os\nimport time\n"

HELPER_V1: Final = '''
def _fairq_share(ahead):
    """Owners who are far ahead already move on by more than one turn."""
    return min(ahead, int(os.getenv("FAIR_CAP", "4")))


'''

HELPER_V2: Final = """
class _Fairq:  # [example-fair-queue:v2]
    end = 0.0

    def add(self, who, n):
        if time.monotonic() > self.end:
            self.end, self.seen = time.monotonic() + 1.0, {}
        self.seen[who] = self.seen.get(who, 0) + n


_FAIRQ = _Fairq()  # [example-fair-queue:v2]


def _fairq_share(who, n=0):  # [example-fair-queue:v2]
    _FAIRQ.add(who, n)
    return min(_FAIRQ.seen[who], int(os.getenv("FAIR_CAP", "4")))


"""

HELPER_V5: Final = """
class _Fairq:  # [example-fair-queue:v5]
    end = 0.0

    def add(self, who, n):
        if time.monotonic() > self.end:
            self.end, self.seen = time.monotonic() + 2.0, {}
        self.seen[who] = self.seen.get(who, 0) + n
        return self.seen[who]


_FAIRQ = _Fairq()  # [example-fair-queue:v5]

def _fairq_share(who, n=0):  # [example-fair-queue:v5]
    return min(_FAIRQ.add(who, n), int(os.getenv("FAIR_CAP", "4")))


"""

HELPER_V5_MAIN: Final = """
class _Fairq:  # [example-fair-queue:v5]
    end = 0.0

    def add(self, who, n):
        if time.monotonic() > self.end:
            self.end, self.seen = time.monotonic() + 3.0, {}
        self.seen[who] = self.seen.get(who, 0) + n
        return self.seen[who]


_FAIRQ = _Fairq()  # [example-fair-queue:v5]

def _fairq_share(who, n=0):  # [example-fair-queue:v5]
    return min(_FAIRQ.add(who, n), int(os.getenv("FAIR_CAP", "8")))


"""

HELPER_V6: Final = """
class _Fairq:  # [example-fair-queue:v6]
    end = 0.0

    def add(self, who, n):
        if time.monotonic() > self.end:
            self.end, self.seen = time.monotonic() + 2.0, {}
        self.seen[who] = self.seen.get(who, 0) + n
        return self.seen[who] // 2


_FAIRQ = _Fairq()  # # [example-fair-queue:v6]

def _fairq_share(who, n=0):  # # [example-fair-queue:v6]
    return min(_FAIRQ.add(who, n), int(os.getenv("FAIR_CAP", "4")))


"""

HELPER_V6_CARRY: Final = """
class _Fairq:  # [example-fair-queue:v6]
    end = 0.0

    def add(self, who, n):
        if time.monotonic() > self.end:
            self.end, self.seen = time.monotonic() + 2.0, {}
        self.seen[who] = self.seen.get(who, 1) + n
        return self.seen[who]


_FAIRQ = _Fairq()  # [example-fair-queue:v6]

def _fairq_share(who, n=0):  # [example-fair-queue:v6]
    return min(_FAIRQ.add(who, n), int(os.getenv("FAIR_CAP", "4")))


"""


class Site(NamedTuple):
    """A block of the host as an install leaves it, and as it was before."""

    name: str
    new: str
    old: str


TURN: Final = "        self.last[who] = turn\n"
NOW: Final = "        self.now = turn\n"
DONE: Final = "        if self.last[who] == turn:\n            del self.last[who]\n"
DROP: Final = "        return n"
LATE: Final = "                break\n"

SITES_V1: Final = (
    Site(
        "v1-turn",
        """\
        turn += _fairq_share(turn - self.now - 1)  # [example-fair-queue]
        self.last[who] = turn
""",
        TURN,
    ),
    Site(
        "v1-drop",
        """\
        self.last[who] = self.now + _fairq_share(n)  # [example-fair-queue]
        return n""",
        DROP,
    ),
)

SITES_V2: Final = (
    Site(
        "v2-turn",
        """\
        turn += _fairq_share(who)  # [example-fair-queue:v2]
        self.last[who] = turn
""",
        TURN,
    ),
    Site(
        "v2-now",
        """\
        self.now = turn
        _fairq_share(who, 1)  # [example-fair-queue:v2]
""",
        NOW,
    ),
    Site(
        "v2-done",
        """\
        if self.last[who] == turn:
            del _FAIRQ.seen[who]  # [example-fair-queue:v2]
            del self.last[who]
""",
        DONE,
    ),
    Site(
        "v2-drop",
        """\
        _fairq_share(who, n)  # [example-fair-queue:v2]
        return n""",
        DROP,
    ),
)

SITES_V5: Final = (
    Site(
        "turn",
        """\
        turn += _fairq_share(who)  # [example-fair-queue:v5]
        self.last[who] = turn
""",
        TURN,
    ),
    Site(
        "now",
        """\
        self.now = turn
        _fairq_share(who, 1)  # [example-fair-queue:v5]
""",
        NOW,
    ),
    Site(
        "done",
        """\
        if self.last[who] == turn:
            del _FAIRQ.seen[who]  # [example-fair-queue:v5]
            del self.last[who]
        self.now *= bool(self.last)
""",
        DONE,
    ),
    Site(
        "drop",
        """\
        _fairq_share(who, n)  # [example-fair-queue:v5]
        return n""",
        DROP,
    ),
    Site(
        "late",
        """\
                _FAIRQ.end = 0.0  # [example-fair-queue:v5]
                break
""",
        LATE,
    ),
)

SITES_V6: Final = tuple(s._replace(new=s.new.replace(":v5]", ":v6]")) for s in SITES_V5)

VERSIONS: Final = {
    "v1": (HELPER_V1, SITES_V1),
    "v2": (HELPER_V2, SITES_V2),
    "v5": (HELPER_V5, SITES_V5),
    "v5-main": (HELPER_V5_MAIN, SITES_V5),
    "v6": (HELPER_V6, SITES_V6),
    "v6-carry": (HELPER_V6_CARRY, SITES_V6),
}
CURRENT: Final = "v6"

AGING_PREFIX: Final = "# [example-aging"

HELPER_AGING: Final = """
class _ExampleAging:  # [example-aging:v1]
    def __init__(self):
        self.born = time.monotonic()

    def age(self):
        return time.monotonic() - self.born


"""

SITES_AGING: Final = (
    Site(
        "born",
        """\
        self.ids = itertools.count()
        self.aging = _ExampleAging()  # [example-aging:v1]
""",
        "        self.ids = itertools.count()\n",
    ),
    Site(
        "age",
        """\
        stats["age"] = self.aging.age()  # [example-aging:v1]
        return stats
""",
        "        return stats\n",
    ),
)


class RefusedError(Exception):
    """The host is not as this installer needs it; nothing was written."""


def _swap(text: bytes, old: str, new: str) -> bytes:
    """Put `new` where `old` is, which must be in exactly one place."""
    count = text.count(old.encode())
    if count != 1:
        raise RefusedError(f"expected once, found {count} times: {old.strip().splitlines()[0]}")
    return text.replace(old.encode(), new.encode())


def _write(text: bytes, prefix: str, helper: str, sites: tuple[Site, ...]) -> bytes:
    """Put a helper before the needle, and its lines at each of its sites."""
    if prefix.encode() in text:
        raise RefusedError(f"already there: {prefix}")
    text = _swap(text, NEEDLE, helper + NEEDLE)
    for site in sites:
        text = _swap(text, site.old, site.new)
    compile(text, "host", "exec")
    return text


def install(text: bytes, version: str) -> bytes:
    """Return the host with this version in it, and with `import os` if that is missing."""
    if IMPORTS_WITH_OS.encode() not in text:
        text = _swap(text, IMPORTS, IMPORTS_WITH_OS)
    return _write(text, PREFIX, *VERSIONS[version])


def remove(text: bytes, version: str) -> bytes:
    """Return the host without this version; `import os` stays."""
    helper, sites = VERSIONS[version]
    for site in sites:
        text = _swap(text, site.new, site.old)
    return _swap(text, helper, "")


def neighbour(text: bytes) -> bytes:
    """Return the host with `example-aging` in it, an overlay that knows nothing of ours.

    It too writes before the needle, so a helper that stood there is then followed by it.
    """
    return _write(text, AGING_PREFIX, HELPER_AGING, SITES_AGING)


def main() -> None:
    """Write a version into the named host, in place."""
    parser = argparse.ArgumentParser(description="Write a version of the helper into a host.")
    parser.add_argument("host", type=Path)
    parser.add_argument("--version", choices=VERSIONS, default=CURRENT)
    arguments = parser.parse_args()
    try:
        text = install(arguments.host.read_bytes(), arguments.version)
    except RefusedError as refusal:
        parser.exit(1, f"{arguments.host}: {refusal}\n")
    arguments.host.write_bytes(text)


if __name__ == "__main__":
    main()
