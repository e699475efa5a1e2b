"""A composition, proved from its base: facets lineage, patches, stages, orders, components.

The steps are those of CHECKS "composition", proved; each has its module:

1. *Lineage* (`lineage`): base and target are the pinned commits, and differ as the overlay says.
2. *Stages* (`stages`): taken again from the base in their order, patches exactly (`apply`), with
   every preimage, postimage, mode and pinned git tree.
3. *Final* (`final`): the last tree is what the entry lists of it, retained files too; where the
   entry is complete, nothing else is in the scope.
4. *Orders* (`orders`): stages marked `independent` in every order, from the tree before them.
5. *Components* (`components`): commit, tree, source digests, contract.

Pure: everything that was read is handed in, nothing is written, and no program is a stage.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, NamedTuple

from verifier.catalog.entries.composition import Agreement, Composition, Stage, StageKind
from verifier.checks.composition.components import Read, blind, check_components
from verifier.checks.composition.edits import patch_edit, region_edit, swaps_of
from verifier.checks.composition.final import check_final
from verifier.checks.composition.lineage import Ancestry, check_lineage, differences, unproven
from verifier.checks.composition.manifest import unread
from verifier.checks.composition.orders import Edit, Orders, TooMuchError, findings, try_orders
from verifier.checks.composition.patch import Patch, read_patch
from verifier.checks.composition.region_stage import Helpers, version_in
from verifier.checks.composition.stages import Chain
from verifier.checks.composition.state import Contents, State
from verifier.checks.composition.syntax import facts
from verifier.checks.composition.told import counted
from verifier.core import coverage
from verifier.core.coverage import Covered
from verifier.core.demand import FACETS
from verifier.core.finding import Finding, Where
from verifier.core.limits import ORDER_BYTES
from verifier.core.outcome import Identified, Outcome
from verifier.core.printable import printable
from verifier.core.value import frozen

#: What a proof leaves open, and a tree at a place does not.
NOT_PROVEN_OF_A_PLACE: Final = (
    "that anything is installed or stands anywhere as the composition leaves it"
)
#: What only a tree at a place can hold.
_AT_A_PLACE: Final = ("final-stage", "unlisted", "modes")
#: Facets whose counts say something even where they do not hold.
_TOLD_ALL_THE_SAME: Final = ("lineage", "orders")
_STATE = coverage.State


@frozen
class Material:
    """Everything that a proof reads. `patches` holds bytes by stage name.

    `contents` returns bytes by SHA-256 from any clone that was read; `helpers` is what stages of
    regions are taken from.
    `manifest` is what the overlay was published with, None where no source holds it.
    """

    base: Read | None
    target: Read | None
    ancestry: Ancestry
    patches: Mapping[str, bytes]
    contents: Contents
    components: Mapping[str, Read] = field(default_factory=dict)
    helpers: Helpers = Helpers()
    manifest: bytes | None = None


class Proof(NamedTuple):
    """What was proved, and the git tree that the last stage leaves, None where it is not known."""

    outcome: Outcome
    tree: str | None


def prove(entry: Composition, material: Material) -> Proof:
    """Prove one composition. The facets of a tree at a place stay unchecked."""
    if material.base is None:
        return Proof(_unread(entry), None)
    base = State(material.base.entries, material.contents, material.base.hex_length)
    target = None
    if material.target is not None:
        target = State(material.target.entries, material.contents, material.target.hex_length)
    said = list(check_lineage(entry, base, target, material.ancestry, material.manifest))  # 1
    between = differences(entry.scope, base.files, target.files) if target is not None else {}
    chain = Chain(
        entry,
        base,
        target=None if target is None else target.files,
        patches=material.patches,
        helpers=material.helpers,
    )
    tries: _Tries | None = None
    for stage in entry.stages:  # 2
        if stage.independent and tries is None:
            tries = _Tries(entry, chain.state, material)
        chain.take(stage)
        if tries is not None and stage.independent:
            tries.after(stage, chain.state)
    said += chain.findings
    said += list(check_final(entry, chain.state, said))  # 3
    orders = None
    if tries is not None:  # 4
        orders, order_findings = tries.result()
        said += order_findings
    said += check_components(entry, material.components)  # 5
    proved = _Proved(entry, said, chain, orders, len(between))
    outcome = Outcome(
        kind="proof",
        identified=proved.identified(),
        findings=tuple(said),
        coverage=tuple(proved.covered(facet) for facet in FACETS["composition"]),
        not_proven=(
            NOT_PROVEN_OF_A_PLACE,
            "what the code does",
            *blind(entry),
            *unread(entry),
            *unproven(entry),
        ),
    )
    return Proof(outcome, chain.state.tree())


def _unread(entry: Composition) -> Outcome:
    """Return the outcome where there is no base to start from."""
    wanted = f"commit {entry.base.commit}" if entry.base.commit else f"tree {entry.base.tree}"
    finding = Finding(
        code="lineage-unread",
        where=Where(path="base"),
        expected=wanted,
        got="it was not read whole" if entry.base.commit else "no folder of it was read",
        remedy="name a clone that holds all of it: --clone base=PATH",
    )
    return Outcome(
        kind="proof",
        identified=(),
        findings=(finding,),
        coverage=tuple(
            Covered(facet=facet, state=_STATE.NOT_CHECKED) for facet in FACETS["composition"]
        ),
    )


def demanded(entry: Composition, policy: frozenset[str]) -> frozenset[str]:
    """Return what a proof of `entry` has to hold: what applies, and what the policy adds to it.

    Facets of a tree at a place are another question's.
    """
    always = {"lineage", "stages"}
    always |= {"patches"} if any(s.kind is StageKind.PATCH for s in entry.stages) else set()
    always |= {"orders"} if any(s.independent for s in entry.stages) else set()
    always |= {"components"} if entry.components else set()
    return frozenset(always | (policy - set(_AT_A_PLACE)))


class _Tries:
    """The stages that are called independent: what each edits, from the tree before the first."""

    def __init__(self, entry: Composition, before: State, material: Material) -> None:
        self._entry, self._material = entry, material
        self._stages = [stage for stage in entry.stages if stage.independent]
        paths = {c.path.encode() for stage in self._stages for c in stage.files or ()}
        self._files = {path: before.data(path) for path in sorted(paths)}
        self._missing = [p for p in self._files if p in before.files and self._files[p] is None]
        self._edits: list[Edit] = []

    def after(self, stage: Stage, state: State) -> None:
        """Note what a stage edits, once the chain has taken it."""
        edit = self._patch(stage) if stage.kind is StageKind.PATCH else self._regions(stage, state)
        if edit is not None:
            self._edits.append(edit)

    def result(self) -> tuple[Orders | None, tuple[Finding, ...]]:
        """Try the orders, if every stage is known as an edit and every byte is at hand."""
        known = {edit.name for edit in self._edits}
        unknown = [f"stage {stage.name}" for stage in self._stages if stage.name not in known]
        unknown += [printable(path.decode()) for path in self._missing]
        agreement = self._stages[0].independent
        if unknown or agreement is None:
            return None, (
                Finding(
                    code="order-unknown",
                    expected="patches, or regions of a registered helper, with all their bytes",
                    got=f"not at hand: {', '.join(unknown)}",
                    remedy="solve what is said of these stages first",
                ),
            )
        try:
            orders = self._tried(agreement)
        except TooMuchError as error:
            return None, (
                Finding(
                    code="order-limit",
                    expected=f"at most {error}",
                    got="more",
                    remedy="take these stages in the listed order: do not call them independent",
                ),
            )
        return orders, findings(orders)

    def _tried(self, agreement: Agreement) -> Orders:
        held = sum(len(data or b"") for data in self._files.values()) * (len(self._edits) + 1)
        if held > ORDER_BYTES:
            raise TooMuchError(f"{ORDER_BYTES:,} bytes of files, once for each stage")
        return try_orders(self._edits, self._files, agreement, facts)

    def _patch(self, stage: Stage) -> Edit | None:
        data = self._material.patches.get(stage.name)
        if data is None or stage.patch is None or not stage.patch.pin.matches(data):
            return None
        patch = read_patch(data, name=stage.name)
        return patch_edit(stage.name, patch) if isinstance(patch, Patch) else None

    def _regions(self, stage: Stage, state: State) -> Edit | None:
        named = self._material.helpers.lineages(stage.regions) if stage.regions else None
        if named is None or len(stage.files or ()) != 1:
            return None
        (change,) = stage.files or ()
        data = state.data(change.path.encode())
        installed = None if data is None else version_in(data, *named)
        if data is None or installed is None:
            return None
        return region_edit(stage.name, change.path.encode(), swaps_of(data, installed))


class _Proved:
    """The steps' results, as coverage."""

    def __init__(
        self,
        entry: Composition,
        said: list[Finding],
        chain: Chain,
        orders: Orders | None,
        between: int,
    ) -> None:
        self._entry, self._chain, self._orders, self._between = entry, chain, orders, between
        self._broken = {finding.row.facet for finding in said}

    def identified(self) -> tuple[Identified, ...]:
        """Name the final stage, if the stages lead there."""
        if not self._broken.isdisjoint({"lineage", "patches", "stages"}):
            return ()
        last = self._entry.stages[-1].name
        return (Identified(entry=self._entry.name, version=last, status="proved", current=True),)

    def covered(self, facet: str) -> Covered:
        """Say of one facet what the proof can."""
        if facet in _AT_A_PLACE:
            return Covered(facet=facet, state=_STATE.NOT_CHECKED, detail="needs --at")
        state, detail = {
            "lineage": self._lineage,
            "patches": self._patches,
            "stages": self._stages,
            "orders": self._order,
            "components": self._components,
            "retained": self._retained,
        }[facet]()
        if facet in self._broken:
            told = detail if facet in _TOLD_ALL_THE_SAME else "see above"
            return Covered(facet=facet, state=_STATE.NOT_HELD, detail=told)
        return Covered(facet=facet, state=state, detail=detail)

    def _lineage(self) -> tuple[coverage.State, str]:
        if self._entry.target is None:
            return _STATE.HELD, "the base; there is no target"
        listed = sum(len(s.files or ()) for s in self._entry.stages if s.kind is StageKind.OVERLAY)
        return _STATE.HELD, f"{self._between:,} changes in the scope, {listed:,} of them listed"

    def _patches(self) -> tuple[coverage.State, str]:
        count = sum(stage.kind is StageKind.PATCH for stage in self._entry.stages)
        if not count:
            return _STATE.NOT_APPLICABLE, "no stage is a patch"
        if self._chain.applied < count:
            return _STATE.NOT_HELD, f"{self._chain.applied:,} of {count:,} applied exactly"
        pinned = all(s.patch is None or s.patch.pin.length for s in self._entry.stages)
        held = _STATE.HELD if pinned else _STATE.HELD_LENGTH_NOT_PINNED
        return held, f"{count:,} applied exactly" + ("" if pinned else " · length not pinned")

    def _stages(self) -> tuple[coverage.State, str]:
        if not self._chain.recomputed and not any(s.tree for s in self._entry.stages):
            return _STATE.NOT_CHECKED, "no file was computed"
        pinned = self._chain.lengths_pinned
        held = _STATE.HELD if pinned else _STATE.HELD_LENGTH_NOT_PINNED
        told = f"{len(self._entry.stages):,} in order · {counted(self._chain.recomputed)} computed"
        return held, told + ("" if pinned else " · length not pinned")

    def _order(self) -> tuple[coverage.State, str]:
        if not any(stage.independent for stage in self._entry.stages):
            return _STATE.NOT_APPLICABLE, "no stage is called independent"
        if self._orders is None:
            return _STATE.NOT_CHECKED, ""
        agreement = next(s.independent for s in self._entry.stages if s.independent)
        orders = self._orders
        told = f"{orders.tried:,} of {orders.possible:,} orders, same {agreement}"
        refuted = f", {len(orders.refuted):,} refuted" if orders.refuted else ""
        return _STATE.HELD, told + refuted

    def _components(self) -> tuple[coverage.State, str]:
        if not self._entry.components:
            return _STATE.NOT_APPLICABLE, "none"
        return _STATE.HELD, ", ".join(c.name for c in self._entry.components)

    def _retained(self) -> tuple[coverage.State, str]:
        if not self._entry.retained:
            return _STATE.NOT_APPLICABLE, "none"
        if any(row.files is None for row in self._entry.retained):
            return _STATE.NOT_CHECKED, "the entry does not list them"
        if self._chain.state.lost is not None:
            return _STATE.NOT_CHECKED, ""
        return _STATE.HELD, ", ".join(row.name for row in self._entry.retained)
