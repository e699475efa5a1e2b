"""`pinproof scan receipt FILE...`: whether it holds what must not be published."""

from typing import Any

import click

from verifier.cli import options as shared


@click.group(name="scan")
def command() -> None:
    """Look for what must not be published, and print none of it."""


@command.command()
@click.argument("files", nargs=-1, metavar="FILE...")
@shared.report_options
def receipt(files: tuple[str, ...], **options: Any) -> int:
    """Scan each FILE, a receipt or what goes with it; exit 1 if anything is found.

    Credentials, host names, private addresses, home paths, e-mail addresses, prompts, outputs
    and characters that hide text; in keys as well as values. Each is told by its kind, place and
    length.
    """
    from verifier.ask.scan import scan_receipts  # noqa: PLC0415

    report = scan_receipts(files, stdin=shared.stdin(), clock=shared.clock())
    return shared.finish(report, {**options, "inputs": files})
