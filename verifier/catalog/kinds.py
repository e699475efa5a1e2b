"""The kinds of entries: how each is read, and what the look-up index holds of it.

One row a kind; a new kind adds one here, its accessor to `Catalog`, and its page to `show`. The
modules are imported when an entry of theirs is read: most runs are about one kind.
"""

import functools
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Final, NamedTuple

from verifier.catalog.index import Row


class Kind(NamedTuple):
    """Where a kind's `parse(data, where)` is, and its `hints(entry)` for the index, if it has any.

    Lineages have none here, because the index is built from them whole; signers are found by name.
    """

    format: str
    hints: str | None = None


KINDS: Final[dict[str, Kind]] = {
    "helper": Kind("helper_format"),
    "composition": Kind("composition_format", "composition_rows.hints"),
    "image": Kind("image_format", "image_rows.image_hints"),
    "runtime": Kind("runtime_format", "image_rows.runtime_hints"),
    "release": Kind("release_format", "release_format.hints"),
    "signers": Kind("signers_format"),
}


#: Entries of at most so many bytes are remembered.
_SMALL: Final = 1 << 18


def parse(kind: str, data: bytes, where: str) -> Any:
    """Read an entry of a kind, a value. Raises `MalformedError` naming every mistake.

    The same bytes are parsed once: each question to a registry asks for its entries again.
    """
    return (_parsed if len(data) <= _SMALL else _parsed.__wrapped__)(kind, data, where)


@functools.lru_cache(128)
def _parsed(kind: str, data: bytes, where: str) -> Any:
    return _named(f"{KINDS[kind].format}.parse")(data, where)


def hints(kind: str, entry: Any) -> Iterable[tuple[str, Row]]:
    """Return what the look-up index holds of an entry."""
    named = KINDS[kind].hints
    found: Iterable[tuple[str, Row]] = _named(named)(entry) if named else ()
    return found


def _named(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"verifier.catalog.entries.{module}"), name)
    return found
