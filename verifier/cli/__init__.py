"""The command line: reads arguments, calls `ask` or an action, prints, exits.

Only this room knows click, the environment and the terminal. Start-up is the largest part of a
short run, so a verb's module is imported when the verb is named, and the collector of reference
cycles is off: a run is over before it would pay.
"""

import gc
import os
import sys
from collections.abc import Sequence
from datetime import datetime

from verifier.cli.environment import forget_openssl
from verifier.core.verdict import Exit


def run() -> None:
    """Be the `pinproof` program: judge the process's arguments and end it."""
    gc.disable()
    forget_openssl()
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or Exit.ENVIRONMENT
    # Taking a parsed file and all modules apart again would be a tenth of a short run.
    os._exit(code)


def main(arguments: Sequence[str], *, clock: datetime | None = None) -> int:
    """Run one command line and return its exit code.

    `clock` replaces the present time; tests inject it, and no flag or variable does.
    """
    from verifier.cli.app import execute  # noqa: PLC0415  (so that run() is cheap)

    return execute(list(arguments), clock=clock)
