"""Which role answers for which target (FORMATS §1, point 7).

The rule is the one of a TUF client's search: from the top-level role in pre-order, each role
once, into a delegation only if its paths match, and no further than a terminating one. Here
the search is run for everything that a role lists, and a listing that no search would find is
refused: it is a role reaching for what was not given to it, or what another role answers for.

Source: TUF specification 1.0, §5.6.7; python-tuf's `Updater.get_targetinfo`.
"""

from collections.abc import Mapping
from typing import Final

from tuf.api.metadata import Targets

from verifier.catalog.tuf.problems import problem
from verifier.catalog.tuf.values import Target
from verifier.core.digest import Pin
from verifier.core.finding import Finding

TOP: Final = "targets"
_INDEX: Final = "index"


def targets_of(roles: Mapping[str, Targets]) -> tuple[dict[str, Target], list[Finding]]:
    """Take every target from the role that answers for it, and name all other listings."""
    targets: dict[str, Target] = {}
    astray: list[Finding] = []
    for name, role in roles.items():
        for path, record in role.targets.items():
            if _in_its_place(path, name) and _answers(path, roles) == name:
                pin = Pin(sha256=record.hashes["sha256"], length=record.length)
                targets[path] = Target(path=path, pin=pin, role=name)
            else:
                astray.append(_astray(path, name))
    return targets, astray


def _in_its_place(path: str, role: str) -> bool:
    """`index/<file>` belongs to the top-level role, `<project>/<kind>/<file>` never does."""
    folder, *rest = path.split("/")
    if folder == _INDEX:
        return role == TOP and len(rest) == 1
    return role != TOP and len(rest) == 2  # noqa: PLR2004


def _answers(path: str, roles: Mapping[str, Targets]) -> str | None:
    """Find the role that a TUF client would take `path` from."""
    waiting, visited = [TOP], set[str]()
    while waiting:
        name = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        role = roles[name]
        if path in role.targets:
            return name
        below: list[str] = []
        for child, terminating in (
            role.delegations.get_roles_for_target(path) if role.delegations else ()
        ):
            below.append(child)
            if terminating:
                waiting.clear()
                break
        waiting += reversed(below)
    return None


def _astray(path: str, role: str) -> Finding:
    return problem(
        "registry-outside-paths",
        f"metadata/{role}.json",
        f"{path} listed by {role}",
        expected="index files listed by targets, entries by the role of their project",
        cause="the role was not given this path, or another role answers for it",
        remedy="use a registry in which every role lists its own paths only",
    )
