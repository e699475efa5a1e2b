"""What hyperfine exports as JSON: `results`, or `measurements` from schema version 2 on.

It keeps every run's time, so that its own statistics can be recomputed; it binds them to nothing.
Times are seconds as decimals; they become microseconds as the value `wall`, without loss.

Source: receipts.md §4.2.
"""

from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from verifier.checks.receipt.adapters import foreign
from verifier.checks.receipt.adapters.foreign import Imported, Refusals, counted
from verifier.core.limits import RECEIPT_BYTES
from verifier.core.table import Table

#: A recomputed mean may be off by the last digits of a float.
_NEAR: Final = Decimal("1e-9")
#: No run takes so many seconds.
_LONGEST: Final = 10**9
#: A float has 17 digits at most.
_DIGITS: Final = 20
UNSAID: Final = (
    "which commit and programs were measured, and on what: subject source, collector, environment",
    "in which order runs followed each other, and when: design, startedAt",
    "warm-up runs, which hyperfine does not keep",
    "gates and claims",
    "whether a command line holds something private: sanitisation",
)


def hyperfine(data: bytes, *, what: str) -> Imported:
    """Read an export. Raises `MalformedError`, or `WrongCallError` where it contradicts itself."""
    value = foreign.read_object(data, what=what, limit=RECEIPT_BYTES)
    refusals = Refusals(what)
    whole = foreign.table(value, what=what)
    version = whole.integer("schema_version") if whole.has("schema_version") else 1
    if version not in (1, 2):
        refusals.note("import-unsupported", f"schema version {version}")
        refusals.done()
    key = "results" if version == 1 else "measurements"
    commands = whole.tables(key)
    if not commands:
        whole.mistake(key, "missing, expected at least one command")
    arms, samples, derived = [], list[dict[str, Any]](), list[dict[str, Any]]()
    for number, command in enumerate(commands, 1):
        rows = _rows(command, value[key][number - 1], f"C{number}")
        foreign.sound(whole)
        statuses = [row["status"] for row in rows]
        settings = {"command": command.text("command")}
        if parameters := command.optional_table("parameters"):
            settings |= {f"parameter {name}": text for name, text in parameters.strings().items()}
        arms.append(
            {
                "id": f"C{number}",
                "role": "control" if number == 1 else "candidate",
                "settings": settings,
                "state": "complete" if set(statuses) == {"complete"} else "incomplete",
                **({} if set(statuses) == {"complete"} else {"reason": "a run failed"}),
                "counts": counted(statuses, planned=len(rows)),
            }
        )
        for problem in _statistics(value[key][number - 1], rows, f"C{number}", derived):
            refusals.note("import-contradicts", f"{key}[{number - 1}]: {problem}")
        samples += rows
    foreign.sound(whole)
    refusals.done()
    fingerprint = sha256(data).hexdigest()
    predicate = {
        "receiptId": f"hyperfine-{fingerprint[:16]}",
        "kind": "command-timing",
        "reporter": "not said: imported from an export of hyperfine",
        "assurance": "authorReported",
        "environment": {"clock": "wall clock of hyperfine, seconds"},
        "arms": arms,
        "sampleCount": len(samples),
        "totals": {"core": len(samples)},
        "samples": samples,
        "derived": derived,
        "evidence": [
            {
                "name": "hyperfine.json",
                "digest": {"sha256": fingerprint},
                "bytes": len(data),
                "published": False,
                "reason": "its owner decides; command lines are in it",
            }
        ],
    }
    return Imported(fingerprint=fingerprint, predicate=predicate, unsaid=UNSAID)


def _rows(command: Table, raw: dict[str, Any], arm: str) -> list[dict[str, Any]]:
    """Return a sample for each run; a run with another exit code than 0 failed."""
    times = raw.get("times")
    if not isinstance(times, list) or not times or not all(map(_number, times)):
        command.mistake("times", "expected a list of numbers from 0: export with --export-json")
        return []
    codes = raw.get("exit_codes") or [0] * len(times)
    if not isinstance(codes, list) or len(codes) != len(times):
        command.mistake("exit_codes", "expected as many as times")
        return []
    if not all(code is None or (type(code) is int and code >= 0) for code in codes):
        command.mistake("exit_codes", "expected integers from 0, or null")
        return []
    return [
        {
            "arm": arm,
            "case": "command",
            "membership": "core",
            "status": "complete" if code == 0 else "failed",
            "repetition": number,
            "exitCode": code,
            "values": {"wall": f"{_shifted(seconds):f}"},
        }
        for number, (seconds, code) in enumerate(zip(times, codes, strict=True))
    ]


def _number(value: Any) -> bool:
    if type(value) not in (int, Decimal) or not 0 <= value < _LONGEST:
        return False
    return len(Decimal(value).as_tuple().digits) <= _DIGITS


def _shifted(seconds: int | Decimal) -> Decimal:
    """Return microseconds; multiplying would round to the digits of a context."""
    sign, digits, exponent = Decimal(seconds).as_tuple()
    return Decimal((sign, digits, int(exponent) + 6))


def _statistics(
    raw: dict[str, Any], rows: list[dict[str, Any]], arm: str, derived: list[dict[str, Any]]
) -> list[str]:
    """Compare the export's own statistics with its times; publish the median as a figure."""
    times = sorted(Decimal(row["values"]["wall"]) / 1_000_000 for row in rows)
    count = len(times)
    middle = (times[(count - 1) // 2] + times[count // 2]) / 2
    expected = {
        "mean": sum(times, Decimal(0)) / count,
        "median": middle,
        "min": times[0],
        "max": times[-1],
    }
    problems = []
    for name, value in expected.items():
        given = raw.get(name)
        if given is not None and not (_number(given) and abs(Decimal(given) - value) <= _NEAR):
            problems.append(f"{name} does not follow from its times")
    if all(row["status"] == "complete" for row in rows):
        derived.append(
            {
                "id": f"median{arm}",
                "formula": "median",
                "unit": "us",
                "value": f"{(middle * 1_000_000).quantize(Decimal(1))}",
                "better": "lower",
                "clock": "wall clock of hyperfine, seconds",
                "operands": {"of": {"quantity": "values.wall", "arms": [arm]}},
            }
        )
    return problems
