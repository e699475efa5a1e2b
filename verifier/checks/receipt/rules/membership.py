"""Rules E1, E2, E3, E7, E9 and E12: what belongs to the core, and whether all of it is there."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import Claim, Design, Figure
from verifier.checks.receipt.numbers.samples import MEMBERSHIPS
from verifier.checks.receipt.rules import claimed
from verifier.checks.receipt.rules.claimed import listed
from verifier.checks.receipt.study import Study

_CORE: Final = "core"
_EXPLORATORY: Final = "exploratory"
_WARMUP: Final = "warmup"


def e1_totals(study: Study) -> Answer:
    """Ask that totals are stated for each tag, are those of the samples, and add up."""
    totals, count = study.receipt.totals, study.receipt.sample_count
    if totals is None:
        return Uncheckable(missing="totals by membership")
    if unknown := sorted(totals.keys() - MEMBERSHIPS):
        return Broken(expected="totals by membership", got=listed(unknown), path="totals")
    sum_of = sum(totals.values())
    shown = " + ".join(f"{n} {name}" for name, n in sorted(totals.items()) if n) or "0"
    if count is not None and sum_of != count:
        return Broken(expected=f"{count:,} samples", got=f"{shown} = {sum_of}", path="totals")
    if not study.tally.rows:
        return Holds(detail=f"{shown} = {sum_of}, as stated") if count is not None else _unlisted()
    found = study.tally.of_membership()
    wrong = [
        f"{name}: {found[name]:,} listed, {totals.get(name, 0):,} stated"
        for name in sorted(MEMBERSHIPS)
        if found[name] != totals.get(name, 0)
    ]
    if wrong:
        return Broken(expected="the listed samples of each tag", got=listed(wrong), path="totals")
    return Holds(detail=f"{shown} = {sum_of}")


def _unlisted() -> Answer:
    return Uncheckable(missing="the samples")


def e2_exploratory_apart(study: Study) -> Answer:
    """Ask that no exploratory sample enters a figure of the core, or a gate."""
    mixed = dict[str, str]()
    unknown = list[str]()
    judged = {result.figure for result in study.receipt.results}
    for figure in study.receipt.figures:
        tags = _tags(study, figure)
        if _EXPLORATORY in tags and len(tags) > 1:
            mixed[figure.id] = "figure {} of {}".format(figure.id, " and ".join(sorted(tags)))
        elif _EXPLORATORY in tags and figure.id in judged:
            mixed[figure.id] = f"gate on the exploratory figure {figure.id}"
        elif not tags or _displayed(study, figure):
            unknown.append(figure.id)
    if mixed:
        got = listed(mixed.values())
        return Broken(expected="exploratory samples apart", got=got, path="derived")
    explored = study.tally.of_membership()[_EXPLORATORY] or (study.receipt.totals or {}).get(
        _EXPLORATORY
    )
    if explored and unknown:
        return Uncheckable(missing=f"which samples are in figure {listed(unknown)}")
    return Holds(detail=f"{len(study.receipt.figures)} figures")


def _tags(study: Study, figure: Figure) -> frozenset[str]:
    """Return the memberships of all samples that a figure comes down to."""
    below = (o for operand in figure.operands.values() for o in claimed.below(study, operand))
    return frozenset(operand.membership for operand in below if operand.quantity)


def _displayed(study: Study, figure: Figure) -> bool:
    below = (o for operand in figure.operands.values() for o in claimed.below(study, operand))
    return any(operand.quantity is None for operand in below)


def e3_marked_post_hoc(study: Study) -> Answer:
    """Ask that what was added after a first result is marked as such, and is not core.

    The first result is there when the first arm is finished (seeds/000: "After B1 exposed …").
    """
    design = study.receipt.design
    if design is None or not design.cases:
        return Uncheckable(missing="the planned cases of the design")
    ends = [arm.finished_at for arm in study.receipt.arms if arm.finished_at]
    first = min(ends, default=None)
    added = dict(design.added)
    wrong, lacking, cases = list[str](), set[str](), set[str]()
    for place, number in sorted(study.tally.places.items()):
        arm, case, kind = place
        late, marked = _late(design, added, case, first), study.tally.post_hoc[place]
        if (kind == _CORE and marked) or (late and marked < number):
            why = f"{marked} marked, but core" if marked else f"{number} not marked"
            wrong.append(f"{arm}, case {case}: {why}")
            cases.add(case)
        elif late is None and marked < number:
            lacking.add(case)
    if wrong:
        claims = (c for c in study.receipt.claims if cases & _cases(study, c))
        return Broken(
            expected="later material marked postHoc, and not core",
            got=listed(wrong),
            path="samples",
            claims=frozenset(claim.id for claim in claims),
        )
    if lacking:
        return Uncheckable(missing=f"when it was added: case {listed(sorted(lacking))}")
    return Holds(detail=f"{len(added)} cases added" if added else "every case was planned")


def _late(
    design: Design, added: dict[str, datetime], case: str, first: datetime | None
) -> bool | None:
    """Whether a case was added after the first result; None if that is not known."""
    if case not in added:
        return False if case in design.cases else None
    return None if first is None else added[case] > first


def _cases(study: Study, claim: Claim) -> set[str]:
    return {case for _, case, _ in claimed.places(study, claim)}


def e7_warm_ups(study: Study) -> Answer:
    """Ask that warm-ups are declared, recorded, complete, and in no figure.

    As many are declared for each case of each arm.
    """
    if warm := [f.id for f in study.receipt.figures if _WARMUP in _tags(study, f)]:
        got = f"in figure {listed(warm)}"
        return Broken(expected="warm-ups in no figure", got=got, path="derived")
    declared = study.receipt.design.warmups if study.receipt.design else None
    recorded = study.tally.of_membership()[_WARMUP]
    if declared is None:
        return Uncheckable(missing="design.warmups")
    if not study.tally.rows:
        return Uncheckable(missing="the samples") if declared else Holds(detail="none")
    if wrong := [*_cold(study, declared)]:
        got = listed(wrong)
        return Broken(expected=f"{declared} for each case of each arm", got=got, path="samples")
    return Holds(detail=f"{recorded:,} warm-ups, in no figure")


def _cold(study: Study, declared: int) -> Iterator[str]:
    names = {arm.id for arm in study.complete}
    cells = {(arm, case) for arm, case, _ in study.tally.places if arm in names}
    for arm, case in sorted(cells):
        place = (arm, case, _WARMUP)
        number, complete = study.tally.places[place], study.tally.complete[place]
        if number != declared:
            yield f"{arm}, case {case}: {number}"
        elif complete != number:
            yield f"{arm}, case {case}: {complete} of {number} complete"


def e9_cases_kept(study: Study) -> Answer:
    """Ask that every declared case has samples in every complete arm, whatever it showed."""
    design = study.receipt.design
    if design is None or not design.cases:
        return Uncheckable(missing="the planned cases of the design")
    if not study.tally.rows:
        return Uncheckable(missing="the samples")
    seen = {(arm, case) for arm, case, kind in study.tally.places if kind != _WARMUP}
    wanted = [(arm.id, case) for arm in study.complete for case in design.cases]
    if absent := [f"{arm}, case {case}" for arm, case in wanted if (arm, case) not in seen]:
        return Broken(expected="samples of every case", got=f"none of {listed(absent)}")
    return Holds(detail=f"{len(design.cases)} cases in {len(study.complete)} arms")


def e12_sample_count(study: Study) -> Answer:
    """Ask that as many samples are listed as are declared."""
    declared, listed_rows = study.receipt.sample_count, study.tally.rows
    if declared is None:
        return Uncheckable(missing="sampleCount")
    if declared and not listed_rows:
        return Uncheckable(missing="the samples")
    if declared != listed_rows:
        got = f"{listed_rows:,} listed"
        return Broken(expected=f"{declared:,} samples", got=got, path="sampleCount")
    return Holds(detail=f"{declared:,} samples")
