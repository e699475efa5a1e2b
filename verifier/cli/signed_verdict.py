"""`--sign-with`: the key is read before anything is judged, the verdict signed after."""

import sys
from collections.abc import Callable

from verifier.actions import output
from verifier.actions.sign_verdict import sign_verdict
from verifier.cli.signing import private_keys
from verifier.core.errors import WrongCallError
from verifier.core.outcome import Report
from verifier.core.printable import printable


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
