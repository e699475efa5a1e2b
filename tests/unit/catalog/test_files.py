"""Registry folders on disk: links, special files, names, and what the environment refuses."""

import errno
import os
import stat
from pathlib import Path

import pytest
from support.registry import Registry, codes, make

from verifier.catalog.open import Catalog, Refused
from verifier.catalog.tuf import files
from verifier.catalog.tuf.files import RegistryFiles
from verifier.core.errors import UnavailableError
from verifier.core.finding import Finding

ENTRY = "targets/pinproof/helper/example-fair-queue.toml"


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return make(tmp_path / "registry")


@pytest.mark.parametrize(
    "path",
    [
        ENTRY,
        "metadata/timestamp.json",
        "metadata/1.root.json",
        "metadata/pinproof.json",
        "targets/index/layout.json",
        "targets/pinproof/helper",
        "targets/pinproof",
        "targets",
        "metadata",
    ],
)
def test_a_link_is_not_followed_wherever_it_is(registry: Registry, path: str) -> None:
    """Even one that leads to the very bytes that were signed."""
    original = registry.folder / path
    elsewhere = registry.folder.parent / "elsewhere"
    original.rename(elsewhere)
    original.symlink_to(elsewhere)
    result = registry.open()
    assert isinstance(result, Refused)
    assert "registry-link" in codes(result)
    assert path in {f.where.path for f in result.findings if f.code == "registry-link"}


def test_links_and_special_files_that_nothing_asks_for_are_refused(registry: Registry) -> None:
    (registry.folder / "targets/dangling").symlink_to("nowhere")
    os.mkfifo(registry.folder / "metadata/fifo.json")
    result = registry.open()
    assert codes(result) == {"registry-link"}
    assert isinstance(result, Refused)
    assert [f.where.path for f in result.findings] == ["metadata/fifo.json", "targets/dangling"]


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder"])
def test_what_is_no_file_is_no_entry(registry: Registry, kind: str) -> None:
    path = registry.folder / ENTRY
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        os.mknod(path, stat.S_IFSOCK | 0o600)
    expected = {"registry-unlisted"} if kind == "folder" else {"registry-link"}
    assert codes(registry.open()) == expected


def test_a_link_planted_after_opening_is_not_followed(registry: Registry) -> None:
    catalog = registry.catalog()
    path = registry.folder / ENTRY
    copy = registry.folder.parent / "copy"
    path.rename(copy)
    path.symlink_to(copy)
    assert codes(catalog.entry_bytes("helper", "example-fair-queue")) == {"registry-link"}
    path.unlink()
    assert codes(catalog.entry_bytes("helper", "example-fair-queue")) == {"registry-missing"}
    path.parent.rename(registry.folder.parent / "moved")
    path.parent.symlink_to(registry.folder.parent / "moved")
    assert codes(catalog.entry_bytes("helper", "example-fair-queue")) == {"registry-link"}


def test_a_fifo_planted_after_opening_does_not_block(registry: Registry) -> None:
    catalog = registry.catalog()
    (registry.folder / ENTRY).unlink()
    os.mkfifo(registry.folder / ENTRY)
    assert codes(catalog.entry_bytes("helper", "example-fair-queue")) == {"registry-link"}


def test_the_folder_itself_may_be_a_link(registry: Registry) -> None:
    link = registry.folder.parent / "link"
    link.symlink_to(registry.folder)
    assert isinstance(Registry(link, registry.root).open(), Catalog)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"UPPER", "UPPER"),
        (b"with space", "with space"),
        ("é".encode(), "é"),
        (b"\xff", "\\xff"),
        (b"line\nbreak", "line\\nbreak"),
        ("\u202e".encode(), "\\u202e"),
    ],
)
def test_other_names_are_refused_and_shown_in_one_line(
    registry: Registry, name: bytes, shown: str
) -> None:
    (Path(os.fsdecode(os.fsencode(registry.folder / "targets") + b"/" + name))).write_bytes(b"")
    result = registry.open()
    assert codes(result) == {"registry-name-unsafe"}
    assert isinstance(result, Refused)
    assert result.findings[0].got == shown


def test_folders_below_entries_are_not_entered(registry: Registry) -> None:
    deep = registry.folder / "targets/pinproof/helper/deep"
    for _ in range(200):
        deep = deep / "er"
    deep.mkdir(parents=True)
    assert codes(registry.open()) == {"registry-unlisted"}


def test_an_empty_folder_is_harmless(registry: Registry) -> None:
    """Git does not keep it, so a clone and its original differ by it."""
    (registry.folder / "targets/pinproof/image").mkdir()
    registry.catalog()


def test_more_files_than_allowed_are_not_listed(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "REGISTRY_FILES", 5)
    result = RegistryFiles(registry.folder).listing()
    assert len(result.files) + len(result.odd) <= 6
    assert {f.code for f in result.findings} == {"registry-too-large"}


def test_a_folder_that_is_not_there_is_no_judgement(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name in ("gone", "file"):
        with pytest.raises(UnavailableError, match="cannot be read") as caught:
            Registry(tmp_path / name, b"").open()
        assert caught.value.code == "cannot-read"


@pytest.mark.parametrize("name", ["metadata", "timestamp.json", "pinproof"])
def test_what_may_not_be_read_is_no_judgement(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Patched, because whoever runs the tests as root may read everything."""
    real = os.open

    def refusing(path: str, *arguments: int, **options: int) -> int:
        if path == name:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(UnavailableError, match="permission denied"):
        registry.open()


def test_an_empty_folder_is_refused(tmp_path: Path, registry: Registry) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert codes(Registry(empty, registry.root).open()) == {"registry-untrusted-root"}
    result = Registry(empty, registry.root).open(root=registry.root)
    assert codes(result) == {"registry-missing"}


def test_reading_a_registry_path_that_is_a_folder(registry: Registry) -> None:
    result = RegistryFiles(registry.folder).read("targets/pinproof")
    assert isinstance(result, Finding)
    assert result.code == "registry-link"
