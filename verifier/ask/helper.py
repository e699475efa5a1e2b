"""Whether an installed helper is one of the published versions, and if not, why not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from verifier.ask.answers import unregistered
from verifier.ask.reading import Reach, Reading, read_file
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.open import Catalog, Refused
from verifier.checks.helper import check, unknown
from verifier.checks.helper.rest import pristine
from verifier.checks.helper.sightings import mentions
from verifier.core.companions import Companions
from verifier.core.coverage import Covered, State
from verifier.core.demand import ALWAYS, FACETS, HelperDemand
from verifier.core.digest import Digest, sha256
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.core.verdict import Exit
from verifier.policy import judge
from verifier.sources import beside
from verifier.sources.file import FileBytes


def verify_helper(
    files: Sequence[str],
    *,
    trust: Trust | None = None,
    lineage: str | None = None,
    expect: str | None = None,
    max_size: int = HOST_BYTES,
    stdin: BinaryIO | None = None,
    reach: Reach | None = None,
) -> Report:
    """Judge host files: one result for each file and lineage that the file mentions.

    `files` are paths or files in other sources (`git:REPO@COMMIT:PATH`, `tar:FILE:PATH`,
    `zip:FILE:PATH`), `-` is `stdin`. `lineage` restricts the question to one entry, `expect`
    asks for one of its versions. `max_size` is in bytes.

    Raises `WrongCallError` if `files` is empty, the policy demands nothing of helpers, or
    `lineage` or `expect` is not registered.
    """
    trust = trust or open_trust()
    demand = demanded(trust, expect)
    if list(files).count("-") > 1:
        raise WrongCallError(
            "- is given twice, and standard input can be read once",
            code="wrong-call",
            remedy="give all but one of the files by their paths",
        )
    if not files:
        raise WrongCallError(
            "no file to verify", code="wrong-call", remedy="name at least one host file"
        )
    if lineage is not None:
        _known(trust, lineage, expect, option="--expect" if expect else "--lineage")
    elif expect is not None:
        _expected_anywhere(trust, expect)
    results: list[Result | Failed] = []
    for name in files:
        try:
            reading = read_file(name, limit=max_size, stdin=stdin, reach=reach or Reach())
            results += _judged(name, reading, trust, demand, lineage=lineage)
        except WrongCallError:
            raise
        except PinproofError as error:
            results.append(Failed.of(name, error))
        except Exception as fault:  # noqa: BLE001  (the other files are reported all the same)
            results.append(_fault(name, fault))
    return trust.report(tuple(results))


def subject(found: FileBytes) -> Subject:
    """Describe a file for a report: name, typed digest, length, and where a link leads."""
    digest = Digest(kind="file", hex=sha256(found.data))
    return Subject(name=found.name, digests=(digest,), length=len(found.data), link=found.link)


def outcomes(
    found: FileBytes,
    catalog: Catalog | Refused,
    demand: HelperDemand,
    *,
    lineage: str | None = None,
    companions: Companions | None = None,
) -> list[Outcome]:
    """Check a file against the lineage named, or against each one that it mentions.

    `companions` lie beside it; of a file on disk they are looked for there if it is None.
    """
    if isinstance(catalog, Refused):
        return [_refused(catalog.findings)]
    names = [lineage] if lineage else lineages(found.data, catalog)
    if isinstance(names, Refused):
        return [_refused(names.findings)]
    results = []
    for name in names:
        entry = catalog.helper(name)
        if isinstance(entry, Refused):
            results.append(_refused(entry.findings))
            continue
        outcome = check(
            found.data,
            entry,
            demand=demand,
            filename=found.name,
            companions=companions or beside.companions(found),
        )
        results.append(_explained(outcome, found.data, entry, catalog, demand))
    return results or [_unknown(found.data, catalog)]


def judged(
    name: str,
    reading: Reading,
    *,
    trust: Trust,
    lineage: str | None = None,
    expect: str | None = None,
) -> list[Result]:
    """Judge one file that was read already, as `verify_helper` does.

    Raises `WrongCallError` if the policy demands nothing of helpers, or `lineage` or `expect` is
    not registered.
    """
    demand = demanded(trust, expect)
    if lineage is not None:
        _known(trust, lineage, expect, option="--expect" if expect else "--helper")
    return _judged(name, reading, trust, demand, lineage=lineage)


def _judged(
    name: str, reading: Reading, trust: Trust, demand: HelperDemand, *, lineage: str | None
) -> list[Result]:
    """Judge one file, by what its source has to say about reading it too."""
    if reading.file is None:
        return [verdict(_refused(reading.findings), Subject(name=name), trust, demand)]
    return [
        verdict(
            replace(
                outcome,
                findings=(*outcome.findings, *reading.findings),
                not_proven=(*outcome.not_proven, *reading.not_proven),
            ),
            subject(reading.file),
            trust,
            demand,
        )
        for outcome in outcomes(
            reading.file,
            trust.catalog,
            demand,
            lineage=lineage,
            companions=reading.companions,
        )
    ]


def verdict(outcome: Outcome, about: Subject, trust: Trust, demand: HelperDemand) -> Result:
    """Judge an outcome by a demand, and by the waivers of the run's policy."""
    return judge(
        outcome,
        subject=about,
        demanded=demand.facets,
        waivers=trust.policy.waivers,
        now=trust.now,
    )


def demanded(trust: Trust, expect: str | None) -> HelperDemand:
    """Return what the policy of a run demands of helpers; `expect` asks for one version.

    Raises `WrongCallError` if that is nothing, or names what the registry does not hold.
    """
    demand = trust.policy.helper
    for accepted in sorted(demand.accept if demand else ()):
        lineage, _, version = accepted.partition("/")
        _known(trust, lineage, version, option=f"policy {trust.policy.name} accepts {accepted}")
    if demand is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of helpers",
            code="wrong-call",
            remedy="judge with a policy that has a [helper] table, such as strict",
        )
    return HelperDemand(
        facets=demand.facets,
        accept=demand.accept,
        current_only=demand.current_only,
        pristine=demand.pristine,
        expect=expect,
    )


def _known(trust: Trust, lineage: str, version: str | None, *, option: str) -> None:
    """Refuse a lineage or version that an authentic registry does not hold."""
    if isinstance(trust.catalog, Refused):
        return
    if lineage not in trust.catalog.names("helper"):
        raise unregistered(lineage, trust.catalog.names("helper"), option=option)
    entry = trust.catalog.helper(lineage)
    if version is not None and isinstance(entry, Lineage) and entry.version(version) is None:
        raise WrongCallError(
            f"{option}: {lineage} has no version {version}",
            code="wrong-call",
            remedy=f"name one of {', '.join(v.id for v in entry.versions)}",
        )


def _expected_anywhere(trust: Trust, version: str) -> None:
    """Refuse to look for a version that no lineage of the registry has."""
    if isinstance(trust.catalog, Refused):
        return
    entries = [trust.catalog.helper(name) for name in trust.catalog.names("helper")]
    if all(isinstance(e, Lineage) and e.version(version) is None for e in entries):
        raise WrongCallError(
            f"--expect: no lineage has a version {version}",
            code="wrong-call",
            remedy="pinproof list shows the versions of each",
        )


def lineages(data: bytes, catalog: Catalog) -> list[str] | Refused:
    """Name the lineages that a host mentions, or else those that register it as a base."""
    names = _mentioned(data, catalog)
    return names if isinstance(names, Refused) or names else _bases(data, catalog)


def _mentioned(data: bytes, catalog: Catalog) -> list[str] | Refused:
    index = catalog.index
    if isinstance(index, Refused):
        return index
    found = [
        tokens.lineage
        for tokens in index.helpers
        if mentions(data, tokens.marker_prefix, tokens.owned_names, tokens.first_lines)
    ]
    # The index is a hint: an entry that it does not list yet is looked at itself.
    for name in set(catalog.names("helper")) - {tokens.lineage for tokens in index.helpers}:
        entry = catalog.helper(name)
        if isinstance(entry, Refused):
            return entry
        if mentions(data, entry.marker_prefix, entry.owned_names, entry.first_lines()):
            found.append(name)
    return sorted(found)


def _bases(data: bytes, catalog: Catalog) -> list[str]:
    """Find the lineages that register the file, which mentions none, as their base."""
    found = []
    for name in catalog.names("helper"):
        entry = catalog.helper(name)
        if isinstance(entry, Lineage) and pristine(data, entry):
            found.append(name)
    return found


def _refused(findings: tuple[Finding, ...]) -> Outcome:
    """Return the outcome of a check that did not come about: nothing is identified or held."""
    return Outcome(
        kind="helper",
        identified=(),
        findings=findings,
        coverage=tuple(Covered(facet=f, state=State.NOT_CHECKED) for f in FACETS["helper"]),
    )


def _explained(
    outcome: Outcome, data: bytes, entry: Lineage, catalog: Catalog, demand: HelperDemand
) -> Outcome:
    """Look for causes, which costs time and needs the line digests, only where it matters."""
    counts = demand.facets | ALWAYS
    if not any(f.row.outcome == "rejected" or f.row.facet in counts for f in outcome.findings):
        return outcome
    from verifier.checks.helper.why import explained  # noqa: PLC0415  (only refusals pay)

    lines = catalog.lines(entry.name)
    return explained(outcome, data, entry, {} if isinstance(lines, Refused) else lines or {})


def _unknown(data: bytes, catalog: Catalog) -> Outcome:
    """Check a file that mentions no lineage; one that was converted may still be a base."""
    from verifier.checks.helper.why import explained  # noqa: PLC0415  (only refusals pay)

    outcome = unknown(data)
    for name in catalog.names("helper"):
        entry = catalog.helper(name)
        if isinstance(entry, Lineage) and (found := explained(outcome, data, entry, {})) != outcome:
            return found
    return outcome


def _fault(name: str, fault: Exception) -> Failed:
    return Failed(
        subject=Subject(name=name),
        exit=Exit.INTERNAL,
        code="internal",
        message=f"{name}: a fault of pinproof ({type(fault).__name__})",
        remedy="report it with the file, if you may; pinproof --debug before the verb shows where",
        fault=fault,
    )
