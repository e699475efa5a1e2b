"""A docker archive: what its manifest.json describes, and its layers by their names.

Sources: Docker image specification 1.2 (manifest.json, `repositories`); moby, `image/tarexport`.
"""

import re
from dataclasses import replace
from typing import Final, NamedTuple

from verifier.core.digest import sha256
from verifier.sources.image import documents
from verifier.sources.image.documents import DockerImage
from verifier.sources.image.graph import Blob, Layer, Manifest, Platform
from verifier.sources.image.notes import Notes, listed
from verifier.sources.image.reading import Reading
from verifier.sources.image.store import Store
from verifier.sources.image.strict_json import WrongError

INDEX: Final = "index.json"
MANIFEST: Final = "manifest.json"
_REPOSITORIES: Final = "repositories"
#: Names that state a digest of what lies under them.
_NAMED: Final = re.compile(r"(?:blobs/sha256/)?([0-9a-f]{64})(?:\.json|\.tar)?")


class Docker(NamedTuple):
    """An image of manifest.json, and its documents as read."""

    row: DockerImage
    image: Manifest


class DockerArchive:
    """The images of a docker archive, or of an archive of both forms."""

    def __init__(
        self,
        store: Store,
        notes: Notes,
        reading: Reading,
        *,
        wanted: Platform | None,
        alone: bool,
    ) -> None:
        """Begin; `alone` says that a manifest.json is needed, because it is no OCI archive too."""
        self._store = store
        self._notes = notes
        self._reading = reading
        self._platform = wanted
        self._alone = alone

    def read(self) -> list[Docker]:
        """Read manifest.json and the configurations that it names."""
        data = self._reading.parts.small(MANIFEST)
        if data is None:
            if self._alone:
                self._no_docker()
            return []
        try:
            rows = documents.docker_manifest(data, MANIFEST)
        except WrongError as error:
            self._notes.add(error.code, MANIFEST, expected=error.expected, got=error.got)
            return []
        self._repositories(rows)
        self._tags(rows)
        for urls in (urls for row in rows for urls in row.urls):
            self._notes.add("image-urls", f"{MANIFEST}, LayerSources", got=urls[:200])
        return [
            Docker(row, self._described(row))
            for row in rows
            if self._reading.parts.mention() and self._reading.parts.mention(layers=len(row.layers))
        ]

    def _no_docker(self) -> None:
        if MANIFEST in self._store.links or MANIFEST in self._store.sizes:
            return  # it is there, and why it was not read is said
        if INDEX in self._store.sizes:
            got = "none; it holds index.json: name it as oci-archive:FILE"
        elif _REPOSITORIES in self._store.sizes:
            got = "the legacy repositories alone, as Docker before 1.10 saved"
        else:
            got = "none"
        self._notes.add("image-layout", MANIFEST, expected=MANIFEST, got=got)

    def _repositories(self, rows: tuple[DockerImage, ...]) -> None:
        """Compare the legacy `repositories` with the tags of manifest.json."""
        data = self._reading.parts.small(_REPOSITORIES)
        if data is None:
            return
        tags = frozenset(tag for row in rows for tag in row.tags)
        try:
            legacy = documents.repositories(data)
        except WrongError as error:
            self._notes.add(error.code, _REPOSITORIES, expected=error.expected, got=error.got)
            return
        if legacy != tags:
            self._notes.add(
                "image-repositories",
                _REPOSITORIES,
                expected=f"the tags of manifest.json: {listed(tags)}",
                got=listed(legacy),
            )

    def _tags(self, rows: tuple[DockerImage, ...]) -> None:
        """Name two images that loaders give one name, however it is written."""
        seen: dict[str, tuple[str, DockerImage]] = {}
        for row in rows:
            for tag in row.tags:
                before, other = seen.setdefault(full(tag), (tag, row))
                if (other.config, other.layers) != (row.config, row.layers):
                    self._notes.add(
                        "image-ref-twice",
                        MANIFEST,
                        expected=f"{before} is {other.config}",
                        got=f"and {tag} is {row.config}",
                    )

    def _described(self, row: DockerImage) -> Manifest:
        data = self._reading.parts.small(row.config)
        where = f"{MANIFEST}, {row.config}"
        blob = Blob(
            kind="config",
            where=where,
            sha256=None if data is None else sha256(data),
            length=None if data is None else len(data),
        )
        if data is None:
            self._missing(row.config)
        else:
            self._by_name(row.config, sha256(data))
        config = self._reading.config(blob, data)
        wanted = self._platform
        found = config.platform is not None and (wanted is None or config.platform.is_same(wanted))
        return Manifest(
            blob=None,
            label=None,
            config=config,
            layers=(),
            read=wanted is None or found,
            refs=row.tags,
        )

    def _missing(self, name: str) -> None:
        if name not in self._store.sizes and name not in self._store.links:
            self._notes.add("image-blob-missing", MANIFEST, expected=name, got="no such member")

    def _by_name(self, name: str, digits: str) -> None:
        """Compare a digest with the one that a member's name states."""
        named = _NAMED.fullmatch(name)
        if named and named[1] != digits:
            expected = f"sha256:{named[1]}, as its name says"
            self._notes.add("image-name-digest", name, expected=expected, got=f"sha256:{digits}")

    def with_layers(self, each: Docker) -> Docker:
        """Read the layers of an image that manifest.json describes."""
        names = each.row.layers if each.image.read else ()
        readable = {name for name in names if name in self._store.sizes}
        self._reading.read_layers(readable)
        layers = []
        for number, name in enumerate(names):
            if name in readable:
                layer = self._reading.layer(name, None, None)
                self._by_name(name, layer.blob.sha256 or "")
            else:
                if name in self._store.links:
                    got = "a link, or another special member"
                    self._notes.add("image-part-link", name, expected="a file", got=got)
                self._missing(name)
                where = f"{MANIFEST}, Layers[{number}]"
                blob = Blob(kind="layer", where=where, sha256=None, length=None)
                layer = Layer(blob=blob, diff_id=None)
            layers.append(layer)
        return Docker(each.row, replace(each.image, layers=tuple(layers)))


def full(tag: str) -> str:
    """Return a name as Docker completes it: with its registry, repository and tag."""
    name, slash, rest = tag.partition("/")
    if not slash or not ("." in name or ":" in name or name == "localhost" or name != name.lower()):
        name, rest = "docker.io", tag
    if name in ("index.docker.io", "docker.io"):
        name = "docker.io"
        rest = rest if "/" in rest else f"library/{rest}"
    return f"{name}/{rest}" if ":" in rest or "@" in rest else f"{name}/{rest}:latest"
