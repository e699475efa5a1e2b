"""The identity graph as it is drawn: one node a blob, with what is said of it."""

from collections.abc import Iterator

from verifier.core.digest import Digest
from verifier.core.outcome import GraphNode
from verifier.sources.image.graph import Blob, Graph, Index, Layer, Manifest


def drawn(graph: Graph, marks: frozenset[Digest]) -> tuple[GraphNode, ...]:
    """Return what a graph looks like; `marks` are digests that were asked for."""
    below = tuple(_node(root, marks) for root in graph.roots)
    if graph.manifests() == graph.docker or not graph.manifests():
        below = tuple(_node(image, marks) for image in graph.docker)
    if graph.archive is None:
        return (GraphNode(kind="layout", below=below),)
    return (_blob("archive", graph.archive, marks, below=below, detail=graph.form),)


def _node(node: Index | Manifest | Blob, marks: frozenset[Digest]) -> GraphNode:
    if isinstance(node, Index):
        below = tuple(_node(each, marks) for each in node.below)
        images = [m for m in node.below if isinstance(m, Manifest) and not m.artifact]
        detail = ", ".join(str(_platform(image)) for image in images)
        return _blob("index", node.blob, marks, below=below, detail=detail)
    if isinstance(node, Blob):
        return _blob(node.kind, node, marks)
    below = tuple(_below(node, marks))
    if node.blob is None:
        return GraphNode(kind="image", below=below, detail=", ".join(node.refs))
    detail = "an artifact, no image" if node.artifact else str(_platform(node))
    if not node.read:
        detail += ", layers not read"
    return _blob("manifest", node.blob, marks, below=below, detail=detail)


def _platform(image: Manifest) -> object:
    stated = image.config.platform if image.config else None
    return stated or image.label or "no platform"


def _below(image: Manifest, marks: frozenset[Digest]) -> Iterator[GraphNode]:
    config = image.config
    if config is not None:
        yield _blob("config", config.blob, marks, detail=str(config.platform or "not read"))
    for number, layer in enumerate(image.layers):
        stated = config.diff_ids[number] if config and number < len(config.diff_ids) else None
        yield _layer(layer, stated, marks)


def _layer(layer: Layer, stated: str | None, marks: frozenset[Digest]) -> GraphNode:
    below: tuple[GraphNode, ...] = ()
    if layer.diff_id is not None:
        digest = Digest(kind="diff-id", hex=layer.diff_id)
        agrees = None if stated is None else layer.diff_id == stated
        mark = False if agrees is False else (True if digest in marks else None)
        below = (GraphNode(kind="diff-id", digest=digest, mark=mark),)
    return _blob("layer", layer.blob, marks, below=below, detail=layer.packed or "")


def _blob(
    kind: str,
    blob: Blob,
    marks: frozenset[Digest],
    *,
    below: tuple[GraphNode, ...] = (),
    detail: str = "",
) -> GraphNode:
    if blob.sha256 is None:
        told = f"{blob.stated.digest}: not there" if blob.stated else "not there"
        return GraphNode(kind=kind, detail=told, mark=False, below=below)
    typed = kind if kind != "blob" else None
    digest = Digest(kind=typed, hex=blob.sha256)
    mark = None if blob.sound else False
    return GraphNode(
        kind=kind,
        digest=digest,
        length=blob.length,
        detail=detail,
        mark=True if mark is None and digest in marks else mark,
        below=below,
    )
