"""Pinning releases and receipts: what is printed is what the format takes and verify accepts."""

import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support import git_repos, releases, runs, written_receipts, written_releases
from support.registry import NOW

from verifier.catalog.entries.release_format import parse

COMMIT = tomllib.loads(releases.entry().decode())["source_commit"]


def pin(folder: Path, *more: str, name: str = "grill-perf-0.9.0", commit: str = COMMIT) -> runs.Ran:
    words = [
        *("pin", "release", "downloads", "--name", name, "--version", "0.9.0"),
        *("--project", "https://example.org/tool", "--tag", "v0.9.0", "--commit", commit),
    ]
    return runs.run([*words, *more], cwd=folder, clock=NOW)


def digest(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"sha256": sha256(data).hexdigest(), "length": len(data)}


def test_a_release_is_pinned_with_archive_checksum_and_receipt(tmp_path: Path) -> None:
    written_releases.make(tmp_path / "downloads", {})
    ran = pin(tmp_path, "--staging", f"{'0' * 64}=built by hand")
    assert ran.exit == 0, ran
    entry = tomllib.loads(ran.stdout.decode())
    parse(ran.stdout, "x")
    (target,) = entry["target"]
    assert target == {
        "triple": "aarch64-unknown-linux-gnu",
        "archive": digest(tmp_path / "downloads" / releases.ARCHIVE),
        "checksum": digest(tmp_path / "downloads" / releases.CHECKSUM),
        "receipt": digest(tmp_path / "downloads" / releases.RECEIPT),
    }
    assert entry["staging"] == [{"sha256": "0" * 64, "reason": "built by hand"}]


@pytest.mark.parametrize(
    ("recipe", "code"),
    [
        ({"flip": "archive"}, b"release-checksum"),
        ({"missing": ["smoke"]}, b"release-files"),
        ({"receipt": {"archive.bytes": 1}}, b"release-receipt-binding"),
    ],
)
def test_a_release_that_contradicts_itself_is_not_pinned(
    tmp_path: Path, recipe: dict[str, Any], code: bytes
) -> None:
    written_releases.make(tmp_path / "downloads", recipe)
    ran = pin(tmp_path)
    assert ran.exit == 1
    assert code in ran.stdout
    assert b"[[target]]" not in ran.stdout


def test_another_commit_or_tag_is_refused(tmp_path: Path) -> None:
    written_releases.make(tmp_path / "downloads", {})
    assert b"release-commit" in pin(tmp_path, commit="0" * 40).stdout
    repo = git_repos.make(tmp_path / "clone")
    commit = repo.commit({b"a": b"a\n"})
    repo.point("refs/tags/v0.9.0", commit)
    ran = pin(tmp_path, "--clone", "clone")
    assert ran.exit == 1
    assert b"release-commit" in ran.stdout
    assert commit.encode() in ran.stdout


def test_plain_files_are_pinned_by_target(tmp_path: Path) -> None:
    written_releases.make(tmp_path / "downloads", {"sums": True})
    assert pin(tmp_path, "--sums").exit == 2
    assert pin(tmp_path, "--sums", "--target", "x86_64-unknown-linux-gnu=other").exit == 2
    ran = pin(tmp_path, "--sums", "--target", "x86_64-unknown-linux-gnu=tool-linux")
    assert ran.exit == 0, ran
    entry = tomllib.loads(ran.stdout.decode())
    assert entry["format"] == "sha256sums"
    assert entry["target"][0]["archive"] == digest(tmp_path / "downloads/tool-linux")


def test_what_the_format_does_not_take_is_refused(tmp_path: Path) -> None:
    written_releases.make(tmp_path / "downloads", {})
    for ran in (
        pin(tmp_path, commit="v0.9.0"),
        pin(tmp_path, name="grill-perf"),
        pin(tmp_path, "--staging", "no digest"),
    ):
        assert ran.exit == 2
        assert not ran.stdout


def test_a_build_receipt_becomes_the_row_of_its_entry(tmp_path: Path) -> None:
    written_releases.make(tmp_path / "downloads", {})
    ran = runs.run(["pin", "receipt", f"downloads/{releases.RECEIPT}"], cwd=tmp_path, clock=NOW)
    assert ran.exit == 0, ran
    (row,) = tomllib.loads(ran.stdout.decode())["target"]
    assert row == {
        "triple": "aarch64-unknown-linux-gnu",
        "receipt": digest(tmp_path / "downloads" / releases.RECEIPT),
    }


def test_a_measurement_is_cited_as_it_was_judged(tmp_path: Path) -> None:
    written_receipts.make(tmp_path / "study.json", {})
    words = ["pin", "receipt", "study.json", "--evidence", "evidence", "--policy"]
    ran = runs.run([*words, "accepting.toml"], cwd=tmp_path, clock=NOW)
    assert ran.exit == 0, ran
    cited = tomllib.loads(ran.stdout.decode())
    (row,) = cited["receipt"]
    assert {key: row[key] for key in ("sha256", "length")} == digest(tmp_path / "study.json")
    assert row["claims"]
    assert row["judged"] == "verified"
    assert cited["evidence"]
    for each in cited["evidence"]:
        path = tmp_path / "evidence" / each["path"]
        assert {key: each[key] for key in ("sha256", "length")} == digest(path)


def test_a_receipt_that_is_rejected_is_not_cited(tmp_path: Path) -> None:
    written_receipts.make(tmp_path / "study.json", {"change": {"derived.2.value": "-26.11"}})
    ran = runs.run(["pin", "receipt", "study.json"], cwd=tmp_path, clock=NOW)
    assert ran.exit == 1
    assert b"receipt-d1-recomputed" in ran.stdout
    assert b"[[receipt]]" not in ran.stdout
