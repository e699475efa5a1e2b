"""Trees to read, made anew for every run: many small files, two large ones, a commit."""

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.filler import units
from benchmarks.processes import ENVIRONMENT, WrongExitError

GIB: Final = 1 << 30
#: What has to be free before a benchmark takes up to 2 GiB of it.
ROOM: Final = 6 * GIB
#: The commit of the reference figures: 4,988 blobs and 610 trees, 72 MB before compression.
BLOBS, FOLDERS, COMMIT_BYTES = 5_000, 610, 72_000_000
_STEM: Final = (
    "commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 5\nfirst\n"
)


class Commit(NamedTuple):
    """A commit in a bare repository, and a file with the ids of all that it needs, one a line."""

    repository: Path
    oid: str
    ids: Path
    described: str


@contextmanager
def roomy(folder: Path) -> Iterator[Path | None]:
    """Lend a folder with room, in memory if there is enough of it; None if there is none."""
    shared = Path("/dev/shm")  # noqa: S108  (a folder of our own is made in it)
    for place in (shared, folder):
        if place.is_dir() and min(_free(place), _memory() if place == shared else ROOM) >= ROOM:
            with tempfile.TemporaryDirectory(prefix="pinproof-bench-", dir=place) as made:
                yield Path(made)
            return
    yield None


def _free(place: Path) -> int:
    return shutil.disk_usage(place).free


def _memory() -> int:
    with Path("/proc/meminfo").open() as lines:
        found = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    return found[0] * 1024 if found else 0


def small_files(folder: Path, *, files: int = 100_000, folders: int = 200) -> tuple[Path, Path]:
    """Write files of 8 kB, no two alike; return their folder and what `sha256sum -c` reads."""
    tree, sums = folder / "small", folder / "small.sha256"
    rest = _chance(8).randbytes(8_192 - 8)
    with sums.open("w") as lines:
        for number in range(files):
            below = tree / f"d{number * folders // files:03}"
            if number * folders % files == 0:
                below.mkdir(parents=True)
            data = number.to_bytes(8) + rest
            (below / f"f{number:06}").write_bytes(data)
            lines.write(f"{sha256(data).hexdigest()}  {below}/f{number:06}\n")
    return tree, sums


def large_files(folder: Path) -> tuple[Path, list[Path]]:
    """Write two files of 1 GiB; return their folder and them."""
    tree = folder / "large"
    tree.mkdir()
    files = [tree / name for name in ("one", "two")]
    for seed, file in enumerate(files):
        block = _chance(seed).randbytes(1 << 20)
        with file.open("wb", buffering=0) as out:
            for number in range(GIB // len(block)):
                out.write(number.to_bytes(8) + block[8:])
    return tree, files


def commit(folder: Path) -> Commit:
    """Commit a source tree of our own: files of all sizes, folders in folders, one pack."""
    repository = folder / "commit.git"
    git(folder, "init", "--quiet", "--bare", str(repository))
    at = ("--git-dir", str(repository))
    importing = subprocess.Popen(
        # Without deltas: what is newest is stored whole in repositories with a history.
        ["git", *at, "fast-import", "--quiet", "--depth=0"],
        env=environment(folder),
        stdin=subprocess.PIPE,
    )
    assert importing.stdin is not None
    with importing.stdin as stream:
        stream.write(_STEM.encode())
        for path, data in sources():
            stream.write(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
    if importing.wait():
        raise WrongExitError("git fast-import failed")
    oid = git(folder, *at, "rev-parse", "refs/heads/main").strip()
    listed = git(folder, *at, "rev-list", "--objects", oid).splitlines()
    ids = folder / "ids"
    ids.write_text("".join(f"{line.split()[0]}\n" for line in listed))
    packed = sum(pack.stat().st_size for pack in repository.glob("objects/pack/*.pack"))
    described = f"{BLOBS:,} blobs, {len(listed) - BLOBS - 1:,} trees, {COMMIT_BYTES / 1e6:.0f} MB"
    return Commit(repository, oid, ids, f"{described}, {packed / 1e6:.0f} MB as a pack")


def sources() -> Iterator[tuple[str, bytes]]:
    chance = _chance(72)
    folders = [""]
    while len(folders) < FOLDERS:
        parent = chance.choice(folders)
        if parent.count("/") < 6:
            folders.append(f"{parent}part_{len(folders)}/")
    weights = [chance.lognormvariate(0, 1.2) for _ in range(BLOBS)]
    scale = COMMIT_BYTES / sum(weights)
    text = "".join(islice(units(), 4_000))
    for number, weight in enumerate(weights):
        # Every folder gets a file, or git would not keep it.
        folder = folders[number] if number < FOLDERS else chance.choice(folders)
        yield f"{folder}module_{number}.py", _source(chance, text, int(weight * scale))


def _source(chance: random.Random, text: str, size: int) -> bytes:
    """Mix code with names and numbers that occur once: together they deflate to about a quarter."""
    parts, length = [], 0
    while length < size:
        at = chance.randrange(len(text) - 700)
        parts += [text[at : at + chance.randrange(100, 700)], _row(chance)]
        length += len(parts[-2]) + len(parts[-1])
    return "".join(parts).encode()[:size].ljust(size)


def _row(chance: random.Random) -> str:
    return f"\nROW_{chance.randrange(10**6)} = {chance.randbytes(24).hex()!r}\n"


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  (the same for every run is what is wanted)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], env=environment(folder), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise WrongExitError(f"git {arguments[0]}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which nobody's configuration changes the pack."""
    nobody = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return {**ENVIRONMENT, **nobody, "HOME": str(folder)}
