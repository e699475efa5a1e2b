"""Contents of commits by their SHA-256: the bytes of a file, whichever of its paths is meant."""

from collections.abc import Iterable, Sequence

from verifier.core.limits import HOST_BYTES
from verifier.sources.git.reader import Want
from verifier.sources.git.repository import Repository
from verifier.sources.tree import TreeEntry


class Contents:
    """Bytes of the files of one repository's commits that were read before."""

    def __init__(self, repo: Repository, *, limit: int = HOST_BYTES) -> None:
        """Read from `repo`, which is open; a file of more than `limit` bytes is not given."""
        self._repo, self._limit = repo, limit
        self._ids: dict[str, str] = {}
        self._next: dict[str, bytes] = {}

    def add(self, entries: Iterable[TreeEntry]) -> None:
        """Take in what a commit holds: each file's SHA-256 and git id."""
        for entry in entries:
            if entry.sha256 and entry.blob:
                self._ids[entry.sha256] = entry.blob

    def expect(self, digests: Sequence[str]) -> None:
        """Read these together, because they are asked for next."""
        wanted = {self._ids[digest]: digest for digest in digests if digest in self._ids}
        wants = [Want(oid, "blob", self._limit, keep=True) for oid in wanted]
        read = self._repo.reader.read(wants)
        self._next = {wanted[got.oid]: got.data for got in read if got.data is not None}

    def get(self, digest: str) -> bytes | None:
        """Return the bytes of a file, None if no commit that was taken in holds it."""
        if digest in self._next:
            return self._next[digest]
        if digest not in self._ids:
            return None
        return self._repo.reader.one(Want(self._ids[digest], "blob", self._limit, keep=True)).data
