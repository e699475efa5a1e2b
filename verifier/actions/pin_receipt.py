"""Pinning receipts: what a pull request or release page cites, as rows of digest and length.

A receipt is cited by its bytes. What is cited has been judged first: one that is rejected is not
pinned, and a row says how it was judged. Build receipts become the row of their release's entry.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from verifier.ask.receipt import parsed, verify_receipt
from verifier.ask.trusted import Trust
from verifier.checks.release.grill import KEYS, SCHEMA
from verifier.core.digest import Pin
from verifier.core.errors import PinproofError
from verifier.core.limits import DOCUMENT_BYTES, RECEIPT_BYTES
from verifier.core.outcome import Report, Result
from verifier.core.strict import read_json, toml_value
from verifier.core.value import frozen
from verifier.core.verdict import Exit, Verdict
from verifier.sources import file
from verifier.sources.evidence_folder import EvidenceFolder

#: Exits with which nothing is pinned; what is only left open may be cited as that.
_REFUSED: Final = (Exit.REJECTED, Exit.ENVIRONMENT, Exit.INTERNAL)


@frozen
class Pinned:
    """The rows to cite, None where a receipt is refused; the report on those that were judged."""

    report: Report | None
    rows: bytes | None


def receipts(
    files: Sequence[str], *, head: str | None, evidence: str | None, trust: Trust
) -> Pinned:
    """Judge receipts by the policy of a run and make a row of each; nothing is written.

    Raises `WrongCallError` as `verify_receipt` does, `UnavailableError` for what cannot be read.
    """
    built = {name: row for name in files if (row := _built(name)) is not None}
    others = [name for name in files if name not in built]
    report = None
    if others:
        report = verify_receipt(others, head=head, evidence=evidence, trust=trust)
        if report.exit in _REFUSED:
            return Pinned(report=report, rows=None)
    beside = {} if evidence is None else EvidenceFolder(Path(evidence), name=evidence).pins
    lines: list[str] = []
    for name in files:
        if name in built:
            lines += ["[[target]]", *_lines(built[name]), ""]
    for item in report.results if report else ():
        if isinstance(item, Result):
            lines += ["[[receipt]]", *_lines(_measured(item)), ""]
    for path, pin in sorted(beside.items()):
        lines += ["[[evidence]]", *_lines({"path": path, **_pin(pin)}), ""]
    return Pinned(report=report, rows="\n".join(lines).encode())


def _built(name: str) -> dict[str, Any] | None:
    """Return the row of a build receipt; None of any other file."""
    try:
        data = file.read(name, limit=DOCUMENT_BYTES).data
        value = read_json(data)
    except (PinproofError, ValueError):
        return None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA or value.keys() != KEYS:
        return None
    return {"triple": str(value["target"]), "receipt": _pin(Pin.of(data))}


def _measured(item: Result) -> dict[str, Any]:
    document = parsed(item.subject.name, [file.read(item.subject.name, limit=RECEIPT_BYTES).data])
    commits = [d["gitCommit"] for d in document.subjects.values() if "gitCommit" in d]
    claims = [c.id for c in item.study.claims if not c.lost] if item.study else []
    return {
        "file": Path(item.subject.name).name,
        **_pin(document.pin),
        **({"commits": commits} if commits else {}),
        "judged": "verified" if item.verdict is Verdict.VERIFIED else "left open",
        "claims": claims,
    }


def _pin(pin: Pin) -> dict[str, Any]:
    return {"sha256": pin.sha256, "length": pin.length}


def _lines(row: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {toml_value(value)}" for key, value in row.items()]
