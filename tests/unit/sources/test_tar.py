"""tar archives that tell two readers two things: each refused or recorded under its own code.

Every case names readers (GNU tar, Python's tarfile) that take the mutated archive without a
complaint; the test runs them, so that a mutation that nobody would fall for is noticed.
"""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support import runs
from support.archives import END, GNU, header, long, member, pax, record, tar

from verifier.core.codes import CODES
from verifier.core.errors import UnavailableError
from verifier.sources import ledger
from verifier.sources.archives import tar as tar_module
from verifier.sources.archives import tar_header
from verifier.sources.archives.archive import Steady
from verifier.sources.archives.tar import TarTree
from verifier.sources.names import Names
from verifier.sources.tree import TreeEntry, Type, tree_digests

A = member(b"a", b"content")
B = member(b"b", b"other")


def gnu_tar_accepts(path: Path) -> bool:
    """Extract into a folder of its own; warnings count as acceptance, as people treat them so."""
    out = path.parent / "gnu"
    out.mkdir()
    done = subprocess.run(
        ["tar", "-xf", path, "-C", out, "--no-same-owner"],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def tarfile_accepts(path: Path) -> bool:
    try:
        with tarfile.open(path) as opened:
            return bool(opened.getmembers()) and all(_readable(opened, m) for m in opened)
    except (tarfile.TarError, EOFError, OSError, ValueError):
        return False


def _readable(opened: tarfile.TarFile, one: tarfile.TarInfo) -> bool:
    if one.isreg():
        handle = opened.extractfile(one)
        assert handle is not None
        handle.read()
    return True


READERS: dict[str, Callable[[Path], bool]] = {
    "tar": gnu_tar_accepts,
    "tarfile": tarfile_accepts,
}

#: Newer releases of Python refuse more; what is said of it here was tried with those before.
STRICTER = {"tarfile"} if sys.version_info >= (3, 13, 1) else set()


class Case(NamedTuple):
    code: str
    data: bytes
    fools: tuple[str, ...]


BOTH = ("tar", "tarfile")

#: Reading ends, nothing is listed.
ENDING: dict[str, Case] = {
    "no end": Case("tree-tar-unended", A + B, BOTH),
    "one end block at the end": Case("tree-tar-unended", A + bytes(512), BOTH),
    "one end block inside": Case("tree-tar-lone-zero", A + bytes(512) + B + END, BOTH),
    "a member after the end": Case("tree-tar-trailing", tar(A) + B, BOTH),
    "a second tar behind": Case("tree-tar-trailing", tar(A) + tar(B), BOTH),
    "text after the end": Case("tree-tar-trailing", tar(A) + bytes(9) + b"x", BOTH),
    "cut in the content": Case("tree-tar-truncated", A[:515], ()),
    "cut in the padding": Case("tree-tar-truncated", A[:-3], ()),
    "cut in the map of a sparse file": Case(
        "tree-tar-truncated", header(b"s", kind=b"S", magic=GNU, patches={482: b"\1"}) + b"x", ()
    ),
    "cut in a header": Case("tree-tar-truncated", A + B[:100], ("tarfile",)),
    "checksum": Case(
        "tree-tar-checksum", tar(A, header(b"b", checksum=b"012345\0 ")), ("tarfile",)
    ),
    "checksum that is no number": Case(
        "tree-tar-checksum", tar(A, header(b"b", checksum=b"xxxxxx\0 ")), ("tarfile",)
    ),
    "checksum of signed bytes": Case(
        "tree-tar-checksum",
        tar(
            header(
                b"\xe9",
                checksum=b"%06o\0 "
                % (sum(header(b"\xe9")[:148] + b" " * 8 + header(b"\xe9")[156:]) - 256),
            )
        ),
        BOTH,
    ),
    "bytes between members": Case("tree-tar-checksum", tar(A, b"x" * 512, B), ("tarfile",)),
    "padding": Case("tree-tar-padding", tar(A[:-1] + b"x", B), BOTH),
    "text behind a name": Case("tree-tar-field", tar(header(b"a\0hidden")), BOTH),
    "text behind a link": Case(
        "tree-tar-field", tar(header(b"a", kind=b"2", link=b"x\0hidden")), BOTH
    ),
    "text behind an owner": Case("tree-tar-field", tar(header(b"a", patches={265: b"r\0x"})), BOTH),
    "mode that is no number": Case(
        "tree-tar-field", tar(header(b"a", patches={100: b"00006x4\0"})), ()
    ),
    "mode too large": Case("tree-tar-field", tar(header(b"a", patches={100: b"7777777\0"})), BOTH),
    "size with a sign": Case(
        "tree-tar-field", tar(header(b"a", patches={124: b"-0000000001"})), ()
    ),
    "size without digits": Case(
        "tree-tar-field", tar(header(b"a", patches={124: b" " * 12})), ("tarfile",)
    ),
    "size in base 256, negative": Case(
        "tree-tar-field", tar(header(b"a", patches={124: b"\xff" * 12})), ()
    ),
    "size in base 256, over 63 bits": Case(
        "tree-tar-field", tar(header(b"a", patches={124: b"\x80\0\0\0\x80" + bytes(7)})), ()
    ),
    "size in base 256, with more flags": Case(
        "tree-tar-field", tar(header(b"a", patches={124: b"\x81" + bytes(11)})), ()
    ),
    "time of text": Case("tree-tar-field", tar(header(b"a", patches={136: b"yesterday"})), ()),
    "device of text": Case("tree-tar-field", tar(header(b"a", patches={329: b"x"})), ()),
    "twelve bytes at the end": Case(
        "tree-tar-field", tar(header(b"a", patches={508: b"tar"})), BOTH
    ),
    "prefix in a GNU header": Case(
        "tree-tar-field", tar(header(b"a", magic=GNU, prefix=b"other")), BOTH
    ),
    "another magic": Case("tree-tar-field", tar(header(b"a", magic=b"ustar\x00zz")), BOTH),
    "v7": Case("tree-tar-dialect", tar(header(b"a", magic=bytes(8))), BOTH),
    "Solaris PAX": Case("tree-tar-dialect", tar(pax((b"path", b"evil"), kind=b"X"), A), BOTH),
    "another volume": Case(
        "tree-tar-dialect", tar(header(b"a", kind=b"M", magic=GNU)), ("tarfile",)
    ),
    "a folder with content": Case("tree-tar-body", tar(member(b"d/", b"x", kind=b"5")), ()),
    "a link with content": Case(
        "tree-tar-body", tar(header(b"l", kind=b"2", link=b"a", size=512), A), ()
    ),
    "a hard link with content": Case(
        "tree-tar-body", tar(A, header(b"h", kind=b"1", link=b"a", size=512), B), ("tarfile",)
    ),
    "a device with content": Case("tree-tar-body", tar(header(b"n", kind=b"6", size=5)), ()),
    "PAX: two sizes": Case("tree-tar-size", tar(pax((b"size", b"0")), A), ()),
    "PAX: a smaller header, to show a member inside": Case(
        "tree-tar-size",
        tar(pax((b"size", b"1024")), header(b"a", size=0), member(b"evil", b"x")),
        BOTH,
    ),
    "PAX: length too large": Case("tree-tar-pax", tar(pax(b"99 path=x\n"), A), ()),
    "PAX: length too small": Case("tree-tar-pax", tar(pax(b"7 path=x\n"), A), ()),
    "PAX: length with zeros in front": Case("tree-tar-pax", tar(pax(b"012 path=xy\n"), A), BOTH),
    "PAX: length of nothing": Case("tree-tar-pax", tar(pax(b"0 path=x\n"), A), ()),
    "PAX: no newline": Case("tree-tar-pax", tar(pax(b"10 path=xyz"), A), ()),
    "PAX: no equals sign": Case("tree-tar-pax", tar(pax(b"9 pathxy\n"), A), ()),
    "PAX: no key": Case("tree-tar-pax", tar(pax(b"6 =xy\n"), A), ()),
    "PAX: NULs behind the records": Case(
        "tree-tar-pax", tar(pax(record(b"path", b"x") + bytes(5)), A), ("tarfile",)
    ),
    "PAX: size that is no number": Case(
        "tree-tar-pax", tar(pax((b"size", b"+7")), A), ("tarfile",)
    ),
    "PAX: size with a dot": Case("tree-tar-pax", tar(pax((b"size", b"7.0")), A), ()),
    "PAX: time of text": Case("tree-tar-pax", tar(pax((b"mtime", b"now")), A), ("tarfile",)),
    "PAX: time that is no number": Case("tree-tar-pax", tar(pax((b"mtime", b"nan")), A), ()),
    "PAX: owner of text": Case("tree-tar-pax", tar(pax((b"uid", b"root")), A), ("tarfile",)),
    "PAX: path of nothing": Case("tree-tar-pax", tar(pax((b"path", b"")), A), ()),
    "PAX: charset": Case("tree-tar-pax", tar(pax((b"hdrcharset", b"EBCDIC")), A), BOTH),
    "PAX: path twice": Case(
        "tree-tar-pax-repeated", tar(pax((b"path", b"x"), (b"path", b"y")), A), BOTH
    ),
    "PAX: global path": Case("tree-tar-global", tar(pax((b"path", b"x"), kind=b"g"), A), BOTH),
    "PAX: global size": Case("tree-tar-global", tar(pax((b"size", b"7"), kind=b"g"), A), BOTH),
    "PAX: global, unknown": Case("tree-tar-global", tar(pax((b"realm", b"x"), kind=b"g"), A), BOTH),
    "PAX: two headers": Case(
        "tree-tar-extension", tar(pax((b"path", b"x")), pax((b"path", b"y")), A), BOTH
    ),
    "PAX: a header at the end": Case("tree-tar-extension", tar(A, pax((b"path", b"x"))), ("tar",)),
    "PAX and GNU name": Case(
        "tree-tar-extension", tar(long(b"gnu\0"), pax((b"path", b"x")), A), BOTH
    ),
    "global between": Case(
        "tree-tar-extension",
        tar(pax((b"path", b"x")), pax((b"comment", b"c"), kind=b"g"), A),
        ("tarfile",),
    ),
    "GNU: two long names": Case("tree-tar-extension", tar(long(b"x\0"), long(b"y\0"), A), BOTH),
    "GNU: long name at the end": Case("tree-tar-extension", tar(A, long(b"x\0")), ("tar",)),
    "GNU: too long": Case("tree-tar-extension", tar(long(b"x/" * (1 << 19) + b"x\0"), A), ()),
    "GNU: a NUL inside": Case("tree-tar-long-name", tar(long(b"x\0y\0"), A), BOTH),
    "GNU: empty": Case("tree-tar-long-name", tar(long(b"\0"), A), ()),
    "link to nothing": Case("tree-link-target", tar(header(b"l", kind=b"2")), ("tarfile",)),
    "link with a NUL": Case(
        "tree-link-target",
        tar(pax((b"linkpath", b"a\0b")), header(b"l", kind=b"2", link=b"a")),
        (),
    ),
    "link too long": Case(
        "tree-link-target", tar(long(b"x" * 4097 + b"\0", b"K"), header(b"l", kind=b"2")), ()
    ),
    "entry too large": Case(
        "tree-entry-too-large",
        tar(header(b"a", size=8**11 - 1, patches={124: b"\x80" + bytes(6) + b"\x11" + bytes(4)})),
        (),
    ),
}

#: The archive is refused, and what can be listed is.
REFUSED: dict[str, Case] = {
    "absolute": Case("tree-name-absolute", tar(member(b"/etc/passwd")), BOTH),
    "absolute by prefix": Case("tree-name-absolute", tar(member(b"x", prefix=b"/etc")), BOTH),
    "the root of the file system": Case("tree-name-absolute", tar(header(b"/", kind=b"5")), ()),
    "a folder without a name": Case("tree-name-empty", tar(header(b"", kind=b"5")), ()),
    "two dots": Case("tree-name-escapes", tar(member(b"../evil")), ("tarfile",)),
    "two dots inside": Case("tree-name-escapes", tar(member(b"a/../../b")), ("tarfile",)),
    "two dots of a folder": Case("tree-name-escapes", tar(header(b"x/..", kind=b"5")), ()),
    "two dots by PAX": Case("tree-name-escapes", tar(pax((b"path", b"../x")), A), ("tarfile",)),
    "two dots by GNU": Case("tree-name-escapes", tar(long(b"../x\0"), A), ("tarfile",)),
    "a dot inside": Case("tree-name-dot", tar(member(b"a/./b")), BOTH),
    "two slashes": Case("tree-name-empty", tar(member(b"a//b")), BOTH),
    "a file with a slash": Case("tree-name-empty", tar(member(b"a/", kind=b"\0")), BOTH),
    "no name": Case("tree-name-empty", tar(header(b"")), ()),
    "NUL by PAX": Case("tree-name-nul", tar(pax((b"path", b"good\0.exe")), A), ()),
    "too deep": Case("tree-name-long", tar(long(b"d/" * 200 + b"x\0"), A), BOTH),
    "a segment too long": Case("tree-name-long", tar(long(b"n" * 256 + b"\0"), A), ("tarfile",)),
    "too long": Case("tree-name-long", tar(long(b"n" * 5000 + b"\0"), A), ("tarfile",)),
    "twice": Case("tree-name-repeated", tar(A, member(b"a", b"evil")), BOTH),
    "twice, once with a dot": Case("tree-name-repeated", tar(A, member(b"./a", b"evil")), BOTH),
    "a file, then a folder": Case(
        "tree-name-two-kinds", tar(A, header(b"a", kind=b"5")), ("tarfile",)
    ),
    "a file, then below it": Case("tree-name-two-kinds", tar(A, member(b"a/x")), ("tarfile",)),
    "below it, then a file": Case("tree-name-two-kinds", tar(member(b"a/x"), A), ("tarfile",)),
    "behind a link": Case(
        "tree-link-on-the-way",
        tar(header(b"d", kind=b"2", link=b"."), member(b"d/x", b"evil")),
        BOTH,
    ),
    "behind a link outside": Case(
        "tree-link-on-the-way",
        tar(header(b"d", kind=b"2", link=b"/tmp"), member(b"d/e/x", b"evil")),
        ("tarfile",),
    ),
    "a link above what is there": Case(
        "tree-link-on-the-way",
        tar(member(b"d/x"), header(b"d", kind=b"2", link=b".")),
        ("tarfile",),
    ),
    "hard link outside": Case(
        "tree-hardlink-outside",
        tar(header(b"h", kind=b"1", link=b"../../etc/passwd")),
        ("tarfile",),
    ),
    "hard link absolute": Case(
        "tree-hardlink-outside", tar(header(b"h", kind=b"1", link=b"/etc/passwd")), ("tarfile",)
    ),
    "hard link forward": Case(
        "tree-hardlink-missing", tar(header(b"h", kind=b"1", link=b"a"), A), ("tarfile",)
    ),
    "hard link to itself": Case(
        "tree-hardlink-missing", tar(header(b"h", kind=b"1", link=b"h")), ("tarfile",)
    ),
}

#: Recorded; the entry is listed, with content or without.
RECORDED: dict[str, Case] = {
    "backslash": Case("tree-name-backslash", tar(member(b"a\\..\\b")), BOTH),
    "not UTF-8": Case("tree-name-not-utf8", tar(member(b"\xff")), BOTH),
    "newline": Case("tree-name-control", tar(member(b"a\nb")), BOTH),
    "escape": Case("tree-name-control", tar(member(b"a\x1b[2Jb")), BOTH),
    "next line": Case("tree-name-control", tar(member("a\u0085b".encode())), BOTH),
    "line separator": Case("tree-name-control", tar(member("a\u2028b".encode())), BOTH),
    "trailing dot": Case("tree-name-trailing", tar(member(b"a.")), BOTH),
    "trailing space": Case("tree-name-trailing", tar(member(b"d /a")), BOTH),
    "drive": Case("tree-name-drive", tar(member(b"C:/evil")), BOTH),
    "device name": Case("tree-name-reserved", tar(member(b"dir/Nul.txt")), BOTH),
    "case": Case("tree-name-case", tar(A, member(b"A")), BOTH),
    "case beyond ASCII": Case(
        "tree-name-case", tar(member("stra\xdfe".encode()), member(b"STRASSE")), BOTH
    ),
    "case of a link": Case(
        "tree-name-case", tar(header(b"D", kind=b"2", link=b"."), member(b"d/x")), BOTH
    ),
    "normalisation": Case(
        "tree-name-normalised", tar(member("\xe9".encode()), member("e\u0301".encode())), BOTH
    ),
    "set user id": Case("tree-mode-special", tar(member(b"a", mode=0o4755)), BOTH),
    "FIFO": Case("tree-special", tar(header(b"f", kind=b"6")), BOTH),
    "device": Case("tree-special", tar(header(b"n", kind=b"3", patches={329: b"0000001\0"})), ()),
    "unknown type": Case("tree-tar-type", tar(member(b"a", b"x", kind=b"Q")), BOTH),
    "volume label": Case("tree-tar-type", tar(header(b"a", kind=b"V", magic=GNU), B), ("tarfile",)),
    "sparse, PAX": Case(
        "tree-tar-sparse",
        tar(
            pax(
                (b"GNU.sparse.major", b"0"), (b"GNU.sparse.map", b"0,7"), (b"GNU.sparse.size", b"9")
            ),
            A,
        ),
        (),
    ),
    "unknown PAX record": Case("tree-tar-pax-unknown", tar(pax((b"VENDOR.x", b"y")), A), BOTH),
    "hard link with another mode": Case(
        "tree-hardlink-mode", tar(A, header(b"h", kind=b"1", link=b"a", mode=0o755)), BOTH
    ),
}

CASES = {**ENDING, **REFUSED, **RECORDED}


def tree(tmp_path: Path, data: bytes) -> TarTree:
    path = tmp_path / "x.tar"
    path.write_bytes(data)
    return TarTree(path, name="tar:x.tar")


def codes(one: TarTree) -> set[str]:
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
    assert found == {case.code}
    if name in ENDING:
        assert entries == []
    outcomes = {CODES[code].outcome for code in found}
    assert outcomes == {"undecided"} if name in RECORDED else outcomes <= {"rejected", "undecided"}


@pytest.mark.parametrize("name", CASES)
def test_an_incomplete_list_says_so(name: str, tmp_path: Path) -> None:
    one = tree(tmp_path, CASES[name].data)
    listed = {entry.path for entry in one.entries()}
    assert one.complete or name not in RECORDED
    assert not (one.complete and name in ENDING)
    if not one.complete and listed:
        assert any(finding.row.outcome == "rejected" for finding in one.findings)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fools])
def test_others_take_it_as_it_is(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(CASES[name].data)
    accepted = {reader for reader, accepts in READERS.items() if accepts(tmp_path / "x.tar")}
    assert set(CASES[name].fools) - STRICTER <= accepted


def test_most_cases_fool_somebody() -> None:
    assert sum(bool(case.fools) for case in CASES.values()) > 0.6 * len(CASES)


@pytest.mark.parametrize("name", [*ENDING, *REFUSED])
def test_read_gives_nothing_of_a_refused_archive(name: str, tmp_path: Path) -> None:
    one = tree(tmp_path, CASES[name].data)
    assert one.read(b"a", limit=1 << 20) is None
    assert codes(one) == {CASES[name].code}


# ── what is read ───────────────────────────────────────────────────────────────────────────────


def test_a_sound_archive_is_read_without_a_word(tmp_path: Path) -> None:
    data = tar(
        header(b"./", kind=b"5", mode=0o755),
        member(b"./run", b"#!", mode=0o755),
        header(b"d/", kind=b"5"),
        member(b"d/e/x", b""),
        header(b"link", kind=b"2", link=b"../anywhere"),
        header(b"hard", kind=b"1", link=b"./run", mode=0o755),
        member(b"name", b"z" * 513, kind=b"\0", prefix=b"long"),
        member(b"contiguous", b"y", kind=b"7"),
    )
    entries, found = read(tmp_path, data)
    assert found == set()
    assert [(e.path, e.type, e.mode and f"{e.mode:o}", e.length, e.target) for e in entries] == [
        (b"contiguous", Type.FILE, "100644", 1, None),
        (b"d/e/x", Type.FILE, "100644", 0, None),
        (b"hard", Type.FILE, "100755", 2, None),
        (b"link", Type.LINK, "120000", 11, b"../anywhere"),
        (b"long/name", Type.FILE, "100644", 513, None),
        (b"run", Type.FILE, "100755", 2, None),
    ]
    assert entries[2].sha256 == entries[5].sha256


def test_long_names_of_every_kind_are_one(tmp_path: Path) -> None:
    name, target = b"d/" * 60 + b"x" * 200, b"t" * 300
    gnu = tar(
        long(name + b"\0"),
        member(name[:100], b"1", magic=GNU),
        long(target + b"\0", b"K"),
        long(b"l" + name + b"\0"),
        header(b"l", kind=b"2", link=target[:100], magic=GNU),
    )
    posix = tar(
        pax((b"path", name), (b"mtime", b"1.5"), (b"comment", b"c")),
        member(b"x", b"1"),
        pax((b"linkpath", target), (b"path", b"l" + name), (b"hdrcharset", b"BINARY")),
        header(b"l", kind=b"2", link=b"x"),
    )
    one, found = read(tmp_path, gnu)
    other, more = read(tmp_path, posix)
    assert (found, more) == (set(), set())
    assert one == other
    assert {e.path for e in one} == {name, b"l" + name}


def test_base_256_numbers(tmp_path: Path) -> None:
    patches = {108: b"\x80" + bytes(6) + b"\x05", 136: b"\xff" * 12}
    size = {124: b"\x80" + bytes(10) + b"\x07"}
    entries, found = read(tmp_path, tar(member(b"a", b"content", patches={**patches, **size})))
    assert (found, entries[0].length) == (set(), 7)


def test_a_size_that_no_octal_field_holds_comes_from_pax() -> None:
    huge = 9 * 8**11
    assert tar_header.pax_size(0, {b"size": b"%d" % huge}) == huge
    assert tar_header.pax_size(7, {b"size": b"7"}) == 7


def test_what_only_describes_is_listed_as_ignored(tmp_path: Path) -> None:
    data = tar(
        pax((b"comment", b"0123abcd"), kind=b"g"),
        pax((b"SCHILY.xattr.user.x", b"1=2\n\0"), (b"LIBARCHIVE.creationtime", b"1")),
        A,
    )
    one = tree(tmp_path, data)
    assert [e.path for e in one.entries()] == [b"a"]
    assert codes(one) == set()
    assert one.ignored == (
        "PAX global record comment: 0123abcd",
        "PAX record SCHILY.xattr.user.x",
        "PAX record LIBARCHIVE.creationtime",
    )


def test_sparse_files_of_gnu_tar_are_passed_over(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        for at in range(40):
            file.seek(at << 20)
            file.write(b"x")
    (tmp_path / "z").write_bytes(b"after")
    for form in ("gnu", "posix"):
        subprocess.run(
            ["tar", "-C", tmp_path, f"--format={form}", "-Scf", tmp_path / "s.tar", "holes", "z"],
            check=True,
        )
        one = TarTree(tmp_path / "s.tar", name="s.tar")
        entries = one.entries()
        assert codes(one) == {"tree-tar-sparse"}
        assert {e.type for e in entries} == {Type.SPECIAL, Type.FILE}
        assert one.read(b"z", limit=9) == b"after"
        assert one.complete


def test_hard_links_carry_the_bytes_of_what_they_name(tmp_path: Path) -> None:
    data = tar(
        A,
        header(b"h1", kind=b"1", link=b"a"),
        header(b"h2", kind=b"1", link=b"h1"),
        header(b"l", kind=b"2", link=b"a"),
        header(b"h3", kind=b"1", link=b"l"),
    )
    entries, found = read(tmp_path, data)
    assert found == set()
    by_path = {e.path: e for e in entries}
    assert by_path[b"h2"]._replace(path=b"a") == by_path[b"a"]
    assert by_path[b"h3"].target == b"a"
    one = tree(tmp_path, data)
    assert one.read(b"h2", limit=7) == b"content"
    assert one.read(b"h3", limit=7) is None


def test_read_is_limited_and_names_no_folder_or_link(tmp_path: Path) -> None:
    one = tree(tmp_path, tar(member(b"d/a", b"content"), header(b"l", kind=b"2", link=b"d/a")))
    assert one.read(b"d/a", limit=7) == b"content"
    for name in (b"d", b"l", b"", b"./d/a", b"l/a", b"no"):
        assert one.read(name, limit=7) is None
    with pytest.raises(
        UnavailableError, match=r"tar:x\.tar:d/a: expected at most 6 bytes"
    ) as caught:
        one.read(b"d/a", limit=6)
    assert caught.value.code == "too-large"


def test_findings_name_entry_and_place(tmp_path: Path) -> None:
    one = tree(tmp_path, tar(A, member(b"x\n", b""), A))
    one.entries()
    places = [(f.code, f.where.path, f.where.byte_offset) for f in one.findings]
    assert places == [("tree-name-control", "x\\n", 1024), ("tree-name-repeated", "a", 1536)]


def test_many_ignored_things_are_not_all_kept(tmp_path: Path) -> None:
    one = tree(tmp_path, tar(*(pax((b"SCHILY.xattr.%d" % n, b"")) + A for n in range(99))))
    one.entries()
    assert len(one.ignored) == 20


def test_a_read_may_come_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, length, at: real(fd, min(length, 300), at))
    assert read(tmp_path, tar(A, B))[1] == set()


def test_an_input_error_is_no_judgement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", failing)
    with pytest.raises(UnavailableError, match="input/output error") as caught:
        tree(tmp_path, tar(A)).entries()
    assert caught.value.code == "cannot-read"


def test_many_findings_are_counted(tmp_path: Path) -> None:
    one = tree(tmp_path, tar(*(member(b"%d." % n) for n in range(500))))
    assert len(one.entries()) == 500
    assert len(one.findings) == 20
    assert one.findings[-1].cause == "480 more of this code not listed"
    assert TarTree(tmp_path / "x.tar", name="tar:x.tar").name == "tar:x.tar"


# ── the file itself ────────────────────────────────────────────────────────────────────────────


def test_no_regular_file_is_no_judgement(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, code in (("fifo", "not-a-file"), (".", "not-a-file"), ("gone", "cannot-read")):
        with pytest.raises(UnavailableError) as caught:
            TarTree(tmp_path / name, name=name).entries()
        assert caught.value.code == code


def test_a_link_given_as_argument_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(tar(A))
    (tmp_path / "link").symlink_to("real")
    assert len(TarTree(tmp_path / "link", name="link").entries()) == 1


@pytest.mark.parametrize("change", ["grow", "shrink", "touch", "same length"])
def test_a_file_that_changes_is_no_judgement(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(tar(A, member(b"big", bytes(1 << 20))))
    real = Steady.read

    def changing(self: Steady, offset: int, length: int) -> bytes:
        data = real(self, offset, length)
        if offset == 0:
            return data
        os.utime(path, ns=(5, 5))
        if change == "grow":
            with path.open("ab") as file:
                file.write(b"x")
        elif change == "shrink":
            os.truncate(path, 700)
        elif change == "same length":
            status = path.stat()
            with path.open("r+b") as file:
                file.seek(512)
                file.write(b"C")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        return data

    monkeypatch.setattr(Steady, "read", changing)
    for ask in (TarTree.entries, lambda one: one.read(b"a", limit=9)):
        path.write_bytes(tar(A, member(b"big", bytes(1 << 20))))
        with pytest.raises(UnavailableError, match="changed while it was read") as caught:
            ask(TarTree(path, name="x.tar"))
        assert caught.value.code == "changed-while-read"


def test_a_file_that_changes_between_two_questions(tmp_path: Path) -> None:
    one = tree(tmp_path, tar(A))
    assert one.read(b"a", limit=9) == b"content"
    (tmp_path / "x.tar").write_bytes(tar(member(b"a", b"CONTENT")))
    with pytest.raises(UnavailableError, match="changed while it was read"):
        one.entries()


# ── bounds ─────────────────────────────────────────────────────────────────────────────────────


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "TREE_ENTRIES", 3)
    names = [header(b"d%d/" % n, kind=b"5") for n in range(4)]
    assert read(tmp_path, tar(*names)) == ([], {"tree-too-many"})
    assert read(tmp_path, tar(*names[:3]))[1] == set()


def test_names_may_not_fill_the_memory() -> None:
    names = Names()
    deep = b"/".join([b"d" * 30] * 120)
    count = 0
    while not names.too_many:
        names.add(b"%d/" % count + deep, link=False)
        count += 1
    assert count < 2_000


def test_an_entry_may_not_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_module, "ARCHIVE_ENTRY_BYTES", 6)
    assert read(tmp_path, tar(A)) == ([], {"tree-entry-too-large"})


# ── the same content in any form ───────────────────────────────────────────────────────────────


def test_every_writer_gives_one_digest(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "d" / ("n" * 90) / ("m" * 90)).mkdir(parents=True)
    (root / "d" / "run").write_bytes(b"#!/bin/sh\n")
    (root / "d" / "run").chmod(0o755)
    (root / "d" / ("n" * 90) / ("m" * 90) / "\xfc").write_bytes(b"1" * 5000)
    (root / "l").symlink_to("d/run")
    (root / "h").hardlink_to(root / "d" / "run")
    digests = set()
    for form in ("ustar", "posix", "gnu"):
        for flag in ("", "z", "J"):
            path = tmp_path / f"{form}{flag}"
            command: list[str | Path] = [
                "tar",
                f"--format={form}",
                "-C",
                root,
                f"-c{flag}f",
                path,
                ".",
            ]
            subprocess.run(command, check=True)
            one = TarTree(path, name=form)
            digests.add(tree_digests(one.entries())[0])
            assert one.findings == ()
    for number in (tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=number) as made:
            made.add(root, arcname="")
        digests.add(tree_digests(read(tmp_path, buffer.getvalue())[0])[0])
    assert len(digests) == 1
