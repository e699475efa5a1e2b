"""Options of the verbs that sign, each defined once, and the keys that they name."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from verifier.evidence.private_key import PrivateKey

passphrase_option = click.option(
    "--passphrase-file", metavar="FILE", help="Holds the passphrase, on one line."
)
keys_option = click.option(
    "--key", "keys", multiple=True, metavar="FILE", help="A private key to sign with; repeatable."
)


def passphrase_of(path: str | None) -> bytes | None:
    """Read the passphrase in a file; None where no file is named."""
    from verifier.evidence.private_key import passphrase_in  # noqa: PLC0415

    return None if path is None else passphrase_in(path)


def private_keys(paths: tuple[str, ...], passphrase_file: str | None) -> "tuple[PrivateKey, ...]":
    """Read the private keys in some files, all opened by one passphrase where encrypted."""
    from verifier.evidence.private_key import load  # noqa: PLC0415  (cryptography is not for all)

    passphrase = passphrase_of(passphrase_file)
    return tuple(load(path, passphrase) for path in paths)
