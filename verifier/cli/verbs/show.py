"""`pinproof show NAME`: one entry of the registry."""

from typing import Any

import click

from verifier.cli import options as shared


@click.command(name="show")
@click.argument("name")
@shared.trust_options
def command(name: str, **options: Any) -> int:
    """Show the entry NAME: versions, pins, sites, bases, producers."""
    from verifier.ask.registry import show  # noqa: PLC0415

    return shared.finish(show(name, trust=shared.opened(options)), options)
