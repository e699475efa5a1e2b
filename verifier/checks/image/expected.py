"""Whether an image is the one asked for: by a typed digest, by an entry, or by any entry (step 3).

Only an index, manifest, configuration or archive pins an image by itself. An entry that knows no
more than all diff-ids pins every file, and neither labels nor settings; coverage then says so.
What differs is explained where the explanation can be computed: another kind of the digest, the
same JSON printed otherwise, the same diff-ids under another manifest or configuration.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from verifier.catalog.entries.image import UNSTATED, WHOLE, ImageEntry
from verifier.checks.image import told
from verifier.checks.image.graph import name_of
from verifier.checks.image.named import Named
from verifier.core.coverage import Covered, State
from verifier.core.digest import Digest, sha256
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.image.graph import Graph, Manifest

FACET: Final = "expected"
#: How tools print JSON that they have parsed.
_PRINTED: Final[dict[str, Callable[[Any], str]]] = {
    "compact": lambda v: json.dumps(v, separators=(",", ":"), ensure_ascii=False),
    "compact and sorted": lambda v: json.dumps(
        v, separators=(",", ":"), ensure_ascii=False, sort_keys=True
    ),
    "with an indent of three": lambda v: json.dumps(v, indent=3, ensure_ascii=False),
    "with an indent of two": lambda v: json.dumps(v, indent=2, ensure_ascii=False),
    "with an indent of four": lambda v: json.dumps(v, indent=4, ensure_ascii=False),
    "with spaces": lambda v: json.dumps(v, ensure_ascii=False),
    "with an indent of two and sorted": lambda v: json.dumps(
        v, indent=2, ensure_ascii=False, sort_keys=True
    ),
}
#: In which order writers put keys: as parsed, as the OCI's own types have them, as Docker's do.
_ORDERS: Final = (
    None,
    (
        "schemaVersion",
        "mediaType",
        "artifactType",
        "config",
        "layers",
        "manifests",
        "digest",
        "size",
    ),
    ("schemaVersion", "mediaType", "config", "layers", "manifests", "size", "digest"),
)


@frozen
class Compared:
    """What a comparison gave: findings, coverage of `expected`, and what the image was found to be.

    `entry` is the entry it was recognised as, `by` the kind of digest that says so. `marks` are
    the digests that were asked for and found.
    """

    findings: tuple[Finding, ...]
    covered: Covered
    entry: ImageEntry | None = None
    by: str = ""
    marks: frozenset[Digest] = frozenset()


def with_digest(
    graph: Graph, found: tuple[Named, ...], asked: Digest, known: Iterable[ImageEntry]
) -> Compared:
    """Compare with a typed digest; `known` are entries that hold it, and can explain."""
    same = [named for named in found if named.digest.hex == asked.hex]
    if asked.kind is None:
        if same:
            return _no(told.untyped(asked, (named.kind for named in same)), checked=False)
        return _no(told.not_expected(str(asked), found))
    typed = [named for named in same if named.kind == asked.kind]
    if not typed:
        if same:
            return _no(told.other_kind(asked, same[0]))
        explained = _explained(graph, found, asked, known)
        return _no(explained or told.not_expected(str(asked), found))
    (hit,) = typed
    entry = next((e for e in known if _holds(e, hit)), None)
    if hit.kind not in WHOLE:
        return _no(told.part_only(hit), checked=False)
    return _held(graph, hit, str(asked), entry, length_pinned=False)


def with_entry(graph: Graph, found: tuple[Named, ...], entry: ImageEntry) -> Compared:
    """Compare with one entry of the registry."""
    hit = next((named for named in found if named.kind in WHOLE and _holds(entry, named)), None)
    if hit is not None:
        pinned = any(p.length is not None for p in entry.of(hit.kind) if p.sha256 == hit.digest.hex)
        return _held(graph, hit, entry.name, entry, length_pinned=pinned)
    unstated = {pin.sha256 for pin in entry.of(UNSTATED)}
    for named in found:
        if named.digest.hex in unstated:
            return _no(told.unstated(entry, named), checked=False)
    for image in graph.images():
        if entry.diff_ids and _diff_ids(image) == entry.diff_ids:
            return _same_files(graph, found, entry, image)
    above = _extended(graph, entry, _wanted(entry))
    return _no(above or told.not_expected(_wanted(entry), found))


def with_any(graph: Graph, found: tuple[Named, ...], known: Iterable[ImageEntry]) -> Compared:
    """Compare with every entry that one of the digests leads to."""
    answers = [with_entry(graph, found, entry) for entry in known]
    for compared in answers:
        if compared.covered.state.holds:
            return compared
    codes = (
        "image-several",
        "image-lazy-pull",
        "image-relabelled",
        "image-recompressed",
        "image-extended",
        "image-kind-unstated",
    )
    for code in codes:
        for compared in answers:
            if compared.findings and compared.findings[0].code == code:
                return compared
    return _no(told.unregistered(found), checked=False)


def _same_files(
    graph: Graph, found: tuple[Named, ...], entry: ImageEntry, image: Manifest
) -> Compared:
    """Judge an image whose diff-ids are all those of an entry."""
    count, wanted = len(entry.diff_ids), _wanted(entry)
    config = image.config.blob.sha256 if image.config else None
    if not any(entry.of(kind) for kind in WHOLE):
        detail = f"{entry.name}, by all {count} diff-ids · labels and settings not pinned"
        if len(graph.images()) > 1:
            return _no(told.several(entry.name, name_of(image), len(graph.images())), checked=False)
        if lazy := _lazy(graph):
            return _no(told.lazy(entry.name, lazy), checked=False)
        covered = Covered(facet=FACET, state=State.HELD_LENGTH_NOT_PINNED, detail=detail)
        return Compared(findings=(), covered=covered, entry=entry, by="diff-id")
    if config is None:
        return _no(told.not_expected(wanted, found))  # nothing can be said of what was not read
    if entry.of("config"):
        return _no(told.relabelled(wanted, config, entry, count))
    manifest = _manifest(found, image)
    return _no(told.recompressed(wanted, manifest, entry, count, graph.form))


def _explained(
    graph: Graph, found: tuple[Named, ...], asked: Digest, known: Iterable[ImageEntry]
) -> Finding | None:
    """Find what makes the image another one than the digest asked for, if it can be computed."""
    for named in found:
        how = _printing(named.json, asked.hex) if named.kind == asked.kind else None
        if how:
            return told.reserialised(asked, named, how)
    holding = [e for e in known if asked.hex in {pin.sha256 for pin in e.of(asked.kind or "")}]
    for entry in holding:
        for image in graph.images():
            if not entry.diff_ids or _diff_ids(image) != entry.diff_ids:
                continue
            config = image.config.blob.sha256 if image.config else None
            same = config in {pin.sha256 for pin in entry.of("config")}
            count = len(entry.diff_ids)
            if asked.kind != "config" and (same or graph.form == "docker-archive"):
                manifest = _manifest(found, image)
                return told.recompressed(str(asked), manifest, entry, count, graph.form)
            return told.relabelled(str(asked), config or "", entry, count)
        if above := _extended(graph, entry, str(asked)):
            return above
    return None


def _extended(graph: Graph, entry: ImageEntry, asked: str) -> Finding | None:
    """Say that an image is the pinned one with more layers above, and what those bring."""
    count = len(entry.diff_ids)
    for image in graph.images():
        if count and len(image.layers) > count and _diff_ids(image)[:count] == entry.diff_ids:
            return told.extended(asked, entry, image.layers[count:])
    return None


def _printing(document: bytes, wanted: str) -> str | None:
    """Say how a document has to be printed to have the digest wanted, None if no way is known."""
    if not document:
        return None
    parsed = json.loads(document)
    for order in _ORDERS:
        value = _ordered(parsed, order)
        for how, printed in _PRINTED.items():
            text = printed(value).encode()
            for ending, words in ((b"", how), (b"\n", f"{how} and a final newline")):
                if sha256(text + ending) == wanted:
                    return words if order is None else f"{words}, keys in their usual order"
    return None


def _ordered(value: Any, order: tuple[str, ...] | None) -> Any:
    """Put the keys of all objects into an order; those that it does not name come last."""
    if order is None:
        return value
    if isinstance(value, list):
        return [_ordered(item, order) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=lambda key: order.index(key) if key in order else len(order))
    return {key: _ordered(value[key], order) for key in keys}


def _held(
    graph: Graph, hit: Named, asked: str, entry: ImageEntry | None, *, length_pinned: bool
) -> Compared:
    images = graph.images()
    marks = frozenset({hit.digest})
    if not hit.of:
        return _no(told.not_judged(asked, hit, [name_of(image) for image in images]))
    if not set(range(len(images))) <= set(hit.of):
        one = name_of(images[hit.of[0]])
        compared = _no(told.several(asked, one, len(images)), checked=False)
        return replace(compared, entry=entry, marks=marks)
    lazy = _lazy(graph) if hit.kind == "config" else ()
    if lazy:
        compared = _no(told.lazy(asked, lazy), checked=False)
        return replace(compared, entry=entry, marks=marks)
    name = f"{entry.name}, by its {hit.kind}" if entry else str(hit.digest)
    state = State.HELD if length_pinned else State.HELD_LENGTH_NOT_PINNED
    detail = name if length_pinned else f"{name} · length not pinned"
    return Compared(
        findings=(),
        covered=Covered(facet=FACET, state=state, detail=detail),
        entry=entry,
        by=hit.kind,
        marks=marks,
    )


def _lazy(graph: Graph) -> tuple[str, ...]:
    """Return the annotations for lazy pulls, which a configuration or diff-ids do not pin."""
    return tuple(dict.fromkeys(key for image in graph.images() for key in image.lazy))


def _no(finding: Finding, *, checked: bool = True) -> Compared:
    state = State.NOT_HELD if checked else State.NOT_CHECKED
    return Compared(findings=(finding,), covered=Covered(facet=FACET, state=state))


def _holds(entry: ImageEntry, named: Named) -> bool:
    return any(
        pin.sha256 == named.digest.hex and pin.length in (None, named.length)
        for pin in entry.of(named.kind)
    )


def _wanted(entry: ImageEntry) -> str:
    pins = [
        f"{d.kind}:sha256:{d.pin.sha256}" for d in entry.digests if d.kind in (*WHOLE, UNSTATED)
    ]
    return f"{entry.name}: {', '.join(pins) or f'{len(entry.diff_ids)} diff-ids'}"


def _diff_ids(image: Manifest) -> tuple[str, ...]:
    return tuple(layer.diff_id or "" for layer in image.layers)


def _manifest(found: tuple[Named, ...], image: Manifest) -> Named | None:
    digits = image.blob.sha256 if image.blob else None
    return next((n for n in found if n.kind == "manifest" and n.digest.hex == digits), None)
