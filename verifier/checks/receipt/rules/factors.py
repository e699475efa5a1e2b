"""Rules A7, A8, A11, A15 and A16: in what the arms of a claim differ, and what that allows."""

from collections.abc import Iterable
from itertools import product
from typing import Final

from verifier.checks.receipt.answer import Answer, Uncheckable
from verifier.checks.receipt.document.model import Arm, Claim, ClaimKind
from verifier.checks.receipt.numbers.alike import Missing
from verifier.checks.receipt.rules import claimed
from verifier.checks.receipt.rules.claimed import limit, listed
from verifier.checks.receipt.study import Study

#: Settings that are a topology whether the design says so or not, in lower case.
_TOPOLOGY: Final = frozenset(
    {"topology", "tp", "pp", "dp", "ep", "cp", "dcp"}
    | {f"{name}_parallel_size" for name in ("tensor", "pipeline", "data", "context")}
)
#: References that name no setting, in lower case (A16: not "the default", nor "fastest tuned").
_VAGUE: Final = frozenset(
    {"default", "defaults", "baseline", "stock", "control", "before", "best", "fastest"}
    | {"fastest tuned", "best tuned", "main", "current", "upstream", "off", "reference"}
)
_EXPLAINING: Final = frozenset(
    {ClaimKind.IMPROVEMENT, ClaimKind.REGRESSION, ClaimKind.NO_REGRESSION, ClaimKind.EQUIVALENCE}
    | {ClaimKind.ATTRIBUTION, ClaimKind.INTERLEAVED}
)


def _undeclared(arms: Iterable[Arm]) -> Missing | None:
    """Say which arms declare no settings; without arms it is not known what is compared."""
    found = tuple(arms)
    if not found:
        return Missing("the arms that are compared")
    absent = [arm.id for arm in found if not arm.settings]
    return Missing(f"the settings of {listed(absent)}") if absent else None


def _absent_cell(arms: Iterable[Arm], factors: Iterable[str]) -> str | None:
    """Name a combination of the levels of all factors that no arm has, None if there is none."""
    names, found = sorted(factors), tuple(arms)
    cells = {tuple(arm.settings.get(name, "") for name in names) for arm in found}
    levels = [sorted({cell[at] for cell in cells}) for at in range(len(names))]
    absent = next((cell for cell in product(*levels) if cell not in cells), None)
    if absent is None:
        return None
    return ", ".join(
        f"{name}={level or 'unset'}" for name, level in zip(names, absent, strict=True)
    )


def a7_attribution(study: Study) -> Answer:
    """Ask that an effect is attributed to all features in which the arms differ.

    To one of several it may be if every combination of them was measured (A8).
    """

    def ask(claim: Claim) -> str | Missing | None:
        if claim.feature is None:
            return None
        compared = claimed.measured(study, claim)
        if missing := _undeclared(compared):
            return missing
        factors = claimed.differing(compared)
        if claim.feature not in factors:
            return f"the arms do not differ in {claim.feature}"
        if len(factors) == 1 or _absent_cell(compared, factors) is None:
            return None
        return f"{claim.feature} alone, but the arms differ in {', '.join(sorted(factors))}"

    return limit(study.claims(*_EXPLAINING), ask, expected="an effect of all that differs")


def a8_interaction(study: Study) -> Answer:
    """Ask that a claim about an interaction has an arm for every combination of its factors."""

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.measured(study, claim)
        if missing := _undeclared(compared):
            return missing
        factors = claimed.differing(compared)
        if len(factors) < 2:  # noqa: PLR2004
            return f"{len(factors)} factors differ"
        absent = _absent_cell(compared, factors)
        return f"no complete arm with {absent}" if absent else None

    claims = study.claims(ClaimKind.INTERACTION)
    return limit(claims, ask, expected="an arm for every combination of the factors")


def a11_same_factor(study: Study) -> Answer:
    """Ask that the arms of a claim do not also differ in algorithm or topology."""
    if study.receipt.design is None:
        return Uncheckable(missing="the design")
    algorithmic = set(study.receipt.design.algorithmic)

    def ask(claim: Claim) -> str | Missing | None:
        compared = claimed.measured(study, claim)
        factors = claimed.differing(arm for arm in compared if arm.settings)
        other = {n for n in factors if n in algorithmic or n.lower() in _TOPOLOGY}
        if also := sorted(other - {claim.feature}):
            return f"the arms differ in {', '.join(also)} as well"
        return _undeclared(compared)

    return limit(claimed.comparing(study), ask, expected="one algorithm and topology")


def a15_same_condition(study: Study) -> Answer:
    """Ask that cells short of capacity, load or warm-up are not compared with ordinary ones."""

    def ask(claim: Claim) -> str | Missing | None:
        compared = {arm.id: arm for arm in claimed.arms(study, claim)}
        if not compared:
            return Missing("the arms that are compared")
        cells = {(arm, case) for arm, case, _ in claimed.places(study, claim) if arm in compared}
        if not cells:
            cases = study.receipt.design.cases if study.receipt.design else ()
            cells = {(arm, case) for arm in compared for case in (*cases, "")}
        flags = {cell: _flags(compared[cell[0]], cell[1]) for cell in cells}
        if len(set(flags.values())) == 1:
            return None
        marked = sorted((*cell, *sorted(found)) for cell, found in flags.items() if found)
        return listed(" ".join(filter(None, each)) for each in marked)

    return limit(claimed.comparing(study), ask, expected="cells of one condition")


def _flags(arm: Arm, case: str) -> frozenset[str]:
    return frozenset((*arm.flags, *arm.case_flags.get(case, ())))


def a16_reference(study: Study) -> Answer:
    """Ask that every comparison names its reference by its setting, and one name means one."""
    meant = dict[str, set[frozenset[tuple[str, str]]]]()
    for claim in claimed.comparing(study):
        _, controls = claimed.sides(claimed.measured(study, claim))
        meant.setdefault(_label(claim), set()).update(
            claimed.setting(arm) for arm in controls if arm.settings
        )

    def ask(claim: Claim) -> str | Missing | None:
        label = _label(claim)
        if not label:
            return "no reference is named"
        if label in _VAGUE:
            return f"{label} is the name of no setting"
        if len(meant[label]) > 1:
            return "one name for references of different settings"
        return _undeclared(claimed.sides(claimed.measured(study, claim))[1])

    return limit(claimed.comparing(study), ask, expected="a reference such as FINE off, as here")


def _label(claim: Claim) -> str:
    return (claim.reference or "").strip().casefold().removeprefix("the ").strip()
