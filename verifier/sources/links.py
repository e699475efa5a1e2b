"""A folder of in-toto links: `STEP.KEYID.link`, and for layouts below, folders `STEP.KEYID`.

KEYID is the first eight digits of a key's id (in-toto 1.0 §4.4), a hint. No link of the file
system is followed; other files are counted and not opened.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from verifier.core.errors import UnavailableError
from verifier.core.limits import CHAIN_BYTES, CHAIN_DEPTH, CHAIN_DOCUMENT_BYTES, CHAIN_FILES
from verifier.core.value import frozen
from verifier.sources.folder import Folder, Kind, Unusable

_FILE: Final = re.compile(r"(.+)\.([0-9a-f]{8})\.link", re.DOTALL)
_BELOW: Final = re.compile(r".+\.[0-9a-f]{8}", re.DOTALL)


@frozen
class LinkFile:
    """One file: the step and the key that its name says, its bytes or why there are none."""

    name: str
    step: str
    hint: str
    data: bytes | Unusable


@frozen
class Links:
    """The links of one folder, those of folders below it, and how many other files it holds."""

    files: tuple[LinkFile, ...] = ()
    below: "Mapping[str, Links]"
    others: int = 0


#: A folder that is not there.
NO_LINKS: Final = Links(below={})


class _Budget:
    """What may still be read."""

    def __init__(self) -> None:
        self.files, self.bytes = CHAIN_FILES, CHAIN_BYTES

    def spend(self, data: bytes | Unusable) -> None:
        self.files -= 1
        self.bytes -= len(data) if isinstance(data, bytes) else 0
        if min(self.files, self.bytes) < 0:
            raise UnavailableError(
                f"--links: expected at most {CHAIN_FILES:,} links and {CHAIN_BYTES:,} bytes",
                code="too-large",
                remedy="name the folder that holds the links of this chain alone",
            )


def read_links(path: str) -> Links:
    """Read all links of a folder, and of folders below it as deep as layouts may lie.

    Raises `UnavailableError` if it cannot be read or holds more than is read.
    """
    return _read(Folder(Path(path), what="--links"), "", CHAIN_DEPTH, _Budget())


def _read(folder: Folder, inside: str, depth: int, budget: _Budget) -> Links:
    files, below, others = [], {}, 0
    for name, kind in folder.entries(inside):
        place = f"{inside}/{name}" if inside else name
        if (found := _FILE.fullmatch(name)) and kind is not Kind.FOLDER:
            plain = kind is Kind.FILE
            data = folder.read(place, limit=CHAIN_DOCUMENT_BYTES) if plain else Unusable.IN_THE_WAY
            budget.spend(data)
            files.append(LinkFile(name=place, step=found[1], hint=found[2], data=data))
        elif kind is Kind.FOLDER and _BELOW.fullmatch(name) and depth:
            budget.spend(b"")
            below[name] = _read(folder, place, depth - 1, budget)
        else:
            others += 1
    return Links(files=tuple(files), below=below, others=others)
