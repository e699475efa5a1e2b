"""`pinproof verify chain`: judge a supply chain."""

from typing import Any

import click

from verifier.cli import options as shared
from verifier.cli.judging import Judging


@click.command(name="chain", cls=Judging)
@click.option("--layout", required=True, metavar="FILE", help="The in-toto layout, signed.")
@click.option("--links", required=True, metavar="DIR", help="The folder of the steps' links.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    required=True,
    metavar="PEM",
    help="The public key of an owner of the layout; repeatable.",
)
@click.option(
    "--threshold",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many of these keys have to have signed it; all without that.",
)
@click.option(
    "--product",
    "products",
    multiple=True,
    metavar="FILE",
    help="A file that the last step made; repeatable.",
)
@shared.policy_option
@shared.judging_options
def command(
    layout: str,
    links: str,
    *,
    keys: tuple[str, ...],
    threshold: int | None,
    products: tuple[str, ...],
    policy: str,
    **options: Any,
) -> int:
    """Judge a supply chain by an in-toto layout: who did which step, and with which files.

    Nothing that the layout names is run.
    """
    from verifier.ask.chain import verify_chain  # noqa: PLC0415

    report = verify_chain(
        layout,
        links=links,
        keys=keys,
        threshold=threshold,
        products=products,
        trust=shared.opened(options, policy=policy),
    )
    return shared.finish(report, {**options, "inputs": (layout, *keys, *products)})
