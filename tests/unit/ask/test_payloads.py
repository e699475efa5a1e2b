"""Payloads: whatever carries a version's bytes, read in order, within limits, following no link."""

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from support import git_repos, hosts
from support.migrating import Bench
from support.registry import Registry

from verifier.ask import payloads
from verifier.ask.reading import Reach
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.verdict import Exit

INSTALLER = hosts.host("installer")


@pytest.fixture
def bench(tmp_path: Path, test_registry: Registry) -> Bench:
    return Bench(tmp_path, test_registry)


def names(*given: str | Path) -> list[str]:
    return [text.name for text in payloads.texts([str(g) for g in given], reach=Reach())]


def commit(folder: Path) -> tuple[git_repos.Repo, str]:
    repo = git_repos.make(folder)
    for path in ("overlay/installer.py", "notes.txt"):
        file = repo.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(INSTALLER if path.endswith(".py") else b"nothing\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "one")
    return repo, repo.git("rev-parse", "HEAD").decode().strip()


@pytest.mark.parametrize("inside", ["", ":overlay", ":overlay/installer.py"])
def test_a_commit_of_the_producer(bench: Bench, tmp_path: Path, inside: str) -> None:
    repo, oid = commit(tmp_path / "producer")
    (repo.path / "overlay/installer.py").write_text("changed since\n")
    host = bench.host("v1")
    bench.migrate("v6", host, payload=(f"git:{repo.path}@{oid}{inside}",))
    assert host.read_bytes() == hosts.host("v6")


def test_a_branch_is_no_commit(bench: Bench, tmp_path: Path) -> None:
    repo, _ = commit(tmp_path / "producer")
    with pytest.raises(WrongCallError, match="full"):
        bench.plan("v6", bench.host("v1"), payload=(f"git:{repo.path}@main",))


def test_archives(bench: Bench, tmp_path: Path) -> None:
    tar, packed = tmp_path / "release.tar.gz", tmp_path / "release.zip"
    with tarfile.open(tar, "w:gz") as archive:
        member = tarfile.TarInfo("overlay/installer.py")
        member.size = len(INSTALLER)
        archive.addfile(member, io.BytesIO(INSTALLER))
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("overlay/installer.py", INSTALLER)
    for payload in (f"tar:{tar}", f"zip:{packed}:overlay/installer.py"):
        host = bench.host("v1")
        bench.migrate("v6", host, payload=(payload,))
        assert host.read_bytes() == hosts.host("v6")


def test_pieces_may_lie_apart(bench: Bench, tmp_path: Path) -> None:
    """One file a piece, under any name, in folders: what an export writes."""
    helper, sites = hosts.installer().VERSIONS["v6"]
    for number, text in enumerate((helper, *(site.new for site in sites))):
        path = tmp_path / "export" / str(number % 2) / f"{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    host = bench.host("clean")
    bench.migrate("v6", host, payload=(str(tmp_path / "export"),))
    assert host.read_bytes() == hosts.host("v6")
    (tmp_path / "export/1/3").unlink()
    planned = bench.plan("v6", bench.host("clean"), payload=(str(tmp_path / "export"),))
    (result,) = planned.report.results
    assert planned.exit is Exit.UNDECIDED
    assert [f.code for f in result.findings] == ["migrate-payload"]  # type: ignore[union-attr]


def test_links_and_special_files_of_a_folder_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "payload"
    folder.mkdir()
    (tmp_path / "outside.py").write_bytes(INSTALLER)
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "loop").symlink_to(".")
    os.mkfifo(folder / "fifo.py")
    (folder / "b.py").write_bytes(b"")
    (folder / "a.txt").write_bytes(b"")
    assert names(folder) == [f"{folder}/a.txt", f"{folder}/b.py"]


def test_a_folder_without_files_is_no_payload(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no regular file"):
        names(tmp_path)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_bytes(b"x" * 100)
    monkeypatch.setattr(payloads, "HOST_BYTES", 99)
    with pytest.raises(UnavailableError, match="no regular file"):
        names(tmp_path)
    monkeypatch.undo()
    for name, limit in (("PAYLOAD_FILES", 3), ("PAYLOAD_BYTES", 399)):
        with monkeypatch.context() as patched:
            patched.setattr(payloads, name, limit)
            with pytest.raises(UnavailableError) as caught:
                names(tmp_path)
            assert caught.value.code == "too-large"
    assert len(names(tmp_path)) == 4


def test_packed_payloads_are_few_files(tmp_path: Path) -> None:
    """Each is read on its own, so that many of them would take for ever."""
    packed = tmp_path / "many.zip"
    with zipfile.ZipFile(packed, "w") as made:
        for number in range(70):
            made.writestr(f"{'few' if number < 3 else 'many'}/{number}", b"x")
    with pytest.raises(UnavailableError, match="64 files"):
        names(f"zip:{packed}")
    assert len(names(f"zip:{packed}:few")) == 3


def test_a_source_of_many_literals_is_soon_read(bench: Bench, tmp_path: Path) -> None:
    source = tmp_path / "many.py"
    source.write_bytes(b"x = 'a'\n" * 100_000 + INSTALLER)
    host = bench.host("v1")
    bench.migrate("v6", host, payload=(str(source),))
    assert host.read_bytes() == hosts.host("v6")


def test_literals_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_bytes(INSTALLER)
    (tmp_path / "b.py").write_bytes(INSTALLER)
    monkeypatch.setattr(payloads, "PAYLOAD_ALL_PYTHON_BYTES", 2 * len(INSTALLER) - 1)
    with pytest.raises(UnavailableError, match="bytes of Python"):
        names(tmp_path)
    monkeypatch.setattr(payloads, "PAYLOAD_PYTHON_BYTES", len(INSTALLER) - 1)
    assert len(names(tmp_path)) == 2


def test_folders_in_folders(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 200)
    deep.mkdir(parents=True)
    with pytest.raises(UnavailableError, match="128 folders"):
        names(tmp_path)


def test_an_archive_that_is_refused_says_why(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"PK\x03\x04" + bytes(2000))
    with pytest.raises(UnavailableError, match="tree-"):
        names(f"tar:{tmp_path / 'x.tar'}")


def test_nothing_of_a_payload_runs(bench: Bench, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (tmp_path / "installer.py").write_bytes(
        f"open({str(trap)!r}, 'w').write('ran')\n".encode() + INSTALLER
    )
    bench.migrate("v6", bench.host("v1"), payload=(str(tmp_path / "installer.py"),))
    assert not trap.exists()
