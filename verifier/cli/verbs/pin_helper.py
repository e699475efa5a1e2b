"""`pinproof pin helper`: the entry of a lineage, from its producer's commits and patched hosts."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from verifier.cli import options as shared
from verifier.core.errors import WrongCallError

if TYPE_CHECKING:
    from verifier.checks.helper.pinning.recipe import Recipe

#: Options that describe one version in place of a recipe.
_ONE: Final = ("id", "marker", "commit", "path", "pristine", "patched")


@click.command(name="helper", short_help="Derive the entry of a helper lineage.")
@click.argument("recipe", required=False, metavar="[RECIPE]")
@click.option(
    "--clone",
    "clones",
    multiple=True,
    metavar="URL=PATH",
    help="The clone of a producer, by the URL that the recipe writes; repeatable.",
)
@click.option("--to", required=True, metavar="FILE", help="The entry: new, or one to add to.")
@click.option("--export", metavar="DIR", help="Also write the texts, as migrate --payload takes.")
@click.option("--name", metavar="NAME", help="Without a recipe: the lineage.")
@click.option("--project", metavar="TEXT", help="Where its project lives.")
@click.option("--host", metavar="LABEL", help="Which file it is written into, for people.")
@click.option("--id", metavar="VERSION", help="The version to pin.")
@click.option(
    "--status",
    type=click.Choice(["supported", "authentic"]),
    default="supported",
    show_default=True,
    help="Whether every policy takes it, or only one that names it.",
)
@click.option("--marker", metavar="TEXT", help="Its marker, such as '# [tag:v1]'.")
@click.option("--repository", metavar="URL", help="Where it was published.")
@click.option("--commit", metavar="COMMIT", help="In which commit, by its full id.")
@click.option("--path", metavar="PATH", help="In which file of it.")
@click.option("--symbol", metavar="NAME", help="Under which name; without it literals are scanned.")
@click.option("--pristine", metavar="FILE", help="The host without the helper.")
@click.option("--patched", metavar="FILE", help="The same host with it.")
@click.option("--begin", metavar="LINE", help="Of a region with sentinels: its first line.")
@click.option("--end", metavar="LINE", help="Of a region with sentinels: its last line.")
@click.option("--base", default="clean", show_default=True, metavar="NAME", help="Its name.")
@shared.alternates_option
@shared.output_options
def command(recipe: str | None, **options: Any) -> int:
    """Derive an entry from RECIPE, or from the options for one version, and prove it.

    Nothing is signed. An entry that is there keeps every version that it has.
    """
    from verifier.actions.pin_helper import pin_helper  # noqa: PLC0415
    from verifier.ask.producers import clones_by_url  # noqa: PLC0415
    from verifier.ask.reading import Reach  # noqa: PLC0415
    from verifier.render.pinning import pinned as rendered  # noqa: PLC0415

    made = pin_helper(
        _read(recipe, options),
        clones=clones_by_url(options["clones"]),
        to=options["to"],
        export=options["export"],
        reach=Reach(allow_alternates=options["allow_alternates"]),
        now=shared.clock() or datetime.now(UTC),
    )

    def render(_value: Any, form: str, colour: bool) -> bytes:  # noqa: FBT001
        return rendered(made.entry, made.written, made.exported, form, colour=colour)

    return shared.finish(made.report, options, render=render)


def _read(recipe: str | None, options: dict[str, Any]) -> "Recipe":
    from verifier.checks.helper.pinning.recipe import parse  # noqa: PLC0415
    from verifier.core.limits import DOCUMENT_BYTES  # noqa: PLC0415
    from verifier.sources.file import read  # noqa: PLC0415

    given = [name for name in _ONE if options[name] is not None]
    if recipe is not None and given:
        raise WrongCallError(
            f"expected RECIPE or --{given[0]}, got both",
            code="wrong-call",
            remedy="say it in the recipe, or leave the recipe out",
        )
    if recipe is not None:
        data = read(recipe, limit=DOCUMENT_BYTES).data
        return parse(data, recipe, folder=str(Path(recipe).parent))
    return _of_options(options)


def _of_options(options: dict[str, Any]) -> "Recipe":
    """Make a recipe of one version; what the present entry says need not be said again."""
    import os  # noqa: PLC0415

    from verifier.catalog.entries.helper_format import parse as parse_entry  # noqa: PLC0415
    from verifier.checks.helper.pinning.recipe import parse  # noqa: PLC0415
    from verifier.core.limits import DOCUMENT_BYTES  # noqa: PLC0415
    from verifier.core.strict import write_toml  # noqa: PLC0415
    from verifier.sources.file import read  # noqa: PLC0415

    said = {key: options[key] for key in ("name", "project", "host")}
    prefix, current, clones = None, options["id"], options["clones"]
    if os.path.lexists(options["to"]):
        entry = parse_entry(read(options["to"], limit=DOCUMENT_BYTES).data, options["to"])
        prefix = entry.marker_prefix.decode()
        if options["status"] != "supported":
            current = entry.current
        said = {key: value or getattr(entry, key) for key, value in said.items()}
    missing = [f"--{key}" for key in (*_ONE, *said) if not (said.get(key) or options.get(key))]
    if missing:
        raise WrongCallError(
            f"expected a recipe, or {', '.join(missing)}",
            code="wrong-call",
            remedy="docs/pinning.md has a recipe to start from; one version needs no recipe",
        )
    repository = options["repository"] or (clones[0].rpartition("=")[0] if len(clones) == 1 else "")
    version = {
        "id": options["id"],
        "status": options["status"],
        "marker": options["marker"],
        "commit": options["commit"],
        **_sentinels(options),
        "hosts": {options["base"]: {"file": options["patched"]}},
    }
    document = {
        "schema": "pin-helper/v1",
        **said,
        "marker_prefix": prefix or _prefix(options["marker"]),
        "current": current,
        **({"repository": repository} if repository else {}),
        "path": options["path"],
        **({"symbol": options["symbol"]} if options["symbol"] else {}),
        "base": [{"name": options["base"], "file": options["pristine"]}],
        "version": [version],
    }
    return parse(write_toml(document), "the options")


def _sentinels(options: dict[str, Any]) -> dict[str, Any]:
    given = {key: options[key] for key in ("begin", "end") if options[key] is not None}
    if len(given) == 1:
        raise WrongCallError(
            f"--{next(iter(given))}: expected --begin and --end, or neither",
            code="wrong-call",
            remedy="a region has two sentinels, each of which the host holds once",
        )
    return {"sentinels": given} if given else {}


def _prefix(marker: str) -> str:
    """Return what markers of a lineage begin with: up to the version behind a colon."""
    return marker.removesuffix("]").partition(":")[0]
