"""A receipt of a hundred thousand samples and two hundred figures, and ten million beside one."""

import copy
import json
from pathlib import Path
from typing import Any, Final

from support import receipts

SAMPLES: Final = 100_000
FIGURES: Final = 200
_QUANTITIES: Final = ("ttft", "settle", "decodeRate", "prefillRate")
_FORMULAS: Final = ("median", "mean", "sum", "geometricMean", "maximum")
_ARMS: Final = (["B1"], ["A1"], ["A2"], ["B2"], ["B1", "B2"])
_CASES: Final[tuple[list[str], ...]] = (["short"], ["long"], [])
#: What rows of a lean collector do not have.
_LEFT_OUT: Final = (
    *("request", "response", "checks", "epoch", "finishReason"),
    *("attempt", "httpStatus", "idleBefore"),
)


def large(folder: Path) -> Path:
    """Write the receipt; every row has a time to the first token of its own."""
    document = receipts.sound()
    predicate = document["predicate"]
    predicate["samples"] = [_row(predicate["samples"], number) for number in range(SAMPLES)]
    predicate["sampleCount"] = SAMPLES
    predicate["derived"] = [_figure(predicate["derived"][0], number) for number in range(FIGURES)]
    predicate["outcomes"] = predicate["outcomes"][1:]
    predicate["claims"][0]["figures"] = ["f0"]
    path = folder / "receipt.json"
    path.write_text(json.dumps(document))
    return path


def _row(rows: list[dict[str, Any]], number: int) -> dict[str, Any]:
    row = copy.deepcopy(rows[number % len(rows)])
    for name in _LEFT_OUT:
        del row[name]
    row["counterDeltas"] = {
        name: row["counterDeltas"][name] for name in ("drafts", "acceptedTokens")
    }
    row["timingUs"]["ttft"] += number
    row["repetition"] = number // len(rows)
    return row


def _figure(like: dict[str, Any], number: int) -> dict[str, Any]:
    """Make one of a fifth of the numbers; roots and sums of times alone, the rest of rates too."""
    figure = copy.deepcopy(like)
    figure["id"] = f"f{number}"
    figure["operands"]["of"] |= {
        "quantity": _QUANTITIES[number % 4],
        "arms": _ARMS[number % 5],
        "cases": _CASES[number % 3],
    }
    times = number % 4 < 2
    figure["formula"] = _FORMULAS[number // 4 % 5] if times else _FORMULAS[number % 2]
    return figure
