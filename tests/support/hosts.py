"""Hosts for tests, built by the example's own installer, which pinproof never runs.

A host is named by the steps that make it: `clean`, `v5`, `v5 then aging`, `aging then v5`.
Their digests are written down in tests/unit/test_hosts.py, independently of any code. What carries
a version is named too: `installer` is the file, `text v6` a helper alone, `stripped v6` that
without the white space around it.
"""

import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "fair_queue"


@cache
def installer() -> ModuleType:
    """Return the example's installer as a module."""
    spec = importlib.util.spec_from_file_location("installer", EXAMPLE / "installer.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def host(name: str) -> bytes:
    """Build the host of that name."""
    if name == "installer":
        return (EXAMPLE / "installer.py").read_bytes()
    if name.startswith(("text ", "stripped ")):
        text: str = installer().VERSIONS[name.split()[1]][0]
        return (text if name.startswith("text") else text.strip()).encode()
    data = (EXAMPLE / "host.py").read_bytes()
    for step in name.split(" then "):
        if step == "aging":
            data = installer().neighbour(data)
        elif step != "clean":
            data = installer().install(data, step)
    return data


def mutated(changes: Mapping[str, Any]) -> bytes:
    """Build `changes["from"]` and change it; every step must change bytes, or it proves nothing.

    Steps, in this order: `replace` [[old, new]] (old occurs exactly once), `replace_all` [[old,
    new]], `flip` [[offset, bit]], `insert_hex` [[offset, hex]], `prepend`, `append` (text), `crlf`
    and `bom` (true).
    """
    known = {"from", "replace", "replace_all", "flip", "insert_hex", "prepend", "append"}
    known |= {"crlf", "bom"}
    assert changes.keys() <= known, changes.keys() - known
    data = start = host(changes["from"])
    for old, new in changes.get("replace", ()):
        assert data.count(old.encode()) == 1, (data.count(old.encode()), old)
        data = _changed(data, data.replace(old.encode(), new.encode()))
    for old, new in changes.get("replace_all", ()):
        data = _changed(data, data.replace(old.encode(), new.encode()))
    for offset, bit in changes.get("flip", ()):
        flipped = bytearray(data)
        flipped[offset] ^= 1 << bit
        data = _changed(data, bytes(flipped))
    for offset, text in changes.get("insert_hex", ()):
        data = _changed(data, data[:offset] + bytes.fromhex(text) + data[offset:])
    if "prepend" in changes:
        data = _changed(data, changes["prepend"].encode() + data)
    if "append" in changes:
        data = _changed(data, data + changes["append"].encode())
    if changes.get("crlf"):
        data = _changed(data, data.replace(b"\n", b"\r\n"))
    if changes.get("bom"):
        data = _changed(data, b"\xef\xbb\xbf" + data)
    assert data != start or changes.keys() == {"from"}
    return data


def _changed(before: bytes, after: bytes) -> bytes:
    assert before != after, "a mutation that changed nothing"
    return after
