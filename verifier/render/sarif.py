"""A report as SARIF 2.1.0, for GitHub code scanning and editors: one run, a result a finding.

A verified subject gives no result: GitHub shows every result as an alert, whatever its `kind`.
What could not be judged gives a notification, and the run then says that it did not succeed.
Source of the form: OASIS SARIF 2.1.0 with errata 01; of what GitHub shows: its page "SARIF support
for code scanning".
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from verifier import __version__
from verifier.core.codes import CODES
from verifier.core.finding import Finding, Where
from verifier.core.outcome import Failed, Report, Result, Waived
from verifier.core.printable import printable
from verifier.core.verdict import Exit
from verifier.render.surface import Site, site, told, weight
from verifier.sources import shipped

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Final = {"rejected": "error", "undecided": "warning", "error": "error"}
#: The root of the checkout, by the name that others use for it too.
_ROOT: Final = "%SRCROOT%"
_HAPPENED: Final = re.compile(r"^## What happened\n+(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def report(value: Report) -> bytes:
    """Render a report as one SARIF log and a final newline."""
    codes = [code for code in CODES if code in set(_codes(value))]
    results = [
        _result(finding, item, codes.index(finding.code))
        for item in value.results
        if isinstance(item, Result)
        for finding in item.findings
    ]
    run = {
        "tool": {
            "driver": {
                "name": "pinproof",
                "version": __version__,
                "semanticVersion": __version__,
                "informationUri": f"urn:pinproof:verifier:{__version__}",
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(value)],
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2).encode() + b"\n"


def _codes(value: Report) -> Iterator[str]:
    for item in value.results:
        if isinstance(item, Failed):
            yield item.code
        else:
            yield from (finding.code for finding in item.findings)


def _rule(code: str) -> dict[str, Any]:
    page = shipped.read("codes", f"{code}.md").decode()
    happened = _HAPPENED.search(page)
    row = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": row.title},
        "fullDescription": {"text": " ".join((happened[1] if happened else row.title).split())},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[row.outcome]},
        "properties": {"facet": row.facet, "outcome": row.outcome},
    }


def _invocation(value: Report) -> dict[str, Any]:
    failed = [item for item in value.results if isinstance(item, Failed)]
    policy = value.policy
    return {
        "exitCode": int(value.exit),
        "exitCodeDescription": str(value.verdict or "no verdict"),
        "executionSuccessful": value.exit not in (Exit.ENVIRONMENT, Exit.INTERNAL) and not failed,
        "toolExecutionNotifications": [
            {
                "level": "error",
                "message": {"text": _text(f"{item.message}. You may: {item.remedy}")},
                "associatedRule": {"id": item.code},
                "locations": [_location(Site(file=printable(item.subject.name)), Where())],
            }
            for item in failed
        ],
        "properties": {
            "effectiveTime": value.effective_time,
            "pastTime": value.past_time,
            "policy": policy and {"name": policy.name, "sha256": policy.sha256},
            "verdicts": [
                {
                    "subject": printable(item.subject.name),
                    "verdict": str(item.verdict) if isinstance(item, Result) else None,
                }
                for item in value.results
            ],
        },
    }


def _result(finding: Finding, item: Result, rule: int) -> dict[str, Any]:
    place = site(finding, item)
    waived = [waiver for waiver in item.waivers if waiver.code == finding.code]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": weight(finding, item),
        "message": {"text": _text(told(finding))},
        "locations": [_location(place, finding.where)],
        "partialFingerprints": {"pinproof/v1": _fingerprint(finding, item)},
        **({"suppressions": [_suppression(waiver) for waiver in waived]} if waived else {}),
    }


def _suppression(waiver: Waived) -> dict[str, Any]:
    return {
        "kind": "external",
        "status": "accepted",
        "justification": printable(f"{waiver.reason} ({waiver.by}, until {waiver.until})"),
    }


def _location(place: Site, where: Where) -> dict[str, Any]:
    inside = place.part is not None
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(place.file),
            "region": _region(Where() if inside else where),
        }
    }
    if inside:
        location["logicalLocations"] = [{"fullyQualifiedName": place.part}]
    return location


def _region(where: Where) -> dict[str, int]:
    """Return the lines and the bytes of a finding, which SARIF keeps apart.

    GitHub takes no result without a line; the first stands for a file of which none is known.
    """
    if where.text is not None:
        region = {
            "startLine": where.text.line,
            "startColumn": where.text.column,
            "endLine": where.text.end_line,
            "endColumn": where.text.end_column,
        }
    else:
        region = {"startLine": where.line or 1}
    if where.byte_offset is not None:
        region |= {"byteOffset": where.byte_offset, "byteLength": where.byte_length or 0}
    return region


def _artifact(path: str) -> dict[str, str]:
    uri = quote(path, safe="/")
    if path.startswith("/"):
        return {"uri": f"file://{uri}"}
    if ".." in path.split("/"):
        return {"uri": uri}
    return {"uri": uri, "uriBaseId": _ROOT}


def _fingerprint(finding: Finding, item: Result) -> str:
    """Return what stays the same when lines move, or other bytes are wrong at the same place.

    That is the code, the file, what was expected there, and which of several such it is.
    """

    def identity(each: Finding) -> tuple[str, ...]:
        place = site(each, item)
        return each.code, place.file, place.part or "", printable(each.expected or "")

    mine = identity(finding)
    number = [each for each in item.findings if identity(each) == mine].index(finding)
    return sha256("\0".join((*mine, str(number))).encode()).hexdigest()


def _text(message: str) -> str:
    """Take from a message what SARIF would read as a link; foreign text makes none."""
    return printable(message).replace("](", "\\](")
