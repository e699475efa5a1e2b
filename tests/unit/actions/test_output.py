"""New files: written whole, under a name that nobody has, on every kind of file system."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from verifier.actions import output
from verifier.core.errors import UnavailableError


def without_links(monkeypatch: pytest.MonkeyPatch, number: int = errno.EPERM) -> None:
    def link(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_is_written_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        without_links(monkeypatch)
    output.write(str(tmp_path / "new"), b"data", new=True)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert (tmp_path / "new").read_bytes() == b"data"


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_in_between_stays_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Somebody writes the file after it was looked for, and before it is written."""
    if not links:
        without_links(monkeypatch)
    looked = output.refuse_existing

    def taken_later(*paths: str) -> None:
        looked(*paths)
        (tmp_path / "new").write_bytes(b"theirs")

    monkeypatch.setattr(output, "refuse_existing", taken_later)
    with pytest.raises(UnavailableError) as error:
        output.write(str(tmp_path / "new"), b"data", new=True)
    assert error.value.code == "cannot-write"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert (tmp_path / "new").read_bytes() == b"theirs"


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_links(monkeypatch, errno.ENOSPC)
    with pytest.raises(UnavailableError):
        output.write(str(tmp_path / "new"), b"data", new=True)
    assert list(tmp_path.iterdir()) == []
