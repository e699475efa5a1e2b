"""Values: frozen, keyword-only, slotted dataclasses (law 9), in one word.

`@frozen` is `@dataclass(frozen=True, slots=True, kw_only=True)`, except that equality, hash and
repr are written once, here, instead of being generated for each class. A run creates some fifty
such classes before it reads its first byte, and generating those methods was half of their cost.
"""

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen(cls: type[T]) -> type[T]:
    """Make a class of annotated fields a value: equal if all its fields are equal.

    Fields with `field(compare=False)` do not count. A `__repr__` of the class's own is kept.
    """
    made: Any = dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)(cls)
    made.__eq__ = _equal
    made.__hash__ = _hash
    if "__repr__" not in vars(cls):
        made.__repr__ = _shown
    done: type[T] = made
    return done


def _names(one: Any) -> tuple[str, ...]:
    return tuple(one.__dataclass_fields__)


def _compared(one: Any) -> tuple[Any, ...]:
    fields = one.__dataclass_fields__.items()
    return tuple(getattr(one, name) for name, field in fields if field.compare)


def _equal(one: Any, other: Any) -> Any:
    if type(one) is not type(other):
        return NotImplemented
    return _compared(one) == _compared(other)


def _hash(one: Any) -> int:
    return hash((type(one), _compared(one)))


def _shown(one: Any) -> str:
    shown = ", ".join(f"{name}={getattr(one, name)!r}" for name in _names(one))
    return f"{type(one).__name__}({shown})"
