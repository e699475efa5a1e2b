"""`pinproof new receipt KIND`: what an author starts with."""

import click

from verifier.cli.verbs.new_receipt import receipt


@click.group(name="new")
def command() -> None:
    """Begin a receipt."""


command.add_command(receipt)
