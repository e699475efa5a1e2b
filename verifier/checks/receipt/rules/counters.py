"""Rules K: what usage and counters say, of each request and of the arms (receipts.md §2)."""

from collections.abc import Callable, Iterator
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
from verifier.checks.receipt.document.model import COMPARING, Arm, Claim, ClaimKind, Operand
from verifier.checks.receipt.numbers.tally import Noted
from verifier.checks.receipt.rules.counter_rows import prefill
from verifier.checks.receipt.rules.made_of import arms_of, figures_of, operands
from verifier.checks.receipt.study import Study

_USAGE: Final = frozenset(
    {
        *("promptTokens", "completionTokens", "totalTokens", "cachedTokens"),
        *("decodeRate", "throughput"),
    }
)
_HITS: Final = frozenset({"prefixHits", "localHit", "external", "cachedTokens"})
_OF_SPEED: Final = COMPARING | {ClaimKind.MEASURED, ClaimKind.THROUGHPUT}


def _of_rows(rule: str, expected: str) -> Callable[[Study], Answer]:
    """Make the rule of what one row rule noted of all samples."""

    def ask(study: Study) -> Answer:
        tally = study.tally
        if noted := tally.broken.get(rule):
            return _broken(noted, expected)
        if noted := tally.uncheckable.get(rule):
            return Uncheckable(missing=str(noted))
        if not tally.complete.total():
            return Uncheckable(missing="a completed request")
        return Holds(detail=f"{tally.checked(rule):,} samples")

    ask.__doc__ = f"Ask of every sample: {expected}."
    return ask


def _broken(noted: Noted, expected: str) -> Broken:
    return Broken(expected=expected, got=str(noted), path=f"samples[{noted.first[0][0]}]")


k2_success = _of_rows("K2", "one success counted for each request")
k3_prefix = _of_rows("K3", "as many prefix queries as prompt tokens, and no more hits than queries")
k4_positions = _of_rows("K4", "the tokens accepted at each position to add up to the accepted ones")
k5_drafts = _of_rows(
    "K5",
    "accepted <= drafted, drafts <= drafted <= depth x drafts, and no more "
    "accepted at a later position",
)
k6_conservation = _of_rows("K6", "0 <= requests + drafts + accepted - completion <= depth")
k7_epoch = _of_rows("K7", "the counters of an arm of one epoch, and an idle server before each")
k9_prompt = _of_rows("K9", "the prompt to be computed, hit here, or brought from elsewhere")
k12_total = _of_rows("K12", "total = prompt + completion, completion <= cap, length at the cap")


def k1_null(study: Study) -> Answer:
    """Ask that missing usage is null, in the samples and in every figure over them."""
    rows = _of_rows("K1", "missing usage as null, and never 0")(study)
    if isinstance(rows, Broken):
        return rows
    for figure in study.receipt.figures:
        for name, operand in operands(study.receipt, figure):
            if operand.quantity not in _USAGE or figure.value is None:
                continue
            selected = study.tally.selected(operand)
            if selected.missing:
                return Broken(
                    expected=f"figure {figure.id} null: of some samples the usage is",
                    got=f"{figure.value:f} over {selected.missing:,} without {operand.quantity}",
                    path=f"derived.{figure.id}.operands.{name}",
                )
    return rows


def k8_cold(study: Study) -> Answer:
    """Ask that a claim of a cold start is proven by every counter of its requests."""
    lost = [c for c in study.claims(ClaimKind.COLD) if not _cold(study, c)]
    if not lost:
        return _held(study, ClaimKind.COLD)
    noted = study.tally.broken.get(f"K8 {lost[0].id}")
    return Broken(
        expected="0 cached tokens, 0 hits and the whole prompt computed, of every request",
        got=f"claim {lost[0].id}: {noted or 'no completed core request'}",
        claims=_ids(lost),
    )


def _cold(study: Study, claim: Claim) -> bool:
    arms = arms_of(study.receipt, claim)
    asked = sum(
        study.tally.complete[place]
        for place in study.tally.matching((), (), "core")
        if place[0] in arms
    )
    return asked > 0 and not study.tally.broken.get(f"K8 {claim.id}")


def k10_hit(study: Study) -> Answer:
    """Ask that a cache hit is counted by completed requests, and sits on the claimed grid."""
    wrong = {c.id: why for c in study.claims(ClaimKind.CACHE_HIT) if (why := _no_hit(study, c))}
    if not wrong:
        return _held(study, ClaimKind.CACHE_HIT)
    name, why = next(iter(wrong.items()))
    return Broken(
        expected="hits in the counters of completed requests, each on the grid of the claim",
        got=f"claim {name}: {why}",
        claims=frozenset(wrong),
    )


def _no_hit(study: Study, claim: Claim) -> str | None:
    """Say why a claim of a cache hit is not proven; None if it is."""
    counted = [
        operand
        for figure in figures_of(study.receipt, claim)
        for _, operand in operands(study.receipt, figure)
        if operand.quantity in _HITS
    ]
    if not counted:
        return "no figure of it is made of counted hits"
    hits = [number for operand in counted for number in _all(study, operand)]
    if not hits or None in hits:
        return "of some of its requests no hits are counted"
    found = [number for number in hits if number]
    if not found:
        return "no hit was counted"
    off = next((n for n in found if claim.grid and n % claim.grid), None)
    return None if off is None else f"a hit of {off} tokens is not on the grid of {claim.grid}"


def _all(study: Study, operand: Operand) -> Iterator[int | None]:
    """Return what an operand selects, and None if one of its requests has nothing."""
    selected = study.tally.selected(operand)
    kept = selected.numbers.kept
    yield from map(int, kept or ())
    if selected.missing or not selected.rows or kept is None:
        yield None


def k11_prefill(study: Study) -> Answer:
    """Ask that a prefill rate is null where a part of its prompts was cached."""
    figures = [figure for figure in study.receipt.figures if figure.value is not None]
    rates = [figure for figure in figures if prefill(study.receipt, figure)]
    for figure in rates:
        if noted := study.tally.broken.get(f"K11 {figure.id}"):
            expected = f"figure {figure.id} null, as its prompts were partly cached"
            return Broken(expected=expected, got=str(noted), path=f"derived.{figure.id}")
    for figure in rates:
        if noted := study.tally.uncheckable.get(f"K11 {figure.id}"):
            return Uncheckable(missing=f"figure {figure.id}: {noted}")
    return Holds(detail=f"{len(rates)} prefill rates")


def k13_same_process(study: Study) -> Answer:
    """Ask that each arm ran in one container, without a restart and without lack of memory."""
    missing = None
    for arm in study.complete:
        if wrong := _restarted(arm):
            return Broken(
                expected="one container, no restart, no process killed for memory",
                got=f"arm {arm.id}: {wrong}",
                path=f"arms.{arm.id}",
            )
        parts = {
            "restarts": arm.restarts,
            "oomKills": arm.oom_kills,
            "containerBefore": arm.container_before and arm.container_before.full,
            "containerAfter": arm.container_after and arm.container_after.full,
        }
        absent = [name for name, value in parts.items() if value is None]
        missing = missing or (f"arm {arm.id}: {', '.join(absent)}" if absent else None)
    if not study.complete:
        missing = "a complete arm"
    return Uncheckable(missing=missing) if missing else Holds(detail=f"{len(study.complete)} arms")


def _restarted(arm: Arm) -> str | None:
    if arm.restarts:
        return f"{arm.restarts} restarts"
    if arm.oom_kills:
        return f"{arm.oom_kills} processes killed for memory"
    before, after = arm.container_before, arm.container_after
    if before and after and before.text != after.text:
        return f"container {before.text[:12]} before, {after.text[:12]} after"
    return None


def k14_pressure(study: Study) -> Answer:
    """Ask that preemptions, swapping and transport faults of each arm are recorded."""
    unsaid = {arm.id: said for arm in study.complete if (said := _unsaid(arm))}
    if not study.complete:
        return Uncheckable(missing="a complete arm")
    if unsaid:
        name, fields = next(iter(unsaid.items()))
        lost = [c for c in study.claims(*_OF_SPEED) if arms_of(study.receipt, c) & unsaid.keys()]
        return Broken(
            expected="how many preemptions, swaps and transport faults there were",
            got=f"arm {name}: no {', '.join(fields)}",
            path=f"arms.{name}",
            claims=_ids(lost),
        )
    return Holds(detail=f"{len(study.complete)} arms")


def _unsaid(arm: Arm) -> list[str]:
    parts = {"preemptions": arm.preemptions, "swaps": arm.swaps, "transportFaults": arm.faults}
    return [name for name, value in parts.items() if value is None]


def k15_resident(study: Study) -> Answer:
    """Ask that what is said to be resident at once is shown by one scrape."""
    lost = [c for c in study.claims(ClaimKind.RESIDENCY) if not _resident(study, c)]
    if not lost:
        return _held(study, ClaimKind.RESIDENCY)
    return Broken(
        expected="one scrape with as many requests running and as many tokens held as is claimed",
        got=f"claim {lost[0].id}: no scrape of its arms shows that",
        claims=_ids(lost),
    )


def _resident(study: Study, claim: Claim) -> bool:
    """Whether one scrape shows it; requests that complete together show nothing."""
    wanted, arms = claim.resident, arms_of(study.receipt, claim)
    if wanted is None:
        return False
    for scrape in study.receipt.scrapes:
        if scrape.arm not in arms or scrape.running < wanted.requests:
            continue
        held = None
        if scrape.cache_use is not None and scrape.cache_tokens is not None:
            held = scrape.cache_use * Decimal(scrape.cache_tokens)
        if wanted.tokens is None or (held is not None and held >= wanted.tokens):
            return True
    return False


def _held(study: Study, kind: ClaimKind) -> Holds:
    return Holds(detail=f"{sum(1 for _ in study.claims(kind))} such claims")


def _ids(claims: list[Claim]) -> frozenset[str]:
    return frozenset(claim.id for claim in claims)


_COUNT: Final = "read the counters before and after each request, alone, and publish the raw deltas"
_COPY: Final = "correct what was copied wrongly, or measure again; publish raw counters"


def _rule(
    id_: str, name: str, then: Consequence, ask: Callable[[Study], Answer], remedy: str
) -> Rule:
    return Rule(id_, name, "counters", only(then), ask, remedy)


RULES: Final = (
    _rule(
        "K1",
        "null-not-zero",
        Consequence.INVALID,
        k1_null,
        "write null for usage that was not reported, and for every figure over it",
    ),
    _rule("K2", "one-success", Consequence.INVALID, k2_success, _COUNT),
    _rule("K3", "prefix-queries", Consequence.INVALID, k3_prefix, _COUNT),
    _rule("K4", "positions", Consequence.INCONSISTENT, k4_positions, _COPY),
    _rule("K5", "drafts", Consequence.INCONSISTENT, k5_drafts, _COPY),
    _rule("K6", "conservation", Consequence.INCONSISTENT, k6_conservation, _COPY),
    _rule("K7", "one-epoch", Consequence.INVALID, k7_epoch, _COUNT),
    _rule(
        "K8",
        "cold",
        Consequence.LIMITS,
        k8_cold,
        "publish cached tokens, prefix hits and computed tokens of each request, or claim less",
    ),
    _rule("K9", "prompt-parts", Consequence.INCONSISTENT, k9_prompt, _COPY),
    _rule(
        "K10",
        "cache-hit",
        Consequence.LIMITS,
        k10_hit,
        "cite a figure over the hits that completed requests counted, or claim less",
    ),
    _rule(
        "K11",
        "prefill-cached",
        Consequence.INVALID,
        k11_prefill,
        "write null for the rate, or measure it with prompts of which nothing is cached",
    ),
    _rule("K12", "totals", Consequence.INCONSISTENT, k12_total, _COPY),
    _rule(
        "K13",
        "same-process",
        Consequence.INVALID,
        k13_same_process,
        "measure the arm again, and mark this one invalid with its reason",
    ),
    _rule(
        "K14",
        "pressure",
        Consequence.LIMITS,
        k14_pressure,
        "record the three counts of each arm; 0 is a count, absent is not",
    ),
    _rule(
        "K15",
        "resident",
        Consequence.LIMITS,
        k15_resident,
        "publish the scrape that shows it, or say that the requests completed together",
    ),
)
