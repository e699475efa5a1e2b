"""`pinproof sign`: sign a registry, its next root, or a statement."""

from datetime import UTC, datetime
from pathlib import Path

import click

from verifier.cli import options as shared
from verifier.cli import signing as signed
from verifier.cli.proposals import shown_proposal
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
@signed.keys_option
@click.option(
    "--renew",
    multiple=True,
    metavar="ROLE",
    help="Sign ROLE again though it says the same, to move its expiry; repeatable.",
)
@signed.expires_option
@signed.root_option
@signed.floor_option
@signed.passphrase_option
def registry(
    folder: str,
    *,
    sealing: bool,
    keys: tuple[str, ...],
    renew: tuple[str, ...],
    days: tuple[str, ...],
    root: str | None,
    floor: str | None,
    passphrase_file: str | None,
) -> int:
    """Sign the entries below DIR/targets, and all metadata that follows from them.

    Which roles are signed follows from the keys. What needs more signatures waits in DIR.draft,
    and DIR stays as it is until the last of them is there.
    """
    if sealing == bool(keys):
        raise WrongCallError(
            "sign registry: expected --key FILE, or --seal",
            code="wrong-call",
            remedy="name your key with --key; --seal is for a registry that ships in a package",
        )
    if sealing:
        return _seal(folder)
    from verifier.actions.sign_registry import sign_registry  # noqa: PLC0415

    held = signed.private_keys(keys, passphrase_file)
    given = signed.signing(held, days, root=root, floor=floor)
    return signed.shown(sign_registry(folder, given, renew=renew), folder)


@command.command()
@click.argument("folder", metavar="DIR")
@signed.keys_option
@signed.expires_option
@signed.root_option
@signed.passphrase_option
def root(
    folder: str,
    *,
    keys: tuple[str, ...],
    days: tuple[str, ...],
    root: str | None,
    passphrase_file: str | None,
) -> int:
    """Show the root that waits in DIR.draft; sign it with --key."""
    from verifier.actions.sign_registry import sign_root  # noqa: PLC0415

    held = signed.private_keys(keys, passphrase_file)
    proposal, step = sign_root(folder, signed.signing(held, days, root=root))
    return shown_proposal(proposal, step, folder)


def _seal(folder: str) -> int:
    from verifier.actions.seal import seal  # noqa: PLC0415

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
@signed.keys_option
@signed.passphrase_option
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
    from verifier.render.layout import first, rows, second  # noqa: PLC0415

    if not keys:
        raise WrongCallError(
            "sign statement: expected --key FILE",
            code="wrong-call",
            remedy="name your private key; pinproof new key makes one",
        )
    held = signed.private_keys(keys, passphrase_file)
    made = sign_statement(path, keys=held, to=to, add_to=add_to)
    lines = [
        first("signed", f"{to}: {said(made.statement)}", colour=False),
        second(f"about {about(made.statement.subjects)}"),
        "",
        *rows(
            [
                *(("by", f"{key.scheme} {key.id}") for key in made.by),
                ("signatures", str(made.signatures)),
                ("you may", f"pinproof verify statement {to} --key PUBLIC.pem --subject FILE"),
            ]
        ),
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
