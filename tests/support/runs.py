"""Running pinproof: in this process at a fixed time, or as a program of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from support.registry import Registry
from verifier import __version__
from verifier.cli import main

#: The program that the wheel installed beside this interpreter.
PROGRAM: Final = Path(sys.executable).parent / "pinproof"


#: Give up CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (prctl PR_CAPBSET_DROP), then be the program.
_DROP: Final = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for capability in (1, 2):
    if libc.prctl(24, capability, 0, 0, 0):
        sys.exit("cannot drop a capability")
os.execv(sys.argv[1], sys.argv[1:])
"""


class Ran(NamedTuple):
    exit: int
    stdout: bytes
    stderr: bytes


def run(
    arguments: Sequence[str],
    *,
    cwd: Path,
    clock: datetime | None = None,
    stdin: bytes = b"",
) -> Ran:
    """Run the command line in this process, as `pinproof` would."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2)]
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="ascii")
    before = sys.stdin
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
    ):
        sys.stdin = given
        try:
            code = main(arguments, clock=clock)
        finally:
            sys.stdin = before
    out, err = (written(stream) for stream in streams)
    return Ran(code, out, err)


def written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue()


def program(
    arguments: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    unprivileged: bool = False,
) -> Ran:
    """Run the installed program, as users do.

    `unprivileged` takes from root, where the tests run as root, the power to read every file.
    """
    drop = [sys.executable, "-I", "-c", _DROP] if unprivileged and os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, PROGRAM, *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def trusting(registry: Registry) -> list[str]:
    """Return the options that make a run use a test registry."""
    root = registry.folder.parent / "trusted.root.json"
    root.write_bytes(registry.root)
    return ["--registry", str(registry.folder), "--root", str(root)]


def neutral(printed: bytes) -> bytes:
    """Take out what differs between releases and Python versions."""
    grammar = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for now, neutral_form in (
        (json.dumps({"version": __version__})[1:-1], '"version": "<version>"'),
        (json.dumps({"semanticVersion": __version__})[1:-1], '"semanticVersion": "<version>"'),
        (f"urn:pinproof:verifier:{__version__}", "urn:pinproof:verifier:<version>"),
        (json.dumps({"grammar": grammar})[1:-1], '"grammar": "<grammar>"'),
        (f"sealed with {__version__}", "sealed with <version>"),
    ):
        printed = printed.replace(now.encode(), neutral_form.encode())
    return printed


def content(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything of a folder that a run could change: names, modes, times, bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, data)
    return found
