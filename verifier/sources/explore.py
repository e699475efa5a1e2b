"""A maintainer's own clone by name: its tags and branches, and the commits that touched a path.

GitPython answers, and whatever it answers is a hint: a name counts where our reader peels it to the
same commit, a commit where it hashes and changed the path (CHECKS, "git reader"). It never sees the
clone itself but a bare folder of ours: the clone's plain objects, and its references as our reader
took them from their files. So there is no configuration, hook, replacement, graft, alternate or
promisor to follow, and while it works the environment is ours too (dependencies: GitPython runs the
`git` that a variable names, and follows replacements silently).
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.limits import GIT_COMMIT_BYTES, GIT_LOG, GIT_TREE_BYTES
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.argument import inside
from verifier.sources.git.objects import (
    FOLDER_MODE,
    FULL_ID,
    SHA1_HEX,
    Commit,
    Fault,
    parse_commit,
    parse_tree,
    shown,
)
from verifier.sources.git.process import ENVIRONMENT, find_git
from verifier.sources.git.reader import Want
from verifier.sources.git.refs import PLAIN, peel, references
from verifier.sources.git.repository import Repository
from verifier.sources.git.store import Linker, make_bare, read_file
from verifier.sources.scratch import scratch

if TYPE_CHECKING:
    import git

#: Kinds of references that are looked at, by the folder below `refs/`.
_KINDS: Final = {"tags": "tag", "heads": "branch", "remotes": "remote branch"}


@frozen
class Name:
    """A tag or branch, and the full id of the commit that it leads to now."""

    kind: str
    name: str
    commit: str


@frozen
class Step:
    """A commit that touched the path: its id, first line, time of its author, and the blob there.

    The time is what the author's clock said, in seconds since 1970; nobody vouches for it.
    """

    commit: str
    subject: str
    time: int
    blob: str | None


@frozen
class History:
    """What a clone holds: its names, the commits that were asked for, and what was not believed."""

    head: str
    names: tuple[Name, ...]
    steps: tuple[Step, ...]
    findings: tuple[Finding, ...]
    cut: bool
    """Whether there may be more commits than were looked at."""


def history(clone: Path, *, path: str | None, tip: str | None = None) -> History:
    """Explore a clone: its names, and the commits from `tip` back that touched `path`, if given.

    `tip` is a full commit id, or the name of a branch or tag; without it, HEAD. Raises
    `UnavailableError` for a clone that cannot be explored, `WrongCallError` for no plain path.
    """
    if path is not None:
        inside(path)  # a path of the commit, and no pattern
    with Repository(clone, hex_length=SHA1_HEX) as repo, scratch() as place:
        if repo.notes.settings.sha256:
            raise UnavailableError(
                f"{printable(str(clone))}: a repository with SHA-256 ids is not explored by name",
                code="cannot-read",
                remedy="name full ids instead: git log --format=%H prints them",
            )
        named = references(repo.found, tuple(f"refs/{kind}/" for kind in _KINDS))
        head = _head(repo.found.git_dir, named)
        bare = _bare(place / "explore.git", repo, named, head)
        explored = _Explored(repo)
        with _ours(), _opened(bare) as there:
            explored.names(there, named)
            start = _tip(tip, head, explored.found)
            hexes, cut = ([], False) if path is None else _log(there, start, path)
        explored.steps(hexes, path)
        return History(
            head=head,
            names=tuple(explored.found),
            steps=tuple(explored.touched),
            findings=tuple(explored.findings),
            cut=cut,
        )


class _Explored:
    """What was believed, and what was not."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self.found: list[Name] = []
        self.touched: list[Step] = []
        self.findings: list[Finding] = []

    def names(self, there: "git.Repo", named: dict[str, str]) -> None:
        """Take every name whose commit our own reader finds too."""
        for said in sorted(_said(there), key=lambda each: (each[0], each[1])):
            reference, oid = said
            mine = peel(self._repo.reader, named.get(reference, ""))
            if mine != ("commit", oid):
                self._refuse(f"{reference} leads to {oid}", f"{mine[1] if mine else 'nothing'}")
                continue
            _, kind, name = reference.split("/", 2)
            self.found.append(Name(kind=_KINDS[kind], name=name, commit=oid))

    def steps(self, hexes: list[str], path: str | None) -> None:
        """Take every commit that hashes and whose path differs from that of all its parents."""
        for oid in hexes:
            commit = self._commit(oid)
            if commit is None or path is None:
                self._refuse(f"commit {oid} touched {path}", "it is none that hashes to its id")
                continue
            blob = self._blob(commit, path)
            parents = [self._commit(parent) for parent in commit.parents]
            before = [None if parent is None else self._blob(parent, path) for parent in parents]
            if parents and blob in before:
                self._refuse(f"commit {oid} touched {path}", "a parent has the same file")
                continue
            self.touched.append(
                Step(
                    commit=oid,
                    subject=shown(commit.message.split(b"\n", 1)[0]),
                    time=_time(commit),
                    blob=blob,
                )
            )

    def _refuse(self, said: str, got: str) -> None:
        self.findings.append(
            Finding(
                code="explore-contradicted",
                expected=printable(said),
                got=printable(got),
                cause="what answers by name does not agree with the objects",
                remedy="name full commit ids, and clone the repository anew",
            )
        )

    def _commit(self, oid: str) -> Commit | None:
        got = self._repo.reader.one(Want(oid, "commit", GIT_COMMIT_BYTES, keep=True))
        commit = None if got.data is None else parse_commit(oid, got.data)
        return None if isinstance(commit, Fault) else commit

    def _blob(self, commit: Commit, path: str) -> str | None:
        """Return the id at a path of a commit, None if there is none or it cannot be read."""
        oid = commit.tree
        mode = FOLDER_MODE
        for name in path.encode(errors="surrogateescape").split(b"/"):
            if mode != FOLDER_MODE:
                return None
            got = self._repo.reader.one(Want(oid, "tree", GIT_TREE_BYTES, keep=True))
            items = [] if got.data is None else parse_tree(got.data, SHA1_HEX)[0]
            below = next((item for item in items if item.name == name), None)
            if below is None:
                return None
            mode, oid = below.mode, below.oid
        return oid


# ── what is given to GitPython, and what it says ───────────────────────────────────────────────


def _bare(folder: Path, repo: Repository, named: dict[str, str], head: str) -> Path:
    make_bare(folder, SHA1_HEX)
    linker = Linker(folder / "objects")
    for store in repo.found.stores:
        linker.link(store)
    lines = [f"{oid} {name}\n" for name, oid in sorted(named.items()) if PLAIN.fullmatch(name)]
    (folder / "packed-refs").write_text("".join(lines), encoding="utf-8")
    (folder / "HEAD").write_text(f"{head}\n", encoding="ascii")
    return folder


@contextmanager
def _ours() -> Iterator[None]:
    """Give GitPython, and the git that it starts, an environment of ours; then the old one back."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    os.environ.update(
        GIT_PYTHON_GIT_EXECUTABLE=find_git().path,
        GIT_PYTHON_REFRESH="silent",
        GIT_LITERAL_PATHSPECS="1",
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _opened(bare: Path) -> "Iterator[git.Repo]":
    """Open our folder with GitPython, imported now: it asks `git` for its version as it is."""
    import git  # noqa: PLC0415  (55 ms and a process that only exploring pays)

    try:
        there = git.Repo(str(bare), odbt=git.GitCmdObjectDB, expand_vars=False)
    except (git.GitError, OSError, ValueError) as error:
        raise _cannot(error) from None
    try:
        yield there
    finally:
        there.close()


def _said(there: "git.Repo") -> Iterator[tuple[str, str]]:
    """Return every name and the commit that GitPython says it leads to."""
    for reference in there.references:
        try:
            yield reference.path, reference.commit.hexsha
        except (ValueError, OSError, TypeError, AttributeError):
            continue  # a tag of a tree, or an object that is not there: no name of a commit


def _log(there: "git.Repo", tip: str, path: str) -> tuple[list[str], bool]:
    import git  # noqa: PLC0415  (as above)

    try:
        found = [c.hexsha for c in there.iter_commits(rev=tip, paths=path, max_count=GIT_LOG)]
    except (git.GitError, OSError, ValueError) as error:
        raise _cannot(error) from None
    return found, len(found) == GIT_LOG


def _tip(asked: str | None, head: str, names: list[Name]) -> str:
    if asked is None or FULL_ID.fullmatch(asked):
        return asked or head
    meant = [name.commit for name in names if name.name == asked]
    if len(set(meant)) == 1:
        return meant[0]
    raise UnavailableError(
        f"{printable(asked)}: {'several names' if meant else 'no tag or branch of that name'}",
        code="cannot-read",
        remedy="name the full id of a commit; pinproof list history CLONE lists names",
    )


def _cannot(error: Any) -> UnavailableError:
    found = re.search(r"fatal: [^\n']{1,200}", str(error))
    words = printable(found[0].removeprefix("fatal: ") if found else type(error).__name__)
    return UnavailableError(
        f"the clone cannot be explored by name: {words}",
        code="cannot-read",
        remedy="git fsck shows what is damaged; or name full commit ids",
    )


# ── where it stands ────────────────────────────────────────────────────────────────────────────


def _head(git_dir: Path, named: dict[str, str]) -> str:
    words = (read_file(git_dir, "HEAD") or b"").decode("ascii", "replace").strip()
    oid = named.get(words.removeprefix("ref: "), words)
    if not FULL_ID.fullmatch(oid):
        raise UnavailableError(
            "the clone has no commit checked out",
            code="cannot-read",
            remedy="name a branch, tag or commit: --from NAME",
        )
    return oid


def _time(commit: Commit) -> int:
    words = commit.author.rsplit(b" ", 2)
    return int(words[-2]) if len(words) > 1 and words[-2].isdigit() else 0
