"""The same bytes from any place: folder, commit, tar, zip, wheel; and helpers inside of them."""

import base64
import hashlib
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support import git_repos, hosts, runs

FILES = {
    "pkg/host.py": hosts.host("v6"),
    "pkg/drifted.py": hosts.host("v6").replace(b"// 2", b"// 3"),
    "pkg/__init__.py": b"",
    "README": "grüße\n".encode(),
    "run": b"#!/bin/sh\n",
}
RECORD = "pkg-1.dist-info/RECORD"


def record() -> bytes:
    """List all files as a wheel does; the zip is a wheel by it."""
    rows = [f"{RECORD},,"]
    for name, data in {**FILES, "link": b"run"}.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join(rows).encode()


FILES[RECORD] = record()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make one content in every form; return the argument that names each."""
    base = tmp_path_factory.mktemp("places")
    folder = base / "folder"
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("run")
    found = {"folder": str(folder)}
    for kind in ("sha1", "sha256"):
        repo = git_repos.make(base / kind, sha256=kind == "sha256")
        subprocess.run(["cp", "-a", f"{folder}/.", str(repo.path)], check=True)
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "all")
        head = repo.git("rev-parse", "HEAD").decode().strip()
        found[f"git {kind}"] = f"git:{repo.path}@{head}"
    for form in ("USTAR", "GNU", "PAX"):
        for packing in ("", "gz", "xz"):
            path = base / f"{form}.tar.{packing}".rstrip(".")
            mode: Any = f"w:{packing}"
            with tarfile.open(path, mode, format=getattr(tarfile, f"{form}_FORMAT")) as tar:
                for name in sorted(["link", *FILES]):
                    tar.add(folder / name, name)
            found[f"tar {form} {packing}"] = f"tar:{path}"
    path = base / "archive.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(FILES):
            archive.write(folder / name, name)
        link = zipfile.ZipInfo("link")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "run")
    found["zip"] = f"zip:{path}"
    found["wheel"] = f"zip:{base}/pkg-1-py3-none-any.whl"
    (base / "pkg-1-py3-none-any.whl").write_bytes(path.read_bytes())
    return found


def listed(argument: str, cwd: Path) -> dict[str, object]:
    ran = runs.run(["list", "tree", argument, "--format", "json"], cwd=cwd)
    assert ran.exit == 0, ran
    document: dict[str, object] = json.loads(ran.stdout)
    return document


def test_the_same_content_has_the_same_digest_everywhere(
    places: dict[str, str], tmp_path: Path
) -> None:
    digests = {}
    for name, argument in places.items():
        results = listed(argument, tmp_path)["results"]
        assert isinstance(results, list)
        digests[name] = next(
            d for d in results[0]["subject"]["digests"] if d.startswith("tree:sha256:")
        )
    assert len(digests) == 14
    assert len(set(digests.values())) == 1, digests


def test_the_git_tree_is_git_s_own(places: dict[str, str], tmp_path: Path) -> None:
    repo, _, head = places["git sha1"].removeprefix("git:").rpartition("@")
    stored = git_repos.Repo(Path(repo), Path(repo) / ".git")
    expected = stored.git("rev-parse", f"{head}^{{tree}}").decode().strip()
    results = listed(places["git sha1"], tmp_path)["results"]
    assert isinstance(results, list)
    assert f"git-tree:{expected}" in results[0]["subject"]["digests"]


@pytest.mark.parametrize("name", ["git sha1", "git sha256", "tar PAX gz", "zip"])
def test_a_helper_is_judged_inside_of_any_source(
    name: str, places: dict[str, str], tmp_path: Path
) -> None:
    inside = f"{places[name]}:pkg/"
    assert runs.run(["verify", "helper", f"{inside}host.py"], cwd=tmp_path).exit == 0
    drifted = runs.run(["verify", "helper", f"{inside}drifted.py"], cwd=tmp_path)
    assert drifted.exit == 1
    assert b"helper-drifted" in drifted.stdout
    assert runs.run(["identify", f"{inside}host.py"], cwd=tmp_path).exit == 0
    assert runs.run(["why", f"{inside}drifted.py"], cwd=tmp_path).exit == 0
    gone = runs.run(["verify", "helper", f"{inside}gone.py"], cwd=tmp_path)
    assert gone.exit == 4
    assert b"pinproof list tree" in gone.stdout
    whole = runs.run(["verify", "helper", places[name]], cwd=tmp_path)
    assert whole.exit == 2
    assert b"expected one file, got a whole tree" in b" ".join(whole.stderr.split())


def test_two_sources_are_compared(places: dict[str, str], tmp_path: Path) -> None:
    for name in ("git sha1", "git sha256", "tar GNU xz", "zip"):
        ran = runs.run(["diff", "tree", places["folder"], places[name]], cwd=tmp_path)
        assert ran.exit == 0, ran
        assert b"are\n" in ran.stdout or b"the same" in ran.stdout


def test_a_difference_is_rejected_with_its_cause(places: dict[str, str], tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    subprocess.run(["cp", "-a", places["folder"], str(changed)], check=True)
    path = changed / "pkg" / "host.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (changed / "run").chmod(0o644)
    (changed / "README").unlink()
    ran = runs.run(
        ["diff", "tree", places["git sha1"], "changed", "--format", "json"], cwd=tmp_path
    )
    assert ran.exit == 1
    findings = json.loads(ran.stdout)["results"][0]["findings"]
    by_code = {finding["code"]: finding for finding in findings}
    assert by_code.keys() == {"diff-content", "diff-mode", "diff-missing"}
    assert by_code["diff-content"]["cause"] == "line ends were converted to CRLF in the second"
    assert by_code["diff-mode"]["where"]["path"] == "run"
    assert by_code["diff-missing"]["where"]["path"] == "README"


def test_a_path_inside_is_a_tree_of_its_own(places: dict[str, str], tmp_path: Path) -> None:
    for name in ("git sha1", "tar USTAR", "zip"):
        key = name if name in places else f"{name} "
        ran = runs.run(
            ["diff", "tree", f"{places[key]}:pkg", f"{places['folder']}/pkg"], cwd=tmp_path
        )
        assert ran.exit == 0, ran


@pytest.mark.parametrize(
    "argument",
    ["git:repo", "git:repo@main", "git:repo@HEAD", "git:repo@" + "1" * 39, "git:@" + "1" * 40],
)
def test_what_is_no_full_id_is_a_wrong_call(argument: str, tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    for command in (["list", "tree"], ["verify", "helper"]):
        ran = runs.run([*command, argument], cwd=tmp_path)
        assert ran.exit in (2, 4), ran
        assert b"you may" in ran.stdout + ran.stderr


def test_an_empty_tree_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert runs.run(["list", "tree", "empty"], cwd=tmp_path).exit == 3


def test_a_missing_source_is_exit_4(tmp_path: Path) -> None:
    for argument in ("gone", "tar:gone", "zip:gone", "git:gone@" + "1" * 40):
        ran = runs.run(["list", "tree", argument], cwd=tmp_path)
        assert ran.exit == 4, ran
        assert b"you may" in ran.stdout + ran.stderr


def test_a_file_that_its_store_does_not_prove_is_not_judged(
    places: dict[str, str], tmp_path: Path
) -> None:
    source, _, head = places["git sha1"].removeprefix("git:").rpartition("@")
    subprocess.run(["cp", "-a", source, str(tmp_path / "repo")], check=True)
    repo = git_repos.Repo(tmp_path / "repo", tmp_path / "repo" / ".git")
    blob = repo.git("rev-parse", f"{head}:pkg/host.py").decode().strip()
    stored = repo.git_dir / "objects" / blob[:2] / blob[2:]
    name = f"git:repo@{head}:pkg/host.py"

    other = repo.git("rev-parse", f"{head}:README").decode().strip()
    stored.chmod(0o644)
    stored.write_bytes((repo.git_dir / "objects" / other[:2] / other[2:]).read_bytes())
    forged = judged(name, tmp_path)
    assert (forged["verdict"], forged["findings"][0]["code"]) == ("rejected", "git-object-forged")

    stored.unlink()
    missing = judged(name, tmp_path)
    assert missing["verdict"] == "undecided"
    assert [finding["code"] for finding in missing["findings"]] == ["git-object-missing"]
    assert missing["subject"] == {"name": name}
    for verb in ("identify", "why"):
        ran = runs.run([verb, name], cwd=tmp_path)
        assert ran.exit == 3
        assert b"git-object-missing" in ran.stdout
        assert b"e3b0c442" not in ran.stdout, "the digest of no bytes, which nobody read"


def judged(name: str, cwd: Path) -> Any:
    ran = runs.run(["verify", "helper", name, "--format", "json"], cwd=cwd)
    document = json.loads(ran.stdout)
    assert ran.exit == document["exitCode"]
    return document["results"][0]


@pytest.mark.parametrize("what", ["tree", "blob"])
def test_what_a_store_does_not_hold_is_not_the_same_on_both_sides(
    what: str, places: dict[str, str], tmp_path: Path
) -> None:
    source, _, head = places["git sha1"].removeprefix("git:").rpartition("@")
    subprocess.run(["cp", "-a", source, str(tmp_path / "repo")], check=True)
    repo = git_repos.Repo(tmp_path / "repo", tmp_path / "repo" / ".git")
    path = {"tree": "pkg", "blob": "pkg/host.py"}[what]
    lost = repo.git("rev-parse", f"{head}:{path}").decode().strip()
    (repo.git_dir / "objects" / lost[:2] / lost[2:]).unlink()
    for name in (f"git:repo@{head}", f"git:repo@{head}:pkg"):
        for command in (["list", "tree", name], ["diff", "tree", name, name]):
            ran = runs.run(command, cwd=tmp_path)
            assert ran.exit == 3, ran
            assert b"git-object-missing" in ran.stdout
            assert b"tree:sha256:" not in ran.stdout, "the digest of a part"


def test_nothing_is_not_the_same_as_nothing(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
    ran = runs.run(["diff", "tree", "one", "other"], cwd=tmp_path)
    assert ran.exit == 3
    assert b"hold nothing to compare" in ran.stdout


def test_an_archive_that_was_not_read_is_not_the_same_as_itself(tmp_path: Path) -> None:
    (tmp_path / "some.tar").write_bytes(b"BZh91AY&SY" + bytes(600))
    ran = runs.run(["diff", "tree", "tar:some.tar", "tar:some.tar"], cwd=tmp_path)
    assert ran.exit == 3, ran


@pytest.mark.parametrize(
    "argument", ["tar:{}", "zip:{}", "git:{}@" + "1" * 40, "tar:some.tar:{}", "{}"]
)
def test_names_too_long_for_any_file_are_told(argument: str, tmp_path: Path) -> None:
    (tmp_path / "some.tar").write_bytes(bytes(1024))
    name = argument.format("a" * 5000)
    for command in (["list", "tree"], ["verify", "helper"], ["identify"], ["why"]):
        ran = runs.run([*command, name], cwd=tmp_path)
        assert ran.exit in (2, 3, 4), (command, ran)
        assert b"you may" in ran.stdout + ran.stderr


@pytest.mark.parametrize("pointer", [".git", "commondir", "objects/info/alternates"])
@pytest.mark.parametrize("written", [b"../\0x", b"b" * 9000, b"../gone"])
def test_pointers_that_are_no_paths_are_told(
    pointer: str, written: bytes, places: dict[str, str], tmp_path: Path
) -> None:
    source, _, head = places["git sha1"].removeprefix("git:").rpartition("@")
    subprocess.run(["cp", "-a", source, str(tmp_path / "repo")], check=True)
    if pointer == ".git":
        (tmp_path / "repo" / ".git").rename(tmp_path / "kept")
        (tmp_path / "repo" / ".git").write_bytes(b"gitdir: " + written + b"\n")
    else:
        (tmp_path / "repo" / ".git" / pointer).write_bytes(written + b"\n")
    for command in (["list", "tree"], ["list", "tree", "--allow-alternates"]):
        ran = runs.run([*command, f"git:repo@{head}"], cwd=tmp_path)
        assert ran.exit == (0 if "alternates" in pointer else 4), ran
        assert b"git-" in ran.stdout, ran


def test_wrong_calls_are_wrong_calls_for_every_verb(places: dict[str, str], tmp_path: Path) -> None:
    for name in ("git sha1", "tar PAX gz", "zip"):
        whole = places[name]
        for inside in ("", ":", ":pkg//host.py", ":./pkg/host.py", ":/pkg/host.py", ":../x"):
            for command in (["verify", "helper"], ["identify"], ["why"]):
                ran = runs.run([*command, whole + inside], cwd=tmp_path)
                # These take whole trees, and the trees hold nothing that the registry knows.
                tree = command != ["verify", "helper"] and inside in ("", ":")
                assert ran.exit == (3 if tree else 2), (command, whole, inside, ran)
    for arguments in (["list", "tree", ""], ["diff", "tree", "", ""]):
        ran = runs.run(arguments, cwd=tmp_path)
        assert ran.exit == 2
        assert b"an empty argument" in ran.stderr


def test_a_path_inside_is_one_file_a_folder_or_missing(
    places: dict[str, str], tmp_path: Path
) -> None:
    for name in ("git sha1", "tar PAX gz", "zip"):
        one = runs.run(["list", "tree", f"{places[name]}:pkg/host.py"], cwd=tmp_path)
        assert one.exit == 0
        assert one.stdout.endswith(b" host.py\n")
        gone = runs.run(["list", "tree", f"{places[name]}:pkg/gone"], cwd=tmp_path)
        assert gone.exit == 4
        assert b"sha256" not in gone.stdout
        both = [f"{places[name]}:gone", f"{places[name]}:gone"]
        assert runs.run(["diff", "tree", *both], cwd=tmp_path).exit == 4


def test_what_is_noticed_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    repo = git_repos.make(tmp_path / "repo")
    (tmp_path / "repo" / "a").write_text("1")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "one")
    first = repo.git("rev-parse", "HEAD").decode().strip()
    empty = repo.git("hash-object", "-t", "tree", "-w", "/dev/null").decode().strip()
    listed = repo.git("ls-tree", "HEAD") + f"040000 tree {empty}\te\n".encode()
    listed += f"160000 commit {first}\tsub\n".encode()
    made = repo.ask("mktree", data=listed).stdout.decode().strip()
    second = repo.git("commit-tree", "-m", "two", made).decode().strip()
    repo.git("replace", first, second)
    told = runs.run(["list", "tree", f"git:repo@{first}"], cwd=tmp_path)
    assert told.exit == 0
    assert b"git-replaced" in told.stdout
    noted = runs.run(["list", "tree", f"git:repo@{second}"], cwd=tmp_path)
    assert b"e/, an empty folder" in noted.stdout
    assert b"what the commits of submodules hold (1)" in b" ".join(noted.stdout.split())
    same = runs.run(["diff", "tree", f"git:repo@{second}", f"git:repo@{second}"], cwd=tmp_path)
    assert same.exit == 0
    assert b"left out of the second: e/, an empty folder" in b" ".join(same.stdout.split())


def test_a_clone_that_is_not_there_is_told(places: dict[str, str], tmp_path: Path) -> None:
    ran = runs.run(["list", "tree", "--clone", "gone", places["git sha1"]], cwd=tmp_path)
    assert ran.exit == 4
    assert b"--clone gone: no such folder" in ran.stdout


@pytest.mark.parametrize("name", ["git sha1", "tar PAX gz", "zip"])
def test_the_cause_is_told_of_two_single_files_too(
    name: str, places: dict[str, str], tmp_path: Path
) -> None:
    changed = tmp_path / "host.py"
    changed.write_bytes(FILES["pkg/host.py"].replace(b"\n", b"\r\n"))
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.add(changed, "host.py")
    sides = [f"{places[name]}:pkg/host.py", "tar:other.tar:host.py"]
    ran = runs.run(["diff", "tree", *sides], cwd=tmp_path)
    assert ran.exit == 1
    assert b"line ends were converted to CRLF in the second" in b" ".join(ran.stdout.split())
