"""Trees of the example composition, at any stage, spoilt in any way, in any kind of source.

The stages are made by the example's own make.sh, with git alone: nothing of pinproof takes part.
A recipe (a `[tree."<name>"]` table of a case) says `stage`, then what changes: `write` (path and
text), `from` (path and the stage to take it from), `crlf` and `remove` (paths), `mode` (path and
octal), `link` (path and target), `below` (a folder to put all of it into), `beside` (files
next to that), `keep` (folders).
What is made follows from the name: a folder, `….tar`, `….zip`, `….whl`, and `git` a repository.
"""

import base64
import hashlib
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from support.archives import Entry, member, tar, zipped
from support.git_repos import ENVIRONMENT

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "lantern"
STAGES: Final = ("base", "overlay", "010-dim", "020-night")

#: Path, then mode and bytes; of a link its target.
Files = dict[str, tuple[int, bytes]]

_LINK: Final = 0o120777
_DIST_INFO: Final = "lantern-1.0.dist-info"


def repository(folder: Path, stage: str = "020-night") -> None:
    """Make the example's repository up to a stage."""
    subprocess.run(
        ["sh", EXAMPLE / "make.sh", folder, stage],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )


@cache
def _repository(stage: str) -> "tempfile.TemporaryDirectory[str]":
    """Make a repository once; it lasts as long as the tests."""
    made = tempfile.TemporaryDirectory()
    repository(Path(made.name) / "lantern", stage)
    return made


@cache
def _at(stage: str) -> tuple[tuple[str, tuple[int, bytes]], ...]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "lantern"
        repository(folder, stage)
        return tuple(
            (str(path.relative_to(folder)), (_mode(path), path.read_bytes()))
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        )


def lantern(stage: str = "020-night") -> Files:
    """Return the files of the example after a stage."""
    return dict(_at(stage))


def changed(recipe: Mapping[str, Any]) -> Files:
    """Return the files that a recipe describes; every change has to change something."""
    files = lantern(recipe.get("stage", "020-night"))
    for path, other in recipe.get("from", []):
        assert files.get(path) != lantern(other).get(path), path
        files[path] = lantern(other)[path]
    for path, text in recipe.get("write", []):
        assert files.get(path, (0, b""))[1] != text.encode()
        files[path] = (0o100644, text.encode())
    for path in recipe.get("crlf", []):
        mode, data = files[path]
        assert b"\r" not in data
        files[path] = (mode, data.replace(b"\n", b"\r\n"))
    for path, mode in recipe.get("mode", []):
        assert files[path][0] != int(mode, 8)
        files[path] = (int(mode, 8), files[path][1])
    for path in recipe.get("remove", []):
        del files[path]
    for path, target in recipe.get("link", []):
        files = {p: f for p, f in files.items() if p != path and not p.startswith(f"{path}/")}
        files[path] = (_LINK, target.encode())
    if keep := recipe.get("keep"):
        files = {path: file for path, file in files.items() if path.startswith(tuple(keep))}
    below = recipe.get("below")
    placed = {f"{below}/{path}" if below else path: file for path, file in files.items()}
    beside = {path: (0o100644, text.encode()) for path, text in recipe.get("beside", [])}
    return placed | beside


def make(path: Path, recipe: Mapping[str, Any]) -> None:
    """Make the tree of a recipe as the kind of source that its name says."""
    if path.name == "git":
        shutil.copytree(Path(_repository(recipe.get("stage", "020-night")).name) / "lantern", path)
        return
    files = changed(recipe)
    match path.suffix:
        case ".tar":
            path.write_bytes(_tar(files))
        case ".zip":
            path.write_bytes(_zip(files, modes=recipe.get("modes", True)))
        case ".whl":
            path.write_bytes(_zip(_with_record(files)))
        case _:
            _folder(path, files)


def _folder(path: Path, files: Files) -> None:
    path.mkdir()
    for name, (mode, data) in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(mode):
            file.symlink_to(data.decode())
        else:
            file.write_bytes(data)
            file.chmod(mode & 0o777)


def _tar(files: Files) -> bytes:
    return tar(
        *(
            member(name.encode(), kind=b"2", link=data)
            if stat.S_ISLNK(mode)
            else member(name.encode(), data, mode=mode & 0o777)
            for name, (mode, data) in files.items()
        )
    )


def _zip(files: Files, *, modes: bool = True) -> bytes:
    return zipped(
        *(
            Entry(
                name=name.encode(),
                data=data,
                system=3 if modes else 0,
                attributes=mode << 16 if modes else 0,
            )
            for name, (mode, data) in files.items()
        )
    )


def _with_record(files: Files) -> Files:
    made = {
        **files,
        f"{_DIST_INFO}/METADATA": (
            0o100644,
            b"Metadata-Version: 2.1\nName: lantern\nVersion: 1.0\n",
        ),
        f"{_DIST_INFO}/WHEEL": (0o100644, b"Wheel-Version: 1.0\nTag: py3-none-any\n"),
    }
    rows = [
        f"{name},sha256={_digest(data)},{len(data)}\n" for name, (_, data) in sorted(made.items())
    ]
    record = "".join([*rows, f"{_DIST_INFO}/RECORD,,\n"])
    return {**made, f"{_DIST_INFO}/RECORD": (0o100644, record.encode())}


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _mode(path: Path) -> int:
    return 0o100755 if path.stat().st_mode & 0o100 else 0o100644
