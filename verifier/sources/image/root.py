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
from verifier.sources.image.layer import Layer
from verifier.sources.image.layer_members import MARK, OPAQUE, Kind, Member
from verifier.sources.image.overlay import Folder, Leaf, Walk, follow, hide, lower
from verifier.sources.ledger import ContainerError, Ledger
from verifier.sources.names import collisions
from verifier.sources.tree import FILE_MODE, LINK_MODE, PROGRAM_MODE, TreeEntry, Type

#: Gives the bytes of a file of the layer of that number, from 0; at most so many.
Content = Callable[[int, Member, int], bytes]
_OWNER_RUNS: Final = 0o100
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
            _Changeset(self._root, at, ledger, self._crossed).apply(layer.members)
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


class _Changeset:
    """One layer, laid on those below it."""

    def __init__(self, root: Folder, at: int, ledger: Ledger, crossed: set[bytes]) -> None:
        self._root = root
        self._at = at
        self._ledger = ledger
        self._crossed = crossed

    def apply(self, members: Sequence[Member]) -> None:
        """Hide what the markers name, from the root down, then bring what the layer brings.

        Folders take their places among the markers: one that replaces a link decides where the
        markers below it point.
        """
        marks = [m for m in members if m.kind in (Kind.WHITEOUT, Kind.OPAQUE)]
        if marks:
            first = [*marks, *(m for m in members if m.kind is Kind.FOLDER)]
            early = _below_before(members)
            for member in sorted(first, key=_by_depth):
                if member.kind is Kind.FOLDER:
                    self._folder(member, early=member.path in early)
                else:
                    self._mark(member)
            self._late(members)
        for member in members:
            if member.kind is Kind.FOLDER:
                self._folder(member)
            elif member.kind not in (Kind.WHITEOUT, Kind.OPAQUE):
                self._bring(member)

    def _mark(self, member: Member) -> None:
        above, _, name = member.path.rpartition(b"/")
        walk = follow(self._root, above)
        if walk is None:
            return  # below something that is no folder there is nothing to hide
        self._note_links(member, walk)
        if walk.missing:
            return
        if member.kind is Kind.OPAQUE:
            lower(walk.folder, self._at)
        else:
            hide(walk.folder, name.removeprefix(MARK), self._at)

    def _late(self, members: Sequence[Member]) -> None:
        """Note paths that a layer brings and hides afterwards: some runtimes remove them."""
        brought: set[bytes] = set()
        for member in members:
            if member.kind is Kind.WHITEOUT:
                above, _, name = member.path.rpartition(b"/")
                walk = follow(self._root, above)
                names = walk.names if walk else ()
                hidden = b"/".join(filter(None, (above, name.removeprefix(MARK))))
                real = b"/".join((*names, name.removeprefix(MARK)))
                if hidden in brought or real in brought:
                    self._note("layer-whiteout-late", member, got=_shown(hidden))
            elif member.kind is not Kind.OPAQUE:
                brought.add(member.path)
                above = member.path.rpartition(b"/")[0]
                while above and above not in brought:
                    brought.add(above)
                    above = above.rpartition(b"/")[0]

    def _folder(self, member: Member, *, early: bool = False) -> None:
        """Bring a folder; `early` says that its layer brings or hides something below it before."""
        above, _, name = member.path.rpartition(b"/")
        place = self._above(member, above)
        if place is None:
            return
        node = place.folder.children.get(name)
        if isinstance(node, Folder):
            node.layer = self._at
        else:
            if node is not None and early:
                self._note("layer-file-on-the-way", member, got=_shown(node.member.path))
            place.folder.children[name] = Folder(self._at)

    def _bring(self, member: Member) -> None:
        above, _, name = member.path.rpartition(b"/")
        place = self._above(member, above)
        if place is None:
            return
        children, moved = place.folder.children, bool(place.links)
        before = children.get(name)
        if before is not None and before.layer == self._at and moved:
            self._note("tree-name-repeated", member, got="another of this layer, behind a link")
            self._ledger.complete = False
        if member.kind is not Kind.HARD_LINK:
            children[name] = Leaf(member, self._at, self._at, moved)
            return
        found = self._linked(member, place)
        if found is None:
            children.pop(name, None)
            leaf = Leaf(Member(member.path, Kind.SPECIAL, 0), self._at, self._at, moved)
            self._note("layer-hardlink-missing", member, got=_shown(member.target or b""))
            self._ledger.complete = False
        else:
            leaf = found._replace(layer=self._at, moved=moved or found.moved)
            if bool(found.member.mode & _OWNER_RUNS) != bool(member.mode & _OWNER_RUNS):
                self._note("tree-hardlink-mode", member, got=f"{member.mode:o}")
        children[name] = leaf

    def _linked(self, member: Member, place: Walk) -> Leaf | None:
        """Return what a hard link is another name of; it replaces what bore its own name."""
        assert member.target is not None
        above, _, name = member.target.rpartition(b"/")
        walk = follow(self._root, above)
        if walk is None or walk.missing:
            return None
        self._note_links(member, walk)
        own = walk.folder is place.folder and name == member.path.rpartition(b"/")[2]
        found = walk.folder.children.get(name)
        if own or not isinstance(found, Leaf):
            return None
        return found._replace(moved=True) if walk.links else found

    def _above(self, member: Member, above: bytes) -> Walk | None:
        """Return the folder that a member goes into, made where it was not."""
        node = self._root
        for part in above.split(b"/") if above else ():
            child = node.children.get(part)
            if not isinstance(child, Folder):
                if child is not None and child.member.kind is not Kind.LINK:
                    self._note("layer-file-on-the-way", member, got=_shown(child.member.path))
                break
            node = child
        else:
            return Walk(folder=node, names=(), links=(), missing=False)
        walk = follow(self._root, above, make=self._at)
        if walk is None:
            self._note("layer-link-lost", member, got=_shown(above))
            self._ledger.complete = False
            return None
        self._note_links(member, walk)
        return walk

    def _note_links(self, member: Member, walk: Walk) -> None:
        if walk.links:
            self._crossed.update(walk.links)
            self._note("layer-link-redirects", member, got=f"led through {_shown(walk.links[-1])}")

    def _note(self, code: str, member: Member, *, got: str) -> None:
        self._ledger.note(ContainerError(code, path=member.path, got=got))


def _entry(path: bytes, leaf: Leaf) -> TreeEntry:
    member = leaf.member
    kind = _TYPES[member.kind]
    if kind is Type.LINK:
        mode = LINK_MODE
        return TreeEntry(path, kind, mode, member.length, member.sha256, member.target)
    if kind is Type.SPECIAL:
        return TreeEntry(path, kind, None, None, None)
    mode = PROGRAM_MODE if member.mode & _OWNER_RUNS else FILE_MODE
    return TreeEntry(path, kind, mode, member.length, member.sha256)


def _below_before(members: Sequence[Member]) -> set[bytes]:
    """Return the folders that a layer states behind a member below them."""
    above: set[bytes] = set()
    found: set[bytes] = set()
    for member in members:
        if member.kind is Kind.FOLDER and member.path in above:
            found.add(member.path)
        folder = member.path.rpartition(b"/")[0]
        while folder and folder not in above:
            above.add(folder)
            folder = folder.rpartition(b"/")[0]
    return found


def _marker(path: bytes) -> bytes:
    above, slash, name = path.rpartition(b"/")
    return above + slash + MARK + name


def _path(entry: TreeEntry) -> bytes:
    return entry.path


def _by_depth(member: Member) -> tuple[int, bool, bytes]:
    return member.path.count(b"/"), member.kind is Kind.FOLDER, member.path


def _shown(path: bytes) -> str:
    return printable(os.fsdecode(path))
