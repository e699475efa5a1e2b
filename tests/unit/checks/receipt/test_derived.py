"""Rules D: figures of samples, of displayed numbers, and of each other."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import receipts

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY

Json = dict[str, Any]
#: Places of the sound receipt's figures.
MEDIAN, CHANGE, LENGTH = "derived.0", "derived.2", "derived.3"


def code(rule: str, answer: Answer) -> str:
    assert isinstance(answer, Broken), answer
    return next(each for each in RULES if each.id == rule).code(answer.condition)


def changed(changes: dict[str, Any], document: Json | None = None) -> Json:
    document = document or receipts.sound()
    for path, value in changes.items():
        receipts.change(document, path, value)
    return document


def figure(formula: str, value: str | None, unit: str, **more: Any) -> Json:
    """Return the sound receipt with one more figure, derived.4, that its claim cites."""
    document = receipts.sound()
    operands = more.pop("operands")
    document["predicate"]["derived"].append(
        {"id": "it", "formula": formula, "value": value, "unit": unit, "operands": operands, **more}
    )
    document["predicate"]["claims"][0]["figures"].append("it")
    return document


def of(quantity: str, *arms: str, **more: Any) -> Json:
    return {"quantity": quantity, "arms": list(arms), "cases": ["short"], **more}


def shown(value: str, *arms: str) -> Json:
    return {"value": value, "arms": list(arms)}


CORE: Final = of("ttft", "B1")
CLIENT: Final = {"clock": "client monotonic, with API and network"}
RATE: Final = {"amount": of("promptTokens", "A1"), "microseconds": of("ttft", "A1")}
#: 8,194 x 4 tokens in 4.001 + 4.002 + 4.003 + 4.004 seconds.
PREFILL: Final = "2047.220"


def rate(value: str = PREFILL, **operands: Json) -> Json:
    scope = {"scope": "aggregate", **CLIENT}
    return figure("rate", value, "tokens/s", operands={**RATE, **operands}, **scope)


BROKEN: Final[list[tuple[str, str, Json]]] = [
    ("D1", "receipt-d1-recomputed", changed({f"{MEDIAN}.value": "3012501"})),
    ("D1", "receipt-d1-recomputed", changed({f"{CHANGE}.value": "-25.10"})),
    ("D1", "receipt-d1-recomputed", changed({"samples.2.timingUs.ttft": 3_014_001})),
    ("D1", "receipt-d1-recomputed-unit", changed({f"{MEDIAN}.unit": "ms"})),
    ("D1", "receipt-d1-recomputed-unit", changed({f"{CHANGE}.unit": "ms"})),
    ("D3", "receipt-d3-median", changed({f"{MEDIAN}.value": "3004000"})),
    (
        "D3",
        "receipt-d3-median-core",
        changed(
            {f"{MEDIAN}.operands.of.membership": "warmup", f"{MEDIAN}.value": "3010000"}
            | {"claims.0.figures": ["ttftOn"]}
        ),
    ),
    ("D4", "receipt-d4-change", changed({f"{CHANGE}.value": "33.53"})),  # the other way round
    ("D4", "receipt-d4-change-direction", changed({f"{CHANGE}.better": "higher"})),
    ("D4", "receipt-d4-change-direction", changed({"claims.0.kind": "regression"})),
    (
        "D4",
        "receipt-d4-change-baseline",
        figure(
            "change",
            "0.0",
            "%",
            operands={"candidate": of("ttft", "B1"), "baseline": of("ttft", "B1")},
        ),
    ),
    (
        "D4",
        "receipt-d4-change-baseline",
        figure(
            "change",
            "-20.6",
            "%",
            operands={"candidate": shown("11.5", "B1"), "baseline": shown("14.5", "C9")},
        ),
    ),
    ("D5", "receipt-d5-acceptance-length", changed({f"{LENGTH}.value": "2.3"})),
    (
        "D5",
        "receipt-d5-acceptance-length-ratios",
        figure("mean", "2.4", "tokens/step", operands={"of": of("acceptanceLength", "B1")}),
    ),
    (
        "D5",
        "receipt-d5-acceptance-length-window",
        changed({f"{LENGTH}.operands.drafts.arms": ["A1", "A2"]}),
    ),
    ("D6", "receipt-d6-rate", rate("2046.7")),  # 8,192 tokens: the label of the context
    ("D6", "receipt-d6-rate-operands", rate(amount={"value": "32768"})),
    ("D6", "receipt-d6-rate-operands", rate(amount=of("completionTokens", "A1"))),
    ("D6", "receipt-d6-rate-operands", rate(amount=of("promptTokens", "A2"))),
    ("D7", "receipt-d7-label", changed({"derived.4.scope": ...}, rate())),
    (
        "D8",
        "receipt-d8-normalised-decode",
        figure(
            "normalisedDecode",
            "21.00",
            "steps/s",
            operands={"rate": shown("51.2"), "acceptanceLength": shown("2.40")},
        ),
    ),
    (
        "D8",
        "receipt-d8-normalised-decode-window",
        figure(
            "normalisedDecode",
            "21.33",
            "steps/s",
            operands={"rate": shown("51.2", "A1"), "acceptanceLength": shown("2.40", "B1")},
        ),
    ),
    (
        "D9",
        "receipt-d9-geometric-mean",
        figure(
            "geometricMean",
            "3012500",
            "us",
            operands={"of": {**of("ttft", "B1"), "cases": ["short", "longest"]}},
        ),
    ),
    (
        "D9",
        "receipt-d9-geometric-mean",
        figure("geometricMean", "3002501", "us", operands={"of": of("ttft", "B1")}),
    ),
    ("D10", "receipt-d10-client-clock", changed({f"{MEDIAN}.clock": "client monotonic"})),
]


@pytest.mark.parametrize(("rule", "expected", "document"), BROKEN)
def test_broken(rule: str, expected: str, document: Json) -> None:
    assert code(rule, receipts.answer(rule, document)) == expected


ITSELF: Final = {"figure": "ttftChange"}
UNCHECKABLE: Final[list[tuple[str, Json]]] = [
    ("D1", changed({"samples.2.timingUs.ttft": None})),
    ("D1", changed({f"{MEDIAN}.operands.of.arms": ["C9"]})),
    ("D1", changed({f"{CHANGE}.operands.baseline": {"figure": "nothing"}})),
    ("D1", changed({f"{CHANGE}.operands": dict.fromkeys(("candidate", "baseline"), ITSELF)})),
    (
        "D2",
        figure("ratio", "1.0", "x", operands={"candidate": shown("1.0"), "baseline": shown("0.0")}),
    ),
    ("D3", changed({"samples.2.timingUs.ttft": None})),
    ("D4", changed({f"{CHANGE}.better": ...})),
    (
        "D4",
        figure(
            "change",
            "-20.6",
            "%",
            better="lower",
            operands={"candidate": shown("11.5"), "baseline": shown("14.5")},
        ),
    ),
    ("D5", changed({"samples.2.counterDeltas.drafts": None})),
    ("D6", changed({"derived.4.clock": ..., "environment.clock": ...}, rate())),
    ("D6", changed({"samples.12.usage.promptTokens": None}, rate())),
    (
        "D8",
        figure(
            "normalisedDecode",
            "21.33",
            "steps/s",
            operands={"rate": shown("51.2"), "acceptanceLength": shown("0.0")},
        ),
    ),
    (
        "D9",
        figure(
            "geometricMean",
            "4245292",
            "us",
            operands={"of": {"quantity": "ttft", "arms": ["B1"]}},
        ),
    ),
    ("D10", changed({f"{MEDIAN}.clock": ..., "environment.clock": ...})),
]


@pytest.mark.parametrize(("rule", "document"), UNCHECKABLE)
def test_uncheckable(rule: str, document: Json) -> None:
    assert isinstance(receipts.answer(rule, document), Uncheckable)


HOLDS: Final[list[tuple[str, Json]]] = [
    ("D1", changed({f"{MEDIAN}.value": None, f"{CHANGE}.value": None})),
    ("D1", changed({f"{CHANGE}.value": "-25"})),
    ("D1", changed({"derived": [], "claims": [], "outcomes": []})),
    ("D6", rate()),
    ("D6", rate("2047")),
    ("D6", rate("8.194", amount={"value": "32.785"}, microseconds={"value": "4001000"})),
    ("D7", rate()),
    ("D9", figure("geometricMean", "3002500", "us", operands={"of": of("ttft", "B1")})),
    ("D10", changed({f"{MEDIAN}.clock": "server, from its own trace"})),
    (  # the change of the unchanged control, against itself
        "D4",
        figure(
            "change",
            "1.00",
            "%",
            better="lower",
            operands={"candidate": of("ttft", "A2"), "baseline": of("ttft", "A1")},
        ),
    ),
    (  # of another receipt
        "D4",
        changed(
            {
                f"{CHANGE}.operands.baseline": {"figure": "before"},
                f"{CHANGE}.value": "-25.1",
                "derived.4.copiedFrom": {
                    "receipt": receipts.digest("earlier"),
                    "figure": "ttft",
                    "value": "4022500",
                },
                "derived.4.id": "before",
                "claims.0.figures": ["ttftChange"],
            },
            figure("value", "4022500", "us", operands={"of": {"value": "4022500"}}),
        ),
    ),
]


@pytest.mark.parametrize(("rule", "document"), HOLDS)
def test_must_not_fire(rule: str, document: Json) -> None:
    answer = receipts.answer(rule, document)
    assert isinstance(answer, Holds), answer


def change(value: str, candidate: str, baseline: str) -> tuple[str, str, str, dict[str, str]]:
    return "change", value, "%", {"candidate": candidate, "baseline": baseline}


def decode(value: str, rate: str, length: str) -> tuple[str, str, str, dict[str, str]]:
    return "normalisedDecode", value, "steps/s", {"rate": rate, "acceptanceLength": length}


#: What local-inference-lab/vllm's continuation coalescing publishes, and MiaAI-Lab's #171: prefill
#: rates, times to first token, decode by acceptance length, hits. All of it follows.
PUBLISHED: Final = [
    change("51.18", "2947.3", "1949.6"),  # 51.175 %
    change("24.14", "2928.3", "2358.9"),
    change("11.82", "2923.5", "2614.5"),
    change("15.9", "3406.0", "2938.8"),
    change("14.4", "3334.7", "2914.1"),
    change("14.9", "3326.6", "2895.5"),
    change("-14.8", "4.83", "5.67"),
    change("-20.6", "2.71", "3.41"),  # -20.53 %
    change("-11.8", "5.31", "6.02"),
    ("fraction", "43.426", "%", {"part": "114688", "whole": "264100"}),
    *(
        decode(value, rate, length)
        for value, rate, length in (
            *(("17.86", "49.17", "2.75"), ("17.91", "47.37", "2.65")),
            *(("17.86", "48.46", "2.71"), ("17.89", "46.29", "2.59")),
            *(("17.82", "46.18", "2.59"), ("17.73", "45.92", "2.59")),
            *(("17.62", "47.31", "2.68"), ("17.57", "47.11", "2.68")),
            *(("43.70", "122.19", "2.80"), ("44.54", "120.18", "2.70")),
            *(("44.99", "121.17", "2.69"), ("42.99", "119.37", "2.78")),
            *(("44.34", "123.44", "2.78"), ("45.64", "125.20", "2.74")),
            *(("45.84", "123.90", "2.70"), ("45.00", "124.25", "2.76")),
        )
    ),
]
#: The same with one digit changed.
FALSE: Final = [
    change("51.19", "2947.3", "1949.6"),
    change("51.18", "2947.3", "1949.7"),
    change("-20.9", "2.71", "3.41"),
    change("20.6", "2.71", "3.41"),
    change("-14.8", "4.83", "5.76"),
    ("fraction", "43.427", "%", {"part": "114688", "whole": "264100"}),
    decode("17.96", "49.17", "2.75"),
    decode("17.86", "49.71", "2.75"),
]
SHOWN: Final = [
    *((*each, Holds) for each in PUBLISHED),
    *((*each, Broken) for each in FALSE),
    (*change("51.18", "1511.75", "1000.00"), Holds),  # a tie within the interval, either way
    (*change("51.17", "1511.75", "1000.00"), Holds),
]


@pytest.mark.parametrize(("formula", "value", "unit", "operands", "expected"), SHOWN)
def test_displayed_numbers_are_intervals(
    formula: str, value: str, unit: str, operands: dict[str, str], expected: type
) -> None:
    given = {name: shown(number) for name, number in operands.items()}
    document = figure(formula, value, unit, operands=given)
    answer = receipts.answer("D2", document)
    assert isinstance(answer, expected), answer
    if isinstance(answer, Broken):
        assert code("D2", answer) == "receipt-d2-rounding"
        assert "between" in answer.expected
    assert isinstance(receipts.answer("D1", document), Holds)
    assert isinstance(receipts.answer("D8", document), expected if "Decode" in formula else Holds)


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("3004000", "it is the lower of the middle two"),
        ("3021000", "it is the upper of the middle two"),
        ("3001000", "it is the least"),
        ("3024000", "it is the greatest"),
        ("3000000", None),
    ],
)
def test_a_wrong_median_is_explained(value: str, cause: str | None) -> None:
    answer = receipts.answer("D3", changed({f"{MEDIAN}.value": value}))
    assert isinstance(answer, Broken)
    assert answer.cause == cause


def test_a_wrong_figure_says_by_how_much_and_how_many_more() -> None:
    changes = {f"{MEDIAN}.value": "3012510", "derived.1.value": "1"}
    answer = receipts.answer("D1", changed(changes))
    assert isinstance(answer, Broken)
    assert answer.expected == "figure ttftOn = 3012500.000 us"
    assert "off by 10.000" in answer.got
    assert "1 more" in answer.got
    assert answer.path == "derived.ttftOn.value"


def test_labels_and_clocks_take_away_what_rests_on_them() -> None:
    for rule, document in (
        ("D7", changed({"derived.4.scope": ...}, rate())),
        ("D10", changed({f"{MEDIAN}.clock": "client monotonic"})),  # of which the change is made
    ):
        answer = receipts.answer(rule, document)
        assert isinstance(answer, Broken)
        assert answer.claims == {"faster"}
        receipts.change(document, "claims.0.figures", ["acceptanceOn"])
        answer = receipts.answer(rule, document)
        assert isinstance(answer, Broken)
        assert answer.claims == frozenset()


@pytest.mark.parametrize("rule", [f"D{n}" for n in range(1, 11)])
def test_applies_where_there_are_arms(rule: str) -> None:
    assert rule not in DOES_NOT_APPLY[Kind.SERVING]
    if rule not in ("D1", "D2"):
        assert rule in DOES_NOT_APPLY[Kind.TESTS]


@settings(max_examples=30)
@given(st.sampled_from([MEDIAN, "derived.1", CHANGE, LENGTH]), st.integers(0, 6), st.data())
def test_no_other_digit_of_a_figure_passes(place: str, at: int, data: Any) -> None:
    document = receipts.sound()
    value = document["predicate"]["derived"][int(place[-1])]["value"]
    at %= len(value)
    if not value[at].isdigit():
        return
    digit = data.draw(st.sampled_from(sorted(set("0123456789") - {value[at]})))
    other = value[:at] + digit + value[at + 1 :]
    if other.startswith("0") and not other.startswith("0."):
        return  # no decimal as they are written
    receipts.change(document, f"{place}.value", other)
    assert isinstance(receipts.answer("D1", document), Broken)
