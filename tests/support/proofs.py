"""What a proof reads, built for one case: a repository, patches, an entry, a registry with it.

An `[entry]` table of a case describes the entry `composed`. It begins as the example's own
(`overlays = [names]`: as that of the example's overlays, whose helper lineages come with it):

* `stages`: names of its stages, in the order that is wanted; `"again = 010-dim"` is another stage
  like that one. What `more` adds are stages too.
* `drop`: keys, such as `stage.010-dim.files.lantern/lamp.ini.pre`.
* `set`: keys and their values. `@name` is the id of a commit of `[repository]`, `@name^{tree}`
  that of its tree.
* `pin`: keys, and the files among the inputs of which they become SHA-256 and length.
* `patches`: patches of the example that lie in the folder `patches`; `edit` changes them
  (file, old, new), each exactly once.
* `hosts`: files, and the overlays that stand in the host that is written there.

A `[repository."<name>"]` table makes a repository: `commit` lists recipes of
`support.compositions`, each with a `name`, one on top of the other unless `root = true`; with
`stage = "host"` the commit holds queue/host.py, the `host` of `support.hosts`. Or `shallow_of`
names another repository, cloned to a `depth`. Every id is the same each time.
"""

import re
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from support import compositions, git_repos, hosts, overlays
from support import registry as registries
from verifier.core.digest import Pin
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError

NAME: Final = "composed"
_ENTRY: Final = "pinproof/composition/example-lantern.toml"
_FILE: Final = re.compile(r"(.+?)((?:\.(?:pre|post|sha256|length|mode|operation))*)")
_NAMED: Final = re.compile(r"@([a-z0-9-]+)(\^\{tree\})?")


def make(inputs: Path, case: Mapping[str, Any], registry: Path) -> registries.Registry:
    """Build the inputs of a case that has an `[entry]`, and the registry that holds it."""
    recipe = case["entry"]
    ids: dict[str, str] = {}
    for name, repository in case.get("repository", {}).items():
        ids |= _repository(inputs / name, repository)
    for name in recipe.get("patches", []):
        (inputs / "patches").mkdir(exist_ok=True)
        shutil.copy(compositions.EXAMPLE / f"{name}.patch", inputs / "patches")
    for name, old, new in recipe.get("edit", []):
        text = (inputs / name).read_text()
        assert text.count(old) == 1, (name, old)
        (inputs / name).write_text(text.replace(old, new))
    for name, installed in recipe.get("hosts", []):
        (inputs / name).parent.mkdir(exist_ok=True)
        (inputs / name).write_bytes(overlays.installed(tuple(installed)))
    signed = registries.entries()
    if named := recipe.get("overlays"):
        entry = overlays.as_entry(tuple(named))
        for overlay in named:
            signed[f"pinproof/helper/example-{overlay}.toml"] = overlays.source(overlay)
    else:
        entry = tomllib.loads(signed[_ENTRY].decode())
    signed[f"pinproof/composition/{NAME}.toml"] = write_toml(_entry(entry, recipe, ids, inputs))
    signed = {path: data for path, data in signed.items() if not path.startswith("index/")}
    try:
        signed |= registries.index_of(signed)
    except MalformedError:  # an index is a hint: what it lacks is looked for all the same
        own = f"pinproof/composition/{NAME}.toml"
        signed |= registries.index_of({p: data for p, data in signed.items() if p != own})
    return registries.make(registry, targets=signed)


def _repository(path: Path, recipe: Mapping[str, Any]) -> dict[str, str]:
    if "shallow_of" in recipe:
        source = path.parent / recipe["shallow_of"]
        repo = git_repos.Repo(source, source / ".git")
        depth = f"--depth={recipe['depth']}"
        repo.git("clone", "--quiet", "--template=", depth, f"file://{source}", str(path))
        return {}
    repo = git_repos.make(path)
    ids: dict[str, str] = {}
    parents: list[str] = []
    for commit in recipe["commit"]:
        content = _content(commit)
        made = repo.commit(content, parents=[] if commit.get("root") else parents)
        parents = [made]
        tree = repo.git("rev-parse", f"{made}^{{tree}}").decode().strip()
        ids |= {commit["name"]: made, f"{commit['name']}^{{tree}}": tree}
    return ids


def _content(recipe: Mapping[str, Any]) -> dict[bytes, Any]:
    """Return the files of a recipe as folders in folders, or a host of `support.hosts`."""
    if recipe.get("stage") == "host":
        return {b"queue": {b"host.py": hosts.host(recipe.get("host", "clean"))}}
    root: dict[bytes, Any] = {}
    for path, (mode, data) in compositions.changed(recipe).items():
        *folders, name = path.encode().split(b"/")
        at = root
        for folder in folders:
            at = at.setdefault(folder, {})
        at[name] = (b"%o" % mode, data)
    return root


def _entry(
    entry: dict[str, Any], recipe: Mapping[str, Any], ids: Mapping[str, str], inputs: Path
) -> dict[str, Any]:
    entry["name"] = NAME
    known = {stage["name"]: stage for stage in [*entry["stage"], *recipe.get("more", [])]}
    stages = []
    for wanted in recipe.get("stages", list(known)):
        name, _, like = wanted.partition(" = ")
        stages.append({**known[like or name], "name": name})
    entry["stage"] = stages
    for key in recipe.get("drop", []):
        *way, last = _parts(key)
        at = _at(entry, way)
        if isinstance(at, list):
            at.remove(_at(at, [last]))
        else:
            del at[last]
    for key, value in recipe.get("set", []):
        *way, last = _parts(key)
        at = _at(entry, way)
        assert at.get(last) != value, key
        at[last] = _resolved(value, ids)
    for key, name in recipe.get("pin", []):
        *way, last = _parts(key)
        pin = Pin.of((inputs / name).read_bytes())
        at = _at(entry, way)
        at[last] = {**at.get(last, {}), "sha256": pin.sha256, "length": pin.length}
    return entry


def _parts(key: str) -> list[str]:
    """Split a key at its dots, but for those of the path of a file."""
    before, files, rest = key.partition(".files.")
    if not files:
        return key.split(".")
    split = _FILE.fullmatch(rest)
    assert split is not None, key
    return [*before.split("."), "files", split[1], *split[2].split(".")[1:]]


def _at(value: Any, way: list[str]) -> Any:
    """Walk into tables by key, and into lists of tables by their name or path."""
    for part in way:
        if isinstance(value, list):
            value = next(row for row in value if part in (row.get("name"), row.get("path")))
        else:
            value = value[part]
    return value


def _resolved(value: Any, ids: Mapping[str, str]) -> Any:
    found = _NAMED.fullmatch(value) if isinstance(value, str) else None
    return ids[found[1] + (found[2] or "")] if found else value
