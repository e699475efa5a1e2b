"""`pinproof diff tree A B`: are two trees the same, and if not, what did it."""

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
