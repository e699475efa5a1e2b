"""What lies beside a host file and Python might load in its place (CHECKS helper, step 9).

Everything that could matter is listed and nothing decided. Links are named, never followed.
"""

from pathlib import Path

from verifier.core.companions import Bytecode, Companions
from verifier.core.errors import UnavailableError
from verifier.core.limits import BYTECODE_BYTES
from verifier.sources.file import FileBytes, read


def companions(file: FileBytes) -> Companions | None:
    """List what lies beside `file`; None for standard input, or where one may not look."""
    if file.mtime is None:
        return None
    path = Path(file.name)
    folder, stem = path.parent, path.stem
    try:
        names = [name for name in _listing(folder) if name.split(".")[0] == stem]
        inside = _listing(folder / stem)
        cached = [f"__pycache__/{name}" for name in _listing(folder / "__pycache__")]
    except OSError:
        return None
    entries = {name for name in names if name != path.name}
    entries |= {f"{stem}/{name}" for name in inside if name.split(".")[0] == "__init__"}
    compiled = [name for name in cached if name.split("/")[1].startswith(f"{stem}.")]
    compiled += [name for name in entries if name == f"{stem}.pyc"]
    try:
        bytecode = tuple(
            Bytecode(path=name, data=read(str(folder / name), limit=BYTECODE_BYTES).data)
            for name in sorted(compiled)
            if name.endswith(".pyc")
        )
    except UnavailableError:
        return None
    return Companions(
        entries=tuple(sorted(entries)),
        bytecode=bytecode,
        mtime=file.mtime,
        size=len(file.data),
    )


def _listing(folder: Path) -> list[str]:
    """List a folder that may be absent; a file or link to nothing of that name has no entries."""
    try:
        return [entry.name for entry in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
