"""What head's tree holds: hosts, compositions, its registry and its policy."""

from collections.abc import Callable

from verifier.ask import composition, helper
from verifier.ask.head.clone import Clone
from verifier.ask.head.judges import Judges, last_root, policy_of, registry_in
from verifier.ask.reading import Reading
from verifier.ask.trusted import Trust
from verifier.catalog.entries.composition import Composition
from verifier.catalog.kinds import KINDS
from verifier.catalog.open import Catalog, Refused, open_registry
from verifier.catalog.tuf.tree_files import RegistryTree
from verifier.checks.composition.expected import path_scope
from verifier.checks.head.inside import Judged
from verifier.checks.head.registry_changes import PolicyChange, RegistryChange
from verifier.core.demand import HeadDemand
from verifier.core.errors import PinproofError
from verifier.core.limits import BYTECODE_BYTES, HOST_BYTES
from verifier.core.printable import printable
from verifier.policy.weaker import weaker
from verifier.sources.beside import companions_in
from verifier.sources.file import FileBytes
from verifier.sources.git.objects import Commit


class Contents:
    """Judges what a policy lists, in the trees of heads."""

    def __init__(self, clone: Clone, trust: Trust, demand: HeadDemand, judges: Judges) -> None:
        """Remember what judges."""
        self._clone, self._trust, self._demand, self._judges = clone, trust, demand, judges

    # ── hosts and compositions ─────────────────────────────────────────────────────────────────

    def hosts(self, head: Commit, named: Callable[[str], str]) -> list[Judged]:
        """Judge each host; `named` makes the name of a subject of its path."""
        found: list[Judged] = []
        for host in self._demand.hosts:
            data = self._clone.file(head, host.path, limit=HOST_BYTES)
            if data is None:
                found.append(Judged(name=host.path, result=None))
                continue
            path = host.path.encode()
            beside = companions_in(
                path,
                names=lambda folder: self._clone.names(head, folder),
                compiled=lambda at: self._clone.file(head, at.decode(), limit=BYTECODE_BYTES),
                mtime=0,
                size=len(data),
            )
            reading = Reading(FileBytes(name=named(host.path), data=data), companions=beside)
            results = helper.judged(
                named(host.path), reading, trust=self._trust, lineage=host.lineage
            )
            found += [Judged(name=host.path, result=result) for result in results]
        return found

    def compositions(self, head: Commit, named: Callable[[str], str]) -> list[Judged]:
        """Judge each composition on the whole of head's tree."""
        found: list[Judged] = []
        for placed in self._demand.compositions:
            about = named(placed.prefix or placed.name)
            result = composition.judged_in(
                self._clone.tree(head, name=about),
                placed.name,
                below=placed.prefix.removesuffix("/").encode(),
                about=about,
                trust=self._trust,
                findings=lambda _: (),
            )
            found.append(Judged(name=placed.name, result=result))
        return found

    def scope(self) -> Callable[[bytes], bool]:
        """Return what says whether a path belongs to a composition of the policy.

        Of a composition that cannot be looked up every path does: nothing is known to be outside.
        """
        catalog, ranges = self._trust.catalog, []
        for placed in self._demand.compositions:
            entry = None if isinstance(catalog, Refused) else catalog.composition(placed.name)
            if not isinstance(entry, Composition):
                return lambda _: True
            below = placed.prefix.removesuffix("/").encode()
            ranges.append(path_scope(entry.scope).below(below))
        return lambda path: any(each.holds(path) or each.near(path) for each in ranges)

    # ── what judges from then on ───────────────────────────────────────────────────────────────

    def registry_change(self, base: Commit, head: Commit) -> RegistryChange | None:
        """Compare the registry in both trees; None where it is the same, or there is none."""
        folder = self._demand.registry
        if folder is None:
            return None
        path = folder.removesuffix("/")
        sides = [self._clone.item(commit, path) for commit in (base, head)]
        if sides[0] == sides[1]:
            return None
        stores = [registry_in(self._clone, commit, folder) for commit in (base, head)]
        roots = [last_root(store) or b"" for store in stores]
        old = self._opened(stores[0], roots[0], None)
        new = self._opened(stores[1], roots[0], old)
        alone = new if isinstance(new, Catalog) else self._opened(stores[1], roots[1], None)
        return RegistryChange(
            folder=printable(folder),
            refused=_refusal(old, new),
            resealed=isinstance(alone, Catalog) and not isinstance(new, Catalog),
            entries=_entries(old, alone),
        )

    def _opened(
        self, store: RegistryTree, root: bytes, before: Catalog | Refused | None
    ) -> Catalog | Refused:
        """Open a registry from a root; it may not be older than the one that was `before` it."""
        if isinstance(before, Refused):
            return before
        return open_registry(
            store,
            root=root,
            trusted_root=b"",
            now=self._trust.now,
            floor=before.floor if before else None,
            min_snapshot=0,
            origin="the repository",
            sealed=None,
        )

    @property
    def watches_policy(self) -> bool:
        """Whether the policy lies in the repository, where a head can change it."""
        return self._judges.policy_path is not None

    def policy_change(self, head: Commit) -> PolicyChange | None:
        """Compare the policy that judges with head's own; None where it comes from outside."""
        path = self._judges.policy_path
        if path is None:
            return None
        try:
            theirs = policy_of(self._clone, head, self._judges.policy)
        except PinproofError as error:
            return PolicyChange(path=path, weaker=(f"it cannot be used: {error.message}",))
        if theirs is None or theirs.facts.sha256 == self._trust.policy.facts.sha256:
            return None
        return PolicyChange(path=path, weaker=weaker(self._trust.policy, theirs))


def _refusal(old: Catalog | Refused, new: Catalog | Refused) -> Refused | None:
    """Return why the new registry does not follow from the old one."""
    return next((each for each in (old, new) if isinstance(each, Refused)), None)


def _entries(old: Catalog | Refused, new: Catalog | Refused) -> dict[str, tuple[str, ...]]:
    """Say which entries came, changed and went, as far as both registries can be read."""
    if isinstance(old, Refused) or isinstance(new, Refused):
        return {}
    before, after = _signed(old), _signed(new)
    return {
        "added": tuple(sorted(after.keys() - before.keys())),
        "changed": tuple(sorted(n for n in before.keys() & after.keys() if before[n] != after[n])),
        "removed": tuple(sorted(before.keys() - after.keys())),
    }


def _signed(catalog: Catalog) -> dict[str, bytes | Refused]:
    return {
        f"{kind}/{name}": catalog.entry_bytes(kind, name)
        for kind in KINDS
        for name in catalog.names(kind)
    }
