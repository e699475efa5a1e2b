"""What a helper binds, and what helper and inserted lines read."""

import pytest

from verifier.checks.helper.pinning.names import binds, plain_imports, reads


@pytest.mark.parametrize(
    ("helper", "names"),
    [
        ("class B: pass\nA = B()\ndef c(): pass\n", ("B", "A", "c")),
        ("import os\nA = os\n", ("A",)),
        ("async def a(): pass\n", ("a",)),
        ("a = b = 1\n(c, d), *e = x\n", ("a", "b", "c", "d", "e")),
        ("if (n := 1): pass\nfor i in x: pass\nwith y as z: pass\n", ("n", "i", "z")),
        ("try:\n    pass\nexcept OSError as error:\n    pass\n", ("error",)),
        (
            "match x:\n    case {'a': a, **rest}: pass\n    case [b, *c]: pass\n",
            ("rest", "a", "c", "b"),
        ),
        ("print(1)\n", ()),
        ("not python\n", ()),
    ],
)
def test_binds(helper: str, names: tuple[str, ...]) -> None:
    assert set(binds(helper.encode())) == set(names)
    assert len(binds(helper.encode())) == len(names)


def test_names_are_bound_in_the_order_of_the_text() -> None:
    assert binds(b"class Z: pass\nA = Z()\ndef m(): pass\n") == ("Z", "A", "m")


HOST = """\
import os
import json as j
from time import sleep

LIMIT = 3

def helper(x):
    return os.getenv(x) or min(LIMIT, len(x))

class Q:
    def push(self, who, n):
        turn = 1
        turn += helper(who) + sum(y for y in who) + n + _late(sleep, j, type(self).z)
        return turn

def _late(*a):
    return a
"""


def test_reads_are_module_builtins_and_nothing_local() -> None:
    helper = "def helper(x):\n    return os.getenv(x) or min(LIMIT, len(x))\n"
    line = next(each for each in HOST.splitlines(keepends=True) if "turn +=" in each)
    start = HOST.index(line)
    found = reads(HOST.encode(), helper.encode(), [(start, start + len(line))])
    assert found.module == ("LIMIT", "_late", "j", "os", "sleep")
    assert found.builtins == ("len", "min", "sum", "type")
    assert found.unbound == ()
    assert plain_imports(HOST.encode(), found.module) == ("os",)


@pytest.mark.parametrize(
    "line",
    [
        "        return helpr(n)\n",
        "        await_ = helpr\n",
        "        if helpr: return\n",
        "        n = [helpr for _ in who]\n",
        "        n = lambda: helpr\n",
    ],
)
def test_a_name_that_nothing_binds_is_found(line: str) -> None:
    host = HOST.replace("        return turn\n", f"{line}        return turn\n")
    start = host.index(line)
    found = reads(host.encode(), b"def helper(x): pass\n", [(start, start + len(line))])
    assert found.unbound == ("helpr",)


def test_lines_of_a_loop_and_of_an_async_function_are_read() -> None:
    host = (
        "import time\nasync def f(xs):\n    for x in xs:\n        await time.go(x)\n        break\n"
    )
    start = host.index("        await")
    found = reads(host.encode(), b"A = 1\n", [(start, len(host))])
    assert (found.module, found.unbound) == (("time",), ())
