"""Images to read, made anew for every run: layers of many files in a layout, packed with gzip."""

import gzip
import hashlib
import io
import json
import random
import tarfile
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.filler import units

#: The layer of the issue: 345 MB unpacked.
FILES, FOLDERS, LAYER_BYTES = 19_000, 900, 345_000_000
_TYPE: Final = "application/vnd.oci.image"
_BLOCK: Final = 512


class Layout(NamedTuple):
    """An OCI layout, its layers in it, and the typed digest of its one manifest."""

    folder: Path
    layers: list[Path]
    manifest: str
    described: str


def layout(folder: Path, *, layers: int) -> Layout:
    """Write a layout of one image called `v1`, of so many layers."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    rows, diff_ids = [], []
    for number in range(layers):
        tar, packed = _layer(number)
        diff_ids.append(f"sha256:{tar}")
        rows.append(_blob(blobs, packed, "layer.v1.tar+gzip"))
    config = _blob(
        blobs,
        _printed(
            {
                "architecture": "amd64",
                "os": "linux",
                "rootfs": {"type": "layers", "diff_ids": diff_ids},
                "history": [{"created_by": f"step {number}"} for number in range(layers)],
            }
        ),
        "config.v1+json",
    )
    document = {"schemaVersion": 2, "mediaType": f"{_TYPE}.manifest.v1+json"}
    manifest = _blob(
        blobs, _printed(document | {"config": config, "layers": rows}), "manifest.v1+json"
    )
    named = manifest | {"annotations": {"org.opencontainers.image.ref.name": "v1"}}
    (folder / "index.json").write_bytes(_printed({"schemaVersion": 2, "manifests": [named]}))
    (folder / "oci-layout").write_bytes(_printed({"imageLayoutVersion": "1.0.0"}))
    paths = [blobs / row["digest"].removeprefix("sha256:") for row in rows]
    size = sum(path.stat().st_size for path in paths) / layers
    told = f"{LAYER_BYTES / 1e6:.0f} MB, {FILES:,} files a layer, {size / 1e6:.0f} MB packed"
    return Layout(folder, paths, f"manifest:{manifest['digest']}", told)


def _layer(seed: int) -> tuple[str, bytes]:
    """Return the SHA-256 of a layer's tar, and the layer packed."""
    chance = random.Random(seed)  # noqa: S311  (the same for every run is what is wanted)
    text = "".join(islice(units(), 4_000)).encode()
    noise = chance.randbytes(1 << 24)
    weights = [chance.lognormvariate(0, 1.9) for _ in range(FILES)]
    content = LAYER_BYTES - (FILES + FOLDERS) * _BLOCK - FILES * _BLOCK // 2
    scale = content / sum(weights)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for number, weight in enumerate(weights):
            below = f"usr/lib/python3/site-packages/part_{number * FOLDERS // FILES:03}"
            if number * FOLDERS % FILES < FOLDERS:
                folder = tarfile.TarInfo(below)
                folder.type, folder.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(folder)
            data = _mixed(chance, text, noise, int(weight * scale))
            info = tarfile.TarInfo(f"{below}/module_{number:05}.py")
            info.size, info.mode, info.mtime = len(data), 0o644, 1_700_000_000 + number
            tar.addfile(info, io.BytesIO(data))
    data = out.getvalue()
    return hashlib.sha256(data).hexdigest(), gzip.compress(data, 6, mtime=0)


def _mixed(chance: random.Random, text: bytes, noise: bytes, size: int) -> bytes:
    """Mix code with bytes of chance: together they deflate to about three eighths."""
    parts, length = [], 0
    while length < size:
        for source, least, most in ((text, 200, 700), (noise, 80, 240)):
            at = chance.randrange(len(source) - most)
            parts.append(source[at : at + chance.randrange(least, most)])
            length += len(parts[-1])
    return b"".join(parts)[:size]


def _blob(blobs: Path, data: bytes, kind: str) -> dict[str, Any]:
    digits = hashlib.sha256(data).hexdigest()
    (blobs / digits).write_bytes(data)
    return {"mediaType": f"{_TYPE}.{kind}", "digest": f"sha256:{digits}", "size": len(data)}


def _printed(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
