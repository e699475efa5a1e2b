"""The sound release as a folder of downloads, for the command line, and one thing otherwise.

A `[release."downloads"]` table of a case writes the four files of `releases`, and the registry of
the case has the release's entry. What may be otherwise:

* `content = {"LICENSE" = "…"}`: what is packed, agreeing with all the rest;
* `receipt`, `smoke` = {"archive.bytes" = 1}: dotted paths, printed as their producer does; `~`
  stands for a point in a name. `text = {"checksum" = [["old", "new"]]}`: text of a file.
* `missing = ["smoke"]`, `links`, `files = {"NAME" = "text"}`: files that are not there, links to
  them, more files; `flip = "archive"`: the last byte of a file is another one;
* `sums = true`: a set of plain files under a list SHA256SUMS instead.

`[release_entry]` changes what the registry says: facts such as `source_commit`; `known = "sums"`
for the plain set, `"commit"` if only the commit is known, `"staging"` if the archive was staged.
"""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from support import registry as registries
from support import releases

_FILES: Final = {
    "archive": releases.ARCHIVE,
    "checksum": releases.CHECKSUM,
    "receipt": releases.RECEIPT,
    "smoke": releases.SMOKE,
}
SET: Final = {"tool-linux": b"a tool\n", "LICENSE": b"a licence\n"}
ENTRY: Final = "neighbour/release/grill-perf-0.9.0.toml"


def make(folder: Path, recipe: Mapping[str, Any]) -> None:
    """Write one folder of downloads."""
    if recipe.get("sums"):
        folder.mkdir(parents=True)
        for name, data in SET.items():
            (folder / name).write_bytes(data)
        lines = [f"{sha256(data).hexdigest()}  {name}\n" for name, data in SET.items()]
        (folder / "SHA256SUMS").write_text("".join(lines))
    else:
        packed = {n: text.encode() for n, text in recipe.get("content", {}).items()}
        releases.make(folder, files={**releases.FILES, **packed})
    _edit(folder, recipe)
    _place(folder, recipe)


def _edit(folder: Path, recipe: Mapping[str, Any]) -> None:
    for what in ("receipt", "smoke"):
        for path, value in recipe.get(what, {}).items():
            releases.edit_json(folder / _FILES[what], partial(_set, path=path, value=value))
    for name, pairs in recipe.get("text", {}).items():
        path = folder / _FILES.get(name, name)
        for old, new in pairs:
            assert old in path.read_text(), f"{old} does not occur"
            path.write_text(path.read_text().replace(old, new))


def _place(folder: Path, recipe: Mapping[str, Any]) -> None:
    if "flip" in recipe:
        path = folder / _FILES.get(recipe["flip"], recipe["flip"])
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for name, text in recipe.get("files", {}).items():
        (folder / name).write_text(text)
    for name in recipe.get("missing", []):
        (folder / _FILES.get(name, name)).unlink()
    for name in recipe.get("links", []):
        path = folder / _FILES.get(name, name)
        path.rename(folder / "elsewhere")
        path.symlink_to("elsewhere")


def _set(document: releases.Json, path: str, value: Any) -> None:
    *above, last = (name.replace("~", ".") for name in path.split("."))
    place: Any = document
    for name in above:
        place = place[name]
    if value == "@drop":
        del place[last]
    else:
        place[last] = value


def _pin(data: bytes) -> releases.Json:
    return {"sha256": sha256(data).hexdigest(), "length": len(data)}


def registry(folder: Path, facts: Mapping[str, Any]) -> registries.Registry:
    """Write a registry that also has the release."""
    kinds: dict[str | None, releases.Json] = {
        None: {},
        "commit": {"target": [{"triple": releases.TRIPLE}]},
        "staging": {
            "target": [{"triple": releases.TRIPLE}],
            "staging": [
                {
                    "sha256": sha256(releases.tar(releases.FILES)).hexdigest(),
                    "reason": "built before it was built again for publication",
                }
            ],
        },
        "sums": {
            "format": "sha256sums",
            "target": [{"triple": releases.TRIPLE, "archive": _pin(SET["tool-linux"])}],
        },
    }
    stated = {name: value for name, value in facts.items() if name != "known"}
    entry = releases.entry(**kinds[facts.get("known")], **stated)
    signed = {path: d for path, d in registries.entries().items() if not path.startswith("index/")}
    signed[ENTRY] = entry
    signed |= registries.index_of(signed)
    return registries.make(folder, targets=signed)
