"""`pinproof explain CODE`: the page on a code."""

import click

from verifier.cli import options as shared
from verifier.core.verdict import exit_of_answer


@click.command(name="explain")
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Print what CODE means, why it matters, and what you may do; without CODE, list all."""
    from verifier.ask.registry import explain  # noqa: PLC0415

    shared.put(explain(code).encode())
    return exit_of_answer(known=True)
