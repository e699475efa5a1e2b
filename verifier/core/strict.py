"""Strict JSON and TOML: bytes to plain values; the writer for TOML (ARCHITECTURE, laws 9 and 10).

Refused on sight: a byte order mark, invalid UTF-8, duplicate keys, floats, NaN and Infinity,
numbers and times that do not print back to themselves, lone surrogates, trailing data, too large
or too deep input.

Sources of the rules: RFC 8259 §4 and §6 (what JSON leaves open is refused here), TOML 1.0,
in-toto/specification issue 74 and python-tuf issue 372 (duplicate keys under one signature).
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Final, NoReturn

from verifier.core.limits import DOCUMENT_BYTES, DOCUMENT_DEPTH
from verifier.core.printable import quoted

_BEFORE_NUMBERS: Final = b":,[ \t\r\n"
_DIGITS_TO_ZERO: Final = bytes(48 if byte in b"0123456789" else 32 for byte in range(256))
#: After so many places that only look odd, every number is looked at.
_LOOKS: Final = 1 << 19
_SIX_ZEROS: Final = b"000000"
_LONG_NUMBER: Final = re.compile(rb"[:,\[\s-][0-9]{19}")
#: Digits of a number that another program wrote.
_FOREIGN_DIGITS: Final = 40
_INTEGER: Final = re.compile("0|-?[1-9][0-9]{0,17}")
_TOML_QUOTED: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_TOML_SCALAR: Final = re.compile(r"[=,\[]\s*([+\-0-9][^,\[\]{}\"'#=\n]*)")
#: What JSON and TOML nest by.
_HOLDING: Final = (dict, list)
_TOML_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class DuplicateKeyError(ValueError):
    """A JSON object or TOML table gives one key twice."""


def read_json(
    data: bytes, *, limit: int = DOCUMENT_BYTES, fraction: Callable[[str], Any] | None = None
) -> Any:
    """Parse strict JSON. Raises `ValueError` with the reason, `DuplicateKeyError` for that one.

    Numbers that are no integers are refused, or become what `fraction` makes of their spelling:
    for documents of others, parts of which are only carried.
    """
    value = _parsed(_decode(data, limit), other=fraction or _refuse)
    _limit_shape(value, data)
    return value


def read_large_json(held: list[bytes], *, limit: int) -> Any:
    """Parse strict JSON whose reader knows every level of it, so that none is looked for here.

    The bytes are taken out of `held`, and gone when parsing begins: there is no room for them
    beside their text and all that is made of it. Everything else is refused as by `read_json`;
    what is nested deeper is refused by the reader, because no key of its own holds it. Raises
    `ValueError` with the reason.
    """
    data = held.pop()
    text = _decode(data, limit)
    # Two spellings can only be seen while parsing, which takes a fifth longer: -0 and 19 digits.
    odd = _may_have_minus_zero(data) or _may_have_long_number(data)
    escaped = _may_have_surrogates(data)
    del data
    value = _parsed(text, integer=_integer if odd else None)
    if escaped:
        _limit_depth(value)
        _refuse_surrogates(value)
    return value


def read_foreign_json(data: bytes, *, limit: int) -> Any:
    """Parse JSON of another program: as `read_json`, but numbers may be decimals, kept exactly."""
    value = _parsed(_decode(data, limit), integer=_foreign_integer, other=_decimal)
    _limit_shape(value, data)
    return value


def read_toml(data: bytes, *, limit: int = DOCUMENT_BYTES) -> dict[str, Any]:
    """Parse strict TOML. Raises `ValueError` with the reason."""
    text = _decode(data, limit)
    _refuse_other_spellings(text)
    try:
        value = tomllib.loads(text, parse_float=_refuse)
    except RecursionError:
        raise ValueError(f"nested deeper than {DOCUMENT_DEPTH}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {str(error).lower()}") from None
    _limit_depth(value)  # half of a surrogate pair is none of TOML's characters
    return value


def write_toml(value: Mapping[str, Any]) -> bytes:
    """Print TOML in the order given; `read_toml(write_toml(v)) == v`."""
    import tomli_w  # noqa: PLC0415  (3 ms that only writers pay)

    return tomli_w.dumps(value).encode()


def toml_value(value: Any) -> str:
    """Print one value on one line: text, integer, flag, or a list or table of such.

    Every scalar is spelled by the writer of `write_toml`; it would give a list a line for each
    value, and a table a section.
    """
    import tomli_w  # noqa: PLC0415  (as above)

    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {toml_value(below)}" for key, below in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").rstrip("\n")


def _decode(data: bytes, limit: int) -> str:
    if len(data) > limit:
        raise ValueError(f"{len(data):,} bytes, more than the {limit:,} allowed")
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("starts with a byte order mark")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None


def _may_have_minus_zero(data: bytes) -> bool:
    """Whether a number may be -0; dates and names have it within.

    To look for one byte is ten times faster than for two.
    """
    at = -1
    for _ in range(_LOOKS):
        at = data.find(b"-", at + 1)
        if at < 0:
            return False
        if data[at + 1 : at + 2] == b"0" and (not at or data[at - 1] in _BEFORE_NUMBERS):
            return True
    return True


def _may_have_long_number(data: bytes) -> bool:
    """Whether a number may have 19 digits.

    Of 19 digits in a row every third byte gives six. To look for these first is ten times
    faster than the pattern, which is asked where they are: mostly in digests.
    """
    third, at = data[::3].translate(_DIGITS_TO_ZERO), -1
    for _ in range(_LOOKS):
        at = third.find(_SIX_ZEROS, at + 1)
        if at < 0:
            return False
        if _LONG_NUMBER.search(data, max(0, 3 * at - 3), 3 * at + 20):
            return True
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DuplicateKeyError(f"key {quoted(twice)} is given twice")
    return found


def _refuse(spelling: str) -> NoReturn:
    raise ValueError(f"{spelling[:40]} is no integer; other numbers are written as strings")


def _integer(spelling: str) -> int:
    if not _INTEGER.fullmatch(spelling):
        raise ValueError(f"{spelling[:40]} is no integer of at most 18 digits as printed")
    return int(spelling)


def _foreign_integer(spelling: str) -> int:
    if len(spelling) > _FOREIGN_DIGITS:
        raise ValueError(f"{spelling[:40]} has more than {_FOREIGN_DIGITS} digits")
    return int(spelling)


def _decimal(spelling: str) -> Decimal:
    if len(spelling) <= _FOREIGN_DIGITS:
        number, _, exponent = spelling.lower().partition("e")
        if len(exponent.lstrip("+-0")) <= 1:
            return Decimal(f"{number}e{exponent or 0}")
    raise ValueError(f"{spelling[:40]} has more digits or a larger exponent than measurements do")


def _parsed(
    text: str,
    *,
    integer: Callable[[str], int] | None = _integer,
    other: Callable[[str], Any] = _refuse,
) -> Any:
    try:
        return _decoder(integer, other).decode(text)
    except RecursionError:
        raise ValueError(f"nested deeper than {DOCUMENT_DEPTH}") from None
    except json.JSONDecodeError as error:
        what = error.msg.lower().removesuffix(" at")
        where = f"line {error.lineno} column {error.colno}"
        raise ValueError(f"not JSON: {what} at {where}") from None


@cache
def _decoder(integer: Callable[[str], int] | None, other: Callable[[str], Any]) -> json.JSONDecoder:
    """Make a reader once: for a line of a side file that takes as long as to read it."""
    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_refuse, parse_float=other, parse_int=integer
    )


def _refuse_other_spellings(text: str) -> None:
    """Refuse TOML numbers and times such as `0x1F`, `1_000`, `+5`: tomllib forgets spellings."""
    bare = _TOML_QUOTED.sub('""', text)
    for match in _TOML_SCALAR.finditer(bare):
        token = match[1].rstrip()
        if not (_INTEGER.fullmatch(token) or _TOML_TIME.fullmatch(token)):
            raise ValueError(
                f"{token[:40]} is neither an integer as printed nor a time as 2026-11-29T00:00:00Z"
            )


def _limit_shape(value: Any, data: bytes) -> None:
    """Refuse deep nesting and lone surrogates in what was parsed from `data`."""
    _limit_depth(value)
    if _may_have_surrogates(data):
        _refuse_surrogates(value)


def _may_have_surrogates(data: bytes) -> bool:
    """Whether half of a surrogate pair may be there; as UTF-8 has none, it would be escaped."""
    return b"\\u" in data


def _limit_depth(value: Any) -> None:
    """Refuse deep nesting, without recursion; what holds nothing is not looked at."""
    level = [value] if isinstance(value, _HOLDING) else []
    for _ in range(DOCUMENT_DEPTH):
        if not level:
            return
        level = [
            each
            for item in level
            for each in (item.values() if isinstance(item, dict) else item)
            if isinstance(each, _HOLDING)
        ]
    if any(level):
        raise ValueError(f"nested deeper than {DOCUMENT_DEPTH}")


def _refuse_surrogates(value: Any) -> None:
    """Refuse half of a surrogate pair in any key or string of what is not too deep."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left += item.keys()
            left += item.values()
        elif isinstance(item, list):
            left += item
        elif isinstance(item, str) and not item.isascii():
            try:
                item.encode()
            except UnicodeEncodeError:
                raise ValueError("holds half of a surrogate pair") from None
