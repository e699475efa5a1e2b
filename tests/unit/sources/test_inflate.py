"""Decompression: every member, frame and stream is read, nothing may follow or explode."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import struct
import subprocess
import tarfile
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard
from support.archives import member, tar

from verifier.core.limits import MIB
from verifier.sources.archives import inflate
from verifier.sources.archives.tar import TarTree
from verifier.sources.tree import tree_digests

TAR = tar(member(b"a", bytes(range(256)) * 999), member(b"b", b"x" * 5000))


def zstd(data: bytes, **options: int | bool) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(data)  # type: ignore[arg-type]


def zstd_streamed(data: bytes) -> bytes:
    """Compress without a content size, and with a checksum, as `zstd` does from a pipe."""
    packer = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstd,
    "xz": lzma.compress,
}
SKIPPED = struct.pack("<2L", 0x184D2A53, 5) + b"hello"


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


class Case(NamedTuple):
    code: str
    data: bytes
    fooled: bool = False
    """Whether GNU tar, with the usual programs, takes it."""


GZ, ZST, XZ = (pack(TAR) for pack in PACKERS.values())
STREAMED = zstd_streamed(TAR)

CASES: dict[str, Case] = {
    "gzip: text behind": Case("tree-compressed-trailing", GZ + b"text", fooled=True),
    "gzip: zeros behind": Case("tree-compressed-trailing", GZ + bytes(100), fooled=True),
    "gzip: one byte behind": Case("tree-compressed-trailing", GZ + b"\x1f", fooled=True),
    "gzip: cut": Case("tree-compressed-truncated", GZ[:-1]),
    "gzip: cut in the middle": Case("tree-compressed-truncated", GZ[: len(GZ) // 2]),
    "gzip: cut in the header": Case("tree-compressed-truncated", GZ[:7]),
    "gzip: second member cut": Case("tree-compressed-truncated", GZ + GZ[:30]),
    "gzip: checksum": Case("tree-compressed-damaged", flipped(GZ, -8)),
    "gzip: length": Case("tree-compressed-damaged", flipped(GZ, -4)),
    "gzip: reserved flag": Case("tree-compressed-damaged", GZ[:3] + b"\x20" + GZ[4:]),
    "gzip: unknown method": Case("tree-compressed-damaged", GZ[:2] + b"\x07" + GZ[3:]),
    "gzip: header checksum": Case(
        "tree-compressed-damaged", GZ[:3] + b"\2" + GZ[4:10] + b"xx" + GZ[10:]
    ),
    "xz: text behind": Case("tree-compressed-trailing", XZ + b"text"),
    "xz: padding behind": Case("tree-compressed-trailing", XZ + bytes(8), fooled=True),
    "xz: cut": Case("tree-compressed-truncated", XZ[:-1]),
    "xz: damaged": Case("tree-compressed-damaged", flipped(XZ, len(XZ) // 2)),
    "xz: memory": Case(
        "tree-compression-memory",
        lzma.compress(TAR, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 200 * MIB}]),
        fooled=True,
    ),
    "zstd: text behind": Case("tree-compressed-trailing", ZST + b"text"),
    "zstd: zeros behind": Case("tree-compressed-trailing", ZST + bytes(9)),
    "zstd: cut": Case("tree-compressed-truncated", ZST[:-1]),
    "zstd: cut in the header": Case("tree-compressed-truncated", ZST[:5]),
    "zstd: skippable frame cut": Case("tree-compressed-truncated", ZST + SKIPPED[:-1]),
    "zstd: checksum": Case("tree-compressed-damaged", flipped(STREAMED, -1)),
    "zstd: checksum cut": Case("tree-compressed-truncated", STREAMED[:-1]),
    "zstd: reserved block": Case("tree-compressed-damaged", b"\x28\xb5\x2f\xfd\x20\x01\x07\0\0"),
    "zstd: reserved bit": Case("tree-compressed-damaged", ZST[:4] + bytes([ZST[4] | 8]) + ZST[5:]),
    "zstd: content size": Case("tree-compressed-damaged", b"\x28\xb5\x2f\xfd\x20\x09\x01\0\0"),
    "zstd: memory": Case("tree-compression-memory", b"\x28\xb5\x2f\xfd\x00\x98\x01\0\0"),
    "bzip2": Case("tree-compression-unsupported", bz2.compress(TAR), fooled=True),
    "lzma": Case(
        "tree-compression-unsupported", lzma.compress(TAR, lzma.FORMAT_ALONE), fooled=True
    ),
    "zip": Case("tree-compression-unsupported", b"PK\3\4" + bytes(900)),
    "7-zip": Case("tree-compression-unsupported", b"7z\xbc\xaf\x27\x1c" + bytes(900)),
}


def tree(tmp_path: Path, data: bytes) -> TarTree:
    (tmp_path / "x").write_bytes(data)
    return TarTree(tmp_path / "x", name="x")


def digest(tmp_path: Path, data: bytes) -> str:
    one = tree(tmp_path, data)
    entries = one.entries()
    assert one.findings == ()
    return tree_digests(entries)[0]


@pytest.mark.parametrize("name", CASES)
def test_each_case_has_its_code(name: str, tmp_path: Path) -> None:
    one = tree(tmp_path, CASES[name].data)
    assert one.entries() == []
    assert {finding.code for finding in one.findings} == {CASES[name].code}
    assert not one.complete
    assert one.read(b"a", limit=MIB) is None
    assert threading.active_count() == 1


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fooled])
def test_tar_takes_it_as_it_is(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(CASES[name].data)
    try:
        with tarfile.open(tmp_path / "x") as opened:
            assert opened.getnames() == ["a", "b"]
    except tarfile.TarError:
        flag = "-xz" if name.startswith("gzip") else "-xJ"
        done = subprocess.run(["tar", flag, "-O", "-f", tmp_path / "x"], capture_output=True)  # noqa: PLW1510
        assert done.stdout.endswith(b"x" * 5000)


@pytest.mark.parametrize("name", PACKERS)
def test_a_cut_anywhere_is_noticed(name: str, tmp_path: Path) -> None:
    """A reader that stops at the end of the input would list what came so far."""
    packed = PACKERS[name](TAR)
    for length in {*range(6, len(packed), max(1, len(packed) // 60)), len(packed) - 1}:
        one = tree(tmp_path, packed[:length])
        assert one.entries() == []
        assert {f.code for f in one.findings} == {"tree-compressed-truncated"}, length


@pytest.mark.parametrize("name", PACKERS)
def test_a_flipped_bit_anywhere_is_noticed_or_means_nothing(name: str, tmp_path: Path) -> None:
    packed = STREAMED if name == "zstd" else PACKERS[name](TAR)
    sound = digest(tmp_path, packed)
    for at in range(0, len(packed), max(1, len(packed) // 80)):
        one = tree(tmp_path, flipped(packed, at))
        entries = one.entries()
        assert one.findings or tree_digests(entries)[0] == sound, at


@pytest.mark.parametrize("name", PACKERS)
def test_any_number_of_members_is_one_archive(name: str, tmp_path: Path) -> None:
    pack = PACKERS[name]
    whole = digest(tmp_path, TAR)
    assert digest(tmp_path, pack(TAR)) == whole
    for cuts in ([512], [513, 514], [1, 4096, 100_000], [len(TAR) - 1]):
        edges = [0, *cuts, len(TAR)]
        parts = [TAR[a:b] for a, b in itertools.pairwise(edges)]
        assert digest(tmp_path, b"".join(map(pack, [b"", *parts, b""]))) == whole


def test_a_second_member_may_not_hide_a_second_archive(tmp_path: Path) -> None:
    """`zlib.decompressobj` and some tools stop behind the first member."""
    evil = gzip.compress(TAR) + gzip.compress(tar(member(b"evil")))
    with tarfile.open(fileobj=io.BytesIO(evil)) as opened:
        assert opened.getnames() == ["a", "b"]
    one = tree(tmp_path, evil)
    assert one.entries() == []
    assert {finding.code for finding in one.findings} == {"tree-tar-trailing"}


def test_forms_of_zstd(tmp_path: Path) -> None:
    whole = digest(tmp_path, TAR)
    forms = [
        zstd_streamed(TAR),
        SKIPPED + zstd(TAR) + SKIPPED,
        zstd(TAR, level=19),
        zstd(TAR, write_content_size=False),
        zstd(TAR, write_checksum=True),
        zstandard.ZstdCompressor(level=1, threads=2).compress(TAR),
    ]
    for packed in forms:
        assert digest(tmp_path, packed) == whole


def test_incompressible_data(tmp_path: Path) -> None:
    data = tar(member(b"r", os.urandom(3 * MIB // 2)))
    whole = digest(tmp_path, data)
    for pack in PACKERS.values():
        assert digest(tmp_path, pack(data)) == whole


def test_the_name_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.tar.xz").write_bytes(GZ)
    assert len(TarTree(tmp_path / "x.tar.xz", name="x").entries()) == 2


# ── bombs ──────────────────────────────────────────────────────────────────────────────────────


def bombs() -> dict[str, bytes]:
    """Make little files that hold 40 MiB of zeros behind a header."""
    head = member(b"a", b"", size=40 * MIB)
    gz, xz = io.BytesIO(), lzma.LZMACompressor(preset=0)
    with gzip.GzipFile(fileobj=gz, mode="wb", compresslevel=1) as out:
        out.write(head)
        for _ in range(40):
            out.write(bytes(MIB))
    pieces = [xz.compress(head), *(xz.compress(bytes(MIB)) for _ in range(40)), xz.flush()]
    rle = b"".join([b"\x02\0\x10\0"] * 319)
    frame = b"\x28\xb5\x2f\xfd\x00\x58" + rle + b"\x03\0\x10\0"
    return {"gzip": gz.getvalue(), "xz": b"".join(pieces), "zstd": zstd(head) + frame}


def test_bombs_are_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inflate, "INFLATED_FREELY", 20 * MIB)
    for name, bomb in bombs().items():
        assert len(bomb) < 250_000, name
        one = tree(tmp_path, bomb)
        tracemalloc.start()
        try:
            assert one.entries() == []
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert {finding.code for finding in one.findings} == {"tree-bomb"}, name
        assert peak < 16 * MIB, (name, peak)
        assert threading.active_count() == 1


def test_more_than_any_archive_may_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflate, "ARCHIVE_BYTES", len(TAR) - 1)
    for data in (TAR, GZ):
        one = tree(tmp_path, data)
        assert one.entries() == []
        assert {finding.code for finding in one.findings} == {"tree-too-large"}


def test_what_compresses_well_is_no_bomb(tmp_path: Path) -> None:
    """Up to 256 MiB any ratio is allowed: real archives hold files of zeros."""
    digest(tmp_path, zstd(tar(member(b"zeros", bytes(100 * MIB)))))
