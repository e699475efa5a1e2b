"""`pinproof new key|registry`: what a maintainer starts with."""

import click

from verifier.cli import options as shared
from verifier.cli.signing import passphrase_of, passphrase_option
from verifier.core.errors import WrongCallError
from verifier.core.verdict import exit_of_answer

_SCHEMES = ("ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384")


@click.group(name="new")
def command() -> None:
    """Make keys and registries."""


@command.command()
@click.argument("name")
@click.option("--to", required=True, metavar="DIR", help="The folder for NAME.key and NAME.pub.")
@click.option(
    "--scheme", type=click.Choice(_SCHEMES), default="ed25519", show_default=True, help="The kind."
)
@passphrase_option
@click.option("--no-passphrase", is_flag=True, help="Write the private half unencrypted.")
def key(
    name: str, *, to: str, scheme: str, passphrase_file: str | None, no_passphrase: bool
) -> int:
    """Make the key NAME: DIR/NAME.key for you alone, DIR/NAME.pub for everybody."""
    from verifier.actions.new_key import new_key  # noqa: PLC0415
    from verifier.catalog.tuf.roles import tuf_id  # noqa: PLC0415

    if (passphrase_file is None) != no_passphrase:
        raise WrongCallError(
            "new key: expected one of --passphrase-file FILE and --no-passphrase",
            code="wrong-call",
            remedy="a key without passphrase is for machines that nobody else may use",
        )
    made = new_key(name, to=to, scheme=scheme, passphrase=passphrase_of(passphrase_file))
    lines = [
        f"made       {made.private_path}: {scheme}, "
        + ("not encrypted" if no_passphrase else "encrypted"),
        f"           {made.public_path} is its public half",
        "",
        f"  key         {made.public.id}",
        f"  in TUF      {tuf_id(made.public.spki)}",
        "",
        "  you may     keep the private half where nobody else can read it, with a copy offline",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
