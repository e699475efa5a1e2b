"""`pinproof sign`: sign the entries of a registry, or a statement."""

from datetime import UTC, datetime
from pathlib import Path

import click

from verifier.cli import options as shared
from verifier.core.errors import WrongCallError
from verifier.core.verdict import exit_of_answer


@click.group(name="sign")
def command() -> None:
    """Sign what others will verify."""


@command.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--seal",
    "sealing",
    is_flag=True,
    help="Sign with fresh keys and discard them: for a registry that ships in a package.",
)
def registry(folder: str, *, sealing: bool) -> int:
    """Sign the entries below DIR/targets and write DIR/metadata and DIR/targets/index."""
    from verifier.actions.seal import seal  # noqa: PLC0415

    if not sealing:
        raise WrongCallError(
            "sign registry: expected --seal",
            code="wrong-call",
            remedy="add --seal; this version of pinproof signs with discarded keys only",
        )
    made = seal(Path(folder), now=shared.clock() or datetime.now(UTC))
    lines = [
        f"sealed     {folder}: {len(made.entries)} targets, snapshot {made.snapshot_version}",
        f"           root {made.root_sha256[:12]} · expires {made.expires}",
        "",
        f"  you may     commit {folder} as it is; whoever ships it vouches for it",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)


@command.command()
@click.argument("path", metavar="[STATEMENT]", required=False)
@click.option(
    "--key",
    "keys",
    multiple=True,
    required=True,
    metavar="FILE",
    help="A private key (PKCS#8 PEM); repeat it to sign with several.",
)
@click.option(
    "--passphrase-file",
    metavar="FILE",
    help="What opens encrypted keys; without it, a terminal asks.",
)
@click.option("--add-to", metavar="ENVELOPE", help="Copy this envelope, and add signatures.")
@click.option("--to", required=True, metavar="FILE", help="The new file of the envelope.")
def statement(
    path: str | None,
    *,
    keys: tuple[str, ...],
    passphrase_file: str | None,
    add_to: str | None,
    to: str,
) -> int:
    """Sign the in-toto STATEMENT into a DSSE envelope; nothing is written over."""
    from verifier.actions.sign_statement import sign_statement  # noqa: PLC0415
    from verifier.checks.statement import about, said  # noqa: PLC0415
    from verifier.cli.signing import private_keys  # noqa: PLC0415
    from verifier.render.layout import first, rows, second  # noqa: PLC0415

    signed = sign_statement(path, keys=private_keys(keys, passphrase_file), to=to, add_to=add_to)
    lines = [
        first("signed", f"{to}: {said(signed.statement)}", colour=False),
        second(f"about {about(signed.statement.subjects)}"),
        "",
        *rows(
            [
                *(("by", f"{key.scheme} {key.id}") for key in signed.by),
                ("signatures", str(signed.signatures)),
                ("you may", f"pinproof verify statement {to} --key PUBLIC.pem --subject FILE"),
            ]
        ),
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
