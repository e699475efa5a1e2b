"""Images: what is read of a source that lies about its parts, and how often."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from support import images

from verifier.sources.image.argument import parse
from verifier.sources.image.open import read
from verifier.sources.image.store import FolderStore, Part


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the parts that are opened."""
    names: list[str] = []
    real = FolderStore.part

    def part(self: FolderStore, name: str) -> AbstractContextManager[Part]:
        names.append(name)
        return real(self, name)

    monkeypatch.setattr(FolderStore, "part", part)
    return names


@pytest.mark.parametrize(
    ("lie", "part"), [("manifest size", "manifest"), ("config size", "config")]
)
def test_a_document_beyond_its_size_is_not_read(
    lie: str, part: str, tmp_path: Path, opened: list[str]
) -> None:
    images.make(tmp_path / "image", {"lies": [lie]})
    image = images.made({"lies": [lie]}, form="oci").images[0]
    digits = images.hexed(image.manifest_bytes if part == "manifest" else image.config_bytes)
    graph = read(parse(f"oci:{tmp_path / 'image'}"))
    assert "image-size" in {finding.code for finding in graph.findings}
    assert f"blobs/sha256/{digits}" not in opened


def test_a_layer_beyond_its_size_is_not_read(tmp_path: Path) -> None:
    images.make(tmp_path / "image", {"lies": ["layer size"]})
    graph = read(parse(f"oci:{tmp_path / 'image'}"))
    assert "image-size" in {finding.code for finding in graph.findings}
    assert [layer.diff_id is None for layer in graph.images()[0].layers] == [False, True, False]
