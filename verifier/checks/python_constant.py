"""What an expression is known to be without running anything: constant folding for two questions.

CHECKS helper, step 7d asks whether a test can never hold; step 7f asks whether the arguments of
reflection spell a name in pieces. Only constants, operators and a closed list of functions and
methods of constants are folded, with limits, and one level of a tree at a time. What is not
understood is unknown: that answers neither question with yes.
"""

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

from verifier.core.limits import FOLDED_TEXT
from verifier.core.value import frozen

#: What may be known of an expression without its value: that it counts as true, as false, or
#: nothing at all.
_TRUE, _FALSE, UNKNOWN = object(), object(), object()
_INTEGER_BITS: Final = 64

_BINARY: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: Final[dict[type, Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
_COMPARE: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, whole: item in whole,
    ast.NotIn: lambda item, whole: item not in whole,
}
#: Functions that build text from constants, each of one argument.
_FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "chr": chr,
    "ord": ord,
    "str": lambda value: value if isinstance(value, str) else UNKNOWN,
    "bytes": lambda value: bytes(value) if isinstance(value, (bytes, tuple)) else UNKNOWN,
    "bytearray": lambda value: bytes(value) if isinstance(value, (bytes, tuple)) else UNKNOWN,
    "tuple": tuple,
    "list": tuple,
    "reversed": lambda value: tuple(reversed(value)),
}
#: Methods of text and bytes that give text, bytes or parts of them.
_METHODS: Final = frozenset(
    {
        *("capitalize", "casefold", "decode", "encode", "format", "hex", "join", "lower"),
        *("lstrip", "partition", "removeprefix", "removesuffix", "replace", "rpartition"),
        *("rsplit", "rstrip", "split", "strip", "swapcase", "title", "upper"),
    }
)
#: Formats without widths, attributes or look-ups: they cannot grow beyond their arguments.
_PERCENT: Final = re.compile("%[sdrcxa%]")
_BRACES: Final = re.compile(r"\{\{|\}\}|\{\w*\}")
_CODECS: Final = frozenset({"utf-8", "utf8", "ascii", "latin-1", "latin1"})


@frozen
class Dead:
    """Why a statement can never run, and the line that says so."""

    reason: str
    line: int


def why_never(test: ast.expr | None, *, wanted: bool) -> Dead | None:
    """Say why a test never turns out `wanted`, or None where it may.

    `TYPE_CHECKING` is false whenever a program runs. `__debug__` is true or false by a switch
    of the interpreter: code that one of the two leaves out is not sure to run.
    """
    if test is None:
        return None
    for debug in (True, False):
        known = _truth_of(test, debug=debug)
        if known is not None and known is not wanted:
            word = "false" if wanted else "true"
            when = "" if _truth_of(test, debug=None) is known else ", depending on __debug__"
            return Dead(reason=f"a test is always {word}{when}", line=test.lineno)
    return None


def _truth_of(test: ast.expr, *, debug: bool | None) -> bool | None:
    return truth(fold(test, debug=debug).get(id(test), UNKNOWN))


def truth(value: object) -> bool | None:
    """Return what a folded expression counts as in a test, or None where that is unknown."""
    if value is UNKNOWN:
        return None
    if value is _TRUE or value is _FALSE:
        return value is _TRUE
    return bool(value)


def fold(root: ast.AST, *, debug: bool | None = None) -> dict[int, object]:
    """Fold every expression of a tree; the result maps `id(node)` to its value.

    What is missing in it is `UNKNOWN` too. Of a statement these are its own expressions, not
    those of the statements inside it. Children come before their parents, so that nothing
    recurses; the work is bounded by the tree and by what all built text may hold together.
    """
    order = [root]
    for node in order:
        order += [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt)]
    folder = _Folder(debug=debug)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `python -b` warns where text meets bytes
        for node in reversed(order):
            folder.add(node)
    return folder.values


def texts(values: dict[int, object]) -> Iterator[str]:
    """Yield every string among folded values; bytes are read as Latin-1, tuples by their parts."""
    for value in values.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, str):
                yield part
            elif isinstance(part, bytes):
                yield part.decode("latin-1")


class _Folder:
    """Values by node, and how much text may still be built."""

    def __init__(self, *, debug: bool | None) -> None:
        self.values: dict[int, object] = {}
        self._debug = debug
        self._left = 64 * FOLDED_TEXT

    def add(self, node: ast.AST) -> None:
        rule = _RULES.get(type(node))
        if rule is None or self._left <= 0:
            return
        try:
            value = rule(self, node)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            value = UNKNOWN  # the expression would raise: it has no value
        self.values[id(node)] = self._bounded(value)

    def of(self, node: ast.AST | None) -> object:
        return UNKNOWN if node is None else self.values.get(id(node), UNKNOWN)

    def _bounded(self, value: object) -> object:
        if isinstance(value, int) and value.bit_length() > _INTEGER_BITS:
            return UNKNOWN
        if isinstance(value, (str, bytes, tuple)):
            self._left -= len(value)
            if len(value) > FOLDED_TEXT:
                return UNKNOWN
        return value

    def known(self, nodes: list[Any]) -> list[Any] | None:
        """Return the values of nodes, or None if one has none."""
        values = [self.of(node) for node in nodes]
        return None if any(v in (UNKNOWN, _TRUE, _FALSE) for v in values) else values

    # ── one rule a class of node ───────────────────────────────────────────────────────────────

    def constant(self, node: ast.Constant) -> object:
        return node.value

    def name(self, node: ast.Name) -> object:
        if node.id == "TYPE_CHECKING":
            return _FALSE
        if node.id == "__debug__" and self._debug is not None:
            return self._debug
        return UNKNOWN

    def attribute(self, node: ast.Attribute) -> object:
        return _FALSE if node.attr == "TYPE_CHECKING" else UNKNOWN

    def named(self, node: ast.NamedExpr) -> object:
        return self.of(node.value)

    def items(self, node: ast.Tuple | ast.List | ast.Set) -> object:
        if (values := self.known(node.elts)) is not None and not isinstance(node, ast.Set):
            return tuple(values)
        return _TRUE if any(not isinstance(e, ast.Starred) for e in node.elts) else UNKNOWN

    def mapping(self, node: ast.Dict) -> object:
        if not node.keys:
            return _FALSE
        return _TRUE if any(key is not None for key in node.keys) else UNKNOWN

    def function(self, _node: ast.AST) -> object:
        return _TRUE

    def unary(self, node: ast.UnaryOp) -> object:
        value = self.of(node.operand)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return UNKNOWN if known is None else not known
        return _UNARY[type(node.op)](value)

    def boolean(self, node: ast.BoolOp) -> object:
        decides = isinstance(node.op, ast.Or)
        seen: object = UNKNOWN
        certain = True
        for value in map(self.of, node.values):
            known = truth(value)
            if known is decides:
                return value if certain else (_TRUE if decides else _FALSE)
            certain = certain and known is not None
            seen = value
        return seen if certain else UNKNOWN

    def binary(self, node: ast.BinOp) -> object:
        left, right = self.of(node.left), self.of(node.right)
        if isinstance(node.op, ast.Mod) and isinstance(left, (str, bytes)):
            return _percent(left, right)
        if isinstance(node.op, ast.Mult):
            sizes = [len(v) for v in (left, right) if isinstance(v, (str, bytes, tuple))]
            times = [abs(v) for v in (left, right) if isinstance(v, int)]
            if sizes and times and sizes[0] * times[0] > FOLDED_TEXT:
                return UNKNOWN
        return _BINARY[type(node.op)](left, right)

    def compare(self, node: ast.Compare) -> object:
        values = self.known([node.left, *node.comparators])
        if values is None:
            return UNKNOWN
        pairs = zip(node.ops, values, values[1:], strict=False)
        return all(_COMPARE[type(op)](left, right) for op, left, right in pairs)

    def choice(self, node: ast.IfExp) -> object:
        known = truth(self.of(node.test))
        return UNKNOWN if known is None else self.of(node.body if known else node.orelse)

    def formatted(self, node: ast.FormattedValue) -> object:
        value, spec = self.of(node.value), self.of(node.format_spec)
        if node.format_spec is not None and spec not in ("", "s", "c", "d", "x", "X"):
            return UNKNOWN
        if node.conversion in (ord("r"), ord("a")) or not isinstance(value, (str, int)):
            return UNKNOWN
        return format(value, spec if isinstance(spec, str) else "")

    def joined(self, node: ast.JoinedStr) -> object:
        parts = self.known(node.values)
        if parts is not None and all(isinstance(part, str) for part in parts):
            return "".join(parts)
        whole = [part for part in map(self.of, node.values) if isinstance(part, str)]
        return _TRUE if any(whole) else UNKNOWN

    def part(self, node: ast.Subscript) -> object:
        value: Any = self.of(node.value)
        index: Any = self.of(node.slice)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            index = slice(*(None if bound is None else self.of(bound) for bound in bounds))
        return value[index] if isinstance(value, (str, bytes, tuple)) else UNKNOWN

    def call(self, node: ast.Call) -> object:
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if node.keywords or not isinstance(node.func, ast.Name):
            return UNKNOWN
        if node.func.id == "map":
            return self._mapped(node.args)
        values, function = self.known(node.args), _FUNCTIONS.get(node.func.id)
        return function(*values) if function and values and len(values) == 1 else UNKNOWN

    def _mapped(self, args: list[ast.expr]) -> object:
        """`map(chr, (95, 70))`, the usual way to hide a name."""
        numbers = self.of(args[-1]) if len(args) == 2 else UNKNOWN  # noqa: PLR2004
        if not isinstance(numbers, (tuple, bytes)) or not _is_name(args[0], "chr"):
            return UNKNOWN
        return tuple(map(chr, numbers))

    def _method(self, node: ast.Call, function: ast.Attribute) -> object:
        values = self.known(node.args)
        named = {keyword.arg or "**": self.of(keyword.value) for keyword in node.keywords}
        if values is None or "**" in named or UNKNOWN in named.values():
            return UNKNOWN
        if function.attr == "fromhex" and _is_name(function.value, "bytes"):
            return bytes.fromhex(*values)
        value: Any = self.of(function.value)
        if not isinstance(value, (str, bytes)) or not _bounded(value, function.attr, values, named):
            return UNKNOWN
        result = getattr(value, function.attr)(*values, **named)
        return tuple(result) if isinstance(result, list) else result


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _percent(template: Any, values: object) -> object:
    text = template.decode("latin-1") if isinstance(template, bytes) else template
    if "%" in _PERCENT.sub("", text) or values in (UNKNOWN, _TRUE, _FALSE):
        return UNKNOWN
    return template % values


def _bounded(value: Any, method: str, values: list[Any], named: dict[str, object]) -> bool:
    """Whether a method is one of the list, with arguments that keep its result small."""
    if method not in _METHODS or not hasattr(value, method):
        return False
    if method == "format":
        return not any(brace in _BRACES.sub("", value) for brace in "{}")
    if method in ("encode", "decode"):
        return {*values, *named.values()} <= _CODECS
    if named:
        return False  # which of them take keywords differs between Pythons
    if method == "join":
        return sum(map(len, values[0])) + len(value) * len(values[0]) <= FOLDED_TEXT
    return method != "replace" or len(value) * (1 + len(values[1])) <= FOLDED_TEXT


_RULES: Final[dict[type, Callable[[_Folder, Any], object]]] = {
    ast.Constant: _Folder.constant,
    ast.Name: _Folder.name,
    ast.Attribute: _Folder.attribute,
    ast.NamedExpr: _Folder.named,
    ast.Tuple: _Folder.items,
    ast.List: _Folder.items,
    ast.Set: _Folder.items,
    ast.Dict: _Folder.mapping,
    ast.Lambda: _Folder.function,
    ast.UnaryOp: _Folder.unary,
    ast.BoolOp: _Folder.boolean,
    ast.BinOp: _Folder.binary,
    ast.Compare: _Folder.compare,
    ast.IfExp: _Folder.choice,
    ast.FormattedValue: _Folder.formatted,
    ast.JoinedStr: _Folder.joined,
    ast.Subscript: _Folder.part,
    ast.Call: _Folder.call,
}
