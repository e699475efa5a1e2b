"""What a proof says of one stage: where it is, what to do about it."""

from typing import Final

from verifier.catalog.entries.composition import Stage
from verifier.core.finding import Finding, Where
from verifier.core.printable import printable

_PINNED: Final = (
    "take what is pinned; if it was published anew, the entry needs a new stage and pins"
)
_REMEDIES: Final = {
    "patch-unavailable": "name the clone that holds it: --clone source=PATH",
    "stage-bytes-missing": "name the clone that holds it: --clone NAME=PATH, of a component by its "
    "name",
    "stage-reapplies": "apply the stage once, by its pinned preimages; its patch alone cannot tell",
    "stage-unreached": "name the clones that the stage before needs",
    "stage-unknown-files": "name the clone of the target: --clone target=PATH",
    "stage-regions": "take the version that the stage names, on the preimage that is pinned",
    "stage-regions-unknown": "judge with a registry that has the version, and name what carries "
    "its texts, or the host with it installed: --clone source=PATH",
    "stage-tree-unknown": "solve what is said of the files first; the tree follows from them",
}


def stage_finding(
    code: str,
    stage: Stage,
    path: bytes | None,
    *,
    expected: str | None,
    got: str | None,
    line: int | None = None,
) -> Finding:
    """Return a finding about a file at a stage, or about the stage where `path` is None."""
    return Finding(
        code=code,
        where=Where(path=shown(path) if path is not None else f"stage {stage.name}", line=line),
        expected=expected,
        got=got,
        cause=f"at stage {stage.name}" if path is not None else None,
        remedy=_REMEDIES.get(code, _PINNED),
    )


def shown(path: bytes) -> str:
    """Print a path of a tree."""
    return printable(path.decode(errors="surrogateescape"))
