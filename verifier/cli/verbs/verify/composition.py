"""`pinproof verify composition`: judge trees that were composed, or how they were."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="composition", cls=Judging)
@click.argument("name")
@click.option(
    "--at",
    metavar="SOURCE",
    help="A folder, git:REPO@COMMIT[:PATH], tar:FILE[:PATH] or zip:FILE[:PATH].",
)
@click.option(
    "--prefix",
    default="",
    metavar="PATH",
    help="The folder in SOURCE where the composition's paths begin.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Take the stages again from the base; --clone NAME=PATH names what to read: base, "
    "target, source (what holds the patches), or a component.",
)
@shared.policy_option
@shared.reach_options
@shared.judging_options
def command(
    name: str, *, at: str | None, prefix: str, prove: bool, policy: str, **options: Any
) -> int:
    """Judge a tree by the composition NAME: at its final stage, and nothing beside it.

    A wheel is a zip. With --prove, the composition itself: that it follows from its base.
    """
    from verifier.ask.composition import verify_composition  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    if at is None and not prove:
        raise click.UsageError("give --at SOURCE, --prove, or both")
    with progress.shown(f"reading {printable(at or name)}"):
        if prove:
            from verifier.ask.clones import named_clones  # noqa: PLC0415
            from verifier.ask.proof import prove_composition  # noqa: PLC0415

            clones = named_clones(options.pop("clones"))
            report = prove_composition(
                name,
                clones=clones,
                at=at,
                prefix=prefix,
                trust=shared.opened(options, policy=policy),
                reach=shared.reach({**options, "clones": tuple(clones.values())}),
            )
        else:
            report = verify_composition(
                name,
                at=at or "",
                prefix=prefix,
                trust=shared.opened(options, policy=policy),
                reach=shared.reach(options),
            )
    return shared.finish(report, options)
