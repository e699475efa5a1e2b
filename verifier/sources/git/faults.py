"""Faults of objects as findings: the code, the object, and what one may do."""

from typing import Final

from verifier.core.finding import Finding, Where
from verifier.core.printable import printable
from verifier.sources.git.objects import Fault

_REMEDIES: Final = {
    "git-object-forged": "do not use this repository; clone it anew from a place you trust",
    "git-object-missing": "fetch it (git fetch --unshallow, or a clone without --filter), or name "
    "the clone that holds it: --clone FOLDER",
    "git-object-corrupt": "git fsck shows the damage; clone the repository anew",
    "git-object-large": "check that the commit is the one you mean",
    "git-tree-large": "check that the commit is the one you mean, or name a path inside it",
}
_MALFORMED: Final = "do not use this commit; git fsck says more of how it was made"


def of_fault(fault: Fault, *, path: str | None = None, cause: str | None = None) -> Finding:
    """Return a fault as a finding about `path`, as it is shown."""
    return Finding(
        code=fault.code,
        got=printable(fault.detail),
        cause=cause,
        where=Where(path=path),
        remedy=_REMEDIES.get(fault.code, _MALFORMED),
    )
