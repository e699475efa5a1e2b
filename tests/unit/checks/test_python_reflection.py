"""Reflection, form by form: what counts, what is the file's own, and what it spells."""

import pytest

from verifier.checks.python_reflection import reflection
from verifier.checks.python_scope import Module, parse

NAMES = ("_FAIR", "_Fair")


def uses(text: str, owned: tuple[tuple[int, int], ...] = ()) -> list[str]:
    parsed = parse(text.encode())
    assert isinstance(parsed, Module), parsed
    return [
        f"{use.what} {use.line}:{use.column} {' '.join(use.spells)}".rstrip()
        for use in reflection(parsed, owned, NAMES)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("globals()", ["globals 1:0"]),
        ("vars(m)", ["vars 1:0"]),
        ("exec('a')", ["exec 1:0"]),
        ("eval('a')", ["eval 1:0"]),
        ("compile(a)", ["compile 1:0"]),
        ("setattr(a, b, c)", ["setattr 1:0"]),
        ("delattr(a, b)", ["delattr 1:0"]),
        ("__builtins__['x']", ["__builtins__ 1:0"]),
        ("f = exec", ["exec 1:4"]),
        ("map(exec, a)", ["exec 1:4"]),
        ("def f():\n return lambda: eval", ["eval 2:16"]),
        ("def f(a=globals()): pass", ["globals 1:8"]),
        ("@exec\ndef f(): pass", ["exec 1:1"]),
        ("locals()", ["locals 1:0"]),
        ("[locals() for a in b]", ["locals 1:1"]),
        ("f'{globals()}'", ["globals 1:0"]),
        ("f(f'a'\n  f'{exec}')", ["exec 1:2"]),
        ("a.__dict__", ["__dict__ 1:0"]),
        ("a.b().__dict__['x'] = 1", ["__dict__ 1:0"]),
        ("a.__dict__.update(b)", ["__dict__ 1:0"]),
        ("frame.f_globals", ["f_globals 1:0"]),
        ("import sys\nsys.modules[__name__]", ["sys.modules 2:0"]),
        ("import sys as s\ns.modules", ["sys.modules 2:0"]),
        ("from sys import modules", ["sys.modules 1:16"]),
        ("from sys import modules as m\nm[1]", ["sys.modules 1:16", "sys.modules 2:0"]),
        ("import builtins\nbuiltins.exec(a)", ["exec 2:0"]),
        ("import builtins as b\nb.setattr(a)", ["setattr 2:0"]),
        ("from builtins import exec as e\ne(a)", ["exec 1:21", "exec 2:0"]),
        ("import gc", ["import gc 1:7"]),
        ("import a, gc as b", ["import gc 1:10"]),
        ("from gc import collect", ["import gc 1:15"]),
        ("import ctypes.util", ["import ctypes 1:7"]),
        ("from ctypes.util import a", ["import ctypes 1:24"]),
        ("def f():\n import ctypes", ["import ctypes 2:8"]),
        ("import _ctypes", ["import _ctypes 1:7"]),
        ("from a import *", ["import * 1:14"]),
        ("from a import \\\n *", ["import * 2:1"]),
        ("if a:\n from .a import *", ["import * 2:16"]),
        ("\uff45xec(a)", ["exec 1:0"]),
        ("a.__\uff44ict__", ["__dict__ 1:0"]),
        # bound, but not surely the file's own
        ("if a:\n def exec(): pass\nexec()", ["exec 3:0"]),
        ("exec()\ndef exec(): pass", ["exec 1:0"]),
        ("def exec(): pass\ndel exec\nexec()", ["exec 3:0"]),
        ("def exec(): pass\ndef exec(): pass\nexec()", ["exec 3:0"]),
        ("from builtins import exec\nexec()", ["exec 1:21", "exec 2:0"]),
        ("try: from re import compile\nexcept E: pass\ncompile(a)", ["compile 3:0"]),
        ("def f():\n global vars\n vars = 1\nvars(a)", ["vars 4:0"]),
        ("class C:\n vars = 1\n def f(self): vars(a)", ["vars 3:14"]),
        ("class C:\n x = eval(a)\n def eval(self): pass", ["eval 2:5"]),
        ("__builtins__ = 1\n__builtins__", ["__builtins__ 2:0"]),
        ("def f(__builtins__): __builtins__", ["__builtins__ 1:21"]),
        ("def f():\n def g(eval): pass\n eval(a)", ["eval 3:1"]),
        ("[eval for a in b]\n[1 for eval in a]", ["eval 1:1"]),
    ],
)
def test_what_counts_as_reflection(text: str, expected: list[str]) -> None:
    assert uses(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "re.compile('a')",
        "pattern = re . compile(a)",
        "self.eval()",
        "model.eval().vars()",
        "class C:\n def eval(self): pass\n def compile(self): self.eval()",
        "class C:\n def eval(self): pass\n evaluate = eval",
        "def compile(a): pass\ncompile(1)",
        "def compile(a): pass\ndef f(): compile(1)",
        "from re import compile\ncompile(a)",
        "compile = re.compile\ncompile(a)",
        "def f(vars): return vars(1)",
        "def f():\n vars = {}\n return [vars[a] for a in b]",
        "def f():\n for exec in a: exec()",
        "def f(eval):\n def g(): nonlocal eval; eval(1)",
        "lambda vars: vars",
        "def f(): return locals()",
        "class C:\n locals()",
        "lambda: locals()",
        "self.modules",
        "nn.sys.modules_",
        "from torch import modules",
        "x = 'globals()'  # exec",
        "f(exec=1)",
        "from . import gc",
        "from .gc import a",
        "import gcc, my_ctypes",
        "a.gc.collect()",
        "a = b *c",
        "import a\n*b, c = d",
        "execute = evaluate = 1",
        "__dict__ = {}",
        "setattr_ = 1",
    ],
)
def test_what_is_no_reflection(text: str) -> None:
    assert uses(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "globals()['_FAIR'] = a",
        "globals()['_FA' 'IR'] = a",
        "globals()['_FA' + 'IR'] = a",
        "globals()[f'_FA{\"IR\"}'] = a",
        "globals()['_%s' % 'FAIR'] = a",
        "globals()['%s%s' % ('_FA', 'IR')] = a",
        "globals()['{}{}'.format('_FA', 'IR')] = a",
        "globals()['{a}IR'.format(a='_FA')] = a",
        "globals()[''.join(['_FA', 'IR'])] = a",
        "globals()['RIAF_'[::-1]] = a",
        "globals()[''.join(reversed('RIAF_'))] = a",
        "globals()[''.join(map(chr, (95, 70, 65, 73, 82)))] = a",
        "globals()[chr(95) + 'FAIR'] = a",
        "globals()[chr(90 + 5) + 'FAIR'] = a",
        "globals()['_fair'.upper()] = a",
        "globals()['_FXIR'.replace('X', 'A')] = a",
        "globals()[b'_FA'.decode() + 'IR'] = a",
        "globals()[bytes([95, 70]).decode('ascii') + 'AIR'] = a",
        "globals()[bytes.fromhex('5f46414952').decode()] = a",
        "globals()['  _FA'.strip() + 'IR'] = a",
        "globals()[('_FA' if 1 else 'b') + 'IR'] = a",
        "globals()['_FA\\x49R'] = a",
        "globals()['a,_FA'.split(',')[1] + 'IR'] = a",
        "globals().update({'_FA' + 'IR': a})",
        "globals().update(_FA\uff29R=a)",
        "globals().__setitem__('_FA' + 'IR', a)",
        "setattr(m, '_FA' + 'IR', a)",
        "delattr(m, '_FA' + 'IR')",
        "vars(m)['_FA' + 'IR'] = a",
        "m.__dict__['_FA' + 'IR'] = a",
        "exec('_FA' + 'IR = 1')",
        "exec(b'_FA' + b'IR = 1')",
        "exec('import a; a._FA' 'IR')",
        "import sys; sys.modules[__name__]._FA\uff29R = a",
        "f.f_globals[0 or ('_FA' + 'IR')] = a",
        "x = [exec, '_' + 'FAIR']",
        "locals()['_FA' + 'IR'] = a",
    ],
)
def test_what_spells_an_owned_name(text: str) -> None:
    assert [use.split()[-1] for use in uses(text)] == ["_FAIR"]


@pytest.mark.parametrize(
    "text",
    [
        "globals()['_FA' + b] = a",
        "globals()['_FA'] = 'IR'",
        "globals()['_fair'] = a",
        "globals()['_FA' * 1000000000 + 'IR'] = a",
        "globals()['%1000000000d' % 1] = a",
        "globals()['{:1000000000}'.format(1)] = a",
        "globals()['{0.__class__}'.format(1)] = a",
        "globals()[f'{1:1000000000}'] = a",
        "globals()[('a' * 60000).replace('a', 'b' * 60000)] = a",
        "globals()[('a' * 60000).join(('b',) * 60000)] = a",
        "globals()['_FA' - 'IR'] = a",
        "globals()[b'a' == 'a'] = a",
        "globals()['_FA'[9]] = a",
        "globals()[1 << 1000000000] = a",
        "globals()[2 ** 1000000000] = a",
        "globals()[10 ** 9 * 10 ** 9 * 10 ** 9] = a",
        "globals()[chr(-1)] = a",
        "globals()['a'.decode()] = a",
        "globals()['a'.encode('idna')] = a",
        "globals()[1 // 0] = a",
        "'_FA' 'IR'\nglobals()",
        "if globals():\n '_FA' + 'IR'",
    ],
)
def test_what_spells_nothing_that_is_known(text: str) -> None:
    assert [use.partition(" ")[2].count(" ") for use in uses(text)] == [0]


def test_uses_inside_owned_bytes_do_not_count() -> None:
    text = "exec(a)\nexec(b)\nimport gc\nx.__dict__\n"
    assert uses(text, ((0, 7), (16, 25))) == ["exec 2:0", "__dict__ 4:0"]
    assert uses(text, ((1, 8),)) == uses(text)
    assert uses("x\\\n.__dict__\n", ((3, 12),)) == ["__dict__ 1:0"]
    assert uses("x\\\n.__dict__\n", ((0, 2),)) == ["__dict__ 1:0"]
    assert uses("x\\\n.__dict__\n", ((0, 12),)) == []


def test_folding_is_bounded() -> None:
    text = "exec(" + " + ".join(["'" + "a" * 100 + "'"] * 900) + ")\n"
    assert uses(text) == ["exec 1:0"]
