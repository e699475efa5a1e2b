"""Every layer of an image, read once: its own digest, what it is packed with, and its diff-id.

Layers that lie on disk as they are go to `layer`, in up to two processes; those inside of a
compressed archive are read here, in the order in which they lie there.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from copy import copy
from dataclasses import replace
from typing import Final

from verifier.core.digest import Pin
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding
from verifier.core.limits import (
    IMAGE_INFLATED_FREELY,
    IMAGE_MEMBERS,
    INFLATED_FREELY,
    INFLATION,
)
from verifier.core.value import frozen
from verifier.sources.archives import inflate
from verifier.sources.image import layer
from verifier.sources.image.layer_members import LayerReading
from verifier.sources.image.store import Hashed, Part, Store
from verifier.sources.ledger import ContainerError

PLAIN: Final = inflate.PLAIN


@frozen
class LayerRead:
    """What one pass over a layer found.

    `pin` is of the bytes as they lie there, `diff_id` of what they unpack to, None if that has no
    end. `whole` says that it is one tar to its end and nothing speaks against it.
    `layer` has its members.
    """

    pin: Pin
    packed: str
    diff_id: str | None
    whole: bool
    findings: tuple[Finding, ...]
    layer: layer.Layer


class Budget:
    """What the layers of one source have cost so far: members in memory, and unpacking."""

    def __init__(self, name: str) -> None:
        """Begin with nothing; `name` is what the user called the source."""
        self._name = name
        self._members = 0
        self._freely = 0

    def take(self, read: layer.Layer) -> layer.Layer:
        """Count a layer. Raises `UnavailableError` if that is more than one source may cost."""
        self._members += len(read.members)
        refuse_too_many(self._members, self._name)
        if read.compression not in (layer.UNKNOWN, PLAIN):
            # Of a layer that broke off, how far it was unpacked is not known.
            unpacked = INFLATED_FREELY if read.content is None else read.content.length or 0
            self._freely += max(0, unpacked - INFLATION * (read.blob.length or 0))
        if self._freely > IMAGE_INFLATED_FREELY:
            raise UnavailableError(
                f"{self._name}: small layers that unpack to more than "
                f"{IMAGE_INFLATED_FREELY:,} bytes",
                code="too-large",
                remedy="do not unpack it; ask where it comes from",
            )
        return read


def read_all(store: Store, names: list[str], *, budget: Budget) -> dict[str, LayerRead]:
    """Read layers to their ends, whatever is wrong with them; `names` are parts of the store.

    Raises `UnavailableError` if a layer cannot be read or changes meanwhile, or if all that
    `budget` counted is too much.
    """
    places = {name: place for name in names if (place := store.place(name)) is not None}
    blobs = [
        layer.Blob(path=at.path, name=f"{store.name}:{name}", start=at.start, length=at.length)
        for name, at in places.items()
    ]
    # Each process counts what it reads; then all of it is counted here.
    read = dict(zip(places, layer.read_layers(blobs, copy(budget).take), strict=True))
    found = {name: _told(budget.take(each)) for name, each in read.items()}
    return found | {
        name: _told(budget.take(_read(store, name))) for name in names if name not in places
    }


def refuse_too_many(members: int, name: str) -> None:
    """Raise `UnavailableError` if layers have more members than are held in memory."""
    if members > IMAGE_MEMBERS:
        raise UnavailableError(
            f"{name}: more than {IMAGE_MEMBERS:,} members in its layers",
            code="too-large",
            remedy="check that this is the image you mean; of several platforms name one with "
            "--platform",
        )


def read_plain(store: Store, name: str) -> Pin:
    """Hash a part that is no layer."""
    with store.part(name) as part:
        return Hashed(part).finish()


def _read(store: Store, name: str) -> layer.Layer:
    reading = LayerReading()
    with store.part(name) as part:
        hashed = Hashed(part)
        packed, content = _content(hashed, reading)
        pin = hashed.finish()
    return layer.Layer(
        blob=pin,
        compression=packed,
        content=content,
        members=tuple(reading.members),
        findings=reading.findings,
        complete=reading.complete,
        ignored=reading.ignored,
    )


def _content(part: Part, reading: LayerReading) -> tuple[str, Pin | None]:
    try:
        compression, pieces = inflate.decoded(part)
    except ContainerError as error:
        reading.stop(error)
        return layer.UNKNOWN, None
    running, length, ended = hashlib.sha256(), 0, False

    def through() -> Iterator[bytes]:
        nonlocal length, ended
        for piece in pieces:
            running.update(piece)
            length += len(piece)
            yield piece
        ended = True

    with closing(pieces):
        reading.run(through())
    return compression, Pin(sha256=running.hexdigest(), length=length) if ended else None


def _told(read: layer.Layer) -> LayerRead:
    refused = any(finding.row.outcome == "rejected" for finding in read.findings)
    where = f"layer {read.blob.sha256}"
    return LayerRead(
        pin=read.blob,
        packed=read.compression,
        diff_id=None if read.content is None else read.content.sha256,
        whole=read.complete and not refused,
        findings=tuple(_at(finding, where) for finding in read.findings),
        layer=read,
    )


def _at(finding: Finding, where: str) -> Finding:
    path = finding.where.path
    told = replace(finding.where, path=f"{where}: {path}" if path else where)
    return replace(finding, where=told)
