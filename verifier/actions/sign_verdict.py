"""A signed verdict: what a run has judged, as a statement that others can verify.

`verified` becomes a Simple Verification Result, whose properties name the facets that held,
`PINPROOF_<FACET>`. `rejected` becomes a Verification Summary that says FAILED, about what was
rejected and nothing else: an SVR can say no "no". Of `undecided`, and of a run that could not
judge, nothing is signed: a statement that says nothing would be taken for one that says
something (CHECKS, sigstore and signatures).

What weakens a verdict shows where consumers look, not only where they may look: a facet with a
waived finding has no property, one whose length was never published ends in `_LENGTH_NOT_PINNED`,
and at a past effective time all begin with `PINPROOF_PAST_TIME_`, so that nothing which asks for
`PINPROOF_HELPER` is met by them. Waivers, the registry's snapshot and what is not proven stand in
an extension field of the predicate, `EXTENSION`, as the parsing rules of in-toto allow.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from verifier import __version__
from verifier.actions import output
from verifier.core.coverage import State
from verifier.core.digest import Digest
from verifier.core.errors import UnavailableError
from verifier.core.outcome import GraphNode, Report, Result
from verifier.core.printable import printable
from verifier.core.verdict import Verdict
from verifier.evidence.dsse import IN_TOTO, pae, print_envelope
from verifier.evidence.predicates import svr, vsa
from verifier.evidence.private_key import PrivateKey
from verifier.evidence.statement import TYPE, Statement, algorithm_of

EXTENSION: Final = "urn:pinproof:verdict:v1"
VERIFIER: Final = f"urn:pinproof:verifier:{__version__}"
_PREFIX: Final = "PINPROOF_"
_PAST: Final = "PINPROOF_PAST_TIME_"
_NO_LENGTH: Final = "_LENGTH_NOT_PINNED"


def sign_verdict(report: Report, key: PrivateKey, *, to: str) -> Statement | None:
    """Sign what `report` says and write the envelope to the new file `to`.

    Returns what was signed, None where there is nothing to sign. Raises `UnavailableError` if
    the verdict names no digest, or the file cannot be written; nothing is left behind then.
    """
    document = statement_of(report)
    if document is None:
        return None
    payload = json.dumps(document, indent=1).encode() + b"\n"
    statement = Statement.parse(payload, what="the statement of the verdict")
    signature = key.public.id, key.sign(pae(IN_TOTO, payload))
    output.write(to, print_envelope(IN_TOTO, payload, [signature]), new=True)
    return statement


def statement_of(report: Report) -> dict[str, Any] | None:
    """Return the statement that says what `report` says, None where nothing may be said."""
    results = [result for result in report.results if isinstance(result, Result)]
    if report.verdict is Verdict.VERIFIED:
        # Of several kinds the first was asked about; what the others found stands in its coverage.
        asked = [result for result in results if result.kind == results[0].kind]
        return _statement(asked, svr.TYPE, _verified(asked, report))
    if report.verdict is Verdict.REJECTED:
        no = [result for result in results if result.verdict is Verdict.REJECTED]
        return _statement(no, vsa.TYPE, _rejected(no, report))
    return None


def _statement(results: list[Result], kind: str, predicate: dict[str, Any]) -> dict[str, Any]:
    return {
        "_type": TYPE,
        "subject": [subject for result in results for subject in _subjects(result)],
        "predicateType": kind,
        "predicate": predicate,
    }


def _subjects(result: Result) -> Iterator[dict[str, Any]]:
    """Name a result's digests, each as a subject of its own: they are of different bytes.

    A name is the last segment of what was judged: where it lay is nobody's concern. Digests that
    are no SHA-256 of bytes have names of their own (`statement.algorithm_of`).
    """
    digests = result.subject.digests or tuple(dict.fromkeys(_drawn(result.graph)))
    if not digests:
        raise _nothing(f"{result.subject.name}: the verdict names no digest that could be signed")
    name = printable(result.subject.name).rstrip("/").rpartition("/")[2]
    for digest in digests:
        yield {
            "name": name if len(digests) == 1 else f"{name} ({digest.kind})",
            "digest": {algorithm_of(digest): digest.hex},
        }


def _nothing(reason: str) -> UnavailableError:
    return UnavailableError(
        reason,
        code="signing-no-digest",
        remedy="leave --sign-with out, or judge one by one; the verdict stands as it is printed",
    )


def _drawn(nodes: Iterable[GraphNode]) -> Iterator[Digest]:
    """Return the topmost digests of a graph: of a runtime, the image of each rank."""
    for node in nodes:
        if node.digest is not None:
            yield node.digest
        else:
            yield from _drawn(node.below)


def _verified(results: list[Result], report: Report) -> dict[str, Any]:
    held = [set(_properties(result, past=report.past_time)) for result in results]
    properties = set.intersection(*held)
    if not properties:
        raise _nothing(f"{results[0].subject.name}: no facet holds of all that was judged")
    policies = [_policy(report)]
    if registry := _registry(report):
        policies.append({"name": "registry snapshot", "digest": registry["snapshot"]})
    return {
        "verifier": {"id": VERIFIER, "policies": policies},
        "timeCreated": report.effective_time,
        "properties": sorted(properties),
        EXTENSION: _more(results, report),
    }


def _properties(result: Result, *, past: bool) -> Iterator[str]:
    """Name the facets that hold; one that a waiver helped does not, whatever its state."""
    waived = {finding.row.facet for finding in result.findings if finding.code in result.waived}
    for covered in result.coverage:
        if covered.state.holds and covered.facet not in waived:
            name = covered.facet.upper().replace("-", "_")
            length = _NO_LENGTH if covered.state is State.HELD_LENGTH_NOT_PINNED else ""
            yield f"{_PAST if past else _PREFIX}{name}{length}"


def _rejected(results: list[Result], report: Report) -> dict[str, Any]:
    first = next(iter(_subjects(results[0])))
    ((algorithm, value),) = first["digest"].items()
    return {
        "verifier": {"id": VERIFIER},
        "timeVerified": report.effective_time,
        "resourceUri": f"urn:pinproof:subject:{algorithm}:{value}",
        "policy": _policy(report),
        "verificationResult": vsa.FAILED,
        "verifiedLevels": [vsa.FAILED],
        EXTENSION: {
            **_more(results, report),
            "codes": sorted(
                {f.code for r in results for f in r.findings if f.row.outcome == "rejected"}
            ),
        },
    }


def _policy(report: Report) -> dict[str, Any]:
    policy = report.policy
    if policy is None:
        return {"uri": "urn:pinproof:policy:none"}
    return {
        "name": policy.name,
        "uri": f"urn:pinproof:policy:{policy.name}",
        "digest": {"sha256": policy.sha256},
    }


def _registry(report: Report) -> dict[str, Any] | None:
    registry = report.registry
    if registry is None:
        return None
    return {
        "root": {"sha256": registry.root_sha256},
        "snapshotVersion": registry.snapshot_version,
        "snapshot": {"sha256": registry.snapshot_sha256},
        "floor": registry.floor,
    }


def _more(results: list[Result], report: Report) -> dict[str, Any]:
    return {
        "kind": results[0].kind,
        "identified": [
            {"entry": found.entry, "version": found.version}
            for found in dict.fromkeys(each for result in results for each in result.identified)
        ],
        "pastTime": report.past_time,
        "waived": sorted({code for result in results for code in result.waived}),
        "registry": _registry(report),
        "notProven": sorted({words for result in results for words in result.not_proven}),
    }
