"""Clones by name: what a composition is proved, or pinned, from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from verifier.ask.reading import Reach, clones_by
from verifier.checks.composition.components import Read
from verifier.core.digest import sha256
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES, PAYLOAD_BYTES, PAYLOAD_FILES
from verifier.sources.folder_tree import FolderTree
from verifier.sources.git.contents import Contents
from verifier.sources.git.known import Known
from verifier.sources.git.repository import Repository
from verifier.sources.git.tree import GitTree
from verifier.sources.git.tree_id import blob_id
from verifier.sources.tree import Tree, TreeEntry, Type

BASE: Final = "base"
TARGET: Final = "target"
SOURCE: Final = "source"


def named_clones(values: Iterable[str]) -> dict[str, str]:
    """Split `NAME=PATH` arguments. Raises `WrongCallError` for another form or a name twice."""
    remedy = (
        "name each clone once: base, target, source, or a component; a folder that alternates "
        "lead to needs no name here: --allow-alternates follows them"
    )
    return clones_by(values, what="NAME", last=False, remedy=remedy)


class Clones:
    """Repositories by name, opened when first needed, and what their commits hold."""

    def __init__(self, paths: Mapping[str, str], reach: Reach) -> None:
        """Remember them; nothing is opened yet."""
        self._paths, self._reach = paths, reach
        self._stack = ExitStack()
        self._contents: dict[str, Contents] = {}
        self._repositories: dict[str, Repository] = {}
        #: What was hashed of each repository: base and target have most of it in common.
        self._hashed: dict[str, Known] = {}
        self._folder: dict[str, tuple[Tree, bytes]] = {}
        self._trees: list[Tree] = []
        self._named: dict[str, tuple[Tree, list[TreeEntry]]] = {}

    def __enter__(self) -> Self:
        """Open nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what was opened."""
        self._stack.close()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the sources have to say of themselves."""
        return tuple(dict.fromkeys(f for tree in self._trees for f in tree.findings))

    @property
    def not_proven(self) -> tuple[str, ...]:
        """What reading them did not prove."""
        return tuple(dict.fromkeys(words for tree in self._trees for words in tree.not_proven))

    def has(self, name: str) -> bool:
        """Whether a clone of that name was given."""
        return name in self._paths

    def path(self, name: str) -> Path:
        """Return the folder of a clone."""
        return Path(self._paths[name])

    def repository(self, name: str, commit: str) -> Repository:
        """Open a clone for single objects."""
        at = self._paths[name]
        if at not in self._repositories:
            repo = Repository(
                Path(at),
                hex_length=len(commit),
                clones=tuple(map(Path, self._reach.clones)),
                allow_alternates=self._reach.allow_alternates,
            )
            self._repositories[at] = self._stack.enter_context(repo)
            self._contents[at] = Contents(self._repositories[at])
        return self._repositories[at]

    def read(self, name: str, commit: str, subpath: bytes = b"") -> Read | None:
        """Read a commit whole; None where something of it could not be read."""
        tree = GitTree(
            self.path(name),
            commit,
            name=f"git:{self._paths[name]}@{commit}",
            subpath=subpath,
            clones=tuple(map(Path, self._reach.clones)),
            allow_alternates=self._reach.allow_alternates,
            known=self._hashed.setdefault(self._paths[name], Known()),
        )
        entries = tree.entries()
        self._trees.append(tree)
        self._named[name] = tree, entries
        self.repository(name, commit)
        contents = self._contents[self._paths[name]]
        contents.add(entries)
        refused = any(finding.row.outcome == "rejected" for finding in tree.findings)
        if not tree.complete or refused:
            return None
        return Read(
            entries=entries,
            read=lambda entry: contents.get(entry.sha256 or ""),
            hex_length=len(commit),
        )

    def is_folder(self, name: str) -> bool:
        """Whether a plain folder was given, and no repository."""
        path = self.path(name)
        return path.is_dir() and not ((path / ".git").exists() or (path / "objects").is_dir())

    def origin(self, name: str, commit: str | None) -> Read | None:
        """Read a commit, or what a plain folder holds where there is no commit to name."""
        if commit is not None:
            return self.read(name, commit)
        return self._read_folder(name) if self.is_folder(name) else None

    def _read_folder(self, name: str) -> Read | None:
        """Read a plain folder as the tree that git would make of it."""
        self.add_folder(name)
        tree, entries = self._named[name]
        self._trees.append(tree)
        if not tree.complete or any(f.row.outcome == "rejected" for f in tree.findings):
            return None
        return Read(
            entries=[entry._replace(blob=self._blob(entry)) for entry in entries],
            read=lambda entry: self.get(entry.sha256 or ""),
        )

    def _blob(self, entry: TreeEntry) -> str | None:
        """Return the git id that a file or link of a folder would have."""
        small = (entry.length or 0) <= HOST_BYTES
        data = entry.target or (self.get(entry.sha256) if entry.sha256 and small else None)
        return None if data is None else blob_id(data)

    def add_folder(self, name: str, lengths: frozenset[int] | None = None) -> None:
        """Take in the files of a plain folder, by digest; of `lengths` alone, if they are given."""
        tree = FolderTree(self.path(name), name=self._paths[name], lengths=lengths)
        entries = tree.entries()
        self._named[name] = tree, entries
        for entry in entries:
            if entry.sha256 is not None and entry.type is Type.FILE:
                self._folder[entry.sha256] = tree, entry.path

    def texts(self, name: str) -> Iterator[tuple[bytes, bool]]:
        """Return the files of what was read under a name, and whether they may be Python.

        They are read one by one, as far as a payload may go; larger files carry no helper.
        """
        if name not in self._named:
            return
        tree, entries = self._named[name]
        files = size = 0
        for entry in entries:
            if entry.type is not Type.FILE or (entry.length or 0) > HOST_BYTES:
                continue
            files, size = files + 1, size + (entry.length or 0)
            if files > PAYLOAD_FILES or size > PAYLOAD_BYTES:
                return
            data = tree.read(entry.path, limit=HOST_BYTES)
            if data is not None:
                yield data, entry.path.endswith(b".py")

    def expect(self, digests: Sequence[str]) -> None:
        """Read these together from every repository that has them."""
        for contents in self._contents.values():
            contents.expect(digests)

    def get(self, digest: str) -> bytes | None:
        """Return bytes by their SHA-256 from whatever was read."""
        for contents in self._contents.values():
            data = contents.get(digest)
            if data is not None:
                return data
        if digest in self._folder:
            tree, path = self._folder[digest]
            data = tree.read(path, limit=HOST_BYTES)
            # What was hashed before may have been written since.
            return data if data is not None and sha256(data) == digest else None
        return None
