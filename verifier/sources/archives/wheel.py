"""RECORD of a wheel: which files it lists, and whether they are those (binary distribution format).

No installer that people use compares digests with RECORD before it installs; a wheel whose RECORD
is wrong was changed after it was built. RECORD itself and its signatures have no digest in it.
"""

import base64
import binascii
import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Final

from verifier.core.printable import printable
from verifier.sources.ledger import ContainerError
from verifier.sources.tree import TreeEntry

RECORD: Final = re.compile(rb"[^/]+\.dist-info/RECORD")
_SIGNATURES: Final = (".jws", ".p7s")
_SIZE: Final = re.compile("0|[1-9][0-9]{0,18}")
_FIELDS: Final = 3


def compare(
    data: bytes, path: bytes, entries: Mapping[bytes, TreeEntry]
) -> Iterator[ContainerError]:
    """Compare RECORD, whose bytes are `data`, with the entries of its wheel."""
    listed: set[bytes] = set()
    own = {path, *(path + end.encode() for end in _SIGNATURES)}
    try:
        rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        yield ContainerError("tree-record-malformed", path=path, got="no table of UTF-8 text")
        return
    for number, row in enumerate(rows, 1):
        if not row:
            continue
        name = row[0].encode(errors="surrogatepass")
        if len(row) != _FIELDS or name in listed or not name:
            what = "a path given twice" if name in listed else f"{len(row)} fields"
            yield ContainerError("tree-record-malformed", path=path, got=f"line {number}: {what}")
            continue
        listed.add(name)
        if name not in own:
            yield from _row(row, name, entries.get(name))
    for name in sorted(set(entries) - listed - own):
        yield ContainerError("tree-record-unlisted", path=name)
    if path not in listed:
        yield ContainerError("tree-record-malformed", path=path, got="RECORD does not list itself")


def _row(row: list[str], name: bytes, entry: TreeEntry | None) -> Iterator[ContainerError]:
    _, digest, size = row
    if entry is None:
        yield ContainerError("tree-record-missing", path=name)
        return
    algorithm, _, value = digest.partition("=")
    if algorithm != "sha256" or entry.sha256 is None:
        got = printable(algorithm[:80]) or "no digest"
        yield ContainerError("tree-record-weak", path=name, expected="sha256", got=got)
        return
    if size and not _SIZE.fullmatch(size):
        yield ContainerError("tree-record-malformed", path=name, got=printable(size[:80]))
        return
    stated = (_hex(value), int(size) if size else entry.length)
    if stated != (entry.sha256, entry.length):
        yield ContainerError(
            "tree-record-different",
            path=name,
            expected=f"{stated[0]} · {stated[1]:,} bytes",
            got=f"{entry.sha256} · {entry.length:,} bytes",
        )


def _hex(value: str) -> str:
    """Turn RECORD's spelling of a digest into hex; what does not print back is shown as it is."""
    try:
        raw = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return printable(value[:80])
    spelled = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    return raw.hex() if spelled == value else printable(value[:80])
