"""Rules K: of one request, and of the arms and claims."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import receipts

from verifier.checks.receipt.answer import Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.rules.counter_rows import k5_drafts, k6_conservation

Json = dict[str, Any]
#: The second row: a core request of arm B1.
ROW: Final = "samples.1"
USAGE: Final = f"{ROW}.usage"
COUNTED: Final = f"{ROW}.counterDeltas"


def code(rule: str, answer: Broken) -> str:
    return next(each for each in RULES if each.id == rule).code(answer.condition)


BROKEN: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("K1", "receipt-k1-null-not-zero", {f"{USAGE}.promptTokens": 0}),
    ("K1", "receipt-k1-null-not-zero", {f"{USAGE}.completionTokens": None}),  # under a total
    ("K1", "receipt-k1-null-not-zero", {f"{USAGE}.promptTokens": None}),
    ("K1", "receipt-k1-null-not-zero", {f"{USAGE}.completionTokens": 0}),  # some were accepted
    ("K2", "receipt-k2-one-success", {f"{COUNTED}.requestSuccess": 2}),
    ("K2", "receipt-k2-one-success", {f"{COUNTED}.requestSuccess": 0}),
    ("K3", "receipt-k3-prefix-queries", {f"{COUNTED}.prefixQueries": 8193}),
    ("K3", "receipt-k3-prefix-queries", {f"{COUNTED}.prefixHits": 8195}),
    ("K4", "receipt-k4-positions", {f"{COUNTED}.acceptedPerPosition": [45, 24]}),
    ("K4", "receipt-k4-positions", {f"{COUNTED}.acceptedTokens": 71}),
    ("K5", "receipt-k5-drafts", {f"{COUNTED}.draftTokens": 69}),
    ("K5", "receipt-k5-drafts", {f"{COUNTED}.draftTokens": 101}),  # depth 2, 50 drafts
    ("K5", "receipt-k5-drafts", {f"{COUNTED}.drafts": 100}),
    ("K5", "receipt-k5-drafts", {f"{COUNTED}.acceptedPerPosition": [25, 45]}),
    ("K6", "receipt-k6-conservation", {f"{COUNTED}.drafts": 48}),  # -1 token
    ("K6", "receipt-k6-conservation", {f"{COUNTED}.drafts": 52}),  # 3 at depth 2
    ("K6", "receipt-k6-conservation", {f"{USAGE}.completionTokens": 122}),
    ("K7", "receipt-k7-one-epoch", {f"{ROW}.epoch": receipts.digest("boot again")}),
    ("K7", "receipt-k7-one-epoch", {f"{ROW}.idleBefore": False}),
    ("K7", "receipt-k7-one-epoch", {f"{COUNTED}.running": 1}),
    ("K9", "receipt-k9-prompt-parts", {f"{COUNTED}.localCompute": 8193}),
    ("K9", "receipt-k9-prompt-parts", {f"{COUNTED}.localHit": 64}),
    ("K9", "receipt-k9-prompt-parts", {f"{COUNTED}.external": 1}),
    ("K12", "receipt-k12-totals", {f"{USAGE}.totalTokens": 8315}),
    ("K12", "receipt-k12-totals", {f"{USAGE}.completionTokens": 119, f"{USAGE}.totalTokens": 8313}),
    ("K12", "receipt-k12-totals", {f"{ROW}.cap": 119}),
    ("K12", "receipt-k12-totals", {f"{ROW}.cap": 121}),  # finished by length below it
    ("K13", "receipt-k13-same-process", {"arms.1.restarts": 1}),
    ("K13", "receipt-k13-same-process", {"arms.1.oomKills": 1}),
    ("K13", "receipt-k13-same-process", {"arms.1.containerAfter": receipts.digest("another")}),
    ("K14", "receipt-k14-pressure", {"arms.1.preemptions": None}),
    ("K14", "receipt-k14-pressure", {"arms.1.swaps": ...}),
    ("K14", "receipt-k14-pressure", {"arms.1.transportFaults": None}),
]
UNCHECKABLE: Final[list[tuple[str, dict[str, Any]]]] = [
    ("K1", {"samples": []}),
    ("K2", {f"{COUNTED}.requestSuccess": None}),
    ("K2", {f"{ROW}.counterDeltas": ...}),
    ("K3", {f"{COUNTED}.prefixQueries": None}),
    ("K3", {f"{COUNTED}.prefixHits": None}),
    ("K3", {f"{ROW}.usage": None}),
    ("K4", {f"{COUNTED}.acceptedPerPosition": ...}),
    ("K5", {f"{ROW}.depth": ...}),
    ("K5", {f"{COUNTED}.draftTokens": None}),
    ("K6", {f"{ROW}.depth": None}),
    ("K6", {f"{USAGE}.completionTokens": None}),
    ("K7", {f"{ROW}.epoch": ...}),
    ("K7", {f"{ROW}.idleBefore": ...}),
    ("K9", {f"{COUNTED}.external": None}),
    ("K9", {f"{USAGE}.promptTokens": None}),
    ("K12", {f"{ROW}.usage": None}),
    ("K12", {f"{ROW}.cap": ...}),  # finished by length, at what?
    ("K13", {"arms.2.restarts": None}),
    ("K13", {"arms.2.containerAfter": ...}),
    ("K13", {"arms": []}),
    ("K14", {"arms": []}),
]
#: What the field really publishes, and what is no mistake.
HOLDS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("K1", {USAGE: dict.fromkeys(("promptTokens", "completionTokens", "totalTokens"))}),
    ("K1", {USAGE: None}),
    ("K2", {f"{ROW}.status": "failed", f"{COUNTED}.requestSuccess": 0}),
    ("K5", {f"{COUNTED}.draftTokens": 100}),
    ("K5", {f"{COUNTED}.acceptedPerPosition": [35, 35]}),
    ("K6", {f"{COUNTED}.drafts": 51}),  # 2 at depth 2: all that a last draft may lose
    ("K6", {f"{COUNTED}.drafts": 49}),
    ("K6", {f"{ROW}.depth": 0, f"{COUNTED}.drafts": 0}),  # nothing is drafted
    ("K12", {f"{ROW}.finishReason": "stop", f"{ROW}.cap": 121}),
    ("K13", {"arms.1.restarts": 1, "arms.1.state": "invalid"}),  # kept, and said to be invalid
    ("K14", {"arms.1.preemptions": 7}),  # recorded
]


def changed(changes: dict[str, Any], document: Json | None = None) -> Json:
    document = document or receipts.sound()
    for path, value in changes.items():
        receipts.change(document, path, value)
    return document


@pytest.mark.parametrize(("rule", "expected", "changes"), BROKEN)
def test_broken(rule: str, expected: str, changes: dict[str, Any]) -> None:
    answer = receipts.answer(rule, changed(changes))
    assert isinstance(answer, Broken), answer
    assert code(rule, answer) == expected


@pytest.mark.parametrize(("rule", "changes"), UNCHECKABLE)
def test_uncheckable(rule: str, changes: dict[str, Any]) -> None:
    answer = receipts.answer(rule, changed(changes))
    assert isinstance(answer, Uncheckable), answer


@pytest.mark.parametrize(("rule", "changes"), HOLDS)
def test_must_not_fire(rule: str, changes: dict[str, Any]) -> None:
    assert isinstance(receipts.answer(rule, changed(changes)), Holds)


@pytest.mark.parametrize("rule", [f"K{n}" for n in range(1, 16)])
def test_does_not_apply_to_commands_and_suites(rule: str) -> None:
    assert rule in DOES_NOT_APPLY[Kind.TIMING]
    assert rule in DOES_NOT_APPLY[Kind.TESTS]
    assert rule not in DOES_NOT_APPLY[Kind.SERVING]


def test_a_sample_names_itself_and_others_are_counted() -> None:
    document = receipts.sound()
    for row in document["predicate"]["samples"][3:13]:
        row["counterDeltas"]["requestSuccess"] = 3
    answer = receipts.answer("K2", document)
    assert isinstance(answer, Broken)
    assert answer.path == "samples[3]"
    assert "and 7 more" in answer.got


def test_broken_wins_over_uncheckable() -> None:
    changes = {f"{COUNTED}.prefixQueries": None, "samples.7.counterDeltas.prefixQueries": 5}
    assert isinstance(receipts.answer("K3", changed(changes)), Broken)


def test_a_figure_over_missing_usage_is_null() -> None:
    figure = {
        "id": "tokens",
        "formula": "sum",
        "unit": "tokens",
        "value": None,
        "operands": {"of": {"quantity": "completionTokens", "arms": ["B1"]}},
    }
    document = receipts.sound()
    document["predicate"]["derived"].append(figure)
    row = document["predicate"]["samples"][1]
    row["usage"] = dict.fromkeys(row["usage"])
    assert isinstance(receipts.answer("K1", document), Holds)
    receipts.change(document, "derived.4.value", "840")
    answer = receipts.answer("K1", document)
    assert isinstance(answer, Broken)
    assert "1 without completionTokens" in answer.got


# ── claims ─────────────────────────────────────────────────────────────────────────────────────


def claiming(kind: str, **more: Any) -> Json:
    claim = {"id": "it", "kind": kind, "text": "so it is", "arms": ["A1"], **more}
    document = receipts.sound()
    document["predicate"]["claims"].append(claim)
    return document


def lost(rule: str, document: Json, expected: str) -> frozenset[str]:
    answer = receipts.answer(rule, document)
    assert isinstance(answer, Broken), answer
    assert code(rule, answer) == expected
    return answer.claims


#: Row 11 is a core request of arm A1, row 1 one of B1.
COLD: Final = [
    {"samples.11.usage.cachedTokens": 64},
    {"samples.11.usage.cachedTokens": None},
    {"samples.11.counterDeltas.prefixHits": 64},
    {"samples.11.counterDeltas.localCompute": 8130, "samples.11.counterDeltas.localHit": 64},
    {"samples.11.counterDeltas": ...},
]


@pytest.mark.parametrize("changes", COLD)
def test_cold_needs_every_counter(changes: dict[str, Any]) -> None:
    document = claiming("cold")
    assert isinstance(receipts.answer("K8", document), Holds)
    assert lost("K8", changed(changes, document), "receipt-k8-cold") == {"it"}


def test_cold_is_asked_of_the_arms_that_are_claimed() -> None:
    document = changed({"samples.1.usage.cachedTokens": 64}, claiming("cold"))
    assert isinstance(receipts.answer("K8", document), Holds)


def hitting(hits: int, *, grid: int | None = None, figures: bool = True) -> Json:
    """Return the receipt of a cache hit of so many tokens in every core request of A1."""
    document = claiming("cacheHit", grid=grid, **({"figures": ["hits"]} if figures else {}))
    for row in document["predicate"]["samples"]:
        if row["arm"] == "A1" and row["membership"] == "core":
            row["counterDeltas"]["prefixHits"] = hits
    figure = {
        "id": "hits",
        "formula": "sum",
        "unit": "count",
        "value": str(8 * hits),
        "operands": {"of": {"quantity": "prefixHits", "arms": ["A1"]}},
    }
    document["predicate"]["derived"].append(figure)
    return document


@pytest.mark.parametrize(("hits", "grid"), [(7168, 3584), (11_904, 64), (4736, 64), (8325, None)])
def test_a_counted_hit_on_its_grid_holds(hits: int, grid: int | None) -> None:
    assert isinstance(receipts.answer("K10", hitting(hits, grid=grid)), Holds)


def test_a_hit_is_counted_and_on_its_grid() -> None:
    name = "receipt-k10-cache-hit"
    assert lost("K10", hitting(11_904, grid=3584), name) == {"it"}
    assert lost("K10", hitting(3589, grid=64), name) == {"it"}
    assert lost("K10", hitting(0), name) == {"it"}
    assert lost("K10", hitting(7168, figures=False), name) == {"it"}
    uncounted = changed({"samples.11.counterDeltas.prefixHits": None}, hitting(7168))
    assert lost("K10", uncounted, name) == {"it"}


@pytest.mark.parametrize("formula", ["rate", "median"])
def test_a_prefill_rate_of_cached_prompts_is_null(formula: str) -> None:
    selection = {"arms": ["A1"], "cases": ["short"]}
    operands: Json = {"of": {"quantity": "prefillRate", **selection}}
    if formula == "rate":
        pairs = (("amount", "promptTokens"), ("microseconds", "ttft"))
        operands = {name: {"quantity": quantity, **selection} for name, quantity in pairs}
    figure = {"id": "prefill", "formula": formula, "unit": "tokens/s", "operands": operands}
    document = receipts.sound()
    document["predicate"]["derived"].append({**figure, "value": "2047.2"})
    assert isinstance(receipts.answer("K11", document), Holds)
    receipts.change(document, "samples.11.usage.cachedTokens", 7168)
    assert lost("K11", document, "receipt-k11-prefill-cached") == frozenset()
    receipts.change(document, "samples.11.usage.cachedTokens", None)
    assert isinstance(receipts.answer("K11", document), Uncheckable)
    receipts.change(document, "derived.4.value", None)
    assert isinstance(receipts.answer("K11", document), Holds)


def through_sums(amount: str) -> Json:
    """Return the sound receipt with a rate of two sums that are figures themselves."""
    document = receipts.sound()
    for name, quantity, unit in (("tokens", amount, "tokens"), ("time", "ttft", "us")):
        of = {"quantity": quantity, "arms": ["A1"], "cases": ["short"]}
        figure = {"id": name, "formula": "sum", "unit": unit, "value": None, "operands": {"of": of}}
        document["predicate"]["derived"].append(figure)
    operands = {"amount": {"figure": "tokens"}, "microseconds": {"figure": "time"}}
    rate = {"id": "rate", "formula": "rate", "unit": "tokens/s", "operands": operands}
    document["predicate"]["derived"].append({**rate, "value": "2047.22"})
    return document


def test_a_rate_of_figures_is_followed_to_its_samples() -> None:
    document = through_sums("promptTokens")
    assert isinstance(receipts.answer("K11", document), Holds)
    assert isinstance(receipts.answer("D6", document), Holds)
    receipts.change(document, "samples.11.usage.cachedTokens", 7168)
    assert lost("K11", document, "receipt-k11-prefill-cached") == frozenset()
    assert isinstance(receipts.answer("D6", through_sums("completionTokens")), Broken)


def test_what_is_not_recorded_limits_the_claims_of_that_arm() -> None:
    document = changed({"arms.1.swaps": ...})
    assert lost("K14", document, "receipt-k14-pressure") == {"faster"}
    receipts.change(document, "claims.0.arms", ["B1", "B2"])
    assert lost("K14", document, "receipt-k14-pressure") == frozenset()


def test_resident_at_once_needs_one_scrape() -> None:
    name = "receipt-k15-resident"
    document = claiming("residency", resident={"requests": 4, "tokens": 512_000})
    assert lost("K15", document, name) == {"it"}
    scrape = {"arm": "A1", "running": 4, "cacheUse": "0.77226", "cacheTokens": 675_840}
    document["predicate"]["scrapes"] = [scrape]
    assert isinstance(receipts.answer("K15", document), Holds)
    for path, value in {
        "scrapes.0.running": 3,
        "scrapes.0.arm": "B1",
        "scrapes.0.cacheUse": "0.757",  # 511,611 tokens
        "scrapes.0.cacheTokens": None,
        "claims.1.resident": ...,
    }.items():
        spoilt = changed({path: value}, {**document, "predicate": {**document["predicate"]}})
        assert lost("K15", spoilt, name) == {"it"}
        document["predicate"]["scrapes"] = [dict(scrape)]


# ── laws ───────────────────────────────────────────────────────────────────────────────────────


def drafting(drafted: int, drafts: int, accepted: list[int], completion: int) -> Json:
    counters = {
        "requestSuccess": 1,
        "drafts": drafts,
        "draftTokens": drafted,
        "acceptedTokens": sum(accepted),
        "acceptedPerPosition": accepted,
    }
    usage = {"completionTokens": completion}
    return {"status": "complete", "depth": 2, "counterDeltas": counters, "usage": usage}


def test_463_tokens_drafted_at_depth_2() -> None:
    """Drafts may be shorter than their depth: the record of 0xSero's mosaic has 463 in 232."""
    row = drafting(463, 232, [200, 160], 592)
    assert k5_drafts(row) is None
    assert k6_conservation(row) is None


@given(st.lists(st.tuples(st.integers(1, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_every_run_of_a_server_that_drafts_is_conserved(steps: list[tuple[int, int]]) -> None:
    """One token of the prompt, then a draft and what is accepted of it, and one token more."""
    taken = [min(drafted, accepted) for drafted, accepted in steps]
    completion = 1 + sum(1 + accepted for accepted in taken)
    positions = [sum(accepted > place for accepted in taken) for place in range(2)]
    row = drafting(sum(d for d, _ in steps), len(steps), positions, completion)
    assert k5_drafts(row) is None
    assert k6_conservation(row) is None


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_no_answer(random: Any) -> None:
    document = changed({f"{ROW}.epoch": receipts.digest("x"), "samples.30.cap": 119})
    rules = [rule for rule in RULES if rule.id[0] in "KD"]
    study = receipts.opened(document)
    before = {rule.id: type(rule.answer(study)) for rule in rules}
    random.shuffle(document["predicate"]["samples"])
    study = receipts.opened(document)
    assert {rule.id: type(rule.answer(study)) for rule in rules} == before


PLACES: Final[list[Callable[[Json], tuple[Json, str]]]] = [
    *(lambda row, name=name: (row["usage"], name) for name in ("promptTokens", "totalTokens")),
    *(
        lambda row, name=name: (row["counterDeltas"], name)
        for name in ("prefixQueries", "localCompute", "localHit", "acceptedTokens")
    ),
    lambda row: (row["timingUs"], "ttft"),
]


@settings(max_examples=40)
@given(st.integers(0, 39), st.sampled_from(PLACES), st.sampled_from([-1, 1, 1_000_000]))
def test_a_changed_number_of_a_cited_sample_is_caught(
    number: int, place: Callable[[Json], tuple[Json, str]], by: int
) -> None:
    """Any rule may catch it; a time that moves no median moves nothing that is published."""
    document = receipts.sound()
    group, name = place(document["predicate"]["samples"][number])
    if group[name] + by < 0 or (name == "ttft" and by != 1_000_000):
        return
    group[name] += by
    study = receipts.opened(document)
    answers = {rule.id: rule.answer(study) for rule in RULES}
    moved = [c for c in study.figures.values() if c.state.value != "recomputed"]
    if name == "ttft" and not moved:
        return
    assert any(isinstance(answer, Broken) for answer in answers.values())
