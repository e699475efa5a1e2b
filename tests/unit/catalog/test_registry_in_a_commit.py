"""A registry in a folder of a commit: what a folder on disk refuses is refused there too."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

import pytest
from support import heads, registry

from verifier.catalog.open import Catalog, Refused, open_registry
from verifier.catalog.tuf import tree_files
from verifier.catalog.tuf.tree_files import RegistryTree
from verifier.sources.git.objects import FOLDER_MODE, Item

FILE, PROGRAM, LINK, MODULE = 0o100644, 0o100755, 0o120000, 0o160000
FILES: Final = heads.registry("first")
ROOT: Final = FILES["metadata/1.root.json"]


def store(
    files: Mapping[str, bytes], *, modes: Mapping[str, int] | None = None, limit: int | None = None
) -> RegistryTree:
    """Return a store of some files, and the folders above them."""
    folders = {bytes(each) for path in files for each in PurePosixPath(path).parents} - {b"."}
    items = [(f, Item(FOLDER_MODE, f, "0" * 40)) for f in sorted(folders)]
    items += [
        (path.encode(), Item((modes or {}).get(path, FILE), path.encode(), path)) for path in files
    ]

    def blob(oid: str, most: int) -> bytes | None:
        data = files[oid]
        return None if len(data) > (most if limit is None else limit) else data

    return RegistryTree(items, blob)


def opened(found: RegistryTree, root: bytes = ROOT) -> Catalog | Refused:
    return open_registry(
        found,
        root=root,
        trusted_root=b"",
        now=registry.NOW,
        floor=None,
        min_snapshot=0,
        origin="test",
        sealed=None,
    )


def codes(found: RegistryTree) -> set[str]:
    result = opened(found)
    if isinstance(result, Refused):
        return registry.codes(result)
    return {finding.code for finding in result.check_all()}


def test_a_sound_one_authenticates() -> None:
    assert codes(store(FILES)) == set()
    result = opened(store(FILES))
    assert isinstance(result, Catalog)
    assert list(result.names("signers")) == ["crew"]


def test_the_executable_bit_says_nothing() -> None:
    path = "targets/harbour/signers/crew.toml"
    assert codes(store(FILES, modes={path: PROGRAM})) == set()


@pytest.mark.parametrize("mode", [LINK, MODULE])
@pytest.mark.parametrize(
    "path", ["metadata/timestamp.json", "metadata/1.root.json", "targets/harbour/signers/crew.toml"]
)
def test_links_and_modules_are_no_files(path: str, mode: int) -> None:
    assert "registry-link" in codes(store(FILES, modes={path: mode}))


def test_what_nobody_signed_is_refused() -> None:
    more = {**FILES, "targets/harbour/signers/stray.toml": b""}
    assert "registry-unlisted" in codes(store(more))
    for odd in ("targets/harbour/signers/UPPER.toml", "targets/a/b/c/d.toml", "other/x"):
        assert codes(store({**FILES, odd: b""})) != set(), odd


def test_what_is_missing_changed_or_too_large() -> None:
    for path in ("metadata/timestamp.json", "metadata/harbour.json"):
        assert codes(store({p: d for p, d in FILES.items() if p != path})) == {"registry-missing"}
    changed = {**FILES, "targets/harbour/signers/crew.toml": b"x"}
    assert "registry-truncated" in codes(store(changed))
    assert codes(store(FILES, limit=10))
    assert codes(store({})) != set()


def test_too_many_files_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_files, "REGISTRY_FILES", 5)
    assert "registry-too-large" in codes(store(FILES))


def test_one_that_follows_and_one_that_does_not() -> None:
    assert isinstance(opened(store(heads.registry("second"))), Catalog)
    assert registry.codes(opened(store(heads.registry("resealed")))) == {"registry-untrusted-root"}
