"""Rules B10 to B17: what was run, with which settings, and the evidence of it."""

from collections.abc import Iterator
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
from verifier.checks.receipt.document.identities import Evidence, Workload, full
from verifier.checks.receipt.document.model import COMPARING, Arm, Claim, ClaimKind, Role
from verifier.checks.receipt.study import Study

#: What an activation rests on that shows a wish, and no feature at work (seeds/000).
_WISHES: Final = ("flag", "alignment")


def b10_workload_bytes(study: Study) -> Answer:
    """Ask that the bytes of each workload, and its normal form, hash to what is recorded."""
    workloads, missing = study.receipt.workloads, [] if study.receipt.workloads else ["workloads"]
    files = study.companions.files or {}
    for work in workloads:
        source, pin = full(work.source), files.get(work.file or "")
        if source and pin and pin.sha256 != source:
            return Broken(expected=f"workload {work.id}, {source}", got=f"{work.file}, {pin}")
        if source is None or source not in {each.sha256 for each in files.values()}:
            missing.append(f"the file of workload {work.id} and its full digest")
        elif work.normalised:
            answer = _normalised(study, work, source)
            if isinstance(answer, Broken):
                return answer
            missing += [answer] if answer else []
    return Uncheckable(missing=missing[0]) if missing else Holds(detail=f"{len(workloads)} files")


def _normalised(study: Study, work: Workload, source: str) -> Broken | str | None:
    place = source, work.normalisation or ""
    found = (study.companions.normalised or {}).get(place)
    recorded = full(work.normalised)
    if found is None or recorded is None:
        why = (study.companions.formless or {}).get(place)
        return f"the normal form of workload {work.id}" + (f": {why}" if why else "")
    if found == recorded:
        return None
    expected = f"workload {work.id} in normal form, {recorded}"
    return Broken(expected=expected, got=found, condition="normalised")


def b11_one_workload(study: Study) -> Answer:
    """Ask that every arm ran the same workload, and that what generated it is pinned too.

    Files of other bytes are the same workload if their normal form, computed here, is one.
    """
    used = {arm.id: full(arm.workload) for arm in study.started}
    known = {full(work.source) for work in study.receipt.workloads} - {None}
    distinct = set(used.values()) - {None}
    if len(distinct) > 1 and not _alike(study, distinct):
        got = ", ".join(f"{arm} {digest}" for arm, digest in used.items() if digest)
        return Broken(expected="one workload in every arm", got=got)
    if known and distinct - known:
        got = f"{distinct.pop()}, which is none of the receipt's workloads"
        return Broken(expected="a workload that the receipt describes", got=got)
    if not used or not known or None in used.values():
        return Uncheckable(missing="the full digest of the workload of every arm")
    for work in study.receipt.workloads:
        if work.generated and full(work.producer) is None:
            return Uncheckable(missing=f"the producer of workload {work.id}, in full")
    same = f", {len(distinct)} files in one normal form" if len(distinct) > 1 else ""
    return Holds(detail=f"{len(used)} arms{same}")


def _alike(study: Study, sources: set[str | None]) -> bool:
    """Whether these workloads have one and the same normal form."""
    found = study.companions.normalised or {}
    forms = {work.normalisation or "" for work in study.receipt.workloads}
    return any(
        len({found.get((source or "", form)) for source in sources} - {None}) == 1
        and all((source, form) in found for source in sources)
        for form in forms
    )


def b12_declared_settings(study: Study) -> Answer:
    """Ask that arms differ in declared settings alone, in one of them if it is credited."""
    design, arms = study.receipt.design, study.started
    if design is None or not arms or not all(arm.settings for arm in arms):
        return Uncheckable(missing="the settings of every arm, and design.differingSettings")
    changing = _changing(arms)
    if undeclared := [name for name in changing if name not in design.differing]:
        lost = {
            claim.id
            for claim in study.claims(*COMPARING)
            if set(undeclared) & set(_changing(_of(claim, arms)))
        }
        return Broken(
            expected=f"arms that differ only in {', '.join(design.differing) or 'nothing'}",
            got=f"also in {', '.join(undeclared)}",
            claims=frozenset(lost),
        )
    credited = study.claims(ClaimKind.ATTRIBUTION)
    several = {claim.id for claim in credited if len(_changing(_of(claim, arms))) > 1}
    if several:
        got = f"{len(changing)}: {', '.join(changing)}"
        return Broken(
            expected="one setting that differs, for an effect to be its own",
            got=got,
            condition="several",
            claims=frozenset(several),
        )
    for name in changing:
        if gaps := [arm.id for arm in arms if name not in arm.settings]:
            return Uncheckable(missing=f"setting {name} of arm {gaps[0]}")
    return Holds(detail=f"they differ in {', '.join(changing) or 'nothing'}")


def _changing(arms: tuple[Arm, ...]) -> list[str]:
    names = sorted({name for arm in arms for name in arm.settings})
    return [name for name in names if len({arm.settings.get(name) for arm in arms}) > 1]


def _of(claim: Claim, arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """Return the arms that a claim is about; one that names none of them is about all."""
    return tuple(arm for arm in arms if arm.id in claim.arms) or arms


def b13_composition(study: Study) -> Answer:
    """Ask that a composed runtime lists its commits and is not taken for one head (seeds/003)."""
    runtime, source = study.receipt.runtime, full(study.receipt.source)
    isolated = study.named(ClaimKind.ISOLATED_HEAD)
    if runtime is None or runtime.composed is None:
        return Uncheckable(missing="whether the runtime was composed, runtime.composed")
    commits = [full(commit) for _, commit in runtime.components]
    if runtime.composed and isolated:
        got = f"a composition of {len(commits)} components"
        return Broken(expected="the isolated head of the claim", got=got, claims=isolated)
    if not commits or None in commits or source is None:
        return Uncheckable(missing="the full commit of every component, runtime.components")
    if not runtime.composed and source not in commits:
        return Broken(expected=f"a component at {source}", got="none of them", claims=isolated)
    return Holds(detail=f"{len(commits)} components")


def b14_base_commit(study: Study) -> Answer:
    """Ask that the base is recorded apart from the head, and is where the branch stands."""
    base, branch = full(study.receipt.base), full(study.receipt.branch_head)
    if base is None or branch is None:
        return Uncheckable(missing="the full commits baseCommit and targetBranchHead")
    if base != branch:
        return Broken(expected=f"base {branch}, the head of its branch", got=f"base {base}")
    return Holds(detail=base[:12])


def b15_activation(study: Study) -> Answer:
    """Ask that a claimed feature was seen at work before and after timing, not only switched on."""
    lost, missing, wrong = set[str](), list[str](), list[str]()
    for claim in study.claims():
        if claim.feature is None:
            if claim.kind is ClaimKind.ACTIVATION:
                missing.append(f"the feature of claim {claim.id}")
            continue
        arms = [arm for arm in _of(claim, study.complete) if arm.role is Role.CANDIDATE]
        if not arms:
            missing.append(f"a complete candidate arm of claim {claim.id}")
        for arm in arms:
            broken, lacking = _inactive(arm, claim.feature)
            missing += lacking
            wrong += broken
            lost |= {claim.id} if broken else set()
    if wrong:
        expected = "each feature seen at work before and after timing"
        return Broken(expected=expected, got=wrong[0], claims=frozenset(lost))
    return Uncheckable(missing=missing[0]) if missing else Holds()


def _inactive(arm: Arm, feature: str) -> tuple[list[str], list[str]]:
    """Say what shows that a feature was not seen at work, and what is not there to tell."""
    records = [each for each in arm.activation if each.feature == feature]
    if not records:
        return [], [f"the activation of {feature} in arm {arm.id}"]
    wrong = ["not observed" for each in records if not each.observed]
    wrong += [f"only by a {each.basis}" for each in records if each.basis in _WISHES]
    timed = {each.when for each in records}
    wrong += [f"nothing {when} timing" for when in ("before", "after") if when not in timed]
    tied = all(full(each.evidence) and each.basis for each in records)
    missing = [] if tied else [f"basis and evidence of {feature} in arm {arm.id}"]
    return [f"{feature} in arm {arm.id}: {text}" for text in wrong], missing


def b16_evidence_bytes(study: Study) -> Answer:
    """Ask that every evidence file that is named hashes to what is recorded."""
    files, problems = study.companions.files or {}, study.companions.problems or {}
    named = tuple(_named(study))
    for file in named:
        pin, recorded = files.get(file.name), full(file.digest)
        other_size = pin and file.length is not None and pin.length != file.length
        if pin and recorded and (pin.sha256 != recorded or other_size):
            size = "" if file.length is None else f" · {file.length:,} bytes"
            return Broken(expected=f"{file.name}, {recorded}{size}", got=str(pin))
    for file in named:
        if full(file.digest) is None:
            return Uncheckable(missing=f"the full digest of {file.name}")
        if file.name not in files:
            why = "not given" if file.published else f"not published: {file.reason or 'no reason'}"
            return Uncheckable(missing=f"{file.name}, {problems.get(file.name, why)}")
    return Holds(detail=f"{len(named)} files" if named else "no file is named")


def _named(study: Study) -> Iterator[Evidence]:
    receipt = study.receipt
    yield from receipt.evidence
    yield from (capture.evidence for arm in receipt.arms for capture in arm.captures)
    if receipt.summarises:
        yield receipt.summarises


def b17_planned_settings(study: Study) -> Answer:
    """Ask that the settings that ran are those that were planned."""
    for arm in study.started:
        planned = arm.settings if arm.planned_settings is None else arm.planned_settings
        for name in sorted({*arm.settings, *planned}):
            wanted, used = (each.get(name, "nothing") for each in (planned, arm.settings))
            if wanted != used:
                expected = f"arm {arm.id} with {name} {wanted}"
                return Broken(expected=expected, got=f"{name} {used}")
    bare = [arm.id for arm in study.started if not arm.settings or arm.planned_settings is None]
    if bare or not study.started:
        return Uncheckable(missing=f"settings and plannedSettings of {', '.join(bare) or 'arms'}")
    return Holds(detail=f"{len(study.started)} arms")


RULES: Final = (
    Rule(
        "B10",
        "workload-bytes",
        "identity",
        dict.fromkeys(("", "normalised"), Consequence.INVALID),
        b10_workload_bytes,
        "put the very file that was run beside the receipt, or record the digest of that one",
    ),
    Rule(
        "B11",
        "one-workload",
        "identity",
        only(Consequence.INVALID),
        b11_one_workload,
        "run every arm with the same workload file",
    ),
    Rule(
        "B12",
        "declared-settings",
        "identity",
        dict.fromkeys(("", "several"), Consequence.LIMITS),
        b12_declared_settings,
        "declare every setting that differs, and change one at a time to credit one",
    ),
    Rule(
        "B13",
        "composition",
        "identity",
        only(Consequence.LIMITS),
        b13_composition,
        "claim it of the composition that ran, and list the commit of each component",
    ),
    Rule(
        "B14",
        "base-commit",
        "exact-head",
        only(Consequence.STALE),
        b14_base_commit,
        "measure again on the head of the branch, or cite the receipt for its own base",
    ),
    Rule(
        "B15",
        "activation",
        "identity",
        only(Consequence.LIMITS),
        b15_activation,
        "record a log line or a counter of a request before and after timing",
    ),
    Rule(
        "B16",
        "evidence-bytes",
        "identity",
        only(Consequence.INVALID),
        b16_evidence_bytes,
        "give the files that were recorded; a changed one belongs to a new receipt",
    ),
    Rule(
        "B17",
        "planned-settings",
        "identity",
        only(Consequence.INCONSISTENT),
        b17_planned_settings,
        "measure with the planned settings, or publish a new plan first",
    ),
)
