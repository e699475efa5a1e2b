"""Documents taken apart a named key at a time, every mistake with its path (ARCHITECTURE, law 9).

Strict bytes go in (`strict`), a `Table` comes out. Every mistake of a document is collected with
its path, and shown at once. Refused by `close`: keys that nobody asked for.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Self

from verifier.core.clock import parse_time, print_time
from verifier.core.digest import HEX64, Pin
from verifier.core.errors import WrongCallError
from verifier.core.limits import CHOICES_SHOWN, MISTAKES_SHOWN
from verifier.core.printable import quoted
from verifier.core.strict import read_json, read_toml


class MalformedError(WrongCallError):
    """A document breaks its format. `mistakes` lists each one as `path: what is wrong`."""

    def __init__(self, what: str, mistakes: Iterable[str], *, remedy: str) -> None:
        """Join the mistakes to one message; all of them are shown up to a limit."""
        self.mistakes = tuple(mistakes)
        self.what = what
        shown = self.mistakes[:MISTAKES_SHOWN]
        more = len(self.mistakes) - len(shown)
        self.listed = (*shown, *([f"and {more} more"] if more else []))
        super().__init__(f"{what}: " + "; ".join(self.listed), code="malformed", remedy=remedy)


class Table:
    """One table of a strict document, read a named key at a time.

    A wrong value is noted and a harmless stand-in returned, so that one pass finds every
    mistake; nothing may be built from the stand-ins: `done` raises before that happens.
    """

    def __init__(self, value: Any, *, what: str, remedy: str) -> None:
        """Start at the top of a document; `what` names it in errors, `remedy` ends them."""
        self._mistakes: list[str] = []
        self._what = what
        self._remedy = remedy
        self._path = ""
        self._asked: set[str] = set()
        self._value: dict[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            self._mistakes.append("the document is no table")

    @classmethod
    def toml(cls, data: bytes, *, what: str, remedy: str) -> Self:
        """Read strict TOML; raises `MalformedError` at once if it does not parse."""
        return cls._parsed(read_toml, data, what=what, remedy=remedy)

    @classmethod
    def json(cls, data: bytes, *, what: str, remedy: str) -> Self:
        """Read strict JSON; raises `MalformedError` at once if it does not parse."""
        return cls._parsed(read_json, data, what=what, remedy=remedy)

    @classmethod
    def _parsed(cls, read: Callable[[bytes], Any], data: bytes, *, what: str, remedy: str) -> Self:
        try:
            value = read(data)
        except ValueError as error:
            raise MalformedError(what, [str(error)], remedy=remedy) from None
        return cls(value, what=what, remedy=remedy)

    # ── mistakes ───────────────────────────────────────────────────────────────────────────

    def mistake(self, key: str, text: str) -> None:
        """Note what is wrong with `key` (a dotted path below this table, or "")."""
        path = self.path(key)
        self._mistakes.append(f"{path}: {text}" if path else text)

    def path(self, key: str) -> str:
        """Return where `key` stands in the document, dotted."""
        return ".".join(part for part in (self._path, key) if part)

    @property
    def sound(self) -> bool:
        """Whether no mistake was noted so far, anywhere in the document."""
        return not self._mistakes

    def close(self) -> None:
        """Note every key that was not asked for."""
        for key in sorted(self._value.keys() - self._asked):
            near = nearest(key, self._asked)
            self.mistake(key, "unknown key" + (f", did you mean {near}?" if near else ""))

    def done(self) -> None:
        """Close this table and raise `MalformedError` if the document has mistakes."""
        self.close()
        if self._mistakes:
            raise MalformedError(self._what, self._mistakes, remedy=self._remedy)

    # ── values ─────────────────────────────────────────────────────────────────────────────

    def has(self, key: str) -> bool:
        """Whether `key` is given; asking for it makes it known."""
        self._asked.add(key)
        return key in self._value

    def text(
        self,
        key: str,
        *,
        default: str | None = None,
        choices: Iterable[str] = (),
        pattern: str | None = None,
        form: str = "",
    ) -> str:
        """Return a string, not empty, of `choices` or matching `pattern` as a whole.

        `form` says in words what the pattern allows.
        """
        value: str = self._typed(key, str, default, "a string")
        allowed = tuple(choices)
        if self.has(key) and isinstance(self._value[key], str):
            if not value:
                self.mistake(key, "is empty")
            elif allowed and value not in allowed:
                self.mistake(key, f"{quoted(value)} is none of {_listed(value, allowed)}")
            elif pattern and not re.fullmatch(pattern, value):
                self.mistake(key, f"{quoted(value)} is not of the form {form or pattern}")
        # After a mistake a choice is still one of them: callers look it up before they are done.
        return allowed[0] if allowed and value not in allowed and value != default else value

    def string(self, key: str) -> str:
        """Return a string, which may be empty."""
        value: str = self._typed(key, str, None, "a string")
        return value

    def optional_text(self, key: str, *, pattern: str | None = None, form: str = "") -> str | None:
        """Return a string as `text` does, or None where the key is absent."""
        return self.text(key, pattern=pattern, form=form) if self.has(key) else None

    def integer(
        self, key: str, *, default: int | None = None, least: int = 0, most: int = 1 << 53
    ) -> int:
        """Return an integer between `least` and `most`, both included."""
        value: int = self._typed(key, int, default, "an integer")
        if self.has(key) and not least <= value <= most:
            self.mistake(key, f"{value} is not between {least} and {most}")
        return value

    def optional_integer(self, key: str) -> int | None:
        """Return an integer from 0, or None where the key is absent or null."""
        return self.integer(key) if self.has(key) and not self.is_null(key) else None

    def is_null(self, key: str) -> bool:
        """Whether `key` is given as null, which JSON can say and TOML cannot."""
        return self.has(key) and self._value[key] is None

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return a boolean."""
        value: bool = self._typed(key, bool, default, "true or false")
        return value

    def time(self, key: str) -> datetime:
        """Return an aware UTC time; TOML holds it bare, JSON as a string."""
        wanted = "a time as 2026-11-29T00:00:00Z"
        value: Any = self._typed(key, (datetime, str), None, wanted)
        if value == "" and self._value.get(key) != "":
            return datetime.max.replace(tzinfo=UTC)
        time = parse_time(value if isinstance(value, str) else print_time(value))
        if time is None:
            self.mistake(key, f"is not {wanted}")
            return datetime.max.replace(tzinfo=UTC)
        return time

    def sha256(self, key: str) -> str:
        """Return 64 lower-case hex digits."""
        value: str = self._typed(key, str, None, "a SHA-256")
        if value and not HEX64.fullmatch(value):
            self.mistake(key, "is no SHA-256: 64 lower-case hex digits")
        return value

    def texts(
        self, key: str, *, default: Iterable[str] | None = None, repeated: bool = False
    ) -> tuple[str, ...]:
        """Return a list of strings, none of them empty, and different unless `repeated`."""
        fallback = None if default is None else list(default)
        values = self._typed(key, list, fallback, "a list of strings")
        if not all(isinstance(value, str) and value for value in values):
            self.mistake(key, "is no list of strings")
            return ()
        if not repeated and len(set(values)) != len(values):
            self.mistake(key, "lists a value twice")
        return tuple(values)

    def strings(self) -> dict[str, str]:
        """Return every key with its string, which may be empty, where the keys are data."""
        for key in self.keys():
            if not isinstance(self._value[key], str):
                self.mistake(key, "is no string")
        return {key: value for key, value in self._value.items() if isinstance(value, str)}

    def integers(self, key: str, *, default: Iterable[int] | None = None) -> tuple[int, ...]:
        """Return a list of integers, each 0 or more, in ascending order without repetition."""
        fallback = None if default is None else list(default)
        values = self._typed(key, list, fallback, "a list of integers")
        if not all(type(value) is int and value >= 0 for value in values):
            self.mistake(key, "is no list of integers from 0")
            return ()
        if any(low >= high for low, high in pairwise(values)):
            self.mistake(key, "is not in ascending order")
        return tuple(values)

    def table(self, key: str) -> "Table":
        """Return the table below `key`; an absent one is a mistake."""
        return self._below(key, self._typed(key, dict, None, "a table"))

    def optional_table(self, key: str) -> "Table | None":
        """Return the table below `key`, or None where it is absent."""
        return self.table(key) if self.has(key) else None

    def tables(self, key: str) -> "list[Table]":
        """Return the list of tables below `key`; absent means none."""
        values = self._typed(key, list, [], "a list of tables")
        if not all(isinstance(value, dict) for value in values):
            self.mistake(key, "is no list of tables")
            return []
        return [self._below(f"{key}[{number}]", value) for number, value in enumerate(values)]

    def lists(self) -> "dict[str, tuple[Table, ...]]":
        """Return every key with its list of tables, where the keys are data."""
        return {key: tuple(self.tables(key)) for key in sorted(self._value)}

    def keys(self) -> tuple[str, ...]:
        """Return the keys that the document gives, sorted, for tables whose keys are data."""
        self._asked.update(self._value)
        return tuple(sorted(self._value))

    def raw(self) -> dict[str, Any]:
        """Return the table as it was parsed, for what is opaque: no mistake in it is noted."""
        self._asked.update(self._value)
        return self._value

    def pin(self, key: str | None = None, *, length_required: bool = True) -> Pin:
        """Return the pin in the table below `key` (closed here), or in this table if None."""
        table = self if key is None else self.table(key)
        needed = length_required or table.has("length")
        pin = Pin(sha256=table.sha256("sha256"), length=table.integer("length") if needed else None)
        if key is not None:
            table.close()
        return pin

    def _below(self, key: str, value: dict[str, Any]) -> "Table":
        table = Table(value, what=self._what, remedy=self._remedy)
        table._mistakes = self._mistakes
        table._path = self.path(key)
        return table

    def _typed(self, key: str, kind: Any, default: Any, wanted: str) -> Any:
        stand_in = kind() if isinstance(kind, type) else ""
        if not self.has(key):
            if default is None:
                self.mistake(key, f"missing, expected {wanted}")
                return stand_in
            return default
        value = self._value[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.mistake(key, f"is not {wanted}")
            return stand_in
        return value


def _listed(value: str, allowed: tuple[str, ...]) -> str:
    """Print what is allowed; of a long list only what was probably meant."""
    if len(allowed) <= CHOICES_SHOWN:
        return ", ".join(allowed)
    near = nearest(value, allowed)
    return f"the {len(allowed)} known ones" + (f", did you mean {near}?" if near else "")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the one known word that `word` was probably meant to be, or None."""
    from difflib import get_close_matches  # noqa: PLC0415  (5 ms that only mistakes pay)

    return next(iter(get_close_matches(word, sorted(known), n=1, cutoff=0.7)), None)
