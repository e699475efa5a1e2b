"""`pinproof check registry`, `check policy`: whether what judges is sound itself."""

from typing import Any

import click

from verifier.cli import options as shared


@click.group(name="check")
def command() -> None:
    """Check what pinproof judges with."""


@command.command()
@shared.judging_options
def registry(**options: Any) -> int:
    """Read and compare every file of the registry, parse every entry."""
    from verifier.ask.registry import check_registry  # noqa: PLC0415

    return shared.finish(check_registry(trust=shared.opened(options)), options)


@command.command()
@click.argument("name", metavar="NAME|FILE")
@shared.judging_options
def policy(name: str, **options: Any) -> int:
    """Read a policy: its form, what it names, and whether its waivers are in force."""
    from verifier.ask.policies import check_policy  # noqa: PLC0415

    return shared.finish(check_policy(trust=shared.opened(options, policy=name)), options)
