"""What a section measured, as a measurement receipt: every sample, and the figures of them.

`pinproof verify receipt receipts/cold.json --policy benchmark` recomputes them.
"""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.processes import Sample

_PROJECT: Final = Path(__file__).parents[1]
#: What is measured of a process, its unit, and the places of a median.
_MEASURED: Final = {"wall": ("ns", 1), "cpu": ("s", 7), "peak": ("B", 1)}
_CLOCK: Final = "monotonic, around fork and wait in a launcher of its own"


def write(
    folder: Path,
    section: str,
    samples: Mapping[str, Sequence[Sample]],
    *,
    version: str,
    hardware: str,
    began: datetime,
    load: str,
    floor: int,
) -> Path:
    """Write the receipt of one section; what it replaces is superseded by its digest.

    Arms have no times of their own: their rounds are interleaved, so that none is measured as one.
    A peak is only known above `floor`, the launcher's own memory; below it is null, and no figure.
    """
    path = folder / f"{section}.json"
    arms = {name: f"C{number}" for number, name in enumerate(samples, 1)}
    commit = _git("rev-parse", "HEAD")
    program = (_PROJECT / "benchmarks" / "run.py").read_bytes()
    ended = _time(datetime.now(UTC))
    rows = [
        row for name, taken in samples.items() for row in _rows(arms[name], section, taken, floor)
    ]
    predicate: dict[str, Any] = {
        "receiptId": f"pinproof-{section}-{ended}",
        "kind": "command-timing",
        "reporter": "pinproof",
        "assurance": "authorReported",
        "plannedAt": _time(began),
        "verdictAt": ended,
        "claimHead": {"gitCommit": commit},
        "collector": {
            "name": "benchmarks/run.py",
            "version": version,
            "executable": {"sha256": sha256(program).hexdigest()},
            "sourceCommit": {"gitCommit": commit},
        },
        "workloads": [{"id": section, "source": {"sha256": sha256(program).hexdigest()}}],
        "runtime": {
            "composed": False,
            "dirtyTree": bool(_git("status", "--porcelain", "--untracked-files=no")),
            "components": [{"name": "pinproof", "digest": {"gitCommit": commit}}],
        },
        "environment": {
            "hardware": hardware,
            "driver": f"{platform.system()} {platform.release()}",
            "toolchain": f"{platform.python_implementation()} {platform.python_version()}",
            "interconnect": "none, one machine",
            "clock": _CLOCK,
        },
        "arms": [
            {
                "id": arm,
                "role": "candidate" if arm == "C1" else "control",
                "settings": {"program": name},
                "plannedSettings": {"program": name},
                "workload": {"sha256": sha256(program).hexdigest()},
                "collector": {"sha256": sha256(program).hexdigest()},
                "state": "complete",
                "counts": {
                    "planned": len(samples[name]),
                    "complete": len(samples[name]),
                    **dict.fromkeys(("failed", "timedOut", "truncated", "cancelled"), 0),
                    "notStarted": 0,
                },
            }
            for name, arm in arms.items()
        ],
        "sampleCount": len(rows),
        "totals": {"core": len(rows)},
        "samples": rows,
        "derived": _figures(samples, arms, section, floor),
        "deviations": [
            {"what": f"load of the machine while it measured: {load}", "affects": ["B21"]}
        ],
        "scope": {
            "measured": {"section": section},
            "notClaimed": ["other machines, and other inputs than the section makes"],
        },
        "sanitisation": {"redactedFields": [], "valuesAltered": False},
    }
    if path.exists():
        predicate["supersedes"] = {"sha256": sha256(path.read_bytes()).hexdigest()}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "source", "digest": {"gitCommit": commit}}],
        "predicateType": "urn:pinproof:measurement-receipt:v1",
        "predicate": predicate,
    }
    folder.mkdir(exist_ok=True)
    path.write_text(json.dumps(statement, indent=1) + "\n")
    return path


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(_PROJECT), *arguments], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def _time(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _rows(arm: str, section: str, taken: Sequence[Sample], floor: int) -> list[dict[str, Any]]:
    """Return a sample for each process; rounds are interleaved: 0 of all arms, then 1 of all."""
    return [
        {
            "arm": arm,
            "case": section,
            "membership": "core",
            "status": "complete",
            "repetition": number,
            "attempt": 1,
            "exitCode": 0,
            "checks": [{"id": "exit", "passed": True}],
            "values": _values(sample, floor),
        }
        for number, sample in enumerate(taken)
    ]


def _values(sample: Sample, floor: int) -> dict[str, Any]:
    return {
        "wall": sample.ended - sample.began,
        "peak": sample.peak if sample.peak > floor else None,
        "cpu": f"{sample.cpu:.6f}",
    }


def _figures(
    samples: Mapping[str, Sequence[Sample]], arms: Mapping[str, str], section: str, floor: int
) -> list[dict[str, Any]]:
    """Return the median of each command, and that of the first over those of its peers."""
    found: list[dict[str, Any]] = []
    for what, (unit, places) in _MEASURED.items():
        medians: dict[str, Fraction] = {}
        for name, taken in samples.items():
            numbers = [_values(sample, floor)[what] for sample in taken]
            if None in numbers:
                continue
            medians[name] = Fraction(median(map(Fraction, numbers)))
            operand = {"quantity": f"values.{what}", "arms": [arms[name]], "cases": [section]}
            figure = _figure(f"{what}{arms[name]}", "median", unit, medians[name], places)
            found.append({**figure, "operands": {"of": {**operand, "membership": "core"}}})
        first, *peers = samples
        for peer in peers:
            if not {first, peer} <= medians.keys():
                continue
            ratio = medians[first] / medians[peer]
            operands = {
                "candidate": {"figure": f"{what}{arms[first]}"},
                "baseline": {"figure": f"{what}{arms[peer]}"},
            }
            figure = _figure(f"{what}Over{arms[peer]}", "ratio", "1", ratio, 2)
            found.append({**figure, "operands": operands})
    return found


def _figure(name: str, formula: str, unit: str, value: Fraction, places: int) -> dict[str, Any]:
    digits = f"{round(value * 10**places):0{places + 1}}"
    return {
        "id": name,
        "formula": formula,
        "unit": unit,
        "value": f"{digits[:-places]}.{digits[-places:]}",
        "better": "lower",
        "clock": _CLOCK,
    }


def hardware() -> str:
    """Say which processor there is, and how many may be used."""
    model = "processor unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} processors"
