"""Whether what several entries pin is the same, and whether quoted digests are known.

Entries are looked at as plain tables, so that every kind takes part: a digest has one length, and
a commit one tree.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from verifier.core.finding import Finding, Where
from verifier.core.printable import printable

#: A whole SHA-256 as it is printed.
DIGEST: Final = re.compile(rb"(?<![0-9a-fA-F])[0-9a-f]{64}(?![0-9a-fA-F])")
_LENGTHS: Final = ("length", "size")


def disagreements(entries: Mapping[str, Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Compare every pin of every entry; `entries` are tables by their names."""
    lengths: dict[str, dict[int, str]] = {}
    trees: dict[str, dict[str, str]] = {}
    for entry, document in entries.items():
        for path, table in _tables(document, ""):
            place = f"{entry} {path}".rstrip()
            digest, length = table.get("sha256"), _length(table)
            if isinstance(digest, str) and length is not None:
                lengths.setdefault(digest, {}).setdefault(length, place)
            commit, tree = table.get("commit"), table.get("tree")
            if isinstance(commit, str) and isinstance(tree, str):
                trees.setdefault(commit, {}).setdefault(tree, place)
    return (
        *_contradictions("the length of", lengths),
        *_contradictions("the tree of commit", trees),
    )


def counted(entries: Mapping[str, Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many pins there are, and how many of them stand in several places."""
    places: dict[str, int] = {}
    for document in entries.values():
        for _, table in _tables(document, ""):
            if isinstance(table.get("sha256"), str):
                places[table["sha256"]] = places.get(table["sha256"], 0) + 1
    return len(places), sum(number > 1 for number in places.values())


def unknown(
    documents: Iterable[tuple[str, bytes]],
    known: Callable[[str], bool],
    nearest: Callable[[str], str | None],
) -> tuple[int, tuple[Finding, ...]]:
    """Return how many digests documents quote, and those that nothing knows."""
    found: list[Finding] = []
    quoted = 0
    for name, data in documents:
        for match in DIGEST.finditer(data):
            quoted += 1
            if not known(match[0].decode()):
                found.append(_unknown(name, data, match, nearest(match[0].decode())))
    return quoted, tuple(found)


def _unknown(name: str, data: bytes, match: re.Match[bytes], near: str | None) -> Finding:
    where = Where.at(data, match.start(), len(match[0]))
    return Finding(
        code="audit-digest-unknown",
        where=Where(path=printable(name), line=where.line, byte_offset=where.byte_offset),
        expected="a digest that the registry pins or names",
        got=match[0].decode(),
        cause=None if near is None else f"one digit is not that of {near}",
        remedy="register what it is the digest of, or correct the document",
    )


def _tables(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        yield path, value
        for key, below in value.items():
            yield from _tables(below, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, below in enumerate(value):
            name = (
                next((str(below[k]) for k in ("id", "name", "kind") if k in below), str(number))
                if isinstance(below, Mapping)
                else str(number)
            )
            yield from _tables(below, f"{path}[{name}]")


def _length(table: Mapping[str, Any]) -> int | None:
    return next((table[key] for key in _LENGTHS if isinstance(table.get(key), int)), None)


def _contradictions(what: str, said: Mapping[str, Mapping[Any, str]]) -> Iterator[Finding]:
    for digest, values in said.items():
        if len(values) > 1:
            (one, first), (other, second) = list(values.items())[:2]
            yield Finding(
                code="audit-pins-disagree",
                expected=f"{what} {digest} to be one: {one} in {first}",
                got=f"{other} in {second}",
                cause="at most one of them can be what was published",
                remedy="look at what was published, and correct the entry that is wrong",
            )
