"""What `docker image inspect` printed: a claim of a daemon about an image that nobody read here.

`Id` is the configuration's digest under Docker's classic store and the digest of a manifest or an
index under its containerd store; only what else stands in the document tells which. `RepoDigests`
are of manifests or indexes, whatever the container registry served. Sources: Docker Engine API
1.48 (ImageInspect), moby issue 22011, docker/cli issue 6996.
"""

import re

from verifier.core.digest import Digest
from verifier.core.errors import WrongCallError
from verifier.core.limits import DOCUMENT_BYTES
from verifier.core.strict import read_json
from verifier.core.table import MalformedError, Table
from verifier.core.value import frozen
from verifier.sources import file
from verifier.sources.image.documents import INDEX_TYPES
from verifier.sources.image.graph import Platform

_DIGEST = re.compile("sha256:([0-9a-f]{64})")
_REMEDY = "save what `docker image inspect IMAGE` prints for one image, whole"


@frozen
class Claim:
    """What one document says of one image.

    `typed` are digests whose kind the document shows, `untyped` the hex of the others.
    """

    name: str
    typed: tuple[Digest, ...]
    untyped: tuple[str, ...]
    diff_ids: tuple[str, ...]
    platform: Platform | None


def read(path: str, *, name: str) -> Claim:
    """Read the document at `path`, `name` in reports.

    Raises `UnavailableError` if it cannot be read, `WrongCallError` if it is no such document.
    """
    data = file.read(path, limit=DOCUMENT_BYTES).data
    try:
        value = read_json(data)
    except ValueError as error:
        raise MalformedError(name, [str(error)], remedy=_REMEDY) from None
    rows = value if isinstance(value, list) else [value]
    if len(rows) != 1 or not isinstance(rows[0], dict):
        raise WrongCallError(
            f"{name}: expected what is said of one image, got {len(rows)}",
            code="malformed",
            remedy=_REMEDY,
        )
    return _claim({k: v for k, v in rows[0].items() if v is not None}, name)


def _claim(value: dict[str, object], name: str) -> Claim:
    table = Table(value, what=name, remedy=_REMEDY)
    own = _sha256(table, "Id")
    descriptor = table.optional_table("Descriptor")
    typed: list[Digest] = []
    untyped: list[str] = []
    if descriptor is not None:
        kind = "index" if descriptor.text("mediaType") in INDEX_TYPES else "manifest"
        typed.append(Digest(kind=kind, hex=_sha256(descriptor, "digest")))
    elif table.has("GraphDriver"):
        typed.append(Digest(kind="config", hex=own))
    if own not in {digest.hex for digest in typed}:
        untyped.append(own)
    for digest in table.texts("RepoDigests", default=()):
        found = _DIGEST.fullmatch(digest.rpartition("@")[2])
        if found is None:
            table.mistake("RepoDigests", f"{digest[:120]} does not end in @sha256:…")
        elif found[1] not in {each.hex for each in typed}:
            untyped.append(found[1])
    rootfs = table.optional_table("RootFS")
    layers = rootfs.texts("Layers", default=(), repeated=True) if rootfs else ()
    claim = Claim(
        name=name,
        typed=tuple(typed),
        untyped=tuple(untyped),
        diff_ids=tuple(layer.removeprefix("sha256:") for layer in layers),
        platform=_platform(table),
    )
    table.keys()
    table.done()
    return claim


def _sha256(table: Table, key: str) -> str:
    text = table.text(key)
    found = _DIGEST.fullmatch(text)
    if text and found is None:
        table.mistake(key, "is no sha256: and 64 lower-case hex digits")
    return found[1] if found else "0" * 64


def _platform(table: Table) -> Platform | None:
    if not (table.has("Os") and table.has("Architecture")):
        return None
    return Platform(os=table.text("Os"), architecture=table.text("Architecture"))
