"""Which names a Python file binds, by any form the grammar has, and which attributes it assigns.

CHECKS helper, steps 7a, 7b and 7e: an owned name, an import or a builtin that is bound a second
time is no longer what was published. Every form counts, a parameter or local variable too: the
caller sees the scope and decides. Names come as the parser has them (NFKC), and as Python stores
them: inside a class, `__x` is `_Class__x`.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from verifier.checks.python_scope import Module
from verifier.checks.python_tree import Scope, Visit
from verifier.core.value import frozen

#: A dotted name that is called or subscripted on its line: no attribute of it is assigned.
_LOOKED_INTO: Final = re.compile(rb"[ \t\f]{0,80}[.(]")
_CALLED: Final = re.compile(
    rb"(?:[ \t\f]{0,8}\.[ \t\f]{0,8}[\w\x80-\xff]{1,80}){0,8}[ \t\f]{0,8}[(\[]"
)
_DEFINING: Final = re.compile(rb"\b(?:def|class)[ \t\f]+\Z")
_IMPORTING: Final = re.compile(rb"\b(?:from|import)\b")
#: A name further into its line than this may always bind: looking back would cost too much.
_LONG_LINE: Final = 400
#: White space between `def` and the name it defines, beyond which nobody writes.
_LONG_NAME: Final = 200
#: How a plain name in a statement is bound, by the statement's class.
_STATEMENTS: Final[dict[type, str]] = {
    ast.AugAssign: "augmented assignment",
    ast.AnnAssign: "annotation",
    ast.For: "for",
    ast.AsyncFor: "for",
    ast.With: "with",
    ast.AsyncWith: "with",
    ast.Delete: "del",
}


@frozen
class Binding:
    """One place that binds a name, in words of `form`, and the scope it stands in.

    `direct`: its statement is a child of that scope's own body. For imports, `module` is what is
    imported (`os.path`; `os.environ` for `from os import environ`) and `plain` marks `import X`
    without dots and another name. `name` is as asked for.
    """

    name: str
    form: str
    line: int
    column: int
    offset: int
    scope: Scope
    direct: bool
    until: tuple[int, int]
    """Line and column at which its statement ends, all that is inside it included."""
    module: str = ""
    plain: bool = False

    @property
    def in_module(self) -> bool:
        """Whether it can bind the name in the module: it stands there, or says `global`."""
        return not self.scope or self.form == "global"


@frozen
class AttributeStore:
    """One attribute that is assigned or deleted, by any form of target.

    `base` is what it belongs to, dotted, a module's other name resolved: after `import os as o`
    the base of `o.environ = …` is `os`. Where a base begins with no name it begins with `?`.
    """

    base: str
    attribute: str
    line: int
    column: int
    offset: int
    scope: Scope


def bindings(module: Module, names: Iterable[str]) -> tuple[Binding, ...]:
    """Return every binding of the names in the file, in order of place.

    Ask once with all names: the cost is one search for all of them.
    """
    wanted = set(names)
    found = []
    for visit in module.visit(_lines_that_bind(module, _spellings(wanted)), _RULES):
        for identifier, form, what in bound(visit):
            name = _stored(identifier, visit.scope)
            if name not in wanted and identifier in wanted:
                name = identifier  # mangled into another name; counted all the same
            if name in wanted:
                found.append(_binding(module, visit, name, form, what))
    return tuple(sorted(found, key=lambda b: (b.offset, b.name, b.form)))


def names_of(scope: Scope) -> frozenset[str]:
    """Return every name under which the classes and functions of a scope are stored."""
    stored = {_stored(step.name, scope[:depth]) for depth, step in enumerate(scope)}
    return frozenset(stored | {step.name for step in scope}) - {""}


def rebindings(scope: Scope, found: Iterable[Binding]) -> tuple[Binding, ...]:
    """Return, of `found`, what binds a class or function of `scope` again.

    That is any other binding in the block that holds it, an earlier one too: in a loop or a
    handler it may be the last to run. Or a declaration that moves the name elsewhere. `found`
    must come from a question that included `names_of(scope)`.
    """
    return tuple(
        binding
        for binding in found
        if any(_binds_again(binding, scope, depth) for depth in range(len(scope)))
    )


def _binds_again(binding: Binding, scope: Scope, depth: int) -> bool:
    step, block = scope[depth], scope[:depth]
    if binding.name not in (step.name, _stored(step.name, block)):
        return False
    declared = binding.form in ("global", "nonlocal")
    if binding.scope == block:
        return declared or (binding.line, binding.column) != (step.line, step.column)
    if binding.form == "global":
        return depth == 0
    return binding.form == "nonlocal" and depth > 0 and binding.scope[:depth] == block


def attribute_stores(module: Module, names: Iterable[str]) -> tuple[AttributeStore, ...]:
    """Return every store to an attribute in whose dotted name one of the names is a part."""
    wanted = set(names)
    aliases = aliases_of(module, wanted)
    found = []
    lines = module.lines_with(_spellings(wanted) | set(aliases), unless=_is_called)
    for visit in module.visit(lines, {"Attribute"}):
        node = visit.node
        if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
            continue
        parts = dotted(node.value)
        parts[:1] = aliases.get(parts[0], parts[0]).split(".")
        name = _stored(node.attr, visit.scope)
        if not wanted.isdisjoint((*parts, node.attr, name)):
            found.append(
                AttributeStore(
                    base=".".join(parts),
                    attribute=name,
                    scope=visit.scope,
                    **place(module, visit),
                )
            )
    return tuple(sorted(found, key=lambda store: (store.offset, store.base, store.attribute)))


def _lines_that_bind(module: Module, words: set[str]) -> set[int]:
    """Return the lines on which a word may be bound: not where it is called or looked into."""
    return module.lines_with(words, unless=_cannot_bind)


def _is_called(data: bytes, _start: int, end: int, _line: int) -> bool:
    """Whether a name, or what is looked up in it, is called or subscripted: no store."""
    return _CALLED.match(data, end) is not None


def _cannot_bind(data: bytes, start: int, end: int, line: int) -> bool:
    """Whether a name is an attribute, or is called or looked into, and not being defined.

    Before `(` or `.` a name is bound only by `def`, `class` and `import`. A continued line may
    hide those at the end of the line before.
    """
    if data[start - 1 : start] != b"." and not _LOOKED_INTO.match(data, end):
        return False
    if data[max(0, line - 2) : line] == b"\\\n" or start - line > _LONG_LINE:
        return False
    head = data[line:start]
    return not _DEFINING.search(head[-_LONG_NAME:]) and not _IMPORTING.search(head)


# ── identifiers ────────────────────────────────────────────────────────────────────────────────


def _stored(identifier: str, scope: Scope) -> str:
    """Return the name that Python stores: private names of a class carry the class's name."""
    if not identifier.startswith("__") or identifier.endswith("__"):
        return identifier
    owner = next((step.name for step in reversed(scope) if step.kind == "class"), "")
    return f"_{owner.lstrip('_')}{identifier}" if owner.strip("_") else identifier


def _spellings(names: Iterable[str]) -> set[str]:
    """Return every identifier that could be stored as one of the names."""
    found = set(names)
    for name in list(found):
        if name.startswith("_"):
            found |= {name[at:] for at in range(1, len(name)) if name.startswith("__", at)}
    return found


def dotted(node: ast.expr) -> list[str]:
    """Return the parts of `a.b.c`; the first is `?` where it is no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "?")
    return parts[::-1]


def aliases_of(module: Module, names: set[str]) -> dict[str, str]:
    """Return under which other names the file imports modules of the names, or parts of them."""
    found: dict[str, str] = {}
    for visit in module.visit(_lines_that_bind(module, names), {"alias"}):
        for identifier, form, what in bound(visit):
            imported = form in ("import", "from-import") and not names.isdisjoint(what.split("."))
            if imported and identifier not in names:
                found[identifier] = what
    return found


# ── one node ───────────────────────────────────────────────────────────────────────────────────


def bound(visit: Visit) -> Iterable[tuple[str, str, str]]:
    """Return what one node binds: identifier, form, and for an import what is imported."""
    rule = _RULES.get(type(visit.node).__name__)
    return () if rule is None else rule(visit.node, visit)


def _name(node: ast.Name, visit: Visit) -> Iterator[tuple[str, str, str]]:
    if isinstance(node.ctx, ast.Load):
        return
    if visit.scope and visit.scope[-1].kind == "comprehension":
        form = "comprehension"
    elif type(visit.statement).__name__ == "TypeAlias":
        form = "type"
    else:
        form = _STATEMENTS.get(type(visit.statement), "assignment")
    yield node.id, form, ""


def _walrus(node: ast.NamedExpr, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    yield node.target.id, "walrus", ""


def _definition(node: Any, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    yield node.name, "class" if isinstance(node, ast.ClassDef) else "def", ""


def _parameter(node: ast.arg, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    yield node.arg, "parameter", ""


def _type_parameter(node: Any, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    yield node.name, "type parameter", ""


def _imported(node: ast.alias, visit: Visit) -> Iterator[tuple[str, str, str]]:
    statement = visit.statement
    if isinstance(statement, ast.ImportFrom):
        source = "." * statement.level + (statement.module or "")
        yield node.asname or node.name, "from-import", f"{source}.{node.name}"
    else:
        yield node.asname or node.name.split(".")[0], "import", node.name


def _handler(node: ast.ExceptHandler, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    if node.name:
        yield node.name, "except", ""


def _declared(node: ast.Global | ast.Nonlocal, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    for name in node.names:
        yield name, "global" if isinstance(node, ast.Global) else "nonlocal", ""


def _captured(node: Any, _visit: Visit) -> Iterator[tuple[str, str, str]]:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        yield name, "match", ""


_RULES: Final[dict[str, Any]] = {
    "Name": _name,
    "NamedExpr": _walrus,
    "FunctionDef": _definition,
    "AsyncFunctionDef": _definition,
    "ClassDef": _definition,
    "arg": _parameter,
    "TypeVar": _type_parameter,
    "ParamSpec": _type_parameter,
    "TypeVarTuple": _type_parameter,
    "alias": _imported,
    "ExceptHandler": _handler,
    "Global": _declared,
    "Nonlocal": _declared,
    "MatchAs": _captured,
    "MatchStar": _captured,
    "MatchMapping": _captured,
}


def walrus_scope(scope: Scope) -> Scope:
    """Return where a walrus binds: outside of every comprehension around it."""
    while scope and scope[-1].kind == "comprehension":
        scope = scope[:-1]
    return scope


def _binding(module: Module, visit: Visit, name: str, form: str, what: str) -> Binding:
    statement = visit.statement
    return Binding(
        name=name,
        form=form,
        scope=walrus_scope(visit.scope) if form == "walrus" else visit.scope,
        direct=visit.direct and "parameter" not in form,
        until=(statement.end_lineno or 0, statement.end_col_offset or 0),
        module=what,
        plain=form == "import" and what == name,
        **place(module, visit),
    )


def place(module: Module, visit: Visit) -> dict[str, int]:
    """Return line, column and byte offset of a node, as the values of this room have them."""
    line, column = visit.place.lineno, visit.place.col_offset
    return {"line": line, "column": column, "offset": module.offset(line, column)}
