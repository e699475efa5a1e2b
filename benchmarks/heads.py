"""Proposed merges on the commit of `trees`: a base that moved on, and heads that part below it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from support import hosts

from benchmarks import trees
from benchmarks.processes import WrongExitError

#: Where the host lies in the tree, and the policy that lists it.
HOST: Final = "part_1/scheduler.py"
_POLICY: Final = f"""schema = "policy/v1"
name = "bench"
description = "one host, and the merge"
[head]
demand = ["objects", "base", "merge", "helpers", "compositions", "registry-changes", "holds"]
hosts = [{{ path = "{HOST}", lineage = "example-fair-queue" }}]
[helper]
demand = ["helper", "sites", "scope"]
"""
_WHO: Final = "committer A <a@example.org> {} +0000\ndata 1\nm"


class Proposals(NamedTuple):
    """A repository, its base, its heads, and a policy that is about them."""

    repository: Path
    base: str
    heads: tuple[str, ...]
    policy: Path
    described: str


def proposals(folder: Path, *, count: int = 200) -> Proposals:
    """Commit `count` heads on the commit of `trees`, each of three commits that change two files.

    The base has one commit that they do not have, so every merge has to be computed.
    """
    made = trees.commit(folder)
    at = ("--git-dir", str(made.repository))
    text = "\n".join(_imported(count)) + "\n"
    done = subprocess.run(
        ["git", *at, "fast-import", "--quiet"],
        env=trees.environment(folder),
        input=text.encode(),
        check=False,
    )
    if done.returncode:
        raise WrongExitError("git fast-import failed")
    names = ["refs/heads/base", *(f"refs/heads/head-{n}" for n in range(count))]
    base, *heads = trees.git(folder, *at, "rev-parse", *names).split()
    policy = folder / "bench.toml"
    policy.write_text(_POLICY)
    described = f"{made.described}; {count} heads of three commits, a base that moved on"
    return Proposals(made.repository, base, tuple(heads), policy, described)


def _imported(count: int) -> Iterator[str]:
    host = hosts.host("v6").decode()
    yield "commit refs/heads/start\n" + _WHO.format(1700000001)
    yield "from refs/heads/main^0"
    yield _file(HOST, host)
    yield "commit refs/heads/base\n" + _WHO.format(1700000002)
    yield "from refs/heads/start"
    yield _file("moved.py", "moved = True\n")
    for number in range(count):
        branch = f"refs/heads/head-{number}"
        for step in range(3):
            yield f"commit {branch}\n" + _WHO.format(1700000003 + step)
            if step == 0:
                yield "from refs/heads/start"
            yield _file(f"part_{number % 50}/new_{number}_{step}.py", f"step = {step}\n" * 50)
            yield _file("shared.py", f"head = {number}, {step}\n")


def _file(path: str, text: str) -> str:
    return f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}"
