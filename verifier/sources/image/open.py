"""From an image source to its identity graph: layouts, archives of both forms, or both at once."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from verifier.sources.image import documents
from verifier.sources.image.argument import Source
from verifier.sources.image.docker import INDEX, MANIFEST, Docker, DockerArchive, full
from verifier.sources.image.graph import (
    Blob,
    Descriptor,
    Graph,
    Index,
    Manifest,
    Platform,
)
from verifier.sources.image.notes import Notes, listed
from verifier.sources.image.reading import Reading
from verifier.sources.image.store import ArchiveStore, FolderStore, Store
from verifier.sources.image.strict_json import WrongError

_LAYOUT: Final = "oci-layout"
_VERSION: Final = "1.0.0"


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
        self._docker = DockerArchive(
            store,
            self._notes,
            self._reading,
            wanted=platform,
            alone=source.form == "docker-archive",
        )

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
        docker: list[Docker] = []
        refs: list[str] = []
        if store.complete:
            every = self._layout()
            docker = self._docker.read()
            if self._reading.parts.cut:
                every, docker = [], []
            self._agree(every, docker)
            if not self._reading.parts.cut:
                roots, docker, refs = self._selected(every, docker)
            if self._choice is not None and self._platform is None:
                roots, docker = _chosen(roots, docker, self._choice)
            roots = self._reading.with_layers(roots)
            docker = [self._docker.with_layers(each) for each in docker]
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
        data = self._reading.parts.small(INDEX)
        if data is None:
            if needed and INDEX not in self._store.sizes and INDEX not in self._store.links:
                other = "; it holds manifest.json" if MANIFEST in self._store.sizes else ""
                self._notes.add("image-layout", INDEX, expected=INDEX, got=f"none{other}")
            return []
        self._version()
        try:
            document = documents.index(data, INDEX)
        except WrongError as error:
            self._notes.add(error.code, INDEX, expected=error.expected, got=error.got)
            return []
        own = document.media_type
        if own is not None and own not in documents.INDEX_TYPES:
            expected = documents.INDEX_TYPES[0]
            self._notes.add("image-media-type", INDEX, expected=expected, got=own)
        if document.both:
            got = "manifests beside config or layers"
            self._notes.add("image-both-shapes", INDEX, expected="one shape", got=got)
        if not document.below:
            self._notes.add("image-empty", INDEX, expected="an image", got="none")
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
        data = self._reading.parts.small(_LAYOUT)
        try:
            version = None if data is None else documents.layout(data)
        except WrongError as error:
            self._notes.add(error.code, _LAYOUT, expected=error.expected, got=error.got)
            return
        if version != _VERSION:
            got = "no such file" if version is None else f"version {version}"
            self._notes.add("image-layout", _LAYOUT, expected=f"version {_VERSION}", got=got)

    # ── both ───────────────────────────────────────────────────────────────────────────────────

    def _agree(
        self, every: "list[tuple[Descriptor, Index | Manifest | Blob]]", docker: list[Docker]
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
                MANIFEST,
                expected=f"the images of index.json: config {listed(ours)}",
                got=f"config {listed(strange or described)}",
                cause="programs that read manifest.json load another image than those that read "
                "index.json",
            )

    def _selected(
        self, every: "list[tuple[Descriptor, Index | Manifest | Blob]]", docker: list[Docker]
    ) -> "tuple[list[Index | Manifest | Blob], list[Docker], list[str]]":
        """Keep what the name in the argument means, all without one."""
        refs = [stated.ref for stated, _ in every if stated.ref]
        refs += [tag for each in docker for tag in each.row.tags]
        ref = self._source.ref
        if ref is None:
            return [root for _, root in every], docker, refs
        chosen = [each for each in docker if full(ref) in map(full, each.row.tags)]
        configs = {_config(each.image) for each in chosen}
        roots = [
            root
            for stated, root in every
            if stated.ref == ref or any(_config(m) in configs for m in _manifests(root))
        ]
        if not roots and not chosen:
            got = f"no such name; there are {listed(refs)}" if refs else "no names at all"
            self._notes.add("image-no-ref", self._source.path, expected=ref, got=got)
        if not chosen:
            held = {_config(m) for root in roots for m in _manifests(root)}
            chosen = [each for each in docker if _config(each.image) in held]
        return roots, chosen, refs

    def _unreferenced(self) -> None:
        blobs = [name for name in self._store.sizes if name.startswith("blobs/")]
        left = sorted(set(blobs) - self._reading.parts.reached)
        # Where the walk was cut short, what it did not reach says nothing.
        partly = self._source.ref is not None or self._platform is not None
        cut_short = any(f.row.facet == "graph" for f in self._notes.findings)
        if left and not partly and not cut_short:
            length = sum(self._store.sizes[name] for name in left)
            self._notes.add(
                "image-unreferenced",
                self._store.name,
                expected="blobs that the image refers to",
                got=f"{len(left):,} more, {length:,} bytes: {listed(left)}",
            )


def _config(image: Manifest) -> str:
    found = image.config.blob.sha256 if image.config else None
    return found or ""


def _manifests(root: "Index | Manifest | Blob") -> tuple[Manifest, ...]:
    graph = Graph(form="", archive=None, roots=(root,), docker=(), findings=())
    return graph.manifests()


def _chosen(
    roots: "list[Index | Manifest | Blob]", docker: list[Docker], choice: Platform
) -> "tuple[list[Index | Manifest | Blob], list[Docker]]":
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
    if image.artifact or image.platform is None:
        return not image.artifact
    return image.platform.is_same(platform)
