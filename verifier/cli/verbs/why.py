"""`pinproof why FILE…`: what changed in a file that is not as published."""

from typing import Any

import click

from verifier.cli import options as shared


@click.command(name="why")
@click.argument("files", nargs=-1, metavar="FILE...")
@shared.lineage_option
@shared.policy_option
@shared.max_size_option
@shared.reach_options
@shared.trust_options
def command(
    files: tuple[str, ...], *, lineage: str | None, policy: str, max_size: int, **options: Any
) -> int:
    """Say where each FILE departs from the nearest version, and what did it."""
    from verifier.ask.helper import why  # noqa: PLC0415

    answers = why(
        files,
        trust=shared.opened(options, policy=policy),
        lineage=lineage,
        max_size=max_size,
        stdin=shared.stdin(),
        reach=shared.reach(options),
    )
    return shared.finish(answers, {**options, "inputs": files})
