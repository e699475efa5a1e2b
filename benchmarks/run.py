"""Measure pinproof against its peers: `make bench`, or `python benchmarks/run.py --only cold`.

    cold   a 120 kB host, whole processes: an empty click command, and the sigstore CLI verifying
           a bundle offline (from a private Sigstore made for the run)
    large  a host of 100,000 lines, against a process that only parses it
    plan   planning a migration of these two hosts, against verifying them
    where  where the time of a cold run goes
    git    a commit of 5,000 blobs, against programs that read the same objects and hash none;
           and what each safeguard costs
    head   a proposed merge on that commit, with a host, against reading the tree of its head; and
           200 heads in one call
    folder 100,000 files of 8 kB, against `sha256sum -c`
    files  two files of 1 GiB in a folder, against two openssl side by side
    composition
           100,000 files of 8 kB as an installed composition, against reading and hashing them
    proof  a chain of 40 patches over 5,000 files, against reading its base and target
    image  a layer of 345 MB and 19,000 files, against a process that decompresses it with isal and
           makes one hash, and against skopeo, umoci and sha256sum, if they are there; two layers
    bundles
           1,000 bundles in one call, against one process of sigstore's verifier over them; and an
           envelope that a key has signed, against an empty click command
    receipt
           100,000 samples and 200 figures, against a process that only parses their JSON

Figures and targets are printed, nothing is asserted: machines differ. Only a process that does
not do its work ends the run, because then its figures mean nothing. Run it on an installed
wheel, as `make bench` does; without compiled modules every start-up takes twice as long.
Nothing is written outside temporary folders, of which one is in /dev/shm if there is room; with
--receipts, what a section compares first is kept as a measurement receipt of the commit.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Final

HERE: Final = Path(__file__).parent
sys.dont_write_bytecode = True
sys.path[:1] = [str(HERE.parent), str(HERE.parent / "tests")]

from benchmarks import (  # noqa: E402  (they too would leave compiled files behind)
    bundles,
    composed,
    heads,
    images,
    many_samples,
    prepare,
    proof,
    receipts,
    trees,
)
from benchmarks.git_without import LEFT_OUT  # noqa: E402
from benchmarks.processes import (  # noqa: E402
    Command,
    Processes,
    Sample,
    WrongExitError,
    spread,
)

PYTHON: Final = sys.executable
PINPROOF: Final = str(Path(PYTHON).parent / "pinproof")
LOADS: Final = "import json, sys; json.loads(open(sys.argv[1], 'rb').read())"
PARSE: Final = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
PACKAGES: Final = ("pinproof", "click", "tuf", "securesystemslib", "cryptography", "sigstore")
PATH: Final = "/usr/bin:/bin"
UNPACKERS: Final = ("skopeo", "umoci")
NO_ROOM: Final = f"skipped: less than {trees.ROOM / 1e9:.1f} GB free"
#: Said by a process like those that are measured: which packages it would use.
VERSIONS: Final = (
    "import sys, verifier; from importlib.metadata import distributions; from pathlib import Path;"
    "found = {d.name: d.version for d in distributions()};"
    "print(*(f'{n} {found.get(n)}' for n in sys.argv[1:]), end=', ', sep=', ');"
    "print('verifier in', Path(verifier.__file__).parents[1].name)"
)


def main() -> None:
    options = _options()
    names = (options.only,) if options.only else tuple(BENCHMARKS)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="pinproof-bench-") as folder,
            Processes(Path(folder)) as processes,
        ):
            for line in _machine(processes):
                print(line)
            for name in names:
                print(f"\n{name}", flush=True)
                began, before = datetime.now(UTC), _load()
                processes.compared = {}
                for line in BENCHMARKS[name](processes, Path(folder), options.runs):
                    print(f"  {line}", flush=True)
                if processes.compared and options.receipts:
                    path = receipts.write(
                        Path(options.receipts),
                        name,
                        processes.compared,
                        version=version("pinproof"),
                        hardware=receipts.hardware(),
                        began=began,
                        floor=processes.floor,
                        load=f"{before} before, {_load()} after",
                    )
                    print(f"  receipt {path}", flush=True)
            print(f"\nload after {_load()}")
    except WrongExitError as error:
        sys.exit(f"bench: {error}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure pinproof against its peers.")
    parser.add_argument("--runs", type=int, default=15, help="rounds of a comparison (15)")
    parser.add_argument("--only", choices=BENCHMARKS, help="one benchmark instead of all")
    parser.add_argument(
        "--receipts", metavar="DIR", help="write what each section compared as DIR/SECTION.json"
    )
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs: expected at least 1")
    return options


# ── the benchmarks ─────────────────────────────────────────────────────────────────────────────


def cold(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    host = prepare.host_of_120_kb(folder)
    yield _described(host)
    sigstore = prepare.sigstore_arguments(folder, host)
    samples = processes.interleaved(
        (
            _pinproof(host),
            Command("empty click", (PYTHON, str(prepare.empty_click(folder)))),
            Command("sigstore CLI", (PYTHON, "-P", "-m", "sigstore", *sigstore)),
        ),
        rounds=runs,
    )
    targets = {"empty click": {"wall": 4.0}, "sigstore CLI": {"wall": 0.5}}
    yield from _compared(samples, targets, floor=processes.floor)


def large(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    host = prepare.host_of_100_000_lines(folder)
    yield _described(host)
    samples = processes.interleaved(
        (_pinproof(host), Command("ast.parse", (PYTHON, "-c", PARSE, str(host)))), rounds=runs
    )
    yield from _compared(samples, {"ast.parse": {"wall": 3.0, "peak": 1.3}}, floor=processes.floor)


def plan(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    """Plan from the version that the host carries to the one before it."""
    installer = HERE.parent / "examples" / "fair_queue" / "installer.py"
    for made in (prepare.host_of_120_kb, prepare.host_of_100_000_lines):
        host = made(folder)
        yield _described(host)
        wanted = ("--to", "v5", "--payload", str(installer), "--policy", "region")
        planning = Command("plan", (PINPROOF, "migrate", str(host), *wanted))
        verifying = _pinproof(host)
        samples = processes.interleaved((planning, verifying), rounds=runs)
        yield from _compared(samples, {verifying.name: {"wall": 2.0}}, floor=processes.floor)


def where(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    """Time the stages of a cold run, in a process that reads a clock between them."""
    host = prepare.host_of_120_kb(folder)
    yield _described(host)
    yield "each stage without what those before it imported"
    stages: dict[str, list[float]] = {}

    def note(sample: Sample) -> None:
        told = json.loads(processes.printed())
        before = sample.began
        for name, reading in [*told["readings"], ("report and exit", sample.ended)]:
            stages.setdefault(name, []).append((reading - before) / 1e9)
            before = reading
        stages.setdefault("all", []).append(sample.wall)
        for name, spent in told["inside"].items():
            stages.setdefault(f"  of it, {name}", []).append(spent / 1e9)

    command = Command("stages", (PYTHON, str(HERE / "stages.py"), str(host)))
    processes.interleaved((command,), rounds=runs, after=note)
    whole = median(stages["all"])
    rows = [("", "ms", "min - max", "share")]
    rows += [
        (name, *spread(values, 1000), f"{median(values) / whole:.0%}")
        for name, values in stages.items()
    ]
    yield from _table(rows)


def git(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    made = trees.commit(folder)
    yield made.described
    listing = ("list", "tree", f"git:{made.repository}@{made.oid}", "--format", "json")
    raw = f"git --git-dir {made.repository} cat-file --batch --buffer < {made.ids} > /dev/null"
    reading = (PYTHON, str(HERE / "git_peer.py"), str(made.repository), str(made.ids))
    samples = processes.interleaved(
        (
            Command("pinproof", (PINPROOF, *listing)),
            Command("reading in Python", reading),
            Command("git cat-file", ("/bin/sh", "-c", raw)),
        ),
        rounds=runs,
    )
    targets = {"reading in Python": {"wall": 1.1}, "git cat-file": {}}
    yield from _compared(samples, targets, floor=processes.floor)
    yield "with every safeguard up to 1.6 is accepted; without one of them, in ms:"
    commands = [
        Command(name, (PYTHON, "-P", str(HERE / "git_without.py"), name, *listing))
        for name in LEFT_OUT
    ]
    without = processes.interleaved(commands, rounds=runs)
    rows: list[Sequence[str]] = [
        ("without", "wall ms", "min - max", "costs", "CPU ms", "min - max", "costs")
    ]
    for name, taken in without.items():
        cells = []
        for what in ("wall", "cpu"):
            whole, rest = ([getattr(one, what) for one in of] for of in (without["nothing"], taken))
            cells += [*spread(rest, 1000), f"{(median(whole) - median(rest)) * 1000:,.1f}"]
        rows.append((name, *cells))
    yield from _table(rows)


def head(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    made = heads.proposals(folder)
    yield made.described

    def gate(count: int) -> tuple[str, ...]:
        asked = [word for oid in made.heads[:count] for word in ("--head", oid)]
        where = ("--repo", str(made.repository), "--base", made.base)
        return (PINPROOF, "verify", "head", *where, *asked, "--policy", str(made.policy))

    one, many = Command("one head", gate(1)), Command("200 heads", gate(200))
    listing = ("list", "tree", f"git:{made.repository}@{made.heads[0]}")
    reading = Command("reading its tree", (PINPROOF, *listing))
    samples = processes.interleaved((one, reading, many), rounds=runs)
    yield from _compared(samples, {reading.name: {"wall": 2.0}}, floor=processes.floor)
    yield from _ratios(
        {name: samples[name] for name in (many.name, one.name)}, {one.name: {"wall": 10.0}}
    )


def small(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    with trees.roomy(folder) as room:
        if room is None:
            yield NO_ROOM
            return
        tree, sums = trees.small_files(room)
        yield f"100,000 files of 8,192 bytes in 200 folders, in {room.parent}"
        listing = Command("pinproof", (PINPROOF, "list", "tree", str(tree)))
        peer = Command("sha256sum -c", ("/usr/bin/sha256sum", "-c", "--quiet", str(sums)))
        samples = processes.interleaved((listing, peer), rounds=runs)
        yield from _compared(samples, {peer.name: {"wall": 1 / 2.7}}, floor=processes.floor)
        peak = processes.peaks(listing)
        met = "met" if peak < 120e6 else "missed"
        yield f"peaks of all processes {peak / 1e6:.0f} MB · target under 120: {met} here"


def two(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    with trees.roomy(folder) as room:
        if room is None:
            yield NO_ROOM
            return
        tree, files = trees.large_files(room)
        yield f"two files of 1 GiB in {room.parent}"
        hashing = " & ".join(f"openssl dgst -sha256 {file}" for file in files)
        peer = Command("openssl, two at once", ("/bin/sh", "-c", f"{hashing} & wait"))
        listing = Command("pinproof", (PINPROOF, "list", "tree", str(tree)))
        samples = processes.interleaved((listing, peer), rounds=runs)
        yield from _compared(samples, {peer.name: {"wall": 1 / 0.8}}, floor=processes.floor)


def composition(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    with trees.roomy(folder) as room:
        if room is None:
            yield NO_ROOM
            return
        tree, trust = composed.made(room)
        yield f"a composition of 100,000 files of 8,192 bytes in 200 folders, in {room.parent}"
        verify = (PINPROOF, "verify", "composition", "many", "--at", str(tree), *trust)
        reading = Command("list tree", (PINPROOF, "list", "tree", str(tree)))
        commands = (Command("pinproof", verify), reading)
        samples = processes.interleaved(commands, rounds=runs)
        yield from _compared(samples, {reading.name: {"wall": 1.3}}, floor=processes.floor)


def chain(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    made = proof.chain(folder)
    yield made.described
    clones = ("--clone", f"base={made.repository}", "--clone", f"source={made.source}")
    proving = (PINPROOF, "verify", "composition", "chain", "--prove", *clones, *made.trust)
    read = (PYTHON, "-P", str(HERE / "read_both.py"), str(made.repository), *made.commits)
    reading = Command("reading both", read)
    samples = processes.interleaved((Command("pinproof", proving), reading), rounds=runs)
    yield from _compared(samples, {reading.name: {"wall": 2.0}}, floor=processes.floor)


def image(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    with trees.roomy(folder) as room:
        if room is None:
            yield NO_ROOM
            return
        one, two = (images.layout(room / f"{n} layers", layers=n) for n in (1, 2))
        yield f"{one.described}, in {room.parent}"
        whole = Command("pinproof verify image", _verify(one))
        passing = Command("its pass alone", _script("image_pass.py", *one.layers))
        bare = Command("isal and one hash", _script("image_peer.py", *one.layers))
        samples = processes.interleaved((whole, passing, bare), rounds=runs)
        yield from _compared(samples, {bare.name: {"wall": 1.1}}, floor=processes.floor)
        del samples[whole.name]
        yield "the pass alone"
        yield from _ratios(samples, {bare.name: {"wall": 1.1}})
        yield "two layers"
        both = Command("pinproof verify image", _verify(two))
        bares = Command("isal and one hash, twice", _script("image_peer.py", *two.layers))
        samples = processes.interleaved((both, bares), rounds=runs)
        yield from _compared(samples, {bares.name: {}}, floor=processes.floor)
        peak = processes.peaks(both)
        met = "met" if peak < 200e6 else "missed"
        yield f"peaks of both processes {peak / 1e6:.0f} MB · target under 100 each: {met} here"
        missing = [name for name in UNPACKERS if shutil.which(name, path=PATH) is None]
        if missing:
            yield f"no comparison with {' and '.join(missing)}: not installed"
            return
        unpacked = room / "unpacked"
        steps = (
            f"rm -rf {unpacked} && mkdir {unpacked}",
            f"skopeo copy -q 'oci:{one.folder}:v1' 'oci:{unpacked}/copy:v1'",
            f"umoci unpack --rootless --image '{unpacked}/copy:v1' '{unpacked}/bundle'",
            f"find '{unpacked}/bundle/rootfs' -type f -print0 | xargs -0 sha256sum > /dev/null",
        )
        tools = Command("skopeo, umoci, sha256sum", ("/bin/sh", "-c", " && ".join(steps)))
        samples = processes.interleaved((whole, tools), rounds=max(1, runs // 5))
        yield from _compared(samples, {tools.name: {"wall": 1 / 8}}, floor=processes.floor)


def bundle(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    asked = bundles.thousand(folder)
    yield f"{bundles.COUNT:,} bundles with certificates, half of them of Rekor v2 with a timestamp"
    script = (PYTHON, "-P", str(HERE / "bundle_peer.py"), bundles.ROOT, bundles.WHO[1])
    peer = Command("sigstore's verifier", (*script, bundles.WHO[3]))
    ours = Command("pinproof", (PINPROOF, *asked))
    samples = processes.interleaved((ours, peer), rounds=runs)
    yield from _compared(samples, {peer.name: {"wall": 0.9}}, floor=processes.floor)
    yield f"peaks of both processes {processes.peaks(ours) / 1e6:.0f} MB"
    yield "one envelope, signed by a key"
    one = Command("pinproof", (PINPROOF, *bundles.envelope(folder)))
    empty = Command("empty click", (PYTHON, str(prepare.empty_click(folder))))
    samples = processes.interleaved((one, empty), rounds=runs)
    yield from _compared(samples, {empty.name: {"wall": 4.0}}, floor=processes.floor)


def receipt(processes: Processes, folder: Path, runs: int) -> Iterable[str]:
    """Judge a receipt that a policy refuses, for what its rows leave out."""
    path = many_samples.large(folder)
    size = f"{path.stat().st_size:,} bytes"
    yield f"{many_samples.SAMPLES:,} samples and {many_samples.FIGURES} figures in {size}"
    asked = (PINPROOF, "verify", "receipt", str(path), "--policy", "release-receipts")
    ours = Command("pinproof", asked, exit=1)
    peer = Command("json.loads", (PYTHON, "-c", LOADS, str(path)))
    samples = processes.interleaved((ours, peer), rounds=runs)
    yield from _compared(samples, {peer.name: {"CPU": 3.3}}, floor=processes.floor)
    peak = median(sample.peak for sample in samples[ours.name])
    met = "met" if peak <= 230e6 else "missed"
    yield f"peak {peak / 1e6:.0f} MB · target at most 230: {met} here"


def _verify(layout: images.Layout) -> tuple[str, ...]:
    expected = ("--expect", layout.manifest, "--policy", "region")
    return (PINPROOF, "verify", "image", f"oci:{layout.folder}:v1", *expected)


def _script(name: str, *paths: Path) -> tuple[str, ...]:
    return (PYTHON, "-P", str(HERE / name), *map(str, paths))


BENCHMARKS: Final[Mapping[str, Callable[[Processes, Path, int], Iterable[str]]]] = {
    "cold": cold,
    "large": large,
    "plan": plan,
    "where": where,
    "git": git,
    "head": head,
    "folder": small,
    "files": two,
    "composition": composition,
    "proof": chain,
    "image": image,
    "bundles": bundle,
    "receipt": receipt,
}


def _pinproof(host: Path) -> Command:
    """Judge a host whose rest is not registered; the policy region says so and takes it."""
    return Command("pinproof", (PINPROOF, "verify", "helper", "--policy", "region", str(host)))


# ── printing ───────────────────────────────────────────────────────────────────────────────────


def _described(host: Path) -> str:
    data = host.read_bytes()
    lines = data.count(b"\n")
    return f"{host.name}: {len(data):,} bytes, {lines:,} lines; region, embedded registry"


def _compared(
    samples: Mapping[str, Sequence[Sample]],
    targets: Mapping[str, Mapping[str, float]],
    *,
    floor: int,
) -> Iterable[str]:
    """Print medians and spreads, then the first command's medians over those of each peer."""
    medians: dict[str, dict[str, float]] = {}
    rows = [("", "wall ms", "min - max", "CPU ms", "min - max", "peak MB", "min - max")]
    for name, taken in samples.items():
        figures = {
            "wall": [sample.wall for sample in taken],
            "CPU": [sample.cpu for sample in taken],
            "peak": [float(sample.peak) for sample in taken],
        }
        medians[name] = {what: median(values) for what, values in figures.items()}
        peak, peaks = spread(figures["peak"], 1e-6)
        told = peak if medians[name]["peak"] > floor else f"<= {peak}"
        times = (*spread(figures["wall"], 1000), *spread(figures["CPU"], 1000))
        rows.append((name, *times, told, peaks))
    yield from _table(rows)
    yield from _ratios(samples, targets)


def _ratios(
    samples: Mapping[str, Sequence[Sample]], targets: Mapping[str, Mapping[str, float]]
) -> Iterable[str]:
    """Print the first command's medians over those of each peer, and whether they meet a target."""
    medians = {
        name: {
            "wall": median(sample.wall for sample in taken),
            "CPU": median(sample.cpu for sample in taken),
            "peak": median(float(sample.peak) for sample in taken),
        }
        for name, taken in samples.items()
    }
    first = next(iter(medians.values()))
    for peer, limits in targets.items():
        ratios = {what: first[what] / medians[peer][what] for what in first}
        said = ", ".join(f"{what} {ratio:.2f}" for what, ratio in ratios.items())
        wanted = ", ".join(f"{what} at most {limit:.3g}" for what, limit in limits.items())
        met = all(ratios[what] <= limit for what, limit in limits.items())
        told = f" · target {wanted}: {'met' if met else 'missed'} here" if wanted else ""
        yield f"over {peer}: {said}{told}"


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells])


# ── the machine ────────────────────────────────────────────────────────────────────────────────


def _machine(processes: Processes) -> Iterable[str]:
    system = platform.uname()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = len(os.sched_getaffinity(0))
    yield f"machine   {_processor()}, {cores} cores for this run, {memory:.0f} GB"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"          {system.system} {system.release}, {python}"
    processes.run(Command("versions", (PYTHON, "-P", "-c", VERSIONS, *PACKAGES)))
    yield f"packages  {processes.printed().strip()}"
    yield f"load      before {_load()}"


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
