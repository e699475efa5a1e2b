"""A sound measurement receipt, and every way to spoil it.

    document = receipts.sound()
    receipts.change(document, "arms.0.settings.FINE", "1")
    answer = receipts.answer("B12", document)

The study is invented: two settings of a server, four arms in the order BAAB, two cases. All its
numbers follow from its samples, which `samples` makes; a test changes one thing of it.
"""

import copy
import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from verifier.checks.receipt.answer import Answer, Broken
from verifier.checks.receipt.open import study
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.study import Companions, Study
from verifier.core.digest import Pin

COMMIT: Final = "4a" * 20
OTHER_COMMIT: Final = "5b" * 20
BASE: Final = "6c" * 20

Json = dict[str, Any]


def digest(name: str) -> Json:
    """Return the SHA-256 that stands for a thing of that name."""
    return {"sha256": sha256(name.encode()).hexdigest()}


def _arm(name: str, number: int, role: str, *, fine: str) -> Json:
    hour = 8 + number
    return {
        "id": name,
        "role": role,
        "settings": {"FINE": fine, "DEPTH": "2"},
        "plannedSettings": {"FINE": fine, "DEPTH": "2"},
        "processStartedAt": f"2026-11-20T{hour:02}:00:00Z",
        "startedAt": f"2026-11-20T{hour:02}:10:00Z",
        "finishedAt": f"2026-11-20T{hour:02}:40:00Z",
        "bootId": digest(f"boot {name}"),
        "collector": digest("collector"),
        "workload": digest("workload"),
        "restarts": 0,
        "oomKills": 0,
        "preemptions": 0,
        "transportFaults": 0,
        "swaps": 0,
        "containerBefore": digest(f"container {name}"),
        "containerAfter": digest(f"container {name}"),
        "state": "complete",
        "activation": [
            {
                "feature": "FINE",
                "state": "observed",
                "when": when,
                "evidence": digest(f"log {name}"),
                "basis": "requestLog",
            }
            for when in ("before", "after")
        ]
        if fine == "1"
        else [],
        "counts": {
            "planned": 10,
            "complete": 10,
            "failed": 0,
            "timedOut": 0,
            "truncated": 0,
            "cancelled": 0,
            "notStarted": 0,
        },
        "captures": [
            {
                "attempt": 1,
                "state": "complete",
                "evidence": {
                    "name": f"{name}.tar",
                    "digest": digest(f"capture {name}"),
                    "bytes": 4096,
                    "published": False,
                    "reason": "it holds prompts",
                },
            }
        ],
        "failingChecks": [],
        "outputs": digest("outputs"),
        "checker": digest("checker"),
    }


def samples() -> list[Json]:
    """Return 40 rows: four arms, two cases, one warm-up and four core requests each."""
    rows = []
    for arm, base in (("B1", 3_000_000), ("A1", 4_000_000), ("A2", 4_040_000), ("B2", 3_020_000)):
        for case, prompt in (("short", 8_194), ("long", 16_388)):
            for number in range(5):
                ttft = base * (prompt // 8_194) + 1_000 * number
                rows.append(
                    {
                        "arm": arm,
                        "case": case,
                        "membership": "core" if number else "warmup",
                        "attempt": 1,
                        "repetition": number,
                        "status": "complete",
                        "httpStatus": 200,
                        "finishReason": "length",
                        "cap": 120,
                        "depth": 2,
                        "usage": {
                            "promptTokens": prompt,
                            "completionTokens": 120,
                            "totalTokens": prompt + 120,
                            "cachedTokens": 0,
                        },
                        "counterDeltas": {
                            "requestSuccess": 1,
                            "prefixQueries": prompt,
                            "prefixHits": 0,
                            "localCompute": prompt,
                            "localHit": 0,
                            "external": 0,
                            "drafts": 50,
                            "draftTokens": 99,
                            "acceptedTokens": 70,
                            "acceptedPerPosition": [45, 25],
                            "preemptions": 0,
                            "running": 0,
                        },
                        "epoch": digest(f"boot {arm}"),
                        "idleBefore": True,
                        "request": digest(f"request {case} {number}"),
                        "response": {
                            **digest(f"response {case} {number}"),
                            "bytes": 900,
                            "name": f"response-{case}-{number}.bin",
                        },
                        "timingUs": {
                            "start": 10_000_000 * number,
                            "ttft": ttft,
                            "settle": ttft + 4_000_000,
                            "elapsed": ttft + 4_000_000,
                        },
                        "checks": [{"id": "format", "passed": True}],
                    }
                )
    return rows


def _median(name: str, arms: list[str], value: str) -> Json:
    operand = {"quantity": "ttft", "arms": arms, "cases": ["short"], "membership": "core"}
    return {
        "id": name,
        "formula": "median",
        "unit": "us",
        "value": value,
        "operands": {"of": operand},
        "better": "lower",
        "scope": "perRequest",
        "clock": "client monotonic, with API and network",
    }


def _figures() -> list[Json]:
    """Return the figures; each value is worked out by hand, from `samples`."""
    return [
        # B1: 3,001,000 to 3,004,000; B2: 3,021,000 to 3,024,000: (3,004,000 + 3,021,000) / 2
        _median("ttftOn", ["B1", "B2"], "3012500"),
        # A1: 4,001,000 to 4,004,000; A2: 4,041,000 to 4,044,000
        _median("ttftOff", ["A1", "A2"], "4022500"),
        {
            "id": "ttftChange",
            "formula": "change",
            "unit": "%",
            "value": "-25.11",  # 100 (3012.5 / 4022.5 - 1) = -25.1087...
            "operands": {"candidate": {"figure": "ttftOn"}, "baseline": {"figure": "ttftOff"}},
            "better": "lower",
            "scope": "perRequest",
            "clock": "client monotonic, with API and network",
        },
        {
            "id": "acceptanceOn",
            "formula": "acceptanceLength",
            "unit": "tokens/step",
            "value": "2.4",  # 1 + 70/50
            "operands": {
                name: {
                    "quantity": quantity,
                    "arms": ["B1", "B2"],
                    "cases": [],
                    "membership": "core",
                }
                for name, quantity in (("accepted", "acceptedTokens"), ("drafts", "drafts"))
            },
            "better": "higher",
            "scope": "aggregate",
        },
    ]


def sound() -> Json:
    """Return a statement whose every rule holds or does not apply."""
    arms = [
        _arm("B1", 0, "candidate", fine="1"),
        _arm("A1", 1, "control", fine="0"),
        _arm("A2", 2, "return", fine="0"),
        _arm("B2", 3, "candidate", fine="1"),
    ]
    predicate = {
        "receiptId": "fine-cache-2026-11-20",
        "kind": "serving-benchmark",
        "status": "qualified",
        "reporter": "maintainer of the fork",
        "assurance": "maintainerRun",
        "plannedAt": "2026-11-19T12:00:00Z",
        "verdictAt": "2026-11-20T13:00:00Z",
        "publishedAt": "2026-11-20T14:00:00Z",
        "claimHead": {"gitCommit": COMMIT},
        "baseCommit": {"gitCommit": BASE},
        "targetBranchHead": {"gitCommit": BASE},
        "approvedHead": {"gitCommit": COMMIT},
        "collector": {
            "name": "grill-perf",
            "version": "0.4.0",
            "executable": digest("collector"),
            "sourceCommit": {"gitCommit": "7d" * 20},
            "releaseArchive": digest("collector archive"),
        },
        "workloads": [
            {
                "id": "two-lengths",
                "source": digest("workload"),
                "normalised": digest("workload, normalised"),
                "normalisation": "sorted-json",
                "producer": digest("producer"),
                "file": "workload.json",
            }
        ],
        "models": [
            {
                "role": role,
                "uri": f"https://models.test/{role}",
                "revision": {"gitCommit": "8e" * 20},
            }
            for role in ("target", "draft", "tokenizer")
        ],
        "runtime": {
            "composed": False,
            "dirtyTree": False,
            "components": [{"name": "vllm", "digest": {"gitCommit": COMMIT}}],
            "images": [
                {"rank": rank, "id": digest("image"), "registryDigest": digest("manifest")}
                for rank in (0, 1)
            ],
            "loadedFiles": [
                {
                    "rank": rank,
                    "path": "vllm/v1/core/sched/scheduler.py",
                    "loaded": digest("scheduler"),
                    "recorded": digest("scheduler"),
                }
                for rank in (0, 1)
            ],
        },
        "environment": {
            "hardware": "two GB10",
            "driver": "580.1",
            "toolchain": "CUDA 13.0",
            "interconnect": "200 Gb/s ring",
            "clock": "client monotonic, with API and network",
        },
        "gates": {
            "planned": digest("gates"),
            "judged": digest("gates"),
            "declaredAt": "2026-11-19T11:00:00Z",
            "timeEvidence": digest("timestamp"),
        },
        "design": {
            "kind": "BAAB",
            "order": ["B1", "A1", "A2", "B2"],
            "freshBootPerArm": True,
            "differingSettings": ["FINE"],
            "cases": ["short", "long"],
            "repetitions": 4,
            "warmups": 1,
            "budgetUs": 3_600_000_000,
        },
        "arms": arms,
        "sampleCount": 40,
        "totals": {"core": 32, "warmup": 8},
        "samples": samples(),
        "derived": _figures(),
        "outcomes": [
            {
                "gate": "ttft",
                "kind": "performance",
                "state": "PASS",
                "figure": "ttftChange",
                "observed": "-25.11",
                "comparator": "<=",
                "threshold": "-10",
                "execution": "real",
            },
            {
                "gate": "format",
                "kind": "outputCheck",
                "state": "PASS",
                "rows": {"passed": 40, "of": 40},
                "checks": ["format"],
                "execution": "real",
            },
        ],
        "claims": [
            {
                "id": "faster",
                "kind": "improvement",
                "text": "time to first token falls by a quarter at 8,194 tokens",
                "figures": ["ttftChange"],
                "arms": ["B1", "A1", "A2", "B2"],
                "feature": "FINE",
                "reference": "FINE off in this configuration",
                "scope": {"topology": "TP2"},
            }
        ],
        "scope": {
            "measured": {"topology": "TP2", "contextMax": "16388", "concurrency": "1"},
            "notClaimed": ["contexts above 16,388 tokens", "several requests at once"],
        },
        "evidence": [
            {
                "name": "capture.tar",
                "digest": digest("capture"),
                "bytes": 16384,
                "published": False,
                "reason": "it holds prompts",
                "role": "raw",
            }
        ],
        "sanitisation": {"redactedFields": [], "valuesAltered": False},
    }
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "source", "digest": {"gitCommit": COMMIT}},
            {"name": "image", "digest": digest("image")},
        ],
        "predicateType": "urn:pinproof:measurement-receipt:v1",
        "predicate": predicate,
    }


def beside() -> Companions:
    """Return what is given beside the sound receipt: its head, known tools, every file."""
    known = frozenset(digest(name)["sha256"] for name in ("collector", "collector archive"))
    stored = (row["response"] for row in samples())
    files = {
        **{each["name"]: Pin(sha256=each["sha256"], length=each["bytes"]) for each in stored},
        "workload.json": Pin(sha256=digest("workload")["sha256"], length=512),
        "capture.tar": Pin(sha256=digest("capture")["sha256"], length=16384),
        **{
            f"{arm}.tar": Pin(sha256=digest(f"capture {arm}")["sha256"], length=4096)
            for arm in ("B1", "A1", "A2", "B2")
        },
    }
    normal = digest("workload, normalised")["sha256"]
    return Companions(
        head=COMMIT,
        published=known,
        files=files,
        gates=Pin(sha256=digest("gates")["sha256"], length=256),
        gate_names=frozenset({"ttft", "format"}),
        gates_signed_at="2026-11-19T11:00:05Z",
        normalised={(digest("workload")["sha256"], "sorted-json"): normal},
    )


def beside_but(**changes: Any) -> Companions:
    """Return what is given beside the sound receipt, with some of it otherwise."""
    usual = beside()
    names = Companions.__dataclass_fields__
    return Companions(**{name: changes.get(name, getattr(usual, name)) for name in names})


def change(document: Json, path: str, value: Any) -> Json:
    """Set, or with `...` delete, what stands at a dotted path of the predicate."""
    place: Any = document["predicate"]
    *above, last = path.split(".")
    for name in above:
        place = place[int(name)] if isinstance(place, list) else place[name]
    key: Any = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
        return document
    given = isinstance(place, list) or key in place
    same = given and json.dumps(place[key], sort_keys=True) == json.dumps(value, sort_keys=True)
    assert not same, "nothing was changed"
    place[key] = copy.deepcopy(value)
    return document


def made(**changes: Any) -> Json:
    """Return the sound receipt with some paths set; `__` stands for a point."""
    document = sound()
    for path, value in changes.items():
        change(document, path.replace("__", "."), value)
    return document


def spoilt(changes: Mapping[str, Any]) -> Json:
    """Return the sound receipt changed at paths; `*` is every item, `subject.NAME` a subject."""
    document = sound()
    for path, value in changes.items():
        above, star, below = path.partition(".*.")
        if star:
            listed = document["predicate"]
            for name in above.split("."):
                listed = listed[int(name)] if isinstance(listed, list) else listed[name]
            for number in range(len(listed)):
                change(document, f"{above}.{number}.{below}", value)
        elif path.startswith("subject."):
            name = path.removeprefix("subject.")
            rest = [each for each in document["subject"] if each["name"] != name]
            document["subject"] = [*rest, *([] if value is ... else [{"name": name, **value}])]
            assert document["subject"] != sound()["subject"]
        else:
            change(document, path, value)
    return document


def claim(name: str, kind: str, **more: Any) -> Json:
    """Return a claim."""
    return {"id": name, "kind": kind, "text": f"{kind} is claimed", **more}


def opened(
    document: Mapping[str, Any],
    companions: Companions | None = None,
    rows: Iterable[Any] | None = None,
) -> Study:
    """Read a statement into a study; `rows` stand in a side file."""
    subjects = {each["name"]: each["digest"] for each in document["subject"]}
    printed = json.dumps(document)
    return study(
        json.loads(printed)["predicate"],  # a copy, in a tenth of the time of `deepcopy`
        subjects,
        what="receipt.json",
        sha256=sha256(printed.encode()).hexdigest(),
        companions=beside() if companions is None else companions,
    )


def less(code: str, claims: str) -> str:
    """Return a code and the claims that it takes away, as `found` does."""
    return f"{code} {claims}".rstrip()


def found(rule: str, document: Mapping[str, Any], companions: Companions | None = None) -> str:
    """Ask one rule: its code if it is broken, else `holds` or `uncheckable`."""
    asked = next(each for each in RULES if each.id == rule)
    said = asked.answer(opened(document, companions))
    if isinstance(said, Broken):
        assert said.claims <= {each["id"] for each in document["predicate"]["claims"]}
        return less(asked.code(said.condition), " ".join(sorted(said.claims)))
    return type(said).__name__.lower()


def answer(rule: str, document: Mapping[str, Any], companions: Companions | None = None) -> Answer:
    """Ask one rule, by its id."""
    asked = next(each for each in RULES if each.id == rule)
    return asked.answer(opened(document, companions))
