"""`pinproof verify bundle`: judge files and who signed them."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="bundle", cls=Judging)
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--bundle",
    "bundles",
    multiple=True,
    required=True,
    metavar="B",
    help="A Sigstore bundle or DSSE envelope: one for all files, or one for each in their order.",
)
@click.option("--key", metavar="PEM", help="The public key that has to have signed.")
@click.option(
    "--certificate-identity",
    "identity",
    metavar="WHO",
    help="The subject of the certificate, exactly.",
)
@click.option(
    "--certificate-oidc-issuer",
    "issuer",
    metavar="URL",
    help="Who logged that subject in, exactly.",
)
@click.option("--signer", metavar="NAME", help="A signer of the registry; or ENTRY/NAME.")
@click.option(
    "--trusted-root",
    metavar="FILE",
    help="Keys of logs and authorities, in place of the shipped public good root.",
)
@shared.policy_option
@shared.judging_options
def command(
    files: tuple[str, ...],
    *,
    bundles: tuple[str, ...],
    key: str | None,
    identity: str | None,
    issuer: str | None,
    signer: str | None,
    trusted_root: str | None,
    policy: str,
    **options: Any,
) -> int:
    """Judge whether FILEs are what somebody has signed, offline.

    A FILE may be sha256:HEX. Who has to have signed is named: --signer, or --key, or
    --certificate-identity with --certificate-oidc-issuer.
    """
    from verifier.ask.bundle import verify_bundle  # noqa: PLC0415

    report = verify_bundle(
        files,
        bundles=bundles,
        key=key,
        identity=identity,
        issuer=issuer,
        signer=signer,
        trusted_root=trusted_root,
        trust=shared.opened(options, policy=policy),
    )
    return shared.finish(report, {**options, "inputs": (*files, *bundles)})
