"""Where two entries differ, field by field, each named by its path in the printed entry."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from verifier.core.strict import toml_value
from verifier.core.value import frozen

#: What names a table of a list; of others their number does.
_KEYS: Final = ("id", "name", "span", "base")


@frozen
class Difference:
    """One field: its path, and what either side says of it; None where it has no such field."""

    path: str
    one: str | None
    other: str | None


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Compare two entries as tables (`helper_writing.tables`), down to single values."""
    return tuple(_tables(one, other, ""))


def _tables(one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> Iterator[Difference]:
    for key in dict.fromkeys((*one, *other)):
        at = f"{path}.{key}" if path else key
        if key in one and key in other:
            yield from _values(one[key], other[key], at)
        else:
            yield Difference(path=at, one=_said(one, key), other=_said(other, key))


def _said(table: Mapping[str, Any], key: str) -> str | None:
    return toml_value(table[key]) if key in table else None


def _values(one: Any, other: Any, path: str) -> Iterator[Difference]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        yield from _tables(one, other, path)
    elif _are_tables(one) and _are_tables(other) and (one or other):
        yield from _lists(one, other, path)
    elif one != other or type(one) is not type(other):
        yield Difference(path=path, one=toml_value(one), other=toml_value(other))


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _lists(
    one: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]], path: str
) -> Iterator[Difference]:
    names = [_names(each) for each in (one, other)]
    sides = [dict(zip(n, each, strict=True)) for n, each in zip(names, (one, other), strict=True)]
    for name in dict.fromkeys((*names[0], *names[1])):
        at = f"{path}[{name}]"
        if name in sides[0] and name in sides[1]:
            yield from _tables(sides[0][name], sides[1][name], at)
        else:
            yield Difference(
                path=at,
                one=toml_value(sides[0][name]) if name in sides[0] else None,
                other=toml_value(sides[1][name]) if name in sides[1] else None,
            )
    common = [[name for name in each if name in names[1 - n]] for n, each in enumerate(names)]
    if common[0] != common[1]:
        yield Difference(
            path=f"{path}, their order", one=", ".join(common[0]), other=", ".join(common[1])
        )


def _names(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the tables of a list, each differently."""
    found: list[str] = []
    for number, table in enumerate(tables):
        key = next((table[k] for k in _KEYS if isinstance(table.get(k), str)), str(number))
        found.append(key if key not in found else f"{key} {number}")
    return found
