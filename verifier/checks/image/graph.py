"""What the documents of an image say of each other: platforms, layers, diff-ids, history (step 1).

Sources: OCI image specification 1.1, config.md ("rootfs", "history"), image-index.md ("platform").
"""

from collections.abc import Iterator
from typing import Final

from verifier.core.finding import Finding, Where
from verifier.sources.image.graph import Blob, Config, Graph, Index, Layer, Manifest, Platform

_BUILDER: Final = "ask the image's builder for one that does not contradict itself"
_AGAIN: Final = "copy the image again from its container registry by the pinned digest"


def contradictions(graph: Graph) -> Iterator[Finding]:
    """Name every contradiction between the documents and layers of a graph."""
    images = graph.images()
    for image in images:
        yield from _of_image(image)
    for image in graph.docker:
        # Comparing them by value would hash every member of every layer.
        if image.read and all(image is not other for other in images):
            yield from _of_image(image)
    for manifest in graph.manifests():
        yield from _label(manifest)
    yield from _spellings(graph)
    yield from _platforms(graph)
    manifests = graph.manifests()
    if manifests and all(manifest.artifact for manifest in manifests):
        yield Finding(
            code="image-artifact",
            where=Where(path=name_of(manifests[0])),
            expected="an image",
            got="an artifact: its configuration or its layers are of other media types",
            remedy="name the image that it is about; pinproof verify image judges images",
        )


def name_of(image: Manifest) -> str:
    """Return what findings call an image: its manifest, else its configuration."""
    if image.blob is not None:
        return f"manifest {image.blob.sha256}"
    digits = image.config.blob.sha256 if image.config else None
    return f"config {digits}" if digits else "an image without a configuration"


def _label(image: Manifest) -> Iterator[Finding]:
    """Compare what the index says of an image, be its layers read or not."""
    stated = image.config.platform if image.config else None
    if stated is not None and image.label and not image.label.is_as(stated):
        yield Finding(
            code="image-platform-config",
            where=Where(path=name_of(image)),
            expected=f"{stated}, as the image's configuration says",
            got=f"{image.label}, as the index says",
            cause="the index sends machines of one platform to the image of another",
            remedy="have the index made anew, or take the image of your platform by its manifest",
        )


def _of_image(image: Manifest) -> Iterator[Finding]:
    config = image.config
    if config is None or config.platform is None:
        return
    where = name_of(image)
    count = len(image.layers)
    if count != len(config.diff_ids):
        yield Finding(
            code="image-layer-count",
            where=Where(path=where),
            expected=f"{len(config.diff_ids):,} layers, as the configuration lists diff-ids",
            got=f"{count:,} layers in the manifest",
            remedy=_BUILDER,
        )
    if config.history is not None and config.history != len(config.diff_ids):
        yield Finding(
            code="image-history",
            where=Where(path=where),
            expected=f"{len(config.diff_ids):,} steps that made a layer, one for each diff-id",
            got=f"{config.history:,} in the history",
            remedy=f"{_BUILDER}; the history is a description, and changes no file",
        )
    for number, layer in enumerate(image.layers):
        yield from _of_layer(number, layer, config, where)


def _of_layer(number: int, layer: Layer, config: Config, image: str) -> Iterator[Finding]:
    where = Where(path=f"{image}, layers[{number}]")
    if layer.blob.kind == "blob":
        stated = layer.blob.stated
        yield Finding(
            code="image-layer-type",
            where=where,
            expected="a tar, plain or in gzip or zstd",
            got=stated.media_type if stated else "something else",
            remedy="have the layer stored as a plain tar, or in gzip or zstd",
        )
    elif layer.blob.sha256 is not None and (layer.diff_id is None or not layer.whole):
        yield Finding(
            code="image-layer-unread",
            where=where,
            expected="a tar that is sound to its end",
            got="what the tree- findings of this layer say",
            remedy="look at those findings; have the layer built anew, or copy it again",
        )
    stated_id = config.diff_ids[number] if number < len(config.diff_ids) else None
    if layer.diff_id is not None and stated_id is not None and layer.diff_id != stated_id:
        yield Finding(
            code="image-diff-id",
            where=where,
            expected=f"diff-id sha256:{stated_id}, as the configuration says",
            got=f"diff-id sha256:{layer.diff_id}",
            cause=_other_place(layer.diff_id, config.diff_ids),
            remedy=_AGAIN,
        )


def _other_place(diff_id: str, diff_ids: tuple[str, ...]) -> str | None:
    if diff_id in diff_ids:
        return f"it is the configuration's layer {diff_ids.index(diff_id)}: layers were reordered"
    return None


def _spellings(graph: Graph) -> Iterator[Finding]:
    """Name platforms that some programs take for another spelling and some do not know."""
    images = {id(image): image for image in (*graph.manifests(), *graph.docker)}
    for image in images.values():
        config = image.config.platform if image.config else None
        for platform in dict.fromkeys(p for p in (image.label, config) if p and not p.spelt):
            yield Finding(
                code="image-platform-spelling",
                where=Where(path=name_of(image)),
                expected=str(platform.canonical),
                got=str(platform),
                cause="some programs take the one for the other, and some do not",
                remedy="have the image built for its platform as Go names it",
            )


def _platforms(graph: Graph) -> Iterator[Finding]:
    """Name two images of one platform below one index: which one is run is chance.

    Programs look for a platform in the indexes below an index too.
    """
    for index in (root for root in graph.roots if isinstance(root, Index)):
        seen: dict[tuple[str, str | None], str] = {}
        listed = [
            (found, _digest(each)) for each in _all_below(index) if (found := _platform(each))
        ]
        bare = {str(each.canonical) for each, _ in listed if each.version is None}
        for found, name in listed:
            platform = str(found.canonical)
            # Windows alone chooses by its version, unless an image states none.
            by_version = found.canonical.os == "windows" and platform not in bare
            first = seen.setdefault((platform, found.version if by_version else None), name)
            if first != name:
                yield Finding(
                    code="image-platform-twice",
                    where=Where(path=f"index {index.blob.sha256}"),
                    expected=f"one image for {platform}",
                    got=f"{first} and {name}",
                    remedy="have the index made anew; pin the manifest that is meant",
                )


def _all_below(index: Index) -> Iterator[Manifest | Blob]:
    for below in index.below:
        if isinstance(below, Index):
            yield from _all_below(below)
        else:
            yield below


def _platform(below: object) -> Platform | None:
    if not isinstance(below, Manifest):
        return None
    if below.artifact and (below.label is None or below.label.os == "unknown"):
        return None
    return below.label or (below.config.platform if below.config else None)


def _digest(below: object) -> str:
    blob = below.blob if isinstance(below, Manifest) else below
    return f"sha256:{blob.sha256}" if isinstance(blob, Blob) else "?"
