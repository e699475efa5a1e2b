"""Where a repository's objects lie, and a folder of ours that shows git those and nothing else.

`.git` files, `commondir` and alternates are pointers that whoever wrote the repository chose:
they are resolved here, reported, and followed only into folders that the user named (CHECKS,
"git reader"). Of a store only plain loose files, `*.pack` and `*.idx` are shown, each by a link
of its own in a bare folder of ours. A hard link would change the inode of what is only looked
at, and other users' files refuse it; a link that is exchanged afterwards gains nothing, because
every object is hashed.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.limits import GIT_FILE_BYTES, GIT_STORES, MIB
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.folder import Folder, Unusable
from verifier.sources.git.objects import SHA256_HEX, shown
from verifier.sources.unavailable import unreadable

_FAN: Final = re.compile("[0-9a-f]{2}")
_REST: Final = re.compile("[0-9a-f]{38}|[0-9a-f]{62}")
#: Kept out of git's reach although git would use them: they may contradict the objects.
#: Linux takes no longer path (PATH_MAX).
_LONGEST_PATH: Final = 4096
_LEFT_OUT: Final = (
    *("info/alternates", "info/http-alternates", "info/commit-graph", "info/commit-graphs"),
    "pack/multi-pack-index",
)
_LEFT_OUT_SUFFIXES: Final = (".promisor", ".bitmap")
_KINDS: Final = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
)


@frozen
class Found:
    """A repository: its own folder, the one it shares with others, the object folders.

    `followed` and `refused` are the pointers met, as they are written there.
    """

    git_dir: Path
    common: Path
    stores: tuple[Path, ...]
    followed: tuple[str, ...]
    refused: tuple[str, ...]


class _Pointers:
    """Which pointers may be followed: those into the repository, and into what the user named."""

    def __init__(self, repo: Path, clones: Sequence[Path], *, anywhere: bool) -> None:
        for clone in clones:
            if not clone.is_dir():
                raise UnavailableError(
                    f"--clone {printable(str(clone))}: no such folder",
                    code="cannot-read",
                    remedy="name the folder that the repository's pointers lead to",
                )
        self._roots = [path.resolve() for path in (repo, *clones)]
        self._anywhere = anywhere
        self.followed: list[str] = []

    def allows(self, path: Path) -> bool:
        return self._anywhere or any(path.is_relative_to(root) for root in self._roots)

    def follow(self, what: str, written: str, base: Path) -> Path:
        """Follow a pointer without which nothing can be read."""
        path = _target(base, written)
        if path is None:
            raise _no_repository(base)
        if not self.allows(path):
            raise UnavailableError(
                f"{printable(what)} leads to {printable(written)}, outside of what was named",
                code="git-elsewhere",
                remedy=f"name the folder if you trust it: --clone {printable(str(path))}; "
                "--allow-alternates follows any",
            )
        if not path.is_dir():
            raise _no_repository(base)
        self.followed.append(f"{what} → {written}")
        return path


def _target(base: Path, written: str) -> Path | None:
    """Return where a pointer leads, None for what no file system takes as a path."""
    if "\0" in written or len(written) > _LONGEST_PATH:
        return None
    try:
        path = (base / written).resolve()
        path.is_dir()
    except (OSError, ValueError, RuntimeError):
        return None
    return path


def find(repo: Path, clones: Iterable[Path], *, anywhere: bool) -> Found:
    """Find a repository at `repo`: a work tree, a linked one, a submodule, or a bare folder.

    Nothing above `repo` is looked at. Raises `UnavailableError` if there is none, or if it lies
    where it was not allowed to lead.
    """
    pointers = _Pointers(repo, tuple(clones), anywhere=anywhere)
    git_dir = _git_dir(repo, pointers)
    common = git_dir
    if (written := _line(git_dir, "commondir")) is not None:
        common = pointers.follow(f"{git_dir}/commondir", written, git_dir)
    objects = common / "objects"
    if objects.is_symlink():
        objects = pointers.follow(str(objects), str(objects.readlink()), common)
    if not objects.is_dir():
        raise _no_repository(repo)
    stores, refused = _with_alternates(objects, pointers)
    return Found(
        git_dir=git_dir,
        common=common,
        stores=stores,
        followed=tuple(pointers.followed),
        refused=refused,
    )


def _git_dir(repo: Path, pointers: _Pointers) -> Path:
    dot_git = repo / ".git"
    try:
        mode = dot_git.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if (repo / "objects").is_dir() and (repo / "HEAD").is_file():
            return repo.resolve()
        raise _no_repository(repo) from None
    except OSError as error:
        raise unreadable(printable(str(dot_git)), error) from None
    if stat.S_ISLNK(mode):
        return pointers.follow(str(dot_git), str(dot_git.readlink()), repo)
    if stat.S_ISDIR(mode):
        return dot_git.resolve()
    written = _line(repo, ".git") or ""
    if not written.startswith("gitdir: "):
        raise _no_repository(repo)
    return pointers.follow(str(dot_git), written.removeprefix("gitdir: "), repo)


def _with_alternates(
    objects: Path, pointers: _Pointers
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return an object folder and those it borrows from, each once."""
    stores, refused = [objects.resolve()], []
    for store in stores:
        text = read_file(store, "info/alternates") or b""
        for line in text.split(b"\n"):
            if not line or line.startswith(b"#"):
                continue
            written = shown(line)
            path = _target(store, written)
            if path in stores:
                continue
            if (
                path is not None
                and len(stores) < GIT_STORES
                and pointers.allows(path)
                and path.is_dir()
            ):
                stores.append(path)
                pointers.followed.append(f"info/alternates → {written}")
            else:
                refused.append(written)
    return tuple(stores), tuple(refused)


def make_bare(folder: Path, hex_length: int) -> None:
    """Write an empty bare repository: all that git will know is in these few lines."""
    (folder / "objects" / "pack").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "HEAD").write_bytes(b"ref: refs/heads/none\n")
    wide = hex_length == SHA256_HEX
    (folder / "config").write_text(
        f"[core]\n\trepositoryformatversion = {int(wide)}\n\tbare = true\n"
        # Larger contents are passed through in pieces instead of being held whole.
        f"\tbigFileThreshold = {8 * MIB}\n\tmultiPackIndex = false\n\tcommitGraph = false\n"
        + ("[extensions]\n\tobjectFormat = sha256\n" if wide else ""),
        encoding="ascii",
    )


class Linker:
    """Links the plain files of stores into our object folder, and names what it leaves out."""

    def __init__(self, objects: Path) -> None:
        """Link below `objects`."""
        self._objects = objects
        self.special: dict[str, str] = {}
        self.ignored: dict[str, None] = {}
        self._packs = 0

    def link(self, store: Path) -> None:
        """Link one store. What an earlier one holds already comes first."""
        try:
            for entry in _sorted(store):
                if _FAN.fullmatch(entry.name):
                    self._fan(entry)
            self._link_packs(store)
        except OSError as error:
            raise unreadable(printable(str(store)), error) from None
        for name in _LEFT_OUT:
            if _exists(store / name):
                self.ignored[f"objects/{name}"] = None

    def _fan(self, entry: "os.DirEntry[str]") -> None:
        if not entry.is_dir(follow_symlinks=False):
            self._refuse(entry, f"objects/{entry.name}")
            return
        mine = str(self._objects / entry.name)
        Path(mine).mkdir(exist_ok=True)
        with os.scandir(entry.path) as found:
            for loose in found:
                if not _REST.fullmatch(loose.name):
                    continue
                if not loose.is_file(follow_symlinks=False):
                    self._refuse(loose, f"objects/{entry.name}/{loose.name}")
                else:
                    with contextlib.suppress(FileExistsError):  # an earlier store's comes first
                        os.symlink(loose.path, f"{mine}/{loose.name}")  # noqa: PTH211  (hot)

    def _link_packs(self, store: Path) -> None:
        folder = store / "pack"
        if folder.is_symlink() or not folder.is_dir():
            if _exists(folder):
                self.special["objects/pack"] = _kind(folder.lstat().st_mode)
            return
        entries = {entry.name: entry for entry in _sorted(folder)}
        for name, entry in entries.items():
            if name.endswith(_LEFT_OUT_SUFFIXES):
                self.ignored[f"objects/pack/*{Path(name).suffix}"] = None
            if not name.endswith((".pack", ".idx")):
                continue
            if not entry.is_file(follow_symlinks=False):
                self._refuse(entry, f"objects/pack/{name}")
            elif name.endswith(".pack") and f"{name[:-5]}.idx" in entries:
                self._link_pack(entry, entries[f"{name[:-5]}.idx"])

    def _link_pack(self, pack: "os.DirEntry[str]", index: "os.DirEntry[str]") -> None:
        if not index.is_file(follow_symlinks=False):
            return
        name = self._objects / "pack" / f"pack-{self._packs:040x}"
        self._packs += 1
        name.with_suffix(".pack").symlink_to(pack.path)
        name.with_suffix(".idx").symlink_to(index.path)

    def _refuse(self, entry: "os.DirEntry[str]", path: str) -> None:
        self.special[path] = _kind(entry.stat(follow_symlinks=False).st_mode)

    def unreadable(self, oid: str) -> bool:
        """Whether an object may be there for others: its file, or some pack, is closed to us."""
        files = [self._objects / oid[:2] / oid[2:], *(self._objects / "pack").iterdir()]
        return any(_exists(file) and not os.access(file, os.R_OK) for file in files)

    def findings(self) -> Iterator[Finding]:
        """Name the links and special files, which are not opened."""
        for path, kind in sorted(self.special.items()):
            yield Finding(
                code="git-store-special",
                got=f"{printable(path)} is {kind}",
                expected="plain files",
                remedy="replace it by the file itself, or clone the repository anew",
            )


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _kind(mode: int) -> str:
    return next((words for test, words in _KINDS if test(mode)), "a special file")


def read_file(folder: Path, path: str) -> bytes | None:
    """Read a small file of the repository, following no link below `folder`."""
    found = Folder(folder, what="the repository").read(path, limit=GIT_FILE_BYTES)
    return None if isinstance(found, Unusable) else found


def _line(folder: Path, path: str) -> str | None:
    text = read_file(folder, path)
    return None if text is None else shown(text.rstrip(b"\r\n"))


def _no_repository(repo: Path) -> UnavailableError:
    return UnavailableError(
        f"{printable(str(repo))}: no git repository",
        code="git-no-repository",
        remedy="name the folder that holds .git, or a bare repository; nothing above is searched",
    )


def _sorted(folder: Path) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)
