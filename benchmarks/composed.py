"""A composition of many files and the registry that pins them, made anew for every run."""

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchmarks import trees
from verifier.actions.seal import seal

_ENTRY: Final = """schema = "composition/v1"
name = "many"
project = "benchmarks"
files_table = {{ path = "many.files.json", sha256 = "{table}", length = {length} }}

[base]
commit = "{commit}"

[scope]
include = ["./"]
complete = true

[[stage]]
name = "one"
kind = "overlay"
files = [{{ path = "{path}", operation = "add", post = {{ sha256 = "{sha256}", length = 8192 }} }}]
"""


def made(room: Path) -> tuple[Path, list[str]]:
    """Write 100,000 files of 8 kB; return their folder, and the options that trust its pins."""
    tree, sums = trees.small_files(room)
    rows = {}
    for line in sums.read_text().splitlines():
        digest, _, path = line.partition("  ")
        rows[str(Path(path).relative_to(tree))] = f"{digest} 8192 100644"
    table = json.dumps(rows).encode()
    targets = room / "registry" / "targets" / "benchmarks" / "composition"
    targets.mkdir(parents=True)
    (targets / "many.files.json").write_bytes(table)
    first = next(iter(rows))
    entry = _ENTRY.format(
        table=sha256(table).hexdigest(),
        length=len(table),
        commit="0" * 40,
        path=first,
        sha256=rows[first].split()[0],
    )
    (targets / "many.toml").write_text(entry)
    registry = room / "registry"
    seal(registry, now=datetime.now(UTC))
    root = registry / "metadata" / "1.root.json"
    return tree, ["--registry", str(registry), "--root", str(root)]
