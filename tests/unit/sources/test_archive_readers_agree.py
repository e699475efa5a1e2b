"""What is accepted without a word, others read the same: thousands of archives, made and mutated.

The law: an archive in which pinproof finds nothing gives the same paths, types, contents and
targets in Python's tarfile or zipfile, and in GNU tar where it is asked too. The other direction
does not hold and is not meant to: docs/archives.md says what is refused, and why.
"""

import hashlib
import io
import os
import random
import struct
import subprocess
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from support.archives import END, Entry, extra, header, long, member, pax, tar, zipped

from verifier.sources.archives.archive import Archive
from verifier.sources.archives.tar import TarTree
from verifier.sources.archives.zip import ZipTree
from verifier.sources.tree import PROGRAM_MODE, TreeEntry, Type

#: Path → (type, executable, SHA-256 of content or target).
View = dict[bytes, tuple[str, bool | None, str]]
MUTATED: Final = 2_500
MUTATED_ZIPS: Final = 1_500
GNU_TAR_EVERY: Final = 10


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def ours(one: Archive, entries: list[TreeEntry]) -> View:
    assert one.complete
    return {
        e.path: (
            str(e.type),
            None if e.mode is None or e.type is not Type.FILE else e.mode == PROGRAM_MODE,
            str(e.sha256),
        )
        for e in entries
    }


# ── how others see it ──────────────────────────────────────────────────────────────────────────


def by_tarfile(data: bytes) -> View:
    seen: View = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as opened:
        try:
            opened.getmembers()
        except tarfile.ReadError as error:
            # A global header that no member follows, as `git archive` of an empty tree writes.
            assert str(error) == "end of file header"  # noqa: PT017
        for one in vars(opened)["members"]:
            path = os.fsencode(one.name.removeprefix("./"))
            if one.isreg():
                handle = opened.extractfile(one)
                assert handle is not None
                seen[path] = ("file", bool(one.mode & 0o100), sha(handle.read()))
            elif one.issym():
                seen[path] = ("link", None, sha(os.fsencode(one.linkname)))
            elif one.islnk():
                seen[path] = seen[os.fsencode(one.linkname.removeprefix("./"))]
            else:
                assert one.isdir()
    return seen


def by_gnu_tar(data: bytes, folder: Path) -> View:
    """Extract with GNU tar into a folder of its own, and look at what is there then."""
    folder.mkdir()
    done = subprocess.run(
        ["tar", "-xpf", "-", "-C", folder, "--no-same-owner"],
        input=data,
        capture_output=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if b"time" not in line]
    assert said in ([], [b"tar: Exiting with failure status due to previous errors"])
    seen: View = {}
    root = os.fsencode(folder)
    for above, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(above, name)  # noqa: PTH118  (bytes)
            key = path[len(root) + 1 :]
            if os.path.islink(path):  # noqa: PTH114  (bytes)
                seen[key] = ("link", None, sha(os.readlink(path)))  # noqa: PTH115  (bytes)
            elif name in files:
                with open(path, "rb") as file:  # noqa: PTH123  (bytes)
                    runs = bool(os.fstat(file.fileno()).st_mode & 0o100)
                    seen[key] = ("file", runs, sha(file.read()))
    return seen


def by_zipfile(data: bytes) -> View:
    seen: View = {}
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        for one in opened.infolist():
            if one.is_dir():
                continue
            mode = one.external_attr >> 16
            known = one.create_system == 3 and mode & 0o170000 == 0o100000
            kind = "link" if mode & 0o170000 == 0o120000 else "file"
            path = one.filename.removeprefix("./").encode()
            runs = bool(mode & 0o100) if known else None
            seen[path] = (kind, runs, sha(opened.read(one)))
    return seen


# ── trees, and archives of them ────────────────────────────────────────────────────────────────


def made_by_tarfile(dice: random.Random) -> bytes:
    form = dice.choice([tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
    buffer = io.BytesIO()
    longest = 150 if form == tarfile.USTAR_FORMAT else 999
    names = sorted({_name(dice, number)[-longest:] for number in range(dice.randrange(1, 9))})
    with tarfile.open(fileobj=buffer, mode="w", format=form, encoding="utf-8") as made:
        files: list[str] = []
        for name in names:
            one = tarfile.TarInfo(name)
            one.mtime = dice.choice([0, 1.5, -3, 1 << 33]) if form != tarfile.USTAR_FORMAT else 7
            one.mode = dice.choice([0o644, 0o755, 0o600, 0o711])
            one.uid = dice.choice([0, 1000, 1 << 22]) if form != tarfile.USTAR_FORMAT else 0
            one.uname = dice.choice(["", "root", "j\xfcrgen"])
            kind = dice.randrange(5)
            if kind == 0:
                one.type, one.linkname = tarfile.SYMTYPE, dice.choice(["x", "../y", "z" * 120])
                if form == tarfile.USTAR_FORMAT:
                    one.linkname = one.linkname[:100]
                made.addfile(one)
            elif kind == 1 and files and form != tarfile.USTAR_FORMAT:
                original = made.getmember(dice.choice(files))
                one.type, one.linkname, one.mode = tarfile.LNKTYPE, original.name, original.mode
                made.addfile(one)
            else:
                data = dice.randbytes(dice.choice([0, 1, 511, 512, 513, 5000]))
                one.size = len(data)
                made.addfile(one, io.BytesIO(data))
                files.append(name)
    return buffer.getvalue()


def _name(dice: random.Random, number: int) -> str:
    long_one = "n" * 90 + "/" + "m" * 80 + "/"
    folder = dice.choice(["", "d/", "d/e/", "n" * 60 + "/", long_one])
    stem = dice.choice(["f", "fil\xe9", "with space ", "x" * 60])
    return f"{folder}{stem}{number}"


SEEDS: Final = [random.Random(number) for number in range(300)]  # noqa: S311


def test_what_tarfile_writes_all_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    for number, dice in enumerate(SEEDS):
        data = made_by_tarfile(dice)
        path.write_bytes(data)
        one = TarTree(path, name="x")
        view = ours(one, one.entries())
        assert one.findings == (), number
        assert view == by_tarfile(data), number
        if number % GNU_TAR_EVERY == 0:
            assert view == by_gnu_tar(data, tmp_path / str(number)), number


# ── mutated tars ───────────────────────────────────────────────────────────────────────────────

BASES: Final = [
    tar(
        header(b"d/", kind=b"5", mode=0o755),
        member(b"d/a", b"content", mode=0o755),
        member(b"b", b"y" * 700, prefix=b"p"),
        header(b"h", kind=b"1", link=b"d/a", mode=0o755),
        header(b"l", kind=b"2", link=b"d/a"),
    ),
    tar(
        pax((b"path", b"long/name"), (b"size", b"7"), (b"mtime", b"1.5")),
        member(b"x", b"content"),
        pax((b"linkpath", b"target")),
        header(b"l", kind=b"2"),
        pax((b"comment", b"why"), kind=b"g"),
        member(b"z", b"z" * 512),
    ),
    tar(
        long(b"very/long/name\0"),
        member(b"x", b"content", magic=b"ustar  \0"),
        long(b"target\0", b"K"),
        long(b"l\0"),
        header(b"l", kind=b"2", magic=b"ustar  \0"),
        member(b"z", b"z" * 512, magic=b"ustar  \0"),
    ),
]
FIELDS: Final = (
    (0, 100), (100, 108), (108, 116), (116, 124), (124, 136), (136, 148), (156, 157), (157, 257),
    (257, 265), (265, 297), (297, 329), (329, 337), (337, 345), (345, 500), (500, 512),
)  # fmt: skip
VALUES: Final = (
    b"", b"\0", b"x", b"a", b"d/a", b"b/", b"./q", b"d", b"l", b"7", b"0", b"0000007\0",
    b"00000000007", b"00000001000", b"      7 ", b"7\0x", b"-7", b"\x80\0\0\0\0\0\0\0\0\0\0\7",
    b"\x80\0\0\0\0\0\0\7", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"1", b"2", b"5",
    b"x", b"g", b"L", b"K", b"S", b"ustar\x0000", b"ustar  \0", b"0000755\0", b"0100644\0",
    b"00000000000 ", b"\xc3\xa9", b"\xff",
)  # fmt: skip
TEXTS: Final = (
    b"path",
    b"size",
    b"=",
    b"7",
    b"\n",
    b" ",
    b"12",
    b"mtime",
    b"\0",
    b"linkpath",
    b"x",
)


def patched_field(dice: random.Random, data: bytearray) -> None:
    heads = [at for at in range(0, len(data), 512) if data[at + 257 : at + 262] == b"ustar"]
    at = dice.choice(heads)
    start, stop = dice.choice(FIELDS)
    value = dice.choice(VALUES)[: stop - start]
    keep = dice.random() < 0.3
    data[at + start : at + start + len(value)] = value
    if not keep:
        data[at + start + len(value) : at + stop] = bytes(stop - start - len(value))
    data[at + 148 : at + 156] = b" " * 8
    data[at + 148 : at + 156] = b"%06o\0 " % sum(data[at : at + 512])


def patched_text(dice: random.Random, data: bytearray) -> None:
    at, value = dice.randrange(len(data)), dice.choice(TEXTS)
    found = [n for n in range(len(data) - 9) if data[n : n + 1].isalnum() and n % 512 < 80]
    at = dice.choice(found) if found else at
    data[at : at + len(value)] = value


def moved_block(dice: random.Random, data: bytearray) -> None:
    at, to = (512 * dice.randrange(len(data) // 512) for _ in range(2))
    block = bytes(data[at : at + 512])
    action = dice.randrange(3)
    if action != 0:
        del data[at : at + 512]
    if action != 1:
        data[to:to] = block


def changed_end(dice: random.Random, data: bytearray) -> None:
    if dice.random() < 0.5:
        del data[-dice.choice([1, 512, 513, 1024, 1536]) :]
    else:
        data += dice.choice([END, b"x", bytes(700), bytes(data)])


MUTATIONS: Final[list[Callable[[random.Random, bytearray], None]]] = [
    patched_field, patched_field, patched_field, patched_text, moved_block, changed_end,
]  # fmt: skip


def test_mutated_tars_are_refused_or_read_as_others_do(tmp_path: Path) -> None:
    path, dice = tmp_path / "x.tar", random.Random(7)  # noqa: S311
    heard: Counter[str] = Counter()
    for number in range(MUTATED):
        data = bytearray(dice.choice(BASES))
        for _ in range(dice.choice([1, 1, 2])):
            dice.choice(MUTATIONS)(dice, data)
        path.write_bytes(data)
        one = TarTree(path, name="x")
        entries = one.entries()
        if one.findings:
            heard.update({finding.code for finding in one.findings})
            continue
        heard["accepted"] += 1
        view = ours(one, entries)
        assert view == by_tarfile(bytes(data)), number
        if heard["accepted"] % GNU_TAR_EVERY == 0:
            assert view == by_gnu_tar(bytes(data), tmp_path / str(number)), number
    assert heard["accepted"] > MUTATED // 20, heard
    assert len(heard) > 25, heard


# ── mutated zips ───────────────────────────────────────────────────────────────────────────────


def a_zip(dice: random.Random) -> bytes:
    names = dice.sample([b"a", b"d/b", b"d/", b"c", b"\xc3\xa9", b"e" * 99], dice.randrange(1, 6))
    entries = []
    for name in names:
        folder = name.endswith(b"/")
        data = b"" if folder else dice.randbytes(dice.choice([0, 1, 999])).hex().encode() + b"x"
        mode = 0o40755 if folder else dice.choice([0o100644, 0o100755, 0o120777, 0o600, 0])
        entry = Entry(name=name, data=data, attributes=mode << 16, flags=1 << 11)
        entry.method = dice.choice([0, 8])
        entry.system = 0 if not folder and mode in (0, 0o600) else 3
        if dice.random() < 0.3:
            entry.flags |= 8
        if dice.random() < 0.3:
            entry.extra = extra(0x5455, b"\1" + bytes(4))
        entries.append(entry)
    return zipped(*entries, comment=dice.choice([b"", b"comment"]))


def patched_number(dice: random.Random, data: bytearray) -> None:
    """Change one field of a header, in one of the places that say it or in both."""
    signs = {b"PK\3\4": (4, 30), b"PK\1\2": (4, 46), b"PK\5\6": (4, 22), b"PK\7\x08": (4, 16)}
    heads = [(at, signs[bytes(data[at : at + 4])]) for at in range(len(data) - 4)
             if bytes(data[at : at + 4]) in signs]  # fmt: skip
    at, (start, stop) = dice.choice(heads)
    where = at + 2 * dice.randrange(start // 2, stop // 2)
    value = struct.pack("<H", dice.choice([0, 1, 2, 8, 20, 45, 0x800, 0x808, 0xFFFF, 0x5455, 768]))
    data[where : where + len(value)] = value


def patched_byte(dice: random.Random, data: bytearray) -> None:
    data[dice.randrange(len(data))] = dice.choice([0, 1, 0x2F, 0x41, 0x50, 0xFF])


def inserted(dice: random.Random, data: bytearray) -> None:
    at = dice.choice([0, dice.randrange(len(data)), len(data)])
    data[at:at] = dice.choice([b"x", b"PK\5\6" + bytes(18), b"PK\7\x08", bytes(4)])


def cut(dice: random.Random, data: bytearray) -> None:
    at = dice.randrange(len(data))
    del data[at : at + dice.choice([1, 4, 16, 50])]


ZIP_MUTATIONS: Final = [patched_number, patched_number, patched_byte, inserted, cut]


@pytest.mark.parametrize("mutated", [False, True])
def test_zips_are_refused_or_read_as_zipfile_does(*, mutated: bool, tmp_path: Path) -> None:
    path, dice = tmp_path / "x.zip", random.Random(11)  # noqa: S311
    heard: Counter[str] = Counter()
    for number in range(MUTATED_ZIPS if mutated else 300):
        data = bytearray(a_zip(dice))
        if mutated:
            for _ in range(dice.choice([1, 1, 2])):
                dice.choice(ZIP_MUTATIONS)(dice, data)
        path.write_bytes(data)
        one = ZipTree(path, name="x")
        entries = one.entries()
        if one.findings:
            heard.update({finding.code for finding in one.findings})
            continue
        heard["accepted"] += 1
        assert ours(one, entries) == by_zipfile(bytes(data)), number
    assert heard["accepted"] == 300 or (mutated and heard["accepted"] > 100), heard
    assert not mutated or len(heard) > 14, heard


def test_every_single_byte_of_a_zip_counts_or_says_nothing_of_content(tmp_path: Path) -> None:
    """Flip a bit of each byte: found, or a field that is said once (times, versions, a mode)."""
    path = tmp_path / "x.zip"
    data = zipped(Entry(name=b"a", data=b"content"), Entry(name=b"b", data=b"other", method=0))
    path.write_bytes(data)
    sound = ZipTree(path, name="x").entries()
    silent = 0
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        one = ZipTree(path, name="x")
        entries = one.entries()
        if not one.findings:
            assert [(e.path, e.sha256) for e in entries] == [(e.path, e.sha256) for e in sound], at
            silent += 1
    assert silent < len(data) // 4
