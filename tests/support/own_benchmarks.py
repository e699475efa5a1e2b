"""The package `benchmarks` of the checkout, without the checkout's `verifier` on the path."""

import sys
from pathlib import Path
from types import ModuleType

if "benchmarks" not in sys.modules:
    _package = ModuleType("benchmarks")
    _package.__path__ = [str(Path(__file__).parents[2] / "benchmarks")]
    sys.modules["benchmarks"] = _package

from benchmarks import receipts
from benchmarks.processes import Sample

__all__ = ["Sample", "receipts"]
