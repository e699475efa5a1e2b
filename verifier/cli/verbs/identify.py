"""`pinproof identify FILE|TREE|DIGEST…`: what is known of them."""

from typing import Any

import click

from verifier.cli import options as shared


@click.command(name="identify")
@click.argument("subjects", nargs=-1, metavar="FILE|TREE|DIGEST...")
@shared.max_size_option
@shared.reach_options
@shared.trust_options
def command(subjects: tuple[str, ...], *, max_size: int, **options: Any) -> int:
    """Say what each FILE, TREE or DIGEST is; exit 0 if all are known, 3 if not.

    A TREE is a folder, git:REPO@COMMIT, tar:FILE or zip:FILE; an image is oci:DIR,
    oci-archive:FILE or docker-archive:FILE.

    Write ./ before the name of a file that is spelled like a digest.
    """
    from verifier.ask.identity import identify  # noqa: PLC0415

    answers = identify(
        subjects,
        trust=shared.opened(options),
        max_size=max_size,
        stdin=shared.stdin(),
        reach=shared.reach(options),
    )
    return shared.finish(answers, {**options, "inputs": subjects})
