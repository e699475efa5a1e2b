"""One clone, opened once for a whole question about heads: commits, trees and files of it."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from verifier.ask.reading import Reach
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import GIT_COMMIT_BYTES, REGISTRY_FILES
from verifier.core.printable import printable
from verifier.sources.git.faults import of_fault
from verifier.sources.git.history import History
from verifier.sources.git.known import Known
from verifier.sources.git.nearest import nearest_commit
from verifier.sources.git.notes import Notes
from verifier.sources.git.objects import (
    FOLDER_MODE,
    FULL_ID,
    SHA1_HEX,
    SHA256_HEX,
    Commit,
    Fault,
    Item,
    parse_tag,
)
from verifier.sources.git.reader import Want
from verifier.sources.git.repository import Repository
from verifier.sources.git.store import find
from verifier.sources.git.tree import GitTree
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE


class Clone:
    """A clone for reading: each object is hashed, each tree parsed once for all commits."""

    def __init__(self, path: str, reach: Reach) -> None:
        """Find it. Raises `UnavailableError` where there is no repository."""
        self.path = path
        self._clones = tuple(map(Path, reach.clones))
        self._anywhere = reach.allow_alternates
        wide = Notes(find(Path(path), self._clones, anywhere=self._anywhere)).settings.sha256
        self.repo = Repository(
            Path(path),
            hex_length=SHA256_HEX if wide else SHA1_HEX,
            clones=self._clones,
            allow_alternates=self._anywhere,
        )
        self.known = Known()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Open it."""
        self._stack.enter_context(self.repo)
        self.history = History(self.repo)
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._stack.close()

    # ── ids ────────────────────────────────────────────────────────────────────────────────────

    def commit(self, option: str, oid: str) -> Commit | Finding:
        """Return the commit that an option names by its full id.

        Raises `WrongCallError` for what is no full id, or the id of something else; an id that
        the clone does not hold is a finding, with the nearest that it does hold.
        """
        if not FULL_ID.fullmatch(oid) or len(oid) != self.repo.hex_length:
            raise self._not_full(option, oid)
        got = self.repo.reader.one(Want(oid, None, GIT_COMMIT_BYTES, keep=True))
        if got.fault is not None and got.fault.code == "git-object-missing":
            return self._unknown(option, oid)
        if got.fault is not None:
            return of_fault(got.fault)
        if got.kind != "commit":
            raise self._other_object(option, oid, got.kind, got.data or b"")
        found = self.history.commit(oid)
        return of_fault(found) if isinstance(found, Fault) else found

    def _not_full(self, option: str, oid: str) -> WrongCallError:
        if not oid:
            return _refusal(
                "head-id-incomplete",
                f"{option}: expected the full id of a commit, got nothing",
                "check the variable that it comes from; it is empty",
            )
        meant = self.repo.meaning(oid)
        named = meant.oid is not None and meant.what.split()[0] in _REFERENCES
        if named:
            return _refusal(
                "head-id-name",
                f"{option}: expected the full id of a commit, got {printable(oid)}, the "
                f"{printable(meant.what)}",
                f"give the id: now it leads to {meant.oid}, tomorrow perhaps elsewhere",
            )
        near = meant.oid or self._near(oid)
        length, wanted = len(oid), self.repo.hex_length
        got = f"{length} characters of a {wanted}-character id"
        if len(oid) == wanted or oid.strip("0123456789abcdef"):
            got = f"expected {wanted} lower-case hex digits, got {printable(oid[:80])}"
        give = f"if you mean {near}, the nearest commit, give that" if near else "give the full id"
        return _refusal("head-id-incomplete", f"{option}: {got}", give)

    def _near(self, oid: str) -> str | None:
        lowered = oid.lower()
        if lowered.strip("0123456789abcdef") or abs(len(oid) - self.repo.hex_length) > 1:
            return None
        return nearest_commit(self.repo.folder, lowered)

    def _unknown(self, option: str, oid: str) -> Finding:
        near = nearest_commit(self.repo.folder, oid)
        fetch = f"fetch it: git fetch origin {oid}"
        return Finding(
            code="head-id-unknown",
            expected=f"{option}: a commit of this clone",
            got=f"{oid}, which this clone does not hold",
            cause=f"nearest object: {near}, a commit" if near else None,
            remedy=f"if you mean {near}, give that id; else {fetch}" if near else fetch,
        )

    def _other_object(self, option: str, oid: str, kind: str, data: bytes) -> WrongCallError:
        tag = parse_tag(oid, data) if kind == "tag" else None
        leads = None if tag is None or isinstance(tag, Fault) else tag.target
        return _refusal(
            "head-id-name",
            f"{option}: expected the id of a commit, got {oid}, the id of a {kind}",
            f"the tag is of {leads}: give that, if it is what you mean"
            if leads
            else "give the id of the commit: git log shows it",
        )

    # ── trees ──────────────────────────────────────────────────────────────────────────────────

    def item(self, commit: Commit, path: str) -> Item | None:
        """Return what lies at a path of a commit."""
        return self.known.trees.find(self.repo.reader, commit.tree, path.encode())

    def file(self, commit: Commit, path: str, *, limit: int) -> bytes | None:
        """Return the bytes of a regular file of a commit, None where there is none."""
        item = self.item(commit, path)
        if item is None or item.mode not in (FILE_MODE, PROGRAM_MODE):
            return None
        return self.blob(item.oid, limit)

    def blob(self, oid: str, limit: int) -> bytes | None:
        """Return the bytes of a blob, None if it cannot be read or has more than `limit`."""
        return self.repo.reader.one(Want(oid, "blob", limit, keep=True)).data

    def names(self, commit: Commit, folder: bytes) -> Iterable[bytes]:
        """Name what a folder of a commit holds, nothing where there is none."""
        root = Item(FOLDER_MODE, b"", commit.tree)
        item = root if not folder else self.known.trees.find(self.repo.reader, commit.tree, folder)
        if item is None or item.mode != FOLDER_MODE:
            return ()
        self.known.trees.read(self.repo.reader, [item.oid])
        return [each.name for each in self.known.trees.items(item.oid)]

    def below(self, commit: Commit, folder: str) -> list[tuple[bytes, Item]]:
        """List all below a folder of a commit, folders too, each with its path there.

        Of more files than a registry may have, not all are listed.
        """
        start = self.item(commit, folder.removesuffix("/"))
        if start is None or start.mode != FOLDER_MODE:
            return []
        found: list[tuple[bytes, Item]] = []
        waiting = [(b"", start.oid)]
        while waiting and len(found) <= REGISTRY_FILES:
            path, oid = waiting.pop()
            self.known.trees.read(self.repo.reader, [oid])
            for item in self.known.trees.items(oid):
                name = path + b"/" + item.name if path else item.name
                found.append((name, item))
                if item.mode == FOLDER_MODE:
                    waiting.append((name, item.oid))
        return sorted(found)

    def tree(self, commit: Commit, *, name: str) -> GitTree:
        """Return a commit as a tree to be read whole; it shares what this clone has read."""
        return GitTree(
            Path(self.path),
            commit.oid,
            name=name,
            clones=self._clones,
            allow_alternates=self._anywhere,
            known=self.known,
            opened=self.repo,
        )


_REFERENCES: Final = ("branch", "tag", "remote", "reference")


def _refusal(code: str, message: str, remedy: str) -> WrongCallError:
    return WrongCallError(message, code=code, remedy=remedy)


def required(found: Commit | Finding, option: str) -> Commit:
    """Return a commit without which nothing can be judged. Raises `UnavailableError`."""
    if isinstance(found, Commit):
        return found
    raise UnavailableError(
        f"{option}: {found.code}: {found.got}", code="cannot-read", remedy=found.remedy
    )
