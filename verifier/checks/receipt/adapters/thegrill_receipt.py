"""A run of TheGrill as the predicate of a receipt: one arm, its attempts as samples."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from verifier.checks.receipt.adapters.foreign import counted, time_of
from verifier.checks.receipt.adapters.thegrill_run import Attempt, Run, Wave
from verifier.core.digest import Pin

_ARM: Final = "run"
#: The normal form whose digest a plan records (`normal_forms`).
FORM: Final = "thegrill-workload"
_STATUSES: Final = {
    "complete": "complete",
    "malformed": "malformed",
    "total_timeout": "timedOut",
    "idle_timeout": "timedOut",
    "response_limit": "truncated",
    "interrupted": "cancelled",
}
_WHY: Final = "its owner decides; responses are in it"


def predicate(run: Run, fingerprint: str, pins: Mapping[str, Pin]) -> dict[str, Any]:
    """Return the predicate: only what the folder says."""
    samples = [
        _sample(run, wave, attempt)
        for wave in run.waves
        for attempt in wave.attempts
        if attempt.dispatched
    ]
    plan, deployment = run.plan, run.plan.get("deployment") or {}
    workload = plan["workload"]
    complete = run.status.startswith("completed")
    planned = sum(spec["concurrency"] for spec in run.specs)
    revision = deployment.get("model_revision")
    return {
        "receiptId": f"thegrill-{fingerprint[:16]}",
        "kind": "serving-benchmark",
        "reporter": "not said: imported from a run folder",
        "assurance": "authorReported",
        "collector": {
            "name": "grill-perf",
            "version": plan["tool_version"],
            "executable": {"sha256": run.collector_sha256},
        },
        "workloads": [
            {
                "id": str(workload.get("name") or "workload"),
                "source": {"sha256": run.source_sha256},
                "normalised": {"sha256": plan["workload_sha256"]},
                "normalisation": FORM,
                "file": "workload.json",
            }
        ],
        "models": [
            {
                "role": "target",
                "uri": plan["model"],
                **({"revision": {"gitCommit": revision}} if isinstance(revision, str) else {}),
            }
        ],
        "environment": _environment(deployment),
        "arms": [
            {
                "id": _ARM,
                "role": "control",
                "settings": _settings(deployment),
                "startedAt": time_of(run.started),
                "collector": {"sha256": run.collector_sha256},
                "workload": {"sha256": run.source_sha256},
                "state": "complete" if complete else "incomplete",
                **({} if complete else {"reason": run.status}),
                "counts": counted([each["status"] for each in samples], planned=planned),
            }
        ],
        "sampleCount": len(samples),
        "totals": dict(sorted(Counter(each["membership"] for each in samples).items())),
        "samples": samples,
        "evidence": [_file(name, pin) for name, pin in sorted(pins.items())],
    }


def _environment(deployment: Mapping[str, Any]) -> dict[str, str]:
    found = {"clock": "client, microseconds from the dispatch of a request"}
    if isinstance(deployment.get("hardware"), str) and deployment["hardware"]:
        found["hardware"] = deployment["hardware"]
    return found


def _settings(deployment: Mapping[str, Any]) -> dict[str, str]:
    settings = deployment.get("settings")
    if isinstance(settings, dict):
        return {name: str(value) for name, value in sorted(settings.items())}
    return {"settings": settings} if isinstance(settings, str) else {}


def _file(name: str, pin: Pin) -> dict[str, Any]:
    return {
        "name": name,
        "digest": {"sha256": pin.sha256},
        "bytes": pin.length,
        "published": False,
        "reason": _WHY,
    }


def _sample(run: Run, wave: Wave, attempt: Attempt) -> dict[str, Any]:
    usage = (attempt.prompt, attempt.completion, attempt.total, attempt.cached)
    names = ("promptTokens", "completionTokens", "totalTokens", "cachedTokens")
    status = _STATUSES.get(attempt.status, "failed")
    row = {
        "arm": _ARM,
        "case": wave.spec.get("case") or wave.spec["cell"],
        "membership": "core" if wave.measured else "warmup",
        "status": status,
        "repetition": wave.spec["trial"],
        "httpStatus": attempt.http,
        "finishReason": attempt.finish,
        "usage": dict(zip(names, usage, strict=True))
        if any(n is not None for n in usage)
        else None,
        "timingUs": {"ttft": attempt.first, "settle": attempt.settle, "elapsed": attempt.settle},
        "request": {"sha256": wave.requests[attempt.lane]},
        "response": {"sha256": attempt.response.sha256, "bytes": attempt.response.length},
    }
    cap = _cap(run, wave)
    return row if cap is None else {**row, "cap": cap}


def _cap(run: Run, wave: Wave) -> int | None:
    """Return how many tokens were asked for at most."""
    request = run.plan["workload"].get("request")
    if not isinstance(request, dict):
        return None
    output = request.get("output")
    if not wave.measured and request.get("warmup_output") is not None:
        output = request["warmup_output"]
    cap = output.get("tokens") if isinstance(output, dict) else None
    return cap if type(cap) is int else None
