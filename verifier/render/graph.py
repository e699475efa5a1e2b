"""An identity graph drawn for a terminal: a line a node, layers in one line where they agree."""

from collections.abc import Iterator
from typing import Final

from verifier.core.outcome import GraphNode

_DIGITS: Final = 12
_MARKS: Final = {True: " ✓", False: " ✗", None: ""}
_MOST_LAYERS: Final = 8


def graph_rows(graph: tuple[GraphNode, ...]) -> Iterator[tuple[str, str]]:
    """Return the rows of a graph; the first is labelled, all are narrower than a terminal."""
    label = "image"
    for root in graph:
        for line in _lines(root, "", ""):
            yield label, line
            label = ""


def _lines(node: GraphNode, first: str, rest: str) -> Iterator[str]:
    yield first + _told(node)
    below = _gathered(node.below)
    for number, each in enumerate(below):
        last = number == len(below) - 1
        ours, theirs = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _lines(each, rest + ours, rest + theirs)


def _told(node: GraphNode) -> str:
    parts = [node.kind]
    if node.digest is not None:
        parts.append(node.digest.hex[:_DIGITS])
    if node.detail:
        parts.append(node.detail)
    return " ".join(parts) + _MARKS[node.mark]


def _gathered(below: tuple[GraphNode, ...]) -> list[GraphNode]:
    """Put layers that agree into one node: an image may have a hundred of them."""
    layers = [node for node in below if node.kind == "layer"]
    quiet = [node for node in layers if _agrees(node)]
    if len(quiet) != len(layers) or len(layers) <= 1:
        layers_shown = [node for node in layers if not _agrees(node)][:_MOST_LAYERS]
        if len(layers) <= 1:
            layers_shown = layers
        gathered = [node for node in below if node.kind != "layer"] + layers_shown
        if quiet and len(layers) > 1:
            gathered.append(GraphNode(kind=_count(len(quiet)), detail="as stated"))
        return gathered
    rest = [node for node in below if node.kind != "layer"]
    return [*rest, GraphNode(kind=_count(len(layers)), detail="computed again")]


def _agrees(node: GraphNode) -> bool:
    return (
        node.mark is None
        and all(each.mark is None and each.kind == "diff-id" for each in node.below)
        and bool(node.below)
    )


def _count(number: int) -> str:
    return f"{number} layers and diff-ids"
