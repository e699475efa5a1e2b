"""Digests over the files of a folder by named algorithms, as others publish them.

`git-tree` is git's own id of the folder. `pinproof-tree/v1` is ours (`tree.tree_digests`).
`sparkcache-source-tree/v1` is that of the SparkCache project, of which the reference on
compositions (its section 1.6) states every step and blind spot:

1. SHA-256 starts with the name and a NUL byte.
2. Regular files in the order of their paths, relative to the root. Left out is what lies below
   `__pycache__`, `.pytest_cache` or `build` at any depth, and what ends in `.pyc` or `.pyo`.
3. Each adds the length of its path (4 bytes, little-endian), the path, and the SHA-256 of its
   content with every CRLF turned into LF.
4. A link to a file, and nothing to hash, are refused.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from verifier.sources.git.objects import SHA1_HEX
from verifier.sources.git.tree_id import TreeIds
from verifier.sources.tree import FILE_MODE, TreeEntry, Type, tree_digests

GIT_TREE: Final = "git-tree"
PINPROOF: Final = "pinproof-tree/v1"
SPARKCACHE: Final = "sparkcache-source-tree/v1"
#: What each algorithm does not see, as reports say it under "not proven".
BLIND: Final[dict[str, tuple[str, ...]]] = {
    GIT_TREE: ("what lies in the folder and is not committed",),
    PINPROOF: (),
    SPARKCACHE: (
        "modes of the files: the digest does not cover them",
        "what lies below build, __pycache__ or .pytest_cache at any depth, and .pyc and .pyo files",
        "line ends: the digest takes CRLF for LF, in binary files too",
        "links to folders, and empty folders: the digest does not see them",
    ),
}
_SKIPPED: Final = frozenset({"__pycache__", ".pytest_cache", "build"})
_COMPILED: Final = frozenset({".pyc", ".pyo"})


class Unusable(Exception):  # noqa: N818  (a refusal by the algorithm's own rules, in words)
    """The algorithm gives these files no digest; the message says why."""


def source_digest(
    algorithm: str,
    entries: Sequence[TreeEntry],
    read: Callable[[TreeEntry], bytes | None],
    *,
    hex_length: int = SHA1_HEX,
) -> str:
    """Return the digest of `entries`, whose paths are relative to the root, in hex.

    `read` returns the bytes of a file. Raises `Unusable` where the algorithm refuses the files or
    their bytes are not to be had, `KeyError` for an unknown algorithm.
    """
    if algorithm not in BLIND:
        raise KeyError(algorithm)
    if not entries:
        raise Unusable("there is no file to hash")
    if algorithm == GIT_TREE:
        return _git_tree(entries, hex_length)
    if algorithm == PINPROOF:
        if any(e.sha256 is None and e.type is not Type.GITLINK for e in entries):
            raise Unusable("not every file could be read")
        return tree_digests(sorted(entries))[0]
    return _sparkcache(entries, read)


def below(entries: Iterable[TreeEntry], root: str) -> list[TreeEntry]:
    """Return what lies below the folder `root`, which ends in a slash or is empty for all."""
    prefix = b"" if root in ("", "./") else root.encode()
    return [e._replace(path=e.path[len(prefix) :]) for e in entries if e.path.startswith(prefix)]


def _git_tree(entries: Sequence[TreeEntry], hex_length: int) -> str:
    rows = [(e.path, e.mode or FILE_MODE, e.blob or (e.target or b"").decode()) for e in entries]
    if any(len(oid) != hex_length for _, _, oid in rows):
        raise Unusable("not every file has a git id here")
    return TreeIds(rows, hex_length).id() or ""


def _sparkcache(entries: Sequence[TreeEntry], read: Callable[[TreeEntry], bytes | None]) -> str:
    whole = hashlib.sha256(SPARKCACHE.encode() + b"\0")
    files = {entry.path for entry in entries if entry.type is Type.FILE}
    folders = {path[:at] for path in files for at in range(len(path)) if path[at : at + 1] == b"/"}
    hashed = 0
    for entry in sorted(entries):
        if entry.type is Type.GITLINK or _is_skipped(entry.path):
            continue
        if entry.type is not Type.FILE:
            _refuse_link(entry, folders)
            continue
        path = _utf8(entry.path)
        data = read(entry)
        if data is None:
            raise Unusable(f"{path}: its bytes are not to be had")
        whole.update(len(entry.path).to_bytes(4, "little") + entry.path)
        whole.update(hashlib.sha256(data.replace(b"\r\n", b"\n")).digest())
        hashed += 1
    if not hashed:
        raise Unusable("there is no file to hash")
    return whole.hexdigest()


def _is_skipped(path: bytes) -> bool:
    pure = PurePosixPath(path.decode(errors="surrogateescape"))
    return not _SKIPPED.isdisjoint(pure.parts) or pure.suffix in _COMPILED


def _refuse_link(entry: TreeEntry, folders: set[bytes]) -> None:
    """Pass over a link to a folder of the tree; refuse every other one."""
    target = entry.target or b""
    above = entry.path.rpartition(b"/")[0]
    leads = normpath(b"/".join(part for part in (above, target) if part))
    if target.startswith(b"/") or leads not in folders:
        raise Unusable(
            f"{entry.path.decode(errors='replace')}: a link, which the algorithm refuses"
        )


def _utf8(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError:
        raise Unusable("a name is not UTF-8") from None
