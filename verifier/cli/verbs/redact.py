"""`pinproof redact RECEIPT --to FILE`: a receipt that can be published."""

import click

from verifier.cli import options as shared
from verifier.core.printable import printable
from verifier.core.verdict import exit_of_answer


@click.command(name="redact")
@click.argument("receipt", metavar="RECEIPT")
@click.option("--to", required=True, metavar="FILE", help="The new file; none is written over.")
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="PATH",
    help="A field such as arms[0].reason, in place of all that the scan finds; repeatable.",
)
def command(receipt: str, *, to: str, fields: tuple[str, ...]) -> int:
    """Write RECEIPT anew without what must not be published; the result is unsigned.

    Fields are replaced whole and listed, RECEIPT is pinned by digest and size, and nothing that
    was measured is altered: a receipt that would need that is refused.
    """
    from verifier.actions.redact import redact  # noqa: PLC0415

    done = redact(receipt, to=to, fields=fields)
    pinned = f"{done.original.sha256[:12]} · {done.original.length:,} bytes"
    count = "1 field" if len(done.fields) == 1 else f"{len(done.fields)} fields"
    lines = [
        f"redacted   {printable(to)}: {count}, each replaced whole or taken away",
        f"           pins the original: {pinned}",
        "",
        *(f"  field       {printable(path)}" for path in done.fields),
        "  not proven  that nothing is left which the scan does not know",
        "  you may     read it, and sign it; keep the original for whoever may see it",
        "",
    ]
    shared.put("\n".join(lines).encode())
    return exit_of_answer(known=True)
