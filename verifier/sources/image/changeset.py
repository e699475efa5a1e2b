"""One layer laid on those below it: markers hide, members replace.

Law: OCI image specification, layer.md, "Applying changesets". A layer's markers act on the layers
below it, wherever in the layer they stand, and never on its own members.
"""

import os
from collections.abc import Sequence

from verifier.core.printable import printable
from verifier.sources.image.layer_members import MARK, Kind, Member
from verifier.sources.image.overlay import Folder, Leaf, Walk, follow, hide, lower
from verifier.sources.ledger import ContainerError, Ledger


class Changeset:
    """One layer, laid on those below it.

    What is wrong goes to `ledger`, and links that led a member elsewhere to `crossed`.
    """

    def __init__(self, root: Folder, at: int, ledger: Ledger, crossed: set[bytes]) -> None:
        """Lay the layer of number `at`, from 0, on what `root` holds."""
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
            if found.member.runs != member.runs:
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


def _by_depth(member: Member) -> tuple[int, bool, bytes]:
    return member.path.count(b"/"), member.kind is Kind.FOLDER, member.path


def _shown(path: bytes) -> str:
    return printable(os.fsdecode(path))
