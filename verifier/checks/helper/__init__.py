"""A host file against a lineage: whether its helper is a published one, and in effect.

The steps are those of CHECKS.md, "helper"; the code follows the numbers.

1. *Admissible*: bytes, never text; NUL, BOM, CR and invalid UTF-8 end the check.
2. *Sightings*: every marker, owned name, first line, and spelling of the tag.
3. *Candidates*: the versions that the one marker selects for testing; none is accepted by it.
4. *Helper*: exactly the published bytes, on their own, before a registered end anchor.
5. *Sites*: every call site exactly once, exactly the published bytes, restoring its context.
6. *Leftovers*: nothing of the lineage outside; every context unique in the remainder.
7. *Scope*: on one parse of the original bytes: the regions are code, reached, and not rebound.
8. *Whole file*: the remainder is a registered base. It runs before step 7, which is laxer about
   reflection and invisible characters in a file that is attested as a whole.
9. *Companions*: what Python would load instead of the file.

Steps 6 to 8 need the regions: after a refusal in steps 4 or 5 they are reported as not checked.
"""

from dataclasses import replace

from verifier.catalog.entries.helper import Lineage, Status
from verifier.checks.helper import admissible, companions, rest, scope, sightings
from verifier.checks.helper.leftovers import leftovers
from verifier.checks.helper.regions import Installed, PlacedHelper, PlacedSite
from verifier.checks.helper.sightings import Sightings, candidates, sight
from verifier.checks.helper.sites import find_sites
from verifier.checks.helper.span import find_helper
from verifier.core.companions import Companions
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS, HelperDemand, Pristine
from verifier.core.finding import Finding
from verifier.core.outcome import Identified, Outcome

__all__ = ["check", "unknown"]

_NEVER_PROVEN = "what the code does"
_NOT_PROVEN_STRICT = "that other modules, import hooks or subclasses leave these regions in effect"
_NOT_PROVEN_REGION = (
    "that unattested code in this file, other modules, import hooks or subclasses "
    "leave these regions in effect"
)


def check(
    data: bytes,
    lineage: Lineage,
    *,
    demand: HelperDemand,
    filename: str = "",
    companions: Companions | None = None,
) -> Outcome:
    """Check the bytes of one host file against one lineage.

    `companions` describes what lies beside the file of that `filename`, None where the source
    cannot know.
    Returns what was identified, every finding, and the coverage of all five facets.
    """
    seen = sight(data, lineage)
    report = _Gathered(data, lineage, demand, claims=sightings.claims(lineage, seen))
    report.companions(companions, filename)

    report.add(*admissible.inadmissible(data, marked=seen.any))  # 1
    if report.findings_of("input"):
        return report.outcome()
    report.add(*admissible.foreign_cookie(data))

    if not seen.any:  # 3, a file that claims nothing
        report.pristine()
        return report.outcome()
    versions, refusals = candidates(data, lineage, seen)
    report.add(*refusals)
    if not versions:
        report.cover("helper", State.NOT_HELD)
        return report.outcome()

    helper, problems = find_helper(data, lineage, versions)  # 4
    report.add(*problems)
    version = helper.version if helper else versions[0]
    body = helper.body if helper else version.body
    if body is not None:
        sites, problems = find_sites(data, lineage, version, body)  # 5
        report.add(*problems)
        report.sites(sites, len(lineage.sites[body.sites]))
        if helper and len(sites) == len(lineage.sites[body.sites]) and not problems:
            report.installed(Installed(helper=helper, sites=sites), seen)  # 6 to 8
    report.helper(helper)
    return report.outcome()


def unknown(data: bytes) -> Outcome:
    """Check a file in which no lineage of the registry sees anything: only step 1 is left."""
    problems = (*admissible.inadmissible(data, marked=False), *admissible.foreign_cookie(data))
    return Outcome(
        kind="helper",
        identified=(),
        findings=problems or (_unrecognised(),),
        coverage=tuple(Covered(facet=f, state=State.NOT_CHECKED) for f in FACETS["helper"]),
    )


def _unrecognised() -> Finding:
    return Finding(
        code="helper-unrecognised",
        expected="a marker, an owned name, or the digest of a registered host",
        got="none of them",
        remedy="check that this is the file you mean, and not one of another release or overlay; "
        "pinproof list shows what is registered",
    )


class _Gathered:
    """Collects what the steps say; each method turns one step's result into coverage."""

    def __init__(
        self, data: bytes, lineage: Lineage, demand: HelperDemand, *, claims: tuple[str, ...]
    ) -> None:
        self._data, self._lineage, self._demand = data, lineage, demand
        self._claims = claims
        self._findings: list[Finding] = []
        self._covered = {f: Covered(facet=f, state=State.NOT_CHECKED) for f in FACETS["helper"]}
        self._identified: tuple[Identified, ...] = ()

    def add(self, *findings: Finding) -> None:
        self._findings += findings

    def findings_of(self, facet: str) -> list[Finding]:
        return [finding for finding in self._findings if finding.row.facet == facet]

    def cover(self, facet: str, state: State, detail: str = "") -> None:
        self._covered[facet] = Covered(facet=facet, state=state, detail=detail)

    def outcome(self) -> Outcome:
        attested = self._covered["whole-file"].state.holds
        return Outcome(
            kind="helper",
            identified=self._identified,
            findings=tuple(self._findings),
            coverage=tuple(self._covered.values()),
            claims=self._claims,
            not_proven=(_NEVER_PROVEN, _NOT_PROVEN_STRICT if attested else _NOT_PROVEN_REGION),
        )

    def companions(self, found: Companions | None, filename: str) -> None:
        findings, covered = companions.bytecode(found, self._data, filename)
        self._covered["bytecode"] = covered
        self.add(*findings)

    def pristine(self) -> None:
        """Step 3 for a file without sightings: a registered base, or nothing known."""
        base = rest.pristine(self._data, self._lineage)
        if base is None:
            self.add(_unrecognised())
            self.cover("helper", State.NOT_HELD)
            return
        self._covered["whole-file"] = base
        self._identified = (
            Identified(
                entry=self._lineage.name, version="pristine", status="base", detail=base.detail
            ),
        )
        for facet in ("sites", "scope"):
            self.cover(facet, State.NOT_APPLICABLE, "no helper, so no sites")
        wanted = self._demand.expect or (
            self._lineage.current if self._demand.current_only else None
        )
        if wanted is not None:
            self.cover("helper", State.NOT_HELD, "none")
            self.add(_not_expected(wanted, self._lineage, "no helper at all"))
            return
        if self._demand.pristine is Pristine.VERIFIED:
            self.cover("helper", base.state, f"none: {base.detail}")
            return
        self.cover("helper", State.NOT_HELD, "none")
        self.add(
            Finding(
                code="helper-pristine",
                expected=f"a helper of {self._lineage.name}",
                got=f"the registered {base.detail}, without helper",
                cause="the overlay was never installed here, or was removed cleanly",
                remedy=f"install the overlay ({self._lineage.current} is current), or judge with "
                'a policy that says pristine = "verified"',
            )
        )

    def sites(self, placed: tuple[PlacedSite, ...], of: int) -> None:
        """Step 5: all sites or none; `of` is how many the version has."""
        broken = self.findings_of("sites") or len(placed) != of
        self.cover("sites", State.NOT_HELD if broken else State.HELD, f"{len(placed)} of {of}")

    def installed(self, installed: Installed, seen: Sightings) -> None:
        """Take steps 6 to 8, on regions that were found byte for byte."""
        left = leftovers(self._data, self._lineage, installed, seen)
        self.add(*left)
        covered, findings = rest.whole_file(self._data, self._lineage, installed)
        self._covered["whole-file"] = covered
        self.add(*findings)
        places, problems = scope.judge(
            self._data, self._lineage, installed, attested=covered.state.holds
        )
        self.add(*problems)
        self.cover("scope", State.NOT_HELD if problems else State.HELD)
        if self.findings_of("sites"):
            self.cover("sites", State.NOT_HELD, self._covered["sites"].detail)
        elif places:
            row = self._covered["sites"]
            self._covered["sites"] = replace(row, detail=f"{row.detail} · {places}")

    def helper(self, placed: PlacedHelper | None) -> None:
        """Name the version, and say whether the policy takes it."""
        if placed is None:
            self.cover("helper", State.NOT_HELD)
            return
        line = self._data.count(b"\n", 0, placed.start + placed.body.begin_offset) + 1
        size = f"{placed.end - placed.start:,} bytes from line {line}"
        follows = f" · before anchor {placed.anchor.name}" if placed.anchor else ""
        self._identified = (
            Identified(
                entry=self._lineage.name,
                version=placed.version.id,
                status=placed.version.status,
                current=placed.version.id == self._lineage.current,
                end_anchor=placed.anchor.name if placed.anchor else None,
            ),
        )
        self.add(*_acceptance(placed, self._lineage, self._demand))
        broken = self.findings_of("helper")
        self.cover(
            "helper",
            State.NOT_HELD if broken else State.HELD,
            f"{placed.version.id} · {size}{follows}",
        )


def _acceptance(
    placed: PlacedHelper, lineage: Lineage, demand: HelperDemand
) -> "tuple[Finding, ...]":
    """Step 3, last words: authentic bytes that the policy, or the caller, did not ask for."""
    version, findings = placed.version, []
    if version.status is Status.REVOKED:
        return (
            Finding(
                code="helper-revoked",
                expected="a version in force",
                got=f"{version.id}, which was revoked",
                cause=version.reason,
                remedy=f"install {lineage.current}, or what the project names in its place",
            ),
        )
    supported = [v.id for v in lineage.versions if v.status is Status.SUPPORTED]
    accepted = f"{lineage.name}/{version.id}"
    if version.status is not Status.SUPPORTED and accepted not in demand.accept:
        findings.append(
            Finding(
                code="helper-not-accepted",
                expected=f"one of {', '.join(supported)}",
                got=f"{version.id}, published by the same project, not accepted by the policy",
                remedy=f"judge with a policy that accepts {accepted}, or install a supported "
                "version on a pristine file; do not edit markers",
            )
        )
    wanted = demand.expect or (lineage.current if demand.current_only else None)
    asked = None if wanted is None else lineage.version(wanted)
    if wanted is not None and (asked is None or asked.id != version.id):
        got = f"{version.id}, authentic; the current version is {lineage.current}"
        cause = _order(lineage, version.id, asked.id if asked else wanted)
        findings.append(_not_expected(wanted, lineage, got, cause))
    return tuple(findings)


def _not_expected(wanted: str, lineage: Lineage, got: str, cause: str | None = None) -> Finding:
    return Finding(
        code="helper-not-expected",
        expected=f"{wanted}" + (" (current)" if wanted == lineage.current else ""),
        got=got,
        cause=cause or "the overlay was never installed here, or was removed cleanly",
        remedy=f"install {wanted} on a pristine file, or ask for what is there if that is right",
    )


def _order(lineage: Lineage, found: str, wanted: str) -> str:
    """Say whether a file is behind or ahead of what was asked for, by the order of the entry."""
    ids = [version.id for version in lineage.versions]
    if wanted in ids and ids.index(found) > ids.index(wanted):
        return "the file carries a later version than was asked for"
    return "an upgrade that was not installed, or an image built before it"
