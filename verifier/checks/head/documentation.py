"""Which changes count as documentation, so that what was measured or judged before still stands.

CHECKS "head": the path is listed in the *base's* policy, a regular file before and after, with the
same mode, it is not `.gitattributes`, `.gitmodules` or below `.github/` (in capitals too, which
some systems do not tell apart), it is no host, and it lies outside every composition's scope. A
file that is added or taken away counts if the side that has it is regular and no program.
"""

from collections.abc import Callable, Iterable

from verifier.core.demand import FORGE_FOLDER, NEVER_DOCUMENTATION, HeadDemand
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.git.objects import Item, shown
from verifier.sources.git.trees import Change
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE


@frozen
class Difference:
    """What lies between two commits, each path as it is shown.

    `documentation` counts as such, `unfit` is listed as documentation and may not count, with the
    reason, and `others` is everything else.
    """

    documentation: tuple[str, ...]
    unfit: tuple[tuple[str, str], ...]
    others: tuple[str, ...]

    @property
    def harmless(self) -> bool:
        """Whether nothing but documentation differs."""
        return not self.unfit and not self.others


def difference(
    changes: Iterable[Change], demand: HeadDemand | None, in_scope: Callable[[bytes], bool]
) -> Difference:
    """Sort changes; `in_scope` says whether a path belongs to a composition of the policy."""
    listed = () if demand is None else demand.documentation
    documentation: list[str] = []
    unfit: list[tuple[str, str]] = []
    others: list[str] = []
    for change in changes:
        name = printable(shown(change.path))
        if not _is_listed(change.path, listed):
            others.append(name)
        elif why := _why_unfit(change, in_scope):
            unfit.append((name, why))
        else:
            documentation.append(name)
    return Difference(documentation=tuple(documentation), unfit=tuple(unfit), others=tuple(others))


def _is_listed(path: bytes, listed: Iterable[str]) -> bool:
    for each in listed:
        name = each.encode()
        if path.startswith(name) if name.endswith(b"/") else path == name:
            return True
    return False


def _why_unfit(change: Change, in_scope: Callable[[bytes], bool]) -> str | None:
    parts = shown(change.path).lower().split("/")
    if parts[-1] in NEVER_DOCUMENTATION or parts[0] == FORGE_FOLDER:
        return "such a file changes what git or the forge does"
    if in_scope(change.path):
        return "it is a host, or lies in the scope of a composition"
    before, after = change.before, change.after
    if not (_is_regular(before) and _is_regular(after)):
        return "it is no regular file"
    if before is not None and after is not None and before.mode != after.mode:
        return f"its mode changes from {before.mode:o} to {after.mode:o}"
    if any(item is not None and item.mode == PROGRAM_MODE for item in (before, after)) and (
        before is None or after is None
    ):
        return "a program is added or taken away"
    return None


def _is_regular(item: Item | None) -> bool:
    return item is None or item.mode in (FILE_MODE, PROGRAM_MODE)
