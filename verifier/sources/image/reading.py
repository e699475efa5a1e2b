"""From a store to the identity graph: documents first, then every layer once.

Documents are small and read as they are reached; layers are read in the order in which they lie
in their store, each once, however many images share them. What a descriptor states and what the
bytes are stand side by side in the graph; a contradiction is a finding and never ends the walk.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from verifier.core.limits import IMAGE_DEPTH
from verifier.sources.image import documents, layers
from verifier.sources.image.documents import (
    ConfigDocument,
    IndexDocument,
    ManifestDocument,
)
from verifier.sources.image.graph import (
    Blob,
    Config,
    Descriptor,
    Index,
    Layer,
    Manifest,
    Platform,
)
from verifier.sources.image.layers import LayerRead
from verifier.sources.image.notes import Notes
from verifier.sources.image.parts import Found, Parts, short
from verifier.sources.image.store import Store
from verifier.sources.image.strict_json import WrongError

_KINDS: Final = {
    **dict.fromkeys(documents.INDEX_TYPES, "index"),
    **dict.fromkeys(documents.MANIFEST_TYPES, "manifest"),
    **dict.fromkeys(documents.CONFIG_TYPES, "config"),
    **dict.fromkeys(documents.LAYER_TYPES, "layer"),
}


class Reading:
    """One walk over the parts of a store."""

    def __init__(self, store: Store, notes: Notes, wanted: Platform | None) -> None:
        """Begin at nothing; `wanted` is the only platform whose layers are read, if one is."""
        self._store = store
        self._notes = notes
        self._wanted = wanted
        self._layers: dict[str, LayerRead] = {}
        self._parsed: dict[tuple[str, str], Any] = {}
        self.parts = Parts(store, notes, wanted)

    # ── documents ──────────────────────────────────────────────────────────────────────────

    def _once(self, parse: Callable[[bytes, str], Any], data: bytes, where: str) -> Any:
        """Parse a document, once however often it is mentioned. Raises `WrongError`."""
        key = (parse.__name__, where)
        if key not in self._parsed:
            try:
                self._parsed[key] = parse(data, where)
            except WrongError as error:
                self._parsed[key] = error
        found = self._parsed[key]
        if isinstance(found, WrongError):
            raise found
        return found

    def root(self, stated: Descriptor, depth: int = 0) -> Index | Manifest | Blob:
        """Read what a descriptor leads to, and all documents below it."""
        if depth > IMAGE_DEPTH:
            self._notes.add("image-too-deep", stated.where, got=f"level {depth}")
        if depth > IMAGE_DEPTH or not self.parts.mention():
            return Blob(kind="blob", where=stated.where, sha256=None, length=None, stated=stated)
        kind = _KINDS.get(stated.media_type, "blob")
        found = self.parts.document(stated, kind)
        if kind not in ("index", "manifest"):
            self._notes.add(
                "image-artifact", stated.where, expected="an image", got=stated.media_type
            )
            return found.blob
        where = f"{kind} {short(stated)}"
        try:
            if found.data is not None and self._has_shape(kind, found.data, where):
                if kind == "index":
                    return self._index(found, found.data, where, stated, depth)
                return self._manifest(found, found.data, where, stated)
        except WrongError as error:
            self._wrong(error, where)
        return found.blob

    def _has_shape(self, kind: str, data: bytes, where: str) -> bool:
        seen = self._once(_shape, data, where)
        if seen in (None, kind):
            return True
        self._notes.add("image-media-type", where, expected=kind, got=f"the shape of {seen}")
        return False

    def _index(
        self, found: Found, data: bytes, where: str, stated: Descriptor, depth: int
    ) -> Index:
        document: IndexDocument = self._once(documents.index, data, where)
        self._own_type(document.media_type, stated, where)
        self._about(document.subject, where, both=document.both)
        below = tuple(self.root(descriptor, depth + 1) for descriptor in document.below)
        if not below:
            self._notes.add("image-empty", where, expected="a manifest", got="none")
        return Index(blob=found.blob, below=below, json=data)

    def _manifest(
        self, found: Found, data: bytes, where: str, stated: Descriptor
    ) -> Manifest | Blob:
        document: ManifestDocument = self._once(documents.manifest, data, where)
        if not self.parts.mention(layers=len(document.layers)):
            return found.blob
        self._own_type(document.media_type, stated, where)
        self._about(document.subject, where, both=document.both)
        found_config = self.parts.document(document.config, "config")
        foreign = document.artifact and not self._is_hidden(document, found_config)
        config = None if foreign else self.config(found_config.blob, found_config.data)
        artifact = foreign or (
            document.statements
            and _is_unknown(stated.platform, or_none=True)
            and _is_unknown(config.platform if config else None, or_none=False)
        )
        if artifact:
            config = None
        elif stated.artifact or document.claims:
            self._notes.add(
                "image-artifact-claim",
                stated.where if stated.artifact else where,
                expected="an artifact, as it is called",
                got="configuration and layers of an image",
            )
        image = Manifest(
            blob=found.blob,
            label=stated.platform,
            config=config,
            layers=(),
            stated_layers=document.layers,
            artifact=artifact,
            lazy=_lazy(stated, document),
            refs=(stated.ref,) if stated.ref else (),
            json=data,
        )
        platform = image.platform
        wanted = self._wanted is None or (platform is not None and platform.is_same(self._wanted))
        return replace(image, read=wanted)

    def _is_hidden(self, document: ManifestDocument, config: Found) -> bool:
        """Name an image whose configuration is called something else, so that some pass it over.

        The OCI image specification tells artifacts by that media type ("Guidelines for Artifact
        Usage"); programs that do not look at it run the image.
        """
        if config.data is None or not document.layered or not documents.is_config(config.data):
            return False
        self._notes.add(
            "image-media-type",
            document.config.where,
            expected=f"{documents.CONFIG_TYPES[0]}, as its content is",
            got=document.config.media_type,
            cause="programs that go by the media type pass over the image, others run it",
        )
        return True

    def config(self, blob: Blob, data: bytes | None) -> Config:
        """Read an image configuration that lies at `blob`."""
        where = f"config {short(blob.stated) if blob.stated else blob.where}"
        try:
            if data is not None:
                document: ConfigDocument = self._once(documents.config, data, where)
                return Config(
                    blob=blob,
                    platform=document.platform,
                    diff_ids=document.diff_ids,
                    history=document.history,
                    labels=document.labels,
                )
        except WrongError as error:
            self._wrong(error, where)
        return Config(blob=blob, platform=None, diff_ids=(), history=None)

    def _own_type(self, own: str | None, stated: Descriptor, where: str) -> None:
        if own is not None and own != stated.media_type:
            self._notes.add("image-media-type", where, expected=stated.media_type, got=own)

    def _about(self, subject: str | None, where: str, *, both: bool) -> None:
        if subject is not None:
            self._notes.add("image-subject", where, expected="an image", got=f"about {subject}")
        if both:
            got = "manifests beside config or layers"
            self._notes.add("image-both-shapes", where, expected="one shape", got=got)

    def _wrong(self, error: WrongError, where: str) -> None:
        self._notes.add(error.code, where, expected=error.expected, got=error.got)

    # ── layers ─────────────────────────────────────────────────────────────────────────────

    def with_layers(self, roots: list[Index | Manifest | Blob]) -> list[Index | Manifest | Blob]:
        """Return the roots with every layer of what is wanted read."""
        wanted = {
            name
            for manifest in _below(roots)
            for stated in manifest.stated_layers
            if manifest.read and stated.media_type in documents.LAYER_TYPES
            for name in [f"blobs/sha256/{stated.sha256}"]
            if self._store.sizes.get(name, stated.size + 1) <= stated.size
        }
        stated = [s for manifest in _below(roots) for s in manifest.stated_layers]
        self.parts.reached |= {f"blobs/sha256/{each.sha256}" for each in stated}
        self.read_layers(wanted)
        return [self._filled(root) for root in roots]

    def read_layers(self, names: set[str]) -> None:
        """Read layers, in the order in which they lie in the store."""
        new = names - self._layers.keys()
        ordered = sorted(new, key=lambda name: (self._store.order(name), name))
        self._layers |= layers.read_all(self._store, ordered)

    def _filled(self, root: Index | Manifest | Blob) -> Index | Manifest | Blob:
        if isinstance(root, Index):
            return replace(root, below=tuple(map(self._filled, root.below)))
        if isinstance(root, Blob) or not root.read:
            return root
        return replace(root, layers=tuple(map(self._layer, root.stated_layers)))

    def _layer(self, stated: Descriptor) -> Layer:
        nothing = Blob(kind="layer", where=stated.where, sha256=None, length=None, stated=stated)
        name = self.parts.named(stated)
        if name is None:
            return Layer(blob=nothing, diff_id=None)
        if name in self._store.links:
            self._notes.add("image-part-link", name, expected="a regular file", got="a link")
            return Layer(blob=nothing, diff_id=None)
        self.parts.reached.add(name)
        said = documents.LAYER_TYPES.get(stated.media_type)
        if said is None:
            pin = layers.read_plain(self._store, name)
            blob = Blob(
                kind="blob",
                where=stated.where,
                sha256=pin.sha256,
                length=pin.length,
                stated=stated,
            )
            self.parts.compare(blob)
            return Layer(blob=blob, diff_id=None)
        return self.layer(name, stated, said)

    def layer(self, name: str, stated: Descriptor | None, said: str | None) -> Layer:
        """Return a layer that was read; `said` is the compression that a media type names."""
        read = self._layers[name]
        self.parts.reached.add(name)
        where = stated.where if stated else name
        blob = Blob(
            kind="layer",
            where=where,
            sha256=read.pin.sha256,
            length=read.pin.length,
            stated=stated,
        )
        self.parts.compare(blob)
        self._notes.take(read.findings)
        if said is not None and said != read.packed:
            self._notes.add(
                "image-media-type",
                where,
                expected=f"compression {said}, as the media type says",
                got=f"compression {read.packed}",
            )
        return Layer(
            blob=blob,
            diff_id=read.diff_id,
            packed=None if read.packed == layers.PLAIN else read.packed,
            whole=read.whole,
            part=name,
            found=read.layer,
        )


def _shape(data: bytes, where: str) -> str | None:  # noqa: ARG001  (parsers take both)
    return documents.shape(data)


def _lazy(stated: Descriptor, document: ManifestDocument) -> tuple[str, ...]:
    every = [stated.lazy, document.lazy, *(layer.lazy for layer in document.layers)]
    return tuple(sorted({key for keys in every for key in keys}))


def _is_unknown(platform: Platform | None, *, or_none: bool) -> bool:
    """Whether a platform is what BuildKit writes for attestations."""
    if platform is None:
        return or_none
    return (platform.os, platform.architecture) == ("unknown", "unknown")


def _below(roots: list[Index | Manifest | Blob]) -> list[Manifest]:
    found: list[Manifest] = []
    for root in roots:
        if isinstance(root, Manifest):
            found.append(root)
        elif isinstance(root, Index):
            found += _below(list(root.below))
    return found
