"""Folders and what lies in them while layers are laid on each other."""

from typing import Final, NamedTuple

from verifier.core.limits import LINKS_FOLLOWED, TREE_DEPTH
from verifier.sources.image.layer_members import Kind, Member

_HERE: Final = (b"", b".")
#: The layer of a folder that is not there.
_MISSING: Final = -1


class Leaf(NamedTuple):
    """Anything but a folder: the member with its content, and which layer brought it.

    `source` is the layer that holds the content: of a hard link, the layer of what it links to.
    `moved` says that a directory link of a lower layer led it here.
    """

    member: Member
    layer: int
    source: int
    moved: bool


class Folder:
    """A folder, and the last layer that brought it."""

    __slots__ = ("children", "layer")

    def __init__(self, layer: int) -> None:
        """Begin empty."""
        self.layer = layer
        self.children: dict[bytes, Folder | Leaf] = {}


class Walk(NamedTuple):
    """Where a path of folders leads: the folder, its real name, the links followed on the way.

    `missing` says that there is no such folder; `folder` is then empty.
    """

    folder: Folder
    names: tuple[bytes, ...]
    links: tuple[bytes, ...]
    missing: bool


def follow(root: Folder, path: bytes, *, make: int | None = None) -> Walk | None:
    """Follow `path` from the root; links count from the root, and no `..` leads out of it.

    With `make` folders that are missing are made, as of that layer, also in place of what is no
    folder. None if links lead in a circle or too deep, or without `make` something is in the way.
    """
    stack: list[tuple[bytes, Folder]] = []
    links: list[bytes] = []
    waiting = path.split(b"/")[::-1]
    while waiting and len(stack) <= TREE_DEPTH and len(links) <= LINKS_FOLLOWED:
        part = waiting.pop()
        folder = stack[-1][1] if stack else root
        node = folder.children.get(part)
        if part == b"..":
            del stack[-1:]
        elif isinstance(node, Leaf) and node.member.kind is Kind.LINK:
            target = node.member.target or b""
            links.append(b"/".join((*(name for name, _ in stack), part)))
            if target.startswith(b"/"):
                stack.clear()
            waiting += target.split(b"/")[::-1]
        elif part not in _HERE:
            entered = _entered(folder, part, make)
            if entered is None:
                return None
            stack.append((part, entered))
    if waiting or len(stack) > TREE_DEPTH:
        return None
    names = tuple(name for name, _ in stack)
    folder = stack[-1][1] if stack else root
    return Walk(folder, names, tuple(links), missing=folder.layer == _MISSING)


def _entered(folder: Folder, part: bytes, make: int | None) -> Folder | None:
    node = folder.children.get(part)
    if isinstance(node, Folder):
        return node
    if make is not None:
        made = folder.children[part] = Folder(make)
        return made
    return Folder(_MISSING) if node is None else None


def lower(folder: Folder, layer: int) -> None:
    """Hide all in a folder that `layer` itself did not bring."""
    for name in list(folder.children):
        hide(folder, name, layer)


def hide(folder: Folder, name: bytes, layer: int) -> None:
    """Hide what bears a name in a folder, but for what `layer` itself brought there."""
    node = folder.children.get(name)
    if node is None:
        return
    if isinstance(node, Folder):
        lower(node, layer)
        if node.children:
            return
    if node.layer != layer:
        del folder.children[name]
