"""The files of a registry that lies in a folder of a commit (see `files` for one on disk)."""

from collections.abc import Callable, Iterable

from verifier.catalog.tuf.files import Listing, limit_of, stray, too_large
from verifier.catalog.tuf.problems import link, missing, problem
from verifier.core.finding import Finding
from verifier.core.limits import REGISTRY_FILES
from verifier.sources.folder import Kind
from verifier.sources.git.objects import FOLDER_MODE, Item, shown
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE

#: Returns the bytes of a blob by its id, None if it cannot be read or has more than so many.
Blobs = Callable[[str, int], bytes | None]


class RegistryTree:
    """A registry inside a commit. Paths are relative to its folder, as on disk."""

    def __init__(self, items: Iterable[tuple[bytes, Item]], blobs: Blobs) -> None:
        """Take in what lies below the folder, folders too, each with its path there."""
        self._items = {shown(path): item for path, item in items}
        self._blobs = blobs

    def listing(self) -> Listing:
        """List every file; links, submodules, unsafe names and stray folders are findings."""
        odd: dict[str, Finding] = {}
        files: set[str] = set()
        for path, item in self._items.items():
            finding = stray(path, _kind(item))
            if finding:
                odd[path] = finding
            elif item.mode != FOLDER_MODE:
                files.add(path)
        if len(self._items) > REGISTRY_FILES:
            most = f"at most {REGISTRY_FILES:,} files"
            odd[""] = problem("registry-too-large", "", "more", expected=most)
        return Listing(files=frozenset(files), odd=frozenset(odd), findings=tuple(odd.values()))

    def read(self, path: str) -> bytes | Finding:
        """Read one file whole, or say why it cannot be used."""
        item = self._items.get(path)
        if item is None:
            return missing(path)
        kind = _kind(item)
        if kind is not Kind.FILE:
            return link(path, f"a {kind}")
        data = self._blobs(item.oid, limit_of(path))
        return too_large(path, limit_of(path)) if data is None else data


def _kind(item: Item) -> Kind:
    if item.mode in (FILE_MODE, PROGRAM_MODE):
        return Kind.FILE
    return Kind.FOLDER if item.mode == FOLDER_MODE else Kind.LINK
