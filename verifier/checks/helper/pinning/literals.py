"""The texts that a Python source holds: its literals, and what its names are defined as.

The source is parsed and never run. A literal is a string or bytes constant, or several joined by
`+` or by standing side by side; what is formatted, replaced or read is computed at run time and is
no literal.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from verifier.checks import python_source
from verifier.checks.python_constant import fold
from verifier.core.value import frozen

_JOINED: Final = (ast.Constant, ast.BinOp, ast.Add)
_LABEL: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


@frozen
class Literal:
    """A text of a source, and where it stands.

    `symbol` is what it is assigned to or stands in: a name, dotted inside classes, with `['key']`
    in a table, `name()` inside of functions; "" for none. `label` is the first short word beside
    it in the same call or list.
    """

    text: bytes
    start: int
    end: int
    line: int
    symbol: str
    label: str


@frozen
class Definition:
    """What one statement defines a name as; `text` is None where that is no literal.

    `code` says that the name is that of a function or class, which `start` to `end` hold.
    """

    name: str
    start: int
    end: int
    line: int
    text: bytes | None
    code: bool


@frozen
class Source:
    """A producer's file: its bytes, its literals in their order, its definitions."""

    data: bytes
    literals: tuple[Literal, ...]
    definitions: tuple[Definition, ...]

    def defined(self, name: str) -> tuple[Definition, ...]:
        """Return every definition of a name."""
        return tuple(each for each in self.definitions if each.name == name)


def read(data: bytes) -> Source | python_source.Unparsable:
    """Read a Python source, or say why it is none."""
    tree = python_source.read(data)
    if isinstance(tree, python_source.Unparsable):
        return tree
    walk = _Walk(data)
    walk.take(tree)
    return Source(
        data=data,
        literals=tuple(sorted(walk.literals, key=lambda each: each.start)),
        definitions=tuple(sorted(walk.definitions, key=lambda each: each.start)),
    )


@frozen
class _Around:
    """What encloses a node: the function or class, the name assigned to, the word beside it."""

    scope: str = ""
    symbol: str = ""
    label: str = ""

    def dotted(self, name: str) -> str:
        return f"{self.scope}.{name}" if self.scope else name


class _Walk:
    """Goes through a tree once; nothing recurses."""

    def __init__(self, data: bytes) -> None:
        self.literals: list[Literal] = []
        self.definitions: list[Definition] = []
        self._starts = [0]
        for line in data.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def take(self, tree: ast.Module) -> None:
        ways: list[tuple[ast.AST, _Around]] = [(tree, _Around())]
        while ways:
            node, around = ways.pop()
            if isinstance(node, ast.JoinedStr):
                continue  # its parts are no text of their own
            if isinstance(node, ast.expr) and (text := text_of(node)) is not None:
                start, end = self._place(node)
                self.literals.append(
                    Literal(
                        text=text,
                        start=start,
                        end=end,
                        line=node.lineno,
                        symbol=around.symbol or around.scope,
                        label=around.label,
                    )
                )
                continue
            below = self._inside(node, around)
            if isinstance(node, ast.Dict) and around.symbol:
                ways += self._items(node, around)
            else:
                ways += [(child, below) for child in ast.iter_child_nodes(node)]

    def _inside(self, node: ast.AST, around: _Around) -> _Around:
        """Note what a node defines, and return what it is around its children."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = around.dotted(node.name)
            self._define(node, name, around, code=True)
            called = "" if isinstance(node, ast.ClassDef) else "()"
            return _Around(scope=f"{name}{called}")
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            for name in names:
                self._define(node, around.dotted(name), around, value=node.value)
            return replace(around, symbol=around.dotted(names[0]) if names else "", label="")
        if isinstance(node, (ast.Call, ast.Tuple, ast.List)):
            return replace(around, label=next(_labels(node), ""))
        return around

    def _items(self, node: ast.Dict, around: _Around) -> Iterator[tuple[ast.AST, _Around]]:
        """Yield the values of a table that is assigned, each under its own name: `NAME['key']`."""
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant):
                yield value, around
                continue
            name = f"{around.symbol}[{key.value!r}]"
            if "()" not in around.scope:
                start, end = self._place(value)
                self.definitions.append(
                    Definition(
                        name=name,
                        start=start,
                        end=end,
                        line=value.lineno,
                        text=text_of(value),
                        code=False,
                    )
                )
            yield value, replace(around, symbol=name)

    def _define(
        self,
        node: ast.stmt,
        name: str,
        around: _Around,
        *,
        value: ast.expr | None = None,
        code: bool = False,
    ) -> None:
        if "()" in around.scope:
            return  # a local name is no symbol
        start, end = self._place(value or node)
        self.definitions.append(
            Definition(
                name=name,
                start=self._starts[node.lineno - 1] if code else start,
                end=end,
                line=node.lineno,
                text=None if value is None else text_of(value),
                code=code,
            )
        )

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[(node.end_lineno or node.lineno) - 1] + (
            node.end_col_offset or 0
        )


def _labels(node: ast.Call | ast.Tuple | ast.List) -> Iterator[str]:
    """Yield the short words among the arguments or elements of a node."""
    for each in (
        [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else node.elts
    ):
        text = text_of(each)
        if text is not None and _LABEL.fullmatch(text):
            yield text.decode()


def text_of(node: ast.expr) -> bytes | None:
    """Return the text of a literal, None for any other expression."""
    value: object = None
    if isinstance(node, ast.Constant):
        value = node.value
    elif isinstance(node, ast.BinOp) and all(isinstance(n, _JOINED) for n in ast.walk(node)):
        value = fold(node).get(id(node))
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            return None  # half of a surrogate pair: the bytes of no file
    return value if isinstance(value, bytes) else None
