"""A receipt without what must not be published: new, unsigned, pinning the one it was made of.

Fields are replaced whole or taken away, and listed; nothing measured is altered (rules P4 and
P5). What was signed is not kept: signatures are over other bytes.
"""

import copy
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from verifier.actions import output
from verifier.checks.receipt.document.reading import PREDICATE, REMEDY, receipt
from verifier.checks.receipt.scan import redaction
from verifier.checks.receipt.scan.secrets import Scan, joined, masked
from verifier.core.digest import Pin
from verifier.core.errors import WrongCallError
from verifier.core.limits import RECEIPT_BYTES
from verifier.core.strict import read_json
from verifier.core.table import MalformedError
from verifier.evidence.dsse import Envelope
from verifier.sources import file

_NAME: Final = "the receipt before it was redacted"
_SUFFIX: Final = "-redacted"
_INSTEAD: Final = "correct it where it was measured, and write the receipt anew"


class Redacted(NamedTuple):
    """What was written: which fields were redacted, and of which receipt."""

    fields: tuple[str, ...]
    original: Pin


class _Field(NamedTuple):
    """A field by the thing that holds it; `told` is its path with secret keys masked."""

    holder: Any
    key: str | int
    path: str
    told: str


def redact(name: str, *, to: str, fields: Sequence[str] = ()) -> Redacted:
    """Write the receipt called `name` to the new file `to`, without `fields`.

    Without fields, everything that the scan finds is redacted. Raises `WrongCallError` if that is
    something measured, or something that a receipt needs, or if nothing is to be redacted;
    `MalformedError` for what is no receipt. Nothing is written then.
    """
    output.refuse_existing(to)
    data = file.read(name, limit=RECEIPT_BYTES).data
    original = Pin(sha256=sha256(data).hexdigest(), length=len(data))
    statement = _statement(name, data)
    _refuse_what_is_none(name, statement)
    made = copy.deepcopy(statement)
    predicate = made["predicate"]
    chosen = [_named(name, predicate, path) for path in fields] or list(_found(predicate))
    if not chosen:
        raise _refused(name, "nothing is found that is to be redacted", "name it with --field PATH")
    for field in chosen:
        _take(name, field)
    paths = tuple(sorted({field.told for field in chosen}))
    _say(predicate, paths, original)
    _refuse_what_is_left(name, made, chosen)
    output.write(to, json.dumps(made, indent=2, ensure_ascii=False).encode() + b"\n")
    return Redacted(fields=paths, original=original)


def _statement(name: str, data: bytes) -> dict[str, Any]:
    """Return the statement in a file: itself, or the payload of an envelope or bundle."""
    value = _read(name, data)
    inside = value.get("dsseEnvelope", value) if isinstance(value, dict) else value
    if isinstance(inside, dict) and "payload" in inside:
        value = _read(name, Envelope.parse(json.dumps(inside).encode(), what=name).payload)
    if not isinstance(value, dict) or value.get("predicateType") != PREDICATE:
        raise MalformedError(name, [f"predicateType: expected {PREDICATE}"], remedy=REMEDY)
    return value


def _read(name: str, data: bytes) -> Any:
    try:
        return read_json(data, limit=RECEIPT_BYTES)
    except ValueError as error:
        raise MalformedError(name, [str(error)], remedy=REMEDY) from None


def _refuse_what_is_none(name: str, statement: dict[str, Any]) -> None:
    """Raise `MalformedError` unless a statement is a receipt; its samples are not looked at."""
    predicate, subjects = statement.get("predicate"), statement.get("subject")
    if not isinstance(predicate, dict) or not isinstance(subjects, list):
        raise MalformedError(name, ["predicate: expected a table, and subjects"], remedy=REMEDY)
    digests: dict[str, dict[str, str]] = {}
    for each in subjects:
        sound = isinstance(each, dict) and isinstance(each.get("digest"), dict)
        if not sound or not isinstance(each.get("name"), str):
            raise MalformedError(name, ["subject: expected names and digests"], remedy=REMEDY)
        digests[each["name"]] = each["digest"]
    rest = {key: value for key, value in predicate.items() if key != "samples"}
    try:
        receipt(rest, digests, what=name)
    except MalformedError as error:
        told = [each if _harmless(each) else _withheld(each) for each in error.mistakes]
        raise MalformedError(name, told, remedy=REMEDY) from None


def _harmless(mistake: str) -> bool:
    scan = Scan()
    scan.text(mistake)
    return not scan.hits


def _withheld(mistake: str) -> str:
    """Return a mistake without what it quotes: it may be a secret that stands at a wrong place."""
    return f"{len(mistake)} characters are withheld here: they hold what the scan finds"


def _named(name: str, predicate: dict[str, Any], path: str) -> _Field:
    """Return the field that a path names. Raises `WrongCallError` if there is none."""
    below = path.removeprefix("payload.").removeprefix("predicate.")
    for holder, key, here, _ in _places(predicate):
        if here == below:
            return _Field(holder, key, here, here)
    raise _refused(
        name, f"there is no field {path}", "write it as pinproof scan receipt does: arms[0].reason"
    )


def _found(predicate: dict[str, Any]) -> Iterator[_Field]:
    """Return every field that the scan finds something in, the whole list of a text in a list."""
    scan = Scan()
    for holder, key, path, told in _places(predicate):
        value = holder[key]
        if isinstance(key, str) and scan.in_key(key):
            yield _Field(holder, key, path, told)
        elif isinstance(key, str) and isinstance(value, list):
            texts = Scan()
            texts.document({key: [each for each in value if isinstance(each, str)]})
            if texts.hits:
                yield _Field(holder, key, path, told)
        elif isinstance(key, str) and isinstance(value, str) and scan.in_value(value, key):
            yield _Field(holder, key, path, told)


def _places(value: Any, path: str = "", told: str = "") -> Iterator[tuple[Any, Any, str, str]]:
    """Return holder, key, path and masked path of everything below a value, depth first."""
    scan = Scan()
    waiting = [(value, path, told)]
    while waiting:
        holder, here, shown = waiting.pop()
        if isinstance(holder, dict):
            for key, below in holder.items():
                name = masked(key) if scan.in_key(key) else key
                place = joined(here, key), joined(shown, name)
                yield holder, key, *place
                waiting.append((below, *place))
        elif isinstance(holder, list):
            for number, below in enumerate(holder):
                place = f"{here}[{number}]", f"{shown}[{number}]"
                yield holder, number, *place
                waiting.append((below, *place))


def _take(name: str, field: _Field) -> None:
    """Replace a field whole, or take it away. Raises `WrongCallError` if it was measured."""
    if isinstance(field.holder, dict) and field.key not in field.holder:
        return  # named twice
    value = field.holder[field.key]
    parts = [field.path, *(path for _, _, path, _ in _places(value, field.path))]
    numbers = [value, *(holder[key] for holder, key, _, _ in _places(value))]
    if any(map(redaction.measured, parts)) or any(isinstance(n, int) for n in numbers):
        raise _refused(
            name, f"{field.told} was measured, or is referred to: it is not redacted", _INSTEAD
        )
    if isinstance(field.key, int):
        raise _refused(name, f"{field.told} is a part of a list", "redact the list whole")
    if field.told != field.path:
        del field.holder[field.key]
    elif isinstance(value, str):
        field.holder[field.key] = redaction.PLACEHOLDER
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        field.holder[field.key] = [redaction.PLACEHOLDER]
    else:
        del field.holder[field.key]


def _say(predicate: dict[str, Any], paths: tuple[str, ...], original: Pin) -> None:
    """List what was redacted, and pin what it was redacted from."""
    before = predicate.get("sanitisation", {})
    predicate["sanitisation"] = {
        "redactedFields": sorted({*before.get("redactedFields", ()), *paths}),
        "valuesAltered": before.get("valuesAltered", False),
    }
    predicate["summarises"] = {
        "name": _NAME,
        "digest": {"sha256": original.sha256},
        "bytes": original.length,
        "published": False,
        "reason": "it holds what was redacted",
    }
    predicate["receiptId"] += _SUFFIX


def _refuse_what_is_left(name: str, made: dict[str, Any], chosen: list[_Field]) -> None:
    """Refuse a result that is no receipt any more, or that still holds what was found."""
    try:
        _refuse_what_is_none(name, made)
    except MalformedError as error:
        mistake = error.mistakes[0].partition(":")[0]
        told = next((f.told for f in chosen if f.path == mistake), mistake)
        raise _refused(name, f"a receipt needs {told}: it is not redacted", _INSTEAD) from None
    scan = Scan()
    scan.document(made)
    if scan.hits:
        hit = scan.hits[0]
        raise _refused(
            name,
            f"{hit.where} still holds a {hit.kind}, {hit.length:,} characters",
            "name all that pinproof scan receipt finds, or no field at all",
        )


def _refused(name: str, why: str, remedy: str) -> WrongCallError:
    return WrongCallError(
        f"{name}: {why}", code="wrong-call", remedy=f"{remedy}; nothing was written"
    )
