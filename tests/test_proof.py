"""`verify composition --prove`: the lantern, from its repository and its patches to a verdict."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import compositions, git_repos, runs
from support import registry as registries

from verifier import ask
from verifier.ask.clones import Clones, named_clones
from verifier.ask.reading import Reach
from verifier.core.errors import WrongCallError
from verifier.sources.git.tree import GitTree

PATCHES = compositions.EXAMPLE


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proof") / "lantern"
    compositions.repository(folder)
    return folder


def prove(registry: registries.Registry, cwd: Path, *arguments: str) -> dict[str, Any]:
    """Run the command line; nothing in the working folder may change by that."""
    before = runs.content(cwd)
    command = ["verify", "composition", "example-lantern", "--prove", "--format", "json"]
    ran = runs.run(
        [*command, *arguments, *map(str, runs.trusting(registry))], cwd=cwd, clock=registries.NOW
    )
    assert runs.content(cwd) == before
    if not ran.stdout:
        return {"exit": ran.exit, "error": ran.stderr.decode()}
    document = json.loads(ran.stdout)
    (result,) = document["results"]
    return {
        "exit": ran.exit,
        "codes": sorted({f["code"] for f in result.get("findings", ())}),
        "states": {row["facet"]: row["state"] for row in result.get("coverage", ())},
        "digests": result["subject"].get("digests", []),
        "notProven": result.get("notProven", []),
    }


def test_the_lantern_is_proved(
    test_registry: registries.Registry, repository: Path, tmp_path: Path
) -> None:
    found = prove(
        test_registry, tmp_path, "--clone", f"base={repository}", "--clone", f"source={PATCHES}"
    )
    assert (found["exit"], found["codes"]) == (0, [])
    tree = git_repos.Repo(repository, repository / ".git").git("rev-parse", "HEAD^{tree}")
    assert found["digests"] == [f"git-tree:{tree.decode().strip()}"]
    assert {found["states"][f] for f in ("lineage", "patches", "stages", "retained")} == {"held"}
    assert found["states"]["final-stage"] == "not-checked"


def test_a_tree_and_the_proof_in_one_result(
    test_registry: registries.Registry, repository: Path, tmp_path: Path
) -> None:
    clones = ("--clone", f"base={repository}", "--clone", f"source={PATCHES}")
    found = prove(test_registry, tmp_path, *clones, "--at", str(repository))
    assert (found["exit"], found["codes"]) == (0, [])
    assert found["states"]["final-stage"] == found["states"]["lineage"] == "held"
    assert not [words for words in found["notProven"] if "--prove" in words]
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    (other / "lantern" / "wick.ini").write_bytes(b"")
    found = prove(test_registry, tmp_path, *clones, "--at", str(other))
    assert found["exit"] == 1
    assert found["states"]["stages"] == "held"


def test_without_its_patches_it_is_undecided(
    test_registry: registries.Registry, repository: Path, tmp_path: Path
) -> None:
    found = prove(test_registry, tmp_path, "--clone", f"base={repository}")
    assert found["exit"] == 3
    assert found["codes"] == ["patch-unavailable", "stage-tree-unknown"]


def test_patches_are_found_by_their_bytes_alone(
    test_registry: registries.Registry, repository: Path, tmp_path: Path
) -> None:
    source = git_repos.make(tmp_path / "source")
    for number, patch in enumerate(sorted(PATCHES.glob("*.patch"))):
        (source.path / f"renamed-{number}").write_bytes(patch.read_bytes())
    found = prove(
        test_registry, tmp_path, "--clone", f"base={repository}", "--clone", f"source={source.path}"
    )
    assert found["exit"] == 0
    changed = source.path / "renamed-0"
    changed.write_bytes(changed.read_bytes().replace(b"level = 2", b"level = 3"))
    found = prove(
        test_registry, tmp_path, "--clone", f"base={repository}", "--clone", f"source={source.path}"
    )
    assert found["exit"] == 3
    assert "patch-unavailable" in found["codes"]


def test_a_base_that_a_shallow_clone_lacks(
    test_registry: registries.Registry, repository: Path, tmp_path: Path
) -> None:
    repo = git_repos.Repo(repository, repository / ".git")
    shallow = tmp_path / "shallow"
    repo.git("clone", "--quiet", "--depth=3", f"file://{repository}", str(shallow))
    clones = ("--clone", f"base={repository}", "--clone", f"source={PATCHES}")
    found = prove(test_registry, tmp_path, *clones, "--clone", f"target={shallow}")
    assert (found["exit"], found["codes"]) == (0, ["git-shallow"])
    found = prove(test_registry, tmp_path, "--clone", f"base={shallow}")
    assert found["exit"] == 3
    assert {"lineage-unread", "git-object-missing"} <= set(found["codes"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no clone of the base"),
        (("--clone", "somewhere"), "expected NAME=PATH"),
        (("--clone", "somewhere"), "--allow-alternates follows them"),
        (("--clone", "base=a", "--prefix", "x"), "a prefix without a tree"),
        (("--clone", "base="), "expected NAME=PATH"),
        (("--clone", "base=a", "--clone", "base=b"), "given twice"),
        (("--clone", "base=a", "--clone", "other=b"), "is no part of example-lantern"),
    ],
)
def test_wrong_calls(
    test_registry: registries.Registry, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    found = prove(test_registry, tmp_path, *arguments)
    assert found["exit"] == 2
    assert words in " ".join(found["error"].split())


def test_a_clone_that_is_none(test_registry: registries.Registry, tmp_path: Path) -> None:
    found = prove(test_registry, tmp_path, "--clone", "base=nowhere")
    assert found["exit"] == 4


def test_what_base_and_target_have_in_common_is_read_once(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    one = repo.commit({b"a": b"1\n", b"b": b"2\n", b"l": (b"120000", b"a")})
    other = repo.commit({b"a": b"1\n", b"b": b"3\n", b"l": (b"120000", b"a")}, parents=[one])
    with Clones({"base": str(repo.path)}, Reach()) as clones:
        first, again = clones.read("base", one), clones.read("base", other)
        assert first is not None
        assert again is not None
        alone = GitTree(repo.path, other, name="alone").entries()
        assert list(again.entries) == alone
        common = git_repos.object_id("blob", b"1\n")
        repo.store("blob", b"another\n", oid=common)
        third = repo.commit_of(repo.git("rev-parse", f"{other}^{{tree}}").decode().strip())
        assert clones.read("base", third) is not None, "what was hashed is not read again"
    with Clones({"base": str(repo.path)}, Reach()) as clones:
        assert clones.read("base", third) is None, "and a new reader sees what stands there now"


def test_names_of_clones() -> None:
    assert named_clones(["base=a=b", "c=d"]) == {"base": "a=b", "c": "d"}
    with pytest.raises(WrongCallError):
        named_clones(["=x"])


def test_it_is_part_of_the_public_api() -> None:
    assert "prove_composition" in dir(ask)


def test_what_no_pin_can_mean_is_not_read(
    test_registry: registries.Registry, repository: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(PATCHES, source)
    with (source / "large").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte of holes
    (tmp_path / "here").mkdir()
    found = prove(
        test_registry,
        tmp_path / "here",
        "--clone",
        f"base={repository}",
        "--clone",
        f"source={source}",
    )
    assert (found["exit"], found["codes"]) == (0, [])
