"""The parts of an image by what is stated of them: found, counted, read, and compared.

A part is looked for by its digest and never read beyond its stated size. How many documents and
layers a source may mention, and how much of documents is held, has an end (`core.limits`).
"""

from typing import NamedTuple

from verifier.core.digest import sha256
from verifier.core.limits import (
    DOCUMENT_BYTES,
    IMAGE_DOCUMENT_BYTES,
    IMAGE_DOCUMENTS,
    IMAGE_LAYERS,
)
from verifier.sources.image.graph import Blob, Descriptor, Platform
from verifier.sources.image.notes import Notes
from verifier.sources.image.store import Store


class Found(NamedTuple):
    """A document as found: its blob, and its bytes where they can be read."""

    blob: Blob
    data: bytes | None


class Parts:
    """The parts of a store, with what was found wrong with them."""

    def __init__(self, store: Store, notes: Notes, wanted: Platform | None) -> None:
        """Begin at nothing; `wanted` is the only platform whose parts have to be there."""
        self._store = store
        self._notes = notes
        self._wanted = wanted
        self._documents = self._stated = self._bytes = 0
        self._small: dict[str, tuple[bytes, str]] = {}
        self.cut = False
        self.reached: set[str] = set()

    def small(self, name: str) -> bytes | None:
        """Return the bytes of a document by its name in the store, None if they are not there.

        Each is read once, however often it is mentioned.
        """
        if name in self._small:
            return self._small[name][0]
        if name in self._store.links:
            self._notes.add("image-part-link", name, expected="a regular file", got="a link")
            return None
        size = self._store.sizes.get(name)
        if size is None:
            return None
        self.reached.add(name)
        if size > DOCUMENT_BYTES:
            limit = f"at most {DOCUMENT_BYTES:,} bytes"
            self._notes.add("image-document-large", name, expected=limit, got=f"{size:,}")
            return None
        self._bytes += size
        if self._bytes > IMAGE_DOCUMENT_BYTES:
            self._stop(f"documents of more than {IMAGE_DOCUMENT_BYTES:,} bytes")
            return None
        with self._store.part(name) as part:
            data = part.read(0, size)
        self._small[name] = data, sha256(data)
        return data

    def mention(self, *, layers: int | None = None) -> bool:
        """Count a mention of a document, or those of layers; False where there are too many."""
        self._documents += layers is None
        self._stated += layers or 0
        if self._documents > IMAGE_DOCUMENTS:
            self._stop(f"more than {IMAGE_DOCUMENTS:,} mentions of documents")
        elif self._stated > IMAGE_LAYERS:
            self._stop(f"more than {IMAGE_LAYERS:,} mentions of layers")
        return not self.cut

    def _stop(self, got: str) -> None:
        """Read no more: what was read so far is not what the source holds."""
        if not self.cut:
            self._notes.add("image-too-deep", self._store.name, got=got)
        self.cut = True

    def document(self, stated: Descriptor, kind: str) -> Found:
        """Read a document by its descriptor and compare the two."""
        nothing = Blob(kind=kind, where=stated.where, sha256=None, length=None, stated=stated)
        name = self.named(stated)
        data = None if name is None else self.small(name)
        if name is None or data is None:
            return Found(nothing, None)
        blob = Blob(
            kind=kind,
            where=stated.where,
            sha256=self._small[name][1],
            length=len(data),
            stated=stated,
        )
        self.compare(blob)
        return Found(blob, data)

    def named(self, stated: Descriptor) -> str | None:
        """Return the name of a blob's part, None if it cannot be read as stated."""
        if stated.urls:
            self._notes.add("image-urls", stated.where, got=", ".join(stated.urls)[:200])
        if stated.sha256 is None:
            algorithm = stated.digest.partition(":")[0]
            self._notes.add("image-algorithm", stated.where, expected="sha256", got=algorithm)
            return None
        name = f"blobs/sha256/{stated.sha256}"
        if self._store.sizes.get(name, 0) > stated.size:
            self.reached.add(name)
            self._size(stated, self._store.sizes[name])
            return None  # no more is read than is stated, and what is stated is not all of it
        if name in self._store.sizes or name in self._store.links:
            return name
        if self._wanted and stated.platform and not stated.platform.is_same(self._wanted):
            return None  # an index may list platforms that were not copied
        for folder in ("blobs", "blobs/sha256"):
            if folder in self._store.links:
                self._notes.add("image-part-link", folder, expected="a folder", got="a link")
                return None
        self._notes.add(
            "image-blob-missing", stated.where, expected=f"{stated.digest}", got="no such blob"
        )
        return None

    def compare(self, blob: Blob) -> None:
        """Compare a blob with its descriptor: digest, size, and the bytes it carries itself."""
        stated = blob.stated
        if stated is None or blob.sha256 is None:
            return
        if blob.sha256 != stated.sha256:
            self._notes.add(
                "image-blob-changed",
                f"{blob.kind} {short(stated)}",
                expected=stated.digest,
                got=f"sha256:{blob.sha256}",
            )
        if blob.length != stated.size:
            self._size(stated, blob.length)
        if stated.data is not None and sha256(stated.data) != stated.sha256:
            self._notes.add(
                "image-data",
                stated.where,
                expected=stated.digest,
                got=f"data of digest sha256:{sha256(stated.data)}",
            )

    def _size(self, stated: Descriptor, length: int | None) -> None:
        self._notes.add(
            "image-size",
            stated.where,
            expected=f"{stated.size:,} bytes, as the descriptor says",
            got=f"{length:,} bytes",
        )


def short(stated: Descriptor) -> str:
    """Return a digest as places are named by: without its algorithm where that is SHA-256."""
    return stated.sha256 or stated.digest
