"""What can be wrong with a registry, in the words that an operator reads.

One function makes every finding of the room; those that more than one module tells have a
function of their own, so that one fact has one wording.
"""

from collections.abc import Iterable
from typing import Final

from verifier.core.digest import Pin
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable

#: What an operator does about a registry that is not as it was released.
RESTORE: Final = (
    "restore the registry folder from its release; what is named here is not used as it stands"
)
#: What an operator does about a registry that is as it was released, long ago.
UPDATE: Final = "get the current release of the registry"
#: What a maintainer does about entries and index that do not fit each other.
RESIGN: Final = "sign the registry again; signing makes a new index"


def problem(
    code: str,
    path: str,
    got: str,
    *,
    expected: str | None = None,
    cause: str | None = None,
    remedy: str = RESTORE,
) -> Finding:
    """Say what is wrong with a file or folder of the registry."""
    where = Where(path=path)
    return Finding(code=code, where=where, expected=expected, got=got, cause=cause, remedy=remedy)


def missing(path: str, *, cause: str | None = None) -> Finding:
    """Say that a file, which something signed asks for, is not there."""
    return problem("registry-missing", path, "nothing", expected="the file", cause=cause)


def unlisted(path: str, got: str = "a file") -> Finding:
    """Say that nothing signed asks for what is there."""
    return problem(
        "registry-unlisted",
        path,
        got,
        expected="only what the signed metadata lists",
        cause="it was added after signing, or its record was taken away",
        remedy="remove it, or sign the registry again if it belongs there",
    )


def link(path: str, got: str) -> Finding:
    """Say that a file is not a regular one, or reached through something that is no folder."""
    return problem(
        "registry-link",
        path,
        got,
        expected="regular files in folders",
        cause="links are not followed: they can show different bytes to each reader",
    )


def unsafe_name(name: str, path: str) -> Finding:
    """Say that the metadata at `path`, or the folder, uses a name that is not plain."""
    return problem(
        "registry-name-unsafe",
        path,
        printable(name)[:200],
        expected="segments of a-z, 0-9, dot, dash and underscore, joined by single slashes",
        cause="other names could reach files outside the registry, or be mistaken for each other",
    )


def mismatch(data: bytes, pin: Pin, path: str, others: Iterable[Pin] = ()) -> Finding | None:
    """Say how bytes differ from what was signed; None if they do not.

    `others` are the pins of the files that could have been put in this one's place.
    """
    if pin.matches(data):
        return None
    got = Pin.of(data)
    if got in others:
        code, cause = "registry-swapped", "another signed file was put in its place"
    elif pin.length is not None and len(data) < pin.length:
        code, cause = "registry-truncated", "the file was cut short, as by a broken copy"
    else:
        code, cause = "registry-tampered", "the file was changed after it was signed"
    return problem(code, path, str(got), expected=str(pin), cause=cause)
