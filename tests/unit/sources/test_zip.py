"""zip archives that tell two readers two things: each refused or recorded under its own code.

Cases name readers that take the mutated archive without a complaint: Python's zipfile, and unzip
where it is installed. The test runs them, so that a mutation nobody would fall for is noticed.
"""

import base64
import csv
import hashlib
import io
import os
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support import runs
from support.archives import Entry, deflate, end_record, extra, member, tar, zipped

from verifier.core.codes import CODES
from verifier.core.errors import UnavailableError
from verifier.sources import ledger
from verifier.sources.archives import wheel, zip_layout
from verifier.sources.archives import zip as zip_module
from verifier.sources.archives.archive import Steady
from verifier.sources.archives.tar import TarTree
from verifier.sources.archives.zip import ZipTree
from verifier.sources.tree import TreeEntry, Type, tree_digests

A = Entry(name=b"a", data=b"content " * 9)
B = Entry(name=b"b", data=b"stored", method=0)
LINK = 0o120777 << 16
CRC = zlib.crc32(A.data)


def zipfile_accepts(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as opened:
            opened.testzip()
            return True
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError):
        return False
    except (zlib.error, UnicodeDecodeError, struct.error):
        return False


def unzip_accepts(path: Path) -> bool:
    """Warnings (exit 1) count as acceptance: the files are there afterwards."""
    done = subprocess.run(
        ["unzip", "-o", "-q", path, "-d", path.parent / "unzipped"],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode in (0, 1)


READERS: dict[str, Callable[[Path], bool]] = {"zipfile": zipfile_accepts}
if shutil.which("unzip"):
    READERS["unzip"] = unzip_accepts

#: Newer releases of Python refuse more; what is said of it here was tried with those before.
STRICTER = {"zipfile"} if sys.version_info >= (3, 13, 1) else set()


class Case(NamedTuple):
    code: str
    data: bytes
    fools: tuple[str, ...]


BOTH = ("zipfile", "unzip")


def zip64(*entries: Entry, lie: int = 0, stated: int = 0xFFFF) -> bytes:
    """Make a zip whose numbers stand in zip64's end record, `lie` bytes off."""
    plain = zipped(*entries)
    *_, size, start, _ = struct.unpack("<4s4H2LH", plain[-22:])
    count = len(entries)
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start + lie)
    where = len(plain) - 22
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, where, 1)
    full = 0xFFFFFFFF if stated == 0xFFFF else start
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, stated, stated, size, full, 0)
    return plain[:-22] + record + locator + end


def wide(entry: Entry) -> Entry:
    """Move an entry's sizes into zip64's extra field, in both headers."""
    sizes = struct.pack("<2Q", len(entry.data), len(deflate(entry.data)))
    full: dict[str, int | bytes] = {"packed": 0xFFFFFFFF, "size": 0xFFFFFFFF}
    return Entry(name=entry.name, data=entry.data, extra=extra(1, sizes), local=full, central=full)


#: Reading ends, nothing is listed.
ENDING: dict[str, Case] = {
    "nothing": Case("tree-zip-end", b"", ()),
    "no end record": Case("tree-zip-end", zipped(A)[:-22], ()),
    "bytes behind the end": Case("tree-zip-end", zipped(A) + b"more", BOTH),
    "a comment cut off": Case("tree-zip-end", zipped(A, comment=b"comment")[:-3], BOTH),
    "an end record inside the comment": Case(
        "tree-zip-end",
        zipped(A, comment=end_record(0, 0, 0)),
        BOTH,
    ),
    "two end records that both reach the end": Case(
        "tree-zip-end",
        zipped(A, comment=b"x" * 9 + end_record(1, 46, 0, comment=b"abc")),
        (),
    ),
    "an end record of several disks": Case(
        "tree-zip-several-disks",
        zipped(A, end=end_record(1, 47, len(zipped(A)) - 69, disk=1)),
        (),
    ),
    "an entry on another disk": Case(
        "tree-zip-several-disks", zipped(Entry(name=b"a", central={"disk": 1})), ("zipfile",)
    ),
    "bytes in front, not counted": Case(
        "tree-zip-prefixed", zipped(A, prefix=b"#!/bin/sh\n", shift=0), BOTH
    ),
    "bytes in front, counted": Case("tree-zip-prefixed", zipped(A, prefix=b"#!/bin/sh\n"), BOTH),
    "a whole zip in front": Case("tree-zip-prefixed", zipped(A, prefix=zipped(B)), BOTH),
    "bytes in front of nothing": Case("tree-zip-prefixed", zipped(prefix=b"hidden"), ("zipfile",)),
    "a directory too far": Case("tree-zip-directory", zipped(A, end=end_record(1, 47, 9999)), ()),
    "fewer entries than stated": Case(
        "tree-zip-directory", zipped(A, end=end_record(2, 47, len(zipped(A)) - 69)), ("zipfile",)
    ),
    "more entries than stated": Case(
        "tree-zip-directory",
        zipped(A, B, end=end_record(1, 94, len(zipped(A, B)) - 116)),
        ("zipfile",),
    ),
    "a comment that is cut off": Case(
        "tree-zip-directory",
        zipped(A)[: -22 - 47 + 32] + b"\xff\0" + zipped(A)[-22 - 47 + 34 :],
        (),
    ),
    "zip64: contradicts the end record": Case("tree-zip-zip64", zip64(A, stated=2), ("zipfile",)),
    "zip64: a record elsewhere": Case("tree-zip-zip64", zip64(A).replace(b"PK\6\6", b"PK\6\5"), ()),
    "zip64: a value too many in one header": Case(
        "tree-zip-zip64", zipped(Entry(name=b"a", local_extra=extra(1, bytes(16)))), BOTH
    ),
    "zip64: announced and not there": Case(
        "tree-zip-zip64", zipped(A, end=end_record(0xFFFF, 47, len(zipped(A)) - 69)), ()
    ),
    "zip64: a size too few": Case(
        "tree-zip-zip64",
        zipped(Entry(name=b"a", extra=extra(1, b""), central={"size": 0xFFFFFFFF})),
        (),
    ),
    "zip64: a value nobody asked for": Case(
        "tree-zip-zip64", zipped(Entry(name=b"a", extra=extra(1, bytes(8)))), ("zipfile",)
    ),
    "a hidden entry between two": Case("tree-zip-gap", zipped(A, B, order=[0]), BOTH),
    "bytes between two entries": Case(
        "tree-zip-gap", zipped(A, Entry(name=b"b", before=b"hidden")), BOTH
    ),
    "bytes in front of the directory": Case("tree-zip-gap", zipped(A, between=b"hidden"), BOTH),
    "two entries, one data": Case(
        "tree-zip-overlap",
        zipped(A, Entry(name=b"a", data=A.data, central={"at": 0})),
        (),
    ),
    "an entry inside another": Case(
        "tree-zip-overlap",
        zipped(
            Entry(name=b"q", data=A.local_bytes(), method=0),
            Entry(name=b"a", data=A.data, central={"at": 31}),
        ),
        (),
    ),
    "local: another name": Case(
        "tree-zip-local", zipped(Entry(name=b"good", local={"name": b"evil"})), ("unzip",)
    ),
    "local: another method": Case(
        "tree-zip-local", zipped(Entry(name=b"a", data=b"x", local={"method": 0})), ("zipfile",)
    ),
    "local: other flags": Case(
        "tree-zip-local", zipped(Entry(name=b"a", local={"flags": 1 << 11})), BOTH
    ),
    "local: another checksum": Case(
        "tree-zip-local", zipped(Entry(name=b"a", data=b"x", local={"crc": 7})), ("zipfile",)
    ),
    "local: another size": Case(
        "tree-zip-local", zipped(Entry(name=b"a", data=b"x", local={"size": 7})), BOTH
    ),
    "local: no header": Case("tree-zip-local", b"XXXX" + zipped(A)[4:], ()),
    "descriptor: wrong": Case(
        "tree-zip-descriptor",
        zipped(Entry(name=b"a", data=b"x", flags=8, descriptor=b"PK\7\x08" + bytes(12))),
        ("zipfile",),
    ),
    "descriptor: missing": Case(
        "tree-zip-descriptor",
        zipped(Entry(name=b"a", data=b"x", flags=8, descriptor=b"")),
        ("zipfile",),
    ),
    "descriptor: more than that": Case(
        "tree-zip-gap",
        zipped(Entry(name=b"a", data=b"x", flags=8, descriptor=b"hidden" * 9)),
        ("zipfile",),
    ),
    "extra: cut off": Case("tree-zip-extra", zipped(Entry(name=b"a", extra=b"\1\2\3")), BOTH),
    "extra: longer than its field": Case(
        "tree-zip-extra", zipped(Entry(name=b"a", extra=b"xx\x09\0abc")), ("unzip",)
    ),
    "extra: twice": Case(
        "tree-zip-extra",
        zipped(Entry(name=b"a", extra=extra(0x7777, b"1") + extra(0x7777, b"2"))),
        BOTH,
    ),
    "extra: another name in Unicode": Case(
        "tree-zip-name",
        zipped(
            Entry(
                name=b"good",
                extra=extra(0x7075, b"\1" + struct.pack("<L", zlib.crc32(b"good")) + b"evil"),
            )
        ),
        BOTH,
    ),
    "extra: a name for another name": Case(
        "tree-zip-name",
        zipped(Entry(name=b"a", extra=extra(0x7075, b"\1" + bytes(4) + b"a"))),
        BOTH,
    ),
    "data: shorter than stated": Case(
        "tree-zip-data",
        zipped(Entry(name=b"a", data=b"xy", packed=deflate(b"x"), crc=zlib.crc32(b"x"))),
        ("zipfile",),
    ),
    "data: longer than stated": Case(
        "tree-zip-data",
        zipped(Entry(name=b"a", data=b"x", packed=deflate(b"x" * 999), crc=zlib.crc32(b"x"))),
        ("zipfile",),
    ),
    "data: bytes behind the deflated": Case(
        "tree-zip-data", zipped(Entry(name=b"a", data=b"x", packed=deflate(b"x") + b"hidden")), BOTH
    ),
    "data: cut off": Case(
        "tree-zip-data",
        zipped(Entry(name=b"a", data=b"x" * 99, packed=deflate(b"x" * 99)[:-2])),
        (),
    ),
    "data: damaged": Case(
        "tree-zip-data", zipped(Entry(name=b"a", data=b"x", packed=b"\xff\xff\xff")), ()
    ),
    "data: stored, of another size": Case(
        "tree-zip-data", zipped(Entry(name=b"a", data=b"xy", method=0, packed=b"x")), ()
    ),
    "checksum": Case("tree-zip-crc", zipped(Entry(name=b"a", data=b"x", crc=7)), ("zipfile",)),
    "a folder with content": Case(
        "tree-zip-type", zipped(Entry(name=b"d/", data=b"x", attributes=0o40755 << 16)), BOTH
    ),
    "a folder by mode alone": Case(
        "tree-zip-type", zipped(Entry(name=b"d", attributes=0o40755 << 16)), BOTH
    ),
    "a folder by name alone": Case("tree-zip-type", zipped(Entry(name=b"d/")), BOTH),
    "a folder by attribute alone": Case(
        "tree-zip-type", zipped(Entry(name=b"d", attributes=0x10)), BOTH
    ),
    "a link that no Unix wrote": Case(
        "tree-zip-type",
        zipped(Entry(name=b"l", data=b"/etc", attributes=LINK, system=0)),
        BOTH,
    ),
    "a link to nothing": Case(
        "tree-link-target", zipped(Entry(name=b"l", attributes=LINK)), ("zipfile",)
    ),
    "a link with a NUL": Case(
        "tree-link-target", zipped(Entry(name=b"l", data=b"a\0b", attributes=LINK)), BOTH
    ),
}

#: The archive is refused, and what can be listed is.
REFUSED: dict[str, Case] = {
    "absolute": Case("tree-name-absolute", zipped(Entry(name=b"/etc/passwd")), BOTH),
    "two dots": Case("tree-name-escapes", zipped(Entry(name=b"../evil")), BOTH),
    "two dots of a folder": Case(
        "tree-name-escapes", zipped(Entry(name=b"x/../", attributes=0o40755 << 16)), BOTH
    ),
    "a dot inside": Case("tree-name-dot", zipped(Entry(name=b"a/./b")), BOTH),
    "two slashes": Case("tree-name-empty", zipped(Entry(name=b"a//b")), BOTH),
    "no name": Case("tree-name-empty", zipped(Entry(name=b"")), ("zipfile",)),
    "NUL": Case("tree-name-nul", zipped(Entry(name=b"good\0.exe")), ()),
    "too deep": Case("tree-name-long", zipped(Entry(name=b"d/" * 200 + b"x")), BOTH),
    "twice": Case("tree-name-repeated", zipped(A, Entry(name=b"a", data=b"evil")), BOTH),
    "a file and a folder": Case("tree-name-two-kinds", zipped(A, Entry(name=b"a/x")), ("zipfile",)),
    "behind a link": Case(
        "tree-link-on-the-way",
        zipped(Entry(name=b"d", data=b"/tmp", attributes=LINK), Entry(name=b"d/x")),
        ("zipfile",),
    ),
}

#: Recorded; the entry is listed, with content or without.
RECORDED: dict[str, Case] = {
    "backslash": Case("tree-name-backslash", zipped(Entry(name=b"a\\..\\b")), BOTH),
    "newline": Case("tree-name-control", zipped(Entry(name=b"a\nb")), BOTH),
    "trailing space": Case("tree-name-trailing", zipped(Entry(name=b"a ")), BOTH),
    "drive": Case("tree-name-drive", zipped(Entry(name=b"c:x")), BOTH),
    "device name": Case("tree-name-reserved", zipped(Entry(name=b"aux")), BOTH),
    "case": Case("tree-name-case", zipped(A, Entry(name=b"A")), BOTH),
    "normalisation": Case(
        "tree-name-normalised",
        zipped(
            Entry(name="\xe9".encode(), flags=1 << 11),
            Entry(name="e\u0301".encode(), flags=1 << 11),
        ),
        BOTH,
    ),
    "a name of some charset": Case("tree-zip-charset", zipped(Entry(name="\xe9".encode())), BOTH),
    "set user id": Case(
        "tree-mode-special", zipped(Entry(name=b"a", attributes=0o104755 << 16)), BOTH
    ),
    "a FIFO": Case(
        "tree-special", zipped(Entry(name=b"f", attributes=0o10644 << 16)), ("zipfile",)
    ),
    "encrypted": Case("tree-zip-encrypted", zipped(Entry(name=b"a", data=b"x", flags=1)), ()),
    "encrypted by AES": Case(
        "tree-zip-encrypted",
        zipped(Entry(name=b"a", data=b"x", method=99, extra=extra(0x9901, b"\2\0AE\3\x08\0"))),
        (),
    ),
    "bzip2": Case("tree-zip-method", zipped(Entry(name=b"a", data=b"x", method=12)), ()),
    "an unknown method": Case("tree-zip-method", zipped(Entry(name=b"a", method=77)), ()),
    "a patch": Case(
        "tree-zip-flags", zipped(Entry(name=b"a", data=b"x", flags=1 << 5)), ("unzip",)
    ),
}

CASES = {**ENDING, **REFUSED, **RECORDED}


def tree(tmp_path: Path, data: bytes) -> ZipTree:
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    return ZipTree(path, name="zip:x.zip")


def codes(one: ZipTree) -> set[str]:
    return {finding.code for finding in one.findings}


def read(tmp_path: Path, data: bytes) -> tuple[list[TreeEntry], set[str]]:
    """Read everything, and prove that nothing was written meanwhile."""
    one = tree(tmp_path, data)
    before = runs.content(tmp_path)
    entries = one.entries()
    assert runs.content(tmp_path) == before
    return entries, codes(one)


@pytest.mark.parametrize("name", CASES)
def test_each_case_has_its_code(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    entries, found = read(tmp_path, case.data)
    one = tree(tmp_path, case.data)
    one.entries()
    assert found == {case.code}, one.findings
    if name in ENDING:
        assert entries == []
        assert not one.complete
    if name in RECORDED:
        assert {CODES[code].outcome for code in found} == {"undecided"}
        assert one.complete
        assert entries


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fools])
def test_others_take_it_as_it_is(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(CASES[name].data)
    accepted = {reader for reader, accepts in READERS.items() if accepts(tmp_path / "x.zip")}
    assert set(CASES[name].fools) & set(READERS) - STRICTER <= accepted


def test_most_cases_fool_somebody() -> None:
    assert sum(bool(case.fools) for case in CASES.values()) > 0.6 * len(CASES)


@pytest.mark.parametrize("name", [*ENDING, *REFUSED])
def test_read_gives_nothing_of_a_refused_archive(name: str, tmp_path: Path) -> None:
    """Contents besides the one that is asked for are not read; all else is compared."""
    case = CASES[name]
    one = tree(tmp_path, case.data)
    assert one.read(b"a", limit=1 << 20) is None
    assert codes(one) == {case.code}


def test_a_folder_that_needs_a_newer_format_is_named(tmp_path: Path) -> None:
    folder = zipped(Entry(name=b"d/", attributes=0o40755 << 16, method=0))
    newer = folder.replace(b"PK\1\2" + b"\x14\3" + b"\x14", b"PK\1\2" + b"\x14\3" + b"\x50")
    assert newer != folder
    assert not zipfile_accepts_reading(tmp_path, newer)
    assert read(tmp_path, newer) == ([], {"tree-zip-flags"})


def zipfile_accepts_reading(tmp_path: Path, data: bytes) -> bool:
    (tmp_path / "y.zip").write_bytes(data)
    return zipfile_accepts(tmp_path / "y.zip")


def test_read_of_what_cannot_be_unpacked_is_nothing(tmp_path: Path) -> None:
    for name in ("encrypted", "encrypted by AES", "bzip2", "an unknown method", "a patch"):
        one = tree(tmp_path, CASES[name].data)
        assert one.read(b"a", limit=1 << 20) is None
        assert codes(one) == {CASES[name].code}
        assert tree(tmp_path, CASES[name].data).entries()[0].sha256 is None


# ── what is read ───────────────────────────────────────────────────────────────────────────────


def test_a_sound_archive_is_read_without_a_word(tmp_path: Path) -> None:
    data = zipped(
        Entry(name=b"d/", attributes=0o40755 << 16 | 0x10, method=0),
        Entry(name=b"d/run", data=b"#!", attributes=0o100755 << 16),
        Entry(
            name=b"d/streamed", data=b"s" * 9999, flags=8, local={"crc": 0, "packed": 0, "size": 0}
        ),
        Entry(name=b"empty"),
        Entry(name=b"link", data=b"../anywhere", attributes=LINK),
        Entry(name="\xfc".encode(), data=b"u", flags=1 << 11),
        Entry(name=b"by DOS", data=b"1", system=0, attributes=0x20),
        Entry(name=b"no mode", data=b"1", attributes=0),
        Entry(name=b"no type", data=b"1", attributes=0o600 << 16),
        order=[7, 2, 1, 0, 3, 4, 5, 6, 8],
    )
    entries, found = read(tmp_path, data)
    assert found == set()
    assert [(e.path, e.type, e.mode and f"{e.mode:o}", e.length) for e in entries] == [
        (b"by DOS", Type.FILE, None, 1),
        (b"d/run", Type.FILE, "100755", 2),
        (b"d/streamed", Type.FILE, "100644", 9999),
        (b"empty", Type.FILE, "100644", 0),
        (b"link", Type.LINK, "120000", 11),
        (b"no mode", Type.FILE, None, 1),
        (b"no type", Type.FILE, None, 1),
        ("\xfc".encode(), Type.FILE, "100644", 1),
    ]
    assert entries[4].target == b"../anywhere"
    assert entries[1].sha256 == hashlib.sha256(b"#!").hexdigest()


def test_zip64_in_every_place(tmp_path: Path) -> None:
    assert read(tmp_path, zip64(A, B))[1] == set()
    assert read(tmp_path, zipped(wide(A), B))[1] == set()
    assert (
        read(tmp_path, zip64(wide(A), wide(B)))[0]
        == read(tmp_path, zipped(A, Entry(name=b"b", data=b"stored")))[0]
    )
    assert read(tmp_path, zip64(A, lie=-1))[1] == {"tree-zip-prefixed"}


def test_every_form_of_data_descriptor(tmp_path: Path) -> None:
    facts = (zlib.crc32(b"x"), len(deflate(b"x")), 1)
    for form in ("<3L", "<L2Q"):
        for sign in (b"", b"PK\7\x08"):
            entry = Entry(
                name=b"a", data=b"x", flags=8, descriptor=sign + struct.pack(form, *facts)
            )
            assert read(tmp_path, zipped(entry, B))[1] == set()


def test_sizes_that_a_stream_did_not_know(tmp_path: Path) -> None:
    """Some writers reserve room for zip64's sizes and leave it empty."""
    entry = Entry(
        name=b"a",
        data=b"x",
        flags=8,
        local={"crc": 0, "packed": 0, "size": 0},
        local_extra=extra(1, bytes(16)),
    )
    assert read(tmp_path, zipped(entry, B))[1] == set()


def test_comments_are_listed_as_ignored(tmp_path: Path) -> None:
    one = tree(tmp_path, zipped(A, Entry(name=b"b", comment=b"why"), comment=b"0123abcd"))
    assert len(one.entries()) == 2
    assert one.findings == ()
    assert one.ignored == ("the archive's comment: 0123abcd", "an entry's comment")


def test_an_empty_zip(tmp_path: Path) -> None:
    assert read(tmp_path, zipped()) == ([], set())


def test_read_is_limited_and_names_no_folder_or_link(tmp_path: Path) -> None:
    one = tree(tmp_path, zipped(A, Entry(name=b"l", data=b"a", attributes=LINK)))
    assert one.read(b"a", limit=72) == A.data
    for name in (b"l", b"", b"./a", b"no"):
        assert one.read(name, limit=72) is None
    with pytest.raises(UnavailableError, match=r"zip:x\.zip:a: expected at most 71") as caught:
        one.read(b"a", limit=71)
    assert caught.value.code == "too-large"


def test_a_file_that_changes_is_no_judgement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tree(tmp_path, zipped(A))
    real = Steady.read

    def changing(self: Steady, offset: int, length: int) -> bytes:
        os.utime(tmp_path / "x.zip", ns=(5, 5))
        return real(self, offset, length)

    monkeypatch.setattr(Steady, "read", changing)
    with pytest.raises(UnavailableError, match="changed while it was read") as caught:
        one.entries()
    assert caught.value.code == "changed-while-read"


# ── bounds ─────────────────────────────────────────────────────────────────────────────────────


def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    """As the classic ones: what the directory states is more than such a file may hold."""
    huge = Entry(name=b"a", central={"size": 300 << 20}, local={"size": 300 << 20})
    assert read(tmp_path, zipped(huge)) == ([], {"tree-bomb"})


def test_more_than_an_archive_or_entry_may_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_module, "ARCHIVE_ENTRY_BYTES", 71)
    assert read(tmp_path, zipped(A)) == ([], {"tree-entry-too-large"})
    monkeypatch.setattr(zip_layout, "TREE_ENTRIES", 1)
    assert read(tmp_path, zipped(A, B)) == ([], {"tree-too-many"})
    monkeypatch.undo()
    monkeypatch.setattr(ledger, "TREE_ENTRIES", 1)
    assert read(tmp_path, zipped(A, B)) == ([], {"tree-too-many"})


# ── wheels ─────────────────────────────────────────────────────────────────────────────────────

RECORD = "p-1.dist-info/RECORD"


def row(name: str, data: bytes, algorithm: str = "sha256") -> list[str]:
    digest = base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=")
    return [name, f"{algorithm}={digest.decode()}", str(len(data))]


def a_wheel(*rows: list[str], own: bool = True, raw: bytes = b"") -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*rows, *([[RECORD, "", ""]] if own else [])])
    record = raw or text.getvalue().encode()
    files = {"p.py": b"code", "p-1.dist-info/METADATA": b"Name: p", RECORD: record}
    return zipped(*(Entry(name=name.encode(), data=data) for name, data in files.items()))


CODE, METADATA = row("p.py", b"code"), row("p-1.dist-info/METADATA", b"Name: p")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (a_wheel(METADATA), "tree-record-unlisted"),
        (a_wheel(CODE, METADATA, row("gone.py", b"")), "tree-record-missing"),
        (a_wheel(row("p.py", b"CODE"), METADATA), "tree-record-different"),
        (a_wheel([*CODE[:2], "5"], METADATA), "tree-record-different"),
        (a_wheel(["p.py", CODE[1] + "=", "4"], METADATA), "tree-record-different"),
        (a_wheel(["p.py", "sha256=!", "4"], METADATA), "tree-record-different"),
        (a_wheel(["p.py", "sha256=A", "4"], METADATA), "tree-record-different"),
        (a_wheel(row("p.py", b"code", "md5"), METADATA), "tree-record-weak"),
        (a_wheel(row("p.py", b"code", "sha512"), METADATA), "tree-record-weak"),
        (a_wheel(["p.py", "", ""], METADATA), "tree-record-weak"),
        (a_wheel([*CODE[:2], "04"], METADATA), "tree-record-malformed"),
        (a_wheel(CODE, CODE, METADATA), "tree-record-malformed"),
        (a_wheel(CODE[:2], METADATA, CODE), "tree-record-malformed"),
        (a_wheel(CODE, METADATA, own=False), "tree-record-malformed"),
        (a_wheel(raw=b"\xff"), "tree-record-malformed"),
        (a_wheel(raw=b'"unended'), "tree-record-malformed"),
    ],
)
def test_a_wrong_record_has_its_code(data: bytes, code: str, tmp_path: Path) -> None:
    assert read(tmp_path, data)[1] == {code}
    assert zipfile_accepts(tmp_path / "x.zip")


def test_two_records_are_refused(tmp_path: Path) -> None:
    two = (Entry(name=b"a.dist-info/RECORD"), Entry(name=b"b.dist-info/RECORD"))
    assert read(tmp_path, zipped(*two)) == ([], {"tree-record-malformed"})


def test_a_record_may_not_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_module, "RECORD_BYTES", 9)
    assert read(tmp_path, a_wheel(CODE, METADATA)) == ([], {"tree-record-malformed"})


def test_a_sound_wheel(tmp_path: Path) -> None:
    entries, found = read(tmp_path, a_wheel(CODE, [*METADATA[:2], ""], []))
    assert (len(entries), found) == (3, set())
    assert wheel.RECORD.fullmatch(b"x/p-1.dist-info/RECORD") is None


# ── the same content in any form ───────────────────────────────────────────────────────────────


def test_zip_and_tar_give_one_digest(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(
        tar(
            member(b"a", A.data, mode=0o755),
            member("\xfc".encode(), b"u"),
            member(b"l", kind=b"2", link=b"a"),
        )
    )
    files = TarTree(tmp_path / "x.tar", name="x").entries()
    entries = [
        Entry(name=b"a", data=A.data, attributes=0o100755 << 16),
        Entry(name="\xfc".encode(), data=b"u", flags=1 << 11),
        Entry(name=b"l", data=b"a", attributes=LINK),
    ]
    unix = read(tmp_path, zipped(*entries))[0]
    assert unix == files
    for entry in entries[:2]:
        entry.system = 0
    dos = read(tmp_path, zipped(*entries))[0]
    assert [e.mode for e in dos] == [None, 0o120000, None]
    assert tree_digests(dos)[1] == tree_digests(files)[1]
    assert tree_digests(dos)[0] != tree_digests(files)[0]


def test_what_zipfile_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("d/", "")
        made.writestr("d/\xe9", b"1" * 9999)
        with made.open("wide", "w", force_zip64=True) as file:
            file.write(b"2" * 9999)
    buffer = io.BytesIO()

    class Pipe(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            return buffer.write(data)  # type: ignore[arg-type]

    with zipfile.ZipFile(Pipe(), "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("d/\xe9", b"1" * 9999)
        with made.open("wide", "w", force_zip64=True) as file:
            file.write(b"2" * 9999)
    one = ZipTree(path, name="x")
    entries = one.entries()
    assert one.findings == ()
    streamed, found = read(tmp_path, buffer.getvalue())
    assert found == set()
    assert streamed == entries
