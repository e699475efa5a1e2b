"""`pinproof verify image`: judge an image."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="image", cls=Judging)
@click.argument("source")
@click.option(
    "--expect",
    metavar="KIND:sha256:…|NAME",
    help="The digest it was pinned by, with its kind, or an entry of the registry.",
)
@click.option("--platform", metavar="OS/ARCH", help="Judge the image of this platform alone.")
@click.option("--path", metavar="PATH", help="A host file inside, judged as verify helper does.")
@click.option("--helper", metavar="LINEAGE", help="The lineage to judge PATH by.")
@click.option("--composition", metavar="NAME", help="A composition to judge the files inside by.")
@click.option(
    "--prefix", default="", metavar="PATH", help="The folder inside where its paths begin."
)
@shared.policy_option
@shared.judging_options
def command(
    source: str,
    *,
    expect: str | None,
    platform: str | None,
    path: str | None,
    helper: str | None,
    composition: str | None,
    prefix: str,
    policy: str,
    **options: Any,
) -> int:
    """Judge an image: its parts agree, and it is the one that was pinned.

    SOURCE is oci:DIR[:REF], oci-archive:FILE[:REF] or docker-archive:FILE[:REF]; what
    docker-inspect:FILE holds can contradict a pin, and proves nothing.

    KIND is index, manifest, config, archive, layer or diff-id.
    """
    from verifier.ask.image import verify_image  # noqa: PLC0415
    from verifier.ask.image_inside import Inside  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    with progress.shown(f"reading {printable(source)}"):
        report = verify_image(
            source,
            expect=expect,
            platform=platform,
            inside=Inside(path=path, helper=helper, composition=composition, prefix=prefix),
            trust=shared.opened(options, policy=policy),
        )
    return shared.finish(report, options)
