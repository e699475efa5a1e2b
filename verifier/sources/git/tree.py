"""A commit as a tree: read through git, believed only for what hashes to its id.

Everything between the repository and the answer is ours (CHECKS, "git reader"): where its
objects lie is resolved in `store`, git runs in a folder of ours (`process`), every
object is hashed (`reader`), every tree is parsed (`objects`), and commits and trees pass
once through git's own check (`strict`). What the repository says of itself is named
(`notes`) and changes no answer. Blobs carry SHA-256 too: a SHA-1 id alone proves nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from verifier.core.digest import Digest
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.limits import (
    GIT_BLOB_BYTES,
    GIT_DOTFILE_BYTES,
    GIT_FINDINGS,
    TREE_DEPTH,
    TREE_ENTRIES,
    TREE_PATH_BYTES,
)
from verifier.core.printable import printable
from verifier.sources.git.blobs import Leaf, read_blobs
from verifier.sources.git.faults import of_fault
from verifier.sources.git.known import Known
from verifier.sources.git.objects import (
    FOLDER_MODE,
    Asked,
    Commit,
    Fault,
    Item,
    attributes_of,
    shown,
)
from verifier.sources.git.reader import Got, Want
from verifier.sources.git.repository import Repository, full_length
from verifier.sources.ledger import recorded
from verifier.sources.tree import (
    FILE_MODE,
    GITLINK_MODE,
    LINK_MODE,
    PROGRAM_MODE,
    TreeEntry,
    Type,
)
from verifier.sources.unavailable import too_large

_TYPES: Final = {LINK_MODE: Type.LINK, GITLINK_MODE: Type.GITLINK}
_DOTFILES: Final = (b".gitattributes", b".gitmodules")


class GitTree:
    """The tree of one commit, or of a path inside it.

    Each call opens and closes the repository; in a `with` statement it stays open between them.
    Raises `WrongCallError` for anything but a full id of a commit, saying what it is.
    """

    def __init__(
        self,
        repo: Path,
        commit: str,
        *,
        name: str,
        subpath: bytes = b"",
        clones: Iterable[Path] = (),
        allow_alternates: bool = False,
        max_blob: int = GIT_BLOB_BYTES,
        known: Known | None = None,
        opened: Repository | None = None,
    ) -> None:
        """Remember what is meant; a cut-off id alone is looked up.

        `known` was read of the same repository before, and takes in what is read now; `opened` is
        that repository where somebody else has opened it, and closes it.
        """
        self.name = name
        self.commit_id = commit
        clones = tuple(clones)
        self._repo, self._clones, self._anywhere = repo, clones, allow_alternates
        self._hex_length = (
            opened.hex_length
            if opened
            else full_length(repo, commit, clones=clones, allow_alternates=allow_alternates)
        )
        self._subpath = [part for part in subpath.split(b"/") if part]
        self._max_blob, self._known = max_blob, known or Known()
        self._open = opened
        self._findings: dict[Finding, None] = {}
        self._ignored: dict[str, None] = {}
        self._counts: dict[str, int] = {}
        self._checked: dict[str, None] = {}
        self._to_check: list[tuple[str, bytes]] = []
        self._root: str | None = None
        self.commit: Commit | None = None
        self.complete = True
        self.followed: tuple[str, ...] = ()
        self.attributes: tuple[Asked, ...] = ()
        self.not_proven: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        """Keep the repository open until the end of the `with` statement."""
        self._open = self._repository().__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        opened, self._open = self._open, None
        if opened is not None:
            opened.__exit__(kind, error, traceback)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong or worth knowing; complete after `entries` or `read`."""
        return tuple(self._findings)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What the repository holds that other tools would use, in words."""
        return tuple(self._ignored)

    @property
    def digests(self) -> tuple[Digest, ...]:
        """Typed digests of what was read; of the tree only if all of it was."""
        found = [Digest(kind="git-commit", hex=self.commit_id)] if self.commit else []
        if self.complete and self._root is not None:
            found.append(Digest(kind="git-tree", hex=self._root))
        return tuple(found)

    def entries(self) -> list[TreeEntry]:
        """Return every entry, sorted by path bytes, each content hashed.

        A file that could not be read has neither length nor digest, `complete` is false, and a
        finding says why.
        """
        with self._session() as repo:
            start = self._start(repo)
            if start is None:
                return []
            if start.mode == FOLDER_MODE:
                self._root = start.oid
                leaves = self._walk(repo, start.oid)
            else:
                leaves = [Leaf(start.name, start.mode, start.oid)]
            self._look_at_dotfiles(repo, leaves)
            self._start_check(repo)
            read = read_blobs(repo, leaves, self._known.blobs)
            entries = sorted(self._entry(repo, leaf, read.get(leaf.oid)) for leaf in leaves)
            self._finish_check(repo)
        self._findings.update(dict.fromkeys(recorded(leaf.path for leaf in leaves)))
        return entries

    def read(self, path: bytes, *, limit: int) -> bytes | None:
        """Return the bytes of one regular file, None if there is none of that path.

        Also None, with a finding, where an object on the way cannot be used. Raises
        `UnavailableError` for a file larger than `limit`.
        """
        with self._session() as repo:
            start = self._start(repo)
            itself = start and start.mode != FOLDER_MODE and start.name == path
            below = [] if itself else path.split(b"/")
            item = start and self._descend(repo, start, below)
            self._start_check(repo)
            got = None
            if item and item.mode in (FILE_MODE, PROGRAM_MODE):
                got = repo.reader.one(Want(item.oid, "blob", limit, keep=True))
            self._finish_check(repo)
            if got is None:
                return None
            if got.fault is not None and got.fault.code == "git-object-large":
                raise too_large(self.name, limit)
            self._note(repo, got.fault, path)
            return got.data

    def _repository(self) -> Repository:
        return Repository(
            self._repo,
            hex_length=self._hex_length,
            clones=self._clones,
            allow_alternates=self._anywhere,
            max_blob=self._max_blob,
        )

    @contextmanager
    def _session(self) -> Iterator[Repository]:
        """Give the repository that is open, or open one for this call; name what is noticed."""
        if self._open is None:
            with self._repository() as repo:
                self._notice(repo)
                yield repo
        else:
            self._notice(self._open)
            yield self._open

    def _notice(self, repo: Repository) -> None:
        self.followed = repo.found.followed
        for finding in (*repo.notes.findings(self.commit_id), *repo.linker.findings()):
            self._findings[finding] = None
        left_out = [
            f"{name}: not used, it may contradict the objects"
            for name in repo.linker.ignored
            if not (name == "objects/info/alternates" and self.followed)
        ]
        for words in (*repo.notes.ignored(), *sorted(left_out)):
            self._ignored[words] = None

    def _start(self, repo: Repository) -> Item | None:
        """Read the commit and go to the path inside it that is meant."""
        commit = repo.commit(self.commit_id)
        if isinstance(commit, Fault):
            self._note(repo, commit, None)
            return None
        self.commit = commit
        self._check_later("commit", commit.oid, commit.raw)
        root = Item(FOLDER_MODE, b"", commit.tree)
        return self._descend(repo, root, self._subpath, must=True)

    def _descend(
        self, repo: Repository, start: Item, path: Sequence[bytes], *, must: bool = False
    ) -> Item | None:
        """Go down one tree after another; None if there is no such path, or a fault on the way."""
        item = start
        for name in path:
            if item.mode != FOLDER_MODE:
                if must:
                    raise _no_path(self.commit_id, path, item, ())
                return None
            trees = self._known.trees
            trees.read(repo.reader, [item.oid])
            items = self._items(repo, item.oid, item.name)
            if not items and trees.faults(item.oid):
                return None
            below = next((one for one in items if one.name == name), None)
            if below is None:
                if must:
                    raise _no_path(self.commit_id, path, item, items)
                return None
            item = below
        return item

    def _items(self, repo: Repository, oid: str, path: bytes) -> list[Item]:
        """Return what a tree that was read holds, and note what is wrong with it."""
        for fault in self._known.trees.faults(oid):
            self._note(repo, fault, path)
        return self._known.trees.items(oid)

    def _walk(self, repo: Repository, root: str) -> list[Leaf]:
        """List all leaves, one level of trees at a time; a tree that occurs twice is read once."""
        leaves: list[Leaf] = []
        known: dict[str, list[Item]] = {}
        trees, level = self._known.trees, [(b"", root)]
        while level:
            first = {oid: path for path, oid in reversed(level) if oid not in known}
            trees.read(repo.reader, first)
            for oid, path in first.items():
                known[oid] = self._items(repo, oid, path.rstrip(b"/"))
                if not known[oid] and not trees.faults(oid) and path:
                    self._ignored[f"{printable(shown(path))}, an empty folder"] = None
            coming = sum(len(known[oid]) for _, oid in level)
            longest = max((path for path, _ in level), key=len)
            if (
                len(leaves) + coming > TREE_ENTRIES
                or len(longest) > TREE_PATH_BYTES
                or longest.count(b"/") > TREE_DEPTH
            ):
                said = f"more than {TREE_ENTRIES:,} entries, or paths longer than are read"
                self._note(repo, Fault("git-tree-large", said), None)
                return leaves
            level = [below for prefix, oid in level for below in _below(prefix, known[oid], leaves)]
        return leaves

    def _look_at_dotfiles(self, repo: Repository, leaves: Sequence[Leaf]) -> None:
        """Read what git's own check wants to see, and what attributes ask for (anchors I)."""
        files = [leaf for leaf in leaves if leaf.path.rpartition(b"/")[2] in _DOTFILES]
        wants = [
            Want(oid, "blob", GIT_DOTFILE_BYTES, keep=True)
            for oid in dict.fromkeys(leaf.oid for leaf in files if leaf.mode != GITLINK_MODE)
        ]
        data = {got.oid: got.data for got in repo.reader.read(wants) if got.data is not None}
        for oid, content in data.items():
            self._check_later("blob", oid, content)
        self.attributes = attributes_of(
            (leaf.path, data[leaf.oid])
            for leaf in files
            if leaf.oid in data and leaf.path.endswith(b"attributes")
        )
        for asked in self.attributes:
            words = b" ".join((asked.pattern, *asked.attributes))
            self._ignored[
                printable(f"{shown(asked.file)}:{asked.line}: {shown(words)}: not applied")
            ] = None

    def _entry(self, repo: Repository, leaf: Leaf, got: Got | None) -> TreeEntry:
        if leaf.mode == GITLINK_MODE:
            return TreeEntry(
                leaf.path, Type.GITLINK, leaf.mode, None, None, leaf.oid.encode("ascii")
            )
        kind = _TYPES.get(leaf.mode, Type.FILE)
        if got is None or got.fault is not None:
            fault = got and got.fault
            self._note(repo, fault or Fault("git-tree-large", "too many bytes"), leaf.path)
            return TreeEntry(leaf.path, kind, leaf.mode, None, None, None, leaf.oid)
        return TreeEntry(leaf.path, kind, leaf.mode, got.size, got.sha256, got.data, leaf.oid)

    def _check_later(self, kind: str, oid: str, data: bytes) -> None:
        if oid not in self._checked:
            self._checked[oid] = None
            self._to_check.append((kind, data))

    def _start_check(self, repo: Repository) -> None:
        for oid, data in self._known.trees.fresh():
            self._check_later("tree", oid, data)
        if self._to_check:
            repo.strict.start(self._to_check)
        self._to_check = []

    def _finish_check(self, repo: Repository) -> None:
        findings, unproven = repo.strict.finish()
        for finding in findings:
            self._findings[finding] = None
        self.not_proven = tuple(dict.fromkeys((*self.not_proven, *unproven)))

    def _note(self, repo: Repository, fault: Fault | None, path: bytes | None) -> None:
        """Turn a fault into a finding: from now on the tree is not complete."""
        if fault is None:
            return
        self.complete = False
        self._counts[fault.code] = self._counts.get(fault.code, 0) + 1
        if self._counts[fault.code] > GIT_FINDINGS:
            return
        told = printable(shown(path)) if path else None
        self._findings[of_fault(fault, path=told, cause=_cause(repo, fault))] = None


def _below(prefix: bytes, items: Iterable[Item], leaves: list[Leaf]) -> list[tuple[bytes, str]]:
    """Put a tree's leaves on the list, and return the trees below it."""
    folders = []
    for mode, name, oid in items:
        if mode == FOLDER_MODE:
            folders.append((prefix + name + b"/", oid))
        else:
            leaves.append(Leaf(prefix + name, mode, oid))
    return folders


def _cause(repo: Repository, fault: Fault) -> str | None:
    """Say why an object may be missing, from what the repository says of itself."""
    if fault.code != "git-object-missing":
        return None
    oid = fault.detail
    special = repo.linker.special
    causes = (
        (f"objects/{oid[:2]}/{oid[2:]}" in special, "its file is no plain file"),
        (repo.linker.unreadable(oid), "this user may not read all of the store"),
        (bool(repo.found.refused), "alternates that were not followed may hold it"),
        (repo.notes.partial, "the clone is partial"),
        (repo.notes.shallow, "the clone is shallow"),
    )
    return "; ".join(words for applies, words in causes if applies) or None


def _no_path(
    commit: str, path: Sequence[bytes], at: Item, items: Sequence[Item]
) -> UnavailableError:
    import difflib  # noqa: PLC0415  (for an error's words only)

    names = [shown(item.name) for item in items[:1000]]
    near = difflib.get_close_matches(shown(path[-1]), names, n=3)
    hint = f"{shown(at.name) or 'the root'} holds {', '.join(near)}" if near else ""
    if at.mode == GITLINK_MODE:
        hint = f"{shown(at.name)} is a submodule at commit {at.oid}: name its own repository"
    return UnavailableError(
        f"commit {commit} has no path {printable(shown(b'/'.join(path)))}",
        code="git-no-path",
        remedy=printable(hint) or "git ls-tree -r --name-only COMMIT lists its paths",
    )
