"""Step 4: what a helper binds in its module, and what helper and inserted lines read.

Python's own symbol tables decide which names are global; where a table is about other lines than
ours, the names come from our lines alone and only their meaning from the table of the function
around them. Builtins are those of the running Python, of which every supported one has the names
that real helpers read.
"""

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator
from typing import Final

from verifier.checks import python_source
from verifier.core.value import frozen

_BUILTINS: Final = frozenset(dir(builtins)) - {"__builtins__"}
#: What every module has without binding it.
_MODULE: Final = frozenset(
    {"__name__", "__file__", "__doc__", "__spec__", "__package__", "__loader__", "__annotations__"}
)


@frozen
class Reads:
    """Free names: those that the module binds, builtins, and those that nothing binds."""

    module: tuple[str, ...]
    builtins: tuple[str, ...]
    unbound: tuple[str, ...]


def binds(helper: bytes) -> tuple[str, ...]:
    """Return the names that a helper defines or assigns in its module, in their order.

    A module that it imports is everybody's name, and none that it owns.
    """
    table = _table(helper)
    if table is None:
        return ()
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if (symbol.is_assigned() or symbol.is_namespace()) and not symbol.is_imported()
    }
    order = {name: at for at, name in enumerate(_in_order(helper))}
    return tuple(sorted(found & order.keys(), key=lambda name: order[name]))


def defines(text: bytes) -> bool:
    """Whether a text is Python that binds a name otherwise than by importing it."""
    return bool(binds(text))


def reads(host: bytes, helper: bytes, inserted: Iterable[tuple[int, int]]) -> Reads:
    """Return what a helper reads, and what the inserted byte ranges of its host do."""
    own = set(binds(helper)) | _imported(helper)
    names = _free(helper)
    module = _Module(host)
    for start, end in inserted:
        names |= module.free(start, end)
    names -= own | _MODULE
    unbound = names - module.bound - _BUILTINS
    return Reads(
        module=tuple(sorted(names & module.bound)),
        builtins=tuple(sorted((names & _BUILTINS) - module.bound)),
        unbound=tuple(sorted(unbound)),
    )


def plain_imports(host: bytes, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names that the host imports as `import NAME` in its body."""
    tree = python_source.read(host)
    if isinstance(tree, python_source.Unparsable):
        return ()
    plain = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.asname is None and "." not in alias.name
    }
    return tuple(name for name in names if name in plain)


# ── tables ─────────────────────────────────────────────────────────────────────────────────────


def _table(source: bytes) -> symtable.SymbolTable | None:
    if isinstance(python_source.read(source), python_source.Unparsable):
        return None
    try:
        with python_source.settled():
            return symtable.symtable(source.decode(), "<host>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnicodeDecodeError):
        return None


def _all(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    tables = [table]
    for each in tables:
        tables += each.get_children()
    return iter(tables)


def _bound(table: symtable.SymbolTable) -> set[str]:
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }


def _imported(helper: bytes) -> set[str]:
    table = _table(helper)
    return (
        set() if table is None else {s.get_name() for s in table.get_symbols() if s.is_imported()}
    )


def _free(source: bytes) -> set[str]:
    """Return the names that a text reads from its module and does not bind there."""
    table = _table(source)
    if table is None:
        return set()
    names = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    for below in _all(table):
        if below is not table:
            names |= {s.get_name() for s in below.get_symbols() if s.is_global()}
    return names - _bound(table)


class _Module:
    """A host: what its module binds, and the symbol tables of its functions by their lines."""

    def __init__(self, host: bytes) -> None:
        self._host = host
        table, tree = _table(host), python_source.read(host)
        self.bound = set() if table is None else _bound(table)
        self._functions: list[tuple[int, int, str]] = []
        self._tables: dict[tuple[int, str], symtable.SymbolTable] = {}
        if table is None or isinstance(tree, python_source.Unparsable):
            return
        self._functions = [
            (node.lineno, node.end_lineno or 0, node.name)
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        self._tables = {
            (below.get_lineno(), below.get_name()): below
            for below in _all(table)
            if below.get_type() == "function"
        }

    def free(self, start: int, end: int) -> set[str]:
        """Return the names in inserted lines that the function around them takes from outside."""
        names = _free(_wrapped(self._host[start:end]))
        line = self._host.count(b"\n", 0, start) + 1
        around = [(at, name) for at, last, name in self._functions if at < line <= last]
        function = self._tables.get(max(around)) if around else None
        if function is None:
            return names
        return names - {s.get_name() for s in function.get_symbols() if not s.is_global()}


def _wrapped(lines: bytes) -> bytes:
    """Put lines into a function and a loop of their own, so that `return` and `break` parse."""
    rows = lines.splitlines(keepends=True)
    first = next((row for row in rows if row.strip()), b"")
    margin = first[: len(first) - len(first.lstrip(b" \t"))]
    body = b"".join(b"  " + row.removeprefix(margin) for row in rows)
    plain = b"def __inserted():\n while 1:\n" + body
    if isinstance(python_source.read(plain), python_source.Unparsable):
        return b"async " + plain
    return plain


def _in_order(helper: bytes) -> Iterator[str]:
    """Yield names as a text binds them, from its top down."""
    tree = python_source.read(helper)
    if isinstance(tree, python_source.Unparsable):
        return
    seen: dict[str, None] = {}
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                seen.setdefault(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                seen.setdefault(node.id)
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                seen.setdefault(node.name)
            elif isinstance(node, ast.MatchMapping) and node.rest:
                seen.setdefault(node.rest)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                seen.setdefault(node.name)
    yield from seen
