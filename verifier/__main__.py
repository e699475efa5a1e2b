"""`python -m verifier`: the same program as `pinproof`, where the command is not on the path."""

from verifier.cli import run

run()
