"""`pinproof verify release`: judge the downloads of a release."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="release", cls=Judging)
@click.argument("folder", metavar="DIR")
@click.option(
    "--expect", required=True, metavar="NAME-VERSION", help="The release, as it is registered."
)
@click.option(
    "--target", "targets", multiple=True, metavar="TRIPLE", help="This target alone; repeatable."
)
@shared.policy_option
@shared.judging_options
def command(
    folder: str, *, expect: str, targets: tuple[str, ...], policy: str, **options: Any
) -> int:
    """Judge the downloads of a release in DIR; nothing of them is run.

    Its files agree with each other, and they are what was published.
    """
    from verifier.ask.release import verify_release  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    with progress.shown(f"reading {printable(folder)}"):
        report = verify_release(
            folder, expect=expect, targets=targets, trust=shared.opened(options, policy=policy)
        )
    return shared.finish(report, options)
