"""Every way in which a patch is refused, with the place that the finding names."""

import pytest

from verifier.checks.composition.apply import Applied, apply
from verifier.checks.composition.patch import FilePatch, Patch, read_patch
from verifier.core.finding import Finding

GIT = b"diff --git a/f b/f\nindex 0123456..789abcd 100644\n"
NAMES = b"--- a/f\n+++ b/f\n"
HUNK = b"@@ -1,3 +1,3 @@ def f():\n a\n-b\n+B\n c\n"
SOUND = GIT + NAMES + HUNK
ADD = b"diff --git a/n b/n\nnew file mode 100755\nindex 0000000..789abcd\n--- /dev/null\n+++ b/n\n"
MAIL = b"From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] b\n\n---\n f | 2 +-\n\n"


def read(data: bytes) -> FilePatch:
    found = read_patch(data, name="p")
    assert isinstance(found, Patch), found
    (change,) = found.files
    return change


def refused(data: bytes) -> Finding:
    found = read_patch(data, name="p")
    assert isinstance(found, Finding), found
    return found


def test_a_sound_patch() -> None:
    change = read(SOUND)
    assert (change.path, change.operation, change.at) == (b"f", "replace", 1)
    assert (change.old_mode, change.mode, change.blobs) == (0o100644, None, ("0123456", "789abcd"))
    assert apply(change, b"a\nb\nc\nd\n", patch="p") == Applied(b"a\nB\nc\nd\n")


@pytest.mark.parametrize(
    "data",
    [
        NAMES + HUNK,
        b"--- a/f\t2026-01-01 00:00:00.000000000 +0100\n+++ b/f\t2026-01-01 00:00:01 +0100\n"
        + HUNK,
        b"--- a/f\t\n+++ b/f\t\n" + HUNK,
        MAIL + SOUND + b"-- \n2.39.5\n\n",
        MAIL + SOUND,
    ],
)
def test_other_sound_forms(data: bytes) -> None:
    assert read(data).path == b"f"


def test_modes_of_a_file_and_of_a_new_one() -> None:
    change = read(
        b"diff --git a/f b/f\nold mode 100644\nnew mode 100755\nindex 0123..4567\n" + NAMES + HUNK
    )
    assert (change.old_mode, change.mode) == (0o100644, 0o100755)
    change = read(ADD + b"@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n")
    assert (change.operation, change.mode) == ("add", 0o100755)
    assert apply(change, None, patch="p") == Applied(b"x")


def test_empty_files_come_and_go_without_a_hunk() -> None:
    change = read(b"diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n")
    assert apply(change, None, patch="p") == Applied(b"")
    change = read(b"diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000\n")
    assert apply(change, b"", patch="p") == Applied(None)
    left = apply(change, b"x", patch="p")
    assert [f.code for f in left if isinstance(f, Finding)] == ["patch-left-over"]


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (b"a b", b"a/a b"),
        ("ä".encode(), b'"a/\\303\\244"'),
        ("ä".encode(), "a/ä".encode()),
        (b'"', b'"a/\\""'),
    ],
)
def test_paths_as_git_writes_them(path: bytes, written: bytes) -> None:
    other = written.replace(b"a/", b"b/", 1)
    names = b"--- " + written + b"\n+++ " + other + b"\n"
    assert read(b"diff --git " + written + b" " + other + b"\n" + names + HUNK).path == path


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"", "patch-empty", 1),
        (b"only words\n", "patch-empty", 1),
        (b"@@ -1 +1 @@\n-a\n+b\n", "patch-header", 1),
        (b"1,2d0\n< a\n" + SOUND, "patch-header", 1),
        (b" Index: x\n" + SOUND, "patch-header", 1),
        (SOUND + b"more\n", "patch-garbage", 10),
        (SOUND + b"\n", "patch-garbage", 10),
        (SOUND + b"-- \n2.39.5\n", "patch-garbage", 10),
        (MAIL + SOUND + b"-- \n2.39.5\n\nmore\n", "patch-garbage", 19),
        (SOUND[:-1], "patch-truncated", 9),
        (SOUND[:-3], "patch-truncated", 9),
        (GIT + NAMES, "patch-header", 5),
        (GIT, "patch-header", 3),
        (GIT + b"--- a/f\n", "patch-header", 4),
        (GIT.replace(b"\n", b"\r\n") + NAMES + HUNK, "patch-carriage-return", 1),
        (GIT + NAMES.replace(b"\n", b"\r\n") + HUNK, "patch-carriage-return", 3),
        (SOUND.replace(b"@ def f():\n", b"@\r\n"), "patch-carriage-return", 5),
        (SOUND.replace(b"index 0123456", b"index 012"), "patch-header", 2),
        (GIT + GIT[19:] + NAMES + HUNK, "patch-header", 3),
        (GIT + b"new mode 100755\n" + NAMES + HUNK, "patch-header", 3),
        (b"diff --git a/f b/f\nold mode 100644\n" + NAMES + HUNK, "patch-header", 3),
        (
            b"diff --git a/f b/f\nnew file mode 100644\ndeleted file mode 100644\n" + NAMES + HUNK,
            "patch-header",
            4,
        ),
        (b"diff --git a/f b/f\nnew file mode 100644\n" + NAMES + HUNK, "patch-header", 4),
        (
            GIT.replace(b"diff", b"diff", 1) + b"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n",
            "patch-header",
            4,
        ),
        (b"--- a/f\t1970-01-01 00:00:00 +0000\n+++ b/f\n" + HUNK, "patch-header", 1),
        (b"--- a/f\tyesterday\n+++ b/f\n" + HUNK, "patch-header", 1),
        (SOUND + SOUND, "patch-file-repeated", 10),
        (
            NAMES + b"@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -2,2 +2,2 @@\n b\n-c\n+d\n",
            "patch-hunk-order",
            7,
        ),
        (
            NAMES + b"@@ -8,3 +8,3 @@\n a\n-b\n+c\n d\n@@ -2,3 +2,3 @@\n b\n-c\n+d\n e\n",
            "patch-hunk-order",
            8,
        ),
        (SOUND.replace(b"@@ -1,3", b"@@ -1,2"), "patch-count", 9),
        (SOUND.replace(b"+1,3", b"+1,4"), "patch-truncated", 10),
        (SOUND.replace(b"-1,3", b"-2,3"), "patch-count", 5),
        (SOUND.replace(b"-1,3 +1,3", b"-0,3 +0,3"), "patch-count", 5),
        (SOUND.replace(b"@@ -1,3", b"@@ -01,3"), "patch-header", 5),
        (SOUND + b" d\n", "patch-count", 10),
        (
            SOUND + b"\\ No newline at end of file\n\\ No newline at end of file\n",
            "patch-count",
            11,
        ),
        (ADD + b"@@ -1 +1 @@\n-a\n+b\n", "patch-count", 6),
        (SOUND.replace(b"\n a\n", b"\n\n"), "patch-line", 6),
        (SOUND.replace(b"\n a\n", b"\na\n"), "patch-line", 6),
        (SOUND.replace(b"+B\n", b"+B\n\\ No newline\n"), "patch-line", 9),
        (SOUND.replace(b" a\n", b" a\n\\ No newline at end of file\n"), "patch-line", 8),
        (NAMES + b"@@ -1,2 +1,2 @@\n a\n b\n", "patch-no-context", 3),
        (NAMES + b"@@ -5 +5 @@\n-a\n+b\n", "patch-no-context", 3),
        (NAMES + b"@@ -5,0 +6 @@\n+b\n", "patch-no-context", 3),
        (
            b"diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n",
            "patch-rename",
            1,
        ),
        (b"diff --git a/f b/f\ncopy from f\ncopy to f\n", "patch-rename", 2),
        (GIT + b"Binary files a/f and b/f differ\n", "patch-binary", 3),
        (GIT + b"GIT binary patch\nliteral 1\nIcmZPo000310RR91\n", "patch-binary", 3),
        (b"diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", "patch-mode-only", 4),
        (b"diff --git a/f b/f\nindex 0..1\n" + NAMES + HUNK, "patch-header", 2),
        (b"diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n", "patch-mode", 2),
        (b"diff --git a/f b/g\n" + NAMES + HUNK, "patch-path", 1),
        (b"diff --git f f\n--- f\n+++ f\n" + HUNK, "patch-path", 1),
        (b"--- a/f\n+++ b/g\n" + HUNK, "patch-path", 2),
        (b"--- /dev/null\n+++ /dev/null\n" + HUNK, "patch-path", 2),
        (b"--- a//f\n+++ b//f\n" + HUNK, "patch-path", 1),
        (b"--- a/../f\n+++ b/../f\n" + HUNK, "patch-path", 1),
        (b"--- a/./f\n+++ b/./f\n" + HUNK, "patch-path", 1),
        (b"--- a/x/\n+++ b/x/\n" + HUNK, "patch-path", 1),
        (b"--- /f\n+++ /f\n" + HUNK, "patch-path", 1),
        (b"--- a/.git/config\n+++ b/.git/config\n" + HUNK, "patch-path", 1),
        (b"--- a/x/.GIT/c\n+++ b/x/.GIT/c\n" + HUNK, "patch-path", 1),
        (b'--- "a/x\\\\y"\n+++ "b/x\\\\y"\n' + HUNK, "patch-path", 1),
        (b'--- "a/f"\n+++ "b/f"\n' + HUNK, "patch-path", 1),
        (b'--- "a/\\146"\n+++ "b/\\146"\n' + HUNK, "patch-path", 1),
        (b'--- "a/\\q"\n+++ "b/\\q"\n' + HUNK, "patch-path", 1),
        (b"--- a/C:/f\n+++ b/C:/f\n" + HUNK, "patch-path", 1),
        (b"--- a/f\0\n+++ b/f\0\n" + HUNK, "patch-path", 1),
    ],
)
def test_refused(data: bytes, code: str, line: int) -> None:
    found = refused(data)
    assert (found.code, found.where.path, found.where.line) == (code, "p", line), found
    assert found.expected
    assert found.got
    assert found.remedy


def codes(patch: bytes, data: bytes | None) -> list[Finding]:
    done = apply(read(patch), data, patch="p")
    assert not isinstance(done, Applied), done
    return list(done)


def test_a_hunk_that_stands_elsewhere_is_named_and_not_applied() -> None:
    (found,) = codes(SOUND, b"new\na\nb\nc\n")
    assert found.code == "patch-elsewhere"
    assert found.where.line == 1
    assert found.got == "its lines stand at line 2"


def test_a_patch_that_is_applied_already_is_called_that() -> None:
    (found,) = codes(SOUND, b"a\nB\nc\nd\n")
    assert found.code == "patch-applied"
    added = ADD + b"@@ -0,0 +1 @@\n+x\n"
    assert [f.code for f in codes(added, b"x\n")] == ["patch-applied"]
    assert [f.code for f in codes(added, b"y\n")] == ["patch-file-exists"]


def test_the_first_line_that_differs_is_named() -> None:
    (found,) = codes(SOUND, b"a\nb\nC\n")
    assert (found.code, found.where.line) == ("patch-mismatch", 3)
    assert (found.expected, found.got) == ("line c", "line C")
    assert found.cause == "the patch was made for git blob 0123456, and this file is another"
    (found,) = codes(NAMES + HUNK, b"a\r\nb\r\nc\r\n")
    assert found.cause == "line ends differ: the one has CRLF where the other has LF"
    (found,) = codes(NAMES + HUNK, b"a\nb")
    assert (found.where.line, found.expected, found.got) == (
        2,
        "line b",
        "line b without a newline",
    )
    (found,) = codes(NAMES + b"@@ -1,2 +1,2 @@\n a\n-b\n+B\n", b"a\nb\nc\n")
    assert (
        found.cause == "no line of the hunk stands behind its change, so the file has to end there"
    )
    assert (found.where.line, found.expected, found.got) == (3, "the end of the file", "more lines")


def test_every_hunk_that_does_not_stand_is_reported() -> None:
    patch = NAMES + b"@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -9,3 +9,3 @@\n c\n-d\n+D\n e\n"
    assert [f.code for f in codes(patch, b"x\n" * 20)] == ["patch-mismatch"] * 2
    assert [f.code for f in codes(patch, b"x\n")] == ["patch-mismatch"] * 2


def test_a_file_that_is_missing() -> None:
    (found,) = codes(SOUND, None)
    assert found.code == "patch-file-missing"
    assert found.where.path == "f"
    assert found.cause == "the patch was made for git blob 0123456"


def test_many_hunks_in_one_file() -> None:
    """With a pass over the file for each of them this would take minutes."""
    count = 40_000
    data = b"".join(b"%d %s\n" % (n, b"x" * 40) for n in range(3 * count))
    lines = data.splitlines(keepends=True)
    hunks = b"".join(
        b"@@ -%d,3 +%d,3 @@\n " % (at + 1, at + 1)
        + lines[at]
        + b"-"
        + lines[at + 1]
        + b"+y\n "
        + lines[at + 2]
        for at in range(0, 3 * count, 3)
    )
    patch = read_patch(NAMES + hunks, name="p")
    assert isinstance(patch, Patch)
    (change,) = patch.files
    done = apply(change, data, patch="p")
    assert isinstance(done, Applied)
    assert done.data is not None
    assert done.data.count(b"\ny\n") == count
    wrong = apply(change, b"0\n" + data, patch="p")
    assert len(wrong) == count
