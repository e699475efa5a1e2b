"""The documents of an image: strict JSON to values, every contradiction by its own code.

Sources: OCI image specification 1.1 (image-index.md, manifest.md, config.md, descriptor.md,
image-layout.md), Docker image specification 1.2 (manifest.json, repositories). Readers in Go take
keys in any case and the last of two; a document that they could read differently is refused.
Unknown keys are allowed, as the specification says.
"""

import base64
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeVar

from verifier.core.table import DuplicateKeyError, MalformedError, Table, read_json
from verifier.sources.image.graph import Descriptor, Platform

T = TypeVar("T")

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
_ATTESTATION: Final = "vnd.docker.reference.type"
_STATEMENT: Final = "application/vnd.in-toto+json"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}|(?!sha256:)[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[\w=-]+")
_DIFF_ID: Final = "sha256:[0-9a-f]{64}"
_SCHEMA: Final = 2
_REMEDY: Final = "ask the image's builder for a sound copy"
_DISTRIBUTED: Final = (
    "schemaVersion",
    "mediaType",
    "artifactType",
    "config",
    "layers",
    "manifests",
    "subject",
    "digest",
    "size",
    "urls",
    "data",
    "platform",
    "architecture",
    "os",
    "variant",
)
#: Keys whose other spellings readers in Go take for them, by where they are read.
_KNOWN: Final = {
    "index": _DISTRIBUTED,
    "manifest": _DISTRIBUTED,
    "config": ("architecture", "os", "variant", "config", "rootfs", "history", "diff_ids"),
    "docker": ("Config", "RepoTags", "Layers"),
}


class WrongError(Exception):
    """A document cannot be used: the code of the finding, and what was found."""

    def __init__(self, code: str, got: str, *, expected: str | None = None) -> None:
        """Hold what the finding says."""
        super().__init__(code)
        self.code = code
        self.got = got
        self.expected = expected


class IndexDocument(NamedTuple):
    """An image index: its own media type, what it lists, and whether it says it is about more."""

    media_type: str | None
    below: tuple[Descriptor, ...]
    subject: str | None
    both: bool


class ManifestDocument(NamedTuple):
    """An image manifest.

    `artifact` says that its configuration is none of an image, `statements` that all it holds are
    in-toto statements, as BuildKit's attestations. `claims` says that it calls itself an artifact.
    """

    media_type: str | None
    config: Descriptor
    layers: tuple[Descriptor, ...]
    subject: str | None
    both: bool
    artifact: bool
    statements: bool
    claims: bool


class ConfigDocument(NamedTuple):
    """An image configuration; `history` counts the steps that made a layer, None without any."""

    platform: Platform
    diff_ids: tuple[str, ...]
    history: int | None
    labels: tuple[tuple[str, str], ...]


class DockerImage(NamedTuple):
    """One image of a docker archive's manifest.json, by the names of its parts."""

    config: str
    tags: tuple[str, ...]
    layers: tuple[str, ...]


def index(data: bytes, where: str) -> IndexDocument:
    """Read an image index, or a layout's index.json. Raises `WrongError`."""
    table = _table(data, where, "index")
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
    return _done(table, document)


def manifest(data: bytes, where: str) -> ManifestDocument:
    """Read an image manifest. Raises `WrongError`."""
    table = _table(data, where, "manifest")
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
    )
    return _done(table, document)


def config(data: bytes, where: str) -> ConfigDocument:
    """Read an image configuration. Raises `WrongError`."""
    table = _table(data, where, "config")
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
    return _done(table, document)


def docker_manifest(data: bytes, where: str) -> tuple[DockerImage, ...]:
    """Read manifest.json of a docker archive. Raises `WrongError`."""
    rows = _parsed(data)
    if not isinstance(rows, list) or not rows:
        raise WrongError("image-json", "no list of images")
    table = _of({"images": rows}, where, "docker")
    found = tuple(
        DockerImage(
            config=below.text("Config"),
            tags=below.texts("RepoTags", default=()),
            layers=_texts(below, "Layers"),
        )
        for below in table.tables("images")
    )
    return _done(table, found)


def repositories(data: bytes) -> frozenset[str]:
    """Read the tags in the legacy `repositories` of a docker archive. Raises `WrongError`."""
    rows = _parsed(data)
    if not isinstance(rows, dict) or not all(isinstance(tags, dict) for tags in rows.values()):
        raise WrongError("image-json", "no table of repositories and tags")
    return frozenset(f"{name}:{tag}" for name, tags in rows.items() for tag in tags)


def layout(data: bytes) -> str:
    """Read the version of an `oci-layout`. Raises `WrongError`."""
    table = _table(data, "oci-layout", "layout")
    return _done(table, table.text("imageLayoutVersion"))


def shape(data: bytes) -> str | None:
    """Say what a document looks like, whatever its media type says: index, manifest, or neither.

    Raises `WrongError` for one that is no strict JSON.
    """
    value = _parsed(data)
    if not isinstance(value, dict):
        return None
    if value.get("manifests") is not None and value.get("layers") is None:
        return "index"
    return "manifest" if value.get("layers") is not None or "config" in value else None


# ── parts of documents ─────────────────────────────────────────────────────────────────────────


def _parsed(data: bytes) -> Any:
    try:
        return read_json(data)
    except DuplicateKeyError as error:
        raise WrongError("image-duplicate-key", str(error)) from None
    except ValueError as error:
        raise WrongError("image-json", str(error)) from None


def _table(data: bytes, where: str, kind: str) -> Table:
    return _of(_parsed(data), where, kind)


def _of(value: Any, where: str, kind: str) -> Table:
    _refuse_other_case(value, _KNOWN.get(kind, ()))
    return Table(_without_nulls(value), what=where, remedy=_REMEDY)


def _refuse_other_case(value: Any, known: Iterable[str]) -> None:
    """Refuse a key that a reader in Go takes for a known one: it folds case."""
    folded = {key.casefold(): key for key in known}
    level = [value]
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, list):
                below += item
            elif isinstance(item, dict):
                below += [v for k, v in item.items() if k not in ("annotations", "Labels")]
                for key in item:
                    meant = folded.get(key.casefold(), key)
                    if meant != key:
                        raise WrongError("image-key-case", f"{key[:80]}, which is {meant} to some")
        level = [item for item in below if isinstance(item, dict | list)]


def _without_nulls(value: Any) -> Any:
    """Leave out what is null: writers in Go print it for what is not there."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _done(table: Table, document: T) -> T:
    """Return the document if it has no mistakes; keys that nobody asked for are allowed."""
    table.keys()
    try:
        table.done()
    except MalformedError as error:
        raise WrongError("image-json", "; ".join(error.listed)) from None
    return document


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
    )


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
