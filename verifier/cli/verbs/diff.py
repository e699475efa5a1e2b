"""`pinproof diff tree A B`: are two trees the same, and if not, what did it."""

from datetime import UTC, datetime
from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli import progress
from verifier.core.printable import printable


@click.group(name="diff")
def command() -> None:
    """Compare two things of one kind."""


@command.command(short_help="Compare two folders, commits or archives.")
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@shared.reach_options
@shared.report_options
def tree(left: str, right: str, **options: Any) -> int:
    """Compare two sources: exit 0 if they hold the same tree, 1 if not, and why."""
    from verifier.ask.trees import diff_tree  # noqa: PLC0415

    with progress.shown(f"comparing {printable(left)} and {printable(right)}"):
        report = diff_tree(left, right, reach=shared.reach(options), clock=shared.clock())
    return shared.finish(report, options)


@command.command(short_help="Compare what two registries vouch for.")
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option("--root", metavar="FILE", help="The TUF root that both chain from.")
@shared.output_options
def registry(left: str, right: str, root: str | None, **options: Any) -> int:
    """Say which artifacts gain or lose a vouch from A to B: exit 0 if none does, 1 if some do."""
    from verifier.ask.registry_difference import diff_registry  # noqa: PLC0415
    from verifier.render.vouches import difference  # noqa: PLC0415

    found = diff_registry(left, right, root=root, now=shared.clock() or datetime.now(UTC))

    def render(value: Any, form: str, colour: bool) -> bytes:  # noqa: FBT001
        return difference(value, form, colour=colour)

    return shared.finish(found, options, render=render)
