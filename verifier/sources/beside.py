"""What lies beside a host file and Python might load in its place (CHECKS helper, step 9).

Everything that could matter is listed and nothing decided: Python follows links to bytecode, and
so does this module. What may not be read is listed too, without bytes.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from verifier.core.companions import Bytecode, Companions
from verifier.core.errors import UnavailableError
from verifier.core.limits import BYTECODE_BYTES
from verifier.sources.file import FileBytes, read


def companions(file: FileBytes) -> Companions | None:
    """List what lies beside `file`; None for standard input."""
    if file.mtime is None:
        return None
    path = Path(file.name)
    folder, stem = path.parent, path.stem
    unreadable: list[Bytecode] = []
    names = _listing(folder, "", unreadable)
    inside = _listing(folder / stem, stem, unreadable)
    cached = _listing(folder / "__pycache__", "__pycache__", unreadable)
    entries = {name for name in names if name.split(".")[0] == stem and name != path.name}
    entries |= {f"{stem}/{name}" for name in inside if name.split(".")[0] == "__init__"}
    compiled = [f"__pycache__/{name}" for name in cached if name.startswith(f"{stem}.")]
    compiled += [name for name in entries if name == f"{stem}.pyc"]
    bytecode = [_bytecode(folder, name) for name in compiled if name.endswith(".pyc")]
    return Companions(
        entries=tuple(sorted(entries)),
        bytecode=tuple(sorted([*bytecode, *unreadable], key=lambda pyc: pyc.path)),
        mtime=file.mtime,
        size=len(file.data),
    )


def companions_in(
    path: bytes,
    *,
    names: Callable[[bytes], Iterable[bytes]],
    compiled: Callable[[bytes], bytes | None],
    mtime: int,
    size: int,
) -> Companions:
    """List what lies beside a file inside a tree, as `companions` does on disk.

    `names` lists a folder, which may not be there; `compiled` returns the bytes of a file, None if
    they cannot be read.
    """
    folder, _, name = path.rpartition(b"/")
    stem = os.fsdecode(name).removesuffix(".py")

    def listed(below: bytes) -> list[str]:
        return [os.fsdecode(each) for each in names(below)]

    def joined(*parts: str) -> bytes:
        return b"/".join(filter(None, (folder, *map(os.fsencode, parts))))

    entries = {n for n in listed(folder) if n.split(".")[0] == stem and n != os.fsdecode(name)}
    package = listed(joined(stem))
    entries |= {f"{stem}/{n}" for n in package if n.split(".")[0] == "__init__"}
    cached = [f"__pycache__/{n}" for n in listed(joined("__pycache__")) if n.startswith(f"{stem}.")]
    cached += [n for n in entries if n == f"{stem}.pyc"]
    bytecode = [
        Bytecode(path=n, data=compiled(joined(n))) for n in sorted(cached) if n.endswith(".pyc")
    ]
    return Companions(
        entries=tuple(sorted(entries)), bytecode=tuple(bytecode), mtime=mtime, size=size
    )


def _bytecode(folder: Path, name: str) -> Bytecode:
    try:
        return Bytecode(path=name, data=read(str(folder / name), limit=BYTECODE_BYTES).data)
    except UnavailableError:
        return Bytecode(path=name, data=None)


def _listing(folder: Path, name: str, unreadable: list[Bytecode]) -> list[str]:
    """List a folder that may be absent; note one that may not be looked into."""
    try:
        return [entry.name for entry in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        unreadable.append(Bytecode(path=f"{name}/", data=None))
        return []
