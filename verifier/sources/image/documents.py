"""The documents of an image: strict JSON to values, every contradiction by its own code.

Sources: OCI image specification 1.1 (image-index.md, manifest.md, config.md, descriptor.md,
image-layout.md), Docker image specification 1.2 (manifest.json, repositories). Keys that readers
could take differently are refused (`strict_json`).
"""

import base64
import json
import re
from typing import Any, Final, NamedTuple

from verifier.core.table import Table
from verifier.sources.image.graph import Descriptor, Platform
from verifier.sources.image.strict_json import WrongError, done, of, parsed, table_of

INDEX_TYPES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFEST_TYPES: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
CONFIG_TYPES: Final = (
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.docker.container.image.v1+json",
)
#: Media types of layers, and the compression that each names.
LAYER_TYPES: Final = {
    "application/vnd.oci.image.layer.v1.tar": "none",
    "application/vnd.oci.image.layer.v1.tar+gzip": "gzip",
    "application/vnd.oci.image.layer.v1.tar+zstd": "zstd",
    "application/vnd.oci.image.layer.nondistributable.v1.tar": "none",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip": "gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd": "zstd",
    "application/vnd.docker.image.rootfs.diff.tar": "none",
    "application/vnd.docker.image.rootfs.diff.tar.gzip": "gzip",
    "application/vnd.docker.image.rootfs.diff.tar.zstd": "zstd",
    "application/vnd.docker.image.rootfs.foreign.diff.tar": "none",
    "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip": "gzip",
}
REF: Final = "org.opencontainers.image.ref.name"
#: Annotations that name a table of contents, or another copy of a layer, for runtimes that pull
#: lazily: zstd:chunked (containers/storage), eStargz, nydus, overlaybd, SOCI (their snapshotters).
_LAZY: Final = (
    "io.github.containers.zstd-chunked.",
    "containerd.io/snapshot/stargz/",
    "containerd.io/snapshot/nydus-",
    "containerd.io/snapshot/overlaybd/",
    "com.amazon.soci.",
)
#: How the media types of layers begin that programs unpack, whatever stands behind.
_LAYER_LIKE: Final = (
    "application/vnd.oci.image.layer.",
    "application/vnd.docker.image.rootfs.",
)
_ATTESTATION: Final = "vnd.docker.reference.type"
_STATEMENT: Final = "application/vnd.in-toto+json"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}|(?!sha256:)[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[\w=-]+")
_DIFF_ID: Final = "sha256:[0-9a-f]{64}"
_SCHEMA: Final = 2


class IndexDocument(NamedTuple):
    """An image index: its own media type, what it lists, and whether it says it is about more."""

    media_type: str | None
    below: tuple[Descriptor, ...]
    subject: str | None
    both: bool


class ManifestDocument(NamedTuple):
    """An image manifest.

    `artifact` says that its configuration is called none of an image, `statements` that all it
    holds are in-toto statements, as BuildKit's attestations. `claims` says that it calls itself an
    artifact. `layered` says that something it holds is called a layer of an image.
    """

    media_type: str | None
    config: Descriptor
    layers: tuple[Descriptor, ...]
    subject: str | None
    both: bool
    artifact: bool
    statements: bool
    claims: bool
    layered: bool
    lazy: tuple[str, ...]


class ConfigDocument(NamedTuple):
    """An image configuration; `history` counts the steps that made a layer, None without any."""

    platform: Platform
    diff_ids: tuple[str, ...]
    history: int | None
    labels: tuple[tuple[str, str], ...]


class DockerImage(NamedTuple):
    """One image of a docker archive's manifest.json, by the names of its parts.

    `urls` are those of its `LayerSources`: from where layers are fetched once it is loaded.
    """

    config: str
    tags: tuple[str, ...]
    layers: tuple[str, ...]
    urls: tuple[str, ...]


def index(data: bytes, where: str) -> IndexDocument:
    """Read an image index, or a layout's index.json. Raises `WrongError`."""
    table = table_of(data, where, "index")
    _schema(table, where)
    both = table.has("layers") or table.has("config")
    document = IndexDocument(
        media_type=table.optional_text("mediaType"),
        below=tuple(
            _descriptor(below, f"{where}, manifests[{number}]")
            for number, below in enumerate(table.tables("manifests"))
        ),
        subject=_subject(table),
        both=both,
    )
    if not table.has("manifests"):
        table.mistake("manifests", "missing")
    return done(table, document)


def manifest(data: bytes, where: str) -> ManifestDocument:
    """Read an image manifest. Raises `WrongError`."""
    table = table_of(data, where, "manifest")
    _schema(table, where)
    config = _descriptor(table.table("config"), f"{where}, config")
    layers = tuple(
        _descriptor(below, f"{where}, layers[{number}]")
        for number, below in enumerate(table.tables("layers"))
    )
    if not table.has("layers"):
        table.mistake("layers", "missing")
    document = ManifestDocument(
        media_type=table.optional_text("mediaType"),
        config=config,
        layers=layers,
        subject=_subject(table),
        both=table.has("manifests"),
        artifact=config.media_type not in CONFIG_TYPES,
        statements=bool(layers) and all(layer.media_type == _STATEMENT for layer in layers),
        claims=_claims(table),
        layered=any(layer.media_type.startswith(_LAYER_LIKE) for layer in layers),
        lazy=_lazy(table.optional_table("annotations")),
    )
    return done(table, document)


def config(data: bytes, where: str) -> ConfigDocument:
    """Read an image configuration. Raises `WrongError`."""
    table = table_of(data, where, "config")
    rootfs = table.table("rootfs")
    rootfs.text("type", choices=["layers"])
    diff_ids = _texts(rootfs, "diff_ids")
    for diff_id in diff_ids:
        if not re.fullmatch(_DIFF_ID, diff_id):
            rootfs.mistake("diff_ids", f"{diff_id[:80]} is no sha256: and 64 lower-case hex digits")
    history = None
    if table.has("history"):
        steps = table.tables("history")
        history = sum(not step.flag("empty_layer") for step in steps)
    document = ConfigDocument(
        platform=_platform(table),
        diff_ids=tuple(diff_id.partition(":")[2] for diff_id in diff_ids),
        history=history,
        labels=_labels(table.optional_table("config")),
    )
    return done(table, document)


def is_config(data: bytes) -> bool:
    """Whether a document, whatever it is called, is a configuration to readers in Go.

    They fold the case of keys and take the last of two; what they run needs diff-ids and a
    platform (OCI image specification, config.md). A Docker plugin has no platform.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return False
    top = _folded(value)
    return bool(_folded(top.get("rootfs")).get("diff_ids")) and not top.keys().isdisjoint(
        ("os", "architecture")
    )


def _folded(value: Any) -> dict[str, Any]:
    return {key.casefold(): below for key, below in value.items()} if type(value) is dict else {}


def docker_manifest(data: bytes, where: str) -> tuple[DockerImage, ...]:
    """Read manifest.json of a docker archive. Raises `WrongError`."""
    rows = parsed(data)
    if not isinstance(rows, list) or not rows:
        raise WrongError("image-json", "no list of images")
    table = of({"images": rows}, where, "docker")
    found = tuple(
        DockerImage(
            config=below.text("Config"),
            tags=below.texts("RepoTags", default=()),
            layers=_texts(below, "Layers"),
            urls=_sources(below.optional_table("LayerSources")),
        )
        for below in table.tables("images")
    )
    return done(table, found)


def repositories(data: bytes) -> frozenset[str]:
    """Read the tags in the legacy `repositories` of a docker archive. Raises `WrongError`."""
    rows = parsed(data)
    if not isinstance(rows, dict) or not all(isinstance(tags, dict) for tags in rows.values()):
        raise WrongError("image-json", "no table of repositories and tags")
    return frozenset(f"{name}:{tag}" for name, tags in rows.items() for tag in tags)


def layout(data: bytes) -> str:
    """Read the version of an `oci-layout`. Raises `WrongError`."""
    table = table_of(data, "oci-layout", "layout")
    return done(table, table.text("imageLayoutVersion"))


def shape(data: bytes) -> str | None:
    """Say what a document looks like, whatever its media type says: index, manifest, or neither.

    Raises `WrongError` for one that is no strict JSON.
    """
    value = parsed(data)
    if not isinstance(value, dict):
        return None
    if value.get("manifests") is not None and value.get("layers") is None:
        return "index"
    return "manifest" if value.get("layers") is not None or "config" in value else None


# ── parts of documents ─────────────────────────────────────────────────────────────────────────


def _schema(table: Table, where: str) -> None:
    version = table.integer("schemaVersion")
    if table.has("schemaVersion") and version != _SCHEMA:
        raise WrongError("image-schema", f"schemaVersion {version} in {where}", expected="2")


def _descriptor(table: Table, where: str) -> Descriptor:
    annotations = table.optional_table("annotations")
    below = table.optional_table("platform")
    data = table.optional_text("data") if table.has("data") else None
    digest = table.text("digest")
    if digest and not _DIGEST.fullmatch(digest):
        table.mistake("digest", f"{digest[:120]} is no algorithm, colon and lower-case digits")
    return Descriptor(
        where=where,
        media_type=table.text("mediaType"),
        digest=digest,
        size=table.integer("size"),
        platform=_platform(below) if below else None,
        ref=annotations.optional_text(REF) if annotations else None,
        urls=table.texts("urls", default=()),
        data=_base64(table, data),
        artifact=_claims(table) or (annotations is not None and annotations.has(_ATTESTATION)),
        lazy=_lazy(annotations),
    )


def _lazy(annotations: Table | None) -> tuple[str, ...]:
    keys = annotations.keys() if annotations else ()
    return tuple(key for key in keys if key.startswith(_LAZY))


def _claims(table: Table) -> bool:
    """Whether it is said to be an artifact; registries say the type of an image's configuration."""
    if not table.has("artifactType"):
        return False
    return table.optional_text("artifactType") not in CONFIG_TYPES


def _base64(table: Table, data: str | None) -> bytes | None:
    if data is None:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        table.mistake("data", "is no base64")
        return None


def _platform(table: Table) -> Platform:
    return Platform(
        os=table.text("os"),
        architecture=table.text("architecture"),
        variant=table.optional_text("variant") if table.has("variant") else None,
    )


def _sources(table: Table | None) -> tuple[str, ...]:
    """Return the urls of a docker archive's `LayerSources`: descriptors by diff-id."""
    keys = table.keys() if table else ()
    below = [table.table(diff_id) for diff_id in keys if table]
    return tuple(url for each in below for url in each.texts("urls", default=()))


def _subject(table: Table) -> str | None:
    below = table.optional_table("subject")
    return below.text("digest") if below else None


def _labels(table: Table | None) -> tuple[tuple[str, str], ...]:
    below = table.optional_table("Labels") if table else None
    if below is None:
        return ()
    return tuple(sorted(below.strings().items()))


def _texts(table: Table, key: str) -> tuple[str, ...]:
    """Return a list of strings that may repeat: one layer can stand twice in an image."""
    return table.texts(key, default=(), repeated=True)
