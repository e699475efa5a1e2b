"""The typed identity graph of an image: what leads to what, as stated and as found.

archive → image index (nested) → manifests by platform → config → layers → diff-ids. A
*descriptor* states media type, digest and size of a blob (OCI image specification, "Content
Descriptors"); what was found under it stands beside it, so that checks compare the two and read
nothing themselves.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field, replace
from typing import Final

from verifier.core.finding import Finding
from verifier.core.value import frozen
from verifier.sources.archives.inflate import Bytes
from verifier.sources.image.layer import Layer as LayerFound

#: Spellings of architectures, and the variant that each implies (containerd, database.go).
_ALIASES: Final = {
    "x86_64": ("amd64", None),
    "x86-64": ("amd64", None),
    "x64": ("amd64", None),
    "i386": ("386", None),
    "i486": ("386", None),
    "i586": ("386", None),
    "i686": ("386", None),
    "x86": ("386", None),
    "aarch64": ("arm64", None),
    "armhf": ("arm", "v7"),
    "armv7": ("arm", "v7"),
    "armv7l": ("arm", "v7"),
    "armel": ("arm", "v6"),
    "armv6l": ("arm", "v6"),
}
_SYSTEMS: Final = {"macos": "darwin"}
#: Variants that are what the architecture is without one, and are not written (containerd,
#: database.go); of arm the usual one is written.
_USUAL: Final = (("amd64", "v1"), ("arm64", "v8"))
_OF_ARM: Final = "v7"


@frozen
class Platform:
    """An operating system and an architecture, with a variant where one is stated."""

    os: str
    architecture: str
    variant: str | None = None

    def __str__(self) -> str:
        """Print it as containerd and skopeo do."""
        return "/".join(part for part in (self.os, self.architecture, self.variant) if part)

    @property
    def canonical(self) -> "Platform":
        """The platform as Go names it, which is how containerd reads other spellings."""
        os, architecture = self.os.strip().lower(), self.architecture.strip().lower()
        architecture, implied = _ALIASES.get(architecture, (architecture, None))
        variant = (self.variant or "").strip().lower() or implied
        if variant is not None and variant.isdecimal():
            variant = f"v{variant}"
        if (architecture, variant) in _USUAL:
            variant = None
        if architecture == "arm":
            variant = variant or _OF_ARM
        return Platform(os=_SYSTEMS.get(os, os), architecture=architecture, variant=variant or None)

    @property
    def spelt(self) -> bool:
        """Whether it is spelt as Go does; a usual variant may be stated or left out."""
        canonical = self.canonical
        return (self.os, self.architecture) == (canonical.os, canonical.architecture) and (
            self.variant in (None, canonical.variant) or (self.architecture, self.variant) in _USUAL
        )

    def is_as(self, other: "Platform") -> bool:
        """Whether both can be of one image; a variant that one of them does not state is open.

        Builders leave the variant out of a configuration or of an index, so this is how two
        statements about one image are compared, and never what was asked for.
        """
        one, two = self.canonical, other.canonical
        return (one.os, one.architecture) == (two.os, two.architecture) and (
            one.variant == two.variant or None in (self.variant, other.variant)
        )

    def is_same(self, other: "Platform") -> bool:
        """Whether both name one platform: without a variant the usual one, as containerd does."""
        return self.canonical == other.canonical


@frozen
class Descriptor:
    """What a document states of a blob. `where` names the place of the statement.

    `digest` is as written. `data` is what it says are the bytes themselves, None without any.
    """

    where: str
    media_type: str
    digest: str
    size: int
    platform: Platform | None = None
    ref: str | None = None
    urls: tuple[str, ...] = ()
    data: bytes | None = None
    artifact: bool = False
    """Whether it calls what it leads to an artifact; that decides nothing."""
    lazy: tuple[str, ...] = ()
    """Its annotations that runtimes which pull lazily believe instead of the layer's bytes."""

    @property
    def sha256(self) -> str | None:
        """The digest's hex, None if it is by another algorithm."""
        algorithm, _, digits = self.digest.partition(":")
        return digits if algorithm == "sha256" else None


@frozen
class Blob:
    """A blob as found: its kind, what was stated of it, its own digest and length.

    `sha256` and `length` are None where there are no bytes, or they were not read to the end.
    """

    kind: str
    where: str
    sha256: str | None
    length: int | None
    stated: Descriptor | None = None

    @property
    def sound(self) -> bool:
        """Whether the bytes are there, and are what was stated of them."""
        return self.sha256 is not None and (
            self.stated is None
            or (self.sha256, self.length) == (self.stated.sha256, self.stated.size)
        )


@frozen
class Config:
    """An image's configuration. `history` counts the entries that made a layer, if any stand."""

    blob: Blob
    platform: Platform | None
    diff_ids: tuple[str, ...]
    history: int | None
    labels: tuple[tuple[str, str], ...] = ()


@frozen
class Layer:
    """One layer: its blob, and the SHA-256 of what it unpacks to, None if that was not read.

    `packed` names the compression that was found, None for a plain tar. `whole` says that it is
    one sound tar to its end. `found` is what the pass over it found, None if it was not read, and
    `part` its name in the source.
    """

    blob: Blob
    diff_id: str | None
    packed: str | None = None
    whole: bool = False
    part: str | None = None
    found: LayerFound | None = None


@frozen
class Manifest:
    """One manifest with all below it. An artifact, such as an attestation, is no image.

    `blob` is None of an image that a docker archive describes without a manifest. `config` and
    `layers` are None and empty where they were not read: of another platform, or missing.
    `lazy` are annotations, its own and those of its layers, that runtimes which pull lazily
    believe instead of a layer's bytes. `json` is the document, by which another printing of it
    can be recognised.
    """

    blob: Blob | None
    label: Platform | None
    config: Config | None
    layers: tuple[Layer, ...]
    stated_layers: tuple[Descriptor, ...] = ()
    artifact: bool = False
    read: bool = False
    refs: tuple[str, ...] = ()
    lazy: tuple[str, ...] = ()
    json: bytes = b""

    @property
    def platform(self) -> Platform | None:
        """Its configuration's platform, with the index's variant where that states none."""
        own = self.config.platform if self.config else None
        if own and self.label and own.variant is None and self.label.is_as(own):
            return replace(own, variant=self.label.variant)
        return own


@frozen
class Index:
    """One image index and what it lists, in its order."""

    blob: Blob
    below: "tuple[Index | Manifest | Blob, ...]"
    json: bytes = b""


@frozen
class Graph:
    """What one source holds. `archive` is None of a folder.

    `roots` are what was asked for: all that the layout lists, or the one of a name. `docker` are
    the images that a `manifest.json` describes. `findings` are those of reading: of blobs and
    documents by themselves. `refs` are the names that the source gives its images.
    """

    form: str
    archive: Blob | None
    roots: tuple[Index | Manifest | Blob, ...]
    docker: tuple[Manifest, ...]
    findings: tuple[Finding, ...]
    refs: tuple[str, ...] = ()
    link: str | None = None
    ignored: tuple[str, ...] = ()
    open_part: Callable[[str], AbstractContextManager[Bytes]] | None = field(
        default=None, compare=False
    )
    """Opens a part of the source by its name."""

    def manifests(self) -> "tuple[Manifest, ...]":
        """Return every manifest of the roots, in order; those of `docker` if there are no roots."""
        found: list[Manifest] = []
        for root in self.roots:
            found += _manifests(root)
        return tuple(found) or self.docker

    def images(self) -> "tuple[Manifest, ...]":
        """Return the manifests that are images, and were read."""
        return tuple(m for m in self.manifests() if m.read and not m.artifact)

    def indexes(self) -> "tuple[Index, ...]":
        """Return every index, the outer ones first."""
        found, level = [], [root for root in self.roots if isinstance(root, Index)]
        while level:
            found += level
            level = [b for index in level for b in index.below if isinstance(b, Index)]
        return tuple(found)


def _manifests(root: "Index | Manifest | Blob") -> list[Manifest]:
    if isinstance(root, Manifest):
        return [root]
    if isinstance(root, Index):
        return [manifest for below in root.below for manifest in _manifests(below)]
    return []
