"""What git would make of two commits, computed in a store that holds only what was hashed.

Git's own merge is run (`git merge-tree --write-tree`, git 2.38), because the answer that counts
is the one that a forge would give. It runs in an empty repository of ours, into which we pack the
trees and files in which the sides differ, each of them read and hashed before, under commits that
we write: their trees and dates are those of the real ones, their parents are the merge bases
alone. So nothing of the history, the configuration or the attributes of the repository has a
say, and no file that all sides share is read.

Several merge bases (a criss-cross) are merged with each other first, as git does; what those
have in common is packed too, up to a number of commits that real histories do not reach.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from verifier.core.limits import (
    GIT_BLOB_BYTES,
    GIT_MERGE_BASES,
    GIT_MERGE_BYTES,
    GIT_MERGE_SECONDS,
    GIT_TREE_BYTES,
)
from verifier.core.value import frozen
from verifier.sources.git.history import History, Unknown
from verifier.sources.git.objects import (
    FOLDER_MODE,
    Commit,
    Fault,
    hasher,
    pack,
)
from verifier.sources.git.process import Channel, environment, find_git
from verifier.sources.git.reader import Reader, Want
from verifier.sources.git.repository import Repository
from verifier.sources.git.store import make_bare
from verifier.sources.git.trees import Change, Trees
from verifier.sources.tree import GITLINK_MODE

#: The first git that merges without a work tree.
_MERGE_TREE: Final = (2, 38)
#: Its exit code where the sides cannot be put together.
_CONFLICT: Final = 1
_MERGE: Final = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
#: Stands for the id of a folder that a side does not have.
_ABSENT: Final = ""
_ID: Final = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


@frozen
class Merged:
    """The tree that a merge leaves, and how it differs from the side that is merged in."""

    tree: str
    changes: tuple[Change, ...]


@frozen
class Conflict:
    """The paths on which both sides changed what cannot be put together."""

    paths: tuple[bytes, ...]


@frozen
class NotMerged:
    """Why no merge was computed, in words."""

    words: str


def merge(
    repo: Repository,
    history: History,
    trees: Trees,
    *,
    into: Commit,
    merged: Commit,
    bases: tuple[str, ...],
    scratch: Path,
) -> Merged | Conflict | NotMerged:
    """Merge `merged` into the commit `into`; `bases` are their merge bases, at least one.

    `scratch` is an empty folder. Nothing is written into the repository.
    """
    git = find_git()
    if git.version < _MERGE_TREE:
        return NotMerged(words="this git is older than 2.38, the first that merges without files")
    graph = _closure(history, into, merged, bases)
    if isinstance(graph, NotMerged):
        return graph
    # What all sides share is rarely needed, and then only folders are: for those that moved.
    for number, every_folder in enumerate((False, True)):
        objects = _Objects(repo, trees)
        written = {oid: objects.commit(history, oid, graph) for oid in graph}
        roots = sorted({_commit(history, oid).tree for oid in graph})
        problem = objects.take(roots, every_folder=every_folder)
        if problem is not None:
            return problem
        folder = scratch / f"merge-{number}.git"
        make_bare(folder, repo.hex_length)
        _run(git.path, folder, ["index-pack", "--stdin"], objects.packed(repo.hex_length))
        tips = written[into.oid], written[merged.oid]
        code, said = _run(git.path, folder, [*_MERGE, *tips])
        words = said.split(b"\0")
        if code == _CONFLICT and _ID.fullmatch(words[0]):
            return Conflict(paths=_in_conflict(words[1:], written))
        if code == 0 and _ID.fullmatch(words[0]):
            return _read(folder, trees, merged.tree, words[0].decode(), repo.hex_length)
    return NotMerged(words="git's merge ended without an answer")


def _in_conflict(words: Iterable[bytes], written: Mapping[str, str]) -> tuple[bytes, ...]:
    """Name paths in conflict; git calls a file after its commit where a folder has its place."""
    paths = {path for path in words if path}
    for real, ours in written.items():
        paths = {path.replace(f"~{ours}".encode(), f"~{real}".encode()) for path in paths}
    return tuple(sorted(paths))


def _closure(
    history: History, into: Commit, merged: Commit, bases: tuple[str, ...]
) -> dict[str, tuple[str, ...]] | NotMerged:
    """Return every commit that takes part, parents first, with the parents it is given."""
    below: dict[str, dict[str, None]] = {}
    waiting = [bases]
    while waiting:
        group = waiting.pop()
        new: dict[str, None] = {}
        for oid in group:
            below[oid] = {}
        for number, one in enumerate(group):
            for other in group[number + 1 :]:
                found = history.merge_bases(one, other)
                if isinstance(found, Unknown):
                    return NotMerged(words=found.words)
                for side in (one, other):
                    below[side].update(dict.fromkeys(found))
                new.update(dict.fromkeys(oid for oid in found if oid not in below))
        if len(below) + len(new) > GIT_MERGE_BASES:
            return NotMerged(words=f"more than {GIT_MERGE_BASES} merge bases of merge bases")
        if new:
            waiting.append(tuple(new))
    ordered = {oid: tuple(parents) for oid, parents in reversed(below.items())}
    return {**ordered, into.oid: bases, merged.oid: bases}


def _commit(history: History, oid: str) -> Commit:
    found = history.commit(oid)
    if isinstance(found, Fault):  # walked over on the way here: it was read
        raise TypeError(oid)
    return found


class _Objects:
    """The objects of a merge: commits of ours, and what of the repository differs."""

    def __init__(self, repo: Repository, trees: Trees) -> None:
        self._repo, self._trees = repo, trees
        self._written: dict[str, str] = {}
        self._objects: list[tuple[str, bytes]] = []

    def commit(self, history: History, oid: str, graph: dict[str, tuple[str, ...]]) -> str:
        """Write a commit with the tree and date of a real one; return its id."""
        real, date = _commit(history, oid), history.date(oid)
        parents = [self._written[each] for each in graph[oid] if each in self._written]
        lines = [f"tree {real.tree}", *(f"parent {each}" for each in parents)]
        lines += [f"{who} . <> {date} +0000" for who in ("author", "committer")]
        data = ("\n".join(lines) + f"\n\n{oid}\n").encode()
        named = hasher("commit", len(data), len(oid))
        named.update(data)
        self._objects.append(("commit", data))
        self._written[oid] = named.hexdigest()
        return self._written[oid]

    def take(self, roots: list[str], *, every_folder: bool) -> NotMerged | None:
        """Take in the folders and files that not all of these trees share, or every folder."""
        folders: dict[str, None] = dict.fromkeys(roots)
        files: dict[str, None] = {}
        waiting = [tuple(roots)]
        seen: dict[tuple[str, ...], None] = {}
        reader = self._repo.reader
        while waiting:
            self._trees.read(reader, (oid for group in waiting for oid in group if oid != _ABSENT))
            groups, waiting = waiting, []
            for group in groups:
                for below in self._apart(group, files):
                    if below not in seen:
                        seen[below] = None
                        folders.update(dict.fromkeys(oid for oid in below if oid != _ABSENT))
                        waiting.append(below)
        for root in roots if every_folder else ():
            folders |= self._trees.below(reader, root)
        return self._read(folders, files)

    def _read(self, folders: Iterable[str], files: Iterable[str]) -> NotMerged | None:
        wants = [Want(oid, "tree", GIT_TREE_BYTES, keep=True) for oid in folders]
        wants += [Want(oid, "blob", GIT_BLOB_BYTES, keep=True) for oid in files]
        size = 0
        for got in self._repo.reader.read(wants):
            if got.data is None:
                return NotMerged(words=f"object {got.oid} cannot be read")
            size += got.size
            if size > GIT_MERGE_BYTES:
                return NotMerged(words=f"more than {GIT_MERGE_BYTES:,} bytes differ")
            self._objects.append((got.kind, got.data))
        return None

    def _apart(self, group: tuple[str, ...], files: dict[str, None]) -> Iterator[tuple[str, ...]]:
        """Give the folders of one name that differ among folders; put files that do on the list.

        A side without a folder there is `_ABSENT`: then all that the others have there differs,
        and git may ask where it has come from.
        """
        lines = (() if oid == _ABSENT else self._trees.items(oid) for oid in group)
        sides = [{item.name: item for item in each} for each in lines]
        for name in dict.fromkeys(name for side in sides for name in side):
            items = [side.get(name) for side in sides]
            if all(item == items[0] for item in items):
                continue
            found = dict.fromkeys(item for item in items if item is not None)
            folders = tuple(item.oid for item in found if item.mode == FOLDER_MODE)
            files.update(
                dict.fromkeys(
                    item.oid for item in found if item.mode not in (FOLDER_MODE, GITLINK_MODE)
                )
            )
            if folders:
                everywhere = all(item is not None and item.mode == FOLDER_MODE for item in items)
                yield folders if everywhere else (*folders, _ABSENT)

    def packed(self, hex_length: int) -> bytes:
        """Return all of them as a pack."""
        return b"".join(pack(self._objects, len(self._objects), hex_length))


def _run(git: str, folder: Path, words: list[str], data: bytes = b"") -> tuple[int, bytes]:
    """Run git on our folder; what it writes lies there."""
    try:
        done = subprocess.run(  # noqa: S603  (an absolute path and words of ours)
            [git, *words],
            env=environment(folder),
            cwd=folder,
            input=data,
            capture_output=True,
            timeout=GIT_MERGE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, b""
    return done.returncode, done.stdout


def _read(
    folder: Path, trees: Trees, before: str, after: str, hex_length: int
) -> Merged | NotMerged:
    """Read the trees that the merge wrote, hashed as all others are."""
    channel = Channel(find_git(), folder, 0, memory=GIT_TREE_BYTES)
    try:
        changes = trees.changes(Reader(channel, hex_length), before, after)
    except OverflowError:
        return NotMerged(words="the merge changes more paths than are read")
    finally:
        channel.stop()
    return Merged(tree=after, changes=tuple(changes))
