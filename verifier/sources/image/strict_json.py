"""JSON of images that every reader understands alike.

Readers in Go take keys in any case and the last of two; a document that they could read otherwise
is refused. Unknown keys are allowed, as the OCI image specification says.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from verifier.core.strict import DuplicateKeyError, read_json
from verifier.core.table import MalformedError, Table

T = TypeVar("T")

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
    "annotations",
    "os.version",
    "platform",
    "architecture",
    "os",
    "variant",
)
#: Keys whose other spellings readers in Go take for them, by where they are read.
_KNOWN: Final = {
    "index": _DISTRIBUTED,
    "manifest": _DISTRIBUTED,
    "config": (
        "architecture",
        "os",
        "variant",
        "os.version",
        "config",
        "Labels",
        "rootfs",
        "diff_ids",
        "history",
        "empty_layer",
    ),
    "docker": ("Config", "RepoTags", "Layers", "LayerSources", "digest", "size", "urls"),
}


class WrongError(Exception):
    """A document cannot be used: the code of the finding, and what was found."""

    def __init__(self, code: str, got: str, *, expected: str | None = None) -> None:
        """Hold what the finding says."""
        super().__init__(code)
        self.code = code
        self.got = got
        self.expected = expected


def parsed(data: bytes) -> Any:
    """Read JSON. Raises `WrongError` for any that is not strict."""
    try:
        return read_json(data)
    except DuplicateKeyError as error:
        raise WrongError("image-duplicate-key", str(error)) from None
    except ValueError as error:
        raise WrongError("image-json", str(error)) from None


def table_of(data: bytes, where: str, kind: str) -> Table:
    """Read a document of a kind, to be asked for its keys. Raises `WrongError`."""
    return of(parsed(data), where, kind)


def of(value: Any, where: str, kind: str) -> Table:
    """Do as `table_of`, of JSON that was read."""
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


def done(table: Table, document: T) -> T:
    """Return the document if it has no mistakes; keys that nobody asked for are allowed."""
    table.keys()
    try:
        table.done()
    except MalformedError as error:
        raise WrongError("image-json", "; ".join(error.listed)) from None
    return document
