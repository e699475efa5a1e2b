"""`pinproof verify runtime`: judge the images of all ranks."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="runtime", cls=Judging)
@click.argument("name")
@click.option(
    "--rank",
    "ranks",
    multiple=True,
    required=True,
    metavar="N=SOURCE",
    help="The image of rank N, as in verify image; repeat for every rank.",
)
@shared.policy_option
@shared.judging_options
def command(name: str, *, ranks: tuple[str, ...], policy: str, **options: Any) -> int:
    """Judge the images of all ranks by the runtime NAME of the registry.

    A rank that differs from the others is named.
    """
    from verifier.ask.runtime import verify_runtime  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415

    with progress.shown(f"reading {len(ranks)} images"):
        report = verify_runtime(name, ranks=ranks, trust=shared.opened(options, policy=policy))
    return shared.finish(report, options)
