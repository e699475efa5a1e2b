"""Releases: four files that agree, are the published ones, and one thing changed at a time."""

import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support import registry as registries
from support import releases, runs

from verifier.ask.release import verify_release
from verifier.ask.trusted import Trust, trust
from verifier.core.outcome import Report, Result

Change = Callable[[Path], object]


def trusted(folder: Path, entry: bytes) -> Trust:
    """Return what judges with a registry of this one release."""
    targets = {"neighbour/release/grill-perf-0.9.0.toml": entry}
    made = registries.make(
        folder, targets={**targets, **registries.index_of(targets)}, keys=registries.KEYS
    )
    root = folder.parent / "root.json"
    root.write_bytes(made.root)
    return trust(
        policy="release-receipts",
        registry=str(folder),
        root=str(root),
        clock=registries.NOW,
    )


def judged(tmp_path: Path, entry: bytes | None = None, **options: Any) -> Report:
    """Judge the downloads, which must stay as they are."""
    folder = tmp_path / "downloads"
    before = runs.content(folder)
    report = verify_release(
        str(folder),
        expect="grill-perf-0.9.0",
        trust=trusted(tmp_path / "registry", entry or releases.entry()),
        **options,
    )
    assert runs.content(folder) == before
    return report


def codes(report: Report) -> set[str]:
    return {
        finding.code
        for result in report.results
        if isinstance(result, Result)
        for finding in result.findings
    }


def test_the_published_release_is_verified(tmp_path: Path) -> None:
    releases.make(tmp_path / "downloads")
    report = judged(tmp_path)
    assert (codes(report), report.exit) == (set(), 0)


def _receipt(**changes: Any) -> Change:
    return lambda folder: releases.edit_json(
        folder / releases.RECEIPT, lambda document: document.update(changes)
    )


def _in_receipt(key: str, **changes: Any) -> Change:
    return lambda folder: releases.edit_json(
        folder / releases.RECEIPT, lambda document: document[key].update(changes)
    )


def _smoke(**changes: Any) -> Change:
    return lambda folder: releases.edit_json(
        folder / releases.SMOKE, lambda document: document.update(changes)
    )


def _bytes(name: str, change: Callable[[bytes], bytes]) -> Change:
    def changed(folder: Path) -> None:
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(change(before))
        assert (folder / name).read_bytes() != before

    return changed


def _link(folder: Path) -> None:
    (folder / releases.SMOKE).rename(folder.parent / "smoke")
    (folder / releases.SMOKE).symlink_to(folder.parent / "smoke")


CHANGED: dict[str, tuple[Change, str]] = {
    "a file is missing": (lambda f: (f / releases.SMOKE).unlink(), "release-files"),
    "one more": (lambda f: (f / f"{releases.STEM}.sig").write_bytes(b""), "release-files"),
    "a link": (_link, "release-files"),
    "one blank": (
        _bytes(releases.CHECKSUM, lambda d: d.replace(b"  ", b" ")),
        "release-checksum-form",
    ),
    "no line feed": (_bytes(releases.CHECKSUM, lambda d: d[:-1]), "release-checksum-form"),
    "upper case": (_bytes(releases.CHECKSUM, lambda d: d.upper()), "release-checksum"),
    "other checksum": (
        _bytes(releases.CHECKSUM, lambda d: bytes([d[0] ^ 1]) + d[1:]),
        "release-checksum",
    ),
    "two lines": (_bytes(releases.CHECKSUM, lambda d: d + d), "release-checksum-form"),
    "no JSON": (_bytes(releases.RECEIPT, lambda d: d[:-5]), "release-receipt-malformed"),
    "a key twice": (
        _bytes(releases.RECEIPT, lambda d: d.replace(b"{\n", b'{\n  "schema": "x",\n', 1)),
        "release-receipt-malformed",
    ),
    "a key more": (_receipt(more=1), "release-receipt-malformed"),
    "a list for an object": (_receipt(payload=[]), "release-receipt-malformed"),
    "printed anew": (
        _bytes(releases.RECEIPT, lambda d: d.replace(b"  ", b" ")),
        "release-receipt-printed",
    ),
    "other schema": (_receipt(schema="v2"), "release-version"),
    "other version": (_receipt(release_version="0.9.1"), "release-version"),
    "other target": (_receipt(target="x86_64-unknown-linux-gnu"), "release-version"),
    "other commit": (_receipt(source_commit="5b" * 20), "release-commit"),
    "short commit": (_receipt(source_commit="4a" * 6), "release-commit"),
    "archive of another": (_in_receipt("archive", sha256="0" * 64), "release-receipt-binding"),
    "archive's size": (_in_receipt("archive", bytes=1), "release-receipt-binding"),
    "checksum of another": (_in_receipt("checksum", sha256="0" * 64), "release-receipt-binding"),
    "smoke failed": (_smoke(status="failed"), "release-smoke"),
    "smoke of staging": (_smoke(archive_sha256="0" * 64), "release-smoke"),
    "smoke by a boolean": (_smoke(schema_version=True), "release-smoke"),
    "smoke of another program": (_smoke(binary_sha256="0" * 64), "release-smoke"),
    "a blocker": (_receipt(publication_blockers=["licence"]), "release-build"),
    "incremental": (_in_receipt("build", incremental=True), "release-build"),
    "no fresh folder": (_in_receipt("build", fresh_target_directory=False), "release-build"),
    "overrides": (_in_receipt("build", build_overrides=True), "release-build"),
    "payload without a file": (
        lambda f: releases.edit_json(f / releases.RECEIPT, lambda d: d["payload"].popitem()),
        "release-members",
    ),
    "another digest listed": (
        _in_receipt("files_sha256", LICENSE="0" * 64),
        "release-member",
    ),
    "another time": (_in_receipt("packaging", mtime=1), "release-member"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_one_change_is_refused(name: str, tmp_path: Path) -> None:
    change, code = CHANGED[name]
    change(releases.make(tmp_path / "downloads"))
    report = judged(tmp_path)
    assert code in codes(report)
    assert report.exit == 1


def test_every_changed_byte_of_the_four_files_is_refused(tmp_path: Path) -> None:
    folder = releases.make(tmp_path / "downloads")
    trusted_by = trusted(tmp_path / "registry", releases.entry())
    for name in (releases.ARCHIVE, releases.CHECKSUM, releases.RECEIPT):
        data = (folder / name).read_bytes()
        for at in range(0, len(data), 31):
            changed = bytearray(data)
            changed[at] ^= 1
            (folder / name).write_bytes(changed)
            report = verify_release(str(folder), expect="grill-perf-0.9.0", trust=trusted_by)
            assert report.exit in (1, 4), (name, at)
        (folder / name).write_bytes(data)


def _header(**changes: Any) -> Callable[[tarfile.TarInfo], object]:
    def change(info: tarfile.TarInfo) -> None:
        if info.name.endswith("LICENSE"):
            for key, value in changes.items():
                setattr(info, key, value)

    return change


HEADERS = {
    "a link": _header(type=tarfile.SYMTYPE, linkname="bin/grill-perf", size=0),
    "an owner": _header(uid=1000),
    "a group": _header(gid=1000),
    "a time": _header(mtime=releases.EPOCH + 1),
    "a mode": _header(mode=0o755),
    "set-user-id": _header(mode=0o4644),
    "another root": _header(name="other/LICENSE"),
    "a way out": _header(name=f"{releases.STEM}/../LICENSE"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_member_that_is_not_as_declared_is_refused(name: str, tmp_path: Path) -> None:
    releases.make(tmp_path / "downloads", change=HEADERS[name])
    archive = (tmp_path / "downloads" / releases.ARCHIVE).read_bytes()
    pin = {"sha256": sha256(archive).hexdigest(), "length": len(archive)}
    entry = releases.entry(target=[{"triple": releases.TRIPLE, "archive": pin}])
    report = judged(tmp_path, entry)
    assert report.exit == 1
    assert codes(report) & {"release-member", "release-members", "tree-name-escapes"}


def test_a_program_for_another_machine_is_refused(tmp_path: Path) -> None:
    files = {**releases.FILES, "bin/grill-perf": releases.program(62)}
    releases.make(tmp_path / "downloads", files=files)
    assert "release-machine" in codes(judged(tmp_path))


def test_a_staging_build_is_named_as_that(tmp_path: Path) -> None:
    folder = releases.make(tmp_path / "downloads")
    digest = sha256((folder / releases.ARCHIVE).read_bytes()).hexdigest()
    entry = releases.entry(
        target=[{"triple": releases.TRIPLE}],
        staging=[{"sha256": digest, "reason": "built before CI built it again"}],
    )
    report = judged(tmp_path, entry)
    assert (codes(report), report.exit) == ({"release-staging"}, 1)


def test_an_unknown_archive_is_undecided(tmp_path: Path) -> None:
    releases.make(tmp_path / "downloads")
    report = judged(tmp_path, releases.entry(target=[{"triple": releases.TRIPLE}]))
    assert (codes(report), report.exit) == ({"release-unpublished"}, 3)


def test_another_archive_that_agrees_with_itself_is_refused(tmp_path: Path) -> None:
    releases.make(tmp_path / "downloads", files={**releases.FILES, "LICENSE": b"another\n"})
    report = judged(tmp_path)
    assert (codes(report), report.exit) == ({"release-not-published"}, 1)


def test_a_receipt_that_says_more_than_was_pinned_is_refused(tmp_path: Path) -> None:
    folder = releases.make(tmp_path / "downloads")
    _receipt(cargo_lock_sha256="7d" * 32)(folder)
    report = judged(tmp_path)
    assert (codes(report), report.exit) == ({"release-not-published"}, 1)


def test_an_empty_folder_is_undecided(tmp_path: Path) -> None:
    (tmp_path / "downloads").mkdir()
    report = judged(tmp_path)
    assert (codes(report), report.exit) == ({"release-not-here"}, 3)


def test_a_target_that_was_asked_for_has_to_be_there(tmp_path: Path) -> None:
    releases.make(tmp_path / "downloads")
    report = judged(tmp_path, targets=["x86_64-unknown-linux-gnu"])
    assert (codes(report), report.exit) == ({"release-files"}, 1)


def plain(folder: Path) -> bytes:
    """Write a plain set of two files and their list, and return its entry."""
    folder.mkdir()
    files = {"tool.tar.gz": b"one", "tool.zip": b"two"}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    lines = [f"{sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    (folder / "SHA256SUMS").write_text("".join(lines))
    pin = {"sha256": sha256(b"one").hexdigest(), "length": 3}
    return releases.entry(format="sha256sums", target=[{"triple": releases.TRIPLE, "archive": pin}])


def test_a_plain_set_is_verified(tmp_path: Path) -> None:
    report = judged(tmp_path, plain(tmp_path / "downloads"))
    assert (codes(report), report.exit) == (set(), 0)


def _lines(change: Callable[[str], str]) -> Change:
    def changed(folder: Path) -> None:
        path = folder / "SHA256SUMS"
        before = path.read_text()
        path.write_text(change(before))
        assert path.read_text() != before

    return changed


PLAIN: dict[str, tuple[Change, str]] = {
    "unlisted": (lambda f: (f / "more").write_bytes(b""), "release-files"),
    "missing": (lambda f: (f / "tool.zip").unlink(), "release-files"),
    "changed": (lambda f: (f / "tool.zip").write_bytes(b"twO"), "release-checksum"),
    "twice": (_lines(lambda t: t + t), "release-checksum-form"),
    "escaped": (_lines(lambda t: "\\" + t), "release-checksum-form"),
    "a path": (_lines(lambda t: t.replace("tool.zip", "x/tool.zip")), "release-checksum-form"),
    "empty": (_lines(lambda _: ""), "release-checksum-form"),
    "two lists": (lambda f: (f / "checksums.txt").write_bytes(b""), "release-not-here"),
    "replaced with its line": (
        lambda f: (
            (f / "tool.tar.gz").write_bytes(b"evil"),
            (f / "SHA256SUMS").write_text(
                f"{sha256(b'evil').hexdigest()}  tool.tar.gz\n"
                f"{sha256(b'two').hexdigest()}  tool.zip\n"
            ),
        ),
        "release-not-published",
    ),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_set_with_one_change_is_refused(name: str, tmp_path: Path) -> None:
    entry = plain(tmp_path / "downloads")
    change, code = PLAIN[name]
    change(tmp_path / "downloads")
    report = judged(tmp_path, entry)
    assert code in codes(report)
    assert report.exit in (1, 3)
