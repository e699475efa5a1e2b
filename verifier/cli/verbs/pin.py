"""`pinproof pin image|runtime`: print an entry for the registry, made from what was read."""

import re
from typing import Final

import click

from verifier.cli import options as shared
from verifier.core.errors import WrongCallError
from verifier.core.verdict import exit_of_answer

_COMPONENT: Final = re.compile(r"([^=]+)=(.+)")
_MODEL: Final = re.compile(r"([a-z]+)=(.+)@([0-9a-f]+)")


@click.group(name="pin")
def command() -> None:
    """Print an entry, for its maintainer to review, put into a registry, and sign."""


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
    from verifier.actions import pin  # noqa: PLC0415
    from verifier.ask.image import read_platform  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    with progress.shown(f"reading {printable(source)}"):
        entry = pin.image(
            source,
            name=name,
            project=project,
            repository=repository,
            platform=None if platform is None else read_platform(platform),
        )
    shared.put(entry)
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
    from verifier.actions import pin  # noqa: PLC0415

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
