"""What was pinned, for whoever reviews it, and for programs (`pinproof.pinned/v1`)."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from verifier.ask.pinning import Entry
from verifier.catalog.entries.helper import Published, Version
from verifier.core.outcome import Result
from verifier.core.verdict import Verdict
from verifier.render import json, text
from verifier.render.layout import first, rows, second

_SHOWN: Final = 12
_COMMIT: Final = 12
_NEXT: Final = (
    "review it; put it below targets/PROJECT/helper of a registry and have its keys sign: "
    "pinproof sign registry"
)


def pinned(
    entry: Entry, written: Sequence[str], exported: str | None, form: str, *, colour: bool = False
) -> bytes:
    """Render what was pinned and written, or the report that says why nothing was."""
    if form == "json":
        return json.printed(
            {
                "schema": "pinproof.pinned/v1",
                "exitCode": int(entry.report.exit),
                "report": json.of_report(entry.report),
                "written": list(written),
                "payload": exported,
                "changes": [
                    {"field": c.path, "before": c.one, "after": c.other} for c in entry.changes
                ],
                "notes": list(entry.notes),
            }
        )
    if entry.report.verdict is not Verdict.VERIFIED:
        return text.report(entry.report, colour=colour)
    (item,) = entry.report.results
    return _told(item, entry, written, exported, colour=colour).encode()


def _told(
    item: Any, entry: Entry, written: Sequence[str], exported: str | None, *, colour: bool
) -> str:
    name = item.subject.name
    files = ", ".join(written) if written else "nothing, it stands so already"
    lines = [
        first("pinned", f"{name}: wrote {files}", colour=colour),
        second("proved on every patched host by the check itself; not signed"),
        "",
        *rows(list(_rows(item, entry, exported))),
        "",
    ]
    return "\n".join(lines)


def _rows(item: Result, entry: Entry, exported: str | None) -> Iterator[tuple[str, str]]:
    for one in entry.derived.pinned if entry.derived else ():
        yield one.version.id, "; ".join(_version(one.version, len(one.site_list)))
    for note in entry.notes:
        yield "note", note
    for change in entry.changes[:_SHOWN]:
        before = "adds" if change.one is None else "changes"
        told = f" from {change.one} to {change.other}" if change.one is not None else ""
        yield before, f"{change.path}{told}"
    if len(entry.changes) > _SHOWN:
        yield "changes", f"{len(entry.changes) - _SHOWN} more (--format json lists all)"
    if exported is not None:
        yield (
            "payload",
            f"{exported}: pinproof migrate FILE --to VERSION --payload {exported}/VERSION",
        )
    yield "not proven", "; ".join(item.not_proven)
    yield "you may", _NEXT


def _version(version: Version, sites: int) -> Iterator[str]:
    body = version.body
    if not isinstance(body, Published):
        return
    yield f"{body.pin}, {sites} {'site' if sites == 1 else 'sites'}, {version.status}"
    for producer in body.producers:
        commit = (producer.commit or "")[:_COMMIT]
        yield f"{producer.method} {producer.symbol} of {producer.path} at {commit}"
