"""Private keys for the verbs that sign, and how a signed verdict is told of.

A passphrase comes from a file or is typed at a terminal. It is never an argument: those are seen
by every process of the machine.
"""

import sys
from collections.abc import Callable, Sequence

import click

from verifier.actions import output
from verifier.actions.sign_verdict import sign_verdict
from verifier.core.errors import WrongCallError
from verifier.core.outcome import Report
from verifier.core.printable import printable
from verifier.evidence import signing
from verifier.evidence.signing import LockedError, PrivateKey


def private_keys(paths: Sequence[str], passphrase_file: str | None) -> list[PrivateKey]:
    """Read private keys; the passphrase is for those that are encrypted, one for all.

    Raises `WrongCallError` if it is for none of them.
    """
    passphrase = None if passphrase_file is None else signing.read_passphrase(passphrase_file)
    keys, used = [], False
    for path in paths:
        pem = signing.read_private(path)
        try:
            keys.append(signing.parse(pem, None, what=path))
        except LockedError:
            given = passphrase if passphrase is not None else _typed(path)
            used = True
            keys.append(signing.parse(pem, given, what=path))
    if passphrase is not None and not used:
        raise WrongCallError(
            f"{passphrase_file}: no private key that was given is encrypted",
            code="signing-passphrase",
            remedy="leave the passphrase out, or name the key that it belongs to",
        )
    return keys


def _typed(path: str) -> bytes:
    """Ask for a passphrase at a terminal; without one, raise `LockedError` as the reader did."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise LockedError(
            f"{path}: the private key is encrypted, and there is no terminal to ask at",
            code="signing-passphrase",
            remedy="name a file with its passphrase: pinproof explain signing-passphrase",
        )
    typed: str = click.prompt(f"Passphrase of {printable(path)}", hide_input=True, err=True)
    return typed.encode()


def prepared(
    *, sign_with: str | None, sign_to: str | None, sign_passphrase_file: str | None
) -> Callable[[Report], None]:
    """Read the key of a verdict, and return what signs one. Raises before anything is judged."""
    if sign_with is None or sign_to is None:
        missing = "--sign-with" if sign_with is None else "--sign-to"
        raise WrongCallError(
            f"{missing} is missing",
            code="wrong-call",
            remedy="give both: --sign-with KEY.pem --sign-to FILE",
        )
    output.refuse_existing(sign_to)
    (key,) = private_keys([sign_with], sign_passphrase_file)
    place = sign_to

    def sign(report: Report) -> None:
        signed = sign_verdict(report, key, to=place)
        word = report.verdict or "not reached"
        told = (
            f"not signed: the verdict is {word}; {place} was not written"
            if signed is None
            else f"signed by {key.public.scheme} {key.public.id}: {place}"
        )
        if sys.stderr is not None:
            sys.stderr.write(printable(told) + "\n")
            sys.stderr.flush()

    return sign
