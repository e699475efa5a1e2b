"""What of a Python file is syntax: its tree without places, comments and blank lines.

Two files with the same facts differ in nothing that the language sees but line numbers. Facts are
compared within one run and never stored: another Python may have another grammar.
"""

import ast
from typing import Any

from verifier.checks.python_source import Unparsable, read

_PLACES = frozenset({"lineno", "col_offset", "end_lineno", "end_col_offset"})


def facts(data: bytes) -> tuple[object, ...] | None:
    """Return the nodes and values of a file in the order of the tree, None if it does not parse."""
    tree = read(data)
    if isinstance(tree, Unparsable):
        return None
    found: list[object] = []
    waiting: list[Any] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.AST):
            fields = [(name, value) for name, value in ast.iter_fields(one) if name not in _PLACES]
            found.append((type(one).__name__, len(fields)))
            waiting += [value for _, value in reversed(fields)]
        elif isinstance(one, list):
            found.append(("list", len(one)))
            waiting += reversed(one)
        else:
            # A constant is itself only with its type: 1, True and 1.0 are equal in Python.
            found.append((type(one).__name__, hex(one) if type(one) is int else repr(one)))
    return tuple(found)
