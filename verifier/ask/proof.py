"""Whether a composition follows from its base: lineage, patches, stages, orders, components."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from verifier.ask.clones import BASE, SOURCE, TARGET, Clones
from verifier.ask.composition import checked, entry_of
from verifier.ask.reading import Reach
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.composition import Composition, Origin, StageKind
from verifier.catalog.entries.composition_rows import pins
from verifier.catalog.entries.helper import Lineage, Version
from verifier.catalog.refused import Refused
from verifier.checks.composition import NOT_PROVEN_AT_A_PLACE, unchecked
from verifier.checks.composition.components import Read
from verifier.checks.composition.lineage import Ancestry
from verifier.checks.composition.proof import (
    NOT_PROVEN_OF_A_PLACE,
    Material,
    demanded,
    prove,
)
from verifier.checks.composition.region_stage import Helpers
from verifier.core.coverage import State
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.outcome import Failed, Outcome, Report, Subject
from verifier.core.printable import quoted
from verifier.policy import judge
from verifier.sources.argument import inside
from verifier.sources.git.history import History

_OURS: Final = (BASE, TARGET, SOURCE)


def prove_composition(
    name: str,
    *,
    clones: Mapping[str, str],
    at: str | None = None,
    prefix: str = "",
    trust: Trust | None = None,
    reach: Reach | None = None,
) -> Report:
    """Prove a composition of the registry from clones of what it is made of.

    `clones` are paths by name: `base`, `target` (without it the base's clone holds the target
    too), `source` (a clone or a folder that holds the patches), and components by their names.
    With `at`, the tree there is judged too, as `verify_composition` does, in the same result.
    Nothing is written, and git runs on nothing but objects.

    Raises `WrongCallError` if the policy demands nothing of compositions, the registry has no
    composition `name`, a clone has another name than these, or there is none of the base.
    """
    trust, reach = trust or open_trust(), reach or Reach()
    policy = trust.policy.composition
    if policy is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of compositions",
            code="wrong-call",
            remedy="judge with a policy that has a [composition] table, such as strict",
        )
    if prefix and at is None:
        raise WrongCallError(
            "a prefix without a tree that it could lie in",
            code="wrong-call",
            remedy="name the tree: --at SOURCE, or leave out --prefix; a proof has none",
        )
    below = inside(prefix) or b""
    entry = entry_of(name, trust)
    try:
        about, outcome = _proved(name, entry, clones, trust, reach)
        wanted = policy if isinstance(entry, Refused) else demanded(entry, policy)
        if at is not None:
            about, place = checked(at, below, entry, reach)
            outcome, wanted = _both(place, outcome), wanted | policy
    except WrongCallError:
        raise
    except PinproofError as error:
        return trust.report((Failed.of(name if at is None else at, error),))
    result = judge(
        outcome, subject=about, demanded=wanted, waivers=trust.policy.waivers, now=trust.now
    )
    return trust.report((result,))


def _proved(
    name: str, entry: Composition | Refused, clones: Mapping[str, str], trust: Trust, reach: Reach
) -> tuple[Subject, Outcome]:
    if isinstance(entry, Refused):
        return Subject(name=name), unchecked(findings=entry.findings)
    _check_names(clones, entry)
    with Clones(clones, reach) as read:
        outcome, tree = prove(entry, _material(entry, read, trust))
        outcome = replace(
            outcome,
            findings=(*outcome.findings, *read.findings),
            not_proven=(*outcome.not_proven, *read.not_proven),
        )
    digests = (Digest(kind="git-tree", hex=tree),) if tree else ()
    return Subject(name=name, digests=digests), outcome


def _both(place: Outcome, proof: Outcome) -> Outcome:
    """Join what stands at a place with the proof: of each facet, what was looked at."""
    proved = {row.facet: row for row in proof.coverage}
    coverage = [
        proved.get(row.facet, row) if row.state is State.NOT_CHECKED else row
        for row in place.coverage
    ]
    return replace(
        place,
        findings=(*place.findings, *proof.findings),
        coverage=tuple(coverage),
        not_proven=tuple(
            words
            for words in dict.fromkeys((*place.not_proven, *proof.not_proven))
            if words not in (NOT_PROVEN_AT_A_PLACE, NOT_PROVEN_OF_A_PLACE)
        ),
    )


def _check_names(clones: Mapping[str, str], entry: Composition) -> None:
    known = (*_OURS, *(component.name for component in entry.components))
    for name in clones:
        if name not in known:
            raise WrongCallError(
                f"--clone: {quoted(name)} is no part of {entry.name}",
                code="wrong-call",
                remedy=f"name one of {', '.join(known)}",
            )
    if BASE not in clones:
        raise WrongCallError(
            f"no clone of the base of {entry.name}",
            code="wrong-call",
            remedy=f"name one: --clone base=PATH, which holds {_named(entry.base)}",
        )


def _named(origin: Origin) -> str:
    return f"commit {origin.commit}" if origin.commit else f"the files of tree {origin.tree}"


def _material(entry: Composition, clones: Clones, trust: Trust) -> Material:
    base = clones.origin(BASE, entry.base.commit)
    target, ancestry = None, Ancestry(known=False, why="there is no target")
    if entry.target is not None:
        name = TARGET if clones.has(TARGET) else BASE
        target = clones.origin(name, entry.target.commit)
        if entry.base.commit is not None and entry.target.commit is not None and target is not None:
            repository = clones.repository(name, entry.target.commit)
            answer = History(repository).is_ancestor(entry.base.commit, entry.target.commit)
            ancestry = Ancestry.of(answer)
    if clones.has(SOURCE):
        _read_source(entry, clones)
    components = dict(_components(entry, clones))
    return Material(
        base=base,
        target=target,
        ancestry=ancestry,
        patches={name: data for name, data in _patches(entry, clones) if data is not None},
        contents=clones,
        components=components,
        helpers=Helpers(
            lineages=lambda named: _version(named, trust), texts=lambda: clones.texts(SOURCE)
        ),
        manifest=clones.get(entry.manifest.pin.sha256) if entry.manifest else None,
    )


def _read_source(entry: Composition, clones: Clones) -> None:
    """Take in what was published with the composition: a commit of a clone, or a folder."""
    if entry.source is not None and not clones.is_folder(SOURCE):
        clones.read(SOURCE, entry.source.commit)
    else:
        clones.add_folder(SOURCE, _lengths(entry))


def _lengths(entry: Composition) -> frozenset[int] | None:
    """Return the lengths of all that may be asked of a folder, None if not all are known.

    A stage of regions looks for its helper in every file.
    """
    found = {pin.pin.length for pin in pins(entry) if pin.kind == "file"}
    if any(stage.kind is StageKind.REGIONS for stage in entry.stages):
        return None
    lengths = frozenset(length for length in found if length is not None)
    return None if None in found else lengths


def _components(entry: Composition, clones: Clones) -> Iterator[tuple[str, Read]]:
    for component in entry.components:
        if clones.has(component.name) and component.commit is not None:
            read = clones.read(component.name, component.commit)
            if read is not None:
                yield component.name, read


def _patches(entry: Composition, clones: Clones) -> Iterator[tuple[str, bytes | None]]:
    pins = {stage.name: stage.patch.pin for stage in entry.stages if stage.patch}
    clones.expect([pin.sha256 for pin in pins.values()])
    for name, pin in pins.items():
        yield name, clones.get(pin.sha256)


def _version(named: str, trust: Trust) -> tuple[Lineage, Version] | None:
    name, _, version = named.partition("/")
    catalog = trust.catalog
    if isinstance(catalog, Refused) or name not in catalog.names("helper"):
        return None
    lineage = catalog.helper(name)
    found = lineage.version(version) if isinstance(lineage, Lineage) else None
    return None if found is None or isinstance(lineage, Refused) else (lineage, found)
