"""From the arguments of `--payload` to the texts that a migration may take from them.

A payload is a file, a folder with all that is below it, or a commit or archive, whole or one
path of it. Everything is read in the order of its names, and no link is followed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from verifier.ask.reading import Reach
from verifier.core.errors import UnavailableError
from verifier.core.limits import HOST_BYTES, PAYLOAD_BYTES, PAYLOAD_FILES
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources import argument, file
from verifier.sources.folder import Folder, Kind
from verifier.sources.tree import Tree, Type


@frozen
class Text:
    """One file of a payload. `python` says whether it may be a Python source."""

    name: str
    data: bytes
    python: bool


def texts(payloads: Sequence[str], *, reach: Reach) -> Iterator[Text]:
    """Read payloads, file by file.

    Raises `UnavailableError` for what is missing, unreadable or no payload at all, and for more
    than `PAYLOAD_FILES` files or `PAYLOAD_BYTES` bytes.
    """
    files = size = 0
    for name in payloads:
        for text in _texts(name, reach):
            files, size = files + 1, size + len(text.data)
            if files > PAYLOAD_FILES or size > PAYLOAD_BYTES:
                raise UnavailableError(
                    f"--payload {name}: expected at most {PAYLOAD_FILES:,} files and "
                    f"{PAYLOAD_BYTES:,} bytes, got more",
                    code="too-large",
                    remedy="name the folder or file that carries the version, not all around it",
                )
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
        found = iter([Text(name=name, data=file.read(name, limit=HOST_BYTES).data, python=True)])
    some = False
    for text in found:
        some = True
        yield text
    if not some:
        raise UnavailableError(
            f"--payload {name}: there is no regular file in it",
            code="cannot-read",
            remedy=f"pinproof list tree {name} shows what is there",
        )


def _of_folder(name: str, folder: Folder, below: str) -> Iterator[Text]:
    """Read the files below a folder; those larger than a host may be are no payload."""
    for entry in folder.entries(below):
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.kind is Kind.FOLDER:
            yield from _of_folder(name, folder, path)
        elif entry.kind is Kind.FILE:
            data = folder.read(path, limit=HOST_BYTES)
            if isinstance(data, bytes):
                yield Text(name=f"{name}/{path}", data=data, python=path.endswith(".py"))


def _of_tree(name: str, tree: Tree, inside: bytes | None) -> Iterator[Text]:
    """Read the files of a commit or archive that are at or below one path."""
    for entry in tree.entries():
        below = inside is None or entry.path == inside or entry.path.startswith(inside + b"/")
        if entry.type is not Type.FILE or not below or (entry.length or 0) > HOST_BYTES:
            continue
        data = tree.read(entry.path, limit=HOST_BYTES)
        if data is not None:
            shown = printable(entry.path.decode(errors="surrogateescape"))
            python = entry.path == inside or entry.path.endswith(b".py")
            yield Text(name=f"{name}:{shown}", data=data, python=python)
