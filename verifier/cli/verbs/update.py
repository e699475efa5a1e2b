"""`pinproof update registry`: fetch a newer registry, the one verb that asks a network."""

from datetime import UTC, datetime

import click

from verifier.cli import options as shared
from verifier.cli import progress
from verifier.cli.environment import state_folder
from verifier.core.limits import METADATA_BYTES
from verifier.core.printable import printable
from verifier.core.verdict import exit_of_answer


@click.group(name="update")
def command() -> None:
    """Fetch what is newer; only here pinproof asks a network."""


@command.command()
@click.option("--url", required=True, metavar="URL", help="Where metadata/ and targets/ are.")
@click.option("--to", required=True, metavar="DIR", help="The registry to replace, or to make.")
@click.option(
    "--root", metavar="FILE", help="The root that is trusted; without it, the one shipped."
)
def registry(url: str, to: str, *, root: str | None) -> int:
    """Fetch the registry at URL, and replace DIR by it if it authenticates and is not older.

    https only, except from this machine itself; no redirect is followed. The versions that were
    seen are kept as a floor, which every later run judges by.
    """
    from verifier.actions.update_registry import update_registry  # noqa: PLC0415
    from verifier.sources import file, shipped  # noqa: PLC0415

    anchor = (
        shipped.read("registry", "metadata/1.root.json")
        if root is None
        else file.read(root, limit=METADATA_BYTES).data
    )
    with progress.shown(f"fetching {printable(url)}"):
        done = update_registry(
            url, to, root=anchor, state=state_folder(), now=shared.clock() or datetime.now(UTC)
        )
    word = "replaced" if done.newer else "nothing newer than before"
    lines = [
        f"updated    {to}: {word}, snapshot {done.snapshot_version}",
        f"           root {done.root_version} {done.root_sha256[:12]} · expires {done.expires}",
        "",
        *(f"  floor       {path}" for path in done.floors),
        "",
        f"  you may     judge with it: --registry {to} --root "
        + (root or f"{to}/metadata/1.root.json"),
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
