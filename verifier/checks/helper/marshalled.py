"""Comparing two marshalled code objects without loading either.

`marshal.loads` may crash on bytes that nobody vouches for, and the bytes of equal code differ:
whether an object is written again or referred to depends on reference counts, and sets have no
order. So both sides are read here, by our own reader of the format, into numbers: equal objects
get equal numbers. Nothing recurses and every object costs at least one byte, so the work is
bounded by the length.

Not compared: the file name a code object was compiled under, which no one here knows, and its
line tables, which `-X no_debug_ranges` shortens; neither decides what runs. The layout of a code
object is that of Python 3.11 to 3.14; on a Python that writes another, nothing can be compared.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

_REFERABLE: Final = 0x80
_SINGLE: Final = (b"N", b"T", b"F", b".")
_NEVER_REFERRED: Final = (*_SINGLE, b"r")
#: type byte → bytes of its length field; the content is text of any spelling, or bytes
_TEXT: Final = {b"u": 4, b"t": 4, b"a": 4, b"A": 4, b"z": 1, b"Z": 1}
_UNICODE: Final = (b"u", b"t")
_FIXED: Final = {b"i": 4, b"g": 8, b"y": 16}
_DIGIT: Final = 2  # bytes of a digit of a long integer
#: A code object: five integers, then these objects, with one integer before the last two.
_CODE_INTEGERS: Final = 5
_CODE_OBJECTS: Final = (
    *("code", "consts", "names", "localsplusnames", "localspluskinds"),
    *("filename", "name", "qualname", "linetable", "exceptiontable"),
)
_FIRST_LINE_BEFORE: Final = _CODE_OBJECTS.index("linetable")
_NOT_COMPARED: Final = frozenset(("filename", "linetable"))


def same_code(one: bytes, other: bytes) -> bool:
    """Whether both are one marshalled code object each, and the same one."""
    numbers: dict[tuple[Any, ...], int] = {}
    try:
        return _Reader(one, numbers).code() == _Reader(other, numbers).code()
    except (LookupError, ValueError):
        return False  # cut off, or not what this Python writes


@dataclass(slots=True)
class _Open:
    """A container whose content is being read."""

    kind: bytes
    wanted: int
    reference: int | None
    items: list[int] = field(default_factory=list)
    integers: list[bytes] = field(default_factory=list)


class _Reader:
    """One pass over marshalled bytes; `numbers` is shared by what is compared."""

    def __init__(self, data: bytes, numbers: dict[tuple[Any, ...], int]) -> None:
        self._data = data
        self._at = 0
        self._numbers = numbers
        self._references: list[int | None] = []
        self._kinds: dict[int, Any] = {}

    def code(self) -> int:
        """Return the number of the one code object that the bytes are."""
        if self._data[:1] not in (b"c", b"\xe3"):
            raise ValueError
        number = self._object()
        if self._at != len(self._data):
            raise ValueError
        return number

    def _take(self, length: int) -> bytes:
        taken = self._data[self._at : self._at + length]
        if length < 0 or len(taken) != length:
            raise ValueError
        self._at += length
        return taken

    def _integer(self, length: int = 4) -> int:
        return int.from_bytes(self._take(length), "little", signed=length > 1)

    def _count(self, length: int = 4) -> int:
        count = self._integer(length)
        if count < 0:
            raise ValueError
        return count

    def _number(self, value: tuple[Any, ...]) -> int:
        number = self._numbers.setdefault(value, len(self._numbers))
        self._kinds[number] = value[0]
        return number

    def _object(self) -> int:
        """Read one object and all inside it, innermost first."""
        open_: list[_Open] = []
        while True:
            done = self._start(open_)
            while done is not None:
                if not open_:
                    return done
                inner = open_[-1]
                inner.items.append(done)
                done = self._finish(open_) if self._full(inner) else None

    def _start(self, open_: list[_Open]) -> int | None:
        """Begin an object: return its number, or None after opening a container."""
        flagged = self._take(1)[0]
        kind = bytes([flagged & ~_REFERABLE])
        reference = None
        if flagged & _REFERABLE:
            if kind in _NEVER_REFERRED:
                raise ValueError  # Python would count no reference for it, nor write it
            reference = len(self._references)
            self._references.append(None)
        rule = _CONTAINERS.get(kind)
        if rule is None:
            return self._remember(reference, self._leaf(kind))
        container = _Open(kind, rule(self), reference)
        open_.append(container)
        if kind == b"c":
            container.integers = [self._take(4) for _ in range(_CODE_INTEGERS)]
        return self._finish(open_) if container.wanted == 0 else None

    def _full(self, container: _Open) -> bool:
        if container.kind == b"c" and len(container.items) == _FIRST_LINE_BEFORE:
            container.integers.append(self._take(4))
        return len(container.items) == container.wanted

    def _finish(self, open_: list[_Open]) -> int:
        container = open_.pop()
        items = container.items
        if container.kind == b"c":
            # of what is not compared the kind is: Python trusts it when it loads
            compared = (
                self._kinds[item] if name in _NOT_COMPARED else item
                for name, item in zip(_CODE_OBJECTS, items, strict=True)
            )
            value: tuple[Any, ...] = ("code", *container.integers, *compared)
        elif container.kind == b">":
            value = ("frozenset", *sorted(items))
        else:
            value = ("slice" if container.kind == b":" else "tuple", *items)
        return self._remember(container.reference, self._number(value))

    def _remember(self, reference: int | None, number: int) -> int:
        if reference is not None:
            self._references[reference] = number
        return number

    def _leaf(self, kind: bytes) -> int:
        if kind == b"r":
            number = self._references[self._count()]
            if number is None:
                raise ValueError  # an object inside itself
            return number
        if kind in _TEXT:
            text = self._take(self._integer(_TEXT[kind]))
            if kind not in _UNICODE and not text.isascii():
                raise ValueError  # Python would read it as Latin-1
            return self._number(("text", text))
        if kind == b"s":
            return self._number(("bytes", self._take(self._integer())))
        if kind in _FIXED:
            return self._number((kind, self._take(_FIXED[kind])))
        if kind == b"l":
            digits = self._integer()
            return self._number((kind, digits, self._take(_DIGIT * abs(digits))))
        if kind in _SINGLE:
            return self._number((kind,))
        raise ValueError


_CONTAINERS: Final[dict[bytes, Callable[[_Reader], int]]] = {
    b"c": lambda _: len(_CODE_OBJECTS),
    b"(": lambda reader: reader._count(),  # noqa: SLF001
    b")": lambda reader: reader._count(1),  # noqa: SLF001
    b">": lambda reader: reader._count(),  # noqa: SLF001
    b":": lambda _: 3,  # Python 3.14
}
