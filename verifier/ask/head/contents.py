"""What head's tree holds: hosts, compositions, its registry and its policy."""

from collections.abc import Callable
from dataclasses import replace

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
from verifier.core.companions import Companions
from verifier.core.demand import HeadDemand, HeadHost
from verifier.core.digest import sha256
from verifier.core.errors import PinproofError
from verifier.core.limits import BYTECODE_BYTES, HOST_BYTES
from verifier.core.outcome import Result
from verifier.core.printable import printable
from verifier.policy.weaker import weaker
from verifier.sources.beside import companions_in
from verifier.sources.file import FileBytes
from verifier.sources.git.objects import FOLDER_MODE, Commit, shown
from verifier.sources.names import folded
from verifier.sources.tree import GITLINK_MODE, LINK_MODE


class Contents:
    """Judges what a policy lists, in the trees of heads."""

    def __init__(self, clone: Clone, trust: Trust, demand: HeadDemand, judges: Judges) -> None:
        """Remember what judges."""
        self._clone, self._trust, self._demand, self._judges = clone, trust, demand, judges
        self._judged: dict[tuple[str, str, Companions], list[Result]] = {}

    # ── hosts and compositions ─────────────────────────────────────────────────────────────────

    def hosts(self, head: Commit, named: Callable[[str], str]) -> list[Judged]:
        """Judge each host; `named` makes the name of a subject of its path."""
        found: list[Judged] = []
        for host in self._demand.hosts:
            data = self._clone.file(head, host.path, limit=HOST_BYTES)
            if data is None:
                instead = self._instead(head, host.path)
                found.append(Judged(name=host.path, result=None, instead=instead))
                continue
            path = host.path.encode()
            beside = companions_in(
                path,
                names=lambda folder: self._clone.names(head, folder),
                compiled=lambda at: self._clone.file(head, at.decode(), limit=BYTECODE_BYTES),
                mtime=0,
                size=len(data),
            )
            twin, name = self._twin(head, path), named(host.path)
            found += [
                Judged(name=host.path, result=_renamed(result, name), twin=twin)
                for result in self._host(host, data, beside)
            ]
        return found

    def _host(self, host: HeadHost, data: bytes, beside: Companions) -> list[Result]:
        """Judge one host under its path; most heads of a call have the same one."""
        key = host.path, sha256(data), beside
        if key not in self._judged:
            reading = Reading(FileBytes(name=host.path, data=data), companions=beside)
            self._judged[key] = helper.judged(
                host.path, reading, trust=self._trust, lineage=host.lineage
            )
        return self._judged[key]

    def _instead(self, head: Commit, path: str) -> str:
        """Say what a head has at the path of a host, if that is no file that can be read."""
        item = self._clone.item(head, path)
        if item is None:
            return "none in the head"
        other = {LINK_MODE: "a link", GITLINK_MODE: "a submodule", FOLDER_MODE: "a folder"}
        return other.get(item.mode, "a file that cannot be read, or is too large for a host")

    def _twin(self, head: Commit, path: bytes) -> str | None:
        """Find another path that file systems which fold case take for this one."""
        found = [b""]
        for segment in path.split(b"/"):
            found = [
                below + b"/" + name if below else name
                for below in found
                for name in self._clone.names(head, below)
                if folded(name) == folded(segment)
            ]
        return next((printable(shown(each)) for each in sorted(found) if each != path), None)

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
        """Return what says whether a path is a host, or belongs to a composition of the policy.

        Of a composition that cannot be looked up every path does: nothing is known to be outside.
        """
        catalog, ranges = self._trust.catalog, []
        for placed in self._demand.compositions:
            entry = None if isinstance(catalog, Refused) else catalog.composition(placed.name)
            if not isinstance(entry, Composition):
                return lambda _: True
            below = placed.prefix.removesuffix("/").encode()
            ranges.append(path_scope(entry.scope).below(below))
        hosts = {host.path.encode() for host in self._demand.hosts}
        return lambda path: (
            path in hosts or any(each.holds(path) or each.near(path) for each in ranges)
        )

    # ── what judges from then on ───────────────────────────────────────────────────────────────

    @property
    def registries(self) -> tuple[str, ...]:
        """The folders of registries: the one that the policy names, and the one that judges."""
        named = (self._demand.registry, self._judges.registry_path)
        return tuple(dict.fromkeys(each for each in named if each))

    @property
    def judging(self) -> tuple[str, ...]:
        """What judges, as far as it lies in the repository: paths of files and folders."""
        policy = self._judges.policy_path
        return (*self.registries, *([policy] if policy else []))

    def lands(self, base: Commit, landed: str, path: str) -> bool:
        """Whether the merge, whose tree is `landed`, changes what the base has at a path."""
        reader, trees, name = self._clone.repo.reader, self._clone.known.trees, path.encode()
        return trees.find(reader, landed, name.rstrip(b"/")) != self._clone.item(
            base, path.removesuffix("/")
        )

    def registry_changes(self, base: Commit, head: Commit, landed: str) -> list[RegistryChange]:
        """Compare the registries of base and head, where the merge changes the base's."""
        changed = [each for each in self.registries if self.lands(base, landed, each)]
        return [self._registry_change(base, head, each) for each in changed]

    def _registry_change(self, base: Commit, head: Commit, folder: str) -> RegistryChange:
        stores = [registry_in(self._clone, commit, folder) for commit in (base, head)]
        roots = [last_root(store) or b"" for store in stores]
        old = self._opened(stores[0], roots[0], None)
        new = old if isinstance(old, Refused) else _whole(self._opened(stores[1], roots[0], old))
        alone, resealed = new, False
        if isinstance(new, Refused) and isinstance(old, Catalog):
            alone = _whole(self._opened(stores[1], roots[1], None))
            by_the_same = isinstance(self._opened(stores[1], roots[0], None), Catalog)
            resealed = isinstance(alone, Catalog) and not by_the_same
        return RegistryChange(
            folder=printable(folder),
            refused=new if isinstance(new, Refused) else None,
            resealed=resealed,
            versions=_versions(old, alone),
            entries=_entries(old, alone),
        )

    def _opened(
        self, store: RegistryTree, root: bytes, before: Catalog | None
    ) -> Catalog | Refused:
        """Open a registry from a root; it may not be older than the one that was `before` it."""
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

    def policy_change(self, base: Commit, head: Commit, landed: str) -> PolicyChange | None:
        """Compare the policy that judges with head's own, where the merge changes the base's."""
        path = self._judges.policy_path
        if path is None or not self.lands(base, landed, path):
            return None
        try:
            theirs = policy_of(self._clone, head, self._judges.policy)
        except PinproofError as error:
            return PolicyChange(path=path, weaker=(f"it cannot be used: {error.message}",))
        if theirs is None or theirs.facts.sha256 == self._trust.policy.facts.sha256:
            return None
        return PolicyChange(path=path, weaker=weaker(self._trust.policy, theirs))


def _renamed(result: Result, name: str) -> Result:
    """Return a result whose subject has another name."""
    old = result.subject.name
    findings = tuple(
        replace(each, where=replace(each.where, path=name)) if each.where.path == old else each
        for each in result.findings
    )
    return replace(result, subject=replace(result.subject, name=name), findings=findings)


def _whole(found: Catalog | Refused) -> Catalog | Refused:
    """Return a registry of which every file is as it was signed, or why it is not."""
    findings = () if isinstance(found, Refused) else found.check_all()
    return Refused(findings=findings) if findings else found


def _versions(old: Catalog | Refused, new: Catalog | Refused) -> tuple[int, int] | None:
    """Return the snapshot versions of both, None unless both can be read."""
    if isinstance(old, Refused) or isinstance(new, Refused):
        return None
    return old.facts.snapshot_version, new.facts.snapshot_version


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
