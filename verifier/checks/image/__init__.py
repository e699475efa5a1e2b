"""An image: what its parts say of each other, and whether it is the one that was pinned.

The steps are those of CHECKS "image"; `graph`, `expected` and `claim` hold the parts.

1. *Graph*: every digest was computed again while reading. Descriptors, documents and bytes agree;
   platforms, layers, diff-ids and history agree; an archive of two forms describes one image.
2. *Platform*: the platform asked for, or that the entry names, is that of the configuration.
3. *Expected*: the digest or entry asked for, else any entry, is one that pins the whole image.
   Another kind of digest, another printing, other compression or labels are named as that.
4. *Claims*: what `docker image inspect` printed can contradict a pin or agree, never prove it.

Files inside (helper, composition) are asked for by name; without that they are not checked.
"""

from collections.abc import Iterator
from typing import Final

from verifier.catalog.entries.image import ImageEntry
from verifier.checks.image import expected
from verifier.checks.image.drawing import drawn
from verifier.checks.image.expected import Compared
from verifier.checks.image.graph import contradictions
from verifier.checks.image.named import Named, every
from verifier.core.coverage import NOT_ASKED, Covered, State
from verifier.core.demand import FACETS
from verifier.core.digest import Digest
from verifier.core.finding import Finding
from verifier.core.outcome import GraphNode, Identified, Outcome
from verifier.core.value import frozen
from verifier.sources.image.graph import Graph, Platform

__all__ = ["Asked", "check", "every", "unchecked"]

_INSIDE: Final = ("root-files", "helper", "composition")


@frozen
class Asked:
    """What is asked of an image: a digest, an entry, or neither; and a platform, or none.

    `known` are the entries of the registry that any digest involved leads to.
    """

    digest: Digest | None = None
    entry: ImageEntry | None = None
    platform: Platform | None = None
    known: tuple[ImageEntry, ...] = ()


def check(graph: Graph, asked: Asked) -> Outcome:
    """Check an image that was read whole: graph, platform, and whether it is the pinned one."""
    findings = [*graph.findings, *contradictions(graph)]
    found = every(graph)
    read = bool(graph.images())
    compared = _compared(graph, found, asked) if read else None
    findings += compared.findings if compared else ()
    entry = compared.entry if compared else None
    findings += _platforms(graph, asked, entry)
    coverage = _coverage(graph, asked, findings, compared, entry)
    identified: tuple[Identified, ...] = ()
    if compared and entry and compared.covered.state.holds:
        identified = (Identified(entry=entry.name, version=compared.by, status="image"),)
    return Outcome(
        kind="image",
        identified=identified,
        findings=tuple(findings),
        coverage=tuple(coverage),
        not_proven=tuple(_not_proven(graph)),
        graph=drawn(graph, compared.marks if compared else frozenset()),
    )


def unchecked(*, findings: tuple[Finding, ...] = (), graph: tuple[GraphNode, ...] = ()) -> Outcome:
    """Return the outcome of a check that did not come about."""
    return Outcome(
        kind="image",
        identified=(),
        findings=findings,
        coverage=tuple(Covered(facet=facet, state=State.NOT_CHECKED) for facet in FACETS["image"]),
        graph=graph,
    )


def _compared(graph: Graph, found: tuple[Named, ...], asked: Asked) -> Compared:
    if asked.digest is not None:
        return expected.with_digest(graph, found, asked.digest, asked.known)
    if asked.entry is not None:
        return expected.with_entry(graph, found, asked.entry)
    return expected.with_any(graph, found, asked.known)


def _platforms(graph: Graph, asked: Asked, entry: ImageEntry | None) -> Iterator[Finding]:
    """Compare the platform of what was read with the one asked for, and the entry's."""
    there = sorted({str(m.platform) for m in graph.manifests() if m.config})
    images = graph.images()
    if asked.platform is not None and not images and there:
        yield Finding(
            code="image-platform-absent",
            expected=str(asked.platform),
            got=", ".join(there),
            remedy="copy the image of that platform too (`skopeo copy --all`), or ask for one "
            "that is there",
        )
    registered = _registered(asked, entry)
    if registered is None:
        return
    os, architecture, *variant = registered.split("/")
    wanted = Platform(os=os, architecture=architecture, variant=next(iter(variant), None))
    found = [image.platform for image in images if image.platform]
    if found and not any(platform.is_same(wanted) for platform in found):
        yield Finding(
            code="image-platform-entry",
            expected=f"{wanted}, as registered",
            got=", ".join(sorted(map(str, found))),
            remedy="take the image of the registered platform",
        )


def _coverage(
    graph: Graph,
    asked: Asked,
    findings: list[Finding],
    compared: Compared | None,
    entry: ImageEntry | None,
) -> Iterator[Covered]:
    yield _graph(graph, findings)
    if compared is None:
        yield Covered(facet="expected", state=State.NOT_CHECKED, detail="nothing was read")
    else:
        yield compared.covered
    for facet in _INSIDE:
        yield Covered(facet=facet, state=State.NOT_CHECKED, detail=NOT_ASKED)
    yield _platform(graph, asked, findings, entry)


def _graph(graph: Graph, findings: list[Finding]) -> Covered:
    images = graph.images()
    broken = [f for f in findings if f.row.facet == "graph"]
    broken += [
        f for f in findings if f.row.facet in ("tree", "input") and f.row.outcome == "rejected"
    ]
    if not images:
        return Covered(facet="graph", state=State.NOT_CHECKED, detail="no image was read")
    layers = sum(len(image.layers) for image in images)
    parts = f"{layers:,} {'layer' if layers == 1 else 'layers'} and diff-ids"
    if broken:
        return Covered(facet="graph", state=State.NOT_HELD, detail=f"{parts} looked at")
    what = "" if len(images) == 1 else f"{len(images)} images, "
    return Covered(facet="graph", state=State.HELD, detail=f"{what}{parts} computed again")


def _platform(
    graph: Graph, asked: Asked, findings: list[Finding], entry: ImageEntry | None
) -> Covered:
    found = [str(image.platform) for image in graph.images() if image.platform]
    detail = ", ".join(dict.fromkeys(found))
    if any(finding.row.facet == "platform" for finding in findings):
        return Covered(facet="platform", state=State.NOT_HELD, detail=detail)
    registered = _registered(asked, entry)
    if not found:
        return Covered(facet="platform", state=State.NOT_CHECKED)
    if asked.platform is None and registered is None:
        told = f"{detail} · none was asked for"
        return Covered(facet="platform", state=State.NOT_APPLICABLE, detail=told)
    return Covered(facet="platform", state=State.HELD, detail=detail)


def _registered(asked: Asked, entry: ImageEntry | None) -> str | None:
    """Return the platform that the entry involved names, if it names one."""
    involved = asked.entry or entry
    return involved.platform if involved else None


def _not_proven(graph: Graph) -> Iterator[str]:
    yield "what the image does when it runs; what is mounted over it"
    unread = [m for m in graph.manifests() if not m.read and not m.artifact]
    if unread:
        yield (
            f"the layers of {len(unread)} other platforms"
            if len(unread) > 1
            else ("the layers of another platform")
        )
    yield "what labels and annotations claim"
    if lazy := sorted({key for image in graph.images() for key in image.lazy}):
        yield f"which files a runtime that pulls lazily sees: it goes by {', '.join(lazy[:4])}"
