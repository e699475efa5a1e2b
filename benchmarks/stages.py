"""Be a cold run that reads the clock between its stages: `python stages.py HOST`.

Prints, as JSON, the readings of `perf_counter_ns` (on Linux the same clock in every process), and
how much of the time two things took inside of the stages. A stage pays only for what those
before it have not imported.
"""

import time

clock = time.perf_counter_ns
readings = [["python start", clock()]]
inside = {"making our dataclasses": 0, "parsing the host": 0}


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

import builtins  # noqa: E402
import dataclasses  # noqa: E402
import sys  # noqa: E402
from typing import Any  # noqa: E402

plain_dataclass, plain_compile = dataclasses.dataclass, compile


def timed_dataclass(*arguments: Any, **options: Any) -> Any:
    """Be `dataclass`, and add up the time it takes."""
    decorate: Any = plain_dataclass(*arguments, **options)

    def apply(cls: Any) -> Any:
        began = clock()
        decorated = decorate(cls)
        inside["making our dataclasses"] += clock() - began
        return decorated

    return decorate if arguments else apply


def timed_compile(*arguments: Any, **options: Any) -> Any:
    """Be `compile`, and add up the time it takes."""
    began = clock()
    compiled = plain_compile(*arguments, **options)
    inside["parsing the host"] += clock() - began
    return compiled


dataclasses.dataclass = timed_dataclass
stage("our catalog", "verifier.catalog.open", "verifier.catalog.tuf.trusted")
stage("our checks", "verifier.checks.helper")
stage("our ask and policy", "verifier.ask.helper")
stage("our cli and render", "verifier.cli.app", "verifier.cli.verbs.verify", "verifier.render.text")

from verifier.ask.helper import verify_helper  # noqa: E402
from verifier.ask.trusted import trust  # noqa: E402
from verifier.render import text  # noqa: E402

builtins.compile = timed_compile
opened = trust(policy="region")
stage("open the registry")
report = verify_helper([sys.argv[1]], trust=opened)
stage("judge the host")
text.report(report)
stage("render")

import json  # noqa: E402

print(json.dumps({"readings": readings, "inside": inside}))
sys.exit(report.exit)
