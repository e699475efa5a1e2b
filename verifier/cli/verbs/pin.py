"""`pinproof pin composition`: write an entry from clones or folders and patches, once proved."""

from datetime import UTC, datetime
from typing import Any

import click

from verifier.cli import options as shared
from verifier.core.verdict import Verdict, exit_of_answer


@click.group(name="pin")
def command() -> None:
    """Write down what is to be verified later. Nothing is signed."""


@command.command()
@click.argument("name")
@click.option("--project", required=True, metavar="TEXT", help="Who publishes it.")
@click.option(
    "--base",
    metavar="COMMIT",
    help="The full id that it starts from; without it, the base is a plain folder.",
)
@click.option(
    "--target",
    metavar="COMMIT",
    help="The full id that its overlay takes files from; without it, a plain folder, if any.",
)
@click.option(
    "--patch",
    "patches",
    multiple=True,
    metavar="FILE",
    help="One more stage, in order.",
)
@click.option(
    "--include",
    multiple=True,
    metavar="PATH",
    help="What it speaks of: a path, folder/, or ./ for all (the default); repeatable.",
)
@click.option("--exclude", multiple=True, metavar="PATH", help="What it does not; repeatable.")
@click.option("--repository", metavar="URL", help="Where the base is published.")
@click.option("--to", required=True, metavar="FILE", help="The new file of the entry.")
@click.option(
    "--clone",
    "clones",
    multiple=True,
    metavar="NAME=PATH",
    help="Clone or plain folder of the base, and of the target if that is another one.",
)
@shared.output_options
def composition(name: str, *, clones: tuple[str, ...], to: str, **options: Any) -> int:
    """Write the entry of a composition, and its proof."""
    from verifier.actions.pin import pin_composition  # noqa: PLC0415
    from verifier.ask.clones import named_clones  # noqa: PLC0415

    pinned = pin_composition(
        name,
        project=options["project"],
        clones=named_clones(clones),
        base=options["base"],
        target=options["target"],
        patches=options["patches"],
        include=options["include"],
        exclude=options["exclude"],
        to=to,
        repository=options["repository"],
        now=shared.clock() or datetime.now(UTC),
    )
    if pinned.report.verdict is not Verdict.VERIFIED:
        return shared.finish(pinned.report, options)
    lines = [
        f"pinned     {name}: {', '.join(pinned.written)}",
        "           proved from its base, stage by stage; not signed",
        "",
        "  you may     review it, put it below registry/targets and have its project sign it",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)


@command.command(name="import")
@click.argument("file", metavar="FILE")
@click.option("--name", required=True, metavar="NAME", help="The entry's name, or its beginning.")
@click.option("--project", required=True, metavar="TEXT", help="Who published the pins.")
@click.option(
    "--to", "folder", required=True, metavar="DIR", help="The folder of the new NAME.toml."
)
def import_(file: str, *, name: str, project: str, folder: str) -> int:
    """Write entries from a foreign pin FILE, and say what it cannot say. Nothing is proved."""
    from pathlib import Path  # noqa: PLC0415

    from verifier.actions import output  # noqa: PLC0415
    from verifier.actions.import_pins import import_pins  # noqa: PLC0415
    from verifier.core.limits import DOCUMENT_BYTES  # noqa: PLC0415
    from verifier.sources.file import read  # noqa: PLC0415

    data = read(file, limit=DOCUMENT_BYTES).data
    lines = []
    found = import_pins(data, name=name, project=project, where=file)
    paths = [str(Path(folder) / f"{one.name}.toml") for one in found]
    output.refuse_existing(*paths)
    for one, path in zip(found, paths, strict=True):
        output.write(path, one.entry, inputs=[file])
        lines += [f"imported   {one.name}: {path}", "           neither proved nor signed"]
        lines += [f"  not said    {words}" for words in one.missing]
    lines += [
        "",
        "  you may     review them; only a signed entry can be proved",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
