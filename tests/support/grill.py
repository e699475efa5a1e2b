"""A run folder of TheGrill, made up: three waves, two of them published, one never started."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
COLLECTOR: Final = "a" * 64
#: The normal form of `workload`, as the program prints it; written out by hand.
NORMAL: Final = (
    '{"version":3,"name":"two-at-once","request":{"profile":"chat","stream":true,'
    '"output":{"tokens":40,"mode":"cap"},"cache":"none",'
    '"temperature_milli":null,"top_p_milli":null,"seed":null},'
    '"limits":{"total_ms":60000,"idle_ms":5000,"response_bytes":1024,"wave_buffer_bytes":4096},'
    '"cases":[{"id":"prose","messages":[{"role":"user","content":"go on"}]}],'
    '"cells":[{"id":"c2","case":"prose","concurrency":2,"warmup_trials":1,"trials":2}]}'
)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def write(path: Path, value: Any) -> bytes:
    """Write as serde_json does: pretty, and no final newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(value, indent=2).encode()
    path.write_bytes(data)
    return data


def attempt(lane: int, body: bytes) -> Json:
    return {
        "lane": lane,
        "dispatched": True,
        "status": "complete",
        "detail": "",
        "http_status": 200,
        "finish_reason": "length",
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 40,
            "total_tokens": 1040,
            "cached_prompt_tokens": None,
            "reasoning_tokens": None,
        },
        "timing": {
            "dispatch_offset_us": lane * 10,
            "headers_us": 900,
            "first_body_us": 950,
            "first_generated_text_us": 500_000,
            "settle_us": 2_000_000,
        },
        "response_bytes": len(body),
        "response_sha256": digest(body),
        "terminal_offset": len(body),
        "surplus_observed_bytes": 0,
        "eligibility_errors": [],
    }


def workload() -> Json:
    return {
        "version": 3,
        "name": "two-at-once",
        "request": {
            "stream": True,
            "profile": "chat",
            "cache": "none",
            "output": {"mode": "cap", "tokens": 40},
        },
        "limits": {
            "response_bytes": 1024,
            "wave_buffer_bytes": 4096,
            "total_ms": 60000,
            "idle_ms": 5000,
        },
        "cases": [{"messages": [{"role": "user", "content": "go on"}], "id": "prose"}],
        "cells": [{"id": "c2", "case": "prose", "concurrency": 2, "warmup_trials": 1, "trials": 2}],
    }


def plan(source: bytes) -> Json:
    phases = ("warmup", "measured", "measured")
    return {
        "version": 3,
        "metric_contract": "generated-text-arrival-v2",
        "kind": "performance-run-v1",
        "tool_version": "0.4.0",
        "collector_sha256": COLLECTOR,
        "workload": json.loads(source),
        "workload_sha256": digest(NORMAL.encode()),
        "source_sha256": digest(source),
        "model": "glm",
        "deployment": {"model_revision": "c" * 40, "hardware": "two GB10", "settings": {"tp": 2}},
        "started_unix_ms": 1_764_000_000_123,
        "waves": [
            {
                "index": index,
                "phase": phase,
                "cell": "c2",
                "case": "prose",
                "trial": index,
                "concurrency": 2,
            }
            for index, phase in enumerate(phases)
        ],
    }


def run(folder: Path) -> Path:
    """Write the run; every digest and count agrees with every other one."""
    source = write(folder / "workload.json", workload())
    planned = plan(source)
    write(folder / "plan.json", planned)
    for spec in planned["waves"][:2]:
        wave(folder, spec)
    chained(folder)
    return folder


def wave(folder: Path, spec: Json) -> None:
    place = folder / f"wave-{spec['index']:06}"
    place.mkdir(parents=True, exist_ok=True)
    bodies = [b"data: one\n", b"data: two two\n"]
    for lane, body in enumerate(bodies):
        (place / f"response-{lane:04}.bin").write_bytes(body)
    requests = [f'{{"lane": {lane}}}' for lane in range(2)]
    write(
        place / "reservation.json",
        {
            "version": 1,
            "plan_sha256": "",
            "wave": spec,
            "requests": requests,
            "request_sha256": [digest(body.encode()) for body in requests],
        },
    )
    write(
        place / "wave.json",
        {
            "version": 1,
            "plan_sha256": "",
            "reservation_sha256": "",
            "spec": spec,
            "attempts": [attempt(lane, body) for lane, body in enumerate(bodies)],
            "elapsed_us": 2_000_010,
            "dispatch_spread_us": 10,
            "completion_tokens": 80,
            "achieved_completion_tokens_per_second": 80 * 1e6 / 2_000_010,
            "eligible": True,
        },
    )


def chained(folder: Path) -> None:
    """Write all digests of the chain anew, and the summary of the one session."""
    plan_hash = digest((folder / "plan.json").read_bytes())
    for place in sorted(folder.glob("wave-*")):
        old = json.loads((place / "reservation.json").read_bytes())
        reserved = write(place / "reservation.json", {**old, "plan_sha256": plan_hash})
        if (place / "wave.json").exists():
            chain = {"plan_sha256": plan_hash, "reservation_sha256": digest(reserved)}
            write(place / "wave.json", {**json.loads((place / "wave.json").read_bytes()), **chain})
    write(
        folder / "session-000000/session.json",
        {
            "version": 1,
            "index": 0,
            "first_wave": 0,
            "plan_sha256": plan_hash,
            "collector_sha256": COLLECTOR,
        },
    )
    end = {
        "version": 1,
        "session": 0,
        "first_wave": 0,
        "status": "interrupted",
        "planned_waves": 3,
        "published_waves": 2,
        "measured_waves": 1,
        "eligible_measured_waves": 1,
        "ineligible_warmup_waves": 0,
    }
    write(folder / "session-000000/run.json", end)
    write(folder / "run.json", end)


def edited(path: Path, change: Callable[[Json], Any]) -> bytes:
    """Change a JSON file in place; it has to become another one."""
    before = path.read_bytes()
    value = json.loads(before)
    change(value)
    data = write(path, value)
    assert data != before, "nothing was changed"
    return data
