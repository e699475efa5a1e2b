"""The folder of evidence that lies beside a receipt: every file by its pin, one of them streamed.

Links are never followed: a link in place of a file is a problem that is told, not a file.
"""

import os
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final

from verifier.core.digest import Pin
from verifier.core.errors import UnavailableError
from verifier.core.printable import printable
from verifier.sources.folder import OPEN, opened
from verifier.sources.folder_tree import FolderTree
from verifier.sources.tree import Type
from verifier.sources.unavailable import changed, unreadable

_PIECE: Final = 1 << 18
_WORDS: Final = {Type.LINK: "a link", Type.SPECIAL: "a special file"}


class EvidenceFolder:
    """A folder given by `--evidence`. Names are relative to it, with `/`."""

    def __init__(self, root: Path, *, name: str) -> None:
        """Remember the folder; nothing is read before something is asked for."""
        self._root = root
        self._name = name

    @cached_property
    def _entries(self) -> tuple[dict[str, Pin], dict[str, str]]:
        pins: dict[str, Pin] = {}
        problems: dict[str, str] = {}
        for entry in FolderTree(self._root, name=self._name).entries():
            shown = printable(entry.path.decode(errors="surrogateescape"))
            if entry.type is Type.FILE and entry.sha256 is not None:
                pins[shown] = Pin(sha256=entry.sha256, length=entry.length)
            else:
                problems[shown] = _WORDS.get(entry.type, "no regular file")
        return pins, problems

    @property
    def pins(self) -> dict[str, Pin]:
        """Every regular file by its name. Raises `UnavailableError`."""
        return self._entries[0]

    @property
    def problems(self) -> dict[str, str]:
        """What is there and is no regular file, in words."""
        return self._entries[1]

    def pin(self, name: str) -> Pin:
        """Pin one file without looking at the others. Raises `UnavailableError`."""
        running, length = sha256(), 0
        for piece in self.pieces(name):
            running.update(piece)
            length += len(piece)
        return Pin(sha256=running.hexdigest(), length=length)

    def pieces(self, name: str, *, pinned: Pin | None = None) -> Iterator[bytes]:
        """Return the bytes of one file in order; after the last, they must be what was `pinned`.

        Raises `UnavailableError`, also if it changed since it was pinned.
        """
        *folders, last = name.split("/")
        if name.startswith("/") or not {"", ".", ".."}.isdisjoint((*folders, last)):
            raise UnavailableError(
                f"{printable(name)}: leads out of the evidence folder",
                code="cannot-read",
                remedy="name the file relative to the folder, without . and ..",
            )
        running, length = sha256(), 0
        try:
            with (
                opened(self._root, folders) as below,
                os.fdopen(os.open(last, OPEN, dir_fd=below), "rb", buffering=0) as file,
            ):
                while piece := file.read(_PIECE):
                    running.update(piece)
                    length += len(piece)
                    yield piece
        except OSError as error:
            raise unreadable(f"{self._name}/{printable(name)}", error) from None
        if pinned is not None and pinned != Pin(sha256=running.hexdigest(), length=length):
            raise changed(f"{self._name}/{printable(name)}")
