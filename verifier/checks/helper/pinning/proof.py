"""Step 6: the entry holds on the hosts that it was made from, by the check that everybody uses."""

from collections.abc import Iterator

from verifier.catalog.entries.helper import Lineage, Version
from verifier.checks.helper import check
from verifier.checks.helper.install import (
    Bare,
    Pieces,
    as_base,
    installed_in,
    put_in,
    taken_out,
)
from verifier.checks.helper.payload import Search
from verifier.checks.helper.pinning.values import Carried, Derived
from verifier.core.demand import HelperDemand
from verifier.core.finding import Finding, Where
from verifier.core.value import frozen

_FACETS = frozenset({"helper", "sites", "scope", "whole-file"})
_REMEDY = (
    "pinproof verify helper HOST explains each code; correct the installer or the host, and pin "
    "again"
)


@frozen
class Proved:
    """What a proof found wrong, and which versions a first install would put elsewhere."""

    findings: tuple[Finding, ...]
    elsewhere: tuple[str, ...]


def prove(derived: Derived, lineage: Lineage) -> Proved:
    """Check every patched host by `lineage`, which is the derived entry as it is printed."""
    findings: list[Finding] = []
    elsewhere: list[str] = []
    for pinned in derived.pinned:
        version = lineage.version(pinned.version.id)
        if version is None:
            continue
        for carried in pinned.hosts:
            findings += _verified(carried, lineage, version)
            findings += _goes_round(carried, lineage, version)
            if not findings and not _installs(carried, lineage, version):
                elsewhere.append(f"{version.id} on {carried.base}")
    return Proved(findings=tuple(findings), elsewhere=tuple(elsewhere))


def _verified(carried: Carried, lineage: Lineage, version: Version) -> Iterator[Finding]:
    accepted = frozenset({f"{lineage.name}/{version.id}"})
    demand = HelperDemand(facets=_FACETS, accept=accepted, expect=version.id)
    outcome = check(carried.data, lineage, demand=demand, filename=carried.name)
    for finding in outcome.findings:
        if finding.code == "helper-revoked" or finding.row.facet not in {*_FACETS, "input"}:
            continue
        yield _problem(
            carried,
            expected=f"{version.id} verified in it by helper, sites, scope and whole file",
            got=f"{finding.code}: {finding.got or finding.row.title}",
            cause=finding.cause,
            line=finding.where.line,
        )


def _goes_round(carried: Carried, lineage: Lineage, version: Version) -> Iterator[Finding]:
    """Take the version out and put it in again, as an update or a migration does."""
    installed = installed_in(carried.data, lineage)
    base = next((b for b in lineage.bases if b.name == carried.base), None)
    if installed is None or base is None or version.body is None:
        return
    bare = taken_out(carried.data, installed)
    left = as_base(bare, lineage, base)
    if left != carried.pristine:
        yield _problem(
            carried,
            expected=f"the pristine host {base.pin} after taking the version out",
            got="other bytes",
        )
    again = put_in(bare, lineage, version.body, _pieces(carried, lineage, version))
    if again != carried.data:
        got = f"{again.code}: {again.got}" if isinstance(again, Finding) else "other bytes"
        yield _problem(
            carried, expected="the same host after putting the version in again", got=got
        )


def _installs(carried: Carried, lineage: Lineage, version: Version) -> bool:
    """Whether a first install on the pristine host gives the patched one."""
    if version.body is None:
        return False
    bare = Bare(data=carried.pristine, contexts={})
    return put_in(bare, lineage, version.body, _pieces(carried, lineage, version)) == carried.data


def _pieces(carried: Carried, lineage: Lineage, version: Version) -> Pieces:
    if version.body is None:
        raise ValueError("no body, no pieces")
    search = Search(lineage, version, version.body)
    for _, text in carried.pieces:
        search.look(text)
    return search.pieces()


def _problem(
    carried: Carried, *, expected: str, got: str, cause: str | None = None, line: int | None = None
) -> Finding:
    return Finding(
        code="pin-not-proved",
        where=Where(path=carried.name, line=line),
        expected=expected,
        got=got,
        cause=cause,
        remedy=_REMEDY,
    )
