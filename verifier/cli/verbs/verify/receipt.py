"""`pinproof verify receipt`: judge measurements."""

from typing import Any, Final

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging

_GATES: Final = ("gates_bundle", "gates_signer", "gates_key", "trusted_root")


@click.command(name="receipt", cls=Judging)
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--head", metavar="COMMIT", help="The full id that the claims are about now.")
@click.option("--evidence", metavar="DIR", help="The folder that holds the files a receipt names.")
@click.option("--gates", metavar="FILE", help="The gate file, as it was before the run.")
@click.option(
    "--claim", "claims", multiple=True, metavar="ID", help="A claim that must be left; repeatable."
)
@click.option("--gates-bundle", metavar="B", help="Proves when the gate file was signed.")
@click.option("--gates-signer", metavar="NAME", help="The signer of that bundle.")
@click.option("--gates-key", metavar="PEM", help="The public key of that bundle.")
@click.option("--trusted-root", metavar="FILE", help="Keys of logs and authorities, for it.")
@shared.who_options
@shared.policy_option
@shared.judging_options
def command(
    files: tuple[str, ...],
    *,
    head: str | None,
    evidence: str | None,
    gates: str | None,
    claims: tuple[str, ...],
    keys: tuple[str, ...],
    signers: tuple[str, ...],
    threshold: int | None,
    policy: str,
    **options: Any,
) -> int:
    """Judge measurement receipts: the figures follow from the samples, and whose they are.

    A receipt is an in-toto statement, bare or in a DSSE envelope.
    """
    from verifier.ask.receipt import verify_receipt  # noqa: PLC0415
    from verifier.ask.receipt_signed import GatesBundle, Wanted  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415

    brought = {name: options.pop(name) for name in _GATES}
    bundle = brought.pop("gates_bundle")
    if bundle is None and any(brought.values()):
        raise click.UsageError("there is no --gates-bundle that the others are for")
    with progress.shown(f"reading {len(files)} receipts"):
        report = verify_receipt(
            files,
            head=head,
            evidence=evidence,
            gates=gates,
            gates_bundle=None
            if bundle is None
            else GatesBundle(
                path=bundle,
                key=brought["gates_key"],
                signer=brought["gates_signer"],
                trusted_root=brought["trusted_root"],
            ),
            claims=claims,
            wanted=Wanted(keys=keys, signers=signers, threshold=threshold),
            trust=shared.opened(options, policy=policy),
        )
    return shared.finish(report, options)
