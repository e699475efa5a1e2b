"""A report for programs: `pinproof.report/v1` (FORMATS §4, schemas/report.v1.schema.json).

The format is a copy of the classes, not a dump of them: renaming a field there changes nothing
here. Keys are camelCase, digests and times complete.
"""

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from verifier import __version__
from verifier.ask.answers import Answer, Answered, Listing
from verifier.core.finding import Finding, Where
from verifier.core.outcome import (
    Failed,
    GraphNode,
    Identified,
    ProducerFacts,
    Report,
    Result,
    StudyFacts,
    Subject,
)
from verifier.core.printable import printable

if TYPE_CHECKING:
    from verifier.sources.tree import TreeEntry


def report(value: Report) -> bytes:
    """Render a report as one JSON document and a final newline."""
    return printed(of_report(value))


def answered(value: Answered) -> bytes:
    """Render the answers to a question that is no verdict."""
    return printed(
        {
            "schema": "pinproof.answer/v1",
            **_frame(value.report),
            "question": value.question,
            "exitCode": int(value.exit),
            "answers": [_answer(answer) for answer in value.answers],
        }
    )


def listing(value: Listing) -> bytes:
    """Render a tree: `pinproof.tree/v1`, the report on reading it and every entry.

    Entries are written by hand: a hundred thousand of them take the encoder longer than reading.
    """
    document = {
        **of_report(value.report),
        "schema": "pinproof.tree/v1",
        "withoutModes": value.without_modes,
        "ignored": list(value.ignored),
        "entries": [],
    }
    empty = printed(document)
    if not value.entries:
        return empty
    entries = ",\n".join(map(_entry, value.entries)).encode()
    return b"".join((empty.removesuffix(b"]\n}\n"), b"\n", entries, b"\n  ]\n}\n"))


def _entry(entry: "TreeEntry") -> str:
    mode = "null" if entry.mode is None else f'"{entry.mode:06o}"'
    length = "null" if entry.length is None else entry.length
    digest = "null" if entry.sha256 is None else f'"{entry.sha256}"'
    return f"""    {{
      "path": {_raw(entry.path)},
      "type": "{entry.type}",
      "mode": {mode},
      "length": {length},
      "sha256": {digest},
      "target": {"null" if entry.target is None else _raw(entry.target)}
    }}"""


def _raw(name: bytes) -> str:
    return _quote(_clean(name.decode(errors="surrogateescape")))


_quote: Final = json.JSONEncoder(ensure_ascii=False).encode


def printed(document: dict[str, Any]) -> bytes:
    """Print a document; foreign names in it are made printable."""
    return json.dumps(_clean(document), ensure_ascii=False, indent=2).encode() + b"\n"


def _clean(value: Any) -> Any:
    """Decode foreign names as UTF-8 whatever the locale made of them; JSON escapes the rest."""
    if isinstance(value, str):
        return value if value.isascii() else printable(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value


def of_report(value: Report) -> dict[str, Any]:
    """Return a report as a document."""
    return {
        "schema": "pinproof.report/v1",
        **_frame(value),
        "verdict": value.verdict,
        "exitCode": int(value.exit),
        "results": [_result(r) if isinstance(r, Result) else of_failed(r) for r in value.results],
        "notProven": list(value.not_proven),
    }


def _frame(value: Report) -> dict[str, Any]:
    registry, policy = value.registry, value.policy
    return {
        "tool": {
            "name": "pinproof",
            "version": __version__,
            "grammar": f"{sys.version_info[0]}.{sys.version_info[1]}",
        },
        "effectiveTime": value.effective_time,
        "pastTime": value.past_time,
        "registry": registry
        and {
            "origin": registry.origin,
            "sealed": registry.sealed,
            "root": {"version": registry.root_version, "sha256": registry.root_sha256},
            "snapshotVersion": registry.snapshot_version,
            "snapshot": {"sha256": registry.snapshot_sha256},
            "expires": registry.expires,
            "signedBy": list(registry.signed_by),
            "floor": registry.floor,
        },
        "policy": policy and {"name": policy.name, "sha256": policy.sha256},
    }


def _subject(subject: Subject) -> dict[str, Any]:
    found: dict[str, Any] = {"name": subject.name}
    if subject.link is not None:
        found["link"] = subject.link
    if subject.digests or subject.length is not None:
        found["digests"] = [str(digest) for digest in subject.digests]
    if subject.length is not None:
        found["length"] = subject.length
    return found


def _result(result: Result) -> dict[str, Any]:
    return {
        "subject": _subject(result.subject),
        "kind": result.kind,
        "verdict": result.verdict,
        "claims": list(result.claims),
        "identified": [_identified(found) for found in result.identified],
        "findings": [_finding(finding) for finding in result.findings],
        "waived": list(result.waived),
        "demanded": sorted(result.demanded),
        "coverage": [
            {"facet": c.facet, "state": c.state, "detail": c.detail} for c in result.coverage
        ],
        **({"graph": [_node(node) for node in result.graph]} if result.graph else {}),
        **({"study": _study(result.study)} if result.study else {}),
        **({"producers": [_producer(p) for p in result.producers]} if result.producers else {}),
        "notProven": list(result.not_proven),
    }


def _producer(producer: ProducerFacts) -> dict[str, Any]:
    return {
        "row": producer.row,
        "repository": producer.repository,
        "commit": producer.commit,
        "path": producer.path,
        "symbol": producer.symbol,
        "state": producer.state,
        "detail": producer.detail,
    }


def _study(study: StudyFacts) -> dict[str, Any]:
    return {
        "state": study.state,
        "claims": [
            {"id": c.id, "kind": c.kind, "text": c.text, "takenAwayBy": list(c.lost)}
            for c in study.claims
        ],
        "figures": [
            {
                "id": f.id,
                "formula": f.formula,
                "unit": f.unit,
                "value": f.value,
                "state": f.state,
                "recomputed": f.recomputed,
                "difference": f.difference,
                "missing": f.missing,
            }
            for f in study.figures
        ],
        "rules": [
            {"id": r.id, "answer": r.answer, "consequence": r.consequence, "detail": r.detail}
            for r in study.rules
        ],
    }


def _node(node: GraphNode) -> dict[str, Any]:
    return {
        "kind": node.kind,
        "digest": node.digest and str(node.digest),
        "length": node.length,
        "detail": node.detail,
        "agrees": node.mark,
        "below": [_node(below) for below in node.below],
    }


def of_failed(failed: Failed) -> dict[str, Any]:
    """Return what could not be judged, or ended, as a part of a document."""
    return {
        "subject": _subject(failed.subject),
        "verdict": None,
        "error": {"code": failed.code, "message": failed.message, "remedy": failed.remedy},
    }


def _identified(found: Identified) -> dict[str, Any]:
    return {
        "entry": found.entry,
        "version": found.version,
        "status": found.status,
        "current": found.current,
        "endAnchor": found.end_anchor,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "outcome": finding.row.outcome,
        "facet": finding.row.facet,
        "title": finding.row.title,
        "where": _where(finding.where),
        "expected": finding.expected,
        "got": finding.got,
        "cause": finding.cause,
        "remedy": finding.remedy,
    }


def _where(where: Where) -> dict[str, Any]:
    found = {
        "path": where.path,
        "line": where.line,
        "byteOffset": where.byte_offset,
        "byteLength": where.byte_length,
    }
    return {key: value for key, value in found.items() if value is not None}


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.name,
        "known": answer.known,
        "headline": answer.headline,
        "rows": [{"label": label, "text": text} for label, text in answer.rows],
        **({"data": answer.data} if answer.data else {}),
    }
