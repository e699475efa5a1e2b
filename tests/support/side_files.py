"""Receipts whose samples stand in a side file."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterable
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from support import receipts
from verifier.checks.receipt.open import study
from verifier.checks.receipt.study import Study

#: Judges a receipt in a process that may use so many bytes of address space.
_CHILD: Final = """
import json, resource, sys
from verifier.ask.receipt import verify_receipt
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
study = verify_receipt([sys.argv[1]]).results[0].study
print(json.dumps({figure.id: figure.state for figure in study.figures}))
"""


def figures_within(folder: Path, *, memory: int) -> dict[str, str]:
    """Judge a folder's receipt in that many bytes of memory; return what each figure comes to."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", _CHILD, str(folder / "receipt.json"), str(memory)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, str] = json.loads(done.stdout)
    return figures


def opened(document: receipts.Json, rows: Iterable[Any]) -> Study:
    """Read a statement without samples, and rows beside it, into a study."""
    predicate = copy.deepcopy(document["predicate"])
    del predicate["samples"]
    return study(
        predicate,
        {each["name"]: each["digest"] for each in document["subject"]},
        what="receipt.json",
        sha256="0" * 64,
        companions=receipts.beside(),
        rows=rows,
    )


def _line(*, bare: bool) -> bytes:
    """Return a row to fill in: its arm, ttft and settle. To print each anew takes minutes."""
    row = receipts.samples()[1]
    if bare:
        row = {name: row[name] for name in ("arm", "case", "membership", "status", "timingUs")}
        row["usage"] = {"completionTokens": 120}
    row["arm"] = "%b"
    row["timingUs"] |= {"ttft": "%d", "settle": "%d"}
    text = json.dumps(row, separators=(",", ":"))
    assert "%" not in text.replace('"%b"', "").replace('"%d"', "")
    return text.replace('"%d"', "%d").encode() + b"\n"


def with_side_file(folder: Path, *, rows: int, bare: bool = False) -> dict[str, str]:
    """Write receipt.json and a side file of that many rows; return what each figure comes to.

    Rows that are `bare` hold what figures are made of, and no counters.
    """
    line = _line(bare=bare)
    times = [2_000_000 + (number * 7_919) % 1_000_003 for number in range(rows)]
    running, length = sha256(), 0
    with (folder / "samples.jsonl").open("wb") as file:
        for number, ttft in enumerate(times):
            arm = (b"B1", b"A1", b"A2", b"B2")[number % 4]
            written = line % (arm, ttft, ttft + 1_000 + number)
            file.write(written)
            running.update(written)
            length += len(written)
    ordered = sorted(times)
    p99 = ordered[-(-99 * rows // 100) - 1]
    expected = {
        "median": f"{Decimal(ordered[(rows - 1) // 2] + ordered[rows // 2]) / 2:.1f}",
        "p99": f"{p99}.0",
        "sum": f"{sum(times)}.0",
        "minimum": f"{ordered[0]}.0",
        "count": f"{rows}.0",
    }
    operand = {"quantity": "ttft", "arms": [], "cases": [], "membership": "core"}
    figures = [
        {
            "id": formula,
            "formula": formula,
            "unit": "count" if formula == "count" else "us",
            "value": value,
            "operands": {"of": operand},
        }
        for formula, value in expected.items()
    ]
    slowest = {**operand, "quantity": "decodeRate"}
    figures.append(
        {
            "id": "rate",
            "formula": "median",
            "unit": "tokens/s",
            "value": "1",
            "operands": {"of": slowest},
        }
    )
    document = receipts.made(derived=figures, sampleCount=rows, totals={"core": rows})
    del document["predicate"]["samples"]
    document["predicate"]["samplesFile"] = {
        "name": "samples.jsonl",
        "sha256": running.hexdigest(),
        "bytes": length,
    }
    (folder / "receipt.json").write_text(json.dumps(document))
    return dict.fromkeys(expected, "recomputed") | {"rate": "inconsistent"}
