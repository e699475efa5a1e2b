"""A base, a target and a chain of patches in one repository, with the entry that pins them."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import trees
from benchmarks.processes import WrongExitError
from verifier.actions.pin_composition import pin_composition
from verifier.actions.seal import seal

PATCHES: Final = 40
_STEM: Final = "commit refs/heads/main\ncommitter b <b@example.org> 1700000000 +0000\ndata 1\nm\n"
_CONTEXT: Final = 3
#: Lines behind the last edit of a file, so that no patch ends where its file does.
_LAST: Final = b"\n" + b"#\n" * 2 * _CONTEXT


class Chain(NamedTuple):
    """A repository, base and target in it, the folder of its patches, and what trusts the entry."""

    repository: Path
    commits: tuple[str, str]
    source: Path
    trust: list[str]
    described: str


def chain(folder: Path) -> Chain:
    """Make the repository, the patches, and a registry with the entry, which is proved first."""
    repository, source = folder / "proof.git", folder / "patches"
    source.mkdir()
    files = {path: data + _LAST for path, data in trees.sources()}
    target = {p: _edited(data, 1) if n % 100 == 0 else data for n, (p, data) in _numbered(files)}
    commits = _commits(folder, repository, [files, target])
    texts: list[list[bytes]] = [[] for _ in range(PATCHES)]
    for number, (path, data) in _numbered(target):
        texts[number % PATCHES].append(_patch(path, data))
    for number, parts in enumerate(texts):
        (source / f"{number:02}.patch").write_bytes(b"".join(parts))
    registry = folder / "proof-registry"
    below = registry / "targets" / "benchmarks" / "composition"
    below.mkdir(parents=True)
    pinned = pin_composition(
        "chain",
        project="benchmarks",
        clones={"base": str(repository)},
        base=commits[0],
        target=commits[1],
        patches=[str(path) for path in sorted(source.iterdir())],
        include=(),
        exclude=(),
        to=str(below / "chain.toml"),
        repository=None,
        now=datetime.now(UTC),
    )
    if not pinned.written:
        raise WrongExitError(f"the chain cannot be pinned: {pinned.report.results}")
    seal(registry, now=datetime.now(UTC))
    trust = ["--registry", str(registry), "--root", str(registry / "metadata" / "1.root.json")]
    described = f"{len(files):,} files, {PATCHES} patches with {len(target):,} edits"
    return Chain(repository, commits, source, trust, described)


def _numbered(files: dict[str, bytes]) -> "enumerate[tuple[str, bytes]]":
    return enumerate(sorted(files.items()))


def _commits(folder: Path, repository: Path, sides: list[dict[str, bytes]]) -> tuple[str, str]:
    """Write two commits, one on top of the other."""
    trees.git(folder, "init", "--quiet", "--bare", str(repository))
    at = ("--git-dir", str(repository))
    importing = subprocess.Popen(
        ["git", *at, "fast-import", "--quiet"],
        env=trees.environment(folder),
        stdin=subprocess.PIPE,
    )
    assert importing.stdin is not None
    with importing.stdin as stream:
        before: dict[str, bytes] = {}
        for files in sides:
            stream.write(_STEM.encode())
            for path, data in files.items():
                if before.get(path) != data:
                    head = b"M 100644 inline %b\ndata %d\n" % (path.encode(), len(data))
                    stream.write(head + data + b"\n")
            before = files
    importing.wait()
    target, base = trees.git(folder, *at, "rev-list", "refs/heads/main").split()
    return base, target


def _edited(data: bytes, seed: int) -> bytes:
    lines = data.split(b"\n")
    lines[len(lines) // 2] += b"  # %d" % seed
    return b"\n".join(lines)


def _patch(path: str, data: bytes) -> bytes:
    """Write the patch that changes one line in the middle of a file."""
    lines = data.split(b"\n")
    at = len(lines) // 3
    first, last = max(at - _CONTEXT, 0), min(at + 1 + _CONTEXT, len(lines) - 1)
    name, count = path.encode(), last - first
    rows = [b" " + line for line in lines[first:at]]
    rows += [b"-" + lines[at], b"+" + lines[at] + b"  # patched"]
    rows += [b" " + line for line in lines[at + 1 : last]]
    head = b"diff --git a/%b b/%b\n--- a/%b\n+++ b/%b\n" % (name, name, name, name)
    head += b"@@ -%d,%d +%d,%d @@\n" % (first + 1, count, first + 1, count)
    return head + b"\n".join(rows) + b"\n"
