"""`pinproof verify statement`: judge a signed statement."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="statement", cls=Judging)
@click.argument("path", metavar="ENVELOPE")
@shared.who_options
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="FILE|DIGEST",
    help="What the statement has to be about; repeatable.",
)
@click.option(
    "--says",
    multiple=True,
    metavar="WORD",
    help="What it has to say: a property, a result, a level, a builder; repeatable.",
)
@shared.policy_option
@shared.judging_options
def command(
    path: str,
    *,
    keys: tuple[str, ...],
    signers: tuple[str, ...],
    threshold: int | None,
    subjects: tuple[str, ...],
    says: tuple[str, ...],
    policy: str,
    **options: Any,
) -> int:
    """Judge a statement in a DSSE ENVELOPE: who signed it, and what it is about.

    All keys, or all signers, have to have signed, unless --threshold says how many.
    """
    from verifier.ask.statement import verify_statement  # noqa: PLC0415

    report = verify_statement(
        path,
        keys=keys,
        signers=signers,
        threshold=threshold,
        subjects=subjects,
        says=says,
        trust=shared.opened(options, policy=policy),
    )
    return shared.finish(report, {**options, "inputs": (path, *keys, *subjects)})
