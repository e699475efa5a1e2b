"""The policy by which this repository judges its own changes (.ci/gate)."""

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from support import git_repos, runs

PROJECT: Final = Path(__file__).parents[1]
POLICY: Final = PROJECT / "policies" / "own.toml"
NOW: Final = datetime(2026, 11, 30, tzinfo=UTC)
AFTER: Final = datetime(2027, 5, 31, tzinfo=UTC)
JUDGES: Final = ("--policy", "base:policies/own.toml", "--registry", "base:registry")

WAIVER: Final = """[[waiver]]
code = "helper-drifted"
subject = "examples/fair_queue/host.py"
reason = "r"
by = "b"
until = 2030-01-01T00:00:00Z
"""


def content(folder: Path) -> dict[bytes, git_repos.Content]:
    """Return a folder as a tree."""
    return {
        path.name.encode(): content(path) if path.is_dir() else path.read_bytes()
        for path in folder.iterdir()
    }


def tree() -> dict[bytes, git_repos.Content]:
    """Return what of this repository its policy speaks of."""
    example = PROJECT / "examples" / "fair_queue" / "host.py"
    return {
        b"policies": {b"own.toml": POLICY.read_bytes()},
        b"examples": {b"fair_queue": {b"host.py": example.read_bytes()}},
        b"registry": content(PROJECT / "registry"),
        b"README.md": b"1\n",
    }


def resealed(folder: Path) -> dict[bytes, git_repos.Content]:
    """Return the tree with its registry sealed anew, as `make registry` does it."""
    for path in (PROJECT / "registry").rglob("*"):
        if path.is_file():
            to = folder / "registry" / path.relative_to(PROJECT / "registry")
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())
    sealing = ("sign", "registry", "--seal", "registry")
    assert runs.run(sealing, cwd=folder, clock=NOW).exit == 0
    return {**tree(), b"registry": content(folder / "registry")}


def gate(
    folder: Path, head: Mapping[bytes, git_repos.Content], *, now: datetime = NOW
) -> tuple[int, str]:
    """Judge a head on the tree of this repository, by that tree's own policy and registry."""
    repo = git_repos.make(folder / "repo", bare=True)
    base = repo.commit(tree())
    commit = repo.commit(head, parents=[base])
    repo.point("refs/heads/main", base)
    words = ("verify", "head", "--repo", str(repo.path), "--base", base, "--head", commit)
    ran = runs.run((*words, *JUDGES), cwd=folder, clock=now)
    assert not ran.stderr
    return ran.exit, ran.stdout.decode()


def test_a_change_of_anything_else_is_verified(tmp_path: Path) -> None:
    code, said = gate(tmp_path, {**tree(), b"README.md": b"2\n"})
    assert code == 0, said
    assert "neither registry nor policy changed" in said
    assert "waived" not in said


def test_a_registry_that_was_sealed_anew_is_waived_by_name_until_its_date(tmp_path: Path) -> None:
    head = resealed(tmp_path)
    code, said = gate(tmp_path, head)
    first = next(line for line in said.splitlines() if " may be merged" in line)
    assert code == 0, said
    assert first.startswith("verified")
    assert first.endswith(", 1 waived")
    assert "registry-resealed" in said
    code, said = gate(tmp_path / "later", head, now=AFTER)
    assert code == 3
    assert "undecided" in said
    assert "registry-resealed: the registry was sealed anew" in said


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"registry-changes", ', "", "head.demand no longer asks for registry-changes"),
        ('registry = "registry/"\n', "", "head.registry: registry/ → none"),
        ("documentation = [", 'documentation = ["verifier/", ', "verifier/ as well"),
        ("[[waiver]]", f"{WAIVER}[[waiver]]", "waiver of helper-drifted"),
    ],
)
def test_a_head_that_weakens_it_is_not_verified(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    changed = POLICY.read_text().replace(old, new)
    assert changed != POLICY.read_text()
    code, said = gate(tmp_path, {**tree(), b"policies": {b"own.toml": changed.encode()}})
    assert code == 3
    assert "head-policy-weakened" in said
    assert told in " ".join(said.split())


def test_the_example_host_stays_what_the_registry_says(tmp_path: Path) -> None:
    host = (PROJECT / "examples" / "fair_queue" / "host.py").read_bytes() + b"# more\n"
    code, said = gate(tmp_path, {**tree(), b"examples": {b"fair_queue": {b"host.py": host}}})
    assert code == 3
    assert "head-helper" in said


def test_the_script_judges_the_last_commit_by_its_parent(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    script = (PROJECT / ".ci" / "gate").read_bytes()
    first = {**tree(), b".ci": {b"gate": (b"100755", script)}}
    without = {name: what for name, what in first.items() if name != b"policies"}

    def run() -> "subprocess.CompletedProcess[str]":
        repo.git("reset", "--hard", "--quiet", "main")
        return subprocess.run(
            ["/bin/bash", str(repo.path / ".ci" / "gate"), str(runs.PROGRAM)],
            capture_output=True,
            text=True,
            check=False,
        )

    start = repo.commit(without)
    alone = run()
    assert (alone.returncode, alone.stdout) == (0, f"skipped: {start} has no parent to judge it\n")
    adding = repo.commit(first, parents=[start])
    by_pre_merge = run()
    assert by_pre_merge.returncode == 0, by_pre_merge
    assert "pre-merge" in by_pre_merge.stdout
    repo.commit({**first, b"README.md": b"2\n"}, parents=[adding])
    by_own = run()
    assert by_own.returncode == 0, by_own
    assert "policy           own" in by_own.stdout
    weakened = {**first, b"policies": {b"own.toml": POLICY.read_bytes().replace(b'"merge", ', b"")}}
    repo.commit(weakened, parents=[adding])
    refused = run()
    assert refused.returncode == 3
    assert "head-policy-weakened" in refused.stdout
