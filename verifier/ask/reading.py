"""From an argument to the bytes of one file, whatever source it names (FORMATS §5)."""

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from verifier.core.companions import Companions
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.printable import printable, quoted
from verifier.core.value import frozen
from verifier.sources import argument, file
from verifier.sources.file import FileBytes


@frozen
class Reach:
    """How far a repository's own pointers are followed: into these folders, or anywhere."""

    clones: tuple[str, ...] = ()
    allow_alternates: bool = False


def clones_by(values: Iterable[str], *, what: str, last: bool, remedy: str) -> dict[str, str]:
    """Split arguments of --clone, `WHAT=PATH`, at the first or the last equals sign.

    Raises `WrongCallError` for another form, or for something named twice.
    """
    found: dict[str, str] = {}
    for value in values:
        name, equals, path = value.rpartition("=") if last else value.partition("=")
        if not (name and equals and path) or name in found:
            wrong = f"{name} is given twice" if name in found else f"got {quoted(value)}"
            raise WrongCallError(
                f"--clone: expected {what}=PATH, {wrong}", code="wrong-call", remedy=remedy
            )
        found[name] = path
    return found


class Reading(NamedTuple):
    """One file as its source gave it, and what the source has to say about that.

    The file is None if its source holds it and it could not be proven to be what the source
    names: the findings say why. `not_proven` is in words. `companions` are what lies beside the
    file where the source itself knows; None leaves that to the file's own folder.
    """

    file: FileBytes | None
    findings: tuple[Finding, ...] = ()
    not_proven: tuple[str, ...] = ()
    companions: Companions | None = None


def read_file(name: str, *, limit: int, stdin: BinaryIO | None, reach: Reach) -> Reading:
    """Read the file that an argument names.

    Raises `UnavailableError` if it cannot be read,
    `WrongCallError` if it names a whole tree.
    """
    if not name:
        raise WrongCallError(
            "expected a file, got an empty argument",
            code="wrong-call",
            remedy="check the variable or quotes that it comes from",
        )
    if not argument.is_prefixed(name):
        return Reading(file.read(name, limit=limit, stdin=stdin))
    place = argument.open_place(name, clones=reach.clones, allow_alternates=reach.allow_alternates)
    if place.inside is None:
        raise WrongCallError(
            f"{name}: expected one file, got a whole tree",
            code="wrong-call",
            remedy=f"add the file's path: {name}:PATH; pinproof list tree {name} shows them",
        )
    data = place.tree.read(place.inside, limit=limit)
    if data is not None:
        found = FileBytes(name=name, data=data)
        return Reading(found, place.tree.findings, place.tree.not_proven)
    if not place.tree.complete or any(_speaks(f, place.inside) for f in place.tree.findings):
        return Reading(None, place.tree.findings, place.tree.not_proven)
    raise UnavailableError(
        f"{name}: there is no regular file of that path",
        code="cannot-read",
        remedy=f"pinproof list tree {name.rpartition(':')[0]} shows what is there",
    )


def is_tree(name: str) -> bool:
    """Whether an argument names a folder, or a whole commit or archive."""
    if not argument.is_prefixed(name):
        return Path(name).is_dir()
    try:
        return argument.open_place(name).inside is None
    except UnavailableError:
        return False  # reading it says why


def _speaks(finding: Finding, path: bytes) -> bool:
    """Whether a finding may be why a file was not read: it is about that path, or about all."""
    about = printable(path.decode(errors="surrogateescape"))
    return finding.row.outcome == "rejected" or finding.where.path == about
