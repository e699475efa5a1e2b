"""Images: what is read of a source that lies about its parts, and how often."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from support import images

from verifier.ask.image_inside import Inside, judged_inside
from verifier.ask.trusted import trust
from verifier.checks.image import Asked, check
from verifier.core.errors import UnavailableError
from verifier.core.limits import IMAGE_DOCUMENTS
from verifier.sources.image import documents
from verifier.sources.image.argument import parse
from verifier.sources.image.documents import is_config
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


@pytest.mark.parametrize(
    "document",
    [
        b'{"os":"linux","rootfs":{"diff_ids":["x"]}}',
        b'{"OS":"linux","RootFS":{"Diff_IDs":["x"]}}',
        b'{"os":"linux","rootfs":{},"rootfs":{"diff_ids":["x"]}}',
        b'{"x":' + b"1" * 5000 + b',"os":"linux","rootfs":{"diff_ids":["x"]}}',
        b'{"x":1.5,"os":"linux","rootfs":{"diff_ids":["x"]}}',
        b'{"x":"\xff","architecture":"amd64","rootfs":{"diff_ids":["x"]}}',
        b'{"x":' + b"[" * 5000 + b"]" * 5000 + b',"os":"linux","rootfs":{"diff_ids":["x"]}}',
    ],
)
def test_what_readers_in_go_run_is_a_configuration_whatever_it_is_called(document: bytes) -> None:
    assert is_config(document)


@pytest.mark.parametrize(
    "document",
    [
        b"{}",
        b"no JSON",
        b'"rootfs"',
        b'{"os":"linux"}',
        b'{"os":"linux","rootfs":{"diff_ids":[]}}',
        b'{"os":"linux","rootfs":["diff_ids"]}',
        b'{"interface":{},"rootfs":{"type":"layers","diff_ids":["x"]}}',
    ],
)
def test_what_has_no_platform_or_no_layers_is_no_configuration(document: bytes) -> None:
    assert not is_config(document)


@pytest.mark.parametrize("form", ["image", "image.oci.tar.gz"])
def test_more_members_than_are_held_end_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    images.make(tmp_path / form, {})
    kind = "oci" if form == "image" else "oci-archive"
    source = parse(f"{kind}:{tmp_path / form}")
    monkeypatch.setattr("verifier.sources.image.layers.IMAGE_MEMBERS", 6)
    read(source)
    monkeypatch.setattr("verifier.sources.image.layers.IMAGE_MEMBERS", 5)
    with pytest.raises(UnavailableError) as caught:
        read(source)
    assert caught.value.code == "too-large"


def test_layers_that_repeat_are_not_merged_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images.make(tmp_path / "image", {"platforms": ["amd64", "amd64"]})
    graph = read(parse(f"oci:{tmp_path / 'image'}"))
    monkeypatch.setattr("verifier.sources.image.layers.IMAGE_MEMBERS", 11)
    with pytest.raises(UnavailableError) as caught:
        judged_inside(graph, Inside(path="app/arch"), name="image", trust=trust())
    assert caught.value.code == "too-large"


@pytest.mark.parametrize("lies", [[], ["damaged tar"]])
@pytest.mark.parametrize("form", ["image", "image.oci.tar.gz"])
def test_small_layers_that_unpack_without_end_are_not_read_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, lies: list[str]
) -> None:
    """Each layer may unpack to something whatever its size; not all of many."""
    images.make(tmp_path / form, {"lies": lies})
    kind = "oci" if form == "image" else "oci-archive"
    source = parse(f"{kind}:{tmp_path / form}")
    read(source)
    monkeypatch.setattr("verifier.sources.image.layers.INFLATION", 1)
    monkeypatch.setattr("verifier.sources.image.layers.IMAGE_INFLATED_FREELY", 4_000)
    with pytest.raises(UnavailableError) as caught:
        read(source)
    assert caught.value.code == "too-large"


def test_parts_of_a_compressed_archive_are_not_reached_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images.make(tmp_path / "image.oci.tar.gz", {})
    monkeypatch.setattr("verifier.sources.image.store.IMAGE_REACHED_BYTES", 20_000)
    with pytest.raises(UnavailableError) as caught:
        read(parse(f"oci-archive:{tmp_path / 'image.oci.tar.gz'}"))
    assert caught.value.code == "too-large"
