"""Whether a tree, wherever it stands, is what a composition leaves at its final stage."""

from dataclasses import replace

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
from verifier.core.outcome import Failed, Outcome, Report, Subject
from verifier.policy import judge
from verifier.sources.argument import Place, inside, open_place
from verifier.sources.tree import TreeEntry, tree_digests


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
    demanded = trust.policy.composition
    if demanded is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of compositions",
            code="wrong-call",
            remedy="judge with a policy that has a [composition] table, such as strict",
        )
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
    place = open_place(
        at,
        whole=True,
        clones=reach.clones,
        allow_alternates=reach.allow_alternates,
        within=path_scope(entry.scope).below(below),
    )
    entries, root = _below(place, below)
    found = scoped(entry.scope, entries)
    tree = place.tree
    refused = any(finding.row.outcome == "rejected" for finding in tree.findings)
    whole = tree.complete and not refused
    standing = Standing(
        scoped=found,
        read=lambda path: _read(place, root + path),
        git_tree=_git_tree(place, below),
        whole=whole,
        ignored=tree.ignored,
        not_proven=tree.not_proven,
    )
    outcome = check(standing, entry)
    return _subject(at, found.here, whole=whole), _and(outcome, tree.findings)


def _below(place: Place, below: bytes) -> tuple[list[TreeEntry], bytes]:
    """Return the entries below what was named, with paths relative to it, and what that is."""
    entries = place.tree.entries()
    root = b"".join(part + b"/" for part in (place.inside, below) if part)
    if not root:
        return entries, root
    found = [
        entry._replace(path=entry.path.removeprefix(root))
        for entry in entries
        if entry.path.startswith(root)
    ]
    return found, root


def _git_tree(place: Place, below: bytes) -> str | None:
    """Return the git tree of a whole commit, None of a part of one or of anything else."""
    ids = [digest.hex for digest in place.tree.digests if digest.kind == "git-tree"]
    return ids[0] if ids and not below and not place.part else None


def _read(place: Place, path: bytes) -> bytes | None:
    try:
        return place.tree.read(path, limit=HOST_BYTES)
    except PinproofError:
        return None


def _subject(at: str, here: list[TreeEntry], *, whole: bool) -> Subject:
    """Describe what was judged: the files in the scope, and nothing beside them."""
    if not whole or any(found.sha256 is None and found.target is None for found in here):
        return Subject(name=at)
    digest = Digest(kind="tree", hex=tree_digests(here)[0])
    return Subject(name=at, digests=(digest,), length=sum(found.length or 0 for found in here))


def _and(outcome: Outcome, findings: tuple[Finding, ...]) -> Outcome:
    return replace(outcome, findings=(*outcome.findings, *findings))
