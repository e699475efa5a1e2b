"""Pinning: an entry made from what was read, for its maintainer to review and sign.

Nothing is written: the entry is returned as the TOML that belongs into the registry. What is pinned
was read whole and does not contradict itself; whether it is the right image is what its maintainer
answers for.
"""

from collections.abc import Iterable
from typing import Any, Final

from verifier.catalog.entries import image_format, runtime_format
from verifier.checks.image import Asked, check, every
from verifier.core.coverage import State
from verifier.core.errors import WrongCallError
from verifier.core.table import write_toml
from verifier.sources.image.argument import parse
from verifier.sources.image.graph import Graph, Platform
from verifier.sources.image.open import read

_SIZED: Final = ("index", "manifest", "config")


def image(
    source: str,
    *,
    name: str,
    project: str,
    repository: str | None = None,
    platform: Platform | None = None,
) -> bytes:
    """Return an image/v1 entry with every digest of the image at `source`.

    Raises `WrongCallError` if the source is a claim, contradicts itself or is not whole, and
    `UnavailableError` if it cannot be read.
    """
    found = parse(source)
    if found.form == "docker-inspect":
        raise _refused(source, "it is a claim, and no image")
    graph = read(found, platform=platform)
    outcome = check(graph, Asked(platform=platform))
    held = next(c for c in outcome.coverage if c.facet == "graph").state is State.HELD
    if not held:
        facets = ("graph", "tree", "input")
        codes = sorted({f.code for f in outcome.findings if f.row.facet in facets})
        raise _refused(source, f"its parts do not hold together: {', '.join(codes) or 'no image'}")
    images = graph.images()
    everything = set(range(len(images)))
    if len(images) > 1 and not any(
        named.kind == "index" and everything <= set(named.of) for named in every(graph)
    ):
        raise WrongCallError(
            f"{source} cannot be pinned: it holds {len(images):,} images, and no index of them all",
            code="wrong-call",
            remedy="pin each by itself: name one behind a colon, or give --platform",
        )
    entry: dict[str, Any] = {"schema": image_format.SCHEMA, "name": name, "project": project}
    if repository:
        entry["repository"] = repository
    if len(images) == 1 and images[0].config and images[0].config.platform:
        entry["platform"] = str(images[0].config.platform)
    entry["digest"] = _digests(graph, platform)
    data = write_toml(entry)
    image_format.parse(data, source)
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
    data = write_toml(entry)
    runtime_format.parse(data, f"runtime {name}")
    return data


def _refused(source: str, why: str) -> WrongCallError:
    return WrongCallError(
        f"{source} cannot be pinned: {why}",
        code="wrong-call",
        remedy=f"pinproof verify image {source} says what is wrong with it",
    )
