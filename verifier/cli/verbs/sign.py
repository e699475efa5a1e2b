"""`pinproof sign registry`: sign the entries of a registry."""

from datetime import UTC, datetime
from pathlib import Path

import click

from verifier.cli import options as shared
from verifier.core.errors import WrongCallError
from verifier.core.verdict import exit_of_answer


@click.group(name="sign")
def command() -> None:
    """Sign what others will verify."""


@command.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--seal",
    "sealing",
    is_flag=True,
    help="Sign with fresh keys and discard them: for a registry that ships in a package.",
)
def registry(folder: str, *, sealing: bool) -> int:
    """Sign the entries below DIR/targets and write DIR/metadata and DIR/targets/index."""
    from verifier.actions.seal import seal  # noqa: PLC0415

    if not sealing:
        raise WrongCallError(
            "sign registry: expected --seal",
            code="wrong-call",
            remedy="add --seal; this version of pinproof signs with discarded keys only",
        )
    made = seal(Path(folder), now=shared.clock() or datetime.now(UTC))
    lines = [
        f"sealed     {folder}: {len(made.entries)} targets, snapshot {made.snapshot_version}",
        f"           root {made.root_sha256[:12]} · expires {made.expires}",
        "",
        f"  you may     commit {folder} as it is; whoever ships it vouches for it",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
