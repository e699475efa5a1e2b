"""Components: other repositories that go into a composition, each as it was pinned.

1. *Commit and tree*: the commit was read, and the tree computed from its entries is the pinned one.
2. *Sources*: the digest of each named folder, by the named algorithm.
3. *Contract*: a file of the component has its pin.

What was read is a commit, not a work tree, so nothing uncommitted can be in it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from verifier.catalog.entries.composition import Component, Composition
from verifier.core.finding import Finding, Where
from verifier.core.value import frozen
from verifier.sources.git.objects import SHA1_HEX
from verifier.sources.source_digests import BLIND, GIT_TREE, Unusable, below, source_digest
from verifier.sources.tree import TreeEntry

_PINNED = "take the component from the pinned commit, without tools that change its files"


@frozen
class Read:
    """A component as its clone gave it; `read` returns the bytes of one entry."""

    entries: Sequence[TreeEntry]
    read: Callable[[TreeEntry], bytes | None]
    hex_length: int = SHA1_HEX


def check_components(entry: Composition, found: Mapping[str, Read]) -> Iterator[Finding]:
    """Check every component of an entry; `found` holds those of which a clone was read."""
    for component in entry.components:
        read = found.get(component.name)
        if read is None:
            yield Finding(
                code="component-unread",
                where=Where(path=f"component {component.name}"),
                expected=f"commit {component.commit}" if component.commit else "its files",
                got="no clone of it was read",
                remedy=f"name one: --clone {component.name}=PATH",
            )
            continue
        yield from _check(component, read)


def blind(entry: Composition) -> tuple[str, ...]:
    """Return what the algorithms of an entry's source digests do not see, in words."""
    return tuple(
        f"component {component.name}: {words}"
        for component in entry.components
        for source in component.sources
        for words in BLIND.get(source.algorithm, ())
    )


def _check(component: Component, read: Read) -> Iterator[Finding]:
    at = f"component {component.name}"
    if component.tree is not None:
        tree = _digest(GIT_TREE, read.entries, read)
        if tree != component.tree:
            yield _differs("component-tree", at, f"tree {component.tree}", f"tree {tree}")
    for source in component.sources:
        entries = below(read.entries, source.root)
        got = _digest(source.algorithm, entries, read)
        if got != source.sha256:
            what = f"{source.algorithm} of {source.root}"
            yield _differs("component-source", at, f"{what}: {source.sha256}", got)
    contract = component.contract
    if contract is not None and not any(e.sha256 == contract.sha256 for e in read.entries):
        yield _differs("component-contract", at, f"a file {contract}", "no file of it has that")


def _digest(algorithm: str, entries: Sequence[TreeEntry], read: Read) -> str:
    try:
        return source_digest(algorithm, entries, read.read, hex_length=read.hex_length)
    except Unusable as why:
        return f"none: {why}"


def _differs(code: str, at: str, expected: str, got: str) -> Finding:
    return Finding(code=code, where=Where(path=at), expected=expected, got=got, remedy=_PINNED)
