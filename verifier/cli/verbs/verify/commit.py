"""`pinproof verify commit`: judge who signed a commit or a tag."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="commit", cls=Judging)
@click.argument("where", metavar="git:REPO@ID")
@click.option(
    "--signer",
    "signers",
    multiple=True,
    metavar="NAME",
    help="A signer of the registry who may have signed it; repeatable.",
)
@click.option(
    "--ssh-key",
    "ssh_keys",
    multiple=True,
    metavar="FILE",
    help="SSH public keys that may have, one a line; repeatable.",
)
@click.option("--keyring", metavar="FILE", help="OpenPGP public keys that may have.")
@shared.policy_option
@shared.reach_options
@shared.judging_options
def command(
    where: str,
    *,
    signers: tuple[str, ...],
    ssh_keys: tuple[str, ...],
    keyring: str | None,
    policy: str,
    **options: Any,
) -> int:
    """Judge the signature of a commit or annotated tag: by one of those who are named.

    ID is a full id. The committer's name and date are never believed.
    """
    from verifier.ask.commit import verify_commit  # noqa: PLC0415

    report = verify_commit(
        where,
        signers=signers,
        ssh_keys=ssh_keys,
        keyring=keyring,
        trust=shared.opened(options, policy=policy),
        reach=shared.reach(options),
    )
    return shared.finish(report, {**options, "inputs": (*ssh_keys, *filter(None, [keyring]))})
