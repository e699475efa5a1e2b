"""From the arguments of `--payload` to the texts that a migration may take from them.

A payload is a file, a folder with all that is below it, or a commit or archive, whole or one
path of it. Everything is read in the order of its names, and no link is followed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from verifier.ask.reading import Reach
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.limits import (
    HOST_BYTES,
    PAYLOAD_ALL_PYTHON_BYTES,
    PAYLOAD_BYTES,
    PAYLOAD_FILES,
    PAYLOAD_PACKED_FILES,
    PAYLOAD_PYTHON_BYTES,
    TREE_DEPTH,
)
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources import argument, file
from verifier.sources.folder import Folder, Kind
from verifier.sources.tree import Tree, Type


@frozen
class Text:
    """One file of a payload. `python` says whether its literals are looked at too."""

    name: str
    data: bytes
    python: bool


def texts(payloads: Sequence[str], *, reach: Reach) -> Iterator[Text]:
    """Read payloads, file by file.

    Raises `UnavailableError` for what is missing, unreadable or no payload at all, and for more
    than a payload may be (`core.limits`).
    """
    files = size = parsed = 0
    for name in payloads:
        for text in _texts(name, reach):
            files, size = files + 1, size + len(text.data)
            parsed += len(text.data) if text.python else 0
            if files > PAYLOAD_FILES or size > PAYLOAD_BYTES:
                raise _too_much(name, f"{PAYLOAD_FILES:,} files and {PAYLOAD_BYTES:,} bytes")
            if parsed > PAYLOAD_ALL_PYTHON_BYTES:
                raise _too_much(name, f"{PAYLOAD_ALL_PYTHON_BYTES:,} bytes of Python")
            yield text


def _texts(name: str, reach: Reach) -> Iterator[Text]:
    if argument.is_prefixed(name) or not name:
        place = argument.open_place(
            name, whole=True, clones=reach.clones, allow_alternates=reach.allow_alternates
        )
        found = _of_tree(name, place.tree, place.inside)
    elif Path(name).is_dir():
        found = _of_folder(name, Folder(Path(name), what="--payload"), "")
    else:
        data = file.read(name, limit=HOST_BYTES).data
        found = iter([Text(name=name, data=data, python=len(data) <= PAYLOAD_PYTHON_BYTES)])
    some = False
    for text in found:
        some = True
        yield text
    if not some:
        raise UnavailableError(
            f"--payload {name}: there is no regular file of at most {HOST_BYTES:,} bytes in it",
            code="cannot-read",
            remedy=f"pinproof list tree {name} shows what is there",
        )


def _of_folder(name: str, folder: Folder, below: str) -> Iterator[Text]:
    """Read the files below a folder; those larger than a host may be are no payload."""
    if below.count("/") >= TREE_DEPTH:
        raise _too_much(name, f"{TREE_DEPTH} folders one in the other")
    for entry in folder.entries(below):
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.kind is Kind.FOLDER:
            yield from _of_folder(name, folder, path)
        elif entry.kind is Kind.FILE:
            data = folder.read(path, limit=HOST_BYTES)
            if isinstance(data, bytes):
                yield Text(name=f"{name}/{path}", data=data, python=_is_python(path, data))


def _of_tree(name: str, tree: Tree, inside: bytes | None) -> Iterator[Text]:
    """Read the files of a commit or archive that are at or below one path, which are few."""
    wanted = [
        entry
        for entry in tree.entries()
        if entry.type is Type.FILE
        and (entry.length or 0) <= HOST_BYTES
        and (inside is None or entry.path == inside or entry.path.startswith(inside + b"/"))
    ]
    broken = (f for f in tree.findings if f.row.outcome == "rejected" or not tree.complete)
    refused = next(broken, None)
    if refused is not None:
        raise UnavailableError(
            f"--payload {name}: it cannot be read ({refused.code}: {refused.row.title})",
            code="cannot-read",
            remedy=refused.remedy,
        )
    if len(wanted) > PAYLOAD_PACKED_FILES:
        raise _too_much(name, f"{PAYLOAD_PACKED_FILES} files of a commit or archive")
    for entry in wanted:
        data = tree.read(entry.path, limit=HOST_BYTES)
        if data is not None:
            shown = printable(entry.path.decode(errors="surrogateescape"))
            python = entry.path == inside or _is_python(shown, data)
            yield Text(name=f"{name}:{shown}", data=data, python=python)


def _is_python(path: str, data: bytes) -> bool:
    return path.endswith(".py") and len(data) <= PAYLOAD_PYTHON_BYTES


def _too_much(name: str, most: str) -> PinproofError:
    return UnavailableError(
        f"--payload {name}: expected at most {most}, got more",
        code="too-large",
        remedy="name the folder or file that carries the version, not all around it; inside of a "
        f"commit or archive behind a colon, as in {name}:PATH",
    )
