"""What an argument names: a plain path, or a tree by its prefix (FORMATS §5).

`git:REPO@COMMIT[:PATH]`, `tar:FILE[:PATH]`, `zip:FILE[:PATH]`, a folder by its plain path. The
longest existing file before a colon is the archive, so that names with colons can be given.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from verifier.core.errors import WrongCallError

if TYPE_CHECKING:
    from verifier.sources.tree import Tree

_PREFIXES: Final = ("git", "tar", "zip")
_GIT: Final = re.compile(r"(.+)@([^@:]*)(?::(.*))?", re.DOTALL)
_FULL_GIT: Final = re.compile(r"(.+)@([0-9a-f]{40}|[0-9a-f]{64})(?::(.*))?", re.DOTALL)


class Place(NamedTuple):
    """A tree, and the path inside it that is meant, None for the whole."""

    tree: "Tree"
    inside: bytes | None


def is_prefixed(argument: str) -> bool:
    """Whether an argument names a tree by its prefix."""
    prefix, colon, _ = argument.partition(":")
    return bool(colon) and prefix in _PREFIXES


def open_place(
    argument: str,
    *,
    whole: bool = False,
    clones: Iterable[str] = (),
    allow_alternates: bool = False,
) -> Place:
    """Open what an argument names as a tree; nothing of it is read yet.

    `whole` says that all below the path inside is meant, not one file. `clones` are folders into
    which a repository's own pointers may lead, `allow_alternates` lets its alternates lead
    anywhere. Raises `WrongCallError` for a commit that is no full id.
    """
    prefix, _, rest = argument.partition(":")
    if not is_prefixed(argument):
        from verifier.sources.folder_tree import FolderTree  # noqa: PLC0415

        return Place(FolderTree(Path(argument), name=argument), None)
    if prefix == "git":
        return _git(argument, rest, whole=whole, clones=clones, allow_alternates=allow_alternates)
    file, inside = _split(rest)
    if prefix == "tar":
        from verifier.sources.tar import TarTree  # noqa: PLC0415

        return Place(TarTree(Path(file), name=argument), inside)
    from verifier.sources.zip import ZipTree  # noqa: PLC0415

    return Place(ZipTree(Path(file), name=argument), inside)


def _split(rest: str) -> tuple[str, bytes | None]:
    """Split `FILE:PATH` behind the longest existing file."""
    cuts = [len(rest), *(at for at in range(len(rest) - 1, 0, -1) if rest[at] == ":")]
    for at in cuts:
        if Path(rest[:at]).is_file():
            return rest[:at], rest[at + 1 :].encode(errors="surrogateescape") or None
    return rest, None


def _git(
    argument: str, rest: str, *, whole: bool, clones: Iterable[str], allow_alternates: bool
) -> Place:
    from verifier.sources.git import GitTree  # noqa: PLC0415  (subprocess, for git alone)

    found = _FULL_GIT.fullmatch(rest) or _GIT.fullmatch(rest)
    if found is None:
        raise WrongCallError(
            f"{argument}: expected git:REPO@COMMIT or git:REPO@COMMIT:PATH",
            code="wrong-call",
            remedy="give the repository's path and the full id of a commit",
        )
    inside = (found[3] or "").encode(errors="surrogateescape")
    tree = GitTree(
        Path(found[1]),
        found[2],
        name=argument,
        subpath=inside if whole else b"",
        clones=tuple(map(Path, clones)),
        allow_alternates=allow_alternates,
    )
    return Place(tree, None if whole or not inside else inside)
