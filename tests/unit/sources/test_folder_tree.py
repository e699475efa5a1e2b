"""Folders as trees: what is listed, that links are not followed, and two processes in agreement."""

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from verifier.core.errors import UnavailableError
from verifier.sources import folder_hashing
from verifier.sources.folder_hashing import Run
from verifier.sources.folder_tree import FolderTree
from verifier.sources.tree import Type, tree_digests


def tree(path: Path) -> FolderTree:
    return FolderTree(path, name="folder")


def test_entries_are_sorted_by_bytes_and_hashed(tmp_path: Path) -> None:
    for name in ("b", "a/x", "a.txt", "B", "ä"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "b").chmod(0o755)
    (tmp_path / "link").symlink_to("nowhere")
    entries = tree(tmp_path).entries()
    assert [e.path for e in entries] == [b"B", b"a.txt", b"a/x", b"b", b"link", "ä".encode()]
    by_name = {e.path: e for e in entries}
    assert by_name[b"b"].mode == 0o100755
    assert by_name[b"B"].mode == 0o100644
    assert by_name[b"a/x"].sha256 == hashlib.sha256(b"a/x").hexdigest()
    assert by_name[b"link"].type is Type.LINK
    assert by_name[b"link"].target == b"nowhere"
    assert by_name[b"link"].sha256 == hashlib.sha256(b"nowhere").hexdigest()


def test_names_that_are_no_text_are_listed(tmp_path: Path) -> None:
    name = b"\xff\nx"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"1")
    assert [e.path for e in tree(tmp_path).entries()] == [name]


def test_git_data_and_empty_folders_are_ignored_and_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]")
    (tmp_path / "empty").mkdir()
    (tmp_path / "sub" / ".git").mkdir(parents=True)
    (tmp_path / "sub" / ".git" / "x").write_text("kept")
    found = tree(tmp_path)
    assert [e.path for e in found.entries()] == [b"sub/.git/x"]
    assert found.ignored == (".git, the repository's own data", "empty/, an empty folder")


def test_special_files_are_named_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    found = tree(tmp_path)
    (entry,) = found.entries()
    assert entry.type is Type.SPECIAL
    assert entry.sha256 is None
    assert [f.code for f in found.findings] == ["tree-special"]


def test_reading_follows_no_link_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("1")
    (tmp_path / "way").symlink_to("real")
    (tmp_path / "file").symlink_to("real/x")
    found = tree(tmp_path)
    assert found.read(b"real/x", limit=10) == b"1"
    assert found.read(b"way/x", limit=10) is None
    assert found.read(b"file", limit=10) is None
    assert found.read(b"gone", limit=10) is None
    assert found.read(b"real", limit=10) is None
    with pytest.raises(UnavailableError, match="at most 0 bytes, got 1"):
        found.read(b"real/x", limit=0)


def many(folder: Path) -> None:
    for number in range(300):
        path = folder / f"d{number % 7}" / f"f{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(str(number).encode() * number)


def test_two_processes_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(tmp_path)
    alone = tree(tmp_path).entries()
    monkeypatch.setattr(folder_hashing, "_WORTH_A_FORK", 10)
    assert tree(tmp_path).entries() == alone
    assert len(alone) == 300


def test_a_file_that_vanishes_while_two_hash_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(tmp_path)
    monkeypatch.setattr(folder_hashing, "_WORTH_A_FORK", 10)
    found = tree(tmp_path)
    listed = found._listed()
    monkeypatch.setattr(found, "_listed", lambda: listed)
    (tmp_path / "d3" / "f3").unlink()
    with pytest.raises(UnavailableError, match="d3/f3: no such file"):
        found.entries()


def test_what_stops_the_worker_is_told_as_if_it_had_stopped_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(tmp_path)
    monkeypatch.setattr(folder_hashing, "_WORTH_A_FORK", 10)
    found = tree(tmp_path)
    listed = found._listed()
    monkeypatch.setattr(found, "_listed", lambda: listed)
    (tmp_path / "d3" / "f3").unlink()
    work = folder_hashing._work
    parent = os.getpid()

    def only_the_worker(task: Any, batches: Any, board: Any, queue: int) -> None:
        if os.getpid() != parent:
            work(task, batches, board, queue)
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # the queue is emptied when we return

    monkeypatch.setattr(folder_hashing, "_work", only_the_worker)
    with pytest.raises(UnavailableError, match="d3/f3: no such file"):
        found.entries()


@pytest.mark.parametrize("worth_a_fork", [10, 10_000])
@pytest.mark.parametrize("bytes_worth_a_fork", [0, 1_000_000])
def test_large_files_wait_and_come_back_in_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worth_a_fork: int, bytes_worth_a_fork: int
) -> None:
    many(tmp_path)
    (tmp_path / "d1" / "f239").chmod(0o755)
    plain = tree(tmp_path).entries()
    monkeypatch.setattr(folder_hashing, "_LARGE", 600)
    monkeypatch.setattr(folder_hashing, "_WORTH_A_FORK", worth_a_fork)
    monkeypatch.setattr(folder_hashing, "_BYTES_WORTH_A_FORK", bytes_worth_a_fork)
    assert tree(tmp_path).entries() == plain


def test_two_large_files_are_hashed_by_two_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").write_bytes(b"1" * 2_000)
    (tmp_path / "two").write_bytes(b"2" * 1_000)
    log = tmp_path.parent / f"{tmp_path.name}.log"
    monkeypatch.setattr(folder_hashing, "_LARGE", 600)
    monkeypatch.setattr(folder_hashing, "_BYTES_WORTH_A_FORK", 3_000)
    hash_one = folder_hashing._hash_one

    def slowly(name: bytes, below: int, buffer: bytearray, limit: int) -> Any:
        if limit > 600:
            with log.open("ab") as file:
                file.write(b"%d " % os.getpid())
            time.sleep(0.5)
        return hash_one(name, below, buffer, limit)

    monkeypatch.setattr(folder_hashing, "_hash_one", slowly)
    assert [e.length for e in tree(tmp_path).entries()] == [2_000, 1_000]
    assert len(set(log.read_bytes().split())) == 2


@pytest.mark.parametrize("more", [-1, 0, 1, folder_hashing._BUFFER])
def test_contents_around_the_size_of_the_buffer(tmp_path: Path, more: int) -> None:
    data = b"x" * (folder_hashing._BUFFER + more)
    (tmp_path / "x").write_bytes(data)
    (entry,) = tree(tmp_path).entries()
    assert entry.length == len(data)
    assert entry.sha256 == hashlib.sha256(data).hexdigest()


def test_a_file_that_grows_while_it_is_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_bytes(b"1")
    open_one = os.open

    def grow(path: Any, flags: int, **options: Any) -> int:
        descriptor = open_one(path, flags, **options)
        if path == b"x":
            status = os.fstat(descriptor)
            monkeypatch.setattr(os, "fstat", lambda _: status)
            (tmp_path / "x").write_bytes(b"12")
        return descriptor

    monkeypatch.setattr(os, "open", grow)
    with pytest.raises(UnavailableError, match="x: changed while it was read"):
        tree(tmp_path).entries()


@pytest.mark.parametrize("size", [1, 3, 7, 64, 1_000])
def test_batches_hold_every_file_once_and_in_order(size: int) -> None:
    runs = [Run(b"d%d" % n, [b"f%d" % m for m in range(n % 9 + 1)]) for n in range(40)]
    batches = list(folder_hashing._batches(runs, size))
    paths = [run.path(name) for run in runs for name in run.names]
    held = [[run.path(name) for run in batch.runs for name in run.names] for batch in batches]
    assert [path for batch in held for path in batch] == paths
    assert all(batch.files == len(names) for batch, names in zip(batches, held, strict=True))
    assert all(paths[b.start : b.start + b.files] == h for b, h in zip(batches, held, strict=True))
    assert len(batches) <= len(paths) // size + 1


def test_a_worker_that_dies_never_passes_for_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(tmp_path)
    monkeypatch.setattr(folder_hashing, "_WORTH_A_FORK", 10)
    work = folder_hashing._work
    parent = os.getpid()

    def die(task: Any, batches: Any, board: Any, queue: int) -> None:
        if os.getpid() != parent:
            os.read(queue, 2)
            os._exit(9)
        work(task, batches, board, queue)

    monkeypatch.setattr(folder_hashing, "_work", die)
    with pytest.raises(UnavailableError, match="changed while it was read"):
        tree(tmp_path).entries()


def test_a_folder_replaced_by_a_link_while_hashing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("1")
    elsewhere = tmp_path.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x").write_text("2")
    found = tree(tmp_path)
    listed = found._listed()
    monkeypatch.setattr(found, "_listed", lambda: listed)
    (tmp_path / "d" / "x").unlink()
    (tmp_path / "d").rmdir()
    (tmp_path / "d").symlink_to(elsewhere)
    with pytest.raises(UnavailableError):
        found.entries()


def test_the_digest_tells_every_field_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    base = tree(tmp_path).entries()
    digests = {tree_digests(base)[0]}
    for changed in (
        [base[0]._replace(path=b"b")],
        [base[0]._replace(mode=0o100755)],
        [base[0]._replace(mode=0o120000)],
        [base[0]._replace(length=2)],
        [base[0]._replace(sha256="0" * 64)],
        [*base, *base],
        [],
    ):
        digests.add(tree_digests(changed)[0])
    assert len(digests) == 8
    program = [base[0]._replace(mode=0o100755)]
    assert tree_digests(base)[1] == tree_digests(program)[1]
