"""`pinproof pin`: write down what is to be verified later; nothing is signed.

`helper` from a producer's commits and patched hosts; `composition` from clones or folders and
patches, once proved; `image` and `runtime` from what was read; `import` from pin files of other
projects.
"""

import re
from datetime import UTC, datetime
from typing import Any, Final

import click

from verifier.cli import options as shared
from verifier.cli.verbs import pin_helper
from verifier.core.errors import WrongCallError
from verifier.core.verdict import Verdict, exit_of_answer

_COMPONENT: Final = re.compile(r"([^=]+)=(.+)")
_MODEL: Final = re.compile(r"([a-z]+)=(.+)@([0-9a-f]+)")


@click.group(name="pin")
def command() -> None:
    """Write an entry, for its maintainer to review, put into a registry, and sign."""


command.add_command(pin_helper.command)


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
    from verifier.actions.pin_composition import pin_composition  # noqa: PLC0415
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


@command.command()
@click.argument("source")
@click.option("--name", required=True, help="The entry's name.")
@click.option("--project", required=True, metavar="TEXT", help="Where its project lives.")
@click.option("--repository", metavar="HOST/REPO", help="The container registry that serves it.")
@click.option("--platform", metavar="OS/ARCH", help="Pin the image of this platform alone.")
def image(
    source: str, *, name: str, project: str, repository: str | None, platform: str | None
) -> int:
    """Read the image SOURCE whole and print its entry: every digest with its kind."""
    from verifier.actions import pin_image as pin  # noqa: PLC0415
    from verifier.ask.image import read_platform  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    with progress.shown(f"reading {printable(source)}"):
        pinned = pin.image(
            source,
            name=name,
            project=project,
            repository=repository,
            platform=None if platform is None else read_platform(platform),
            now=shared.clock() or datetime.now(UTC),
        )
    if pinned.entry is None:
        return shared.finish(pinned.report, {"form": "text", "outputs": ()})
    shared.put(pinned.entry)
    return exit_of_answer(known=True)


@command.command()
@click.argument("name")
@click.option("--project", required=True, metavar="TEXT", help="Where its project lives.")
@click.option("--image", required=True, metavar="NAME|DIGEST", help="An entry or typed digest.")
@click.option("--component", "components", multiple=True, metavar="NAME=COMMIT")
@click.option("--model", "models", multiple=True, metavar="ROLE=REPOSITORY@REVISION")
@click.option("--setting", "settings", multiple=True, metavar="KEY=VALUE")
@click.option("--ranks", type=click.IntRange(min=1), metavar="N", help="How many ranks there are.")
def runtime(
    name: str,
    *,
    project: str,
    image: str,
    components: tuple[str, ...],
    models: tuple[str, ...],
    settings: tuple[str, ...],
    ranks: int | None,
) -> int:
    """Print the entry of a runtime: its image, components, models, settings and ranks."""
    from verifier.actions import pin_image as pin  # noqa: PLC0415

    pairs = [_parts(_COMPONENT, text, "--component") for text in components]
    roles = [_parts(_MODEL, text, "--model") for text in models]
    told = [_parts(_COMPONENT, text, "--setting") for text in settings]
    entry = pin.runtime(
        name=name,
        project=project,
        image=image,
        components=[(each, commit) for each, commit in pairs],
        models=[(role, repository, revision) for role, repository, revision in roles],
        settings=[(key, value) for key, value in told],
        ranks=ranks,
    )
    shared.put(entry)
    return exit_of_answer(known=True)


def _parts(form: re.Pattern[str], text: str, option: str) -> tuple[str, ...]:
    found = form.fullmatch(text)
    if found is None:
        raise WrongCallError(
            f"{option}: {text[:120]} is not of its form",
            code="wrong-call",
            remedy="write --component vllm=COMMIT, --model target=REPOSITORY@REVISION, "
            "--setting KEY=VALUE",
        )
    return found.groups()


@command.command()
@click.argument("folder", metavar="DIR")
@click.option("--name", required=True, metavar="TOOL-VERSION", help="The entry's name.")
@click.option("--version", required=True, metavar="VERSION", help="The version in it.")
@click.option("--project", required=True, metavar="URL", help="Where its project lives.")
@click.option("--tag", required=True, metavar="TAG", help="The tag that was released.")
@click.option("--commit", required=True, metavar="COMMIT", help="The full id that it leads to.")
@click.option("--clone", metavar="PATH", help="A clone in which the tag is looked up.")
@click.option(
    "--sums", is_flag=True, help="A plain set of files under one list of checksums, no receipts."
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TRIPLE[=FILE]",
    help="Pin this target only; of plain files, which of them is its archive. Repeatable.",
)
@click.option(
    "--staging",
    multiple=True,
    metavar="SHA256=REASON",
    help="A digest from before publication, never an identity; repeatable.",
)
@shared.output_options
def release(folder: str, **options: Any) -> int:
    """Read the downloads in DIR whole and print the entry of the release."""
    from verifier.actions import pin_release as pin  # noqa: PLC0415

    wanted = pin.Wanted(
        name=options["name"],
        version=options["version"],
        project=options["project"],
        tag=options["tag"],
        commit=options["commit"],
        form="sha256sums" if options["sums"] else "grill-perf-build-receipt-v1",
        targets=options["targets"],
        staging=tuple(_pair(text) for text in options["staging"]),
        clone=options["clone"],
    )
    pinned = pin.release(folder, wanted, now=shared.clock() or datetime.now(UTC))
    if pinned.entry is None:
        return shared.finish(pinned.report, options)
    shared.put(pinned.entry)
    return exit_of_answer(known=True)


def _pair(text: str) -> tuple[str, str]:
    digest, reason = _parts(_COMPONENT, text, "--staging")
    return digest, reason


@command.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--head", metavar="COMMIT", help="The full commit that they are to be cited for.")
@click.option("--evidence", metavar="DIR", help="The files that they name, to be pinned too.")
@shared.policy_option
@shared.trust_options
def receipt(files: tuple[str, ...], **options: Any) -> int:
    """Judge receipts and print what to cite of each: digest, length, commits, claims left.

    A build receipt becomes the row of its release's entry. One that is rejected is not pinned.
    """
    from verifier.actions.pin_receipt import receipts  # noqa: PLC0415

    pinned = receipts(
        files,
        head=options["head"],
        evidence=options["evidence"],
        trust=shared.opened(options, policy=options["policy"]),
    )
    if pinned.rows is None and pinned.report is not None:
        return shared.finish(pinned.report, options)
    shared.put(pinned.rows or b"")
    return exit_of_answer(known=True)
