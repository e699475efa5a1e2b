"""Files of producers at full commits, each read from a clone through our own git reader."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from verifier.ask.reading import Reach, clones_by
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding, Where
from verifier.core.limits import HOST_BYTES
from verifier.core.printable import printable
from verifier.sources.git.faults import of_fault
from verifier.sources.git.objects import Commit, Fault
from verifier.sources.git.repository import read_commit
from verifier.sources.git.tree import GitTree

_NONE: Final = "no regular file of that path"
#: Findings about objects that cannot be used.
_BROKEN: Final = ("git-object", "git-tree", "git-commit")
_CLONE: Final = "give it: --clone URL=PATH, the URL as the entry or recipe writes it"


def clones_by_url(values: Iterable[str]) -> dict[str, str]:
    """Split `URL=PATH` arguments. Raises `WrongCallError` for another form or a URL twice."""
    remedy = "name each repository once, as the entry writes it, and its clone here"
    return clones_by(values, what="URL", last=True, remedy=remedy)


class Producers:
    """Clones by their repositories; commits are opened when a file of theirs is asked for."""

    def __init__(self, clones: Mapping[str, str], reach: Reach) -> None:
        """Remember them; nothing is opened yet."""
        self._clones = clones
        self._reach = reach
        self._stack = ExitStack()
        self._trees: dict[tuple[str, str], GitTree] = {}
        self._files: dict[tuple[str, str, str], bytes | Finding] = {}

    def __enter__(self) -> Self:
        """Open nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what was opened."""
        self._stack.close()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the clones have to say of themselves."""
        return tuple(dict.fromkeys(f for tree in self._trees.values() for f in tree.findings))

    @property
    def not_proven(self) -> tuple[str, ...]:
        """What reading them did not prove."""
        trees = self._trees.values()
        return tuple(dict.fromkeys(words for tree in trees for words in tree.not_proven))

    def has(self, repository: str) -> bool:
        """Whether a clone of that repository was given."""
        return repository in self._clones

    def read(self, repository: str, commit: str, path: str) -> bytes | Finding:
        """Return a file of a commit, or why it cannot be read."""
        key = repository, commit, path
        if key not in self._files:
            self._files[key] = self._read(repository, commit, path)
        return self._files[key]

    def tree(self, repository: str, commit: str) -> GitTree | Finding:
        """Open a commit; the finding says why there is none to open."""
        if repository not in self._clones:
            return Finding(
                code="pin-clone-missing",
                expected=f"a clone of {printable(repository)}",
                got="none of the clones that were given" if self._clones else "no clone",
                remedy=_CLONE,
            )
        key = self._clones[repository], commit
        if key not in self._trees:
            tree = GitTree(
                Path(key[0]),
                commit,
                name=f"git:{key[0]}@{commit}",
                clones=tuple(map(Path, self._reach.clones)),
                allow_alternates=self._reach.allow_alternates,
            )
            self._trees[key] = self._stack.enter_context(tree)
        return self._trees[key]

    def commit(self, repository: str, commit: str) -> Commit | Finding:
        """Read a commit itself, or say why it cannot be read."""
        tree = self.tree(repository, commit)
        if isinstance(tree, Finding):
            return tree
        found = read_commit(
            Path(self._clones[repository]),
            commit,
            clones=tuple(map(Path, self._reach.clones)),
            allow_alternates=self._reach.allow_alternates,
        )
        return of_fault(found) if isinstance(found, Fault) else found

    def _read(self, repository: str, commit: str, path: str) -> bytes | Finding:
        tree = self.tree(repository, commit)
        if isinstance(tree, Finding):
            return tree
        try:
            data = tree.read(path.encode(errors="surrogateescape"), limit=HOST_BYTES)
        except UnavailableError as error:
            return _absent(path, commit, error.message)
        if data is not None:
            return data
        # What could not be read may hold the path, so its absence is not known.
        broken = [f for f in tree.findings if f.code.startswith(_BROKEN)]
        return broken[-1] if broken and not tree.complete else _absent(path, commit, _NONE)


def _absent(path: str, commit: str, got: str) -> Finding:
    return Finding(
        code="pin-path-absent",
        where=Where(path=printable(path)),
        expected=f"a regular file at that path in commit {commit}",
        got=printable(got),
        remedy="pinproof list tree git:CLONE@COMMIT shows what the commit holds; a link is none",
    )
