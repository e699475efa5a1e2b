"""Images: what is read of a source that lies about its parts, and how often."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from support import images

from verifier.checks.image import Asked, check
from verifier.core.limits import IMAGE_DOCUMENTS
from verifier.sources.image import documents
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


def mentions(place: Path, rows: list[images.Json]) -> Path:
    """Write a layout whose index.json says this."""
    images.make(place / "image", {})
    data = images.printed({"schemaVersion": 2, "manifests": rows})
    (place / "image" / "index.json").write_bytes(data)
    return place / "image"


def test_a_document_is_read_and_parsed_once(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    real = documents.manifest

    def manifest(data: bytes, where: str) -> documents.ManifestDocument:
        parsed.append(where)
        return real(data, where)

    monkeypatch.setattr(documents, "manifest", manifest)
    row = images.made({}, form="oci").images[0].descriptor
    layout = mentions(tmp_path, [row] * 500)
    graph = read(parse(f"oci:{layout}"))
    assert len(graph.images()) == 500
    assert len({id(image.json) for image in graph.images()}) == 1
    assert len(parsed) == 1
    assert opened.count(f"blobs/sha256/{row['digest'].removeprefix('sha256:')}") == 1


def test_mentions_without_end_are_refused(tmp_path: Path) -> None:
    row = images.made({}, form="oci").images[0].descriptor
    layout = mentions(tmp_path, [row] * (IMAGE_DOCUMENTS + 1))
    graph = read(parse(f"oci:{layout}"))
    assert [finding.code for finding in graph.findings] == ["image-too-deep"]
    assert graph.manifests() == ()


def test_many_mentions_are_checked(tmp_path: Path) -> None:
    row = images.made({}, form="oci").images[0].descriptor
    layout = mentions(tmp_path, [row] * (IMAGE_DOCUMENTS - 1))
    graph = read(parse(f"oci:{layout}"))
    check(graph, Asked())


def test_documents_of_too_many_bytes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verifier.sources.image.parts.IMAGE_DOCUMENT_BYTES", 500)
    images.make(tmp_path / "image", {})
    graph = read(parse(f"oci:{tmp_path / 'image'}"))
    assert [finding.code for finding in graph.findings] == ["image-too-deep"]
