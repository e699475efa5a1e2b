"""`pinproof verify SUBJECT`: judge by a policy. Each subject has a module of its own."""

import importlib
from typing import Final

import click

from verifier.cli.judging import Judging

SUBJECTS: Final = (
    "bundle",
    "chain",
    "commit",
    "composition",
    "head",
    "helper",
    "image",
    "receipt",
    "release",
    "runtime",
    "statement",
)


class _Verify(click.Group):
    """Imports the module of a subject when the subject is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(SUBJECTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in SUBJECTS:
            return None
        found = importlib.import_module(f"verifier.cli.verbs.verify.{cmd_name}").command
        return found if isinstance(found, Judging) else None


@click.group(name="verify", cls=_Verify)
def command() -> None:
    """Judge a subject by a policy, and say why."""
