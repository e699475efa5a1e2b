"""Whether an image, in whatever form it lies on disk, is the one that was pinned."""

import re
from collections.abc import Iterable
from dataclasses import replace

from verifier.ask.answers import unregistered
from verifier.ask.image_inside import Inside, judged_inside
from verifier.ask.trusted import Trust
from verifier.ask.trusted import trust as open_trust
from verifier.catalog.entries.image import ImageEntry
from verifier.catalog.open import Catalog
from verifier.catalog.refused import Refused
from verifier.checks.image import Asked, check, every, unchecked
from verifier.checks.image.labels import Recomputed, compared, unproven
from verifier.core.digest import Digest
from verifier.core.errors import PinproofError, WrongCallError
from verifier.core.outcome import Failed, Outcome, Report, Result, Subject
from verifier.policy import judge
from verifier.sources.image.argument import Source, parse
from verifier.sources.image.graph import Graph, Platform
from verifier.sources.image.open import read

_PLATFORM = re.compile(r"([a-z0-9._-]+)/([a-z0-9._-]+)(?:/([a-z0-9._-]+))?")
_KINDS = ("archive", "index", "manifest", "config", "layer", "diff-id")


def verify_image(
    source: str,
    *,
    expect: str | None = None,
    platform: str | None = None,
    inside: Inside | None = None,
    trust: Trust | None = None,
) -> Report:
    """Judge an image by what is expected of it, or by every entry of the registry.

    `source` is `oci:DIR[:REF]`, `oci-archive:FILE[:REF]`, `docker-archive:FILE[:REF]`, or
    `docker-inspect:FILE`, which proves nothing. `expect` is a typed digest such as
    `manifest:sha256:…` or the name of an image entry. `platform` is `os/arch[/variant]`: only
    that image is read, and has to be there. `inside` asks for files in it: one more result each.

    Raises `WrongCallError` if the policy demands nothing of images, or an argument is not
    understood.
    """
    trust = trust or open_trust()
    demanded = trust.policy.image
    if demanded is None:
        raise WrongCallError(
            f"policy {trust.policy.name} demands nothing of images",
            code="wrong-call",
            remedy="judge with a policy that has an [image] table, such as strict",
        )
    wanted = None if platform is None else read_platform(platform)
    digest, entry = _expected(expect, trust.catalog)
    results: tuple[Result | Failed, ...] = ()
    inside = inside or None  # half a question is a wrong call before anything is read
    try:
        subject, outcome, graph = _checked(source, digest, entry, wanted, trust.catalog)
        if inside is not None and graph is not None:
            results, covered = judged_inside(graph, inside, name=source, trust=trust)
            coverage = tuple(covered.get(each.facet, each) for each in outcome.coverage)
            outcome = replace(outcome, coverage=coverage)
        if graph is not None:
            outcome = _with_labels(outcome, graph, results)
    except WrongCallError:
        raise
    except PinproofError as error:
        return trust.report((Failed.of(source, error),))
    result = judge(
        outcome, subject=subject, demanded=demanded, waivers=trust.policy.waivers, now=trust.now
    )
    return trust.report((result, *results))


def _with_labels(outcome: Outcome, graph: Graph, results: tuple[Result | Failed, ...]) -> Outcome:
    """Compare the labels of the images that were read with what was found inside."""
    seen = [
        (result.kind, found.entry, found.version)
        for result in results
        if isinstance(result, Result)
        for found in result.identified
    ]
    recomputed = Recomputed(
        helpers=tuple((name, version) for kind, name, version in seen if kind == "helper"),
        stages=tuple((name, version) for kind, name, version in seen if kind == "composition"),
    )
    configs = [image.config for image in graph.images() if image.config is not None]
    findings = [f for config in configs for f in compared(dict(config.labels), recomputed)]
    words = [w for config in configs for w in unproven(dict(config.labels), recomputed)]
    return replace(
        outcome,
        findings=(*outcome.findings, *findings),
        not_proven=tuple(dict.fromkeys((*outcome.not_proven, *words))),
    )


def read_platform(text: str) -> Platform:
    """Read `os/arch[/variant]`. Raises `WrongCallError` for anything else."""
    found = _PLATFORM.fullmatch(text)
    if found is None:
        raise WrongCallError(
            f"--platform: {text[:80]} is not of the form os/arch[/variant]",
            code="wrong-call",
            remedy="write it as an index does, such as linux/arm64",
        )
    return Platform(os=found[1], architecture=found[2], variant=found[3])


def _expected(
    expect: str | None, catalog: Catalog | Refused
) -> tuple[Digest | None, ImageEntry | Refused | None]:
    """Read what is expected: a digest, or the name of an entry."""
    if expect is None:
        return None, None
    digest = Digest.parse(expect)
    if digest is not None and digest.kind in (None, *_KINDS):
        return digest, None
    if digest is not None or ":" in expect or not expect:
        raise WrongCallError(
            f"--expect: {expect[:120] or 'nothing'} is no digest of an image and no entry's name",
            code="wrong-call",
            remedy=f"write <kind>:sha256:<64 lower-case hex digits>, of {', '.join(_KINDS)}; or a "
            "name that pinproof list shows",
        )
    if isinstance(catalog, Refused):
        return None, catalog
    if expect not in catalog.names("image"):
        raise unregistered(expect, catalog.names("image"), option="--expect")
    return None, catalog.image(expect)


def _checked(
    argument: str,
    digest: Digest | None,
    entry: ImageEntry | Refused | None,
    platform: Platform | None,
    catalog: Catalog | Refused,
) -> tuple[Subject, Outcome, Graph | None]:
    if isinstance(catalog, Refused):
        return Subject(name=argument), unchecked(findings=catalog.findings), None
    if isinstance(entry, Refused):
        return Subject(name=argument), unchecked(findings=entry.findings), None
    asked = Asked(digest=digest, entry=entry, platform=platform)
    graph, outcome = judged(argument, asked, catalog)
    if graph is None:
        return Subject(name=argument), outcome, None
    return _subject(argument, graph), outcome, graph


def _claimed(source: Source, asked: Asked, catalog: Catalog) -> Outcome:
    from verifier.checks.image import claim as claims  # noqa: PLC0415  (for claims alone)
    from verifier.sources.image import claim as reading  # noqa: PLC0415

    said = reading.read(source.path, name=source.name)
    digests = [digest.hex for digest in said.typed] + list(said.untyped)
    known = entries_of((*digests, *((asked.digest.hex,) if asked.digest else ())), catalog)
    if isinstance(known, Refused):
        return unchecked(findings=known.findings)
    return claims.check(said, replace(asked, known=known))


def entries_of(digests: Iterable[str], catalog: Catalog) -> tuple[ImageEntry, ...] | Refused:
    """Return the image entries that the index leads to from some digests."""
    index = catalog.index
    if isinstance(index, Refused):
        return index
    found: dict[str, ImageEntry] = {}
    for digits in dict.fromkeys(digests):
        rows = index.rows(digits)
        if isinstance(rows, Refused):
            return rows
        for row in rows:
            if row.entry_kind == "image" and row.entry not in found:
                entry = catalog.image(row.entry)
                if isinstance(entry, Refused):
                    return entry
                found[row.entry] = entry
    return tuple(found[name] for name in sorted(found))


def judged(argument: str, asked: Asked, catalog: Catalog) -> tuple[Graph | None, Outcome]:
    """Read one image source and check it; the graph is None of a claim.

    Raises `UnavailableError` if it cannot be read.
    """
    source = parse(argument)
    if source.form == "docker-inspect":
        return None, _claimed(source, asked, catalog)
    graph = read(source, platform=asked.platform, choice=_own(asked.entry))
    found = [named.digest.hex for named in every(graph)]
    known = entries_of((*found, *((asked.digest.hex,) if asked.digest else ())), catalog)
    if isinstance(known, Refused):
        return graph, unchecked(findings=known.findings)
    return graph, check(graph, replace(asked, known=known))


def _own(entry: ImageEntry | None) -> Platform | None:
    """Return the platform that an entry is of, where it pins that image and not an index of more.

    Of several images that one is compared, and the layers of the others are not read.
    """
    if entry is None or entry.platform is None or entry.of("index"):
        return None
    return read_platform(entry.platform)


def _subject(argument: str, graph: Graph) -> Subject:
    """Describe what was judged, by every digest that pins an image as a whole."""
    digests = tuple(
        named.digest
        for named in every(graph)
        if named.kind in ("archive", "index", "manifest", "config")
    )
    length = graph.archive.length if graph.archive else None
    if length is None:
        length = sum(named.length or 0 for named in every(graph))
    return Subject(name=argument, digests=digests, length=length, link=graph.link)
