"""What an argument names: a plain path, or a tree by its prefix (FORMATS §5).

`git:REPO@COMMIT[:PATH]`, `tar:FILE[:PATH]`, `zip:FILE[:PATH]`, a folder by its plain path. The
longest existing file before a colon is the archive, so that names with colons can be given.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.printable import printable

if TYPE_CHECKING:
    from verifier.sources.tree import Tree
    from verifier.sources.within import Within

_PREFIXES: Final = ("git", "tar", "zip")
_GIT: Final = re.compile(r"(.+)@([^@:]*)(?::(.*))?", re.DOTALL)
_SHOWN: Final = 200
_FULL_GIT: Final = re.compile(r"(.+)@([0-9a-f]{40}|[0-9a-f]{64})(?::(.*))?", re.DOTALL)


class Place(NamedTuple):
    """A tree, and the path inside it that is meant, None for the whole.

    `part` says that the tree itself is only a part of a commit.
    """

    tree: "Tree"
    inside: bytes | None
    part: bool = False


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
    within: "Within | None" = None,
) -> Place:
    """Open what an argument names as a tree; nothing of it is read yet.

    `whole` says that all below the path inside is meant, not one file. `clones` are folders into
    which a repository's own pointers may lead, `allow_alternates` lets its alternates lead
    anywhere. Of a folder only what is `within` is read; other sources are read whole.

    Raises `WrongCallError` for an empty argument, a commit that is no full id, or a path inside
    that is not written plainly, `UnavailableError` if there is no such archive.
    """
    if not argument:
        raise WrongCallError(
            "expected a file, folder, commit or archive, got an empty argument",
            code="wrong-call",
            remedy="check the variable or quotes that it comes from",
        )
    prefix, _, rest = argument.partition(":")
    if not is_prefixed(argument):
        from verifier.sources.folder_tree import FolderTree  # noqa: PLC0415

        return Place(FolderTree(Path(argument), name=argument, within=within), None)
    if prefix == "git":
        return _git(argument, rest, whole=whole, clones=clones, allow_alternates=allow_alternates)
    file, below = _split(rest)
    if prefix == "tar":
        from verifier.sources.archives.tar import TarTree  # noqa: PLC0415

        return Place(TarTree(Path(file), name=argument), below)
    from verifier.sources.archives.zip import ZipTree  # noqa: PLC0415

    return Place(ZipTree(Path(file), name=argument), below)


def _split(rest: str) -> tuple[str, bytes | None]:
    """Split `FILE:PATH` behind the longest existing path that is no folder."""
    cuts = [len(rest), *(at for at in range(len(rest) - 1, 0, -1) if rest[at] == ":")]
    for at in cuts:
        if os.path.lexists(rest[:at]) and not os.path.isdir(rest[:at]):  # noqa: PTH112  (see below)
            return rest[:at], inside(rest[at + 1 :])
    # Unlike pathlib's, these two answer no for names that are too long for any file.
    raise UnavailableError(
        f"{rest[:_SHOWN]}{'…' * (len(rest) > _SHOWN)}: no archive of that name",
        code="cannot-read",
        remedy="check the path of the archive, and put a path inside it behind a colon",
    )


def inside(written: str) -> bytes | None:
    """Return the path inside that is meant; it has one spelling in every kind of source.

    Raises `WrongCallError` for any other spelling; nothing written is None.
    """
    path = written.rstrip("/")
    if not written:
        return None
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise WrongCallError(
            f"{printable(written)}: expected a path inside without empty, . or .. parts",
            code="wrong-call",
            remedy="write it as `pinproof list tree` prints it, such as pkg/module.py",
        )
    return path.encode(errors="surrogateescape")


def _git(
    argument: str, rest: str, *, whole: bool, clones: Iterable[str], allow_alternates: bool
) -> Place:
    from verifier.sources.git.tree import GitTree  # noqa: PLC0415  (subprocess, for git alone)

    found = _FULL_GIT.fullmatch(rest) or _GIT.fullmatch(rest)
    if found is None:
        raise WrongCallError(
            f"{argument}: expected git:REPO@COMMIT or git:REPO@COMMIT:PATH",
            code="wrong-call",
            remedy="give the repository's path and the full id of a commit",
        )
    below = inside(found[3] or "")
    tree = GitTree(
        Path(found[1]),
        found[2],
        name=argument,
        subpath=(below or b"") if whole else b"",
        clones=tuple(map(Path, clones)),
        allow_alternates=allow_alternates,
    )
    return Place(tree, None, part=below is not None) if whole else Place(tree, below)
