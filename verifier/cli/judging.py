"""Commands that end with a verdict: each can have it signed, by `--sign-with` and `--sign-to`."""

from typing import Any, Final

import click

from verifier.cli.options import SIGNER


class Judging(click.Command):
    """A command that ends with a verdict, which it signs and writes where that is asked for."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        """Add the options, so that every command of this class has the same."""
        super().__init__(*arguments, **more)
        self.params += _signing_options()

    def invoke(self, ctx: click.Context) -> Any:
        """Read the key before anything is judged: a verdict is not computed in vain."""
        wanted = {name: ctx.params.pop(name) for name in _SIGNING}
        if any(wanted.values()):
            from verifier.cli import signed_verdict  # noqa: PLC0415  (only who signs pays)

            ctx.meta[SIGNER] = signed_verdict.prepared(**wanted)
        return super().invoke(ctx)


_SIGNING: Final = ("sign_with", "sign_to", "sign_passphrase_file")


def _signing_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--sign-with"], metavar="KEY", help="Sign a verdict yes or no with this private key."
        ),
        click.Option(["--sign-to"], metavar="FILE", help="The new file of the signed verdict."),
        click.Option(
            ["--sign-passphrase-file"],
            metavar="FILE",
            help="Holds the passphrase of KEY, on one line.",
        ),
    ]
