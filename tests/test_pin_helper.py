"""Pinning through the command line: the example from its history, and an overlay of our own.

The overlay is unlike the example: a region between sentinels, a coroutine, sites in coroutines of
a module and under a decorator, an installer without blocks as literals, a table of texts.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from support import git_repos, pinning, runs
from support.maintaining import Team
from support.registry import NOW, entries

from verifier.catalog.entries.helper_format import parse

PROJECT: Final = Path(__file__).parents[1]
URL: Final = "https://example.org/relay"

RELAY: Final = '''\
"""Relays lines from one stream to another."""

import asyncio
from contextlib import asynccontextmanager

LIMIT = 64


async def relay(reader, writer):
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()


@asynccontextmanager
async def opened(host, port):
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield reader, writer
    finally:
        writer.close()
'''
REGION: Final = """\
# [relay-pace:{v}] begin
_pace_seen = {{}}


async def _pace(writer, amount):
    _pace_seen[id(writer)] = _pace_seen.get(id(writer), 0) + amount
    if _pace_seen[id(writer)] > {limit}:
        await asyncio.sleep({pause})
# [relay-pace:{v}] end
"""
INSTALLER: Final = '''\
"""Writes the pace into a relay."""

REGIONS = {{
    "{v}": """\\
{region}""",
}}


def install(text, version):
    begin = text.index("async def relay")
    text = text[:begin] + REGIONS[version] + text[begin:]
    for line, call in (
        (
            "        writer.write(line)\\n",
            "        await _pace(writer, len(line))  # [relay-pace:{v}]\\n",
        ),
        ("    try:\\n", "    await _pace(writer, 0)  # [relay-pace:{v}]\\n"),
    ):
        at = text.index(line)
        text = text[:at] + call + text[at:]
    return text
'''
RECIPE: Final = """\
schema = "pin-helper/v1"
name = "relay-pace"
project = "{url}"
host = "relay.py"
marker_prefix = "# [relay-pace"
current = "v2"
repository = "{url}"
path = "tools/pace.py"

[[base]]
name = "relay"
file = "relay.py"

[[version]]
id = "v1"
marker = "# [relay-pace:v1]"
commit = "{one}"
sentinels = {{ begin = "# [relay-pace:v1] begin", end = "# [relay-pace:v1] end" }}
hosts.relay.file = "relay_v1.py"

[[version]]
id = "v2"
marker = "# [relay-pace:v2]"
commit = "{two}"
symbol = "REGIONS['v2']"
sentinels = {{ begin = "# [relay-pace:v2] begin", end = "# [relay-pace:v2] end" }}
site_names = ["write", "open"]
hosts.relay.file = "relay_v2.py"
"""
VERSIONS: Final = {"v1": ("LIMIT", "0.1"), "v2": ("4 * LIMIT", "0.01")}


def relay(folder: Path) -> Path:
    """Make the overlay project: two commits, two patched hosts, a recipe."""
    repo = git_repos.make(folder / "producer")
    (folder / "relay.py").write_text(RELAY)
    commits: list[str] = []
    for version, (limit, pause) in VERSIONS.items():
        region = REGION.format(v=version, limit=limit, pause=pause)
        source = INSTALLER.format(v=version, region=region)
        commits.append(repo.commit({b"tools": {b"pace.py": source.encode()}}, parents=commits[-1:]))
        made: dict[str, Any] = {}
        exec(source, made)  # noqa: S102  (our own installer; pinproof never runs one)
        (folder / f"relay_{version}.py").write_text(made["install"](RELAY, version))
    text = RECIPE.format(url=URL, one=commits[0], two=commits[1])
    (folder / "pins.toml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return relay(tmp_path_factory.mktemp("relay"))


def run(words: str, cwd: Path) -> runs.Ran:
    return runs.run(words.split(), cwd=cwd, clock=NOW)


PIN: Final = f"pin helper pins.toml --clone {URL}=producer --to relay-pace.toml"


def test_the_example_is_regenerated_byte_for_byte(tmp_path: Path) -> None:
    shutil.copy(pinning.RECIPE, tmp_path)
    shutil.copytree(pinning.fair_queue(), tmp_path / "fair-queue")
    place = tmp_path / "reg/targets/pinproof/helper"
    place.mkdir(parents=True)
    to = place / "example-fair-queue.toml"
    words = f"pin helper pins.toml --clone {pinning.URL}=fair-queue --to {to}"
    assert run(words, tmp_path).exit == 0
    signed = entries()
    for name in ("helper/example-fair-queue.toml", "lines/example-fair-queue.json"):
        made = (tmp_path / "reg/targets/pinproof" / name).read_bytes()
        assert made == signed[f"pinproof/{name}"], name
    again = run(words, tmp_path)
    assert again.exit == 0
    assert b"nothing, it stands so already" in again.stdout


def test_an_overlay_of_another_kind_goes_all_the_way(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pinned, signed, verified, migrated, audited; nothing in verifier/ knows of it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    team = Team(tmp_path)
    team.begin()
    place = team.registry / "targets/pinproof/helper"
    place.mkdir(parents=True)
    ran = run(
        f"{PIN} --export {tmp_path}/payload".replace("relay-pace.toml", f"{place}/relay-pace.toml"),
        project,
    )
    assert ran.exit == 0, ran
    team.does("sign registry reg --key @mine1 --key @mine2 --key @targets --key @online")
    trust = f"--registry {team.registry} --root {team.registry}/metadata/1.root.json"

    for version in VERSIONS:
        verified = run(f"verify helper relay_{version}.py {trust}", project)
        assert verified.exit == 0, verified
        assert f"relay-pace {version}".encode() in verified.stdout

    host = tmp_path / "relay.py"
    for start in ("relay.py", "relay_v1.py"):
        shutil.copy(project / start, host)
        os.utime(host, (1_700_000_000, 1_700_000_000))
        words = f"migrate {host} --to v2 --payload {tmp_path}/payload/v2 --write {trust}"
        assert run(words, tmp_path).exit == 0
        assert host.read_bytes() == (project / "relay_v2.py").read_bytes()
    back = run(f"migrate {host} --to base:relay --write {trust}", tmp_path)
    assert back.exit == 0
    assert host.read_bytes() == RELAY.encode()

    audit = f"audit registry --clone {URL}=producer --recipe pins.toml {trust}"
    audited = run(audit, project)
    assert audited.exit == 0, audited
    assert b"2 confirmed" in audited.stdout

    drifted = (project / "relay_v2.py").read_text().replace("0.01", "0.02")
    host.write_text(drifted)
    assert run(f"verify helper {host} {trust}", tmp_path).exit == 1


def test_its_entry_says_what_was_published(project: Path) -> None:
    (project / "relay-pace.toml").unlink(missing_ok=True)
    ran = run(PIN, project)
    assert ran.exit == 0, ran
    lineage = parse((project / "relay-pace.toml").read_bytes(), "relay-pace")
    v1, v2 = (version.body for version in lineage.versions)
    assert v1 is not None
    assert v2 is not None
    assert (v1.begin, v1.end) == (b"# [relay-pace:v1] begin\n", b"# [relay-pace:v1] end\n")
    assert v1.producers[0].symbol == "REGIONS['v1']"
    assert v2.binds == ("_pace_seen", "_pace")
    assert v2.reads_module == ("LIMIT", "asyncio")
    assert v2.reads_builtins == ("id", "len")
    assert v2.required_imports == ("asyncio",)
    assert [(s.name, s.within, s.decorated) for s in lineage.sites["v1"]] == [
        ("relay", "relay", False),
        ("opened", "opened", True),
    ]
    assert [site.name for site in lineage.sites["v2"]] == ["write", "open"]
    assert lineage.end_anchors[0].text == b"async def relay(reader, writer):\n"


def test_a_version_is_added_to_an_entry(project: Path, tmp_path: Path) -> None:
    """The first from a recipe of one version, the second by options; the first stays as it was."""
    for name in ("relay.py", "relay_v1.py", "relay_v2.py"):
        shutil.copy(project / name, tmp_path)
    shutil.copytree(project / "producer", tmp_path / "producer")
    head, one, two = (project / "pins.toml").read_text().split("[[version]]\n")
    recipe = f"{head}[[version]]\n{one}".replace('current = "v2"', 'current = "v1"')
    (tmp_path / "one.toml").write_text(recipe)
    first = f"pin helper one.toml --clone {URL}=producer --to relay-pace.toml"
    assert run(first, tmp_path).exit == 0
    before = parse((tmp_path / "relay-pace.toml").read_bytes(), "x")
    words = [
        *("pin", "helper", "--to", "relay-pace.toml", "--clone", f"{URL}=producer", "--id", "v2"),
        *("--marker", "# [relay-pace:v2]", "--commit", two.split('commit = "')[1].split('"')[0]),
        *("--path", "tools/pace.py", "--symbol", "REGIONS['v2']"),
        *("--pristine", "relay.py", "--patched", "relay_v2.py", "--base", "relay"),
    ]
    refused = runs.run(words, cwd=tmp_path, clock=NOW)
    assert refused.exit == 1  # a comment is no first line with an empty one before it
    assert parse((tmp_path / "relay-pace.toml").read_bytes(), "x") == before
    words += ["--begin", "# [relay-pace:v2] begin", "--end", "# [relay-pace:v2] end"]
    added = runs.run(words, cwd=tmp_path, clock=NOW)
    assert added.exit == 0, added
    assert b"adds        version[v2]" in added.stdout
    after = parse((tmp_path / "relay-pace.toml").read_bytes(), "x")
    assert after.versions[0] == before.versions[0]
    assert [version.id for version in after.versions] == ["v1", "v2"]
    assert after.current == "v2"
    half = runs.run(words[:-2], cwd=tmp_path, clock=NOW)
    assert half.exit == 2


def test_one_version_by_options(tmp_path: Path) -> None:
    commit = pinning.project(tmp_path / "gate")
    words = [
        *("pin", "helper", "--to", "new.toml", "--clone", f"{pinning.GATE}=gate/producer"),
        *("--name", "lamp-gate", "--project", "tests", "--host", "lamps.py", "--id", "v1"),
        *("--marker", "# [lamp-gate:v1]", "--commit", commit, "--path", "overlay/gate.py"),
        *("--pristine", "gate/clean.py", "--patched", "gate/patched.py"),
    ]
    ran = runs.run(words, cwd=tmp_path, clock=NOW)
    assert ran.exit == 0, ran
    assert (tmp_path / "new.toml").read_bytes() == pinning.PRESENT.read_bytes()


def test_the_payload_is_what_migrate_takes(tmp_path: Path) -> None:
    pinning.project(tmp_path / "gate")
    words = (
        f"pin helper gate/pins.toml --clone {pinning.GATE}=gate/producer --to g.toml --export out"
    )
    assert run(words, tmp_path).exit == 0
    found = {
        str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()
    }
    assert found == {"v1/helper", "v1/site-cap", "v1/site-count"}
    again = run(words, tmp_path)
    assert again.exit == 4
    assert b"cannot-write" in again.stderr


def test_what_is_refused_writes_nothing(tmp_path: Path) -> None:
    pinning.project(tmp_path / "gate", {"patched": [["max(0, level)", "max(1, level)"]]})
    before = runs.content(tmp_path)
    words = (
        f"pin helper gate/pins.toml --clone {pinning.GATE}=gate/producer --to g.toml --export out"
    )
    assert run(words, tmp_path).exit == 1
    assert runs.content(tmp_path) == before


def test_the_report_is_of_its_schema(tmp_path: Path) -> None:
    pinning.project(tmp_path / "gate")
    words = (
        f"pin helper gate/pins.toml --clone {pinning.GATE}=gate/producer --to g.toml --format json"
    )
    ran = run(words, tmp_path)
    document = json.loads(ran.stdout)
    assert (document["exitCode"], document["written"]) == (0, ["g.toml", "g.lines.json"])
    schema = json.loads((PROJECT / "schemas/report.v1.schema.json").read_bytes())
    jsonschema.validate(document["report"], schema)


def test_replaced_and_grafted_objects_change_nothing(tmp_path: Path) -> None:
    """What `git show` would give is another text; the commit's own bytes are pinned."""
    commit = pinning.project(tmp_path / "gate")
    repo = git_repos.Repo(tmp_path / "gate/producer", tmp_path / "gate/producer/.git")
    other = repo.commit({b"overlay": {b"gate.py": b"HELPER = 'another'\n"}})
    repo.git("replace", commit, other)
    assert b"another" in repo.git("show", f"{commit}:overlay/gate.py"), "git follows it"
    words = f"pin helper gate/pins.toml --clone {pinning.GATE}=gate/producer --to g.toml"
    assert run(words, tmp_path).exit == 0
    assert (tmp_path / "g.toml").read_bytes() == pinning.PRESENT.read_bytes()
    ran = run(f"{words} --format json", tmp_path)
    findings = json.loads(ran.stdout)["report"]["results"][0]["findings"]
    assert {finding["code"] for finding in findings} == {"git-replaced"}


def test_a_merge_commit_is_a_commit_like_others(tmp_path: Path) -> None:
    commit = pinning.project(tmp_path / "gate")
    repo = git_repos.Repo(tmp_path / "gate/producer", tmp_path / "gate/producer/.git")
    tree = repo.git("rev-parse", f"{commit}^{{tree}}").decode().strip()
    side = repo.commit({b"overlay": {b"gate.py": b"HELPER = 'another'\n"}})
    merge = repo.commit_of(tree, parents=[commit, side])
    recipe = tmp_path / "gate/pins.toml"
    recipe.write_text(recipe.read_text().replace(commit, merge))
    words = f"pin helper gate/pins.toml --clone {pinning.GATE}=gate/producer --to g.toml"
    assert run(words, tmp_path).exit == 0
    made = (tmp_path / "g.toml").read_text()
    assert made == pinning.PRESENT.read_text().replace(commit, merge)


def test_origins_that_differ_are_refused(tmp_path: Path) -> None:
    """A second place that published the version has to have published the same text."""
    added = '[[version.also]]\ncommit = "COMMIT"\nsymbol = "OTHER"\n'
    other = "OTHER = '''\ndef _gate_cap(level):  # [lamp-gate:v1]\n    return level\n'''\n"
    pinning.project(tmp_path / "gate", {"append": {"recipe": added, "patcher": other}})
    words = f"pin helper gate/pins.toml --clone {pinning.GATE}=gate/producer --to g.toml"
    ran = run(f"{words} --format json", tmp_path)
    findings = json.loads(ran.stdout)["report"]["results"][0]["findings"]
    assert [finding["code"] for finding in findings] == ["pin-origins-differ"]
    same = pinning.HELPER.strip("\n")
    shutil.rmtree(tmp_path / "gate")
    pinning.project(
        tmp_path / "gate", {"append": {"recipe": added, "patcher": f"OTHER = '''{same}'''\n"}}
    )
    assert run(words, tmp_path).exit == 0
    lineage = parse((tmp_path / "g.toml").read_bytes(), "x")
    body = lineage.versions[0].body
    assert body is not None
    assert [p.symbol for p in body.producers] == ["HELPER", "OTHER"]
