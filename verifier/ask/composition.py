"""Whether a tree, wherever it stands, is what a composition leaves at its final stage."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from verifier.ask.answers import unregistered
from verifier.ask.reading import Reach
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.composition import Composition
from verifier.catalog.refused import Refused
from verifier.checks.composition import Standing, check, unchecked
from verifier.checks.composition.expected import path_scope, scoped
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.policy import judge
from verifier.sources.argument import Place, inside, is_prefixed, open_place
from verifier.sources.folder_tree import FolderTree
from verifier.sources.names import folded
from verifier.sources.tree import Tree, TreeEntry, tree_digests


def verify_composition(
    name: str,
    *,
    at: str,
    prefix: str = "",
    trust: Trust | None = None,
    reach: Reach | None = None,
) -> Report:
    """Judge the tree at a source by a composition of the registry.

    `at` is a folder, `git:REPO@COMMIT[:PATH]`, `tar:FILE[:PATH]` or `zip:FILE[:PATH]`. `prefix`
    is the folder in it where the paths of the composition begin, such as `site-packages`.

    Raises `WrongCallError` if the policy demands nothing of compositions, the registry has no
    composition `name`, or `at` or `prefix` is not written as a source.
    """
    trust = trust or open_trust()
    demanded = _demanded(trust)
    below = inside(prefix) or b""
    entry = entry_of(name, trust)
    try:
        about, outcome = checked(at, below, entry, reach or Reach())
    except WrongCallError:
        raise
    except PinproofError as error:
        return trust.report((Failed.of(at, error),))
    result = judge(
        outcome, subject=about, demanded=demanded, waivers=trust.policy.waivers, now=trust.now
    )
    return trust.report((result,))


def _demanded(trust: Trust) -> frozenset[str]:
    demanded = trust.policy.composition
    if demanded is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of compositions",
            code="wrong-call",
            remedy="judge with a policy that has a [composition] table, such as strict",
        )
    return demanded


def entry_of(name: str, trust: Trust) -> Composition | Refused:
    """Return a composition of the registry. Raises `WrongCallError` if there is none."""
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        return catalog
    if name not in catalog.names("composition"):
        raise unregistered(name, catalog.names("composition"), option="composition")
    return catalog.composition(name)


def checked(
    at: str, below: bytes, entry: Composition | Refused, reach: Reach
) -> tuple[Subject, Outcome]:
    """Read the tree at a source, its paths below a prefix, and check it by `entry`."""
    if isinstance(entry, Refused):
        return Subject(name=at), unchecked(findings=entry.findings)
    tree, outcome = placed(at, below, entry, reach)
    return _subject(at, tree), outcome


def placed(at: str, below: bytes, entry: Composition, reach: Reach) -> tuple[Standing, Outcome]:
    """Read the tree at a source as far as `entry` speaks of it, and check it."""
    place = open_place(
        at,
        whole=True,
        clones=reach.clones,
        allow_alternates=reach.allow_alternates,
        within=path_scope(entry.scope).below(below),
    )
    root = b"/".join(part for part in (place.inside, below) if part)
    tree = standing(place, place.tree.entries(), root, entry)
    return tree, _and(check(tree, entry), place.tree.findings)


def judged_in(
    tree: Tree,
    name: str,
    *,
    below: bytes,
    about: str,
    trust: Trust,
    findings: Callable[[Iterable[bytes]], tuple[Finding, ...]],
) -> Result | Failed:
    """Judge a tree that is open already, as `verify_composition` does.

    `below` is the folder where the paths of the composition begin, `about` the subject's name.
    `findings` are told the paths in the scope, and say what else counts.

    Raises `WrongCallError` as `verify_composition` does.
    """
    demanded = _demanded(trust)
    entry = entry_of(name, trust)
    subject, outcome = Subject(name=about), unchecked(findings=())
    try:
        if isinstance(entry, Refused):
            outcome = unchecked(findings=entry.findings)
        else:
            stands = standing(Place(tree, None), tree.entries(), below, entry)
            subject = replace(_subject(about, stands), link=None)
            more = (*tree.findings, *findings(found.path for found in stands.scoped.here))
            outcome = _and(check(stands, entry), more)
    except PinproofError as error:
        return Failed.of(about, error)
    return judge(
        outcome, subject=subject, demanded=demanded, waivers=trust.policy.waivers, now=trust.now
    )


def standing(place: Place, entries: list[TreeEntry], root: bytes, entry: Composition) -> Standing:
    """Return what a composition looks at in the `entries` of a tree, all of them read.

    `root` is the folder where its paths begin, empty for the root of the tree.
    """
    tree, prefix = place.tree, root + b"/" if root else b""
    below = [
        each._replace(path=each.path.removeprefix(prefix))
        for each in (entries if prefix else ())
        if each.path.startswith(prefix)
    ]
    refused = any(finding.row.outcome == "rejected" for finding in tree.findings)
    looked = scoped(entry.scope, below if prefix else entries)
    return Standing(
        scoped=looked._replace(
            beside=tuple(_beside(entries, root)) if root else (), empty=_empty(tree, prefix)
        ),
        read=lambda path: _read(place, prefix + path),
        git_tree=None if root or place.part else _git_tree(place),
        whole=tree.complete and not refused,
        ignored=tree.ignored,
        not_proven=tree.not_proven,
    )


def _beside(entries: list[TreeEntry], root: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return what lies below a name that some file systems take for `root`, or in its place."""
    parts, prefix, alike = root.count(b"/") + 1, root + b"/", folded(root) + b"/"
    known: dict[bytes, bool] = {}
    for each in entries:
        if each.path.startswith(prefix) or prefix.startswith(each.path + b"/"):
            continue
        segments = each.path.split(b"/", parts)
        first = b"/".join(segments[:parts])
        if first not in known:
            known[first] = alike.startswith(folded(first) + b"/")
        if known[first]:
            yield each.path, b"".join(segments[parts:])


def _empty(tree: Tree, prefix: bytes) -> frozenset[bytes]:
    found = tree.empty if isinstance(tree, FolderTree) else ()
    return frozenset(path.removeprefix(prefix) for path in found if path.startswith(prefix))


def _git_tree(place: Place) -> str | None:
    ids = [digest.hex for digest in place.tree.digests if digest.kind == "git-tree"]
    return ids[0] if ids else None


def _read(place: Place, path: bytes) -> bytes | None:
    try:
        return place.tree.read(path, limit=HOST_BYTES)
    except PinproofError:
        return None


def _subject(at: str, tree: Standing) -> Subject:
    """Describe what was judged: the files in the scope, and nothing beside them."""
    here = tree.scoped.here
    if not tree.whole or any(found.sha256 is None and found.target is None for found in here):
        return Subject(name=at, link=_link(at))
    digest = Digest(kind="tree", hex=tree_digests(here)[0])
    length = sum(found.length or 0 for found in here)
    return Subject(name=at, digests=(digest,), length=length, link=_link(at))


def _link(at: str) -> str | None:
    """Say where a link that was given as the folder leads; it is followed, and named."""
    path = Path(at)
    return None if is_prefixed(at) or not path.is_symlink() else str(path.readlink())


def _and(outcome: Outcome, findings: tuple[Finding, ...]) -> Outcome:
    return replace(outcome, findings=(*outcome.findings, *findings))
