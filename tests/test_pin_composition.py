"""`pin composition`: the entry is proved before it is written, and reads as it was meant."""

import json
import tomllib
from pathlib import Path

import pytest
from support import compositions, git_repos, registry, runs

from verifier.actions import pin_composition as pin
from verifier.catalog.entries.composition_format import parse, with_table
from verifier.core.errors import UnavailableError

EXAMPLE = compositions.EXAMPLE
ENTRY = Path(__file__).parents[1] / "registry/targets/pinproof/composition/example-lantern.toml"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pin") / "lantern"
    compositions.repository(folder)
    return folder


def run(cwd: Path, repository: Path, *more: str, include: str = "lantern/") -> runs.Ran:
    published = tomllib.loads(ENTRY.read_text())
    return runs.run(
        [
            *("pin", "composition", "example-lantern", "--project", published["project"]),
            *("--clone", f"base={repository}", "--include", include, "--to", "entry.toml"),
            *("--base", published["base"]["commit"], "--target", published["target"]["commit"]),
            *more,
        ],
        cwd=cwd,
        clock=registry.NOW,
    )


PATCHES = [
    *("--patch", str(EXAMPLE / "010-dim.patch")),
    *("--patch", str(EXAMPLE / "020-night.patch")),
]


def test_the_lantern_s_entry_is_made_again(repository: Path, tmp_path: Path) -> None:
    ran = run(tmp_path, repository, *PATCHES)
    assert ran.exit == 0, ran
    assert {path.name for path in tmp_path.iterdir()} == {"entry.toml"}
    made = tomllib.loads((tmp_path / "entry.toml").read_text())
    published = tomllib.loads(ENTRY.read_text())
    for stage in published["stage"]:
        stage.get("patch", {}).pop("path", None)
    assert made == published
    assert b"not signed" in ran.stdout


def test_nothing_is_written_where_it_cannot_be_proved(repository: Path, tmp_path: Path) -> None:
    ran = run(tmp_path, repository, *PATCHES[2:], *PATCHES[:2])
    assert ran.exit == 1
    assert b"patch-mismatch" in ran.stdout
    assert list(tmp_path.iterdir()) == []
    ran = run(tmp_path, repository, *PATCHES, include="lantern/lamp.ini")
    assert ran.exit == 1
    assert b"stage-unlisted" in ran.stdout
    ran = run(tmp_path, repository, *PATCHES[:2], *PATCHES[:2])
    assert ran.exit == 1
    assert b"patch-applied" in ran.stdout
    ran = run(tmp_path, repository, include="elsewhere/")
    assert ran.exit == 1
    assert list(tmp_path.iterdir()) == []


def test_wrong_calls(repository: Path, tmp_path: Path) -> None:
    assert run(tmp_path, repository, "--clone", f"other={repository}").exit == 2
    assert run(tmp_path, repository, "--patch", "nowhere.patch").exit == 4
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_is_no_ancestor_is_no_base(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    base, target = repo.commit({b"a": b"0\n"}), repo.commit({b"a": b"1\n"})
    ran = runs.run(
        [
            *("pin", "composition", "x", "--project", "p", "--clone", f"base={repo.path}"),
            *("--base", base, "--target", target, "--to", "x.toml"),
        ],
        cwd=tmp_path,
        clock=registry.NOW,
    )
    assert ran.exit == 1
    assert b"lineage-ancestor" in ran.stdout
    assert not (tmp_path / "x.toml").exists()


def test_a_submodule_in_the_scope_is_refused(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    link = (b"160000", b"1" * 40)
    base = repo.commit({b"a": b"0\n", b"s": link})
    target = repo.commit({b"a": b"1\n", b"s": link}, parents=[base])
    command = [
        *("pin", "composition", "x", "--project", "p", "--clone", f"base={repo.path}"),
        *("--base", base, "--target", target, "--to", "x.toml"),
    ]
    ran = runs.run(command, cwd=tmp_path, clock=registry.NOW)
    assert ran.exit == 1
    assert b"stage-mode" in ran.stdout
    ran = runs.run([*command, "--exclude", "s"], cwd=tmp_path, clock=registry.NOW)
    assert ran.exit == 0, ran


def test_many_files_have_a_table_beside_the_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verifier.checks.composition.written.ENTRY_FILES", 3)
    repo = git_repos.make(tmp_path / "repo")
    files = {b"%d" % number: b"x\n" for number in range(5)}
    base = repo.commit(dict(files))
    target = repo.commit({**files, b"1": b"y\n"}, parents=[base])
    pinned = pin.pin_composition(
        "x",
        project="p",
        clones={"base": str(repo.path)},
        base=base,
        target=target,
        patches=(),
        include=(),
        exclude=(),
        to=str(tmp_path / "x.toml"),
        repository="https://example.org/x",
        now=registry.NOW,
    )
    assert pinned.written == (str(tmp_path / "x.toml"), str(tmp_path / "x.files.json"))
    table = (tmp_path / "x.files.json").read_bytes()
    entry = parse((tmp_path / "x.toml").read_bytes(), "x")
    assert len(with_table(entry, table, "x").table) == len(json.loads(table)) == 5
    assert entry.retained == ()
    assert entry.base.repository == "https://example.org/x"


# ── plain folders ──────────────────────────────────────────────────────────────────────────────


def pin_folders(cwd: Path, *more: str, scope: str = "lantern/") -> runs.Ran:
    return runs.run(
        [
            *("pin", "composition", "x", "--project", "p", "--include", scope, "--to", "x.toml"),
            *("--clone", "base=before", "--clone", "target=after", *more),
        ],
        cwd=cwd,
        clock=registry.NOW,
    )


def folders(cwd: Path) -> None:
    compositions.make(cwd / "before", {"stage": "base"})
    compositions.make(cwd / "after", {"stage": "overlay"})


def test_before_and_after_trees_are_enough(tmp_path: Path) -> None:
    folders(tmp_path)
    ran = pin_folders(tmp_path, *PATCHES)
    assert ran.exit == 0, ran
    made = tomllib.loads((tmp_path / "x.toml").read_text())
    published = tomllib.loads(ENTRY.read_text())
    assert made["base"] == {"tree": published["base"]["tree"]}
    assert made["target"] == {"tree": published["target"]["tree"]}
    for stage in published["stage"]:
        stage.get("patch", {}).pop("path", None)
    assert made["stage"] == published["stage"]
    assert made["retained"] == published["retained"]


def test_what_was_pinned_from_folders_is_proved_from_them(tmp_path: Path) -> None:
    folders(tmp_path)
    assert pin_folders(tmp_path, *PATCHES).exit == 0
    entry = parse((tmp_path / "x.toml").read_bytes(), "x")
    targets = registry.entries()
    targets["pinproof/composition/x.toml"] = (tmp_path / "x.toml").read_bytes()
    made = registry.make(tmp_path / "registry", targets=targets | registry.index_of(targets))
    command = ["verify", "composition", "x", "--prove", "--clone", "base=before"]
    command += ["--clone", f"source={EXAMPLE}", *runs.trusting(made)]
    ran = runs.run([*command, "--clone", "target=after"], cwd=tmp_path, clock=registry.NOW)
    assert ran.exit == 0, ran
    assert b"trees without a history" in b" ".join(ran.stdout.split())
    (tmp_path / "before" / "README.txt").write_text("Another.\n")
    ran = runs.run([*command, "--clone", "target=after"], cwd=tmp_path, clock=registry.NOW)
    assert ran.exit == 1
    assert b"lineage-tree" in ran.stdout
    assert entry.base.commit is None


def test_folders_that_cannot_be_pinned(repository: Path, tmp_path: Path) -> None:
    folders(tmp_path)
    assert pin_folders(tmp_path, *PATCHES[2:]).exit == 1
    assert pin_folders(tmp_path, scope="elsewhere/").exit == 1
    ran = runs.run(
        [
            *("pin", "composition", "x", "--project", "p", "--clone", f"base={repository}"),
            *("--to", "x.toml", *PATCHES),
        ],
        cwd=tmp_path,
        clock=registry.NOW,
    )
    assert ran.exit == 3
    assert b"no commit of it is named" in b" ".join(ran.stdout.split())
    assert not (tmp_path / "x.toml").exists()


@pytest.mark.parametrize("there", ["x.toml", "x.files.json"])
def test_nothing_is_written_over(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("reviewed")
    with pytest.raises(UnavailableError, match="exists already"):
        pin.pin_composition(
            "x",
            project="p",
            clones={"base": "nowhere"},
            base=None,
            target=None,
            patches=(),
            include=(),
            exclude=(),
            to=str(tmp_path / "x.toml"),
            repository=None,
            now=registry.NOW,
        )
    assert [path.name for path in tmp_path.iterdir()] == [there]


def test_where_to_write_is_checked_before_anything_is_written(tmp_path: Path) -> None:
    for to in (tmp_path / "none" / "x.toml", tmp_path):
        with pytest.raises(UnavailableError):
            pin.pin_composition(
                "x",
                project="p",
                clones={"base": "nowhere"},
                base=None,
                target=None,
                patches=(),
                include=(),
                exclude=(),
                to=str(to),
                repository=None,
                now=registry.NOW,
            )
    assert list(tmp_path.iterdir()) == []
