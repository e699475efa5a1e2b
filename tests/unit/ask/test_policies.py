"""Checking and showing policies."""

from pathlib import Path
from typing import Final

import pytest
from support import registry, runs, statements

HEAD: Final = """schema = "policy/v1"
name = "own"
description = "x"
[head]
demand = ["objects", "helpers", "approvals"]
hosts = [{ path = "a/host.py", lineage = "LINEAGE" }]
compositions = [{ name = "lantern-trees", prefix = "" }]
documentation = ["docs/"]
registry = "registry/"
[[head.approvals]]
name = "ci"
predicate = "https://example.org/t"
says = ["PASSED"]
signers = ["SIGNER"]
[helper]
demand = ["helper"]
accept = ["ACCEPT"]
[composition]
demand = ["final-stage"]
[[hold]]
commit = "1111111111111111111111111111111111111111"
reason = "r"
owner = "somebody"
next_action = "n"
lifts_when = "l"
[[waiver]]
code = "helper-drifted"
subject = "host.py"
reason = "r"
by = "b"
until = 2026-12-31T00:00:00Z
"""


@pytest.fixture
def trusting(tmp_path: Path) -> list[str]:
    return runs.trusting(statements.registry(tmp_path / "registry"))


def policy(folder: Path, **names: str) -> str:
    text = HEAD
    known = {"LINEAGE": "example-fair-queue", "SIGNER": "alice", "ACCEPT": "example-fair-queue/v5"}
    for name, value in {**known, **names}.items():
        assert name in text
        text = text.replace(name, value)
    (folder / "own.toml").write_text(text)
    return "./own.toml"


def check(
    folder: Path, trusting: list[str], *, now: str = "2026-11-30", **names: str
) -> tuple[int, str]:
    path = policy(folder, **names)
    clock = registry.NOW.fromisoformat(f"{now}T00:00:00+00:00")
    ran = runs.run(("check", "policy", path, *trusting), cwd=folder, clock=clock)
    return ran.exit, (ran.stdout + ran.stderr).decode()


def test_a_policy_whose_names_are_registered_is_sound(tmp_path: Path, trusting: list[str]) -> None:
    code, said = check(tmp_path, trusting)
    assert code == 0, said
    assert said.startswith("verified   policy own is sound")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("LINEAGE", "example-fair-queu", "did you mean example-fair-queue?"),
        ("SIGNER", "alicee", "did you mean alice?"),
        ("ACCEPT", "example-fair-queue/v9", "lineage/version"),
        ("ACCEPT", "nowhere/v5", "lineage/version"),
    ],
)
def test_what_is_not_registered_is_named(
    tmp_path: Path, trusting: list[str], key: str, value: str, told: str
) -> None:
    code, said = check(tmp_path, trusting, **{key: value})
    assert code == 3
    assert "policy-unknown-name" in said
    assert value in said
    assert told in " ".join(said.split())


def test_a_waiver_that_has_ended_is_named(tmp_path: Path, trusting: list[str]) -> None:
    code, said = check(tmp_path, trusting, now="2026-12-31")
    assert code == 3
    assert '"policy-waiver-over"'.strip('"') in said
    assert "helper-drifted for host.py" in said


def test_a_registry_that_does_not_authenticate_decides_nothing(
    tmp_path: Path, trusting: list[str]
) -> None:
    (tmp_path / "registry" / "metadata" / "timestamp.json").write_bytes(b"{}")
    code, said = check(tmp_path, trusting)
    assert code == 3
    assert "the registry cannot be used" in said


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('path = "a/host.py"', 'path = "/a/host.py"', "head.hosts[0].path"),
        ('path = "a/host.py"', 'path = "a/../host.py"', "head.hosts[0].path"),
        ('prefix = ""', 'prefix = "a//b"', "head.compositions[0].prefix"),
        ('["docs/"]', '[".gitattributes"]', "head.documentation"),
        ('["docs/"]', '["a/.gitmodules"]', "head.documentation"),
        ('["docs/"]', '[".github/"]', "head.documentation"),
        ('["docs/"]', '[".github/workflows/"]', "head.documentation"),
        ('["docs/"]', '["/"]', "head.documentation"),
        ('"registry/"', '"registry"', "head.registry"),
        ('signers = ["SIGNER"]', "signers = []", "head.approvals[0].signers"),
        ('signers = ["SIGNER"]', 'signers = ["a"]\nthreshold = 2', "head.approvals[0].threshold"),
        ('"https://example.org/t"', '"test"', "head.approvals[0].predicate"),
        ('"objects", "helpers"', '"objects", "helper"', "head.demand"),
        ('[composition]\ndemand = ["final-stage"]\n', "", "head.compositions"),
        ('commit = "1111', 'commit = "111', "hold[0].commit"),
        ('owner = "somebody"\n', "", "hold[0].owner"),
        ('code = "helper-drifted"', 'code = "head-held"', "waiver[0].code"),
    ],
)
def test_a_policy_that_breaks_its_format_is_a_wrong_call(
    tmp_path: Path, trusting: list[str], old: str, new: str, path: str
) -> None:
    assert HEAD.count(old) == 1
    (tmp_path / "own.toml").write_text(HEAD.replace(old, new))
    ran = runs.run(("check", "policy", "./own.toml", *trusting), cwd=tmp_path, clock=registry.NOW)
    assert ran.exit == 2
    assert not ran.stdout
    assert path in ran.stderr.decode()


def test_show_policy_says_all_that_is_demanded(tmp_path: Path, trusting: list[str]) -> None:
    path = policy(tmp_path)
    ran = runs.run(("show", "policy", path, *trusting), cwd=tmp_path, clock=registry.NOW)
    assert ran.exit == 0, ran
    said = " ".join(ran.stdout.decode().split())
    for part in (
        "objects, helpers, approvals",
        "a/host.py · example-fair-queue",
        "lantern-trees at the root",
        "ci: https://example.org/t saying PASSED, by 1 of alice",
        "1111111111111111111111111111111111111111 · somebody: r; lifts when: l",
        "helper-drifted for host.py · by b, until 2026-12-31T00:00:00Z: r",
        "accepted as well: example-fair-queue/v5",
    ):
        assert part in said
