"""Measure pinproof against its peers: `make bench`, or `python benchmarks/run.py --only cold`.

    cold   a 120 kB host, whole processes: an empty click command, and the sigstore CLI verifying
           a bundle offline (from a private Sigstore made for the run)
    large  a host of 100,000 lines, against a process that only parses it
    where  where the time of a cold run goes

Figures and targets are printed, nothing is asserted: machines differ. Only a process that does
not do its work ends the run, because then its figures mean nothing. Run it on an installed
wheel, as `make bench` does; without compiled modules every start-up takes twice as long.
Nothing is written outside a temporary folder.
"""

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

sys.dont_write_bytecode = True

from processes import (  # noqa: E402  (they too would leave compiled files behind)
    Command,
    Sample,
    WrongExitError,
    floor,
    interleaved,
    median,
    run,
)

HERE = Path(__file__).parent
PYTHON = sys.executable
PINPROOF = str(Path(PYTHON).parent / "pinproof")
PARSE = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
PACKAGES = ("pinproof", "click", "tuf", "securesystemslib", "cryptography", "sigstore")
VERSIONS = """
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
import verifier
for name in sys.argv[1:]:
    try:
        print(name, version(name), end=", ")
    except PackageNotFoundError:
        print(name, "missing", end=", ")
print("verifier in", Path(verifier.__file__).parents[1].name)
"""

# Peer → the figure that counts → how often the peer's median it may be.
Targets = dict[str, dict[str, float]]


def main() -> None:
    options = _options()
    names = (options.only,) if options.only else tuple(BENCHMARKS)
    with tempfile.TemporaryDirectory(prefix="pinproof-bench-") as name, contextlib.chdir(name):
        folder = Path(name)
        try:
            for line in _machine(folder):
                print(line)
            prepare = (PYTHON, "-B", str(HERE / "prepare.py"), name, *names)
            run(Command("prepare", prepare), folder)
            for benchmark in names:
                print(f"\n{benchmark}", flush=True)
                for line in BENCHMARKS[benchmark](folder, options.runs):
                    print(line, flush=True)
            print(f"\nload after {_load()}")
        except WrongExitError as error:
            sys.exit(f"bench: {error}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure pinproof against its peers.")
    parser.add_argument("--runs", type=int, default=15, help="rounds of a comparison (15)")
    parser.add_argument("--only", choices=BENCHMARKS, help="one benchmark instead of all")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs: expected at least 1")
    return options


# ── the benchmarks ─────────────────────────────────────────────────────────────────────────────


def cold(folder: Path, runs: int) -> Iterable[str]:
    host = folder / "host.py"
    yield f"  {_size(host)}, region, embedded registry"
    verify = ("--bundle", "host.py.sigstore.json", "host.py")
    commands = (
        Command("pinproof", (PINPROOF, "verify", "helper", "--policy", "region", "host.py")),
        Command("empty click", (PYTHON, "empty_click.py")),
        Command(
            "sigstore CLI",
            (
                *(PYTHON, "-P", "-m", "sigstore", "--trust-config", "trust.json"),
                *("verify", "identity", "--offline"),
                *("--cert-identity", "https://ci.private.test/build.yml@refs/heads/main"),
                *("--cert-oidc-issuer", "https://oidc.private.test"),
                *verify,
            ),
        ),
    )
    samples = interleaved(commands, rounds=runs, folder=folder)
    yield from _compared(samples, {"empty click": {"wall": 4.0}, "sigstore CLI": {"wall": 0.5}})


def large(folder: Path, runs: int) -> Iterable[str]:
    yield f"  {_size(folder / 'large.py')}, region, embedded registry"
    commands = (
        Command("pinproof", (PINPROOF, "verify", "helper", "--policy", "region", "large.py")),
        Command("ast.parse", (PYTHON, "-c", PARSE, "large.py")),
    )
    samples = interleaved(commands, rounds=runs, folder=folder)
    yield from _compared(samples, {"ast.parse": {"wall": 3.0, "peak": 1.3}})


def where(folder: Path, runs: int) -> Iterable[str]:
    """Print the stages of a cold run; they are measured in a process that reads a clock."""
    host = folder / "host.py"
    yield f"  {_size(host)}; each stage without what the stages before it imported"
    stages: dict[str, list[float]] = {}
    dataclasses: list[float] = []

    def read(_command: Command, sample: Sample) -> None:
        printed = json.loads((folder / "printed").read_text())
        before = sample.began
        for name, reading in [*printed["readings"], ("report and exit", sample.ended)]:
            stages.setdefault(name, []).append((reading - before) / 1e9)
            before = reading
        dataclasses.append(printed["dataclasses"] / 1e9)
        if printed["exit"]:
            raise WrongExitError(f"where: the report says exit {printed['exit']}")

    command = Command("where", (PYTHON, str(HERE / "stages.py"), "host.py"))
    samples = interleaved((command,), rounds=runs, folder=folder, after=read)
    walls = [sample.wall for sample in samples["where"]]
    rows = [("", "ms", "min–max", "share")]
    for name, values in [*stages.items(), ("all", walls)]:
        share = f"{median(values) / median(walls):.0%}"
        rows.append((name, *_spread(values, 1000), share))
    rows.append(("of it: our dataclasses", *_spread(dataclasses, 1000), ""))
    yield from _table(rows)


BENCHMARKS: dict[str, Callable[[Path, int], Iterable[str]]] = {
    "cold": cold,
    "large": large,
    "where": where,
}


# ── printing ───────────────────────────────────────────────────────────────────────────────────


def _compared(samples: dict[str, list[Sample]], targets: Targets) -> Iterable[str]:
    """Print medians and spreads, then the first command's medians over those of each peer."""
    least = floor()
    first = next(iter(samples))
    medians: dict[str, dict[str, float]] = {}
    rows = [("", "wall ms", "min–max", "CPU ms", "min–max", "peak MB", "min–max")]
    for name, taken in samples.items():
        figures = {
            "wall": [sample.wall for sample in taken],
            "CPU": [sample.cpu for sample in taken],
            "peak": [float(sample.peak) for sample in taken],
        }
        medians[name] = {what: median(values) for what, values in figures.items()}
        peak, spread = _spread(figures["peak"], 1e-6)
        told = peak if medians[name]["peak"] > least else f"≤ {peak}"
        times = (*_spread(figures["wall"], 1000), *_spread(figures["CPU"], 1000))
        rows.append((name, *times, told, spread))
    yield from _table(rows)
    for peer, wanted in targets.items():
        ratios = {what: medians[first][what] / medians[peer][what] for what in medians[peer]}
        said = ", ".join(f"{what} {ratio:.2f}" for what, ratio in ratios.items())
        goal = " and ".join(f"{what} at most {most}" for what, most in wanted.items())
        met = all(ratios[what] <= most for what, most in wanted.items())
        yield f"  {first} / {peer}: {said} · target {goal}: {'met' if met else 'missed here'}"


def _spread(values: Sequence[float], scale: float) -> tuple[str, str]:
    low, middle, high = (v * scale for v in (min(values), median(values), max(values)))
    return f"{middle:,.1f}", f"{low:,.1f}–{high:,.1f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  " + "  ".join(cells).rstrip()


def _size(file: Path) -> str:
    data = file.read_bytes()
    return f"{file.name}: {len(data):,} bytes, {data.count(b'\n'):,} lines"


# ── the machine ────────────────────────────────────────────────────────────────────────────────


def _machine(folder: Path) -> Iterable[str]:
    system = platform.uname()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = len(os.sched_getaffinity(0))
    yield f"machine   {_processor()}, {cores} cores for this run, {memory:.0f} GB"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"          {system.system} {system.release}, {python}"
    run(Command("versions", (PYTHON, "-P", "-c", VERSIONS, *PACKAGES)), folder)
    yield f"packages  {(folder / 'printed').read_text().strip()}"
    yield f"load      before {_load()}; peaks of memory below {floor() / 1e6:.0f} MB are not told"


def _processor() -> str:
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def _load() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


if __name__ == "__main__":
    main()
