"""From an image's manifest to its merged root."""

from verifier.sources.image.graph import Graph, Manifest
from verifier.sources.image.layer import content_in
from verifier.sources.image.layer_members import Member
from verifier.sources.image.root import MergedRoot


def merged(graph: Graph, image: Manifest, *, name: str) -> MergedRoot | None:
    """Merge the layers of one image of a graph; None if one of them could not be read at all."""
    layers = [layer.found for layer in image.layers if layer.found]
    parts = [layer.part for layer in image.layers if layer.part]
    opens = graph.open_part
    if opens is None or not image.layers or not len(layers) == len(parts) == len(image.layers):
        return None

    def content(at: int, member: Member, limit: int) -> bytes:
        with opens(parts[at]) as part:
            return content_in(part, member, name=f"{name}, {parts[at]}", limit=limit)

    return MergedRoot(layers, content, name=name)
