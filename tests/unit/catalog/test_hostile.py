"""Metadata from anywhere: whatever the bytes, opening returns a value and raises nothing."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.registry import KEYS, Registry, make

from verifier.catalog.open import Catalog, Refused

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
ROLES = ("root", "timestamp", "snapshot", "targets", "pinproof")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return make(tmp_path_factory.mktemp("hostile") / "registry")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else [])
    )
    return [path, *(deeper for key, item in below for deeper in _paths(item, (*path, key)))]


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(role=st.sampled_from(ROLES), place=st.integers(0, 10**6), value=JSON)
def test_any_signed_field_may_be_anything(
    sound: Registry, role: str, place: int, value: object
) -> None:
    """The worst attacker: one who holds every key and signs what was never meant to be."""
    before = {path: (sound.folder / path).read_bytes() for path in _metadata(sound)}
    root = sound.root

    def change(signed: dict[str, Any]) -> None:
        paths = _paths(signed)[1:]
        *way, last = paths[place % len(paths)]
        holder: Any = signed
        for step in way:
            holder = holder[step]
        holder[last] = [value] if holder[last] == value else value

    try:
        sound.resign(role, change)
        assert isinstance(sound.open(), Catalog | Refused)
    finally:
        sound.root = root
        for path, data in before.items():
            (sound.folder / path).write_bytes(data)


@settings(max_examples=200, deadline=None)
@given(role=st.sampled_from(ROLES), data=st.binary(max_size=200) | JSON.map(json.dumps))
def test_any_file_may_hold_any_bytes(sound: Registry, role: str, data: bytes | str) -> None:
    path = sound.folder / f"metadata/{'1.root' if role == 'root' else role}.json"
    before = path.read_bytes()
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    try:
        assert isinstance(sound.open(), Refused)
    finally:
        path.write_bytes(before)


def _metadata(registry: Registry) -> list[str]:
    assert set(ROLES) <= KEYS.keys() | {"root"}
    return [f"metadata/{path.name}" for path in (registry.folder / "metadata").iterdir()]
