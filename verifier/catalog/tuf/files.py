"""The files of a registry, and what is wrong with them before any is read (FORMATS §1, 8 and 9)."""

import re
from pathlib import Path
from typing import Final, Protocol

from verifier.catalog.tuf.problems import link, missing, problem, unlisted, unsafe_name
from verifier.core.finding import Finding
from verifier.core.limits import FILES_TABLE_BYTES, METADATA_BYTES, REGISTRY_FILES
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.folder import Folder, Kind, Unusable

#: One segment of a role's or target's name.
SEGMENT: Final = re.compile(r"(?!\.{1,2}$)[a-z0-9._-]+")
#: `targets/<project>/<kind>/<name>` is the deepest that anything signed can lie.
_DEPTH: Final = 4


@frozen
class Listing:
    """The paths of regular files below a registry, and what else was found there."""

    files: frozenset[str]
    odd: frozenset[str]
    findings: tuple[Finding, ...]


class Store(Protocol):
    """Where the files of a registry come from: a folder, or a folder of a commit."""

    def listing(self) -> Listing:
        """List every file, and what should not be there."""

    def read(self, path: str) -> bytes | Finding:
        """Read one file whole, or say why it cannot be used."""


class RegistryFiles:
    """A registry on disk. Paths are relative to its folder and printed with `/`."""

    def __init__(self, path: Path) -> None:
        """Remember the folder; nothing is opened before something is asked for."""
        self._folder = Folder(path, what="the registry")

    def listing(self) -> Listing:
        """List every file; links, special files, unsafe names and stray folders are findings."""
        files: set[str] = set()
        odd: dict[str, Finding] = {}
        waiting, folders = [""], 0
        while waiting:
            folder = waiting.pop()
            folders += 1
            for name, kind in self._folder.entries(folder):
                path = f"{folder}/{name}" if folder else name
                finding = stray(path, kind)
                if len(files) + len(odd) + folders >= REGISTRY_FILES:
                    most = f"at most {REGISTRY_FILES:,} files"
                    odd[path] = problem("registry-too-large", path, "more", expected=most)
                    waiting.clear()
                    break
                if finding:
                    odd[path] = finding
                elif kind is Kind.FOLDER:
                    waiting.append(path)
                else:
                    files.add(path)
        return Listing(files=frozenset(files), odd=frozenset(odd), findings=tuple(odd.values()))

    def read(self, path: str) -> bytes | Finding:
        """Read one file whole, or say why it cannot be used."""
        limit = limit_of(path)
        data = self._folder.read(path, limit=limit)
        match data:
            case Unusable.MISSING:
                return missing(path)
            case Unusable.NOT_REGULAR | Unusable.IN_THE_WAY:
                return link(path, str(data))
            case Unusable.TOO_LARGE:
                return too_large(path, limit)
            case bytes():
                return data


def limit_of(path: str) -> int:
    """Return how many bytes a file of a registry may have."""
    return FILES_TABLE_BYTES if path.endswith(".files.json") else METADATA_BYTES


def too_large(path: str, limit: int) -> Finding:
    """Return the finding on a file that has more bytes."""
    return problem("registry-too-large", path, "more", expected=f"at most {limit:,} bytes")


def safe_name(name: str) -> bool:
    """Tell whether every segment of a name is plain and none leaves its folder."""
    return all(SEGMENT.fullmatch(segment) for segment in name.split("/"))


def stray(path: str, kind: Kind) -> Finding | None:
    """Say what is wrong with a path whatever the metadata says, if anything is."""
    *_, name = segments = path.split("/")
    if kind in (Kind.LINK, Kind.SPECIAL):
        return link(printable(path), f"a {kind}")
    if not SEGMENT.fullmatch(name):
        return unsafe_name(name, printable(path))
    deepest = 1 if segments[0] == "metadata" else _DEPTH - 1
    stray = segments[0] not in ("metadata", "targets") or len(segments) > deepest
    return unlisted(path, "a folder") if kind is Kind.FOLDER and stray else None
