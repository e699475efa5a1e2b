"""`pinproof import receipt ADAPTER PATH`: what another program measured, as a receipt."""

import click

from verifier.cli import options as shared
from verifier.core.verdict import exit_of_answer


@click.group(name="import")
def command() -> None:
    """Make a document of what another program wrote; nothing that is missing is guessed."""


@command.command()
@click.argument("adapter", type=click.Choice(["thegrill", "hyperfine"]))
@click.argument("path")
@click.option("--to", required=True, metavar="FILE", help="The new receipt.")
def receipt(adapter: str, path: str, *, to: str) -> int:
    """Write a receipt of PATH: a run folder of TheGrill, or a JSON export of hyperfine.

    It holds what PATH says and nothing else, unsigned; the rest is named, for you to add.
    """
    from verifier.actions.import_receipt import import_receipt  # noqa: PLC0415

    made = import_receipt(adapter, path, to=to)
    lines = [
        f"imported   {to}: {made.predicate['sampleCount']:,} samples, not signed",
        f"           evidence fingerprint sha256:{made.fingerprint}",
        *(f"  not said    {words}" for words in made.unsaid),
        "",
        f"  you may     add what is missing, then: pinproof verify receipt {to}",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
