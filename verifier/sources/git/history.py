"""How commits of one repository stand to each other: read from the commits, each hashed.

Neither commit-graph files nor grafts nor replacements count (`store`, `notes`); where history
ends early, as in a shallow clone, the answer is unknown and never no.
"""

import heapq
import re
from collections.abc import Iterable
from typing import Final

from verifier.core.limits import GIT_COMMIT_BYTES, GIT_HISTORY
from verifier.core.value import frozen
from verifier.sources.git.objects import Commit, Fault, parse_commit
from verifier.sources.git.reader import Want
from verifier.sources.git.repository import Repository

_DATE: Final = re.compile(rb"> (\d{1,18}) [+-]\d{4}\Z")
_ONE, _OTHER, _PASSED = 1, 2, 4
_BOTH: Final = _ONE | _OTHER


@frozen
class Unknown:
    """Why history does not tell: words, the commit at which it ends, and why there."""

    words: str
    commit: str | None = None
    fault: Fault | None = None

    @property
    def damaged(self) -> Fault | None:
        """What is wrong with a commit that is there; None where history only ends early."""
        ends = self.fault is None or self.fault.code == "git-object-missing"
        return None if ends else self.fault


class History:
    """The commits that were read so far, and questions about them."""

    def __init__(self, repo: Repository) -> None:
        """Read from `repo`, which is open."""
        self._repo = repo
        self._known: dict[str, Commit | Fault] = {}
        self._fresh: list[tuple[str, bytes]] = []

    def read(self, wanted: Iterable[str]) -> None:
        """Read those that are not known yet, together."""
        wants = [
            Want(oid, "commit", GIT_COMMIT_BYTES, keep=True)
            for oid in dict.fromkeys(wanted)
            if oid not in self._known
        ]
        for got in self._repo.reader.read(wants):
            found = got.fault or parse_commit(got.oid, got.data or b"")
            self._known[got.oid] = found
            if isinstance(found, Commit):
                self._fresh.append((found.oid, found.raw))

    def commit(self, oid: str) -> Commit | Fault:
        """Return one commit, or why it cannot be used."""
        self.read([oid])
        return self._known[oid]

    def fresh(self) -> list[tuple[str, bytes]]:
        """Return the commits that were read since this was last called, as (id, bytes)."""
        taken, self._fresh = self._fresh, []
        return taken

    def is_ancestor(self, base: str, tip: str) -> bool | Unknown:
        """Whether `base` is `tip` or one of its ancestors."""
        seen, level = {tip}, [tip]
        missing: Unknown | None = None
        while level:
            if base in seen:
                return True
            if len(seen) > GIT_HISTORY:
                return _too_long()
            self.read(level)
            coming: dict[str, None] = {}
            for oid in level:
                commit = self._known[oid]
                if isinstance(commit, Fault):
                    missing = missing or _ends(oid, commit)
                else:
                    coming.update(dict.fromkeys(p for p in commit.parents if p not in seen))
            seen.update(coming)
            level = list(coming)
        return missing if missing is not None else False

    def above(self, base: str, tips: Iterable[str]) -> set[str]:
        """Return those of many commits that have `base` below them, as far as history tells.

        What one of them was found not to have is not walked again for the next.
        """
        found: set[str] = set()
        apart: set[str] = set()
        for tip in tips:
            seen, level = {tip}, [] if tip in apart else [tip]
            while level and base not in seen and len(seen) <= GIT_HISTORY:
                self.read(level)
                commits = [c for c in map(self.commit, level) if isinstance(c, Commit)]
                parents = dict.fromkeys(parent for commit in commits for parent in commit.parents)
                level = [oid for oid in parents if oid not in seen and oid not in apart]
                seen.update(level)
            if base in seen:
                found.add(tip)
            elif not level:
                apart |= seen
        return found

    def merge_bases(self, one: str, other: str) -> tuple[str, ...] | Unknown:
        """Return the best common ancestors, the latest first; none if nothing is shared.

        The walk is git's (commit-reach.c, `paint_down_to_common`): commits are painted by the
        side that they are reached from, those below a common one are passed over, and it ends
        when nothing else waits. Dates only decide what is looked at first.
        """
        if one == other:
            return (one,)
        found = _Painting(self).common(one, other)
        if isinstance(found, Unknown):
            return found
        best: list[str] = []
        for oid in found:
            for rest in (each for each in found if each != oid):
                below = self.is_ancestor(oid, rest)
                if isinstance(below, Unknown):
                    return below
                if below:
                    break
            else:
                best.append(oid)
        return tuple(sorted(best, key=lambda oid: (-self.date(oid), oid)))

    def date(self, oid: str) -> int:
        """Return the committer's date in seconds, 0 where none can be read."""
        commit = self.commit(oid)
        found = None if isinstance(commit, Fault) else _DATE.search(commit.committer)
        return int(found[1]) if found else 0


class _Painting:
    """One walk down from two commits."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._paint: dict[str, int] = {}
        self._queue: list[tuple[int, str]] = []
        self._waiting: set[str] = set()
        self._open = 0

    def common(self, one: str, other: str) -> list[str] | Unknown:
        """Return common ancestors, the best of them among them."""
        self._reach([one], _ONE)
        self._reach([other], _OTHER)
        common: dict[str, None] = {}
        while self._open:
            _, oid = heapq.heappop(self._queue)
            if oid not in self._waiting:
                continue
            self._leave(oid)
            paint = self._paint[oid]
            if paint & _BOTH == _BOTH and not paint & _PASSED:
                common[oid] = None
                paint |= _PASSED
            commit = self._history.commit(oid)
            if isinstance(commit, Fault):
                return _ends(oid, commit)
            if len(self._paint) > GIT_HISTORY:
                return _too_long()
            self._reach(commit.parents, paint)
        return [oid for oid in common if not self._paint[oid] & _PASSED]

    def _reach(self, commits: Iterable[str], paint: int) -> None:
        new = [oid for oid in commits if self._paint.get(oid, 0) | paint != self._paint.get(oid)]
        self._history.read(new)
        for oid in new:
            if oid in self._waiting:
                self._leave(oid)
            self._paint[oid] = self._paint.get(oid, 0) | paint
            self._waiting.add(oid)
            self._open += not self._paint[oid] & _PASSED
            heapq.heappush(self._queue, (-self._history.date(oid), oid))

    def _leave(self, oid: str) -> None:
        self._waiting.remove(oid)
        self._open -= not self._paint[oid] & _PASSED


def _ends(oid: str, fault: Fault) -> Unknown:
    words = f"commit {oid} cannot be read: history ends there"
    return Unknown(words=words, commit=oid, fault=fault)


def _too_long() -> Unknown:
    return Unknown(words=f"more than {GIT_HISTORY:,} commits lie between them")
