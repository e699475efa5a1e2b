"""`pinproof why SOURCE…`: what changed in a file or tree that is not as published."""

from typing import Any

import click

from verifier.cli import options as shared


@click.command(name="why")
@click.argument("files", nargs=-1, metavar="SOURCE...")
@shared.lineage_option
@click.option("--composition", metavar="NAME", help="Explain trees by this composition.")
@click.option(
    "--prefix",
    default="",
    metavar="PATH",
    help="The folder in SOURCE where the composition's paths begin.",
)
@shared.policy_option
@shared.max_size_option
@shared.reach_options
@shared.trust_options
def command(
    files: tuple[str, ...],
    *,
    lineage: str | None,
    composition: str | None,
    prefix: str,
    policy: str,
    max_size: int,
    **options: Any,
) -> int:
    """Say where each SOURCE departs from the nearest version or stage, and what did it.

    A file is compared with helper versions; a folder, commit or archive with the stages of
    compositions.
    """
    from verifier.ask.explaining import why  # noqa: PLC0415

    answers = why(
        files,
        trust=shared.opened(options, policy=policy),
        lineage=lineage,
        composition=composition,
        prefix=prefix,
        max_size=max_size,
        stdin=shared.stdin(),
        reach=shared.reach(options),
    )
    return shared.finish(answers, {**options, "inputs": files})
