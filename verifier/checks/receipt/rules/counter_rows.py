"""Rules K that look at one sample at a time: usage, counters, and what they say of each other.

Only a completed request has usage and counters that can be asked about. On the good path nothing
is made: a hundred thousand rows pass through here. Sources: the seeds and TheGrill's
PROVIDER-ACCOUNTING.md, as receipts.md §2 K lists them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from verifier.checks.receipt.document.model import ClaimKind, Figure, Operand, Receipt
from verifier.checks.receipt.numbers.alike import Ask, Missing, RowRule
from verifier.checks.receipt.numbers.samples import Row
from verifier.checks.receipt.rules.made_of import arms_of, side

_NOTHING: Final[dict[str, Any]] = {}
_USAGE: Final = Missing("usage")
_COUNTERS: Final = Missing("counters")
_DEPTH: Final = Missing("depth")
_COMPLETE: Final = "complete"


def row_rules(receipt: Receipt) -> Iterable[RowRule]:
    """Return the id of each rule and its function; one about a claim has that claim's id too."""
    yield RowRule("K1", k1_null)
    yield RowRule("K2", k2_success)
    yield RowRule("K3", k3_prefix)
    yield RowRule("K4", k4_positions)
    yield RowRule("K5", k5_drafts)
    yield RowRule("K6", k6_conservation)
    yield RowRule("K7", k7_epoch())
    yield RowRule("K9", k9_prompt)
    yield RowRule("K12", k12_total)
    for claim in receipt.claims:
        if claim.kind is ClaimKind.COLD:
            yield RowRule(f"K8 {claim.id}", k8_cold, _core_of(arms_of(receipt, claim)))
    for figure in receipt.figures:
        selections = prefill(receipt, figure)
        if selections and figure.value is not None:
            yield RowRule(f"K11 {figure.id}", k11_cached, _any_of(selections))


def k1_null(row: Row) -> str | Missing | None:
    """Ask that missing usage is null, never 0, and that no total stands over it."""
    usage = row.get("usage")
    if not usage:
        return None
    prompt = usage.get("promptTokens")
    if prompt == 0:
        return "0 prompt tokens: every request has a prompt"
    completion = usage.get("completionTokens")
    if (prompt is None or completion is None) and usage.get("totalTokens") is not None:
        return f"total {usage['totalTokens']} over usage that is missing"
    if completion == 0 and (row.get("counterDeltas") or _NOTHING).get("acceptedTokens"):
        return "0 completion tokens, of which some were accepted"
    return None


def k2_success(row: Row) -> str | Missing | None:
    """Ask that the counter of successes grew by exactly 1."""
    if row["status"] != _COMPLETE:
        return None
    found = (row.get("counterDeltas") or _NOTHING).get("requestSuccess")
    if found == 1:
        return None
    return _COUNTERS if found is None else f"{found} successes counted for one request"


def k3_prefix(row: Row) -> str | Missing | None:
    """Ask that the queries of the prefix cache are the prompt, and hits no more than those."""
    if row["status"] != _COMPLETE:
        return None
    counters = row.get("counterDeltas") or _NOTHING
    queries, hits = counters.get("prefixQueries"), counters.get("prefixHits")
    if queries is None:
        return _COUNTERS
    if hits is not None and hits > queries:
        return f"{hits} prefix hits of {queries} queries"
    prompt = (row.get("usage") or _NOTHING).get("promptTokens")
    if prompt is None:
        return _USAGE
    if queries != prompt:
        return f"{queries} prefix queries for a prompt of {prompt}"
    return _COUNTERS if hits is None else None


def k4_positions(row: Row) -> str | Missing | None:
    """Ask that the tokens accepted at each position add up to all that were accepted."""
    if row["status"] != _COMPLETE:
        return None
    counters = row.get("counterDeltas") or _NOTHING
    positions = counters.get("acceptedPerPosition")
    # Where there are none nothing else is looked at: it is one answer for all such rows (alike).
    accepted = None if positions is None else counters.get("acceptedTokens")
    if positions is None or accepted is None:
        return _COUNTERS
    total = sum(positions)
    return None if total == accepted else f"{total} accepted by position, {accepted} in all"


def k5_drafts(row: Row) -> str | Missing | None:
    """Ask that no more was accepted than drafted, nor drafted than the depth allows."""
    if row["status"] != _COMPLETE:
        return None
    counters = row.get("counterDeltas") or _NOTHING
    drafted, positions = counters.get("draftTokens"), counters.get("acceptedPerPosition")
    return _COUNTERS if drafted is None and positions is None else _k5_compared(row, counters)


def _k5_compared(row: Row, counters: Mapping[str, Any]) -> str | Missing | None:
    drafted, positions = counters.get("draftTokens"), counters.get("acceptedPerPosition")
    accepted, drafts, depth = (
        counters.get("acceptedTokens"),
        counters.get("drafts"),
        row.get("depth"),
    )
    if accepted is not None and drafted is not None and accepted > drafted:
        return f"{accepted} accepted of {drafted} drafted"
    if drafts is not None and drafted is not None and not _drafted(drafts, drafted, depth):
        return f"{drafted} tokens drafted in {drafts} drafts of depth {depth}"
    if positions and any(positions[n] < positions[n + 1] for n in range(len(positions) - 1)):
        return f"more accepted at a later position: {', '.join(map(str, positions))}"
    if accepted is None or drafted is None or drafts is None or positions is None:
        return _COUNTERS
    return _DEPTH if depth is None else None


def _drafted(drafts: int, drafted: int, depth: int | None) -> bool:
    """Whether as many tokens can be drafted; a draft may be shorter than its depth."""
    return drafts <= drafted and (depth is None or drafted <= depth * drafts)


def k6_conservation(row: Row) -> str | Missing | None:
    """Ask that requests, drafts and accepted tokens account for the output, to the last draft.

    The last draft of a request may be cut off by its end, hence up to `depth` tokens more. A
    server that drafts nothing (depth 0) has nothing to account for.
    """
    depth = row.get("depth")
    if row["status"] != _COMPLETE or depth == 0:
        return None
    counters = row.get("counterDeltas") or _NOTHING
    completion = (row.get("usage") or _NOTHING).get("completionTokens")
    requests, drafts = counters.get("requestSuccess"), counters.get("drafts")
    accepted = counters.get("acceptedTokens")
    if requests is None or drafts is None or accepted is None:
        return _COUNTERS
    if completion is None:
        return _USAGE
    over = requests + drafts + accepted - completion
    if over < 0:
        return f"{-over} tokens more than {drafts} drafts and {accepted} accepted account for"
    if depth is None:
        return _DEPTH
    return None if over <= depth * requests else f"{over} tokens counted that were not put out"


def k7_epoch() -> Ask:
    """Ask that all counters of an arm are of one epoch, and that the server was idle before."""
    epochs: dict[str, str] = {}

    def ask(row: Row) -> str | Missing | None:
        epoch = row.get("epoch")
        if epoch is not None:
            found: str = epoch.get("sha256", "")
            if epochs.setdefault(row["arm"], found) != found:
                return f"counters of another epoch than others of arm {row['arm']}"
        if row.get("idleBefore") is False:
            return "the server was not idle before"
        running = (row.get("counterDeltas") or _NOTHING).get("running")
        if running:
            return f"{running} requests were running before"
        if row["status"] == _COMPLETE and (epoch is None or "idleBefore" not in row):
            return Missing("epoch" if epoch is None else "idleBefore")
        return None

    return ask


def _core_of(arms: frozenset[str]) -> Callable[[Row], bool]:
    """Tell the completed core requests of these arms."""
    return lambda row: (
        row["status"] == _COMPLETE and row["membership"] == "core" and row["arm"] in arms
    )


def k8_cold(row: Row) -> str | Missing | None:
    """Ask of a claim's core request that nothing of its prompt was cached, by all counters."""
    usage, counters = row.get("usage") or _NOTHING, row.get("counterDeltas") or _NOTHING
    cached, hits = usage.get("cachedTokens"), counters.get("prefixHits")
    computed, prompt = counters.get("localCompute"), usage.get("promptTokens")
    if cached == 0 and hits == 0 and computed is not None and computed == prompt:
        return None
    if cached is None or hits is None or computed is None or prompt is None:
        return "no cached tokens, hits or computed tokens are counted"
    return f"{cached} cached, {hits} hits, {computed} computed of {prompt}"


def k9_prompt(row: Row) -> str | Missing | None:
    """Ask that the prompt is what was computed, found here, and brought from elsewhere."""
    if row["status"] != _COMPLETE:
        return None
    counters = row.get("counterDeltas") or _NOTHING
    computed, local = counters.get("localCompute"), counters.get("localHit")
    external = counters.get("external")
    if computed is None or local is None or external is None:
        return _COUNTERS
    prompt = (row.get("usage") or _NOTHING).get("promptTokens")
    if prompt is None:
        return _USAGE
    if computed + local + external != prompt:
        return f"{computed} computed, {local} hit and {external} brought for a prompt of {prompt}"
    return None


def prefill(receipt: Receipt, figure: Figure) -> tuple[Operand, ...]:
    """Return which samples a figure takes a prefill rate of, nothing if it is none."""
    if figure.formula != "rate":
        return tuple(each for each in figure.operands.values() if each.quantity == "prefillRate")
    amounts, times = (side(receipt, figure, name) for name in ("amount", "microseconds"))
    prompts = {each.quantity for each in amounts} == {"promptTokens"}
    return amounts if prompts and {each.quantity for each in times} == {"ttft"} else ()


def _any_of(operands: tuple[Operand, ...]) -> Callable[[Row], bool]:
    """Tell the completed requests that any of these operands selects."""
    return lambda row: (
        row["status"] == _COMPLETE and any(_selects(operand, row) for operand in operands)
    )


def _selects(operand: Operand, row: Row) -> bool:
    return (
        row["membership"] == operand.membership
        and (not operand.arms or row["arm"] in operand.arms)
        and (not operand.cases or row["case"] in operand.cases)
    )


def k11_cached(row: Row) -> str | Missing | None:
    """Ask that no prompt of a prefill rate was partly cached (TheGrill's evidence.rs)."""
    cached = (row.get("usage") or _NOTHING).get("cachedTokens")
    if cached == 0:
        return None
    return Missing("cachedTokens") if cached is None else f"{cached} prompt tokens were cached"


def k12_total(row: Row) -> str | Missing | None:
    """Ask that the tokens add up, and that the output is no longer than its cap (TheGrill)."""
    if row["status"] != _COMPLETE:
        return None
    usage = row.get("usage") or _NOTHING
    prompt, completion = usage.get("promptTokens"), usage.get("completionTokens")
    total, cap = usage.get("totalTokens"), row.get("cap")
    parts = None if prompt is None or completion is None else prompt + completion
    if total is not None and parts is not None and total != parts:
        return f"total {total}, of {prompt} and {completion}"
    by_length = row.get("finishReason") == "length"
    if cap is not None and completion is not None:
        if completion > cap:
            return f"{completion} tokens of at most {cap}"
        if by_length and completion < cap:
            return f"finished by length at {completion} of {cap}"
    if total is None or parts is None:
        return _USAGE
    return Missing("cap") if by_length and cap is None else None
