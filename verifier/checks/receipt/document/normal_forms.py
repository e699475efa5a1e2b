"""Normal forms of workloads: what files share that ask for the same in other bytes (rule B10).

A receipt names one of them in `normalisation`, and the list is closed:

* `sorted-json`: JSON without white space, keys sorted by code point, text as it is and not escaped,
  integers as they are, other numbers as the shortest decimal of their IEEE double (Python's
  `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`), no line end;
* `thegrill-workload`: the workload of TheGrill, versions 1 to 3, as that program prints it: without
  white space, fields in the order in which it declares them (receipts.md §1.5).
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from math import isfinite
from typing import Any, Final, NamedTuple

from verifier.core.limits import WORKLOAD_BYTES
from verifier.core.printable import quoted
from verifier.core.strict import read_json


class NoFormError(ValueError):
    """A file has no such normal form, or none that is known here; the text says why."""


class _Field(NamedTuple):
    """One field of TheGrill's workload: what stands below it, and what becomes of an absent one.

    Nothing below means a text, number or flag; `variants` are shapes of which the first that has
    all keys counts. An absent field is refused, stays as null, or is left out.
    """

    name: str
    variants: tuple[tuple["_Field", ...], ...] = ()
    many: bool = False
    absent: str = "refused"


def _named(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name) for name in names)


_OUTPUT: Final = (_named("tokens", "mode"),)
_REQUEST: Final = (
    *_named("profile", "stream"),
    _Field("output", _OUTPUT),
    _Field("warmup_output", _OUTPUT, absent="left out"),
    _Field("cache"),
    *(_Field(name, absent="null") for name in ("temperature_milli", "top_p_milli", "seed")),
    _Field("thinking", absent="left out"),
    _Field("thinking_control", (_named("kind", "enabled"),), absent="left out"),
)
_CASE: Final = (
    _Field("id"),
    _Field("messages", (_named("role", "content"),), many=True),
    _Field("fill", (_named("kind", "characters"), _named("unit", "repeat")), absent="left out"),
)
_WORKLOAD: Final = (
    *_named("version", "name"),
    _Field("request", (_REQUEST,)),
    _Field("limits", (_named("total_ms", "idle_ms", "response_bytes", "wave_buffer_bytes"),)),
    _Field("cases", (_CASE,), many=True),
    _Field("cells", (_named("id", "case", "concurrency", "warmup_trials", "trials"),), many=True),
)
#: Versions whose fields are known.
_VERSIONS: Final = (1, 2, 3)


def _sorted_json(data: bytes) -> bytes:
    return _printed(_read(data, fraction=_double), sort_keys=True)


def _thegrill(data: bytes) -> bytes:
    value = _read(data)
    if isinstance(value, dict) and value.get("version") not in _VERSIONS:
        raise NoFormError(f"known of versions {', '.join(map(str, _VERSIONS))} alone")
    return _printed(_ordered(value, (_WORKLOAD,), "the workload"))


def _read(data: bytes, fraction: Callable[[str], Any] | None = None) -> Any:
    try:
        return read_json(data, limit=WORKLOAD_BYTES, fraction=fraction)
    except NoFormError:
        raise
    except ValueError as error:
        raise NoFormError(str(error)) from None


def _double(spelling: str) -> float:
    number = float(spelling)
    if not isfinite(number):
        raise NoFormError(f"{spelling[:40]} is larger than any double")
    return number


def _printed(value: Any, *, sort_keys: bool = False) -> bytes:
    text = json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def _ordered(value: Any, variants: tuple[tuple[_Field, ...], ...], where: str) -> dict[str, Any]:
    """Return an object with its fields in order. Raises `NoFormError` for any other field."""
    if not isinstance(value, dict):
        raise NoFormError(f"{where} is no object")
    names = [{field.name for field in fields} for fields in variants]
    fields = next(
        (f for f, known in zip(variants, names, strict=True) if value.keys() <= known), None
    )
    if fields is None:
        other = min(value.keys() - set.union(*names), default="a field")
        raise NoFormError(f"{where} holds {quoted(other)}, whose place is not known")
    found = {}
    for field in fields:
        if value.get(field.name) is not None:
            found[field.name] = _below(value[field.name], field, f"{where}'s {field.name}")
        elif field.absent == "null":
            found[field.name] = None
        elif field.absent != "left out":
            raise NoFormError(f"{where} has no {field.name}")
    return found


def _below(value: Any, field: _Field, where: str) -> Any:
    if not field.variants:
        if isinstance(value, dict | list):
            raise NoFormError(f"{where} is neither a text, nor a number, nor a flag")
        return value
    if not field.many:
        return _ordered(value, field.variants, where)
    if not isinstance(value, list):
        raise NoFormError(f"{where} are no list")
    return [_ordered(each, field.variants, where) for each in value]


_FORMS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "sorted-json": _sorted_json,
    "thegrill-workload": _thegrill,
}


def normalised(data: bytes, form: str) -> str:
    """Return the SHA-256 of a workload in a normal form. Raises `NoFormError`."""
    if form not in _FORMS:
        raise NoFormError(f"{quoted(form)} is none of {', '.join(sorted(_FORMS))}")
    return sha256(_FORMS[form](data)).hexdigest()
