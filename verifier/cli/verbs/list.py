"""`pinproof list`: what the registry holds."""

from typing import Any

import click

from verifier.cli import options as shared


@click.command(name="list")
@shared.trust_options
def command(**options: Any) -> int:
    """List every entry of the registry."""
    from verifier.ask.registry import list_entries  # noqa: PLC0415

    return shared.finish(list_entries(trust=shared.opened(options)), options)
