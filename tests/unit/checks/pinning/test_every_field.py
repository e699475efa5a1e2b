"""An entry with any one field changed fails its audit, and the field is named."""

import copy
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
from support import lineages, pinning

from verifier.ask.pinning import read_material
from verifier.ask.producers import Producers
from verifier.ask.reading import Reach
from verifier.catalog.entries.helper_format import parse
from verifier.catalog.entries.helper_writing import tables
from verifier.checks.audit.fields import compared
from verifier.checks.helper.pinning.derive import derive
from verifier.checks.helper.pinning.recipe import parse as parse_recipe
from verifier.checks.helper.pinning.values import Derived
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError

Path = tuple[str | int, ...]
#: What a field may say instead where any text would not do.
#: What is said of two fields that others have to agree with.
SAID: Final = {"marker_prefix": "is not of the form", "owned_names": "a name that is not owned"}
INSTEAD: Final = {"status": ("authentic", "supported"), "method": ("computed", "literal")}


@cache
def derived() -> Derived:
    recipe = parse_recipe(pinning.RECIPE.read_bytes(), "pins.toml")
    with Producers({pinning.URL: str(pinning.fair_queue())}, Reach()) as read:
        found = derive(recipe, read_material(recipe, read), known={})
    assert isinstance(found, Derived), found
    return found


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every field of an entry; a list of plain values is one field."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, below in enumerate(value):
            yield from leaves(below, (*path, number))
    else:
        yield path


def changed(value: Any, key: str | int) -> Any:
    if key in INSTEAD:
        return next(word for word in INSTEAD[str(key)] if word != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return value[:-1] or (["extra"] if key != "marker_offsets" else [1])
    if re.fullmatch("[0-9a-f]{40,64}", value):
        return value[:-1] + ("0" if value[-1] != "0" else "1")
    return value.replace("-", "~", 1) if key == "marker_prefix" else value + "x"


def mistakes_of(data: bytes) -> tuple[str, ...]:
    """Read an entry, and return what is said against it."""
    try:
        parse(data, "x")
    except MalformedError as error:
        return error.mistakes
    return ()


PATHS: Final = list(leaves(tables(lineages.example())))


def test_the_example_is_what_is_derived_and_has_many_fields() -> None:
    assert list(compared(derived(), lineages.example(), derived().lines)) == []
    assert len(PATHS) > 350


@pytest.mark.parametrize("path", PATHS, ids=lambda p: ".".join(map(str, p)))
def test_one_field_changed_is_named(path: Path) -> None:
    before = tables(lineages.example())
    entry: Any = copy.deepcopy(before)
    at = entry
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = changed(at[path[-1]], path[-1])
    assert entry != before
    named = str(path[-1])
    data = write_toml(entry)
    mistakes = mistakes_of(data)
    if mistakes:
        # What contradicts itself never gets into a registry; the mistake is named there.
        where = {SAID.get(str(key), str(key)) for key in path}
        where |= {entry["version"][p]["id"] for p in path[1:2] if path[0] == "version"}
        assert any(word in mistake for word in where for mistake in mistakes), mistakes
        return
    lineage = parse(data, "x")
    found = list(compared(derived(), lineage, derived().lines))
    assert found
    assert {finding.code for finding in found} == {"audit-field-differs"}
    keys = [key for key in path if isinstance(key, str)]
    told = " ".join(str(finding.expected) for finding in found)
    assert keys[0] in told
    assert named in told or named in ("id", "name", "base", "span")


def test_digests_of_lines_are_fields_too() -> None:
    lines = {**derived().lines, "v2": ("0" * 16,)}
    (found,) = compared(derived(), lineages.example(), lines)
    assert str(found.expected).startswith("lines.v2 of example-fair-queue")
    del lines["v2"]
    (found,) = compared(derived(), lineages.example(), lines)
    assert found.got == "no such field"
