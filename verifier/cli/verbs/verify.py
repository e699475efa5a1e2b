"""`pinproof verify SUBJECT`: judge by a policy."""

from typing import Any

import click

from verifier.cli import options as shared


@click.group(name="verify")
def command() -> None:
    """Judge a subject by a policy, and say why."""


@command.command()
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--expect", metavar="VERSION", help="Only this version will do.")
@shared.lineage_option
@shared.policy_option
@shared.max_size_option
@shared.reach_options
@shared.trust_options
def helper(
    files: tuple[str, ...],
    *,
    expect: str | None,
    lineage: str | None,
    policy: str,
    max_size: int,
    **options: Any,
) -> int:
    """Judge host FILEs: helper, call sites, scope, and the rest of the file.

    A FILE of - is standard input; git:REPO@COMMIT:PATH, tar:FILE:PATH and zip:FILE:PATH are
    files inside of other sources.
    """
    from verifier.ask.helper import verify_helper  # noqa: PLC0415

    report = verify_helper(
        files,
        trust=shared.opened(options, policy=policy),
        lineage=lineage,
        expect=expect,
        max_size=max_size,
        stdin=shared.stdin(),
        reach=shared.reach(options),
    )
    return shared.finish(report, {**options, "inputs": files})


@command.command()
@click.argument("name")
@click.option(
    "--at",
    metavar="SOURCE",
    help="A folder, git:REPO@COMMIT[:PATH], tar:FILE[:PATH] or zip:FILE[:PATH].",
)
@click.option(
    "--prefix",
    default="",
    metavar="PATH",
    help="The folder in SOURCE where the composition's paths begin.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Take the stages again from the base; --clone NAME=PATH names what to read: base, "
    "target, source (what holds the patches), or a component.",
)
@shared.policy_option
@shared.reach_options
@shared.trust_options
def composition(
    name: str, *, at: str | None, prefix: str, prove: bool, policy: str, **options: Any
) -> int:
    """Judge a tree by the composition NAME: at its final stage, and nothing beside it.

    A wheel is a zip. With --prove, the composition itself: that it follows from its base.
    """
    from verifier.ask.composition import verify_composition  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    if at is None and not prove:
        raise click.UsageError("give --at SOURCE, --prove, or both")
    with progress.shown(f"reading {printable(at or name)}"):
        if prove:
            from verifier.ask.clones import named_clones  # noqa: PLC0415
            from verifier.ask.proof import prove_composition  # noqa: PLC0415

            clones = named_clones(options.pop("clones"))
            report = prove_composition(
                name,
                clones=clones,
                at=at,
                prefix=prefix,
                trust=shared.opened(options, policy=policy),
                reach=shared.reach({**options, "clones": tuple(clones.values())}),
            )
        else:
            report = verify_composition(
                name,
                at=at or "",
                prefix=prefix,
                trust=shared.opened(options, policy=policy),
                reach=shared.reach(options),
            )
    return shared.finish(report, options)


@command.command()
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
@shared.trust_options
def image(
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


@command.command()
@click.argument("name")
@click.option(
    "--rank",
    "ranks",
    multiple=True,
    required=True,
    metavar="N=SOURCE",
    help="The image of rank N, as in verify image; repeat for every rank.",
)
@shared.policy_option
@shared.trust_options
def runtime(name: str, *, ranks: tuple[str, ...], policy: str, **options: Any) -> int:
    """Judge the images of all ranks by the runtime NAME of the registry.

    A rank that differs from the others is named.
    """
    from verifier.ask.runtime import verify_runtime  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415

    with progress.shown(f"reading {len(ranks)} images"):
        report = verify_runtime(name, ranks=ranks, trust=shared.opened(options, policy=policy))
    return shared.finish(report, options)


@command.command()
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--head", metavar="COMMIT", help="The full id that the claims are about now.")
@click.option("--evidence", metavar="DIR", help="The folder that holds the files a receipt names.")
@click.option("--gates", metavar="FILE", help="The gate file, as it was before the run.")
@click.option(
    "--claim", "claims", multiple=True, metavar="ID", help="A claim that must be left; repeatable."
)
@shared.policy_option
@shared.trust_options
def receipt(
    files: tuple[str, ...],
    *,
    head: str | None,
    evidence: str | None,
    gates: str | None,
    claims: tuple[str, ...],
    policy: str,
    **options: Any,
) -> int:
    """Judge measurement receipts: the figures follow from the samples, and whose they are."""
    from verifier.ask.receipt import verify_receipt  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415

    with progress.shown(f"reading {len(files)} receipts"):
        report = verify_receipt(
            files,
            head=head,
            evidence=evidence,
            gates=gates,
            claims=claims,
            trust=shared.opened(options, policy=policy),
        )
    return shared.finish(report, options)


@command.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--expect", required=True, metavar="NAME-VERSION", help="The release, as it is registered."
)
@click.option(
    "--target", "targets", multiple=True, metavar="TRIPLE", help="This target alone; repeatable."
)
@shared.policy_option
@shared.trust_options
def release(
    folder: str, *, expect: str, targets: tuple[str, ...], policy: str, **options: Any
) -> int:
    """Judge the downloads of a release in DIR; nothing of them is run.

    Its files agree with each other, and they are what was published.
    """
    from verifier.ask.release import verify_release  # noqa: PLC0415
    from verifier.cli import progress  # noqa: PLC0415
    from verifier.core.printable import printable  # noqa: PLC0415

    with progress.shown(f"reading {printable(folder)}"):
        report = verify_release(
            folder, expect=expect, targets=targets, trust=shared.opened(options, policy=policy)
        )
    return shared.finish(report, options)
