"""Writing a receipt that says nothing yet: every field of docs/receipts.md, empty.

What is empty is refused by the reader at its path, so `verify receipt` names the gaps one by one.
"""

from typing import Any, Final

from verifier.actions import output
from verifier.actions.import_receipt import printed
from verifier.checks.receipt.document.model import Kind
from verifier.checks.receipt.document.reading import PREDICATE

Json = dict[str, Any]

_SERVING: Final = (Kind.SERVING, Kind.KERNEL, Kind.CANARY)


def new_receipt(kind: str, *, to: str) -> None:
    """Write a receipt of this kind without facts. Raises `UnavailableError`, writing nothing."""
    output.refuse_existing(to)
    output.write(to, printed(skeleton(Kind(kind))))


def skeleton(kind: Kind) -> Json:
    """Return the statement: texts, digests and times empty, numbers null."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "source", "digest": _commit()},
            {"name": "image", "digest": _digest()},
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "receiptId": "",
            "kind": str(kind),
            **_texts("status", "reporter", "assurance", "reproducer"),
            "supersedes": _digest(),
            "summarises": _evidence(),
            **_texts("plannedAt", "verdictAt", "publishedAt"),
            **{name: _commit() for name in _COMMITS},
            **_bound(kind),
            **({"tests": _tests()} if kind is Kind.TESTS else _laid_out()),
            **({} if kind is Kind.TESTS else _measured(kind)),
            "claims": [_claim()],
            "scope": {"measured": {"": ""}, "notClaimed": [""]},
            "evidence": [_evidence()],
            "references": [
                {**_texts("repository", "path"), "commit": _commit(), "blob": {"gitBlob": ""}}
            ],
            "deviations": [{"what": "", "affects": [""]}],
            "sanitisation": {"redactedFields": [], "valuesAltered": None},
        },
    }


_COMMITS: Final = ("claimHead", "baseCommit", "targetBranchHead", "approvedHead")


def _texts(*names: str) -> Json:
    return dict.fromkeys(names, "")


def _nulls(*names: str) -> Json:
    return dict.fromkeys(names)


def _digest() -> Json:
    return {"sha256": ""}


def _commit() -> Json:
    return {"gitCommit": ""}


def _evidence() -> Json:
    return {
        "name": "",
        "digest": _digest(),
        "bytes": None,
        "published": None,
        **_texts("reason", "role"),
    }


def _bound(kind: Kind) -> Json:
    """Return what binds it to programs, inputs and machines."""
    model = {"role": "", "uri": "", "revision": _commit()}
    runtime = {
        "composed": None,
        "dirtyTree": None,
        "components": [{"name": "", "digest": _commit()}],
        "images": [{"rank": None, "id": _digest(), "registryDigest": _digest()}],
        "loadedFiles": [{"rank": None, "path": "", "loaded": _digest(), "recorded": _digest()}],
    }
    return {
        "collector": {
            **_texts("name", "version"),
            "executable": _digest(),
            "sourceCommit": _commit(),
            "releaseArchive": _digest(),
        },
        "workloads": [
            {
                **_texts("id", "file", "normalisation"),
                "source": _digest(),
                "normalised": _digest(),
                "producer": _digest(),
                "generated": None,
            }
        ],
        **({"models": [model]} if kind in _SERVING else {}),
        "runtime": runtime,
        "environment": _environment(),
        "equality": [{"path": "", "measured": _digest(), "head": _digest()}],
    }


def _environment() -> Json:
    return _texts("hardware", "driver", "toolchain", "interconnect", "clock")


def _laid_out() -> Json:
    """Return gates, design and one arm."""
    outcomes = ("planned", "complete", "failed", "timedOut", "truncated", "cancelled", "notStarted")
    arm = {
        **_texts("id", "role", "state", "reason", "processStartedAt", "startedAt", "finishedAt"),
        "settings": {"": ""},
        "plannedSettings": {"": ""},
        **{name: _digest() for name in ("bootId", "collector", "workload", "outputs", "checker")},
        **{name: _digest() for name in ("containerBefore", "containerAfter")},
        **_nulls("restarts", "oomKills", "preemptions", "transportFaults", "swaps"),
        "environment": _environment(),
        "activation": [{**_texts("feature", "state", "when", "basis"), "evidence": _digest()}],
        "counts": _nulls(*outcomes),
        "captures": [
            {
                "attempt": None,
                **_texts("state", "startedAt", "finishedAt"),
                "evidence": _evidence(),
            }
        ],
        "flags": [],
        "caseFlags": {"": []},
        "failingChecks": [],
    }
    return {
        "gates": {
            **{name: _digest() for name in ("planned", "judged", "timeEvidence")},
            "declaredAt": "",
        },
        "design": {
            "kind": "",
            "order": [""],
            "freshBootPerArm": None,
            **{name: [] for name in ("differingSettings", "algorithmicSettings", "cases")},
            **_nulls("repetitions", "warmups", "budgetUs"),
            "addedCases": [],
        },
        "arms": [arm],
        "scrapes": [{"arm": "", **_nulls("running", "cacheUse", "cacheTokens")}],
    }


def _measured(kind: Kind) -> Json:
    """Return one sample, one figure and one gate."""
    return {
        "sampleCount": None,
        "totals": {"core": None},
        "samples": [_sample(kind)],
        "derived": [
            {
                **_texts("id", "formula", "unit", "value", "better", "scope", "clock"),
                "operands": {"of": {"quantity": "", "arms": [], "cases": [], "membership": "core"}},
            }
        ],
        "outcomes": [
            {
                **_texts("gate", "kind", "state", "figure", "observed", "comparator"),
                **_texts("threshold", "execution"),
                "rows": _nulls("passed", "of"),
                "checks": [],
                "exitCode": None,
                "waiver": _texts("by", "reason"),
            }
        ],
    }


def _sample(kind: Kind) -> Json:
    common = {
        **_texts("arm", "case", "membership", "status"),
        **_nulls("repetition", "attempt", "exitCode"),
        "values": {"": None},
        "checks": [],
    }
    if kind is Kind.TIMING:
        return common | {"timingUs": _nulls("start", "elapsed")}
    return common | {
        **_nulls("httpStatus", "finishReason", "cap", "depth"),
        "usage": _nulls("promptTokens", "completionTokens", "totalTokens", "cachedTokens"),
        "counterDeltas": _nulls(
            *("requestSuccess", "prefixQueries", "prefixHits", "drafts", "draftTokens"),
            *("acceptedTokens", "acceptedPerPosition", "localCompute", "localHit", "external"),
            *("preemptions", "running"),
        ),
        "timingUs": _nulls("start", "ttft", "settle", "elapsed"),
        "request": _digest(),
        "response": {**_digest(), "bytes": 0, "name": ""},
        "epoch": _digest(),
        "idleBefore": False,
    }


def _claim() -> Json:
    return {
        **_texts("id", "kind", "text", "feature", "reference"),
        "figures": [],
        "arms": [],
        **_nulls("margin", "grid"),
        "resident": _nulls("requests", "tokens"),
        "scope": {},
    }


def _tests() -> Json:
    return {
        **_nulls("run", "passed", "failed", "errors"),
        "skipped": [_texts("test", "reason")],
        "disclosedFailures": [],
    }
