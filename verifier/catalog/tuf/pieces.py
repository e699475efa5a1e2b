"""The pieces of metadata of one state of a registry, by role, for those who make the next one.

Nothing here decides what may be believed: `trusted` has done that for a registry, and signatures
are checked again before a draft counts.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tuf.api.metadata import Metadata, Root, Snapshot, Targets, Timestamp

from verifier.catalog.tuf.publish import printed
from verifier.catalog.tuf.shape import read_document
from verifier.core.finding import Finding
from verifier.core.value import frozen

_KINDS: Final[dict[str, Any]] = {"root": Root, "snapshot": Snapshot, "timestamp": Timestamp}


@frozen
class Piece:
    """One piece of metadata, and the bytes that it is or will be."""

    metadata: Metadata[Any]
    data: bytes

    @property
    def version(self) -> int:
        """The version of the role."""
        version: int = self.metadata.signed.version
        return version


def piece_of(metadata: Metadata[Any]) -> Piece:
    """Print metadata."""
    return Piece(metadata=metadata, data=printed(metadata))


def keyids_in(piece: Piece) -> set[str]:
    """Return the ids of the keys that a root, or a role with delegations, gives to roles."""
    signed = piece.metadata.signed
    given = signed if isinstance(signed, Root) else getattr(signed, "delegations", None)
    return (
        {keyid for role in (given.roles or {}).values() for keyid in role.keyids}
        if given
        else set()
    )


def file_of(role: str, version: int) -> str:
    """Return the path of a role's metadata in a registry."""
    return f"metadata/{version}.root.json" if role == "root" else f"metadata/{role}.json"


def roots_in(paths: Iterable[str]) -> dict[int, str]:
    """Return the paths of all roots by their versions, the lowest first."""
    found: dict[int, str] = {}
    for path in paths:
        number = path.removeprefix("metadata/").removesuffix(".root.json")
        if path == f"metadata/{number}.root.json" and number.isascii() and number.isdigit():
            found[int(number)] = path
    return dict(sorted(found.items()))


def read_pieces(
    read: Callable[[str], bytes | Finding], paths: Iterable[str]
) -> tuple[Mapping[str, Piece], list[Finding]]:
    """Read the metadata at `paths`, of the roots the last one only; say what is wrong with it."""
    chosen = [path for path in paths if path.startswith("metadata/")]
    roots = roots_in(chosen)
    chosen = [path for path in chosen if path not in roots.values()]
    last = [roots[max(roots)]] if roots else []
    pieces: dict[str, Piece] = {}
    findings: list[Finding] = []
    for path in (*last, *sorted(chosen)):
        name = path.removeprefix("metadata/").removesuffix(".json")
        role = "root" if path in last else name
        data = read(path)
        if isinstance(data, Finding):
            findings.append(data)
            continue
        document = read_document(data, path=path, kind=_KINDS.get(role, Targets))
        if isinstance(document, list):
            findings += document
        else:
            pieces[role] = Piece(metadata=Metadata.from_bytes(data), data=data)
    return pieces, findings
