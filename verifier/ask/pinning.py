"""What the entry of a helper would be, and whether it holds: from a recipe, clones and hosts.

Nothing is written: `verifier.actions.pin_helper` does that with what is returned here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from verifier.ask.producers import Producers
from verifier.ask.reading import Reach, read_file
from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.helper_format import parse
from verifier.catalog.entries.helper_writing import comment_of, tables, written, written_lines
from verifier.checks.helper.pinning.derive import derive
from verifier.checks.helper.pinning.fields import Difference, differences
from verifier.checks.helper.pinning.proof import prove
from verifier.checks.helper.pinning.recipe import FULL, Place, Recipe
from verifier.checks.helper.pinning.registered import Merged, foreign, merged
from verifier.checks.helper.pinning.values import Derived, Material
from verifier.core.clock import print_time
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest, Pin
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.limits import HOST_BYTES
from verifier.core.outcome import Identified, Outcome, Report, Subject
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.policy import judge

KIND: Final = "pin"
_FACETS: Final = FACETS[KIND]
_NOT_PROVEN: Final = (
    "that the commits are those that users installed from",
    "that the hosts are those that users run",
)


@frozen
class Request:
    """What is to be pinned, and what is registered already.

    `clones` are folders by the repository that they are clones of. `present` is the entry as it
    stands, if it does; `registered` are the lineages of the same registry.
    """

    recipe: Recipe
    clones: Mapping[str, str]
    present: bytes | None = None
    lines: Mapping[str, Sequence[str]] | None = None
    registered: tuple[Lineage, ...] = ()
    reach: Reach = Reach()


@frozen
class Entry:
    """The entry of a lineage as it would be written, and how it differs from the present one."""

    report: Report
    derived: Derived | None = None
    data: bytes = b""
    lines: bytes = b""
    changes: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()


def helper_entry(request: Request, *, now: datetime) -> Entry:
    """Derive an entry, put it beside what is registered, and prove it on its patched hosts.

    Raises `UnavailableError` for a host or clone that cannot be read, `MalformedError` for a
    present entry that does not parse, `WrongCallError` for one of another lineage.
    """
    recipe = request.recipe
    present = None if request.present is None else parse(request.present, recipe.name)
    if present is not None and present.name != recipe.name:
        raise WrongCallError(
            f"the entry that is there is {present.name}, the recipe is of {recipe.name}",
            code="wrong-call",
            remedy="name the file of that lineage, or a new one: --to FILE",
        )
    with Producers(request.clones, request.reach) as producers:
        material = read_material(recipe, producers)
        noticed = producers.findings
        unproven = (*_NOT_PROVEN, *producers.not_proven)
    found = derive(recipe, material, known={} if present is None else present.sites)
    if not isinstance(found, Derived):
        return Entry(report=_judged(recipe.name, (*found, *noticed), now, unproven))
    others = foreign(found.lineage, request.registered)
    joined = merged(present, found.lineage)
    if not isinstance(joined, Merged) or others:
        wrong = (*others, *(() if isinstance(joined, Merged) else joined))
        return Entry(report=_judged(recipe.name, (*wrong, *noticed), now, unproven))
    return _proved(request, present, found, joined, (noticed, unproven, now))


def _proved(
    request: Request,
    present: Lineage | None,
    found: Derived,
    joined: Merged,
    said: tuple[tuple[Finding, ...], tuple[str, ...], datetime],
) -> Entry:
    """Print an entry, read it again, and prove it on the hosts that it was derived from."""
    recipe = request.recipe
    noticed, unproven, now = said
    data = written(joined.lineage, comment=_comment(request))
    try:
        lineage = parse(data, recipe.name)
    except MalformedError as error:
        raise MalformedError(
            f"the entry of {recipe.name}",
            error.mistakes,
            remedy="correct the recipe; nothing was written",
        ) from None
    proved = prove(found, lineage)
    elsewhere = [
        f"that a first install writes {each} as its installer did" for each in proved.elsewhere
    ]
    report = _judged(
        recipe.name,
        (*proved.findings, *noticed),
        now,
        (*unproven, *elsewhere),
        made=_Made(data=data, lineage=lineage, derived=found),
    )
    if proved.findings:
        return Entry(report=report)
    all_lines = {**(request.lines or {}), **found.lines}
    ordered = {v.id: all_lines[v.id] for v in lineage.versions if v.id in all_lines}
    before = {} if present is None else tables(present)
    return Entry(
        report=report,
        derived=found,
        data=data,
        lines=written_lines(lineage.name, ordered),
        changes=differences(before, tables(lineage)) if before else (),
        notes=joined.notes,
    )


def _comment(request: Request) -> bytes:
    """Return what stands above the entry: as the recipe says, else as it is there."""
    said = request.recipe.comment.strip("\n")
    if said:
        return b"".join(f"# {line}".rstrip().encode() + b"\n" for line in said.split("\n"))
    return b"" if request.present is None else comment_of(request.present)


def read_material(recipe: Recipe, producers: Producers) -> Material:
    """Read every file that a recipe names.

    Raises `UnavailableError` for a host that cannot be read.
    """
    origins = (origin for version in recipe.versions for origin in version.origins)
    places = [place for _, place in recipe.bases]
    places += [place for version in recipe.versions for _, place in version.hosts]
    return Material(
        files={
            origin: producers.read(origin.repository, origin.commit, origin.path)
            for origin in origins
            if FULL.fullmatch(origin.commit)
        },
        hosts={place: _host(recipe, place, producers) for place in places},
    )


def _host(recipe: Recipe, place: Place, producers: Producers) -> bytes:
    if place.file:
        name = str(Path(recipe.folder) / place.file)
        found = read_file(name, limit=HOST_BYTES, stdin=None, reach=Reach()).file
        if found is not None:
            return found.data
        got: object = None
    else:
        got = (
            producers.read(place.repository, place.commit, place.path)
            if FULL.fullmatch(place.commit)
            else None
        )
        if isinstance(got, bytes):
            return got
    why = f" ({got.code}: {got.got or got.row.title})" if isinstance(got, Finding) else ""
    raise UnavailableError(
        f"{place}: the host cannot be read{why}",
        code="cannot-read",
        remedy="name a file beside the recipe, or path and full commit in a clone that was given",
    )


# ── the report ─────────────────────────────────────────────────────────────────────────────────


@frozen
class _Made:
    """An entry that was derived, printed and read again."""

    data: bytes
    lineage: Lineage
    derived: Derived

    @property
    def identified(self) -> tuple[Identified, ...]:
        """The versions that were derived."""
        return tuple(
            Identified(
                entry=self.lineage.name,
                version=pinned.version.id,
                status=pinned.version.status,
                current=pinned.version.id == self.lineage.current,
            )
            for pinned in self.derived.pinned
        )

    @property
    def details(self) -> dict[str, str]:
        """What is said of each facet that holds."""
        pinned = self.derived.pinned
        hosts = sum(len(each.hosts) for each in pinned)
        sites = sum(map(len, self.derived.lineage.sites.values()))
        return {
            "producer": f"{_counted(len(pinned), 'text')} at full commits",
            "hosts": f"{_counted(hosts, 'patched host')}, pristine plus whole lines",
            "sites": f"{sites} in {_counted(len(self.derived.lineage.sites), 'list')}",
            "names": f"{len(self.lineage.owned_names)} owned",
            "registered": "nothing that is registered is changed",
            "proof": f"{_counted(hosts, 'host')} judged by the check itself",
        }


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _judged(
    name: str,
    findings: tuple[Finding, ...],
    now: datetime,
    unproven: tuple[str, ...],
    *,
    made: _Made | None = None,
) -> Report:
    details = {} if made is None else made.details
    broken = {finding.row.facet for finding in findings}
    held = {facet: facet in details and facet not in broken for facet in _FACETS}
    state = {True: State.HELD, False: State.NOT_CHECKED}
    coverage = tuple(
        Covered(
            facet=facet,
            state=State.NOT_HELD if facet in broken else state[held[facet]],
            detail=details[facet] if held[facet] else "",
        )
        for facet in _FACETS
    )
    outcome = Outcome(
        kind=KIND,
        identified=() if made is None else made.identified,
        findings=findings,
        coverage=coverage,
        not_proven=tuple(dict.fromkeys(unproven)),
    )
    pin = None if made is None else Pin.of(made.data)
    digests = () if pin is None else (Digest(kind="file", hex=pin.sha256),)
    subject = Subject(name=name, digests=digests, length=None if pin is None else pin.length)
    result = judge(outcome, subject=subject, demanded=frozenset(_FACETS), now=now)
    return Report.alone(result, print_time(now))
