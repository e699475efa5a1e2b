"""One layer of an image, read once: its digest, its diff-id, and every member with its SHA-256.

Law: OCI image specification, layer.md (members, whiteouts, opaque markers); CHECKS "image". The
tar is read by the strict reader of archives, and what that refuses is refused here: hidden
members behind the end, two members of one name, a member behind a link of the same layer, bombs.
Markers stay members: what they hide is for the root to say (`root`). Nothing is unpacked, and no
more than some mebibytes of a layer are in memory at once.
"""

import hashlib
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from verifier.core.digest import Pin, sha256
from verifier.core.finding import Finding
from verifier.core.limits import MIB
from verifier.core.printable import printable
from verifier.core.value import frozen
from verifier.sources.archives import inflate
from verifier.sources.archives.archive import Steady, opened
from verifier.sources.image.layer_members import LayerReading, Member
from verifier.sources.ledger import ContainerError
from verifier.sources.unavailable import changed, too_large

#: The compression of a layer that is compressed in a way that is not read.
UNKNOWN: Final = "unknown"


@frozen
class Blob:
    """Where the bytes of a layer lie: `length` bytes from `start` of a file, all if it is None.

    `name` is what the user called it; `path` is opened once a pass.
    """

    path: Path
    name: str
    start: int = 0
    length: int | None = None


@frozen
class Layer:
    """What one pass over a layer found.

    `blob` is of the bytes as they lie there, compressed or not: SHA-256 and length. `compression`
    is gzip, zstd, xz or none, whatever a media type says. `content` is of the decompressed bytes,
    so that its SHA-256 is the diff-id, and None if they could not be decompressed to their end.
    `members` are in the order of the layer, and empty if it was refused. `complete` tells whether
    every member is listed; if not, a finding says why.
    """

    blob: Pin
    compression: str
    content: Pin | None
    members: tuple[Member, ...]
    findings: tuple[Finding, ...]
    complete: bool
    ignored: tuple[str, ...] = ()


def read_layer(blob: Blob) -> Layer:
    """Read one layer to its end, whatever is wrong with it.

    Raises `UnavailableError` if the file cannot be read or changes meanwhile.
    """
    with _opened(blob) as part:
        reading = LayerReading()
        compression, content = _content(part, reading)
        part.finish()
    return Layer(
        blob=part.pin,
        compression=compression,
        content=content,
        members=tuple(reading.members),
        findings=reading.findings,
        complete=reading.complete,
        ignored=reading.ignored,
    )


def read_layers(blobs: Sequence[Blob]) -> list[Layer]:
    """Read layers, in their order; much work is shared with a forked process.

    Raises `UnavailableError` as `read_layer` does.
    """
    from verifier.sources.image.layer_sharing import shared  # noqa: PLC0415

    return shared(blobs, [_size(blob) for blob in blobs], read_layer)


def _size(blob: Blob) -> int:
    try:
        size = blob.path.stat().st_size
    except OSError:
        return 0  # what cannot be read is told when it is read
    return size - blob.start if blob.length is None else blob.length


def content_in(part: inflate.Bytes, member: Member, *, name: str, limit: int) -> bytes:
    """Return the bytes of a file that a pass over a layer listed, proved by that pass's digest.

    `part` is that layer, open, and `name` what it is called. Raises `UnavailableError` if the file
    is longer than `limit` bytes, cannot be read, or holds other bytes now.
    """
    if member.length is None or member.length > limit:
        shown = f"{name}:{printable(os.fsdecode(member.path))}"
        raise too_large(shown, limit, member.length)
    kept, skip = bytearray(), member.at
    try:
        with closing(inflate.decoded(part).pieces) as pieces:
            for piece in pieces:
                kept += piece[skip : skip + member.length - len(kept)]
                skip = max(0, skip - len(piece))
                if len(kept) == member.length:
                    break
    except ContainerError:
        raise changed(name) from None
    data = bytes(kept)
    if sha256(data) != member.sha256:
        raise changed(name)
    return data


class _Part(Steady):
    """The bytes of one layer, hashed as they are read, which happens once and in their order."""

    def __init__(self, descriptor: int, blob: Blob) -> None:
        super().__init__(descriptor)
        self._start = blob.start
        self._length = self.size - blob.start if blob.length is None else blob.length
        self._running = hashlib.sha256()
        self._read = 0

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` of the layer, fewer at its end."""
        left = max(0, min(length, self._length - offset))
        data = super().read(self._start + offset, left)
        if offset == self._read:
            self._running.update(data)
            self._read += len(data)
        return data

    def finish(self) -> None:
        """Hash what decompression left unread."""
        while self.read(self._read, MIB):
            pass

    @property
    def pin(self) -> Pin:
        """SHA-256 and length of what was read."""
        return Pin(sha256=self._running.hexdigest(), length=self._read)


@contextmanager
def _opened(blob: Blob) -> Iterator[_Part]:
    with opened(blob.path, blob.name) as descriptor:
        part = _Part(descriptor, blob)
        try:
            yield part
        finally:
            if part.changed:
                raise changed(blob.name)


class _Hashed:
    """Pieces on their way through, hashed: in a thread of its own the second core has that work."""

    def __init__(self, pieces: Generator[bytes]) -> None:
        self._running = hashlib.sha256()
        self._length = 0
        self._ended = False
        self.pieces = self._through(pieces)

    def _through(self, pieces: Generator[bytes]) -> Generator[bytes]:
        with closing(pieces):
            for piece in pieces:
                self._running.update(piece)
                self._length += len(piece)
                yield piece
        self._ended = True

    @property
    def pin(self) -> Pin | None:
        """SHA-256 and length of all pieces, None before the last."""
        if not self._ended:
            return None
        return Pin(sha256=self._running.hexdigest(), length=self._length)


def _content(part: _Part, reading: LayerReading) -> tuple[str, Pin | None]:
    """Decompress a layer and read its members: the compression, and the pin of the content."""
    try:
        compression, pieces = inflate.decoded(part)
    except ContainerError as error:
        reading.stop(error)
        return UNKNOWN, None
    if compression == inflate.PLAIN:
        with closing(inflate.ahead(pieces)) as ready:
            reading.run(ready)
        part.finish()
        return compression, part.pin
    hashed = _Hashed(inflate.ahead(pieces))
    with closing(inflate.ahead(hashed.pieces)) as ready:
        reading.run(ready)
    return compression, hashed.pin
