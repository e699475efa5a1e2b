"""Rules B18 to B21: what a receipt cites and copies, what it replaces, and what it ran on."""

from decimal import Decimal
from typing import Final

from verifier.checks.receipt.answer import (
    Answer,
    Broken,
    Consequence,
    Holds,
    Rule,
    Uncheckable,
    only,
)
from verifier.checks.receipt.document.identities import full
from verifier.checks.receipt.document.model import COMPARING, ClaimKind
from verifier.checks.receipt.study import Study

_ENVIRONMENT: Final = ("hardware", "driver", "toolchain", "interconnect", "clock")


def b18_references(study: Study) -> Answer:
    """Ask that what is cited is there at the recorded commit, not at the head of a branch."""
    missing = []
    for each in study.receipt.references:
        commit, blob = full(each.commit), full(each.blob)
        place = (each.repository, commit or "", each.path)
        found = (study.companions.blobs or {}).get(place, "")
        if commit is None or blob is None or found == "":
            missing.append(f"{each.path} with its commit and blob, and a clone that has them")
        elif found != blob:
            expected = f"{each.path} at {commit}, blob {blob}"
            return Broken(expected=expected, got=found or "nothing there")
    if missing:
        return Uncheckable(missing=missing[0])
    cited = len(study.receipt.references)
    return Holds(detail=f"{cited} of {cited}" if cited else "nothing is cited")


def b19_copied_figures(study: Study) -> Answer:
    """Ask that a copied figure is what its source says."""
    others = {other.sha256: other for other in study.companions.others}
    missing, copied = None, 0
    for figure in study.receipt.figures:
        if figure.copied is None:
            continue
        receipt, name, value = figure.copied
        copied += 1
        if figure.value is not None and figure.value != value:
            return Broken(expected=f"{figure.id} {value}, as copied", got=f"{figure.value}")
        source = others.get(full(receipt) or "")
        if source is None:
            missing = f"the receipt that {figure.id} is copied from"
        elif name not in source.figures or Decimal(source.figures[name]) != value:
            got = source.figures.get(name, "no such figure")
            return Broken(expected=f"{name} {value} in {source.id}", got=got)
    if missing:
        return Uncheckable(missing=missing)
    return Holds(detail=f"{copied} figures" if copied else "nothing is copied")


def b20_silent_edit(study: Study) -> Answer:
    """Ask that another receipt of the same id is one that this supersedes, or the reverse."""
    receipt, others = study.receipt, study.companions.others
    if receipt.supersedes and receipt.supersedes.full is None:
        return Uncheckable(missing="the full digest of the receipt that is superseded, supersedes")
    before = {other.sha256: other.supersedes for other in others}
    before[study.sha256] = full(receipt.supersedes)
    for other in others:
        if other.id != receipt.id or other.sha256 == study.sha256:
            continue
        earlier = _earlier(study.sha256, before) | _earlier(other.sha256, before)
        if {study.sha256, other.sha256} & earlier:
            continue
        if unknown := sorted(earlier - before.keys()):
            return Uncheckable(missing=f"receipt {unknown[0]}, which one of them supersedes")
        return Broken(
            expected=f"{receipt.id}, {other.sha256}, or one that supersedes it",
            got=f"{study.sha256}, which says nothing of it",
        )
    return Holds(detail=f"sha256 {study.sha256[:12]}")


def _earlier(sha256: str, before: dict[str, str | None]) -> set[str]:
    """Return what a receipt supersedes, and what that does, as far as it is known."""
    found = set[str]()
    at = before.get(sha256)
    while at and at not in found:
        found.add(at)
        at = before.get(at)
    return found


def b21_environment(study: Study) -> Answer:
    """Ask that hardware, driver, toolchain, interconnect and clock are declared of every arm."""
    whole = study.receipt.environment
    lost = study.named(*COMPARING, ClaimKind.THROUGHPUT, ClaimKind.REPRODUCED)
    own = {arm.id: arm.environment or whole for arm in study.started} or {"": whole}
    for arm, declared in own.items():
        if lacking := [name for name in _ENVIRONMENT if not getattr(declared, name)]:
            where = f" of arm {arm}" if arm and declared is not whole else ""
            got = f"nothing about {', '.join(lacking)}{where}"
            return Broken(expected="what it ran on, environment", got=got, claims=lost)
    first, *rest = own.items()
    for arm, declared in rest:
        if declared != first[1]:
            return Broken(
                expected=f"arm {arm} on what arm {first[0]} ran on",
                got="another environment",
                condition="differs",
                claims=study.named(*COMPARING),
            )
    return Holds(detail=whole.hardware or "")


RULES: Final = (
    Rule(
        "B18",
        "references",
        "identity",
        only(Consequence.UNCHECKABLE),
        b18_references,
        "cite repository, commit, path and blob as they are at that commit",
    ),
    Rule(
        "B19",
        "copied-figures",
        "identity",
        only(Consequence.INCONSISTENT),
        b19_copied_figures,
        "copy the figure again from its source, and name the receipt by its digest",
    ),
    Rule(
        "B20",
        "silent-edit",
        "identity",
        only(Consequence.INVALID),
        b20_silent_edit,
        "publish the change as a new receipt whose supersedes is the digest of the old one",
    ),
    Rule(
        "B21",
        "environment",
        "identity",
        dict.fromkeys(("", "differs"), Consequence.LIMITS),
        b21_environment,
        "declare the environment, and measure arms that are compared on the same one",
    ),
)
