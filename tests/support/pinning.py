"""Producers for tests of pinning: the example's own history, and a small overlay project.

Tables of a case:

* `[producer."fair-queue"]`: the repository that examples/fair_queue/history.py makes; `forged` and
  `missing` list blobs that then hold other bytes, or are not there.
* `[recipe."pins.toml"]`: the recipe beside it; `replace` = [[old, new]].
* `[project."gate"]`: a project of one commit in a folder: `producer`, the repository; `clean.py`
  and `patched.py`, the hosts; `pins.toml`, whose commit is the one that was made; with `present`
  its entry too. Otherwise may be, each as [[old, new]]: `patcher`, `clean`, `patched`, `recipe`,
  `present`; `append` = {file = text}; `crlf`, `patched_hex`; `link`, in place of the patcher;
  `files` = more files, in which CLEAN and PATCHED are the hosts and PRESENT the entry.
* `[audited]`: the registry that judges, with entries that are otherwise: `replace` = {path = [[old,
  new]]}, `more` = {path = text}. `[lying."a"]`: such a one in a folder of the case, its root in
  `root.json` beside it; with `unsigned` its metadata is left out.
"""

import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from support import git_repos, hosts
from support import registry as registries

URL: Final = "https://example.org/fair-queue"
RECIPE: Final = hosts.EXAMPLE / "pins.toml"
FAIR: Final = "pinproof/helper/example-fair-queue.toml"
GATE: Final = "https://example.org/gate"
#: The entry of the project as it is, written down.
PRESENT: Final = Path(__file__).with_name("lamp-gate.toml")

CLEAN: Final = '''\
"""Lamps on a string."""

import json


def level_of(text):
    level = json.loads(text)
    return max(0, level)


class String:
    def light(self, lamps):
        for lamp in lamps:
            lamp.on()
        return len(lamps)
'''
HELPER: Final = """
def _gate_cap(level):  # [lamp-gate:v1]
    return min(level, json.loads("9"))


"""
SITE: Final = "    level = _gate_cap(level)  # [lamp-gate:v1]\n"
PATCHER: Final = f"""\
HELPER = '''{HELPER}'''
SITES = [
    ("cap", '''    level = json.loads(text)
{SITE}''', '''    level = json.loads(text)
'''),
    ("count", '''        level = _gate_cap(len(lamps))  # [lamp-gate:v1]
        return len(lamps)
''', '''        return len(lamps)
'''),
]
"""
PATCHED: Final = (
    CLEAN.replace("\n\ndef level_of", f"\n{HELPER}def level_of")
    .replace("json.loads(text)\n", f"json.loads(text)\n{SITE}")
    .replace(
        "        return len",
        "        level = _gate_cap(len(lamps))  # [lamp-gate:v1]\n        return len",
    )
)
PINS: Final = """\
schema = "pin-helper/v1"
name = "lamp-gate"
project = "tests"
host = "lamps.py"
marker_prefix = "# [lamp-gate"
current = "v1"
repository = "https://example.org/gate"
path = "overlay/gate.py"
symbol = "HELPER"

[[base]]
name = "clean"
file = "clean.py"

[[version]]
id = "v1"
marker = "# [lamp-gate:v1]"
commit = "COMMIT"
hosts.clean.file = "patched.py"
"""


@cache
def fair_queue() -> Path:
    """Make the example's repository once a process."""
    spec = importlib.util.spec_from_file_location("history", hosts.EXAMPLE / "history.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = Path(mkdtemp(prefix="pinproof-history-"))
    module.make(folder / "fair-queue")
    return folder / "fair-queue"


def producer(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Copy the example's repository; `unpack` names an object that then holds other bytes."""
    shutil.copytree(fair_queue(), folder, symlinks=True)
    repo = git_repos.Repo(folder, folder / ".git")
    for oid in recipe.get("forged", ()):
        repo.store("blob", b"HELPER = 'another'\n", oid=oid)
    for oid in recipe.get("missing", ()):
        repo.loose(oid).unlink()


def recipe(path: Path, changes: Mapping[str, Any]) -> None:
    """Write the example's recipe, changed."""
    path.write_text(edited(RECIPE.read_text(), changes.get("replace", ())))


def registry(folder: Path, changes: Mapping[str, Any]) -> registries.Registry:
    """Build a registry of which entries read otherwise: `replace` by path, `more` files."""
    signed = registries.entries()
    for path, pairs in changes.get("replace", {}).items():
        signed[path] = edited(signed[path].decode(), pairs).encode()
    signed |= {path: text.encode() for path, text in changes.get("more", {}).items()}
    return registries.make(folder, targets={**signed, **registries.index_of(signed)})


def lying(folder: Path, changes: Mapping[str, Any]) -> None:
    """Write a registry that lies in a folder of the case; `unsigned` leaves its metadata out."""
    made = registry(folder, changes)
    (folder.parent / "root.json").write_bytes(made.root)
    if changes.get("unsigned"):
        shutil.rmtree(folder / "metadata")


def edited(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for old, new in pairs:
        assert old in text, f"{old!r} does not occur"
        text = text.replace(old, new)
    return text


def project(folder: Path, changes: Mapping[str, Any] | None = None) -> str:
    """Make a project of one commit and return the commit's id."""
    changes = changes or {}
    repo = git_repos.make(folder / "producer")
    added = changes.get("append", {})
    patcher = edited(PATCHER, changes.get("patcher", ())) + added.get("patcher", "")
    content: dict[bytes, Any] = {b"overlay": {b"gate.py": patcher.encode()}}
    if "link" in changes:
        content[b"overlay"] = {b"gate.py": (b"120000", changes["link"].encode())}
    commit = repo.commit(content)
    clean = edited(CLEAN, changes.get("clean", ())) + added.get("clean", "")
    patched = edited(PATCHED, changes.get("patched", ())) + added.get("patched", "")
    if changes.get("crlf"):
        patched = patched.replace("\n", "\r\n")
    (folder / "clean.py").write_bytes(clean.encode())
    (folder / "patched.py").write_bytes(patched.encode())
    if "patched_hex" in changes:
        (folder / "patched.py").write_bytes(
            patched.encode() + bytes.fromhex(changes["patched_hex"])
        )
    pins = PINS + added.get("recipe", "")
    pins = edited(pins.replace("COMMIT", commit), changes.get("recipe", ()))
    (folder / "pins.toml").write_text(pins)
    if "present" in changes:
        present = edited(PRESENT.read_text(), changes["present"])
        (folder / "lamp-gate.toml").write_text(present)
    for name, text in changes.get("files", {}).items():
        known = {"CLEAN\n": clean, "PATCHED\n": patched, "PRESENT\n": PRESENT.read_text()}
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(known.get(text, text))
    return commit
