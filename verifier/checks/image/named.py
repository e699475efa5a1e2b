"""Every digest of a graph by its kind, and what each is the digest of."""

from collections.abc import Iterator

from verifier.core.digest import Digest
from verifier.core.value import frozen
from verifier.sources.image.graph import Blob, Graph, Index, Manifest


@frozen
class Named:
    """One digest that was computed, its length, and the images that it is of or above.

    `of` are positions in `Graph.images()`: all images below an index, the one of a manifest.
    """

    digest: Digest
    length: int | None
    of: tuple[int, ...]
    json: bytes = b""

    @property
    def kind(self) -> str:
        """What it is the digest of."""
        return self.digest.kind or ""


def every(graph: Graph) -> tuple[Named, ...]:
    """Return every digest of a graph, the outer ones first, each kind and digest once."""
    found: dict[Digest, Named] = {}
    above: dict[Digest, set[int]] = {}
    for named in _walk(graph):
        found[named.digest] = named
        above.setdefault(named.digest, set()).update(named.of)
    return tuple(
        Named(
            digest=digest,
            length=named.length,
            of=tuple(sorted(above[digest])),
            json=named.json,
        )
        for digest, named in found.items()
    )


def _walk(graph: Graph) -> Iterator[Named]:
    images = graph.images()
    numbers = {id(image): number for number, image in enumerate(images)}
    everything = tuple(range(len(images)))
    if graph.archive is not None:
        yield from _named("archive", graph.archive, everything)
    for root in graph.roots:
        yield from _of(root, numbers)
    if not graph.manifests() or graph.manifests() == graph.docker:
        for image in graph.docker:
            yield from _of(image, numbers)
    else:
        for image in graph.docker:
            same = [n for n, each in enumerate(images) if _config(each) == _config(image)]
            yield from _of_image(image, tuple(same))


def _config(image: Manifest) -> str | None:
    return image.config.blob.sha256 if image.config else None


def _of(node: Index | Manifest | Blob, numbers: dict[int, int]) -> Iterator[Named]:
    if isinstance(node, Index):
        yield from _named("index", node.blob, _below(node, numbers), node.json)
        for below in node.below:
            yield from _of(below, numbers)
    elif isinstance(node, Manifest):
        number = numbers.get(id(node))
        yield from _of_image(node, () if number is None else (number,))


def _of_image(image: Manifest, of: tuple[int, ...]) -> Iterator[Named]:
    if image.blob is not None:
        yield from _named("manifest", image.blob, of, image.json)
    if image.config is not None:
        yield from _named("config", image.config.blob, of)
    for layer in image.layers:
        yield from _named("layer", layer.blob, of)
        if layer.diff_id is not None:
            yield Named(digest=Digest(kind="diff-id", hex=layer.diff_id), length=None, of=of)


def _below(index: Index, numbers: dict[int, int]) -> tuple[int, ...]:
    found: list[int] = []
    for below in index.below:
        if isinstance(below, Index):
            found += _below(below, numbers)
        elif isinstance(below, Manifest) and id(below) in numbers:
            found.append(numbers[id(below)])
    return tuple(found)


def _named(kind: str, blob: Blob, of: tuple[int, ...], json: bytes = b"") -> Iterator[Named]:
    if blob.sha256 is not None:
        yield Named(digest=Digest(kind=kind, hex=blob.sha256), length=blob.length, of=of, json=json)
