"""`pinproof verify helper`: judge host files of helper lineages."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="helper", cls=Judging)
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--expect", metavar="VERSION", help="Only this version will do.")
@shared.lineage_option
@shared.policy_option
@shared.max_size_option
@shared.reach_options
@shared.judging_options
def command(
    files: tuple[str, ...],
    *,
    expect: str | None,
    lineage: str | None,
    policy: str,
    max_size: int,
    **options: Any,
) -> int:
    """Judge host FILEs: helper, call sites, scope, and the rest of the file.

    A FILE of - is standard input; git:REPO@COMMIT:PATH, tar:FILE:PATH and zip:FILE:PATH are
    files inside of other sources.
    """
    from verifier.ask.helper import verify_helper  # noqa: PLC0415

    report = verify_helper(
        files,
        trust=shared.opened(options, policy=policy),
        lineage=lineage,
        expect=expect,
        max_size=max_size,
        stdin=shared.stdin(),
        reach=shared.reach(options),
    )
    return shared.finish(report, {**options, "inputs": files})
