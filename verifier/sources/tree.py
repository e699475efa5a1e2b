"""Trees: the same entries from any place, a folder, a commit, an archive.

An entry is (raw path bytes, type, mode, length, SHA-256 or link target) (CHECKS, "trees and
archives"). A mode that a format does not carry is unknown, and unknown is not equal. What is
wrong with a container, or worth knowing, comes back as findings; nothing is unpacked.
"""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from verifier.core.digest import Digest
from verifier.core.finding import Finding

FILE_MODE: Final = 0o100644
PROGRAM_MODE: Final = 0o100755
LINK_MODE: Final = 0o120000
GITLINK_MODE: Final = 0o160000


class Type(StrEnum):
    """What an entry is, itself: a link is never what it leads to."""

    FILE = "file"
    LINK = "link"
    GITLINK = "gitlink"
    SPECIAL = "special file"


class TreeEntry(NamedTuple):
    """One entry below the root of a tree, folders left out.

    `mode` is one of the four git modes, None where the format does not carry one. `sha256` and
    `length` are of a file's content or of a link's target; a gitlink has neither, and `target`
    holds its commit. `blob` is the git blob id where the source is a commit.
    """

    path: bytes
    type: Type
    mode: int | None
    length: int | None
    sha256: str | None
    target: bytes | None = None
    blob: str | None = None


class Tree(Protocol):
    """A source of entries. `entries` may be called once and reads every byte."""

    @property
    def name(self) -> str:
        """What the user called it."""

    def entries(self) -> list[TreeEntry]:
        """Return every entry, sorted by path bytes, each content hashed."""

    def read(self, path: bytes, *, limit: int) -> bytes | None:
        """Return the bytes of one regular file, None if there is none of that path."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong or worth knowing; complete after `entries` or `read`."""

    @property
    def digests(self) -> tuple[Digest, ...]:
        """Typed digests that the source itself gives what was read, such as of a git tree."""

    @property
    def complete(self) -> bool:
        """Whether all could be listed and read so far; a finding says why not."""

    @property
    def not_proven(self) -> tuple[str, ...]:
        """What reading it did not prove, in words, beyond the findings."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was seen and left out on purpose, in words."""


def tree_digests(entries: Iterable[TreeEntry]) -> tuple[str, str]:
    """Return `pinproof-tree/v1` with and without modes: SHA-256 over all entries.

    Per entry, in the order of path bytes: mode in octal, path, length in decimal, content
    SHA-256 (of a link its target's, of a gitlink its commit id as text). Each field is written as
    its length in decimal, a colon, and its bytes. Without modes only the type's digits of the
    mode are written (`100`, `120`, `160`): what formats without modes can be compared by.
    """
    with_modes = hashlib.sha256(b"pinproof-tree/v1\n")
    without = hashlib.sha256(b"pinproof-tree/v1 no-modes\n")
    written: dict[tuple[Type, int | None], tuple[bytes, bytes]] = {}
    for entry in entries:
        path, kind, mode, length, sha256, target, _ = entry
        fields = written.get((kind, mode))
        if fields is None:
            known = _mode(entry)
            fields = written[kind, mode] = _field(f"{known:o}"), _field(f"{known >> 9:o}")
        size = b"%d" % (length or 0)
        told = sha256.encode() if sha256 else target or b""
        rest = b"%d:%b%d:%b%d:%b" % (len(path), path, len(size), size, len(told), told)
        with_modes.update(fields[0] + rest)
        without.update(fields[1] + rest)
    return with_modes.hexdigest(), without.hexdigest()


def _field(text: str) -> bytes:
    return b"%d:%b" % (len(text), text.encode())


def _mode(entry: TreeEntry) -> int:
    if entry.mode is not None:
        return entry.mode
    return {Type.LINK: LINK_MODE, Type.GITLINK: GITLINK_MODE}.get(entry.type, FILE_MODE)
