"""Whether every rank of a runtime has the image that was recorded, and the same one."""

import re
from collections.abc import Sequence

from verifier.ask.answers import unregistered
from verifier.ask.image import entries_of, judged
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.image import ImageEntry
from verifier.catalog.entries.runtime import RuntimeEntry
from verifier.catalog.open import Catalog
from verifier.catalog.refused import Refused
from verifier.checks.image import Asked, unchecked
from verifier.checks.runtime import Rank, check
from verifier.core.coverage import Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.finding import Finding
from verifier.core.outcome import Failed, Outcome, Report, Subject
from verifier.policy import judge
from verifier.sources.image.graph import Graph

_RANK = re.compile(r"(0|[1-9][0-9]{0,5})=(.+)", re.DOTALL)


def verify_runtime(name: str, *, ranks: Sequence[str], trust: Trust | None = None) -> Report:
    """Judge the images of the ranks of a runtime; each of `ranks` is `N=SOURCE`.

    Raises `WrongCallError` if the policy demands nothing of runtimes, the registry has no runtime
    `name`, or a rank is not written so, given twice, or beyond those that there are.
    """
    trust = trust or open_trust()
    demanded = trust.policy.runtime
    if demanded is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of runtimes",
            code="wrong-call",
            remedy="judge with a policy that has a [runtime] table, such as strict",
        )
    given = _given(ranks)
    failed: tuple[Failed, ...] = ()
    catalog = trust.catalog
    if isinstance(catalog, Refused):
        outcome = _unchecked(catalog.findings)
    elif name not in catalog.names("runtime"):
        raise unregistered(name, catalog.names("runtime"), option="runtime")
    else:
        entry = catalog.runtime(name)
        if isinstance(entry, Refused):
            outcome = _unchecked(entry.findings)
        else:
            _refuse_beyond(given, entry)
            outcome, failed = _checked(entry, given, catalog)
    result = judge(
        outcome,
        subject=Subject(name=name),
        demanded=demanded,
        waivers=trust.policy.waivers,
        now=trust.now,
    )
    return trust.report((result, *failed))


def _given(ranks: Sequence[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for written in ranks:
        rank = _RANK.fullmatch(written)
        if rank is None or int(rank[1]) in found:
            raise WrongCallError(
                f"--rank: {written[:120]} {'is given twice' if rank else 'is not N=SOURCE'}",
                code="wrong-call",
                remedy="write --rank 0=oci:DIR --rank 1=oci-archive:FILE, each rank once",
            )
        found[int(rank[1])] = rank[2]
    return dict(sorted(found.items()))


def _refuse_beyond(given: dict[int, str], entry: RuntimeEntry) -> None:
    count = entry.ranks.count if entry.ranks else None
    if count is not None and max(given, default=0) >= count:
        raise WrongCallError(
            f"--rank: {entry.name} has {count} ranks, 0 to {count - 1}, got rank {max(given)}",
            code="wrong-call",
            remedy="count the ranks from 0",
        )


def _checked(
    entry: RuntimeEntry, given: dict[int, str], catalog: Catalog
) -> tuple[Outcome, tuple[Failed, ...]]:
    """Check every rank; of those whose image cannot be looked at, also say so by themselves."""
    asked, image = _asked(entry, catalog)
    if isinstance(image, Refused):
        return _unchecked(image.findings), ()
    ranks: list[Rank] = []
    errors: list[Failed] = []
    for number, source in given.items():
        failed = None
        try:
            graph, outcome = judged(source, asked, catalog)
        except PinproofError as error:  # the other ranks are looked at all the same
            graph, outcome, failed = None, unchecked(), error
            errors.append(Failed.of(f"rank {number}: {source}", error))
        config, files = _alike(graph)
        ranks.append(
            Rank(
                number=number,
                source=source,
                outcome=outcome,
                config=config,
                files=files,
                lazy=tuple(
                    key for image in (graph.images() if graph else ()) for key in image.lazy
                ),
                failed=(failed.message, failed.remedy) if failed else None,
            )
        )
    return check(entry, tuple(ranks), image), tuple(errors)


def _asked(entry: RuntimeEntry, catalog: Catalog) -> tuple[Asked, ImageEntry | Refused | None]:
    """Return what each rank's image is compared with, and the entry of that image."""
    if entry.image is None:
        return Asked(), None
    if isinstance(entry.image, Digest):
        known = entries_of((entry.image.hex,), catalog)
        found = known if isinstance(known, Refused) else next(iter(known), None)
        return Asked(digest=entry.image), found
    image = catalog.image(entry.image)
    return Asked(entry=None if isinstance(image, Refused) else image), image


def _alike(graph: Graph | None) -> tuple[str | None, tuple[str, ...] | None]:
    """Return configuration and diff-ids of the one image of a graph, None if it is not one."""
    images = graph.images() if graph else ()
    if len(images) != 1:
        return None, None
    config = images[0].config.blob.sha256 if images[0].config else None
    files = tuple(layer.diff_id or "" for layer in images[0].layers)
    return config, files if all(files) else None


def _lazy(graph: Graph | None) -> tuple[str, ...]:
    """Return the annotations for lazy pulls of all images of a graph."""
    images = graph.images() if graph else ()
    return tuple(sorted({key for image in images for key in image.lazy}))


def _unchecked(findings: tuple[Finding, ...]) -> Outcome:
    return Outcome(
        kind="runtime",
        identified=(),
        findings=findings,
        coverage=tuple(
            Covered(facet=facet, state=State.NOT_CHECKED) for facet in FACETS["runtime"]
        ),
    )
