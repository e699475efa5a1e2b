"""Names that are no full ids: refused, with the full id that they seem to mean.

A branch or tag says something else tomorrow, and an abbreviation does as the repository grows,
so only full ids are accepted (CHECKS, "git reader"). To help, reference files are read as text
and objects through the reader; what they say is a hint for the user to copy, never an answer.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from verifier.core.errors import WrongCallError
from verifier.core.limits import GIT_COMMIT_BYTES, GIT_REFERENCES, GIT_STEPS
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.folder import Folder, Kind
from verifier.sources.git.notes import PLACES
from verifier.sources.git.objects import FULL_ID, Tag, parse_tag
from verifier.sources.git.reader import Reader, Want
from verifier.sources.git.store import Found, read_file

BRANCHES: Final = ("refs/heads/", "refs/remotes/")
PLAIN: Final = re.compile(r"[A-Za-z0-9_+@=,.-]+(?:/[A-Za-z0-9_+@=,.-]+)*")
_ABBREVIATED: Final = re.compile("[0-9a-f]{4,63}")
_LOOSE: Final = re.compile("[0-9a-fA-F]{4,64}")


@frozen
class Meant:
    """What a name seems to mean: in words, and the object it leads to, None if not found."""

    what: str
    oid: str | None


def meaning(found: Found, name: str, reader: Reader, expand: str | None) -> Meant:
    """Say what a name that is no full id is. `expand` is the one object that begins so, if any."""
    for reference in _candidates(name):
        oid = _value(found, reference)
        if oid is not None:
            return Meant(what=f"{_kind(reference)} {reference}", oid=_peeled(reader, oid))
    if _ABBREVIATED.fullmatch(name):
        return Meant(what="an abbreviated object id", oid=expand and _peeled(reader, expand))
    if _LOOSE.fullmatch(name) and name != name.lower():
        return Meant(what="hex with capital letters", oid=None)
    return Meant(what="no object id and no reference of this repository", oid=None)


def refusal(argument: str, meant: Meant) -> WrongCallError:
    """Return the error that tells the user what to write instead."""
    if meant.oid is not None:
        remedy = f"if you mean what it leads to now, write {meant.oid}"
    elif meant.what == "hex with capital letters":
        remedy = f"write it in lower case: {printable(argument.lower())}"
    else:
        remedy = "git rev-parse NAME^{commit} prints the full id of a name that you trust"
    return WrongCallError(
        f"expected the full id of a commit, got {printable(argument)}: {printable(meant.what)}",
        code="wrong-call",
        remedy=remedy,
    )


def references(found: Found, starts: tuple[str, ...] = BRANCHES) -> dict[str, str]:
    """List references that start so, branches for one, by full names, with the ids that they have.

    References in the format "reftable" are not read: such a repository seems to have none.
    """
    values: dict[str, str | None] = {}
    for line in (read_file(found.common, "packed-refs") or b"").split(b"\n"):
        oid, _, named = line.partition(b" ")
        name, words = named.decode("utf-8", "surrogateescape"), oid.decode("ascii", "replace")
        if name.startswith(starts) and FULL_ID.fullmatch(words):
            values[name] = words
    for start in starts:
        values |= {name: _value(found, name) for name in _loose(found.common, start)}
    return {name: oid for name, oid in sorted(values.items()) if oid is not None}


def _loose(common: Path, start: str) -> Iterator[str]:
    """Name the reference files below a folder; links and special files are none."""
    folder, waiting, left = (
        Folder(common, what="the repository"),
        [start.rstrip("/")],
        GIT_REFERENCES,
    )
    while waiting:
        below = waiting.pop()
        for name, kind in folder.entries(below) if (common / below).is_dir() else ():
            left -= 1
            if left < 0:
                return
            if kind is Kind.FOLDER:
                waiting.append(f"{below}/{name}")
            elif kind is Kind.FILE:
                yield f"{below}/{name}"


def _candidates(name: str) -> Iterator[str]:
    if not PLAIN.fullmatch(name) or ".." in name or name.startswith("-"):
        return
    for place in PLACES:
        # Directly in the repository's folder lie HEAD and its like, and config, which is no ref.
        if place or name.isupper() or name.startswith("refs/"):
            yield f"{place}{name}"


def _kind(reference: str) -> str:
    kinds = {"refs/heads/": "branch", "refs/tags/": "tag", "refs/remotes/": "remote branch"}
    return next((k for start, k in kinds.items() if reference.startswith(start)), "reference")


def _value(found: Found, reference: str) -> str | None:
    """Read a reference, through symbolic ones, from its file or from packed-refs."""
    for _ in range(GIT_STEPS):
        text = (read_file(found.git_dir, reference) or read_file(found.common, reference)) or b""
        words = text.decode("ascii", "replace").strip()
        if FULL_ID.fullmatch(words):
            return words
        symbolic = words.removeprefix("ref: ")
        if symbolic == words or not PLAIN.fullmatch(symbolic) or ".." in symbolic:
            return _packed(found, reference)
        reference = symbolic
    return None


def _packed(found: Found, reference: str) -> str | None:
    for line in (read_file(found.common, "packed-refs") or b"").split(b"\n"):
        oid, _, name = line.partition(b" ")
        if name == reference.encode() and FULL_ID.fullmatch(
            words := oid.decode("ascii", "replace")
        ):
            return words
    return None


def peel(reader: Reader, oid: str) -> tuple[str, str] | None:
    """Follow annotated tags from an object; return type and id of what they end at."""
    for _ in range(GIT_STEPS):
        got = reader.one(Want(oid, None, GIT_COMMIT_BYTES, keep=True))
        if got.fault is not None or got.data is None:
            return None
        if got.kind != "tag":
            return got.kind, oid
        tag = parse_tag(oid, got.data)
        if not isinstance(tag, Tag):
            return None
        oid = tag.target
    return None


def _peeled(reader: Reader, oid: str) -> str | None:
    end = peel(reader, oid)
    return end[1] if end is not None and end[0] == "commit" else None
