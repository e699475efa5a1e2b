"""Walking Python's syntax tree without recursion, and the scope that each node stands in.

Apart from `python_scope` because it knows the grammar and nothing of bytes or questions. The
grammar grows: children are found by what a field holds, not by a list of classes, so a node of
a newer Python is walked like any other.
"""

import ast
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple, TypeGuard

from verifier.checks.python_constant import Dead, why_never
from verifier.core.value import frozen

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LISTS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
_LEAVING: Final[dict[type, str]] = {
    ast.Return: "return",
    ast.Raise: "raise",
    ast.Break: "break",
    ast.Continue: "continue",
}
#: Fields that hold no node with a place of its own, most of all nodes together.
_LEAVES: Final = frozenset(
    ("ctx", "op", "ops", "id", "attr", "kind", "level", "type_comment", "conversion", "is_async")
)
_fields: Final[dict[type, tuple[str, ...]]] = {}
_UNVISITED: Final = (ast.stmt, ast.Constant)
#: What holds statements of its own, and so is no part of a statement's head.
_PARTS: Final = (ast.stmt, ast.excepthandler, ast.match_case)
#: Statements without statements inside; most are one of these.
_SIMPLE: Final = (ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Assert)
_WITH_PARTS: Final = (ast.Try, ast.TryStar, ast.Match)


@frozen
class Enclosing:
    """One step of a scope: a class, function, lambda, comprehension or type statement.

    `line` and `column` are those of `class`, `def` or `async`; `decorators` are their lines.
    """

    kind: str
    name: str
    line: int
    column: int
    decorators: tuple[int, ...] = ()


#: What encloses a place, outermost first; empty means the module. Scopes compare by value.
Scope = tuple[Enclosing, ...]


def qualified(scope: Scope) -> str:
    """Name a scope as Python's `__qualname__` does: `Scheduler.schedule`, `f.<locals>.g`."""
    parts: list[str] = []
    for step in scope:
        if parts and parts[-1] == "":
            parts[-1] = "<locals>"
        parts.append(step.name or f"<{step.kind}>")
        if step.kind in ("function", "lambda"):
            parts.append("")
    return ".".join(part for part in parts if part)


class Visit(NamedTuple):
    """One node that a question about names looks at.

    `place` has the position to report: the node's own, or that of the f-string around it.
    `direct` tells whether the statement is a child of its scope's own body.
    """

    node: ast.AST
    place: Any
    scope: Scope
    statement: ast.stmt
    direct: bool


class Block(NamedTuple):
    """One list of statements inside a statement, and the last line of what comes before it."""

    body: Sequence[ast.stmt]
    dead: Dead | None
    first_line: int
    head_end: int


# ── single nodes ───────────────────────────────────────────────────────────────────────────────


def defines(node: ast.stmt) -> TypeGuard[Definition]:
    """Whether the statement opens a scope: a class or a function."""
    return isinstance(node, _DEFINITIONS)


def enclosing(node: Definition) -> Enclosing:
    """Describe the scope that a class or function opens."""
    return Enclosing(
        kind="class" if isinstance(node, ast.ClassDef) else "function",
        name=node.name,
        line=node.lineno,
        column=node.col_offset,
        decorators=tuple(decorator.lineno for decorator in node.decorator_list),
    )


def first_line(node: ast.stmt) -> int:
    """Return the line a statement starts on; its own position leaves decorators out."""
    decorators = getattr(node, "decorator_list", None)
    return min(node.lineno, decorators[0].lineno) if decorators else node.lineno


def last_line(node: ast.stmt) -> int:
    """Return the line a statement ends on."""
    return node.end_lineno or node.lineno


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly below, whatever the class, but for operators and contexts."""
    kind = type(node)
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(f for f in kind._fields if f not in _LEAVES)
    found: list[ast.AST] = []
    for field in fields:
        value = getattr(node, field, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def lists(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the lists of statements inside a statement, in order, none of them empty."""
    found: list[list[ast.stmt]] = []
    for field in statement._fields:
        if field in _LISTS and (value := getattr(statement, field)):
            if field in ("handlers", "cases"):
                found += [part.body for part in value]
            else:
                found.append(value)
    return found


def touching(body: Sequence[ast.stmt], first: int, last: int) -> list[ast.stmt]:
    """Return the statements of a list that have a line in `first`..`last`."""
    start = bisect_left(body, first, key=last_line)
    return list(takewhile(lambda node: first_line(node) <= last, islice(body, start, None)))


# ── statements inside a statement, and whether they can run ────────────────────────────────────


def blocks(statement: ast.stmt) -> list[Block]:
    """Return the lists of statements inside, each with what keeps it from running."""
    test = statement.test if isinstance(statement, (ast.If, ast.While)) else None
    start = first_line(statement)
    heads = [node for node in children(statement) if not isinstance(node, _PARTS)]
    ends = max(_end(heads), statement.lineno)
    found: list[Block] = []
    for field in statement._fields:
        value = getattr(statement, field) if field in _LISTS else ()
        if value and field in ("handlers", "cases"):
            for part in value:
                own = [node for node in children(part) if not isinstance(node, _PARTS)]
                dead = why_never(getattr(part, "guard", None), wanted=True)
                found.append(Block(part.body, dead, start, max(ends, _end(own))))
                ends = last_line(part.body[-1])
        elif value:
            dead = why_never(test, wanted=field == "body")
            found.append(Block(value, dead, start, ends))
            ends = last_line(value[-1])
    return found


def _end(nodes: Iterable[ast.AST]) -> int:
    """Return the last line of expressions; some nodes have no position of their own."""
    end, pending = 0, list(nodes)
    for node in pending:
        if (line := getattr(node, "end_lineno", None)) is None:
            pending += children(node)
        else:
            end = max(end, line)
    return end


def left_before(body: Sequence[ast.stmt], node: ast.stmt) -> Dead | None:
    """Find an earlier statement of the list after which nothing of it runs."""
    for sibling in body[: body.index(node)]:
        if word := _LEAVING.get(type(sibling)):
            return Dead(reason=f"{word} stands before it", line=sibling.lineno)
    return None


# ── everything that one statement holds itself ─────────────────────────────────────────────────


def own_nodes(
    statement: ast.stmt, scope: Scope, *, direct: bool, kinds: Container[str]
) -> Iterator[Visit]:
    """Yield a statement and its expressions, but no statement inside it, with their scopes.

    `kinds` are the classes to yield, by name. Constants are never visited.

    Positions inside f-strings are right only since Python 3.12: all of one is reported where
    the outermost begins, so that every Python says the same.
    """
    pending: list[tuple[ast.AST, Any, Scope]] = [(statement, None, scope)]
    while pending:
        node, string, within = pending.pop()
        kind = type(node).__name__
        if kind in kinds:
            yield Visit(node, string or node, within, statement, direct)
        if string is None and kind == "JoinedStr":
            string = node
        rule = _SCOPING.get(kind)
        if rule is None:
            pending += [
                (child, string, within)
                for child in children(node)
                if not isinstance(child, _UNVISITED)
            ]
        else:
            pending += [
                (child, string, inner)
                for child, inner in rule(node, within)
                if not isinstance(child, _UNVISITED)
            ]


_Inside = Iterator[tuple[ast.AST, Scope]]


def _class(node: ast.ClassDef, scope: Scope) -> _Inside:
    own = getattr(node, "type_params", ())
    inner = (*scope, enclosing(node))
    for child in children(node):
        yield child, inner if child in own else scope


def _comprehension(node: Any, scope: Scope) -> _Inside:
    # the first iterable is evaluated outside, which matters for no name that is bound
    inner = (*scope, _step("comprehension", node))
    for child in children(node):
        yield child, inner


def _type_alias(node: Any, scope: Scope) -> _Inside:
    inner = (*scope, _step("type", node))
    for child in children(node):
        yield child, scope if child is node.name else inner


def _walrus(node: ast.NamedExpr, scope: Scope) -> _Inside:
    """Its target is no plain name: where it binds is a question about the walrus."""
    yield node.value, scope


def _argument(_node: ast.arg, _scope: Scope) -> _Inside:
    """Its annotation stands in the scope outside: `_function` has yielded it."""
    return iter(())


def _function(node: Any, scope: Scope) -> _Inside:
    """Parameters and type parameters belong to the function; defaults and the rest do not."""
    step = _step("lambda", node) if isinstance(node, ast.Lambda) else enclosing(node)
    inner = (*scope, step)
    own = getattr(node, "type_params", ())
    for child in children(node):
        if child is node.args:
            for argument in children(node.args):
                if not isinstance(argument, ast.arg):
                    yield argument, scope
                    continue
                yield argument, inner
                if argument.annotation is not None:
                    yield argument.annotation, scope
        else:
            yield child, inner if child in own or child is node.body else scope


def _step(kind: str, node: Any) -> Enclosing:
    return Enclosing(kind=kind, name="", line=node.lineno, column=node.col_offset)


_SCOPING: Final[dict[str, Callable[[Any, Scope], _Inside]]] = {
    "FunctionDef": _function,
    "AsyncFunctionDef": _function,
    "Lambda": _function,
    "ClassDef": _class,
    "ListComp": _comprehension,
    "SetComp": _comprehension,
    "DictComp": _comprehension,
    "GeneratorExp": _comprehension,
    "TypeAlias": _type_alias,  # Python 3.12
    "NamedExpr": _walrus,
    "arg": _argument,
}


# ── whole trees ────────────────────────────────────────────────────────────────────────────────


def deeper_than(tree: ast.Module, limit: int, *, longest: int) -> int | None:
    """Return the line of a statement nested deeper than `limit`, or None.

    Syntax nests at most as deep as it has bytes, so only statements of many bytes, by their
    lines and the length of the `longest` line of the file, are measured.
    """
    longest = longest or 1
    pending: list[tuple[Sequence[ast.stmt], int]] = [(tree.body, 1)]
    while pending:
        body, depth = pending.pop()
        if depth > limit:
            return body[0].lineno
        room = (limit - depth) // longest
        for statement in body:
            inner = [] if isinstance(statement, _SIMPLE) else lists(statement)
            # handlers and cases have heads of their own, between the blocks
            plain = inner and not isinstance(statement, _WITH_PARTS)
            end = inner[0][0].lineno if plain else last_line(statement)
            if end - first_line(statement) >= room and depth + height(statement) > limit:
                return statement.lineno
            pending += [(block, depth + 1) for block in inner]
    return None


def height(statement: ast.stmt) -> int:
    """Return how deep a statement's own expressions nest."""
    level: list[ast.AST] = [statement]
    deep = 0
    while level:
        deep += 1
        level = [c for node in level for c in children(node) if not isinstance(c, ast.stmt)]
    return deep


def same(one: Sequence[ast.stmt], other: Sequence[ast.stmt], shift: int) -> bool:
    """Whether two lists of statements are equal, `one` standing `shift` lines further down.

    Everything counts: classes, names, constants with their types, and every position.
    """
    pending: list[tuple[Any, Any]] = [(list(one), list(other))]
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, list):
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif isinstance(left, ast.AST):
            if not _same_place(left, right, shift):
                return False
            pending += [
                (getattr(left, field, None), getattr(right, field, None)) for field in left._fields
            ]
        elif left != right:
            return False
    return True


def _same_place(one: ast.AST, other: ast.AST, shift: int) -> bool:
    for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
        moved = shift if name.endswith("lineno") else 0
        left, right = getattr(one, name, None), getattr(other, name, None)
        if left != (right if right is None else right + moved):
            return False
    return True
