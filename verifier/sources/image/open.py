"""From an image source to its identity graph: layouts, archives of both forms, or both at once."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from verifier.core.digest import sha256
from verifier.sources.image import documents
from verifier.sources.image.argument import Source
from verifier.sources.image.documents import DockerImage, WrongError
from verifier.sources.image.graph import (
    Blob,
    Descriptor,
    Graph,
    Index,
    Manifest,
    Platform,
)
from verifier.sources.image.notes import Notes
from verifier.sources.image.reading import Reading
from verifier.sources.image.store import ArchiveStore, FolderStore, Store

_INDEX: Final = "index.json"
_DOCKER: Final = "manifest.json"
_LAYOUT: Final = "oci-layout"
_REPOSITORIES: Final = "repositories"
_VERSION: Final = "1.0.0"
#: Names that state a digest of what lies under them.
_NAMED: Final = re.compile(r"(?:blobs/sha256/)?([0-9a-f]{64})(?:\.json|\.tar)?")
_SHOWN: Final = 10


class _Docker(NamedTuple):
    """An image of manifest.json, and its documents as read."""

    row: DockerImage
    image: Manifest


def read(
    source: Source, *, platform: Platform | None = None, choice: Platform | None = None
) -> Graph:
    """Read what an image source holds, every digest computed again.

    With `platform` only the layers of that platform are read; with `choice` those of that platform
    if the source holds it and others. Raises `UnavailableError` if the
    source cannot be read or changes meanwhile.
    """
    path = Path(source.path)
    store: Store
    if source.form == "oci":
        store = FolderStore(path, name=source.path)
    else:
        store = ArchiveStore(path, name=source.path)
    return _Walk(source, store, platform, choice).graph(
        link=str(path.readlink()) if path.is_symlink() else None
    )


class _Walk:
    """One reading of a source."""

    def __init__(
        self, source: Source, store: Store, platform: Platform | None, choice: Platform | None
    ) -> None:
        self._source = source
        self._store = store
        self._notes = Notes()
        self._platform = platform
        self._choice = choice
        self._reading = Reading(store, self._notes, platform)

    def graph(self, *, link: str | None) -> Graph:
        """Read all of it."""
        store, notes = self._store, self._notes
        archive = None
        if store.pin is not None:
            archive = Blob(
                kind="archive",
                where=store.name,
                sha256=store.pin.sha256,
                length=store.pin.length,
            )
        notes.take(store.findings)
        roots: list[Index | Manifest | Blob] = []
        docker: list[_Docker] = []
        refs: list[str] = []
        if store.complete:
            every = self._layout()
            docker = self._docker()
            if self._reading.cut:
                every, docker = [], []
            self._agree(every, docker)
            if not self._reading.cut:
                roots, docker, refs = self._selected(every, docker)
            if self._choice is not None and self._platform is None:
                roots, docker = _chosen(roots, docker, self._choice)
            roots = self._reading.with_layers(roots)
            docker = [self._filled(each) for each in docker]
            self._unreferenced()
        return Graph(
            form=self._source.form,
            archive=archive,
            roots=tuple(roots),
            docker=tuple(each.image for each in docker),
            findings=notes.findings,
            refs=tuple(dict.fromkeys(refs)),
            link=link,
            open_part=self._store.part,
        )

    # ── an OCI layout ──────────────────────────────────────────────────────────────────────────

    def _layout(self) -> "list[tuple[Descriptor, Index | Manifest | Blob]]":
        """Read index.json and all documents below it."""
        needed = self._source.form != "docker-archive"
        data = self._reading.small(_INDEX)
        if data is None:
            if needed and _INDEX not in self._store.sizes and _INDEX not in self._store.links:
                other = "; it holds manifest.json" if _DOCKER in self._store.sizes else ""
                self._notes.add("image-layout", _INDEX, expected=_INDEX, got=f"none{other}")
            return []
        self._version()
        try:
            document = documents.index(data, _INDEX)
        except WrongError as error:
            self._notes.add(error.code, _INDEX, expected=error.expected, got=error.got)
            return []
        own = document.media_type
        if own is not None and own not in documents.INDEX_TYPES:
            expected = documents.INDEX_TYPES[0]
            self._notes.add("image-media-type", _INDEX, expected=expected, got=own)
        if document.both:
            got = "manifests beside config or layers"
            self._notes.add("image-both-shapes", _INDEX, expected="one shape", got=got)
        if not document.below:
            self._notes.add("image-empty", _INDEX, expected="an image", got="none")
        seen: dict[str, str] = {}
        for stated in document.below:
            if stated.ref and seen.setdefault(stated.ref, stated.digest) != stated.digest:
                self._notes.add(
                    "image-ref-twice",
                    stated.where,
                    expected=f"{stated.ref} is {seen[stated.ref]}",
                    got=f"and {stated.digest}",
                )
        return [(stated, self._reading.root(stated)) for stated in document.below]

    def _version(self) -> None:
        data = self._reading.small(_LAYOUT)
        try:
            version = None if data is None else documents.layout(data)
        except WrongError as error:
            self._notes.add(error.code, _LAYOUT, expected=error.expected, got=error.got)
            return
        if version != _VERSION:
            got = "no such file" if version is None else f"version {version}"
            self._notes.add("image-layout", _LAYOUT, expected=f"version {_VERSION}", got=got)

    # ── a docker archive ───────────────────────────────────────────────────────────────────────

    def _docker(self) -> list[_Docker]:
        """Read manifest.json and the configurations that it names."""
        needed = self._source.form == "docker-archive"
        data = self._reading.small(_DOCKER)
        if data is None:
            if needed and _DOCKER not in self._store.links and _DOCKER not in self._store.sizes:
                self._no_docker()
            return []
        try:
            rows = documents.docker_manifest(data, _DOCKER)
        except WrongError as error:
            self._notes.add(error.code, _DOCKER, expected=error.expected, got=error.got)
            return []
        self._repositories(rows)
        self._tags(rows)
        return [
            _Docker(row, self._described(row))
            for row in rows
            if self._reading.mention() and self._reading.mention(layers=len(row.layers))
        ]

    def _no_docker(self) -> None:
        if _INDEX in self._store.sizes:
            got = "none; it holds index.json: name it as oci-archive:FILE"
        elif _REPOSITORIES in self._store.sizes:
            got = "the legacy repositories alone, as Docker before 1.10 saved"
        else:
            got = "none"
        self._notes.add("image-layout", _DOCKER, expected=_DOCKER, got=got)

    def _repositories(self, rows: tuple[DockerImage, ...]) -> None:
        """Compare the legacy `repositories` with the tags of manifest.json."""
        data = self._reading.small(_REPOSITORIES)
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
                expected=f"the tags of manifest.json: {_listed(tags)}",
                got=_listed(legacy),
            )

    def _tags(self, rows: tuple[DockerImage, ...]) -> None:
        """Name two images that loaders give one name, however it is written."""
        seen: dict[str, tuple[str, DockerImage]] = {}
        for row in rows:
            for tag in row.tags:
                before, other = seen.setdefault(_full(tag), (tag, row))
                if (other.config, other.layers) != (row.config, row.layers):
                    self._notes.add(
                        "image-ref-twice",
                        _DOCKER,
                        expected=f"{before} is {other.config}",
                        got=f"and {tag} is {row.config}",
                    )

    def _described(self, row: DockerImage) -> Manifest:
        data = self._reading.small(row.config)
        where = f"{_DOCKER}, {row.config}"
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
        found = config.platform is not None and (wanted is None or config.platform.is_as(wanted))
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
            self._notes.add("image-blob-missing", _DOCKER, expected=name, got="no such member")

    def _by_name(self, name: str, digits: str) -> None:
        """Compare a digest with the one that a member's name states."""
        named = _NAMED.fullmatch(name)
        if named and named[1] != digits:
            expected = f"sha256:{named[1]}, as its name says"
            self._notes.add("image-name-digest", name, expected=expected, got=f"sha256:{digits}")

    def _filled(self, each: _Docker) -> _Docker:
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
                layer = self._reading.unread(f"{_DOCKER}, Layers[{number}]")
            layers.append(layer)
        return _Docker(each.row, replace(each.image, layers=tuple(layers)))

    # ── both ───────────────────────────────────────────────────────────────────────────────────

    def _agree(
        self, every: "list[tuple[Descriptor, Index | Manifest | Blob]]", docker: list[_Docker]
    ) -> None:
        """Compare what index.json and manifest.json describe: they must be the same images."""
        if not every or not docker:
            return
        described = {_config(each.image) for each in docker}
        held = [{_config(m) for m in _manifests(root) if not m.artifact} for _, root in every]
        by_index = set().union(*held)
        strange = sorted(filter(None, described - by_index))
        alone = [found for found in held if found and not found & described]
        if strange or alone:
            ours = sorted(filter(None, set().union(*alone))) or sorted(filter(None, by_index))
            self._notes.add(
                "image-two-images",
                _DOCKER,
                expected=f"the images of index.json: config {_listed(ours)}",
                got=f"config {_listed(strange or described)}",
                cause="programs that read manifest.json load another image than those that read "
                "index.json",
            )

    def _selected(
        self, every: "list[tuple[Descriptor, Index | Manifest | Blob]]", docker: list[_Docker]
    ) -> "tuple[list[Index | Manifest | Blob], list[_Docker], list[str]]":
        """Keep what the name in the argument means, all without one."""
        refs = [stated.ref for stated, _ in every if stated.ref]
        refs += [tag for each in docker for tag in each.row.tags]
        ref = self._source.ref
        if ref is None:
            return [root for _, root in every], docker, refs
        chosen = [each for each in docker if ref in each.row.tags]
        configs = {_config(each.image) for each in chosen}
        roots = [
            root
            for stated, root in every
            if stated.ref == ref or any(_config(m) in configs for m in _manifests(root))
        ]
        if not roots and not chosen:
            got = f"no such name; there are {_listed(refs)}" if refs else "no names at all"
            self._notes.add("image-no-ref", self._source.path, expected=ref, got=got)
        if not chosen:
            held = {_config(m) for root in roots for m in _manifests(root)}
            chosen = [each for each in docker if _config(each.image) in held]
        return roots, chosen, refs

    def _unreferenced(self) -> None:
        blobs = [name for name in self._store.sizes if name.startswith("blobs/")]
        left = sorted(set(blobs) - self._reading.reached)
        # Where the walk was cut short, what it did not reach says nothing.
        partly = self._source.ref is not None or self._platform is not None
        cut_short = any(f.row.facet == "graph" for f in self._notes.findings)
        if left and not partly and not cut_short:
            length = sum(self._store.sizes[name] for name in left)
            self._notes.add(
                "image-unreferenced",
                self._store.name,
                expected="blobs that the image refers to",
                got=f"{len(left):,} more, {length:,} bytes: {_listed(left)}",
            )


def _full(tag: str) -> str:
    """Return a name as Docker completes it: with its registry, repository and tag."""
    name, slash, rest = tag.partition("/")
    if not slash or not ("." in name or ":" in name or name == "localhost" or name != name.lower()):
        name, rest = "docker.io", tag
    if name in ("index.docker.io", "docker.io"):
        name = "docker.io"
        rest = rest if "/" in rest else f"library/{rest}"
    return f"{name}/{rest}" if ":" in rest or "@" in rest else f"{name}/{rest}:latest"


def _config(image: Manifest) -> str:
    found = image.config.blob.sha256 if image.config else None
    return found or ""


def _manifests(root: "Index | Manifest | Blob") -> tuple[Manifest, ...]:
    graph = Graph(form="", archive=None, roots=(root,), docker=(), findings=())
    return graph.manifests()


def _chosen(
    roots: "list[Index | Manifest | Blob]", docker: list[_Docker], choice: Platform
) -> "tuple[list[Index | Manifest | Blob], list[_Docker]]":
    """Leave the layers of other platforms unread, if the one that is meant is there."""
    held = [*(m for root in roots for m in _manifests(root)), *(each.image for each in docker)]
    if not any(_is_of(m, choice) and m.config and m.config.platform for m in held):
        return roots, docker

    def only(root: "Index | Manifest | Blob") -> "Index | Manifest | Blob":
        if isinstance(root, Index):
            return replace(root, below=tuple(map(only, root.below)))
        if isinstance(root, Manifest):
            return replace(root, read=root.read and _is_of(root, choice))
        return root

    kept = [
        each._replace(
            image=replace(each.image, read=each.image.read and _is_of(each.image, choice))
        )
        for each in docker
    ]
    return [only(root) for root in roots], kept


def _is_of(image: Manifest, platform: Platform) -> bool:
    """Whether an image may be of a platform: one that does not say is looked at."""
    if image.artifact or image.config is None or image.config.platform is None:
        return not image.artifact
    return image.config.platform.is_as(platform)


def _listed(values: Iterable[str]) -> str:
    names = sorted(values)
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "") or "none"
