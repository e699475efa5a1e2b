"""Reading runtime/v1: TOML to a `RuntimeEntry`, every mistake by its path (FORMATS §2)."""

import re
from typing import Final

from verifier.catalog.entries.image_format import NAME, PLAIN
from verifier.catalog.entries.runtime import Model, Ranks, RuntimeComponent, RuntimeEntry, Same
from verifier.core.digest import Digest
from verifier.core.table import Table

SCHEMA: Final = "runtime/v1"
ROLES: Final = ("target", "draft", "tokenizer")
_ID: Final = "[0-9a-f]{40}|[0-9a-f]{64}"
_ID_FORM: Final = "40 or 64 lower-case hex digits"
_IMAGE_KINDS: Final = ("archive", "index", "manifest", "config")
_MOST_RANKS: Final = 65_536
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


def parse(data: bytes, where: str) -> RuntimeEntry:
    """Read an entry. Raises `MalformedError` naming every mistake."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    settings = table.optional_table("settings")
    ranks = table.optional_table("ranks")
    entry = RuntimeEntry(
        name=table.text("name", pattern=NAME, form=PLAIN),
        project=table.text("project"),
        image=_image(table),
        components=tuple(map(_component, table.tables("component"))),
        models=tuple(map(_model, table.tables("model"))),
        settings=tuple(sorted(settings.strings().items())) if settings else (),
        ranks=_ranks(ranks) if ranks else None,
    )
    for what, names in (
        ("component", [component.name for component in entry.components]),
        ("model", [model.role for model in entry.models]),
    ):
        for name in sorted({name for name in names if names.count(name) > 1}):
            table.mistake(what, f"{name} is given twice")
    if entry.image is None and not entry.components and not entry.models:
        table.mistake("", "pins nothing: give an image, a component or a model")
    table.done()
    return entry


def _image(table: Table) -> str | Digest | None:
    text = table.optional_text("image")
    if text is None or re.fullmatch(NAME, text):
        return text
    digest = Digest.parse(text)
    if digest is None or digest.kind not in _IMAGE_KINDS:
        kinds = ", ".join(f"{kind}:sha256:…" for kind in _IMAGE_KINDS)
        table.mistake("image", f"is no entry's name and none of {kinds}")
        return None
    return digest


def _component(table: Table) -> RuntimeComponent:
    component = RuntimeComponent(
        name=table.text("name", pattern=NAME, form=PLAIN),
        commit=table.text("commit", pattern=_ID, form=_ID_FORM),
    )
    table.close()
    return component


def _model(table: Table) -> Model:
    model = Model(
        role=table.text("role", choices=ROLES),
        repository=table.text("repository"),
        revision=table.text("revision", pattern=_ID, form=_ID_FORM),
    )
    table.close()
    return model


def _ranks(table: Table) -> Ranks:
    same = table.texts("same")
    for value in same:
        if value not in list(Same):
            table.mistake("same", f"{value} is none of {', '.join(Same)}")
    if table.has("same") and not same:
        table.mistake("same", "is empty: name what all ranks have in common")
    ranks = Ranks(
        count=table.integer("count", least=1, most=_MOST_RANKS),
        same=tuple(Same(value) for value in same if value in list(Same)),
    )
    table.close()
    return ranks
