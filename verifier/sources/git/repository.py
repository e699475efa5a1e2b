"""One repository, made readable: its plain files linked into our folder, git started there.

What it opens it closes: the scratch folder, both git processes, and it insists that git ended
well. Two channels, because git inflates on one core only and blobs are read by two.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.limits import GIT_BLOB_BYTES, GIT_COMMIT_BYTES
from verifier.core.printable import printable
from verifier.sources.git.notes import Notes
from verifier.sources.git.objects import (
    FULL_ID,
    SHA1_HEX,
    SHA256_HEX,
    Commit,
    Fault,
    Tag,
    parse_commit,
    parse_tag,
)
from verifier.sources.git.process import Channel, find_git
from verifier.sources.git.reader import Reader, Want
from verifier.sources.git.refs import Meant, meaning, peel, refusal
from verifier.sources.git.store import Found, Linker, find, make_bare
from verifier.sources.git.strict import Strict
from verifier.sources.scratch import scratch


class Repository:
    """Objects by full id, each hashed. Enter it (`with`) before reading.

    Raises `UnavailableError` where there is no repository, or where it lies elsewhere.
    """

    def __init__(
        self,
        repo: Path,
        *,
        hex_length: int,
        clones: Iterable[Path] = (),
        allow_alternates: bool = False,
        max_blob: int = GIT_BLOB_BYTES,
    ) -> None:
        """Find it and read what it says of itself; no object is opened yet."""
        self.found: Found = find(repo, clones, anywhere=allow_alternates)
        self.notes = Notes(self.found)
        self.hex_length = hex_length
        self.max_blob = max_blob
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Link the stores into a scratch folder. Git starts with the first question."""
        git = find_git()
        with ExitStack() as stack:
            self._scratch = stack.enter_context(scratch())
            bare = self.folder = self._scratch / "read.git"
            make_bare(bare, self.hex_length)
            self.linker = Linker(bare / "objects")
            for store in self.found.stores:
                self.linker.link(store)
            # A delta needs what it was made from beside what it makes.
            memory = 2 * self.max_blob
            self._channels = [Channel(git, bare, n, memory=memory) for n in range(2)]
            for channel in self._channels:
                stack.callback(channel.stop)
            self.reader, self.second = (Reader(c, self.hex_length) for c in self._channels)
            self.strict = Strict(git, self._scratch, self.hex_length)
            stack.callback(self.strict.stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let git end; if nothing else went wrong, its exit code has to be good."""
        with self._stack:
            if kind is None:
                for channel in self._channels:
                    channel.close()

    def commit(self, oid: str) -> Commit | Fault:
        """Read a commit. Raises `WrongCallError` if that id is of something else."""
        found = self.commit_or_tag(oid)
        if isinstance(found, Tag):
            end = peel(self.reader, oid)
            leads = end[1] if end is not None and end[0] == "commit" else None
            raise refusal(oid, Meant(what="the id of a tag", oid=leads))
        return found

    def commit_or_tag(self, oid: str) -> Commit | Tag | Fault:
        """Read a commit or annotated tag. Raises `WrongCallError` for the id of anything else."""
        if self.notes.settings.sha256 != (self.hex_length == SHA256_HEX):
            uses = SHA256_HEX if self.notes.settings.sha256 else SHA1_HEX
            raise WrongCallError(
                f"expected {uses} hex digits, the ids of this repository, got {len(oid)}",
                code="wrong-call",
                remedy="git rev-parse NAME^{commit} prints the full id of a name that you trust",
            )
        got = self.reader.one(Want(oid, None, GIT_COMMIT_BYTES, keep=True))
        if got.fault is not None:
            return got.fault
        if got.kind == "tag":
            return parse_tag(oid, got.data or b"")
        if got.kind != "commit":
            raise refusal(oid, Meant(what=f"the id of a {got.kind}", oid=None))
        return parse_commit(oid, got.data or b"")

    def meaning(self, name: str) -> Meant:
        """Say what a name that is no full id seems to mean."""
        abbreviated = 4 <= len(name) < self.hex_length and not name.strip("0123456789abcdef")  # noqa: PLR2004
        expanded = self._channels[0].expand(name) if abbreviated else None
        return meaning(self.found, name, self.reader, expanded)


def read_commit(
    repo: Path, oid: str, *, clones: Iterable[Path] = (), allow_alternates: bool = False
) -> Commit | Fault:
    """Read one commit by its full id: headers, message, and the bytes that signatures cover."""
    with _opened(repo, oid, clones, allow_alternates=allow_alternates) as repository:
        return repository.commit(oid)


def read_commit_or_tag(
    repo: Path, oid: str, *, clones: Iterable[Path] = (), allow_alternates: bool = False
) -> Commit | Tag | Fault:
    """Read one commit or annotated tag by its full id, as `read_commit` does."""
    with _opened(repo, oid, clones, allow_alternates=allow_alternates) as repository:
        return repository.commit_or_tag(oid)


def _opened(repo: Path, oid: str, clones: Iterable[Path], *, allow_alternates: bool) -> Repository:
    clones = tuple(clones)
    return Repository(
        repo,
        hex_length=full_length(repo, oid, clones=clones, allow_alternates=allow_alternates),
        clones=clones,
        allow_alternates=allow_alternates,
    )


def resolve(
    repo: Path, name: str, *, clones: Iterable[Path] = (), allow_alternates: bool = False
) -> Meant:
    """Say what a branch, tag or abbreviation leads to: a hint, never an answer."""
    found = find(repo, clones, anywhere=allow_alternates)
    wide = Notes(found).settings.sha256
    with Repository(
        repo,
        hex_length=SHA256_HEX if wide else SHA1_HEX,
        clones=clones,
        allow_alternates=allow_alternates,
    ) as repository:
        return repository.meaning(name)


def full_length(
    repo: Path, commit: str, *, clones: Iterable[Path] = (), allow_alternates: bool = False
) -> int:
    """Return the length of a full id. Raises `WrongCallError`, saying what it is, for others."""
    if FULL_ID.fullmatch(commit):
        return len(commit)
    try:
        meant = resolve(repo, commit, clones=clones, allow_alternates=allow_alternates)
    except UnavailableError as error:
        meant = Meant(what=f"no object id ({printable(error.message)})", oid=None)
    raise refusal(commit, meant)
