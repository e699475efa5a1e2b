"""python-tuf's own client, side by side: what we believe it downloads, what it refuses we do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.registry import Registry, codes, make
from tuf.api.exceptions import DownloadHTTPError, RepositoryError
from tuf.ngclient import FetcherInterface, Updater, UpdaterConfig

from verifier.catalog.open import Catalog

SIGNED = "pinproof/helper/example-fair-queue.toml"


class _Files(FetcherInterface):
    def _fetch(self, url: str) -> Iterator[bytes]:
        try:
            yield Path(url.removeprefix("file://")).read_bytes()
        except OSError:
            raise DownloadHTTPError("not found", 404) from None


def _download(registry: Registry, path: str) -> bytes:
    work = registry.folder.parent / "client"
    for folder in ("metadata", "targets"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    updater = Updater(
        str(work / "metadata"),
        f"file://{registry.folder}/metadata/",
        str(work / "targets"),
        f"file://{registry.folder}/targets/",
        fetcher=_Files(),
        config=UpdaterConfig(prefix_targets_with_hash=False),
        bootstrap=registry.root,
    )
    info = updater.get_targetinfo(path)
    assert info is not None
    return Path(updater.download_target(info)).read_bytes()


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return make(tmp_path / "registry")


def test_both_take_every_target(registry: Registry) -> None:
    catalog = registry.catalog()
    for path in sorted((registry.folder / "targets").rglob("*.*")):
        name = path.relative_to(registry.folder / "targets").as_posix()
        assert _download(registry, name) == path.read_bytes()
    assert _download(registry, SIGNED) == catalog.entry_bytes("helper", "example-fair-queue")


def test_both_refuse_a_changed_target(registry: Registry) -> None:
    registry.write(f"targets/{SIGNED}", b"evil\n")
    with pytest.raises(RepositoryError):
        _download(registry, SIGNED)
    catalog = registry.catalog()
    assert codes(catalog.entry_bytes("helper", "example-fair-queue")) == {"registry-truncated"}


def test_the_peer_takes_what_ours_refuses(registry: Registry) -> None:
    """Why the trusted set is our own: a key given twice, and files that nothing lists."""
    path = "metadata/timestamp.json"
    data = registry.read(path)
    spoiled = data.replace(b'"version": 1\n', b'"version": 9,\n  "version": 1\n', 1)
    registry.write(path, spoiled)
    registry.write("targets/pinproof/helper/evil.toml", b"evil\n")
    assert not isinstance(registry.open(), Catalog)
    assert codes(registry.open()) == {"registry-duplicate-key"}
    assert _download(registry, SIGNED)
