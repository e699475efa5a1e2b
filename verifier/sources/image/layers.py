"""One layer, read once: its own digest, what it is packed with, and its diff-id.

The layer is read by the strict reader of archives to its end; nothing of it is kept.
"""

import hashlib
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Final

from verifier.core.digest import Pin
from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.archives import inflate
from verifier.sources.archives.tar import Reader, Stream
from verifier.sources.image.store import Hashed, Part, Store
from verifier.sources.ledger import ContainerError, Ledger

PLAIN: Final = "none"


@frozen
class LayerRead:
    """What one pass over a layer found.

    `pin` is of the bytes as they lie there, `diff_id` of what they unpack to, None if that has no
    end. `whole` says that it is one tar to its end and nothing speaks against it.
    """

    pin: Pin
    packed: str
    diff_id: str | None
    whole: bool
    findings: tuple[Finding, ...]


def read(store: Store, name: str) -> LayerRead:
    """Read the layer at the part `name` to its end, whatever is wrong with it.

    Raises `UnavailableError` if it cannot be read or changes meanwhile.
    """
    with store.part(name) as part:
        hashed = Hashed(part)
        ledger = Ledger()
        packed, diff_id = _content(hashed, ledger)
        pin = hashed.finish()
    ledger.close()
    where = f"layer sha256:{pin.sha256}"
    return LayerRead(
        pin=pin,
        packed=packed,
        diff_id=diff_id,
        whole=ledger.complete and not ledger.refused,
        findings=tuple(_at(finding, where) for finding in ledger.findings),
    )


def read_plain(store: Store, name: str) -> Pin:
    """Hash a part that is no layer."""
    with store.part(name) as part:
        return Hashed(part).finish()


def _content(part: Part, ledger: Ledger) -> tuple[str, str | None]:
    try:
        packed = inflate.packing(part) or PLAIN
    except ContainerError as error:
        ledger.stop(error)
        return error.got or PLAIN, None
    running = hashlib.sha256()

    def counted(pieces: Iterator[bytes]) -> Generator[bytes]:
        for piece in pieces:
            running.update(piece)
            yield piece

    with closing(inflate.pieces(part)) as pieces, closing(counted(pieces)) as watched:
        try:
            Reader(Stream(watched), ledger).run()
        except ContainerError as error:
            ledger.stop(error)
        ended = False
        # What the tar reader left, after an error of its own, is part of the diff-id too.
        with suppress(ContainerError):
            for _ in watched:
                pass
            ended = True
    damaged = any(f.code.startswith(("tree-compress", "tree-bomb")) for f in ledger.findings)
    return packed, running.hexdigest() if ended and not damaged else None


def _at(finding: Finding, where: str) -> Finding:
    path = finding.where.path
    told = replace(finding.where, path=f"{where}: {path}" if path else where)
    return replace(finding, where=told)
