"""`pinproof verify head`: judge a proposed merge."""

from typing import Any, Final

import click

from verifier.cli import options as shared
from verifier.cli.environment import state_folder
from verifier.cli.judging import Judging

_JUDGES: Final = ("registry", "root", "floor", "effective_time", "insecure_past_time")


@click.command(name="head", cls=Judging)
@click.option("--repo", required=True, metavar="DIR", help="A clone that holds both commits.")
@click.option("--base", required=True, metavar="COMMIT", help="What is merged into, in full.")
@click.option(
    "--head",
    "heads",
    required=True,
    multiple=True,
    metavar="COMMIT",
    help="What is proposed, in full; repeatable.",
)
@click.option("--base-ref", metavar="BRANCH", help="The branch that base has to be the tip of.")
@click.option("--receipts", metavar="DIR", help="A folder of receipts about the head.")
@click.option(
    "--bundle", "bundles", multiple=True, metavar="B", help="A signed approval; repeatable."
)
@click.option(
    "--signer",
    "signers",
    multiple=True,
    metavar="NAME",
    help="A signer of the registry whose approval is asked for; repeatable.",
)
@click.option("--threshold", type=int, metavar="N", help="So many of the signers are enough.")
@click.option("--trusted-root", metavar="FILE", help="A Sigstore trusted root, for bundles.")
@click.option(
    "--still-valid",
    metavar="REPORT|RECEIPT",
    help="Ask instead whether this earlier verdict or receipt covers the head.",
)
@click.option("--event", metavar="FILE", help="The event file of a forge: claims to compare.")
@click.option(
    "--policy",
    default="pre-merge",
    show_default=True,
    metavar="NAME|FILE|base:PATH",
    help="What is demanded. --registry takes base:PATH too: of the base's tree.",
)
@shared.reach_options
@shared.judging_options
def command(
    repo: str,
    *,
    base: str,
    heads: tuple[str, ...],
    base_ref: str | None,
    receipts: str | None,
    bundles: tuple[str, ...],
    signers: tuple[str, ...],
    threshold: int | None,
    trusted_root: str | None,
    still_valid: str | None,
    event: str | None,
    policy: str,
    **options: Any,
) -> int:
    """Judge a proposed merge: exactly this head, into exactly this base.

    Policy and registry come from the base or from outside, never from the head.
    """
    from verifier.ask.head import Judges, Statements, verify_head  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    given: dict[str, Any] = {
        "judges": Judges(
            policy=policy,
            **{name: options[name] for name in _JUDGES},
            kept=state_folder(),
            clock=shared.clock(),
        ),
        "statements": Statements(
            receipts=receipts,
            bundles=bundles,
            signers=signers,
            threshold=threshold,
            trusted_root=trusted_root,
        ),
        "reach": shared.reach(options),
    }
    if still_valid is not None and (len(heads) > 1 or event or base_ref):
        raise click.UsageError("--still-valid is about one --head, without --event or --base-ref")
    with progress.shown(f"reading {printable(repo)}"):
        if still_valid is None:
            report = verify_head(
                repo, base=base, heads=heads, event=event, branch=base_ref, **given
            )
        else:
            from verifier.ask.head import still_valid as room  # noqa: PLC0415

            report = room.still_valid(repo, still_valid, base=base, head=heads[0], **given)
    return shared.finish(report, options)
