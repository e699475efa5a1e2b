"""Reading what a receipt is bound to (`identities`)."""

from verifier.checks.receipt.document.identities import (
    Collector,
    Environment,
    Equality,
    Evidence,
    LoadedFile,
    Model,
    RankImage,
    Reference,
    Runtime,
    Workload,
    Written,
)
from verifier.core.table import Table


class Digests:
    """Reads digests, and keeps every one that was read (B3 and B4 look at them all)."""

    def __init__(self) -> None:
        """Begin with none."""
        self.seen: list[Written] = []

    def read(self, table: Table, key: str, algorithm: str = "sha256") -> Written | None:
        """Read `{"sha256": "…"}` or `{"gitCommit": "…"}` below `key`; None where it is absent."""
        if not table.has(key):
            return None
        below = table.table(key)
        written = self.here(below, algorithm)
        below.close()
        return written

    def here(self, table: Table, algorithm: str = "sha256") -> Written:
        """Read the digest that stands in this very table."""
        written = Written(
            algorithm=algorithm, text=table.text(algorithm), path=table.path(algorithm)
        )
        self.seen.append(written)
        return written

    def commit(self, table: Table, key: str) -> Written | None:
        """Read a commit below `key`."""
        return self.read(table, key, "gitCommit")


def evidence(table: Table, digests: Digests) -> Evidence:
    """Read one file by its digest; closes the table."""
    read = Evidence(
        name=table.text("name"),
        digest=digests.read(table, "digest"),
        length=table.optional_integer("bytes"),
        published=table.flag("published"),
        reason=table.optional_text("reason"),
        role=table.optional_text("role"),
    )
    table.close()
    return read


def collector(table: Table, digests: Digests) -> Collector:
    """Read the program that measured; closes the table."""
    read = Collector(
        name=table.text("name"),
        version=table.text("version"),
        executable=digests.read(table, "executable"),
        source=digests.commit(table, "sourceCommit"),
        archive=digests.read(table, "releaseArchive"),
    )
    table.close()
    return read


def workload(table: Table, digests: Digests) -> Workload:
    """Read what was run; closes the table."""
    read = Workload(
        id=table.text("id"),
        source=digests.read(table, "source"),
        normalised=digests.read(table, "normalised"),
        normalisation=table.optional_text("normalisation"),
        producer=digests.read(table, "producer"),
        file=table.optional_text("file"),
        generated=table.flag("generated", default=True),
    )
    table.close()
    return read


def model(table: Table, digests: Digests) -> Model:
    """Read a model; closes the table."""
    read = Model(
        role=table.text("role", choices=["target", "draft", "tokenizer"]),
        uri=table.text("uri"),
        revision=digests.commit(table, "revision"),
    )
    table.close()
    return read


def runtime(table: Table, digests: Digests) -> Runtime:
    """Read what ran; closes the table."""
    read = Runtime(
        composed=table.flag("composed") if table.has("composed") else None,
        dirty=table.flag("dirtyTree") if table.has("dirtyTree") else None,
        components=tuple(_component(each, digests) for each in table.tables("components")),
        images=tuple(_image(each, digests) for each in table.tables("images")),
        files=tuple(_file(each, digests) for each in table.tables("loadedFiles")),
    )
    table.close()
    return read


def _component(table: Table, digests: Digests) -> tuple[str, Written | None]:
    read = table.text("name"), digests.commit(table, "digest")
    table.close()
    return read


def _image(table: Table, digests: Digests) -> RankImage:
    read = RankImage(
        rank=table.integer("rank"),
        id=digests.read(table, "id"),
        registry=digests.read(table, "registryDigest"),
    )
    table.close()
    return read


def _file(table: Table, digests: Digests) -> LoadedFile:
    read = LoadedFile(
        rank=table.integer("rank"),
        path=table.text("path"),
        loaded=digests.read(table, "loaded"),
        recorded=digests.read(table, "recorded"),
    )
    table.close()
    return read


def environment(table: Table | None) -> Environment:
    """Read what it ran on; closes the table."""
    names = ("hardware", "driver", "toolchain", "interconnect", "clock")
    found = {name: table.optional_text(name) if table else None for name in names}
    if table:
        table.close()
    return Environment(**found)


def equality(table: Table, digests: Digests) -> Equality:
    """Read a file that is compared; closes the table."""
    read = Equality(
        path=table.text("path"),
        measured=digests.read(table, "measured"),
        head=digests.read(table, "head"),
    )
    table.close()
    return read


def reference(table: Table, digests: Digests) -> Reference:
    """Read a citation; closes the table."""
    read = Reference(
        repository=table.text("repository"),
        commit=digests.commit(table, "commit"),
        path=table.text("path"),
        blob=digests.read(table, "blob", "gitBlob"),
    )
    table.close()
    return read
