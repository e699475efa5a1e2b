"""`receipt` of `pinproof new`: every field of a receipt, for its author to fill in."""

import click

from verifier.cli import options as shared
from verifier.core.verdict import exit_of_answer

_KINDS = ("serving-benchmark", "command-timing", "kernel-benchmark", "canary", "cpu-suite")


@click.command()
@click.argument("kind", type=click.Choice(_KINDS))
@click.option("--to", required=True, metavar="FILE", help="The new receipt.")
def receipt(kind: str, *, to: str) -> int:
    """Write every field that a receipt of KIND may have, empty; verify names what is missing."""
    from verifier.actions.new_receipt import new_receipt  # noqa: PLC0415

    new_receipt(kind, to=to)
    lines = [
        f"made       {to}: a receipt without a single fact",
        "",
        "  you may     fill in what is empty, and remove what you do not know",
        f"              pinproof verify receipt {to} names what is left",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
