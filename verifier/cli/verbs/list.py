"""`pinproof list`: what the registry holds; with `tree SOURCE`, a tree; with `history`, a clone."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli import progress
from verifier.core.printable import printable


@click.group(name="list", invoke_without_command=True)
@shared.trust_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """List every entry of the registry; or, with `tree`, of a tree; or, with `history`, commits."""
    if ctx.invoked_subcommand is not None:
        return 0
    from verifier.ask.registry import list_entries  # noqa: PLC0415

    return shared.finish(list_entries(trust=shared.opened(options)), options)


@command.command(short_help="List a folder, commit or archive.")
@click.argument("source")
@click.option("--digests", is_flag=True, help="Show the SHA-256 of every entry.")
@shared.reach_options
@shared.output_options
def tree(source: str, *, digests: bool, **options: Any) -> int:
    """List SOURCE: a folder, git:REPO@COMMIT[:PATH], tar:FILE[:PATH] or zip:FILE[:PATH].

    Every byte is read and hashed; the tree's typed digests come first.
    """
    from verifier.ask.trees import list_tree  # noqa: PLC0415

    with progress.shown(f"reading {printable(source)}"):
        listing = list_tree(source, reach=shared.reach(options), clock=shared.clock())
    return shared.finish(listing, {**options, "digests": digests})


@command.command(short_help="List names of a clone, and commits of one path.")
@click.argument("clone", metavar="CLONE")
@click.option("--path", metavar="PATH", help="The commits that touched this file.")
@click.option("--symbol", metavar="NAME", help="Tell the pin of this text of the file in each.")
@click.option("--from", "tip", metavar="NAME", help="Begin at this branch, tag or full id.")
@shared.output_options
def history(clone: str, **options: Any) -> int:
    """List branches and tags of CLONE with full commit ids, and the commits that touched a PATH.

    Names are hints that the objects confirm; what they contradict is named, and not listed.
    """
    from datetime import UTC, datetime  # noqa: PLC0415

    from verifier.ask.history import list_history  # noqa: PLC0415

    answered = list_history(
        clone,
        path=options["path"],
        symbol=options["symbol"],
        tip=options["tip"],
        now=shared.clock() or datetime.now(UTC),
    )
    return shared.finish(answered, options)
