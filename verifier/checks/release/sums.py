"""Plain releases: files under one list of SHA-256 checksums, in the form of sha256sum(1).

Every listed file is there and matches, every file that is there is listed, and each once. Escaped
names and the reversed BSD form are refused: two readers could read two lists.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from verifier.checks.release.problem import problem
from verifier.core.digest import Pin
from verifier.core.finding import Finding

#: What the list may be called.
LISTS: Final = ("SHA256SUMS", "SHA256SUMS.txt", "sha256sums.txt", "checksums.txt")
_LINE: Final = re.compile(r"([0-9a-f]{64}) [ *]([^/\0\n\\]+)")


def check(path: str, data: bytes, files: Mapping[str, Pin]) -> Iterator[Finding]:
    """Check the list called `path` against the other files of the folder."""
    listed: dict[str, str] = {}
    text = data.decode(errors="surrogateescape")
    if not text or not text.endswith("\n"):
        yield problem("release-checksum-form", path, expected="lines", got="no last line feed")
    for number, line in enumerate(text.splitlines(), 1):
        parsed = _LINE.fullmatch(line)
        if parsed is None or parsed[2] in (".", ".."):
            yield problem(
                "release-checksum-form",
                path,
                expected="64 lower-case digits, a blank, a blank or *, a name",
                got=f"line {number}",
            )
        elif parsed[2] in listed:
            yield problem(
                "release-checksum-form", path, expected="each name once", got=f"line {number}"
            )
        else:
            listed[parsed[2]] = parsed[1]
    for name in sorted(listed.keys() ^ files.keys()):
        got = "not in the list" if name in files else "not in the folder"
        yield problem("release-files", name, expected="in both", got=got)
    for name in sorted(listed.keys() & files.keys()):
        if files[name].sha256 != listed[name]:
            yield problem("release-checksum", name, expected=listed[name], got=files[name].sha256)
