"""Pinning: an entry made from what was read, for its maintainer to review and sign.

Nothing is written: the entry is returned as the TOML that belongs into the registry. What is pinned
was read whole and does not contradict itself; whether it is the right image is what its maintainer
answers for.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from verifier.catalog.entries import image_format, runtime_format
from verifier.checks.image import Asked, check, every
from verifier.core.clock import print_time
from verifier.core.coverage import NOT_ASKED, Covered, State
from verifier.core.errors import WrongCallError
from verifier.core.outcome import Outcome, Report, Subject
from verifier.core.printable import printable
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError
from verifier.core.value import frozen
from verifier.core.verdict import Verdict
from verifier.policy import judge
from verifier.sources.image.argument import parse
from verifier.sources.image.graph import Graph, Platform
from verifier.sources.image.open import read

_SIZED: Final = ("index", "manifest", "config")
_DEMANDED: Final = frozenset({"graph"})
_MOST: Final = 200


@frozen
class Pinned:
    """What was pinned: the report on reading it, and its entry, None if that is not verified."""

    report: Report
    entry: bytes | None


def image(
    source: str,
    *,
    name: str,
    project: str,
    repository: str | None = None,
    platform: Platform | None = None,
    now: datetime,
) -> Pinned:
    """Make an image/v1 entry with every digest of the image at `source`.

    There is none of an image that contradicts itself or is not whole; the report says why.
    Raises `WrongCallError` if the source is a claim, or holds several images and no index of
    them, `MalformedError` for what no entry can hold, and `UnavailableError` if it cannot be read.
    """
    entry: dict[str, Any] = {"schema": image_format.SCHEMA, "name": name, "project": project}
    if repository:
        entry["repository"] = repository
    _refuse_unprintable({"project": project, "repository": repository or ""})
    found = parse(source)
    if found.form == "docker-inspect":
        raise WrongCallError(
            f"{printable(source)} cannot be pinned: it is a claim, and no image",
            code="wrong-call",
            remedy="save the image (`docker save`, `skopeo copy … oci-archive:FILE`), and pin that",
        )
    graph = read(found, platform=platform)
    report = _report(source, check(graph, Asked(platform=platform)), now)
    if report.verdict is not Verdict.VERIFIED:
        return Pinned(report=report, entry=None)
    images = graph.images()
    everything = set(range(len(images)))
    if len(images) > 1 and not any(
        named.kind == "index" and everything <= set(named.of) for named in every(graph)
    ):
        raise WrongCallError(
            f"{printable(source)} cannot be pinned: it holds {len(images):,} images, and no index "
            "of them all",
            code="wrong-call",
            remedy="pin each by itself: name one behind a colon, or give --platform",
        )
    if len(images) == 1 and images[0].platform:
        entry["platform"] = str(images[0].platform)
    entry["digest"] = _digests(graph, platform)
    return Pinned(report=report, entry=_written(entry, image_format.parse))


def _report(source: str, outcome: Outcome, now: datetime) -> Report:
    """Judge what was read by what it says of itself; nothing is expected of it yet."""
    asked = Covered(facet="expected", state=State.NOT_CHECKED, detail=NOT_ASKED)
    outcome = replace(
        outcome,
        findings=tuple(f for f in outcome.findings if f.row.facet != "expected"),
        coverage=tuple(asked if c.facet == "expected" else c for c in outcome.coverage),
    )
    result = judge(outcome, subject=Subject(name=source), demanded=_DEMANDED, now=now)
    return Report.alone(result, print_time(now))


def _refuse_unprintable(given: dict[str, str]) -> None:
    """Refuse text that would show as something else than it is; people review an entry."""
    for what, text in given.items():
        if printable(text) != text or text != text.strip() or len(text) > _MOST:
            raise WrongCallError(
                f"--{what}: expected one line of at most {_MOST} printable characters, got "
                f"{printable(text[:80])}",
                code="wrong-call",
                remedy=f"write it plainly, such as --{what} example.org/team",
            )


def _written(entry: dict[str, Any], reads: Callable[[bytes, str], object]) -> bytes:
    """Return an entry as TOML that the format takes. Raises `MalformedError`."""
    data = write_toml(entry)
    try:
        reads(data, "the entry")
    except MalformedError as error:
        remedy = "correct what was given; nothing was pinned"
        raise MalformedError("the entry", error.mistakes, remedy=remedy) from None
    return data


def _digests(graph: Graph, platform: Platform | None) -> list[dict[str, Any]]:
    """List what pins the image: of one also its diff-ids, in the order of the layers."""
    images = graph.images()
    judged = set(range(len(images)))
    rows = [
        {"kind": named.kind, "sha256": named.digest.hex, "size": named.length}
        for named in every(graph)
        if named.kind in _SIZED and named.of
        # The index above one chosen platform speaks of the others too.
        if platform is None or named.kind != "index"
        if judged & set(named.of)
    ]
    if len(images) == 1:
        rows += [{"kind": "diff-id", "sha256": layer.diff_id} for layer in images[0].layers]
    return rows


def runtime(
    *,
    name: str,
    project: str,
    image: str,
    components: Iterable[tuple[str, str]] = (),
    models: Iterable[tuple[str, str, str]] = (),
    settings: Iterable[tuple[str, str]] = (),
    ranks: int | None = None,
    same: Iterable[str] = ("image-config",),
) -> bytes:
    """Return a runtime/v1 entry of what was named; `image` is an entry or a typed digest.

    Raises `MalformedError` naming every value that the format does not take.
    """
    _refuse_unprintable({"project": project})
    entry: dict[str, Any] = {
        "schema": runtime_format.SCHEMA,
        "name": name,
        "project": project,
        "image": image,
        "component": [{"name": each, "commit": commit} for each, commit in components],
        "model": [
            {"role": role, "repository": repository, "revision": revision}
            for role, repository, revision in models
        ],
    }
    entry = {key: value for key, value in entry.items() if value != []}
    given = dict(settings)
    if given:
        entry["settings"] = given
    if ranks is not None:
        entry["ranks"] = {"count": ranks, "same": list(same)}
    return _written(entry, runtime_format.parse)
