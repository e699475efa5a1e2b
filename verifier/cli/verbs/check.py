"""`pinproof check registry`: whether all of it authenticates."""

from typing import Any

import click

from verifier.cli import options as shared


@click.group(name="check")
def command() -> None:
    """Check what pinproof judges with."""


@command.command()
@shared.trust_options
def registry(**options: Any) -> int:
    """Read and compare every file of the registry, parse every entry."""
    from verifier.ask.registry import check_registry  # noqa: PLC0415

    return shared.finish(check_registry(trust=shared.opened(options)), options)
