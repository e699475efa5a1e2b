"""JSON read for scanning alone: nothing in it is lost, however it is spelled.

The strict reader refuses a document with a key given twice or a float; a scan must look into it
all the same. Objects come out as pairs, so that both values of such a key are seen.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any


class Pairs(tuple[tuple[str, Any], ...]):
    """An object with its keys in order, also those given twice."""

    __slots__ = ()


class NoNumber(str):
    """What JSON has no number for: NaN and the infinities."""

    __slots__ = ()


def read(text: str) -> Any:
    """Parse JSON. Raises `ValueError` if it is none, or nested too deeply."""
    try:
        return json.loads(text, object_pairs_hook=Pairs, parse_constant=NoNumber, parse_float=float)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def pairs(value: Any) -> Iterable[tuple[str, Any]] | None:
    """Return the keys and values of an object, None of anything else."""
    if type(value) is dict:  # nearly all of them, and seen ten times faster
        return value.items()
    if isinstance(value, Pairs):
        return value
    return value.items() if isinstance(value, Mapping) else None
