"""Sealing: what it makes opens with its own root, and a refusal changes nothing."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.registry import EXPIRES, KEYS, NOW, Registry, codes, entries

from verifier.actions.seal import Sealed, seal, ten_years_after
from verifier.core.errors import UnavailableError, WrongCallError
from verifier.core.table import MalformedError

FAIR = "targets/pinproof/helper/example-fair-queue.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, data in entries().items():
        file = tmp_path / "registry/targets" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return tmp_path / "registry"


def _opened(folder: Path) -> Registry:
    return Registry(folder, (folder / "metadata/1.root.json").read_bytes())


def test_a_sealed_registry_opens_with_its_root(folder: Path) -> None:
    made = seal(folder, now=NOW)
    catalog = _opened(folder).catalog()
    assert catalog.check_all() == ()
    assert made == Sealed(
        root_sha256=catalog.facts.root_sha256,
        snapshot_version=1,
        expires="2036-11-01T00:00:00Z",
        entries=tuple(sorted(entries())),
    )
    assert codes(_opened(folder).open(now=EXPIRES)) == {"registry-expired"}
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_no_key_outlives_the_seal(folder: Path) -> None:
    seal(folder, now=NOW)
    roots = [(folder / "metadata/1.root.json").read_bytes()]
    seal(folder, now=NOW)
    roots.append((folder / "metadata/1.root.json").read_bytes())
    first, second = (json.loads(root)["signed"]["keys"].keys() for root in roots)
    assert not first & second
    text = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"PRIVATE" not in text


def test_the_same_keys_and_time_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    seal(folder, now=NOW, keys=KEYS)
    seal(other, now=NOW, keys=KEYS)
    assert _opened(folder).content() == _opened(other).content()


def test_sealing_again_goes_one_version_up(folder: Path) -> None:
    assert seal(folder, now=NOW).snapshot_version == 1
    floor = _opened(folder).catalog().floor
    assert seal(folder, now=NOW).snapshot_version == 2
    catalog = _opened(folder).catalog(floor=floor)
    assert catalog.facts.snapshot_version == 2
    assert set(catalog.floor.roles.values()) == {2}


def test_a_merge_conflict_is_mended_above_both_sides(folder: Path) -> None:
    for _ in range(3):
        seal(folder, now=NOW)
    snapshot = folder / "metadata/snapshot.json"
    ours = snapshot.read_text()
    theirs = ours.replace('"version": 3', '"version": 7')
    assert theirs != ours
    snapshot.write_text(f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
    assert codes(_opened(folder).open()) != set()
    assert seal(folder, now=NOW).snapshot_version == 8
    assert _opened(folder).catalog().check_all() == ()


def test_a_project_that_left_leaves_nothing(folder: Path) -> None:
    seal(folder, now=NOW)
    shutil.rmtree(folder / "targets/neighbour")
    (folder / "targets/index/00.json").write_text("{}")
    seal(folder, now=NOW)
    assert not (folder / "metadata/neighbour.json").exists()
    assert not (folder / "targets/index/00.json").exists()
    assert _opened(folder).catalog().names("helper") == ("example-fair-queue",)


def _spoil(folder: Path, name: str) -> None:
    entry = folder / FAIR
    if name == "malformed":
        entry.write_bytes(entry.read_bytes().replace(b"helper/v1", b"helper/v9"))
    elif name == "renamed":
        entry.rename(entry.with_name("other.toml"))
    elif name == "reserved":
        (folder / "targets/neighbour").rename(folder / "targets/root")
    elif name == "twice":
        shutil.copy(entry, folder / "targets/neighbour/helper")
    elif name == "astray":
        (folder / "targets/readme").write_text("x")
    elif name == "beside":
        (folder / "readme").write_text("x")
    elif name == "link":
        (folder / "targets/pinproof/helper/link.toml").symlink_to(entry)
    elif name == "upper case":
        (folder / "targets/pinproof/helper/A.toml").write_text("x")
    elif name == "lines":
        (folder / "targets/pinproof/lines/example-fair-queue.json").write_text("{}")
    else:
        shutil.rmtree(folder / "targets")


@pytest.mark.parametrize(
    "name",
    [
        "malformed",
        "renamed",
        "reserved",
        "twice",
        "astray",
        "beside",
        "link",
        "upper case",
        "lines",
        "empty",
    ],
)
def test_what_makes_no_sound_registry_is_refused_and_left_alone(folder: Path, name: str) -> None:
    seal(folder, now=NOW)
    sound = _opened(folder).content()
    _spoil(folder, name)
    spoiled = _opened(folder).content()
    assert spoiled != sound
    with pytest.raises((WrongCallError, MalformedError)) as caught:
        seal(folder, now=NOW)
    assert caught.value.remedy
    assert _opened(folder).content() == spoiled
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_folder_that_cannot_be_written_is_no_fault(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UnavailableError, match="no space left on device"):
        seal(folder, now=NOW)
    assert not (folder / "metadata").exists()


def test_ten_years_after_a_leap_day() -> None:
    assert ten_years_after(NOW) == EXPIRES
    leap = datetime(2028, 2, 29, 1, 2, 3, 4, tzinfo=UTC)
    assert ten_years_after(leap) == datetime(2038, 2, 28, 1, 2, 3, tzinfo=UTC)
