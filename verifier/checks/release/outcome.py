"""What the checks of one target come to: findings, and what can be said of each facet."""

from collections.abc import Iterable, Iterator

from verifier.catalog.entries.release import ReleaseEntry
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.finding import Finding
from verifier.core.outcome import Identified, Outcome

_HELD = {
    "files": "every file, and its checksum",
    "receipt": "the build receipt is of these files",
    "members": "every file of the archive",
    "commit": "the commit that was published",
    "published": "the published archive",
}
#: A plain set of files has none of these.
_ONLY_BUILT = ("receipt", "members", "commit")
UNSIGNED = "release page, unsigned: checksum, receipt and archive come from one place"


def outcome(entry: ReleaseEntry, findings: Iterable[Finding], *, read: bool) -> Outcome:
    """Put findings together; `read` says whether the files of the target were all examined."""
    found = tuple(findings)
    wrong = any(finding.row.outcome == "rejected" for finding in found)
    known = Identified(
        entry=entry.name, version=entry.version, status="release", detail=entry.source_commit
    )
    return Outcome(
        kind="release",
        identified=() if wrong or not read else (known,),
        findings=found,
        coverage=tuple(_coverage(entry, found, read=read)),
        not_proven=(
            "who made the release: nothing in it is signed",
            "that the program was built from that commit, and what it does",
        ),
    )


def _coverage(
    entry: ReleaseEntry, findings: tuple[Finding, ...], *, read: bool
) -> Iterator[Covered]:
    # What a broken archive is called belongs to trees; here it is a member that is not as declared.
    broken = {f.row.facet if f.row.facet != "tree" else "members" for f in findings}
    for facet in FACETS["release"]:
        if facet == "signed":
            yield Covered(facet=facet, state=State.NOT_CHECKED, detail=UNSIGNED)
        elif entry.format == "sha256sums" and facet in _ONLY_BUILT:
            detail = "a plain set of files says nothing of it"
            yield Covered(facet=facet, state=State.NOT_APPLICABLE, detail=detail)
        elif facet in broken:
            of = [f for f in findings if f.row.facet == facet]
            unknown = of and all(f.row.outcome == "undecided" for f in of)
            yield Covered(facet=facet, state=State.NOT_CHECKED if unknown else State.NOT_HELD)
        elif not read:
            yield Covered(facet=facet, state=State.NOT_CHECKED)
        else:
            yield Covered(facet=facet, state=State.HELD, detail=_HELD[facet])
