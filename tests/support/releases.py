"""A release of TheGrill's form, made anew: four files that agree with each other.

    folder = releases.make(tmp_path / "downloads")
    releases.edit_json(folder / releases.RECEIPT, lambda receipt: receipt.update(target="other"))

The program in it is an ELF header and nothing else; no test runs it.
"""

import gzip
import io
import json
import struct
import tarfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

VERSION: Final = "0.9.0"
TRIPLE: Final = "aarch64-unknown-linux-gnu"
COMMIT: Final = "4a" * 20
STEM: Final = f"grill-perf-{VERSION}-{TRIPLE}"
ARCHIVE: Final = f"{STEM}.tar.gz"
CHECKSUM: Final = f"{ARCHIVE}.sha256"
RECEIPT: Final = f"{STEM}.receipt.json"
SMOKE: Final = f"{STEM}.smoke.json"
EPOCH: Final = 1_700_000_000

Json = dict[str, Any]
_AARCH64: Final = 183


def program(machine: int = _AARCH64) -> bytes:
    """Return the start of an ELF file for a machine."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0" + struct.pack("<H", machine) + b"x" * 40


FILES: Final = {
    "LICENSE": b"a licence\n",
    "bin/grill-perf": program(),
    "tools/kv-journal.py": b"print('journal')\n",
    "workloads/baseline-v1.json": b"{}\n",
}


def tar(
    files: Mapping[str, bytes], change: Callable[[tarfile.TarInfo], object] | None = None
) -> bytes:
    """Return the archive of some files; `change` is asked to change the header of each."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=EPOCH) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as made,
    ):
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(f"{STEM}/{name}")
            info.size, info.mtime = len(data), EPOCH
            info.mode = 0o755 if name.startswith("bin/") or name.endswith(".py") else 0o644
            if change is not None:
                change(info)
            made.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return packed.getvalue()


def _pin(data: bytes) -> Json:
    return {"sha256": sha256(data).hexdigest(), "bytes": len(data)}


def receipt(archive: bytes, files: Mapping[str, bytes] = FILES) -> Json:
    """Return the build receipt of an archive of some files."""
    line = checksum(archive)
    return {
        "schema": "grill-perf-build-receipt-v1",
        "release_version": VERSION,
        "target": TRIPLE,
        "source_commit": COMMIT,
        "source_tree": "5b" * 20,
        "cargo_lock_sha256": "6c" * 32,
        "toolchain": {"rust": "1.90.0"},
        "build": {
            "command": ["cargo", "build"],
            "profile": "release",
            "incremental": False,
            "fresh_target_directory": True,
            "build_overrides": False,
        },
        "runtime": {"os": "linux"},
        "archive": {"file": ARCHIVE, **_pin(archive)},
        "checksum": {"file": CHECKSUM, "sha256": sha256(line).hexdigest()},
        "binary": {**_pin(files["bin/grill-perf"]), "mode": "0o755"},
        "payload": {
            name: {**_pin(data), "mode": "0o644"}
            for name, data in files.items()
            if name != "bin/grill-perf"
        },
        "files_sha256": {name: sha256(data).hexdigest() for name, data in files.items()},
        "publication_blockers": [],
        "redistribution_notices": {"scope": "none"},
        "packaging": {
            "mtime": EPOCH,
            "uid": 0,
            "gid": 0,
            "bit_reproducible_build": "not claimed",
        },
    }


def smoke(archive: bytes, files: Mapping[str, bytes] = FILES) -> Json:
    """Return the smoke summary of an archive."""
    return {
        "schema_version": 1,
        "status": "passed",
        "release_version": VERSION,
        "source_commit": COMMIT,
        "target": TRIPLE,
        "archive_sha256": sha256(archive).hexdigest(),
        "binary_sha256": sha256(files["bin/grill-perf"]).hexdigest(),
        "checks": [],
    }


def checksum(archive: bytes) -> bytes:
    """Return the one line of the checksum file."""
    return f"{sha256(archive).hexdigest()}  {ARCHIVE}\n".encode()


def printed(document: Json) -> bytes:
    """Print JSON as the release's producer does."""
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def make(
    folder: Path,
    *,
    files: Mapping[str, bytes] = FILES,
    change: Callable[[tarfile.TarInfo], object] | None = None,
) -> Path:
    """Write the four files of a sound release into a new folder."""
    folder.mkdir(parents=True)
    archive = tar(files, change)
    (folder / ARCHIVE).write_bytes(archive)
    (folder / CHECKSUM).write_bytes(checksum(archive))
    (folder / RECEIPT).write_bytes(printed(receipt(archive, files)))
    (folder / SMOKE).write_bytes(printed(smoke(archive, files)))
    return folder


def edit_json(path: Path, change: Callable[[Json], object]) -> None:
    """Change one document and print it as its producer would."""
    before = path.read_bytes()
    document = json.loads(before)
    change(document)
    path.write_bytes(printed(document))
    assert path.read_bytes() != before, "nothing was changed"


def entry(**changes: Any) -> bytes:
    """Return the registry's entry of the release; `archive`, `staging` and the rest as TOML."""
    facts = {
        "schema": "release/v1",
        "name": f"grill-perf-{VERSION}",
        "project": "https://tools.test/grill",
        "version": VERSION,
        "tag": f"v{VERSION}",
        "source_commit": COMMIT,
        "format": "grill-perf-build-receipt-v1",
        "target": [{"triple": TRIPLE, **published()}],
        **changes,
    }
    import tomli_w

    return tomli_w.dumps(facts).encode()


def published() -> Json:
    """Return the pins of the sound release."""
    archive = tar(FILES)
    files = {
        "archive": archive,
        "checksum": checksum(archive),
        "receipt": printed(receipt(archive)),
    }
    pins = {what: _pin(data) for what, data in files.items()}
    return {what: {"sha256": p["sha256"], "length": p["bytes"]} for what, p in pins.items()}
