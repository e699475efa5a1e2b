"""Whether one commit is an ancestor of another: read from the commits themselves, each hashed.

Neither commit-graph files nor grafts nor replacements count (`store`, `notes`); where history
ends early, as in a shallow clone, the answer is unknown and never no.
"""

from verifier.core.limits import GIT_COMMIT_BYTES, GIT_HISTORY
from verifier.sources.git.objects import Fault, parse_commit
from verifier.sources.git.reader import Want
from verifier.sources.git.repository import Repository


def is_ancestor(repo: Repository, base: str, tip: str) -> bool | str:
    """Whether `base` is `tip` or one of its ancestors; words where that cannot be told."""
    seen = {tip}
    level = [tip]
    missing: str | None = None
    while level:
        if base in seen:
            return True
        if len(seen) > GIT_HISTORY:
            return f"more than {GIT_HISTORY:,} commits lie between them"
        coming: dict[str, None] = {}
        for got in repo.reader.read(
            [Want(o, "commit", GIT_COMMIT_BYTES, keep=True) for o in level]
        ):
            commit = got.fault or parse_commit(got.oid, got.data or b"")
            if isinstance(commit, Fault):
                missing = missing or f"commit {got.oid} cannot be read: history ends there"
                continue
            coming.update(dict.fromkeys(p for p in commit.parents if p not in seen))
        seen.update(coming)
        level = list(coming)
    return missing if missing is not None else False
