"""`pinproof audit registry`: whether the entries of a registry are what was published."""

from pathlib import Path
from typing import Any

import click

from verifier.cli import options as shared


@click.group(name="audit")
def command() -> None:
    """Compare what is vouched for with public source."""


@command.command(short_help="Compare entries with what their producers published.")
@click.option(
    "--clone",
    "clones",
    multiple=True,
    metavar="URL=PATH",
    help="The clone of a repository that entries name; repeatable.",
)
@click.option(
    "--recipe",
    "recipes",
    multiple=True,
    metavar="FILE",
    help="Derive an entry again, and compare every field; repeatable.",
)
@click.option(
    "--docs",
    "documents",
    multiple=True,
    metavar="GLOB",
    help="Documents whose digests have to be known; repeatable.",
)
@click.option(
    "--require",
    multiple=True,
    metavar="FACET",
    help="What decides: producers, fields, agreement, documents; repeatable.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this entry; repeatable.")
@shared.alternates_option
@shared.trust_options
def registry(**options: Any) -> int:
    """Say of each producer whether it is confirmed, contradicted or unverifiable, and how.

    Exit 0 if all that is required holds, 1 if something is contradicted, 3 if something is open.
    """
    from verifier.ask.audit import Audit, audit_registry  # noqa: PLC0415
    from verifier.ask.producers import clones_by_url  # noqa: PLC0415
    from verifier.ask.reading import Reach  # noqa: PLC0415
    from verifier.checks.helper.pinning.recipe import parse  # noqa: PLC0415
    from verifier.core.limits import DOCUMENT_BYTES  # noqa: PLC0415
    from verifier.sources.file import read  # noqa: PLC0415

    recipes = [
        parse(read(path, limit=DOCUMENT_BYTES).data, path, folder=str(Path(path).parent))
        for path in options["recipes"]
    ]
    asked = Audit(
        clones=clones_by_url(options["clones"]),
        recipes=tuple(recipes),
        documents=options["documents"],
        require=options["require"],
        only=options["only"],
        reach=Reach(allow_alternates=options["allow_alternates"]),
    )
    return shared.finish(audit_registry(asked, trust=shared.opened(options)), options)
