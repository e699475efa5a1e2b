"""Uses of reflection in a Python file that could change what its text does not show.

CHECKS helper, step 7f, and that closed list only. Apart from `python_binding` because here a name
must be resolved, which there is left to the caller.

A bare name of the list counts unless it surely is the file's own:
* in a function that binds it, or inside such a function: Python then never looks further;
* after the end of the statement with the only binding of that name in the module, where that is
  a direct child of the module and no import from `builtins`; the same in the body of a class for
  uses in that very body. Inside of that statement the name is still the builtin: the right side
  of `setattr = setattr`, the default of a parameter, the body of a class.
Everything else counts: bound under a condition, deleted, bound twice, used before. `x.eval()` is
an attribute, and what stands for `builtins`, by any import, is not told from the builtin.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from verifier.checks.python_binding import (
    Binding,
    aliases_of,
    bindings,
    bound,
    dotted,
    place,
)
from verifier.checks.python_constant import fold, texts
from verifier.checks.python_scope import Module
from verifier.checks.python_tree import Scope, Visit, children
from verifier.core.value import frozen

_BUILTINS: Final = frozenset(
    (
        *("globals", "vars", "exec", "eval", "compile", "setattr", "delattr", "__builtins__"),
        "__import__",
    )
)
#: Counts only where it is the module's own namespace.
_LOCALS: Final = "locals"
_ATTRIBUTES: Final = frozenset(
    (
        *("__dict__", "f_globals", "f_locals", "f_builtins", "__globals__"),
        *("__setattr__", "__delattr__"),
    )
)
_IMPORTS: Final = frozenset(("gc", "ctypes", "_ctypes"))
#: The builtins by another way: through a module that was imported under any name.
_PATHS: Final = frozenset(f"builtins.{name}" for name in _BUILTINS)
_STAR: Final = re.compile(rb"\bimport[ \t\f\\\n]*\*")
#: Scopes whose bindings hide a builtin from everything inside. Not comprehensions: their first
#: iterable is evaluated outside of them.
_OWN: Final = frozenset(("function", "lambda"))


@frozen
class Reflection:
    """One use: what it is (`globals`, `__dict__`, `sys.modules`, `import gc`, `import *`), where.

    `spells` are the owned names that the same statement spells, with constants folded, or has as
    an identifier in any spelling.
    """

    what: str
    line: int
    column: int
    offset: int
    spells: tuple[str, ...]


class _Bound(NamedTuple):
    """What binds a name in one scope: in which forms, and the only binding if there is but one."""

    forms: frozenset[str]
    alone: Binding | None


_UNBOUND: Final = _Bound(frozenset(), None)
#: By name and scope, what the file binds; what can bind it in the module stands under None.
_Own = Mapping[str, Mapping[Scope | None, _Bound]]


def reflection(
    module: Module, owned: Iterable[tuple[int, int]], names: Iterable[str]
) -> tuple[Reflection, ...]:
    """Return every use of reflection that is not wholly inside one of the `owned` byte ranges."""
    own = _own(bindings(module, _BUILTINS | {_LOCALS}))
    aliases = aliases_of(module, {"sys", "builtins"})
    ranges, wanted = tuple(owned), sorted(set(names))
    lines = module.lines_with(_BUILTINS | {_LOCALS}, unless=_is_attribute)
    lines |= module.lines_with(_ATTRIBUTES | _IMPORTS | {"modules", "builtins", *aliases})
    lines |= module.lines_of(_STAR)
    spelled: dict[int, tuple[str, ...]] = {}
    found = []
    for visit in module.visit(lines, {"Name", "Attribute", "alias"}):
        for what in _uses(visit, aliases, own):
            start, end = _extent(module, visit)
            if any(low <= start and end <= high for low, high in ranges):
                continue
            key = id(visit.statement)
            if key not in spelled:
                spelled[key] = _spelled(visit.statement, wanted)
            found.append(Reflection(what=what, spells=spelled[key], **place(module, visit)))
    return tuple(sorted(found, key=lambda use: (use.offset, use.what)))


def _own(found: Iterable[Binding]) -> _Own:
    """Sort bindings, once: a file may have as many uses, and each asks."""
    names: dict[str, dict[Scope | None, list[Binding]]] = {}
    for binding in found:
        scopes = names.setdefault(binding.name, {})
        for scope in (binding.scope, None) if binding.in_module else (binding.scope,):
            scopes.setdefault(scope, []).append(binding)
    return {
        name: {
            scope: _Bound(frozenset(b.form for b in here), here[0] if len(here) == 1 else None)
            for scope, here in scopes.items()
        }
        for name, scopes in names.items()
    }


def _is_attribute(data: bytes, start: int, _end: int, _line: int) -> bool:
    """Whether a name stands behind a dot, which makes it no bare name."""
    return data[start - 1 : start] == b"."


def _extent(module: Module, visit: Visit) -> tuple[int, int]:
    node = visit.place
    start = module.offset(node.lineno, node.col_offset)
    return start, module.offset(node.end_lineno, node.end_col_offset)


# ── one node ───────────────────────────────────────────────────────────────────────────────────


def _uses(visit: Visit, aliases: dict[str, str], own: _Own) -> Iterator[str]:
    node = visit.node
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and _is_builtin(node, visit, own):
            yield node.id
        else:
            yield from _by_path(aliases.get(node.id, ""))
    elif isinstance(node, ast.Attribute):
        if node.attr in _ATTRIBUTES:
            yield node.attr
        parts = dotted(node)
        parts[:1] = aliases.get(parts[0], parts[0]).split(".")
        yield from _by_path(".".join(parts))
    elif isinstance(node, ast.alias):
        yield from _imports(visit)


def _imports(visit: Visit) -> Iterator[str]:
    for _, form, what in bound(visit):
        root = what.split(".")[0]
        if root in _IMPORTS:
            yield f"import {root}"
        if form == "from-import" and what.endswith(".*"):
            yield "import *"
        yield from _by_path(what)


def _by_path(path: str) -> Iterator[str]:
    tail = ".".join(path.split(".")[-2:])  # `from os import sys`: a module by way of another
    if tail == "sys.modules" or tail in _PATHS:
        yield tail.removeprefix("builtins.")


def _is_builtin(node: ast.Name, visit: Visit, own: _Own) -> bool:
    """Whether a bare name of the list may be the builtin: see the rule at the top."""
    if node.id == _LOCALS:
        if any(step.kind != "comprehension" for step in visit.scope):
            return False
    elif node.id not in _BUILTINS:
        return False
    if node.id == "__builtins__":
        return True  # Python itself reads this name, whoever binds it
    named = own.get(node.id, {})
    scope = visit.scope
    for depth in range(len(scope), 0, -1):
        here = named.get(scope[:depth], _UNBOUND)
        if "global" in here.forms:
            break
        if scope[depth - 1].kind in _OWN and here.forms - {"nonlocal"}:
            return False
        if depth == len(scope) and _surely(here.alone, visit):
            return False
    return not _surely(named.get(None, _UNBOUND).alone, visit)


def _surely(binding: Binding | None, visit: Visit) -> bool:
    """Whether one binding alone gives the name its meaning from its line on."""
    return (
        binding is not None
        and binding.direct
        and binding.form in ("def", "class", "assignment", "import", "from-import")
        and not binding.module.startswith("builtins.")
        and binding.until <= (visit.place.lineno, visit.place.col_offset)
    )


# ── what a statement spells ────────────────────────────────────────────────────────────────────


def _spelled(statement: ast.stmt, names: list[str]) -> tuple[str, ...]:
    """Return the names that a statement's own expressions hold, folded or as identifiers."""
    nodes: list[ast.AST] = [statement]
    held: list[str] = []
    for node in nodes:
        nodes += [child for child in children(node) if not isinstance(child, ast.stmt)]
        held += [
            value
            for field in ("id", "attr", "arg", "name", "asname")
            if isinstance(value := getattr(node, field, None), str)
        ]
    held += texts(fold(statement))
    return tuple(name for name in names if any(name in text for text in held))
