"""Be a cold run that reads the clock between its stages: `python stages.py HOST`.

Prints, as JSON, the readings of `perf_counter_ns` (on Linux the same clock in every process) and
how long decorating pinproof's own dataclasses took. Each stage pays only for what those before
it have not imported yet.
"""

import time

clock = time.perf_counter_ns
readings = [["python start", clock()]]


def stage(name: str, *modules: str) -> None:
    for module in modules:
        __import__(module)
    readings.append([name, clock()])


import gc  # noqa: E402

gc.disable()
stage("ast", "ast")
stage("click", "click")
stage("cryptography", "cryptography.hazmat.primitives.asymmetric.ed25519")
stage("securesystemslib", "securesystemslib.signer")
stage("tuf", "tuf.api.metadata")
stage("tomllib", "tomllib")

import dataclasses  # noqa: E402
import sys  # noqa: E402
from typing import Any  # noqa: E402

plain, decorating = dataclasses.dataclass, [0]


def timed(*arguments: Any, **options: Any) -> Any:
    """Be `dataclass`, and add up the time it takes."""
    decorate: Any = plain(*arguments, **options)
    if arguments:
        return decorate

    def apply(cls: Any) -> Any:
        began = clock()
        decorated = decorate(cls)
        decorating[0] += clock() - began
        return decorated

    return apply


dataclasses.dataclass = timed  # type: ignore[assignment]
readings.append(["this benchmark", clock()])
stage("verifier.cli", "verifier.cli.app", "verifier.cli.verify")
stage("verifier.ask, checks", "verifier.ask.helper")
stage("verifier.catalog.tuf", "verifier.catalog.tuf.trusted")
stage("verifier.render", "verifier.render.text")

from verifier.ask.helper import verify_helper  # noqa: E402
from verifier.ask.trust import trust  # noqa: E402
from verifier.render import text  # noqa: E402

opened = trust(policy="region")
stage("open the registry")
report = verify_helper([sys.argv[1]], trust=opened)
stage("judge the host")
printed = text.report(report)
stage("render")

import json  # noqa: E402

print(json.dumps({"readings": readings, "dataclasses": decorating[0], "exit": int(report.exit)}))
