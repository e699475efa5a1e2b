"""Data that comes with the installed package: registry, policies, schemas, pages on codes.

The wheel carries it below `verifier/_shipped`; a checkout does not, and nothing looks "one
level up" for it (ARCHITECTURE §2): what judges must not depend on the folder one stands in.
"""

from pathlib import Path
from typing import Final

from verifier.core.errors import UnavailableError

_FOLDER: Final = Path(__file__).resolve().parent.parent / "_shipped"


def folder(name: str) -> Path:
    """Return one folder of the shipped data. Raises `UnavailableError` in a bare checkout."""
    found = _FOLDER / name
    if not found.is_dir():
        raise UnavailableError(
            f"this pinproof was not installed with its {name}",
            code="no-shipped-data",
            remedy="install the package (pip install .), or name a registry and its root: "
            "--registry DIR --root FILE",
        )
    return found


def read(kind: str, name: str) -> bytes:
    """Return one shipped file. The caller has checked `name` against `names`."""
    return (folder(kind) / name).read_bytes()


def names(kind: str, suffix: str) -> tuple[str, ...]:
    """Return the names of all shipped files of a kind, without `suffix`, sorted."""
    return tuple(sorted(p.name.removesuffix(suffix) for p in folder(kind).glob(f"*{suffix}")))
