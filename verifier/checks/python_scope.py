"""Facts about the structure of one Python file, from one parse of its original bytes.

CHECKS helper, step 7, is the first caller. This module knows no helper and judges nothing: it
answers where statements stand, what encloses them and whether they can run. Names are the
business of `python_binding`, reflection of `python_reflection`, constants of `python_constant`.

How it stays equal on every Python: nothing is printed from the tree (`ast.dump` differs between
versions); positions inside f-strings, wrong before 3.12, are never used; nesting has a limit of
our own, below every Python's; how an error is worded comes from here.

How it stays fast: an identifier stands on a line of the statement that holds it, so a question
about names finds the lines by a byte search and visits only statements that touch them. Identifiers
may also be spelled in characters that NFKC turns into ASCII; lines with such count for every name.
Nothing here recurses, so a deep file cannot exhaust the stack.
"""

import ast
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from verifier.checks.python_constant import Dead
from verifier.checks.python_source import TOO_DEEP, Unparsable, read, read_part
from verifier.checks.python_tree import (
    Block,
    Enclosing,
    Scope,
    Visit,
    blocks,
    deeper_than,
    defines,
    enclosing,
    first_line,
    last_line,
    left_before,
    lists,
    own_nodes,
    qualified,
    same,
    touching,
)
from verifier.core.limits import PYTHON_DEPTH
from verifier.core.value import frozen

__all__ = [
    "Dead",
    "Enclosing",
    "Fragment",
    "Insertion",
    "Misplaced",
    "Module",
    "Scope",
    "Statement",
    "Unparsable",
    "parse",
    "qualified",
]

#: Whether the bytes around an occurrence keep it from mattering: its `start` and `end`, and the
#: start of its line. It may look a bounded distance, or a long line would cost its square.
Context = Callable[[bytes, int, int, int], bool]

_IN_WORDS: Final = frozenset(bytes([c]) for c in range(128) if chr(c).isalnum() or chr(c) == "_")
_BLANK: Final = re.compile(rb"[ \t\f]*(#.*)?\n?")
_MARGIN: Final = re.compile(rb"[ \t\f]*")


# ── values ─────────────────────────────────────────────────────────────────────────────────────


@frozen
class Statement:
    """One statement: its kind as `ast` names it, the name it defines, its lines from 1.

    `line` is where it starts, with its decorators; `column` counts bytes from 0.
    """

    kind: str
    name: str
    line: int
    end_line: int
    column: int


@frozen
class Fragment:
    """What the module's body holds in a byte range, against that range parsed alone.

    `crossing` are statements of the body that stand partly inside; `decorated` are the lines of
    decorators outside that wrap a statement inside. `same` means: at least one statement, the
    same ones at the same places, nothing crossing.
    """

    alone: tuple[Statement, ...] | Unparsable
    inside: tuple[Statement, ...]
    crossing: tuple[Statement, ...]
    decorated: tuple[int, ...]
    same: bool


@frozen
class Insertion:
    """Whole statements at exactly the lines of a range, consecutive in one list of statements.

    `scope` holds only classes and functions. `strangers` are lines of the surrounding block
    beside the range, indented alike, that are no neighbours in the same list.
    """

    statements: tuple[Statement, ...]
    scope: Scope
    dead: Dead | None
    strangers: tuple[int, ...]

    @property
    def functions(self) -> int:
        """How many functions enclose it: 1 is a plain function or method, more is nested."""
        return sum(step.kind == "function" for step in self.scope)


@frozen
class Misplaced:
    """A range that is no list of whole statements: why, and from which line on."""

    reason: str
    line: int


def parse(data: bytes) -> "Module | Unparsable":
    """Parse the original bytes once; the one way to a `Module`."""
    tree = read(data)
    if isinstance(tree, Unparsable):
        return tree
    module = Module(data, tree)
    deep = deeper_than(tree, PYTHON_DEPTH, longest=module.longest_line)
    return module if deep is None else Unparsable(reason=TOO_DEEP, line=deep)


# ── the tree ───────────────────────────────────────────────────────────────────────────────────


class Module:
    """One parsed file. Byte offsets are into `data`, lines count from 1, columns from 0."""

    def __init__(self, data: bytes, tree: ast.Module) -> None:
        """Keep the tree; `parse` is the way to one."""
        self.data = data
        self._tree = tree
        self._starts = array("q", accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        self._lookalikes: tuple[bytes, ...] | None = None
        self._found: dict[bytes, list[tuple[int, int]]] = {}

    # ── places ─────────────────────────────────────────────────────────────────────────────────

    def offset(self, line: int, column: int = 0) -> int:
        """Return the byte offset of a line (one past the last is the end) and column."""
        return self._starts[min(line, len(self._starts)) - 1] + column

    def line(self, offset: int) -> int:
        """Return the line that the byte at `offset` stands on."""
        return bisect_right(self._starts, offset, hi=max(1, len(self._starts) - 1))

    def _text(self, line: int) -> bytes:
        return self.data[self.offset(line) : self.offset(line + 1)]

    def _statement(self, node: ast.stmt) -> Statement:
        return Statement(
            kind=type(node).__name__,
            name=getattr(node, "name", "") if defines(node) else "",
            line=first_line(node),
            end_line=last_line(node),
            column=node.col_offset,
        )

    @property
    def longest_line(self) -> int:
        """How many bytes the longest line has."""
        return max((b - a for a, b in pairwise(self._starts)), default=0)

    # ── questions about ranges ─────────────────────────────────────────────────────────────────

    def fragment(self, start: int, end: int) -> Fragment:
        """Compare the module's statements in a byte range with the range parsed alone."""
        first, last = self.line(start), self.line(max(start, end - 1))
        inside: list[ast.stmt] = []
        crossing: list[ast.stmt] = []
        decorated: list[int] = []
        for node in touching(self._tree.body, first, last):
            if first <= node.lineno and last_line(node) <= last and defines(node):
                decorated += [d.lineno for d in node.decorator_list if d.lineno < first]
            whole = first <= first_line(node) and last_line(node) <= last
            (inside if whole else crossing).append(node)
        alone = read_part(self.data[start:end])
        equal = (
            isinstance(alone, ast.Module)
            and self.offset(first) == start
            and bool(inside)
            and not crossing
            and same(inside, alone.body, first - 1)
        )
        return Fragment(
            alone=alone if isinstance(alone, Unparsable) else self._statements(alone.body),
            inside=self._statements(inside),
            crossing=self._statements(crossing),
            decorated=tuple(decorated),
            same=equal,
        )

    def _statements(self, nodes: Iterable[ast.stmt]) -> tuple[Statement, ...]:
        return tuple(self._statement(node) for node in nodes)

    def insertion(self, start: int, end: int, *, block: tuple[int, int]) -> Insertion | Misplaced:
        """Find the statements that are exactly the lines `[start, end)` of `block`.

        Blank lines and comments of the range belong to no statement; every other line of it
        must, and no statement may begin before the range or end after it.
        """
        first, last = self.line(start), self.line(max(start, end - 1))
        if self.offset(first) != start or end <= start or self.offset(last + 1) != end:
            return Misplaced(reason="the range is not made of whole lines", line=first)
        scope: Scope = ()
        dead: Dead | None = None
        body: Sequence[ast.stmt] = self._tree.body
        owner: Block | None = None
        while True:
            touched = touching(body, first, last)
            if not touched:
                return Misplaced(reason="no statement stands there", line=first)
            dead = dead or left_before(body, touched[0])
            if first <= first_line(touched[0]) and last_line(touched[-1]) <= last:
                run = _Run(body, owner, touched, first, last)
                if (bad := self._incomplete(run)) is not None:
                    return bad
                return Insertion(
                    statements=self._statements(touched),
                    scope=scope,
                    dead=dead,
                    strangers=self._strangers(run, *map(self.line, (block[0], block[1] - 1))),
                )
            node = touched[0]
            if len(touched) > 1 or first_line(node) >= first:
                return Misplaced(reason="a statement is cut by the range", line=first_line(node))
            inner = [b for b in blocks(node) if touching(b.body, first, last)]
            if len(inner) != 1:
                return Misplaced(reason="part of a statement", line=first_line(node))
            dead = dead or inner[0].dead
            scope = (*scope, enclosing(node)) if defines(node) else scope
            body, owner = inner[0].body, inner[0]

    def _incomplete(self, run: "_Run") -> Misplaced | None:
        """Say which line of a run belongs to something else than its statements."""
        if run.owner is not None and run.owner.head_end >= run.first:
            return Misplaced(reason="part of a statement's head", line=run.first)
        covered = run.first
        for node in run.found:
            if bad := self._code_between(covered, first_line(node) - 1):
                return Misplaced(reason="part of no statement", line=bad)
            covered = last_line(node) + 1
        if bad := self._code_between(covered, run.last):
            return Misplaced(reason="part of no statement", line=bad)
        begin, column = first_line(run.found[0]), run.found[0].col_offset
        text = self._text(begin)
        if text[:column].strip():
            return Misplaced(reason="a statement begins inside the line", line=begin)
        if isinstance(run.found[0], ast.If) and text[column:].startswith(b"elif"):
            return Misplaced(reason="part of a statement", line=begin)
        return None

    def _code_between(self, first: int, last: int, step: int = 1) -> int | None:
        """Return the first line from `first` to `last` that is neither blank nor a comment."""
        lines = range(first, last + step, step)
        return next((n for n in lines if not _BLANK.fullmatch(self._text(n))), None)

    def _strangers(self, run: "_Run", top: int, bottom: int) -> tuple[int, ...]:
        """Return neighbouring lines in `top`..`bottom` that look like siblings but are none."""
        body, _, found, first, last = run
        at = body.index(found[0])
        indent = self._margin(first_line(found[0]))
        strangers = []
        before = self._code_between(first - 1, top, -1)
        if before and self._margin(before) == indent:
            # at the start of a block this is the end of its head, which may be indented like it
            sibling = first_line(body[at - 1]) <= before <= last_line(body[at - 1]) if at else None
            if not sibling and (at or _stands_alone(self._text(before))):
                strangers.append(before)
        after = self._code_between(last + 1, bottom)
        if after and self._margin(after) == indent:
            following = body[at + len(found) :][:1]
            if not following or first_line(following[0]) != after:
                strangers.append(after)
        return tuple(strangers)

    def _margin(self, line: int) -> bytes:
        found = _MARGIN.match(self._text(line))
        return found[0] if found else b""

    # ── questions about names ──────────────────────────────────────────────────────────────────

    def lines_with(self, words: Iterable[str], *, unless: Context | None = None) -> set[int]:
        """Return the lines on which one of the identifiers may stand.

        `unless` leaves occurrences out that cannot matter to the caller, by what is around them;
        look-alikes of ASCII characters count whatever is around them.
        """
        named = sorted(set(words))
        if not all(word.isascii() for word in named):
            return set(range(1, len(self._starts)))
        lines = set()
        for word in named:
            for start, end in self._occurrences(word.encode()):
                line = self.line(start)
                if unless is None or not unless(self.data, start, end, self._starts[line - 1]):
                    lines.add(line)
        for spelling in self._foreign() if named else ():
            lines |= self.lines_of(re.compile(re.escape(spelling)))
        return lines

    def lines_of(self, pattern: re.Pattern[bytes]) -> set[int]:
        """Return the lines on which a match of the pattern ends."""
        return {self.line(match.end() - 1) for match in pattern.finditer(self.data)}

    def _occurrences(self, word: bytes) -> list[tuple[int, int]]:
        """Return where a word stands as a whole identifier; searching plain bytes is fastest."""
        found = self._found.get(word)
        if found is None:
            found, data = [], self.data
            start = data.find(word)
            while start >= 0:
                end = start + len(word)
                around = data[max(0, start - 1) : start], data[end : end + 1]
                if _IN_WORDS.isdisjoint(around):
                    found.append((start, end))
                start = data.find(word, end)
            self._found[word] = found
        return found

    def _foreign(self) -> tuple[bytes, ...]:
        """Return the file's other characters that identifiers turn into ASCII.

        The parser applies NFKC. Its decomposition looks at one character at a time and its
        composition never makes ASCII, so an identifier that becomes ASCII has only such.
        """
        if self._lookalikes is None:
            others: set[str] = set()
            if not self.data.isascii():
                from unicodedata import normalize  # noqa: PLC0415  (ASCII hosts do not pay)

                others = {
                    character
                    for character in set(self.data.decode())
                    if not character.isascii() and normalize("NFKC", character).isascii()
                }
            self._lookalikes = tuple(character.encode() for character in sorted(others))
        return self._lookalikes

    def visit(self, touched: Iterable[int], kinds: Container[str]) -> Iterator[Visit]:
        """Yield the nodes of those classes in every statement that touches one of the lines."""
        lines = sorted(touched)
        pending: list[tuple[Sequence[ast.stmt], Scope, bool]] = [(self._tree.body, (), True)]
        while pending:
            body, scope, direct = pending.pop()
            for statement in body:
                first = first_line(statement)
                at = bisect_left(lines, first)
                if at == len(lines) or lines[at] > last_line(statement):
                    continue
                yield from own_nodes(statement, scope, direct=direct, kinds=kinds)
                opens = defines(statement)
                inner = (*scope, enclosing(statement)) if defines(statement) else scope
                pending += [(block, inner, opens) for block in lists(statement)]


class _Run(NamedTuple):
    """Statements `found` in a list of statements, and the lines that they should fill."""

    body: Sequence[ast.stmt]
    owner: Block | None
    found: Sequence[ast.stmt]
    first: int
    last: int


def _stands_alone(text: bytes) -> bool:
    """Whether one line is a whole statement by itself."""
    tree = read_part(text.strip() + b"\n")
    return isinstance(tree, ast.Module) and bool(tree.body)
