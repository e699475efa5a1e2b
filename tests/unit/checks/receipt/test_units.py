"""Units of figures: what is converted, exactly, and what is refused with the units named.

Every expected value is worked out by hand from `receipts.samples`: ttft of B1 and B2 has the median
3,012,500 us, that of A1 and A2 4,022,500 us.
"""

from fractions import Fraction
from typing import Any, Final

import pytest
from support import receipts
from support.receipts import Json

from verifier.checks.receipt.answer import Broken
from verifier.checks.receipt.numbers import units
from verifier.core.table import MalformedError

UNIT: Final = "receipt-d1-recomputed-unit"
VALUE: Final = "receipt-d1-recomputed"


def samples(quantity: str, unit: str | None = None, **more: Any) -> Json:
    stated = {} if unit is None else {"unit": unit}
    return {"quantity": quantity, "arms": ["A1"], "cases": ["short"], **stated, **more}


def made(formula: str, value: str, unit: str, **operands: Json) -> Json:
    """Return the sound receipt with one more figure; four samples have values of their own."""
    document = receipts.sound()
    figure = {"formula": formula, "value": value, "unit": unit, "operands": operands}
    parameters = operands.pop("parameters", None)
    if parameters:
        figure["parameters"] = parameters
    document["predicate"]["derived"].append({"id": "it", **figure})
    for row in document["predicate"]["samples"]:
        row["values"] = {"wall": "1.5", "size": 250, "all": 2}
    return document


def relabelled(**values: str) -> Json:
    document = receipts.sound()
    for place, value in values.items():
        receipts.change(document, f"derived.{place[1:].replace('_', '.')}", value)
    return document


def shown(value: str, unit: str) -> Json:
    return {"value": value, "unit": unit, "arms": ["A1"]}


def twice(first: str, second: str, *, stated: bool = False) -> Json:
    """Return a receipt with two figures of one value of its own, in these units."""
    document = made("sum", "6", first, of=samples("values.wall", first if stated else None))
    again = samples("values.wall", second if stated else None)
    document["predicate"]["derived"].append(
        {"id": "again", "formula": "sum", "value": "6", "unit": second, "operands": {"of": again}}
    )
    return document


ON: Final = {"figure": "ttftOn"}
OFF: Final = {"figure": "ttftOff"}
SECONDS: Final = samples("values.wall", "s")
TOKENS: Final = samples("completionTokens")
HOLDING: Final = [
    relabelled(_0_unit="ms", _0_value="3012.5"),
    relabelled(_0_unit="s", _0_value="3.0125"),
    relabelled(_0_unit="s", _0_value="3.013"),
    relabelled(_0_unit="s", _0_value="3.012"),
    relabelled(_0_unit="ns", _0_value="3012500000"),
    relabelled(_0_unit="min", _0_value="0.0502"),
    # the change is of one figure in s and one in ms
    relabelled(_0_unit="s", _0_value="3.0125", _1_unit="ms", _1_value="4022.5"),
    made("difference", "-1010", "ms", candidate=ON, baseline=OFF),
    made("p95", "4.004", "s", of=samples("ttft")),
    made("mean", "4.0025", "s", of=samples("ttft")),
    made("sum", "16010", "ms", of=samples("ttft")),
    made("minimum", "4.001", "s", of=samples("ttft")),
    made("maximum", "4004", "ms", of=samples("ttft")),
    made("geometricMean", "1500", "ms", of=SECONDS),
    made("count", "4", "count", of=SECONDS),
    made("sum", "6", "s", of=samples("values.wall")),
    made("sum", "6", "furlong", of=samples("values.wall", "furlong")),
    # 4 x 250 KiB are 1,024,000 bytes
    made("sum", "1.024", "MB", of=samples("values.size", "KiB")),
    made("sum", "1000", "KiB", of=samples("values.size", "KiB")),
    # 4 x 120 tokens in 4 x 1.5 s, or ms
    made("rate", "80", "tokens/s", amount=TOKENS, microseconds=SECONDS),
    made("rate", "4800", "tokens/min", amount=TOKENS, microseconds=SECONDS),
    made("rate", "80000", "tokens/s", amount=TOKENS, microseconds=samples("values.wall", "ms")),
    made("rate", "0.16667", "kB/s", amount=samples("values.size", "B"), microseconds=SECONDS),
    # 1000 MiB of 8 GiB
    made(
        "fraction",
        "12.207",
        "%",
        part=samples("values.size", "MiB"),
        whole=samples("values.all", "GiB"),
    ),
    made("ratio", "2.66833", "times", candidate=samples("ttft"), baseline=SECONDS),
    made(
        "ratio", "16010", "us/B", candidate=samples("ttft"), baseline=samples("values.size", "kB")
    ),
    # 0.5 s + 0.2 x 4.0225 s - 1.01 s
    made(
        "toleranceMargin",
        "0.2945",
        "s",
        on=ON,
        off=OFF,
        parameters={"absolute": "0.5", "relative": "0.2"},
    ),
    made("change", "-25", "%", candidate=shown("3000", "ms"), baseline=shown("4.000", "s")),
]
REFUSED: Final = [
    (relabelled(_0_unit="s", _0_value="3.0126"), VALUE, "= 3.0125", "3.0126 s"),
    (relabelled(_0_unit="s", _0_value="3012.5"), UNIT, "= 3.0125", "its value in ms"),
    (relabelled(_0_unit="ms"), UNIT, "= 3012.5", "its value in us"),
    (relabelled(_0_unit="GB"), UNIT, "in us, ns, ms, s, min or h", "in GB"),
    (relabelled(_0_unit="sec", _0_value="3.0125"), UNIT, "in us, ns, ms, s, min or h", "in sec"),
    (relabelled(_2_unit="ms"), UNIT, "in %", "in ms"),
    (relabelled(_3_unit="tokens"), UNIT, "in tokens/step", "in tokens"),
    (made("count", "4", "samples", of=SECONDS), UNIT, "in count", "in samples"),
    (
        made("sum", "1.00", "MiB", of=samples("values.size", "kB")),
        UNIT,
        "= 0.95367",
        "its value in MB",
    ),
    (made("sum", "6", "yard", of=samples("values.wall", "furlong")), UNIT, "in furlong", "in yard"),
    (
        made("change", "1", "%", candidate=ON, baseline={"figure": "acceptanceOn"}),
        UNIT,
        "of two numbers in one unit",
        "us and tokens/step",
    ),
    (
        made("fraction", "1", "%", part=samples("values.size", "MiB"), whole=SECONDS),
        UNIT,
        "of two numbers in one unit",
        "MiB and s",
    ),
    (
        made("difference", "1", "s", candidate=ON, baseline={"figure": "acceptanceOn"}),
        UNIT,
        "in tokens/step",
        "in s",
    ),
    (made("rate", "80", "s", amount=TOKENS, microseconds=SECONDS), UNIT, "in tokens/s", "in s"),
    (
        made("rate", "80", "tokens/s", amount=TOKENS, microseconds=samples("values.size", "B")),
        UNIT,
        "a time, in us, ns, ms, s, min or h",
        "in B",
    ),
    (
        made("rate", "80", "tokens/min", amount=TOKENS, microseconds=SECONDS),
        UNIT,
        "= 4800",
        "in tokens/s",
    ),
    (twice("s", "ms"), UNIT, "values.wall in one unit", "s in it, ms in again"),
    (twice("s", "ms", stated=True), UNIT, "values.wall in one unit", "s in it, ms in again"),
]


@pytest.mark.parametrize("document", HOLDING)
def test_exact_conversions_are_recomputed(document: Json) -> None:
    said = receipts.answer("D1", document)
    assert not isinstance(said, Broken), said
    assert receipts.found("D1", document) == "holds"
    states = {f.state for f in receipts.opened(document).figures.values()}
    assert states <= {"recomputed", "within rounding"}


@pytest.mark.parametrize(("document", "code", "expected", "got"), REFUSED)
def test_what_does_not_go_together_is_refused_with_its_units(
    document: Json, code: str, expected: str, got: str
) -> None:
    said = receipts.answer("D1", document)
    assert isinstance(said, Broken)
    assert receipts.found("D1", document) == code
    assert expected in said.expected
    assert got in said.got


def test_a_value_of_ones_own_has_one_unit_wherever_it_stands() -> None:
    assert receipts.found("D1", twice("ms", "ms")) == "holds"


@pytest.mark.parametrize(
    ("operand", "why"),
    [
        (samples("ttft", "us"), "ttft is in us"),
        (samples("ttft", "s"), "ttft is in us"),
        ({"figure": "ttftOn", "unit": "us"}, "a figure has its own"),
        (samples("values.wall", ""), "unit"),
    ],
)
def test_a_unit_is_stated_only_of_what_has_none(operand: Json, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        receipts.opened(made("sum", "1", "us", of=operand))


def test_the_control_moves_in_the_unit_of_the_claim() -> None:
    """A1 and A2 lie 40 ms apart, and the claimed effect is 1,010 ms; 40,000 would be larger."""
    document = made("difference", "-1010", "ms", candidate=ON, baseline=OFF)
    document["predicate"]["derived"][-1]["better"] = "lower"
    receipts.change(document, "claims.0.figures", ["it"])
    for rule in ("A12", "N2"):
        assert receipts.found(rule, document) == "holds"


def test_medians_in_other_units_are_told_what_they_are() -> None:
    document = relabelled(_0_unit="s", _0_value="3.004")
    said = receipts.answer("D3", document)
    assert isinstance(said, Broken)
    assert said.cause == "it is the lower of the middle two"


@pytest.mark.parametrize(
    ("unit", "other", "factor"),
    [
        ("s", "us", Fraction(1_000_000)),
        ("us", "h", Fraction(1, 3_600_000_000)),
        ("GiB", "GB", Fraction(1_073_741_824, 1_000_000_000)),
        ("tokens/s", "tokens/h", Fraction(3600)),
        ("MB/s", "KiB/min", Fraction(60 * 1_000_000, 1024)),
        ("ms/token", "us/token", Fraction(1000)),
        ("tokens", "tokens", Fraction(1)),
        ("tokens", "count", None),
        ("tokens/s", "count/s", None),
        ("s", "B", None),
        ("ms/token", "ms/step", None),
        ("S", "s", None),
        ("kb", "kB", None),
        ("", "s", None),
    ],
)
def test_factors(unit: str, other: str, factor: Fraction | None) -> None:
    assert units.factor(unit, other) == factor
    back = units.factor(other, unit)
    assert back == (None if factor is None else 1 / factor)
