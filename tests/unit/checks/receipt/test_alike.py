"""What is asked once of rows that are alike is what would be told of each of them."""

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import receipts

from verifier.checks.receipt.document.reading import receipt
from verifier.checks.receipt.numbers import alike, tally
from verifier.checks.receipt.numbers.alike import Missing, RowRule
from verifier.checks.receipt.numbers.samples import GROUPS, Row, mistake
from verifier.checks.receipt.numbers.tally import Noted, Tally
from verifier.checks.receipt.rules.rows import row_rules

DOCUMENT = receipts.sound()
RULES = tuple(
    row_rules(
        receipt(
            {k: v for k, v in DOCUMENT["predicate"].items() if k != "samples"},
            {each["name"]: each["digest"] for each in DOCUMENT["subject"]},
            what="receipt",
        ),
        receipts.beside(),
    )
)
ROWS = receipts.samples()
NUMBERS = st.sampled_from([None, 0, 1, 50, 8_194])
KEYS = sorted({key for row in ROWS for key in row} - set(alike.SHARED))
CHANGES = st.one_of(
    st.tuples(st.sampled_from(KEYS), st.just(...)),
    st.tuples(st.sampled_from(["cap", "depth", "attempt", "httpStatus", "usage"]), st.none()),
    st.tuples(st.sampled_from(["attempt", "depth", "cap"]), st.integers(0, 3)),
    st.tuples(st.just("status"), st.sampled_from(["failed", "cancelled", "truncated"])),
    st.tuples(st.just("membership"), st.sampled_from(["warmup", "exploratory"])),
    *(
        st.tuples(st.just(f"{group}.{name}"), st.one_of(NUMBERS, st.just(...)))
        for group in GROUPS
        for name in ROWS[0][group]
        if name != "acceptedPerPosition"
    ),
)


def changed(row: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(dict(row))
    *above, last = path.split(".")
    place = made
    for name in above:
        place = place.get(name) or {}
    if value is ...:
        place.pop(last, None)
    else:
        place[last] = value
    return made


def one_by_one(rows: list[Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Ask every rule of every row, and share nothing."""
    broken: dict[str, Noted] = {}
    missing: dict[str, Noted] = {}
    for number, row in enumerate(rows):
        for rule in RULES:
            answer = rule.ask(row) if rule.where is None or rule.where(row) else None
            if isinstance(answer, Missing):
                missing.setdefault(rule.id, Noted()).add(number, answer.what)
            elif answer is not None:
                broken.setdefault(rule.id, Noted()).add(number, answer)
    return told(broken), told(missing)


def told(noted: Mapping[str, Noted]) -> dict[str, str]:
    return {rule: f"{each.count}: {each}" for rule, each in noted.items()}


@given(st.lists(st.tuples(st.integers(0, 39), CHANGES), max_size=30), st.sampled_from([1, 3, 4096]))
def test_rows_that_are_alike_are_told_the_same_of(
    changes: list[tuple[int, tuple[str, Any]]], kinds: int
) -> None:
    rows: list[Any] = copy.deepcopy(ROWS) * 2
    for at, (path, value) in changes:
        rows[at] = changed(rows[at], path, value)
    rows = [row for row in rows if not mistake(row)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "ROW_KINDS", kinds)
        found = Tally((), RULES)
        found.see_all(rows)
    assert (told(found.broken), told(found.uncheckable)) == one_by_one(rows)
    assert found.places.total() == found.rows == len(rows)
    assert found.complete.total() == sum(row["status"] == "complete" for row in rows)


def test_rules_with_one_question_are_asked_it_once() -> None:
    asked = []

    def ask(row: Row) -> None:
        asked.append(row["cap"])

    rules = [RowRule(name, ask, lambda row: row["arm"] == "B1") for name in ("one", "two")]
    Tally((), rules).see_all(ROWS)
    of_arm = [row["cap"] for row in ROWS if row["arm"] == "B1"]
    kinds = len({alike.kind(row) for row in ROWS if row["arm"] == "B1"})
    assert len(asked) == len(of_arm) + 2 * kinds


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("usage", ["promptTokens", "completionTokens", "totalTokens", "cachedTokens"]),
        ("usage.promptTokens", -1),
        ("usage.promptTokens", True),
        ("timingUs.ttft", "3"),
        ("cap", -1),
        ("cap", False),
        ("arm", ["B1"]),
        ("arm", {}),
        ("status", None),
    ],
)
def test_a_malformed_row_like_a_sound_one_is_found(path: str, value: Any) -> None:
    rows: list[Any] = copy.deepcopy(ROWS) * 2
    rows[45] = changed(rows[45], path, value)
    assert mistake(rows[45])
    with pytest.raises(tally.MalformedSamplesError, match=r"^samples\[45\]: "):
        Tally((), RULES).see_all(rows)
