"""Units that are converted into each other, exactly; any other unit is only itself.

The table is closed, and every factor in it is a whole number or its inverse. Times of samples are
in us and figures mostly in ms or s; sizes are in powers of ten (kB) or of two (KiB), and the two
are never taken for each other.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from verifier.checks.receipt.document.model import Figure, Operand
from verifier.checks.receipt.numbers.quantities import QUANTITIES

_TIMES: Final = {
    "ns": Fraction(1, 1000),
    "us": Fraction(1),
    "ms": Fraction(1000),
    "s": Fraction(1_000_000),
    "min": Fraction(60_000_000),
    "h": Fraction(3_600_000_000),
}
_SIZES: Final = {
    "B": Fraction(1),
    **{name: Fraction(1000**power) for power, name in enumerate(("kB", "MB", "GB", "TB"), 1)},
    **{name: Fraction(1024**power) for power, name in enumerate(("KiB", "MiB", "GiB", "TiB"), 1)},
}
#: What else is counted, and so comes in so many a second, or takes so long each.
_COUNTED: Final = ("tokens", "count", "requests", "steps")
_EACH: Final = ("token", "request", "step")
_PER: Final = ("s", "min", "h")


def _table() -> dict[str, tuple[str, Fraction]]:
    """Return the kind of each unit, and its factor to the smallest round one of that kind."""
    table = {name: ("time", factor) for name, factor in _TIMES.items()}
    table |= {name: ("size", factor) for name, factor in _SIZES.items()}
    amounts = {name: (name, Fraction(1)) for name in _COUNTED}
    for amount, (kind, factor) in {**table, **amounts}.items():
        if kind != "time":
            for per in _PER:
                table[f"{amount}/{per}"] = (f"{kind} in time", factor / _TIMES[per])
    for each in _EACH:
        table |= {f"{name}/{each}": (f"time a {each}", factor) for name, factor in _TIMES.items()}
    return table


_UNITS: Final = _table()
#: Formulas whose result has the unit of what they are made of.
SAME: Final = frozenset(
    {
        *("median", "mean", "geometricMean", "sum", "minimum", "maximum", "p95", "p99", "value"),
        *("difference", "toleranceMargin"),
    }
)
#: Formulas that set two numbers of one unit against each other.
_AGAINST: Final = {"change": ("candidate", "baseline"), "fraction": ("part", "whole")}
_RATIO: Final = {**_AGAINST, "ratio": ("candidate", "baseline")}
_FIXED: Final = {
    "count": "count",
    "change": "%",
    "fraction": "%",
    "acceptanceLength": "tokens/step",
}
_TIME: Final = "us"
_ONE: Final = Fraction(1)


class Clash(NamedTuple):
    """Units that do not go together: what was expected, and what is there."""

    expected: str
    got: str


def factor(of: str, into: str) -> Fraction | None:
    """Return what a number is multiplied by from one unit into another, None if by nothing."""
    if of == into:
        return _ONE
    one, other = _UNITS.get(of), _UNITS.get(into)
    return one[1] / other[1] if one and other and one[0] == other[0] else None


def alike(unit: str) -> tuple[str, ...]:
    """Return the units into which one can be converted, itself first."""
    kind = _UNITS.get(unit, ("", _ONE))[0]
    return (unit, *(name for name, each in _UNITS.items() if each[0] == kind and name != unit))


def is_rate(unit: str) -> bool:
    """Whether it is tokens in a time."""
    return factor(unit, "tokens/s") is not None


def of(operand: Operand, figures: Mapping[str, Figure]) -> str | None:
    """Return the unit of an operand, None where nothing states it."""
    if operand.figure is not None:
        below = figures.get(operand.figure)
        return below.unit if below else None
    quantity = QUANTITIES.get(operand.quantity or "")
    return quantity.unit if quantity else operand.unit


def scales(figure: Figure, figures: Mapping[str, Figure]) -> Mapping[str, Fraction]:
    """Return what the numbers of each operand are multiplied by before the formula is computed.

    Where that is not known it is 1, and `clash` says whether something is wrong with it.
    """
    units = {name: of(operand, figures) for name, operand in figure.operands.items()}
    wanted: dict[str, str | None] = {}
    if figure.formula in SAME:
        wanted = dict.fromkeys(units, figure.unit)
    elif figure.formula in _RATIO:
        first, second = _RATIO[figure.formula]
        wanted = {second: units[first]}
    elif figure.formula == "rate":
        wanted = {"microseconds": _TIME}
    found = dict.fromkeys(units, _ONE)
    for name, into in wanted.items():
        unit = units[name]
        if unit is not None and into is not None:
            found[name] = factor(unit, into) or _ONE
    if figure.formula == "rate" and units["amount"] is not None:
        found["amount"] = factor(f"{units['amount']}/s", figure.unit) or _ONE
    return found


def clash(figure: Figure, figures: Mapping[str, Figure]) -> Clash | None:
    """Say whether the unit of a figure does not follow from what it is made of."""
    units = {name: of(operand, figures) for name, operand in figure.operands.items()}
    fixed = _FIXED.get(figure.formula)
    if fixed is not None and figure.unit != fixed:
        return Clash(f"figure {figure.id} in {fixed}", f"in {figure.unit}")
    if figure.formula in _AGAINST:
        one, other = (units[name] for name in _AGAINST[figure.formula])
        if one is not None and other is not None and factor(one, other) is None:
            return Clash(f"figure {figure.id} of two numbers in one unit", f"{one} and {other}")
    if figure.formula == "rate":
        time, amount = units["microseconds"], units["amount"]
        if time is not None and factor(time, _TIME) is None:
            expected = f"a time, in {_said(_TIME)}, that {figure.id} is the rate of"
            return Clash(expected, f"in {time}")
        if amount is not None and factor(f"{amount}/s", figure.unit) is None:
            return Clash(f"figure {figure.id} in {_said(f'{amount}/s')}", f"in {figure.unit}")
    if figure.formula in SAME and figure.unit:  # none is stated of what is only computed on the way
        for unit in units.values():
            if unit is not None and factor(unit, figure.unit) is None:
                return Clash(f"figure {figure.id} in {_said(unit)}", f"in {figure.unit}")
    return None


def _said(unit: str) -> str:
    names = alike(unit)
    return ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else unit
