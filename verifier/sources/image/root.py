"""The merged root of an image: one more tree, made of its layers and nothing else.

Law: OCI image specification, layer.md, "Applying changesets"; CHECKS "image". A layer's markers
act on the layers below it, wherever in the layer they stand, and never on its own members. What a
layer brings replaces what lay there: a file a folder with all below it, a folder a file or a link.
Names are led through directory links as container runtimes lead them: as of that layer, and never
out of the root. Some runtimes put a member behind such a link elsewhere, so it is reported, and
`moved` tells which paths it concerns.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from verifier.core.digest import Digest
from verifier.core.finding import Finding
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.image.changeset import Changeset
from verifier.sources.image.layer import Layer
from verifier.sources.image.layer_members import MARK, OPAQUE, Kind, Member
from verifier.sources.image.overlay import Folder, Leaf, follow
from verifier.sources.ledger import ContainerError, Ledger
from verifier.sources.names import collisions
from verifier.sources.tree import FILE_MODE, LINK_MODE, PROGRAM_MODE, TreeEntry, Type

#: Gives the bytes of a file of the layer of that number, from 0; at most so many.
Content = Callable[[int, Member, int], bytes]
_TYPES: Final = {Kind.FILE: Type.FILE, Kind.LINK: Type.LINK, Kind.SPECIAL: Type.SPECIAL}


@frozen
class Origin:
    """Which layer brought a path: its number from 1 at the bottom, of how many, its digest."""

    number: int
    of: int
    digest: Digest

    def __str__(self) -> str:
        """Print it as reports do."""
        return f"layer {self.number} of {self.of}, {self.digest}"


class Resolved(NamedTuple):
    """Where a path leads in the merged root, whose links on the way were followed.

    `path` has no link on its way; what stands there may be one, and is not followed. `links` are
    the links that were followed, where they lie. `moved` says that runtimes may differ on it.
    """

    path: bytes
    links: tuple[bytes, ...]
    moved: bool


class MergedRoot:
    """The tree that the layers of one image make, the lowest first."""

    def __init__(self, layers: Sequence[Layer], content: Content, *, name: str) -> None:
        """Merge `layers`; nothing is opened before `read`, which asks `content` for bytes."""
        self.name = name
        self._layers, self._content = tuple(layers), content
        self._root = Folder(0)
        self._crossed: set[bytes] = set()
        self._folders: set[bytes] = set()
        self._complete = all(layer.complete for layer in layers)
        found: list[Finding] = []
        for at, layer in enumerate(self._layers):
            ledger = Ledger()
            Changeset(self._root, at, ledger, self._crossed).apply(layer.members)
            ledger.count()
            self._complete = self._complete and ledger.complete
            found += (self._placed(each, at) for each in (*layer.findings, *ledger.findings))
        self._entries = sorted(self._listed(), key=_path)
        found += self._collisions()
        self._findings = tuple(found)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong or worth knowing, each with its layer as cause."""
        return self._findings

    @property
    def digests(self) -> tuple[Digest, ...]:
        """None of its own: what identifies an image is not its root."""
        return ()

    @property
    def complete(self) -> bool:
        """Whether every layer was read whole and could be laid on those below it."""
        return self._complete

    @property
    def not_proven(self) -> tuple[str, ...]:
        """What container runtimes may do otherwise."""
        if not self._crossed:
            return ()
        shown = ", ".join(_shown(path) for path in sorted(self._crossed)[:4])
        return (f"where container runtimes put members behind links of lower layers ({shown})",)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was seen in the layers and left out on purpose, in words."""
        return tuple(dict.fromkeys(said for layer in self._layers for said in layer.ignored))

    def entries(self) -> list[TreeEntry]:
        """Return every entry, sorted by path bytes."""
        return list(self._entries)

    def read(self, path: bytes, *, limit: int) -> bytes | None:
        """Return the bytes of one regular file, proved by the digest of the pass over its layer.

        None if there is none of that path; no link is followed. Raises `UnavailableError` if it
        is longer than `limit` bytes, or if its layer holds other bytes now.
        """
        leaf = self._leaf(path)
        if leaf is None or leaf.member.kind is not Kind.FILE:
            return None
        return self._content(leaf.source, leaf.member, limit)

    def origin(self, path: bytes) -> Origin | None:
        """Tell which layer brought the entry `path`, None if there is none."""
        leaf = self._leaf(path)
        return None if leaf is None else self._origin(leaf.layer)

    def entry(self, path: bytes) -> TreeEntry | None:
        """Return the entry of exactly that path, None if there is none."""
        leaf = self._leaf(path)
        return None if leaf is None else _entry(path, leaf)

    def changed_at(self, path: bytes) -> int:
        """Return when its layer says that the file `path` was changed, in whole seconds."""
        leaf = self._leaf(path)
        return leaf.member.time if leaf else 0

    def moved(self, path: bytes) -> bool:
        """Tell whether a directory link of a lower layer led the entry `path` to its place."""
        leaf = self._leaf(path)
        return leaf is not None and leaf.moved

    def resolve(self, path: bytes) -> Resolved | None:
        """Return where `path` lies, its parents followed through links, never out of the root.

        None if links lead in a circle, or something on the way is neither folder nor link.
        """
        above, _, name = path.rpartition(b"/")
        found = self.resolve_folder(above)
        if found is None:
            return None
        real = found.path + b"/" + name if found.path else name
        return Resolved(real, found.links, found.moved or self.moved(real))

    def resolve_folder(self, path: bytes) -> Resolved | None:
        """Return where the folder `path` lies, links in its own place followed too.

        None as of `resolve`.
        """
        walk = follow(self._root, path)
        if walk is None:
            return None
        crossed = any(link in self._crossed for link in walk.links)
        return Resolved(b"/".join(walk.names), walk.links, crossed)

    def names(self, path: bytes) -> list[bytes]:
        """Return what the folder `path` holds, folders among it, sorted; nothing if it is none."""
        walk = follow(self._root, path)
        return sorted(walk.folder.children) if walk and not walk.missing else []

    def history(self, path: bytes) -> tuple[Origin | None, Origin | None]:
        """Tell which layer last brought a member called `path`, and which last hid that name.

        None for what no layer did. Links on the way are not looked at.
        """
        folders = [path[:at] for at, byte in enumerate(path) if byte == ord("/")]
        marks = {_marker(name) for name in (*folders, path)}
        marks |= {OPAQUE, *(folder + b"/" + OPAQUE for folder in folders)}
        brought = hidden = None
        for at, layer in enumerate(self._layers):
            for member in layer.members:
                if member.path in marks or (
                    member.path in folders and member.kind is not Kind.FOLDER
                ):
                    hidden = self._origin(at)
                elif member.path == path:
                    brought = self._origin(at)
        return brought, hidden

    # ── what there is ──────────────────────────────────────────────────────────────────────────

    def _leaf(self, path: bytes) -> Leaf | None:
        node: Folder | Leaf | None = self._root
        for part in path.split(b"/"):
            if not isinstance(node, Folder):
                return None
            node = node.children.get(part)
        return node if isinstance(node, Leaf) else None

    def _listed(self) -> Iterator[TreeEntry]:
        waiting = [(b"", self._root)]
        while waiting:
            above, folder = waiting.pop()
            for name, node in folder.children.items():
                if isinstance(node, Folder):
                    self._folders.add(above + name)
                    waiting.append((above + name + b"/", node))
                else:
                    yield _entry(above + name, node)

    def _collisions(self) -> Iterator[Finding]:
        """Note names that file systems which fold case or normalise take for one."""
        ledger = Ledger()
        for code, path, other in collisions(map(_path, self._entries), self._folders):
            ledger.note(ContainerError(code, path=path, got=_shown(other)))
        ledger.count()
        yield from ledger.findings

    def _origin(self, at: int) -> Origin:
        digest = Digest(kind="layer", hex=self._layers[at].blob.sha256)
        return Origin(number=at + 1, of=len(self._layers), digest=digest)

    def _placed(self, finding: Finding, at: int) -> Finding:
        cause = f"in {self._origin(at)}"
        return replace(finding, cause=f"{cause}; {finding.cause}" if finding.cause else cause)


def _entry(path: bytes, leaf: Leaf) -> TreeEntry:
    member = leaf.member
    kind = _TYPES[member.kind]
    if kind is Type.LINK:
        mode = LINK_MODE
        return TreeEntry(path, kind, mode, member.length, member.sha256, member.target)
    if kind is Type.SPECIAL:
        return TreeEntry(path, kind, None, None, None)
    mode = PROGRAM_MODE if member.runs else FILE_MODE
    return TreeEntry(path, kind, mode, member.length, member.sha256)


def _marker(path: bytes) -> bytes:
    above, slash, name = path.rpartition(b"/")
    return above + slash + MARK + name


def _path(entry: TreeEntry) -> bytes:
    return entry.path


def _shown(path: bytes) -> str:
    return printable(os.fsdecode(path))
