"""Digests and pins: the only identities that pinproof compares.

A *pin* is SHA-256 **and** length; both are compared. Text forms have one accepted spelling:
lower-case, complete, matched as a whole (ARCHITECTURE, law 10).
"""

import hashlib
import re
from typing import Final, Self

from verifier.core.value import frozen

#: What a typed digest may be the digest of (ARCHITECTURE §1).
KINDS: Final = (
    "file",
    "tree",
    "archive",
    "index",
    "manifest",
    "config",
    "layer",
    "diff-id",
    "git-commit",
    "git-tree",
    "git-blob",
)
GIT_KINDS: Final = ("git-commit", "git-tree", "git-blob")

HEX64: Final = re.compile("[0-9a-f]{64}")
_TYPED: Final = re.compile(
    rf"({'|'.join(kind for kind in KINDS if kind not in GIT_KINDS)}):sha256:([0-9a-f]{{64}})"
)
_GIT: Final = re.compile(rf"({'|'.join(GIT_KINDS)}):([0-9a-f]{{40}}|[0-9a-f]{{64}})")
_UNTYPED: Final = re.compile("(?:sha256:)?([0-9a-f]{64})|([0-9a-f]{40})")


def sha256(data: bytes | memoryview) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


@frozen
class Digest:
    """A typed digest, `<kind>:sha256:<64 hex>` or `git-commit:<40 or 64 hex>`.

    `kind` is None for a bare `sha256:` or hex: no kind until content shows it.
    """

    kind: str | None
    hex: str

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read one spelling of a digest, or return None if `text` is not one.

        >>> str(Digest.parse("file:sha256:" + "0" * 64))[:20]
        'file:sha256:00000000'
        """
        if typed := _TYPED.fullmatch(text) or _GIT.fullmatch(text):
            return cls(kind=typed[1], hex=typed[2])
        if bare := _UNTYPED.fullmatch(text):
            return cls(kind=None, hex=bare[1] or bare[2])
        return None

    def __str__(self) -> str:
        """Print the form that `parse` reads."""
        if self.kind is None:
            return f"sha256:{self.hex}" if len(self.hex) == 64 else self.hex  # noqa: PLR2004
        return f"{self.kind}:{'' if self.kind in GIT_KINDS else 'sha256:'}{self.hex}"


@frozen
class Pin:
    """SHA-256 and length of some bytes. `length` is None where none was ever published."""

    sha256: str
    length: int | None

    @classmethod
    def of(cls, data: bytes | memoryview) -> Self:
        """Pin `data`, which the caller holds."""
        return cls(sha256=sha256(data), length=len(data))

    def matches(self, data: bytes | memoryview) -> bool:
        """Tell whether `data` is what was pinned; the length is compared first."""
        return self.length in (None, len(data)) and sha256(data) == self.sha256

    def __str__(self) -> str:
        """Print digest and length; only a terminal's rendering shortens the digest."""
        size = "length not published" if self.length is None else f"{self.length:,} bytes"
        return f"{self.sha256} · {size}"
