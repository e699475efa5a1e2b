"""Facts about Python files, as literals: every supported Python must give the same."""

import ast
import gc
import sys
import sysconfig
import warnings
from pathlib import Path
from textwrap import dedent

import pytest

from verifier.checks.python_binding import (
    attribute_stores,
    bindings,
    names_of,
    rebindings,
)
from verifier.checks.python_constant import why_never
from verifier.checks.python_reflection import reflection
from verifier.checks.python_scope import (
    Insertion,
    Misplaced,
    Module,
    Unparsable,
    parse,
    qualified,
)

NEWER = sys.version_info >= (3, 12)


def module(text: str) -> Module:
    parsed = parse(dedent(text).encode())
    assert isinstance(parsed, Module), parsed
    return parsed


def bound(text: str, *names: str) -> list[str]:
    """`form line:column scope` of every binding, `!` for a direct child of its scope's body."""
    return [
        f"{b.form} {b.line}:{b.column} {qualified(b.scope)}".rstrip() + "!" * b.direct
        for b in bindings(module(text), names or ["X"])
    ]


# ── parsing ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = (\n", "not valid in the grammar of this Python"),
        (b"x = 1\n  y = 2\n", "not valid in the grammar of this Python"),
        (b"x = " + b"(" * 300 + b")" * 300, "not valid in the grammar of this Python"),
        (b"x = " + b"9" * 5000 + b"\n", "not valid in the grammar of this Python"),
        (b"x = '\xff'\n", "not valid in the grammar of this Python"),
        (b"x = " + b"-" * 900_000 + b"1\n", "nested deeper than 1000"),
        (b"x = a" + b".b" * 200_000 + b"\n", "nested deeper than 1000"),
        (b"x = a" + b".b" * 1000 + b"\n", "nested deeper than 1000"),
        (b"x = 1" + b"+1" * 1500 + b"\n", "nested deeper than 1000"),
        (b"if a: pass\n" + b"elif b: pass\n" * 1200, "nested deeper than 1000"),
        (
            b"match a:\n  case " + b"-" + b"1" + b"+2j" + b" if " + b"not " * 1200 + b"a: pass\n",
            "nested deeper than 1000",
        ),
        (b"try: pass\nexcept a" + b".b" * 1200 + b": pass\n", "nested deeper than 1000"),
        (b"def f(a=" + b"not " * 1200 + b"1): pass\n", "nested deeper than 1000"),
        (b"@a" + b".b" * 1200 + b"\ndef f(): pass\n", "nested deeper than 1000"),
        (b"x = 1\0\n", "holds NUL, carriage returns or a byte order mark"),
        (b"x = 1\r\n", "holds NUL, carriage returns or a byte order mark"),
        (b"\xef\xbb\xbfx = 1\n", "holds NUL, carriage returns or a byte order mark"),
        (b"# coding: latin-1\n", "declares another encoding than UTF-8"),
        (b"\n# vim: set fileencoding=utf-7 :\n", "declares another encoding than UTF-8"),
        (b"# coding: utf-16\n", "declares another encoding than UTF-8"),
    ],
)
def test_what_does_not_parse_is_one_value_with_our_own_words(data: bytes, reason: str) -> None:
    parsed = parse(data)
    assert isinstance(parsed, Unparsable)
    assert parsed.reason == reason


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"x = 1",
        b"# coding: utf-8\nx = 1\n",
        b"# -*- coding: UTF_8 -*-\n",
        b"x = 1\n# coding: latin-1\n",  # after code a cookie means nothing
        b"x = a" + b".b" * 900 + b"\n",
        b"x = [\n" + b"1,\n" * 5000 + b"]\n",
    ],
)
def test_what_parses(data: bytes) -> None:
    assert isinstance(parse(data), Module)


def test_parsing_leaves_the_process_as_it_was_and_warns_of_nothing() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            before = list(warnings.filters)
            assert isinstance(parse(b"x = '\\d'\ny = 1if 2else 3\nassert (1, 2)\n"), Module)
            assert isinstance(parse(b"x = " + b"9" * 4301), Unparsable)
            assert warnings.filters == before
        assert gc.isenabled()
        assert sys.get_int_max_str_digits() == 0
    finally:
        sys.set_int_max_str_digits(limit)
    gc.disable()
    try:
        parse(b"x = (")
        assert not gc.isenabled()
    finally:
        gc.enable()


# ── bindings ───────────────────────────────────────────────────────────────────────────────────

BINDINGS = [
    ("def X(): pass", ["def 1:0!"]),
    ("async def X(): pass", ["def 1:0!"]),
    ("class X: pass", ["class 1:0!"]),
    ("@d\ndef X(): pass", ["def 2:0!"]),
    ("X = 1", ["assignment 1:0!"]),
    ("a = X = 1", ["assignment 1:4!"]),
    ("a, (b, *X) = c", ["assignment 1:8!"]),
    ("[X, a] = c", ["assignment 1:1!"]),
    ("X: int = 1", ["annotation 1:0!"]),
    ("X: int", ["annotation 1:0!"]),
    ("X += 1", ["augmented assignment 1:0!"]),
    ("if (X := 1): pass", ["walrus 1:4!"]),
    ("def f(a=(X := 1)): pass", ["walrus 1:9!"]),
    ("def f(a: (X := 1)): pass", ["walrus 1:10!"]),
    ("@(X := d)\ndef f(): pass", ["walrus 1:2!"]),
    ("class C((X := b)): pass", ["walrus 1:9!"]),
    ("[a for b in c if (X := b)]", ["walrus 1:18!"]),
    ("def f(): [[X := a for a in b] for b in c]", ["walrus 1:11 f!"]),
    ("f'{(X := 1)}'", ["walrus 1:0!"]),
    ("f('a'\n  f'{(X := 1)}'\n  'b')", ["walrus 1:2!"]),
    ("lambda: (X := 1)", ["walrus 1:9 <lambda>!"]),
    ("import X", ["import 1:7!"]),
    ("import X.a", ["import 1:7!"]),
    ("import a as X", ["import 1:7!"]),
    ("import a, X", ["import 1:10!"]),
    ("import a, \\\n  X.b", ["import 2:2!"]),
    ("from a import X", ["from-import 1:14!"]),
    ("from a import (b,\n  c as X)", ["from-import 2:2!"]),
    ("from .a import X", ["from-import 1:15!"]),
    ("try: pass\nexcept E as X: pass", ["except 2:0!"]),
    ("try: pass\nexcept* E as X: pass", ["except 2:0!"]),
    ("match a:\n case X: pass", ["match 2:6!"]),
    ("match a:\n case [b, *X]: pass", ["match 2:10!"]),
    ("match a:\n case {1: b, **X}: pass", ["match 2:6!"]),
    ("match a:\n case C(d=(1 | 2) as X): pass", ["match 2:10!"]),
    ("for X in a: pass", ["for 1:4!"]),
    ("for a, (b, X) in c: pass", ["for 1:11!"]),
    ("async def f():\n async for X in a: pass", ["for 2:11 f!"]),
    ("[X for X in a]", ["comprehension 1:7 <comprehension>!"]),
    ("{X: 1 for a, X in b}", ["comprehension 1:13 <comprehension>!"]),
    ("with a as X: pass", ["with 1:10!"]),
    ("with a as (b, X): pass", ["with 1:14!"]),
    ("async def f():\n async with a as X: pass", ["with 2:17 f!"]),
    ("del X", ["del 1:4!"]),
    ("del (a, X)", ["del 1:8!"]),
    ("def f(): global X", ["global 1:9 f!"]),
    ("class C:\n def f(self):\n  global a, X\n  X = 1", ["global 3:2 C.f!", "assignment 4:2 C.f!"]),
    ("def f(X):\n def g(): nonlocal X", ["parameter 1:6 f", "nonlocal 2:10 f.<locals>.g!"]),
    ("def f(X): pass", ["parameter 1:6 f"]),
    ("def f(*X): pass", ["parameter 1:7 f"]),
    ("def f(**X): pass", ["parameter 1:8 f"]),
    ("def f(a, /, *, X=1): pass", ["parameter 1:15 f"]),
    ("lambda X: 1", ["parameter 1:7 <lambda>"]),
    ("if a:\n X = 1", ["assignment 2:1"]),
    ("try:\n import X\nexcept E: pass", ["import 2:8"]),
    ("class C:\n X = 1", ["assignment 2:1 C!"]),
    ("def f():\n class C:\n  def g(self): X = 1", ["assignment 3:15 f.<locals>.C.g!"]),
    ("def f(): X = 1", ["assignment 1:9 f!"]),
    ("\uff38 = 1", ["assignment 1:0!"]),
    ("def f(): global \U0001d54f", ["global 1:9 f!"]),
    ("a = 1; X = 2", ["assignment 1:7!"]),
    ("'é'; X = 2", ["assignment 1:6!"]),
    ("del X\n(a)", ["del 1:4!"]),
    ("class \\\n  X(b): pass", ["class 1:0!"]),
    ("def X (): pass", ["def 1:0!"]),
    # what does not bind
    ("X", []),
    ("X(1).a = 2", []),
    ("X.a = 1", []),
    ("X[1] = 2", []),
    ("a.X = 1", []),
    ("f(X=1)", []),
    ("import a.X", []),
    ("from X import a", []),
    ("from a import X as b", []),
    ("match a:\n case X.b: pass\n case X(c=1): pass", []),
    ("def f(a=X, *, b: X = 1) -> X: return X", []),
    ("'X = 1'\n# X = 1", []),
    ("XX = _X = X_ = 1", []),
    ("f'{X}'", []),
    ("class C:\n def f(self): self.X = 1", []),
]


@pytest.mark.parametrize(("text", "expected"), BINDINGS)
def test_every_form_that_binds_a_name(text: str, expected: list[str]) -> None:
    assert bound(text) == expected


@pytest.mark.skipif(not NEWER, reason="the grammar of Python 3.12")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("type X = int", ["type 1:5!"]),
        ("type A[X] = X", ["type parameter 1:7 <type>"]),
        ("def f[X](a): pass", ["type parameter 1:6 f"]),
        ("def X[T](a): pass", ["def 1:0!"]),
        ("class C[*X]: pass", ["type parameter 1:8 C"]),
        ("class C[**X]: pass", ["type parameter 1:8 C"]),
    ],
)
def test_every_form_that_binds_a_name_since_3_12(text: str, expected: list[str]) -> None:
    assert bound(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "class Fa:\n def f(self):\n  global __ir\n  __ir = 1",
            ["global 3:2 Fa.f!", "assignment 4:2 Fa.f!"],
        ),
        ("class __Fa:\n __ir = 1", ["assignment 2:1 __Fa!"]),
        ("class Other:\n __ir = 1", []),
        ("__ir = 1", []),
        ("class Fa:\n __ir__ = 1", []),
        ("_Fa__ir = 1", ["assignment 1:0!"]),
    ],
)
def test_private_names_are_those_that_python_stores(text: str, expected: list[str]) -> None:
    assert bound(text, "_Fa__ir") == expected


def test_an_import_says_what_it_is() -> None:
    text = "import os\nimport os.path\nimport a as os\nfrom os import os\nif a:\n import os"
    assert [(b.plain, b.direct, b.module) for b in bindings(module(text), ["os"])] == [
        (True, True, "os"),
        (False, True, "os.path"),
        (False, True, "a"),
        (False, True, "os.os"),
        (True, False, "os"),
    ]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("", []),
        ("    schedule = 1\n", ["assignment 4"]),
        ("    def schedule(self): pass\n", ["def 4"]),
        ("    if a:\n        schedule = 1\n", ["assignment 5"]),
        ("    del schedule\n", ["del 4"]),
        ("    from a import schedule\n", ["from-import 4"]),
        ("    for schedule in a: pass\n", ["for 4"]),
        ("Scheduler = 1\n", ["assignment 4"]),
        ("class Scheduler(Scheduler): pass\n", ["class 4"]),
        ("def f():\n    global Scheduler\n    Scheduler = 1\n", ["global 5"]),
        ("def f():\n    Scheduler = 1\n", []),
        ("schedule = 1\n", []),
        ("class Other:\n    def schedule(self): pass\n", []),
        ("def f(schedule): pass\n", []),
    ],
)
def test_what_holds_a_site_bound_again(extra: str, expected: list[str]) -> None:
    text = "class Scheduler:\n    def schedule(self):\n        site()\n" + extra
    parsed = module(text)
    site = inserted(text, 3, 3)
    assert isinstance(site, Insertion)
    found = bindings(parsed, names_of(site.scope))
    assert [f"{b.form} {b.line}" for b in rebindings(site.scope, found)] == expected


def test_an_earlier_binding_binds_again_too_and_so_does_a_declaration() -> None:
    text = "class S:\n    f = 1\n    global f\n    def f(self):\n        site()\n"
    site = inserted(text, 5, 5)
    assert isinstance(site, Insertion)
    found = rebindings(site.scope, bindings(module(text), names_of(site.scope)))
    assert [(b.form, b.line) for b in found] == [("assignment", 2), ("global", 3)]


# ── attributes ─────────────────────────────────────────────────────────────────────────────────


def stored(text: str, *names: str) -> list[str]:
    return [
        f"{s.base}|{s.attribute} {s.line}:{s.column}" for s in attribute_stores(module(text), names)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C.x = 1", ["C|x 1:0"]),
        ("C.x += 1", ["C|x 1:0"]),
        ("C.x: int = 1", ["C|x 1:0"]),
        ("del C.x", ["C|x 1:4"]),
        ("del C.x\n(a)", ["C|x 1:4"]),
        ("a, (C.x, *b) = c", ["C|x 1:4"]),
        ("for C.x in a: pass", ["C|x 1:4"]),
        ("[a for C.x in b]", ["C|x 1:7"]),
        ("with a as C.x: pass", ["C|x 1:10"]),
        ("m.C.x = 1", ["m.C|x 1:0"]),
        ("m.C = 1", ["m|C 1:0"]),
        ("f().C.x = 1", ["?.C|x 1:0"]),
        ("(C.  # here\n x) = 1", ["C|x 1:1"]),
        ("C \\\n .x = 1", ["C|x 1:0"]),
        ("C.é = 1", ["C|é 1:0"]),
        ("\uff23.x = 1", ["C|x 1:0"]),
        ("def f():\n for _ in a:\n  C.x = 1", ["C|x 3:2"]),
        ("import C as d\nd.x = 1", ["C|x 2:0"]),
        ("from m import C as d\nd.x = 1", ["m.C|x 2:0"]),
        ("from C import d\nd.x = 1", ["C.d|x 2:0"]),
        ("from C import (\n d as e)\ne.x = 1", ["C.d|x 3:0"]),
        ("import C.d\nC.d.x = 1", ["C.d|x 2:0"]),
        ("C.x['a'] = 1", []),
        ("C['a'] = 1", []),
        ("C.x(1).y = 1", []),
        ("C.x", []),
        ("C.x == 1", []),
        ("f(C.x)", []),
        ("CC.x = 1", []),
    ],
)
def test_attributes_that_are_assigned(text: str, expected: list[str]) -> None:
    assert stored(text, "C") == expected


# ── ranges ─────────────────────────────────────────────────────────────────────────────────────


def inserted(text: str, first: int, last: int, block: tuple[int, int] = (1, 99)) -> object:
    parsed = module(text)
    ends = [min(line, len(text.splitlines())) for line in (last, block[1])]
    return parsed.insertion(
        parsed.offset(first),
        parsed.offset(ends[0] + 1),
        block=(parsed.offset(block[0]), parsed.offset(ends[1] + 1)),
    )


HOST = """\
class Queue:
    def pop(self):
        first()
        # a comment
        site(1)

        site(2)
        last()
"""


def test_an_insertion_says_where_it_is() -> None:
    found = inserted(HOST, 4, 7)
    assert isinstance(found, Insertion)
    assert [(s.kind, s.line, s.end_line, s.column) for s in found.statements] == [
        ("Expr", 5, 5, 8),
        ("Expr", 7, 7, 8),
    ]
    assert qualified(found.scope) == "Queue.pop"
    assert (found.functions, found.dead, found.strangers) == (1, None, ())
    assert [step.decorators for step in found.scope] == [(), ()]


@pytest.mark.parametrize(
    ("text", "first", "last", "reason"),
    [
        ("x = '''\nsite()\n'''\n", 2, 2, "part of a statement"),
        ("def f():\n    '''\n    site()\n    '''\n", 3, 3, "part of a statement"),
        ("x = (1 +\nsite()\n)\n", 2, 2, "part of a statement"),
        ("x = 1 + \\\nsite()\n", 2, 2, "part of a statement"),
        ("a; site(\n)\n", 2, 2, "part of a statement"),
        ("site(\n1)\n", 1, 1, "a statement is cut by the range"),
        ("if a:\n    b\nsite()\n", 2, 3, "a statement is cut by the range"),
        ("if a:\n    b\nelse:\n    c\n", 3, 4, "part of no statement"),
        ("if a:\n    b\nelif c:\n    d\n", 3, 4, "part of a statement"),
        ("if a:\n    b\nelif c:\n    d\nelse:\n    e\n", 3, 4, "a statement is cut by the range"),
        ("if a:\n    b\nelse: site()\n", 3, 3, "a statement begins inside the line"),
        ("if a == '''\n# b''':\n    site()\n", 2, 3, "part of a statement's head"),
        ("try:\n    a\nexcept (B,\n  # b\n  C):\n    site()\n", 4, 6, "part of a statement's head"),
        ("# site()\n", 1, 1, "no statement stands there"),
        ("\n\n", 1, 2, "no statement stands there"),
        ("x = '''\n# a\n'''; site()\n", 2, 3, "a statement is cut by the range"),
        ("@(\nd)\ndef f(): pass\n", 1, 3, "part of no statement"),
        ("@d\ndef f(): pass\n", 2, 2, "part of a statement's head"),
        ("@d\nclass C:\n    a\n", 2, 3, "part of a statement's head"),
    ],
)
def test_a_range_that_is_no_list_of_statements(
    text: str, first: int, last: int, reason: str
) -> None:
    found = inserted(text, first, last)
    assert isinstance(found, Misplaced), found
    assert found.reason == reason


def test_a_range_that_is_not_made_of_lines() -> None:
    parsed = module("ab = 1\nc = 2\n")
    for start, end in ((1, 7), (0, 6), (0, 0), (7, 7), (3, 13)):
        found = parsed.insertion(start, end, block=(0, 13))
        assert found == Misplaced(
            reason="the range is not made of whole lines", line=1 + (start == 7)
        )


@pytest.mark.parametrize(
    ("text", "first", "last", "kinds"),
    [
        ("a\nsite(\n  1)\n# b\n", 2, 4, ["Expr"]),
        ("@d\n@e\ndef f():\n    pass\n", 1, 4, ["FunctionDef"]),
        ("a; b\n", 1, 1, ["Expr", "Expr"]),
        ("if a: b\n", 1, 1, ["If"]),
        ("if a:\n    b\nelse:\n    c\n    d\n", 5, 5, ["Expr"]),
        ("for a in b:\n    c\nelse:\n    d\n", 4, 4, ["Expr"]),
        ("try:\n    a\nexcept B:\n    c\nelse:\n    d\nfinally:\n    e\n", 8, 8, ["Expr"]),
        ("try:\n    a\nexcept B:\n    c\nelse:\n    d\nfinally:\n    e\n", 4, 4, ["Expr"]),
        ("match a:\n    case 1:\n        b\n    case 2:\n        c\n", 5, 5, ["Expr"]),
        ("x = '''\n# a'''\n", 1, 2, ["Assign"]),
        ("if a:\n    # b\n    c\n", 2, 3, ["Expr"]),
        ("while a:\n    b", 2, 2, ["Expr"]),
    ],
)
def test_a_range_of_whole_statements(text: str, first: int, last: int, kinds: list[str]) -> None:
    found = inserted(text, first, last)
    assert isinstance(found, Insertion), found
    assert [s.kind for s in found.statements] == kinds


@pytest.mark.parametrize(
    ("text", "strangers"),
    [
        ("if a:\n    b\n    site()\n    c\n", ()),
        ("if a:\n    b(\n    )\n    # c\n\n    site()\n\n    @d\n    def e(): pass\n", ()),
        ("if a:\n    if b:\n        c\n    site()\n", ()),
        ("if a:\n    site()\nelse:\n    b\n", ()),
        ("if a:\n    site()\nb\n", ()),
        ("if (a and\n    b):\n    site()\n", ()),  # a head indented like its body
        ("if (a and\n    b(1)\n    ):\n    site()\n", ()),
        ("if a == '''\n    b()\n    ''':\n    site()\n", ()),
        # the line before reads as a statement, and is the end of a string
        ("if '''\n    b() # ''':\n    site()\n", (2,)),
        ("with '''\n    b() # ''':\n    # c\n    site()\n    d\n", (2,)),
    ],
)
def test_neighbours_of_a_range(text: str, strangers: tuple[int, ...]) -> None:
    line = 1 + text[: text.index("site()")].count("\n")
    found = inserted(text, line, line)
    assert isinstance(found, Insertion), found
    assert found.strangers == strangers


def test_only_neighbours_inside_the_block_count() -> None:
    found = inserted("if '''\n    b() # ''':\n    site()\n", 3, 3, (3, 3))
    assert isinstance(found, Insertion)
    assert found.strangers == ()


@pytest.mark.parametrize(
    ("before", "dead"),
    [
        ("return", "return stands before it"),
        ("raise E", "raise stands before it"),
        ("while a:\n    break\n    site()", "break stands before it"),
        ("while a:\n    continue\n    site()", "continue stands before it"),
        ("return\nif a:\n    site()", "return stands before it"),
        ("try:\n    raise E\n    site()\nfinally: pass", "raise stands before it"),
        ("if False:\n    site()", "a test is always false"),
        ("if 0:\n    site()", "a test is always false"),
        ("if 0.0:\n    site()", "a test is always false"),
        ("if None:\n    site()", "a test is always false"),
        ("if '':\n    site()", "a test is always false"),
        ("if b'':\n    site()", "a test is always false"),
        ("if f'':\n    site()", "a test is always false"),
        ("if ():\n    site()", "a test is always false"),
        ("if []:\n    site()", "a test is always false"),
        ("if {}:\n    site()", "a test is always false"),
        ("if not True:\n    site()", "a test is always false"),
        ("if not 'a':\n    site()", "a test is always false"),
        ("if not not 0:\n    site()", "a test is always false"),
        ("if a and False:\n    site()", "a test is always false"),
        ("if False and a:\n    site()", "a test is always false"),
        ("if 0 or '':\n    site()", "a test is always false"),
        ("if 1 == 2:\n    site()", "a test is always false"),
        ("if 1 - 1:\n    site()", "a test is always false"),
        ("if 0 if 1 else a:\n    site()", "a test is always false"),
        ("if (b := 0):\n    site()", "a test is always false"),
        ("if TYPE_CHECKING:\n    site()", "a test is always false"),
        ("if typing.TYPE_CHECKING:\n    site()", "a test is always false"),
        ("if a and TYPE_CHECKING:\n    site()", "a test is always false"),
        ("if not TYPE_CHECKING:\n    a\nelse:\n    site()", "a test is always true"),
        ("if not __debug__:\n    site()", "a test is always false, depending on __debug__"),
        ("if __debug__:\n    site()", "a test is always false, depending on __debug__"),
        ("if a and not __debug__:\n    site()", "a test is always false, depending on __debug__"),
        (
            "if __debug__:\n    a\nelse:\n    site()",
            "a test is always true, depending on __debug__",
        ),
        ("if True:\n    a\nelse:\n    site()", "a test is always true"),
        ("if 1 or a:\n    b\nelse:\n    site()", "a test is always true"),
        ("if a:\n    b\nelif False:\n    site()", "a test is always false"),
        ("if 'x':\n    b\nelif c:\n    site()", "a test is always true"),
        ("while False:\n    site()", "a test is always false"),
        ("while True:\n    a\nelse:\n    site()", "a test is always true"),
        ("match a:\n    case 1 if False:\n        site()", "a test is always false"),
        ("if lambda: 0:\n    a\nelse:\n    site()", "a test is always true"),
        ("if [a]:\n    b\nelse:\n    site()", "a test is always true"),
        # what can run, as far as the list goes
        ("if a:\n    return", None),
        ("if a:\n    return\nelse:\n    site()", None),
        ("for a in b:\n    site()\n    break", None),
        ("while True:\n    site()", None),
        ("if not False:\n    site()", None),
        ("if a or False:\n    site()", None),
        ("if a or TYPE_CHECKING:\n    site()", None),
        ("if not TYPE_CHECKING:\n    site()", None),
        ("if a == 1:\n    site()", None),
        ("if f(*a):\n    site()", None),
        ("if (yield a):\n    site()", None),
        ("if [b for b in a]:\n    site()", None),
        ("if [*a]:\n    site()", None),
        ("if 1 / 0:\n    site()", None),
        ("if __debug__ or a:\n    site()", None),
        ("if -1:\n    site()", None),
        ("if 'a' 'b':\n    site()", None),
        ("def g():\n    return", None),
        ("try:\n    return\nfinally:\n    site()", None),
        ("with a:\n    site()", None),
    ],
)
def test_code_that_can_never_run(before: str, dead: str | None) -> None:
    text = before if "site()" in before else before + "\nsite()"
    text = "def f():\n" + "".join(f"    {line}\n" for line in text.split("\n"))
    line = next(n for n, t in enumerate(text.split("\n"), 1) if "site()" in t)
    found = inserted(text, line, line)
    assert isinstance(found, Insertion), found
    assert (found.dead.reason if found.dead else None) == dead


def test_no_depth_of_a_test_recurses() -> None:
    test = ast.parse("not " * 900 + "0", mode="eval").body
    assert why_never(test, wanted=True) is not None
    assert why_never(test, wanted=False) is None


# ── fragments ──────────────────────────────────────────────────────────────────────────────────

HELPER = (
    "\nclass _Fair:\n    '''\n    doc\n    '''\n    a = f'''{\n  1}'''\n\n\n_FAIR = _Fair()\n\n\n"
)


def fragment(before: str, after: str = "x = 1\n", helper: str = HELPER) -> object:
    parsed = parse((before + helper + after).encode())
    assert isinstance(parsed, Module)
    start = len(before.encode())
    return parsed.fragment(start, start + len(helper.encode()))


@pytest.mark.parametrize(
    "before", ["", "import os\n\n", "import os\n" * 300, "'é'\n", "if a:\n    b\n"]
)
def test_a_helper_in_the_module_is_the_same_as_alone(before: str) -> None:
    found = fragment(before)
    assert found.same  # type: ignore[attr-defined]
    shift = before.count("\n")
    assert [(s.kind, s.name, s.line - shift) for s in found.inside] == [  # type: ignore[attr-defined]
        ("ClassDef", "_Fair", 2),
        ("Assign", "", 10),
    ]
    assert found.crossing == found.decorated == ()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("before", "after", "helper"),
    [
        ("x = '''\n", "'''\n", HELPER.replace("'''", '"""')),
        ("if a:\n    pass\n", "", "\n    b\n"),
        ("def f(\n", ") -> None: pass\n", "\na=1,\n"),
        ("x = [\n", "]\n", "\nclass_,\n"),
        ("@d\n", "", "\nclass A: pass\n"),
        ("@d\n", "", "class A: pass\n"),
        ("try:\n    a\n", "except E: pass\n", "\n    b\n"),
        ("", "    more\n", "\nclass A:\n    a\n"),
        ("", "else: pass\n", "\nif a:\n    b\n"),
        ("", "\n", "\n\n"),
        ("", ".b\n", "\nx = a\\\n"),
    ],
)
def test_a_helper_that_is_not_the_modules_own_code(before: str, after: str, helper: str) -> None:
    assert not fragment(before, after, helper).same  # type: ignore[attr-defined]


def test_a_decorator_outside_is_named() -> None:
    found = fragment("a = 1\n@d\n@e\n", "", "\ndef f(): pass\n")
    assert (found.decorated, found.same) == ((2, 3), False)  # type: ignore[attr-defined]
    found = fragment("a = 1\n", "", "\n@d\ndef f(): pass\n")
    assert (found.decorated, found.same) == ((), True)  # type: ignore[attr-defined]


# ── pruning loses nothing ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["inspect", "typing", "dataclasses", "argparse", "turtle", "ast"])
def test_a_question_finds_what_visiting_every_line_finds(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search for lines is only a short cut: without it, the same answers."""
    parsed = parse((Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_bytes())
    assert isinstance(parsed, Module)
    names = sorted({n.id for n in ast.walk(parsed._tree) if isinstance(n, ast.Name)})

    def answers() -> tuple[object, ...]:
        return (
            bindings(parsed, names),
            attribute_stores(parsed, names),
            reflection(parsed, (), names),
        )

    quick = answers()
    everything = set(range(1, len(parsed._starts)))
    monkeypatch.setattr(Module, "lines_with", lambda *_, **__: everything)
    assert answers() == quick
    assert quick[0]


@pytest.mark.parametrize("name", ["asyncio/base_events", "inspect", "typing", "tarfile"])
def test_every_line_of_real_files_has_an_answer(name: str) -> None:
    data = (Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_bytes()
    parsed = parse(data)
    assert isinstance(parsed, Module)
    kinds = set()
    for line in range(1, data.count(b"\n") + 1):
        block = (parsed.offset(max(1, line - 3)), parsed.offset(line + 4))
        found = parsed.insertion(parsed.offset(line), parsed.offset(line + 1), block=block)
        kinds.add(type(found))
        if isinstance(found, Insertion):
            assert found.strangers == (), line
            assert [(s.line, s.end_line) for s in found.statements] == [(line, line)]
    assert kinds == {Insertion, Misplaced}
    assert parsed.fragment(0, len(data)).same
