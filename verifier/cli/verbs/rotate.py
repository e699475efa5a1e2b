"""`pinproof rotate root|project`: replace keys of a registry."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli import signing as signed
from verifier.cli.proposals import shown_proposal


@click.group(name="rotate")
def command() -> None:
    """Replace keys."""


def _dropped(text: str) -> str:
    """Return the id in TUF of a key that is named by it, or by the file of its public half."""
    from verifier.catalog.tuf.roles import tuf_id  # noqa: PLC0415
    from verifier.core.digest import HEX64  # noqa: PLC0415

    return text if HEX64.fullmatch(text) else tuf_id(signed.public_key(text))


def _replacing(role: str) -> shared.Decorator:
    return click.option(
        f"--{role}-key",
        f"{role}_keys",
        multiple=True,
        metavar="FILE",
        help=f"Instead of all present keys of {role}, either half; repeatable.",
    )


def _threshold(name: str, role: str) -> shared.Decorator:
    return click.option(
        name,
        f"{role}_threshold",
        type=click.IntRange(min=1, max=100),
        metavar="N",
        help=f"How many must sign {role} from now on.",
    )


@command.command()
@click.argument("folder", metavar="DIR")
@signed.keys_option
@click.option(
    "--new-root-key", "add", multiple=True, metavar="FILE", help="One more root key; either half."
)
@click.option(
    "--drop", multiple=True, metavar="FILE|ID", help="A key that no role keeps; ID as in TUF."
)
@_threshold("--threshold", "root")
@_replacing("targets")
@_threshold("--targets-threshold", "targets")
@_replacing("snapshot")
@_replacing("timestamp")
@signed.expires_option
@signed.root_option
@signed.passphrase_option
def root(
    folder: str,
    *,
    keys: tuple[str, ...],
    passphrase_file: str | None,
    root: str | None,
    **options: Any,
) -> int:
    """Propose the next root of DIR and sign it, with old keys and with new ones.

    It takes effect once the thresholds of the old root and of the new one are met; until then it
    waits in DIR.draft (pinproof sign root). Without changes, the next root says the same for
    another two years.
    """
    from verifier.actions.sign_registry import propose_root  # noqa: PLC0415
    from verifier.catalog.tuf.rotation import REPLACEABLE, KeyChange  # noqa: PLC0415

    held = {key.public.id: key for key in signed.private_keys(keys, passphrase_file)}
    read = signed.key_reader(passphrase_file, held)
    change = KeyChange(
        add=tuple(map(read, options["add"])),
        drop=frozenset(_dropped(text) for text in options["drop"]),
        thresholds={
            role: options[f"{role}_threshold"]
            for role in ("root", "targets")
            if options[f"{role}_threshold"]
        },
        replace={
            role: tuple(map(read, options[f"{role}_keys"]))
            for role in REPLACEABLE
            if options[f"{role}_keys"]
        },
    )
    given = signed.signing(tuple(held.values()), options["days"], root=root)
    return shown_proposal(*propose_root(folder, change, given), folder)


@command.command()
@click.argument("folder", metavar="DIR")
@click.argument("name")
@signed.keys_option
@click.option(
    "--new-key", "add", multiple=True, metavar="FILE", help="One more key of NAME; either half."
)
@click.option(
    "--drop", multiple=True, metavar="FILE|ID", help="A key that NAME does not keep; ID as in TUF."
)
@_threshold("--threshold", "project")
@signed.expires_option
@signed.root_option
@signed.passphrase_option
def project(
    folder: str,
    name: str,
    *,
    keys: tuple[str, ...],
    passphrase_file: str | None,
    root: str | None,
    **options: Any,
) -> int:
    """Give the project NAME of DIR other keys, or a new project its first ones.

    It is signed by the keys of targets; then the project signs its entries anew, with the new
    keys (pinproof sign registry).
    """
    from verifier.actions.sign_registry import propose_project  # noqa: PLC0415
    from verifier.catalog.tuf.rotation import KeyChange  # noqa: PLC0415

    held = {key.public.id: key for key in signed.private_keys(keys, passphrase_file)}
    read = signed.key_reader(passphrase_file, held)
    least = options["project_threshold"]
    change = KeyChange(
        add=tuple(map(read, options["add"])),
        drop=frozenset(_dropped(text) for text in options["drop"]),
        thresholds={name: least} if least else {},
    )
    given = signed.signing(tuple(held.values()), options["days"], root=root)
    return shown_proposal(*propose_project(folder, name, change, given), folder)
