"""A runtime: whether every rank has the image that was recorded, and the same one.

1. *Image*: each rank's image is what the entry names, judged as `checks.image` judges it.
2. *Ranks*: all are given, and what the entry says is the same on all of them is: the digest of the
   image's configuration, or the diff-ids, by which all files of the image are equal. One rank that
   differs from all others is named as the odd one.
3. *Components*: the image's own entry says at which commits it was built. Labels say nothing here.

Models and settings are recorded with a runtime and compared with nothing: no image shows what was
loaded or set, and an entry names a model by its revision, without a digest of any file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from verifier.catalog.entries.image import ImageEntry
from verifier.catalog.entries.runtime import RuntimeEntry, Same
from verifier.core.coverage import Covered, State
from verifier.core.finding import Finding, Where
from verifier.core.outcome import GraphNode, Identified, Outcome
from verifier.core.printable import printable
from verifier.core.value import frozen

_SAME: Final = {
    Same.IMAGE_CONFIG: "configuration of the image",
    Same.LOADED_FILES: "diff-ids of the image",
}
_UNSEEN: Final = (
    "which models were loaded, and with which settings: what is recorded is compared with nothing"
)
_SHOWN: Final = 6


@frozen
class Rank:
    """One rank's image as it was judged.

    `config` is the digest of its configuration, `files` its diff-ids, None where more than one
    image or none was read. `outcome` is that of `checks.image`. `failed` says why its image could
    not be looked at, and what to do.
    """

    number: int
    source: str
    outcome: Outcome
    config: str | None
    files: tuple[str, ...] | None
    failed: tuple[str, str] | None = None

    def value(self, same: Same) -> object:
        """Return what has to be the same."""
        return self.config if same is Same.IMAGE_CONFIG else self.files


def check(entry: RuntimeEntry, ranks: tuple[Rank, ...], image: ImageEntry | None) -> Outcome:
    """Check the ranks of a runtime; `image` is the entry of its image, where there is one."""
    findings = [f for rank in ranks for f in _of_rank(rank, entry)]
    findings += _missing(entry, ranks)
    if entry.ranks:
        for same in entry.ranks.same:
            findings += _differ(ranks, same)
            findings += _incomparable(entry, ranks, same)
    findings += _components(entry, image)
    held = not any(_counts(finding) for finding in findings)
    identified = (Identified(entry=entry.name, version="runtime", status="image"),) if held else ()
    return Outcome(
        kind="runtime",
        identified=identified,
        findings=tuple(findings),
        coverage=tuple(_coverage(entry, ranks, findings, held=held)),
        not_proven=(
            "that these images are what runs; what is mounted over them",
            _UNSEEN,
        ),
        graph=tuple(_drawn(ranks)),
    )


def _counts(finding: Finding) -> bool:
    """Whether a finding keeps the ranks from being held; components are a facet of their own."""
    facet = finding.row.facet
    return facet == "ranks" or (finding.row.outcome == "rejected" and facet != "components")


def _of_rank(rank: Rank, entry: RuntimeEntry) -> Iterator[Finding]:
    """Say what is wrong with one rank's image; what it says of itself comes along."""
    if rank.failed is not None:
        got, remedy = rank.failed
        yield Finding(
            code="runtime-rank-unread",
            where=_where(rank),
            expected="an image whose every part was read",
            got=printable(got),
            remedy=printable(remedy),
        )
        return
    states = {covered.facet: covered for covered in rank.outcome.coverage}
    for finding in rank.outcome.findings:
        counts = finding.row.facet in ("graph", "tree", "platform", "input")
        if counts and finding.row.outcome == "rejected":
            yield _at(finding, rank)
    judged = [f for f in rank.outcome.findings if f.row.facet == "expected"]
    no = next((f for f in judged if f.row.outcome == "rejected"), None)
    if no is not None and entry.image is not None:
        yield Finding(
            code="runtime-image",
            where=_where(rank),
            expected=str(entry.image),
            got=no.got,
            cause=f"{no.code}: {no.row.title}",
            remedy="start this rank from the image that is recorded, or record another runtime",
        )
    elif not states["graph"].state.holds or (
        entry.image is not None and not states["expected"].state.holds
    ):
        why = next((f for f in rank.outcome.findings if f.row.outcome == "undecided"), None)
        yield Finding(
            code="runtime-rank-unread",
            where=_where(rank),
            expected="an image whose every part was read",
            got=f"{why.code}: {why.row.title}" if why else "something else",
            remedy=why.remedy if why else "name an image: oci:DIR, oci-archive:FILE",
        )


def _at(finding: Finding, rank: Rank) -> Finding:
    path = finding.where.path
    told = f"rank {rank.number}: {path}" if path else f"rank {rank.number}"
    return replace(finding, where=replace(finding.where, path=told))


def _where(rank: Rank) -> Where:
    return Where(path=printable(f"rank {rank.number}: {rank.source}"))


def _missing(entry: RuntimeEntry, ranks: tuple[Rank, ...]) -> Iterator[Finding]:
    if entry.ranks is None:
        return
    given = {rank.number for rank in ranks}
    left = [number for number in range(entry.ranks.count) if number not in given]
    if left:
        yield Finding(
            code="runtime-rank-missing",
            expected=f"{entry.ranks.count} ranks",
            got=f"{len(ranks)}; without rank {', '.join(map(str, left[:20]))}",
            remedy="give every rank: --rank 0=SOURCE --rank 1=SOURCE …",
        )


def _incomparable(entry: RuntimeEntry, ranks: tuple[Rank, ...], same: Same) -> Iterator[Finding]:
    """Name ranks that hold no one image, where nothing but the comparison of ranks says which."""
    if entry.image is not None:
        return
    for rank in ranks:
        sound = any(c.facet == "graph" and c.state.holds for c in rank.outcome.coverage)
        if sound and rank.value(same) is None:
            yield Finding(
                code="runtime-rank-unread",
                where=_where(rank),
                expected=f"one image, whose {_SAME[same]} can be compared",
                got="several images",
                remedy="name the image of this rank behind a colon, as oci:DIR:REF",
            )


def _differ(ranks: tuple[Rank, ...], same: Same) -> Iterator[Finding]:
    """Name the ranks that are not as most are; without a majority, say that they differ."""
    values = {rank.number: rank.value(same) for rank in ranks}
    known = {number: value for number, value in values.items() if value is not None}
    counts = Counter(known.values())
    if len(counts) <= 1:
        return
    (most, number), *_ = counts.most_common()
    if 2 * number <= len(known):
        yield Finding(
            code="runtime-ranks-differ",
            expected=f"one {_SAME[same]} on all ranks",
            got="; ".join(f"rank {n}: {_shown(v)}" for n, v in sorted(known.items())[:20]),
            cause="no one of them is on most ranks",
            remedy="start all ranks from one image, and compare again",
        )
        return
    for rank in ranks:
        value = known.get(rank.number)
        if value is not None and value != most:
            yield Finding(
                code="runtime-rank-odd",
                where=_where(rank),
                expected=f"the {_SAME[same]} of the {number} other ranks, {_shown(most)}",
                got=_shown(value),
                remedy="start this rank from the image of the others",
            )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(each)[:12] for each in value)
    return f"sha256:{value}"


def _components(entry: RuntimeEntry, image: ImageEntry | None) -> Iterator[Finding]:
    told = {each.component: each.commit for each in image.contains} if image else {}
    for component in entry.components:
        commit = told.get(component.name)
        if commit is None:
            yield Finding(
                code="runtime-component-unknown",
                expected=f"{component.name} at commit {component.commit}",
                got="nothing registered says what the image contains of it",
                remedy="judge with a policy that does not demand components, such as region; or "
                "compare the files of the image with a composition",
            )
        elif commit != component.commit:
            yield Finding(
                code="runtime-component",
                expected=f"{component.name} at commit {component.commit}",
                got=f"commit {commit}, as the entry of the image says",
                remedy="record the commit that the image was built from",
            )


def _coverage(
    entry: RuntimeEntry, ranks: tuple[Rank, ...], findings: list[Finding], *, held: bool
) -> Iterator[Covered]:
    of_components = [f for f in findings if f.row.facet == "components"]
    if not entry.components:
        state, detail = State.NOT_APPLICABLE, "the entry has none"
    elif of_components:
        unknown = all(f.row.outcome == "undecided" for f in of_components)
        state, detail = (State.NOT_CHECKED if unknown else State.NOT_HELD), ""
    else:
        state, detail = State.HELD, _counted(len(entry.components), "component")
    yield Covered(facet="components", state=state, detail=detail)
    models = [f"{m.role} {m.repository} at {m.revision[:12]}" for m in entry.models]
    settings = [f"{key} = {value}" for key, value in entry.settings]
    for facet, recorded in (("models", models), ("settings", settings)):
        if recorded:
            detail = f"recorded, compared with nothing: {_listed(recorded)}"
            yield Covered(facet=facet, state=State.NOT_CHECKED, detail=detail)
        else:
            yield Covered(facet=facet, state=State.NOT_APPLICABLE, detail="the entry has none")
    same = ", ".join(entry.ranks.same) if entry.ranks else "nothing"
    detail = f"{_counted(len(ranks), 'rank')}, the same {same}"
    if held and ranks:
        yield Covered(facet="ranks", state=State.HELD, detail=detail)
    else:
        rejected = any(f.row.outcome == "rejected" for f in findings)
        state = State.NOT_HELD if rejected else State.NOT_CHECKED
        yield Covered(facet="ranks", state=state, detail=_counted(len(ranks), "rank"))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _listed(words: list[str]) -> str:
    more = len(words) - _SHOWN
    return ", ".join(words[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _drawn(ranks: Iterable[Rank]) -> Iterator[GraphNode]:
    for rank in ranks:
        yield GraphNode(kind=f"rank {rank.number}", detail=rank.source, below=rank.outcome.graph)
