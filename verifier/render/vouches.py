"""Two registries compared, in sentences, and for programs (`pinproof.vouches/v1`)."""

from typing import Final

from verifier.ask.registry_difference import Difference
from verifier.render import json, text
from verifier.render.layout import rows

#: Sentences that a terminal shows.
_MOST: Final = 60


def difference(value: Difference, form: str, *, colour: bool = False) -> bytes:
    """Render every sentence, behind the report."""
    if form == "json":
        return json.printed(
            {
                "schema": "pinproof.vouches/v1",
                "exitCode": int(value.exit),
                "report": json.of_report(value.report),
                "changes": [
                    {
                        "state": change.state,
                        "entry": change.entry,
                        "sentence": change.sentence,
                        "digest": change.digest or None,
                    }
                    for change in value.changes
                ],
            }
        )
    told = [(change.state, change.sentence) for change in value.changes[:_MOST]]
    if len(value.changes) > _MOST:
        told.append(("more", f"{len(value.changes) - _MOST:,} (--format json lists all)"))
    block = text.report(value.report, colour=colour)
    if not told:
        return block
    return block + ("\n" + "\n".join(rows(told)) + "\n").encode()
