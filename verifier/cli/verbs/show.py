"""`pinproof show NAME`: one entry of the registry; `show trust`, `show policy`: what judges."""

from typing import Any, Final

import click

from verifier.cli import options as shared
from verifier.cli.environment import state_folder
from verifier.core.errors import WrongCallError

_TRUST: Final = "trust"
_POLICY: Final = "policy"


@click.command(name="show")
@click.argument("name", metavar="NAME|trust|policy")
@click.argument("which", required=False, metavar="[POLICY]")
@click.option("--policy", metavar="NAME|FILE", help="Of trust: the policy of the run.")
@click.option("--trusted-root", metavar="FILE", help="Of trust: a Sigstore trusted root.")
@shared.trust_options
def command(
    name: str, *, which: str | None, policy: str | None, trusted_root: str | None, **options: Any
) -> int:
    """Show the entry NAME: versions, pins, sites, bases, producers.

    With the word trust: every input that a run with these options trusts, with its source, digest
    and expiry. With policy NAME or policy FILE: all that a policy demands.
    """
    if which is not None and name != _POLICY:
        raise click.UsageError(f"got an unexpected extra argument ({which})")
    if name == _POLICY:
        from verifier.ask.policies import show_policy  # noqa: PLC0415

        return shared.finish(
            show_policy(trust=shared.opened(options, policy=which or policy or "strict")), options
        )
    if name != _TRUST:
        if policy is not None or trusted_root is not None:
            raise WrongCallError(
                "show: --policy and --trusted-root are options of show trust",
                code="wrong-call",
                remedy="leave them out: an entry is what it is under every policy",
            )
        from verifier.ask.registry import show  # noqa: PLC0415

        return shared.finish(show(name, trust=shared.opened(options)), options)
    from verifier.ask.trust_inputs import Named, show_trust  # noqa: PLC0415

    chosen = policy or "strict"
    named = Named(
        registry=options["registry"],
        root=options["root"],
        floor=options["floor"],
        kept=state_folder(),
        policy=chosen,
        trusted_root=trusted_root,
    )
    return shared.finish(show_trust(shared.opened(options, policy=chosen), named), options)
