"""A tree between two stages: files by path, each with what is known of it.

It begins as the base and is changed one stage at a time. Bytes are fetched by digest only where
a patch needs them; git ids are kept up where every object's id is known, so that the tree after
a stage can be compared with the one that was pinned.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from verifier.core.digest import Pin, sha256
from verifier.sources.git.objects import SHA1_HEX
from verifier.sources.git.tree_id import TreeIds, blob_id
from verifier.sources.tree import FILE_MODE, GITLINK_MODE, LINK_MODE, TreeEntry, Type


class Contents(Protocol):
    """Bytes of files by their SHA-256, from whatever sources were read."""

    def expect(self, digests: Sequence[str]) -> None:
        """Read these together, because they are asked for next."""

    def get(self, digest: str) -> bytes | None:
        """Return the bytes, None where no source holds them."""


class Found(NamedTuple):
    """One file of the tree. `oid` is its git id, `data` its bytes, None where not at hand.

    `mode` is one of git's, None where the source carries none.
    """

    sha256: str
    length: int | None
    mode: int | None
    oid: str | None = None
    data: bytes | None = None

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, and no link or submodule."""
        return self.mode not in (LINK_MODE, GITLINK_MODE)

    @property
    def pin(self) -> Pin:
        """Its digest and length, as reports print them."""
        return Pin(sha256=self.sha256, length=self.length)

    def matches(self, pin: Pin) -> bool:
        """Whether it has a pinned digest, and length where one was published."""
        return self.sha256 == pin.sha256 and (
            pin.length is None or self.length is None or self.length == pin.length
        )


def found(entry: TreeEntry) -> Found:
    """Return what a source says of one entry."""
    target = (entry.target or b"").decode() if entry.type is Type.GITLINK else None
    return Found(
        sha256=entry.sha256 or target or "",
        length=entry.length,
        mode=entry.mode,
        oid=target or entry.blob,
    )


class State:
    """The tree after some stages."""

    def __init__(
        self, entries: Iterable[TreeEntry], contents: Contents, hex_length: int = SHA1_HEX
    ) -> None:
        """Begin with the base. `hex_length` is that of its git ids, 40 or 64."""
        self.files = {entry.path: found(entry) for entry in entries}
        self.lost: str | None = None
        self._contents, self._hex_length = contents, hex_length
        self._folders: dict[bytes, int] = {}
        for path in self.files:
            self._count(path, 1)
        self._ids: TreeIds | None = None
        self._unknown = {path for path, file in self.files.items() if file.oid is None}

    def data(self, path: bytes) -> bytes | None:
        """Return the bytes of a file, None if there is none or they are not to be had."""
        file = self.files.get(path)
        if file is None:
            return None
        return file.data if file.data is not None else self._contents.get(file.sha256)

    def expect(self, paths: Iterable[bytes]) -> None:
        """Read the bytes of these files together: `data` is asked for each of them next."""
        here = [self.files[path] for path in paths if path in self.files]
        self._contents.expect([file.sha256 for file in here if file.data is None])

    def fetch(self, digest: str) -> bytes | None:
        """Return the bytes of a SHA-256 from whatever source was read and holds them."""
        return self._contents.get(digest)

    def put_bytes(self, path: bytes, data: bytes, mode: int | None) -> None:
        """Write a file."""
        self.put(path, self.known(data, mode))

    def known(self, data: bytes, mode: int | None) -> Found:
        """Return a file of these bytes, with the ids that they have."""
        return Found(sha256(data), len(data), mode, blob_id(data, self._hex_length), data)

    def put(self, path: bytes, file: Found) -> None:
        """Put a file of which not all may be known."""
        if path not in self.files:
            self._count(path, 1)
        self.files[path] = file
        self._renew(path, file)

    def remove(self, path: bytes) -> None:
        """Take a file away."""
        del self.files[path]
        self._count(path, -1)
        self._renew(path, None)

    def in_the_way(self, path: bytes) -> bytes | None:
        """Return the file above `path`, or `path` itself if it is a folder, if there is such."""
        if self._folders.get(path):
            return path
        return next((above for above in _above(path) if above in self.files), None)

    def tree(self, path: bytes = b"") -> str | None:
        """Return the git id of the tree, or of what has that path in it; None if not known.

        A path that does not exist has none either.
        """
        if self._unknown or self.lost is not None:
            return None
        if self._ids is None:
            rows = (
                (name, FILE_MODE if file.mode is None else file.mode, file.oid or "")
                for name, file in self.files.items()
            )
            self._ids = TreeIds(rows, self._hex_length)
        return self._ids.id(path)

    def _renew(self, path: bytes, file: Found | None) -> None:
        self._unknown.discard(path)
        if file is not None and file.oid is None:
            self._unknown.add(path)
        if self._ids is None:
            return
        if self._unknown:
            self._ids = None
        elif file is None:
            self._ids.remove(path)
        else:
            mode = FILE_MODE if file.mode is None else file.mode
            self._ids.put(path, mode, file.oid or "")

    def _count(self, path: bytes, by: int) -> None:
        for above in _above(path):
            self._folders[above] = self._folders.get(above, 0) + by


def _above(path: bytes) -> Iterator[bytes]:
    above = path.rpartition(b"/")[0]
    while above:
        yield above
        above = above.rpartition(b"/")[0]
