"""The recipe of a lineage: where its versions were published, and which hosts carry them.

It holds what no file can say (names, status, which commit) and no digest at all, so that a typo in
it leads to a refusal and never to a wrong pin. docs/pinning.md is its reference.
"""

import re
from dataclasses import field, replace
from typing import Final

from verifier.catalog.entries.helper import EndAnchor, Status
from verifier.core.table import Table
from verifier.core.value import frozen

SCHEMA: Final = "pin-helper/v1"
_NAME: Final = "[a-z0-9][a-z0-9._-]*"
_PLAIN: Final = "a-z, 0-9, dot, dash, underscore"
_REMEDY: Final = "correct the recipe at the paths named above; docs/pinning.md explains each key"
FULL: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@frozen
class Place:
    """A file: on this machine beside the recipe (`file`), or in a commit of a clone (`path`)."""

    file: str = ""
    path: str = ""
    commit: str = ""
    repository: str = ""

    def __str__(self) -> str:
        """Name it for a finding."""
        return self.file or f"{self.path} at {self.commit[:12]}"


@frozen
class Origin:
    """Where a text was published. Without symbol and slice the literals of the file are scanned.

    `start` and `end` are byte offsets of a slice; `substitute` are texts exchanged in it, in order.
    """

    repository: str
    commit: str
    path: str
    symbol: str = ""
    start: int | None = None
    end: int | None = None
    substitute: tuple[tuple[bytes, bytes], ...] = ()


@frozen
class RecipeVersion:
    """One version: what it is called, where it was published, and the hosts that carry it.

    `hosts` are patched hosts by the name of the base that they were made of. An unattested
    version has no origin.
    """

    id: str
    status: Status
    marker: bytes
    aliases: tuple[str, ...] = ()
    reason: str = ""
    origins: tuple[Origin, ...] = ()
    hosts: tuple[tuple[str, Place], ...] = ()
    sentinels: tuple[bytes, bytes] | None = None
    first_line: str = ""
    sites: str = ""
    site_names: tuple[str, ...] = ()


@frozen
class Recipe:
    """A lineage as its maintainer describes it."""

    name: str
    project: str
    host: str
    marker_prefix: bytes
    current: str
    bases: tuple[tuple[str, Place], ...]
    versions: tuple[RecipeVersion, ...]
    owned_names: tuple[str, ...] = ()
    end_anchors: tuple[EndAnchor, ...] = ()
    comment: str = ""
    """What stands above the entry, without the `#` of each line."""
    folder: str = field(default="", compare=False)
    """The folder that plain files are relative to."""


@frozen
class _Defaults:
    repository: str
    path: str
    symbol: str


def parse(data: bytes, where: str, *, folder: str = "") -> Recipe:
    """Read a recipe. Raises `MalformedError` naming every mistake by its path."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    prefix = table.text("marker_prefix", pattern=r"# \[[^\]\n]+", form="# [tag")
    defaults = _Defaults(
        repository=table.text("repository", default=""),
        path=table.text("path", default=""),
        symbol=table.text("symbol", default=""),
    )
    recipe = Recipe(
        name=table.text("name", pattern=_NAME, form=_PLAIN),
        project=table.text("project"),
        host=table.text("host"),
        marker_prefix=prefix.encode(),
        current=table.text("current"),
        owned_names=table.texts("owned_names", default=()),
        comment=table.text("comment", default=""),
        end_anchors=tuple(map(_anchor, table.tables("end_anchor"))),
        bases=tuple(_base(t, defaults) for t in table.tables("base")),
        versions=tuple(_version(t, prefix, defaults) for t in table.tables("version")),
        folder=folder,
    )
    if table.sound:
        _check(table, recipe)
    table.done()
    return recipe


def _anchor(table: Table) -> EndAnchor:
    anchor = EndAnchor(name=table.text("name"), text=table.text("text").encode())
    table.close()
    return anchor


def _base(table: Table, defaults: _Defaults) -> tuple[str, Place]:
    found = table.text("name", pattern=_NAME, form=_PLAIN), _place(table, defaults, "")
    table.close()
    return found


def _place(table: Table, defaults: _Defaults, commit: str) -> Place:
    if table.has("file"):
        return Place(file=table.text("file"))
    return Place(
        path=table.text("path"),
        commit=table.text("commit", default=commit or None),
        repository=table.text("repository", default=defaults.repository or None),
    )


def _version(table: Table, prefix: str, defaults: _Defaults) -> RecipeVersion:
    status = Status(table.text("status", choices=Status, default="supported"))
    version = RecipeVersion(
        id=table.text("id", pattern=_NAME, form=_PLAIN),
        status=status,
        marker=table.text(
            "marker", pattern=re.escape(prefix) + r"[^\]\n]{0,64}\]", form=f"{prefix}…]"
        ).encode(),
        reason=table.text(
            "reason", default="" if status in (Status.SUPPORTED, Status.AUTHENTIC) else None
        ),
    )
    if status is not Status.UNATTESTED:
        version = _published(table, version, defaults)
    table.close()
    return version


def _published(table: Table, version: RecipeVersion, defaults: _Defaults) -> RecipeVersion:
    first = _origin(table, defaults)
    also = tuple(_closed(t, replace(defaults, symbol="")) for t in table.tables("also"))
    sentinels = table.optional_table("sentinels")
    ends = None
    if sentinels is not None:
        ends = sentinels.text("begin").encode(), sentinels.text("end").encode()
        sentinels.close()
    hosts = table.table("hosts")
    places = []
    for name in hosts.keys():  # noqa: SIM118  (a table, not a dict)
        below = hosts.table(name)
        places.append((name, _place(below, defaults, first.commit)))
        below.close()
    return replace(
        version,
        aliases=table.texts("aliases", default=()),
        origins=(first, *also),
        hosts=tuple(places),
        sentinels=ends,
        first_line=table.text("first_line", default=""),
        sites=table.text("sites", default=""),
        site_names=table.texts("site_names", default=()),
    )


def _closed(table: Table, defaults: _Defaults) -> Origin:
    origin = _origin(table, defaults)
    table.close()
    return origin


def _origin(table: Table, defaults: _Defaults) -> Origin:
    cut = table.has("start") or table.has("end")
    return Origin(
        repository=table.text("repository", default=defaults.repository or None),
        commit=table.text("commit"),
        path=table.text("path", default=defaults.path or None),
        symbol=table.text("symbol", default=defaults.symbol),
        start=table.integer("start") if cut else None,
        end=table.integer("end") if cut else None,
        substitute=tuple(map(_pair, table.tables("substitute"))),
    )


def _pair(table: Table) -> tuple[bytes, bytes]:
    pair = table.text("old").encode(), table.text("new").encode()
    table.close()
    return pair


def _check(table: Table, recipe: Recipe) -> None:
    bases = [name for name, _ in recipe.bases]
    names = [name for v in recipe.versions for name in (v.id, *v.aliases)]
    for what, values in (("base", bases), ("version", names)):
        for value in sorted({each for each in values if values.count(each) > 1}):
            table.mistake(what, f"{value} is given twice")
    if not recipe.versions:
        table.mistake("version", "none: a recipe of no version pins nothing")
    for number, version in enumerate(recipe.versions):
        if version.status is Status.UNATTESTED:
            continue
        if not version.hosts:
            table.mistake(f"version[{number}].hosts", "none: nothing shows where its sites are")
        for name, _ in version.hosts:
            if name not in bases:
                table.mistake(f"version[{number}].hosts", f"there is no base {name}")
