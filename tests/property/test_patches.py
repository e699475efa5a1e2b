"""Patches against the programs that write and apply them: ours may be stricter, never laxer."""

import difflib
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support import git_repos

from verifier.checks.composition.apply import Applied, apply
from verifier.checks.composition.patch import Patch, read_patch
from verifier.core.finding import Finding

LINES: Final = st.sampled_from(
    [b"a", b"b", b"b", b"", b"  x", b"-", b"--- a/f", b"+++ b/f", b"@@ -1 +1 @@", b"\\ No", b"x\r"]
)
SEEN = st.lists(LINES, max_size=24)
ENDING = st.sampled_from([b"\n", b"\n", b""])


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    lines = draw(SEEN)
    return b"\n".join(lines) + (draw(ENDING) if lines else b"")


@st.composite
def two_contents(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a content, and what a few edits make of it."""
    lines = draw(SEEN)
    other = list(lines)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(other)))
        other[at : at + draw(st.integers(0, 2))] = draw(st.lists(LINES, max_size=2))
    return tuple(  # type: ignore[return-value]
        b"\n".join(side) + (draw(ENDING) if side else b"") for side in (lines, other)
    )


def run(
    arguments: list[str], *, cwd: Path, data: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        arguments, cwd=cwd, env=git_repos.ENVIRONMENT, input=data, capture_output=True, check=False
    )


def git_diff(before: bytes | None, after: bytes | None, *options: str) -> bytes:
    """Let git write the difference of one file, absent where a side is None."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for side, data in (("a", before), ("b", after)):
            (folder / side).mkdir()
            if data is not None:
                (folder / side / "f").write_bytes(data)
        sides = ["a/f" if before is not None else "/dev/null"]
        sides.append("b/f" if after is not None else "/dev/null")
        command = ["git", "diff", "--no-index", "--no-renames", "--no-color", "--text"]
        done = run([*command, "--no-prefix", *options, *sides], cwd=folder)
        assert done.returncode in (0, 1), done
        # Outside a repository git names a file that comes or goes by one of its sides alone.
        _, line, rest = done.stdout.partition(b"\n")
        return b"diff --git a/f b/f" + line + rest


def difflib_diff(before: bytes, after: bytes) -> bytes:
    """Let difflib write the difference, and note missing newlines as diff does."""
    sides = [data.split(b"\n") for data in (before, after)]
    texts = [
        [line + b"\n" for line in side[:-1]] + [line for line in side[-1:] if line]
        for side in sides
    ]
    rows = difflib.diff_bytes(difflib.unified_diff, texts[0], texts[1], b"a/f", b"b/f")
    return b"".join(
        row if row.endswith(b"\n") else row + b"\n\\ No newline at end of file\n" for row in rows
    )


def applied(patch: bytes, data: bytes | None) -> Applied | None:
    """Return what we make of the one file, None where anything is refused."""
    read = read_patch(patch, name="p")
    if isinstance(read, Finding) or [change.path for change in read.files] != [b"f"]:
        return None
    done = apply(read.files[0], data, patch="p")
    return done if isinstance(done, Applied) else None


def git_applied(patch: bytes, data: bytes | None) -> Applied | None:
    """Return what git makes of it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        if data is not None:
            (folder / "f").write_bytes(data)
        checked = run(["git", "apply", "--check", "-"], cwd=folder, data=patch)
        if checked.returncode:
            return None
        assert run(["git", "apply", "-"], cwd=folder, data=patch).returncode == 0
        assert {path.name for path in folder.iterdir()} <= {"f"}
        return Applied((folder / "f").read_bytes() if (folder / "f").exists() else None)


@given(two_contents())
def test_what_difflib_writes_leads_from_one_to_the_other(sides: tuple[bytes, bytes]) -> None:
    before, after = sides
    assume(before != after)
    assert applied(difflib_diff(before, after), before) == Applied(after)


@given(two_contents(), st.integers(1, 8))
def test_what_git_writes_leads_from_one_to_the_other(
    sides: tuple[bytes, bytes], context: int
) -> None:
    before, after = sides
    assume(before != after)
    assert applied(git_diff(before, after, f"-U{context}"), before) == Applied(after)


@given(contents())
def test_files_come_and_go_as_git_writes_it(data: bytes) -> None:
    assert applied(git_diff(None, data), None) == Applied(data)
    assert applied(git_diff(data, None), data) == Applied(None)


@given(two_contents())
def test_applied_twice_is_refused(sides: tuple[bytes, bytes]) -> None:
    before, after = sides
    assume(before != after)
    patch = git_diff(before, after)
    assert git_applied(patch, after) is not None or applied(patch, after) is None


@st.composite
def mutations(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a content and a patch for it that was changed afterwards, or another content."""
    before, after = draw(two_contents())
    assume(before != after)
    make = draw(st.sampled_from([git_diff, difflib_diff]))
    patch = make(before, after)
    lines = patch.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(["drop", "twice", "swap", "byte", "number", "kind", "text"]))
        line = lines[at]
        if how == "drop":
            del lines[at]
        elif how == "twice":
            lines.insert(at, line)
        elif how == "swap" and at:
            lines[at - 1 : at + 1] = reversed(lines[at - 1 : at + 1])
        elif how == "byte" and line:
            where = draw(st.integers(0, len(line) - 1))
            new = draw(st.sampled_from(b' +-@0123456789abf\\\r\t/"'))
            lines[at] = line[:where] + bytes([new]) + line[where + 1 :]
        elif how == "number" and line.startswith(b"@@"):
            lines[at] = line.replace(b"1", b"2", 1)
        elif how == "kind" and line:
            lines[at] = draw(st.sampled_from([b" ", b"+", b"-", b""])) + line[1:]
        else:
            lines[at] = draw(st.sampled_from([b"new file mode 100644", b"--- a/f", b" ", b"-- "]))
        if not lines:
            break
    data = draw(st.sampled_from([before, before, before, after, b"a\n" + before, before[:-1]]))
    return b"\n".join(lines), data


@given(mutations())
def test_what_we_accept_git_accepts_with_the_same_bytes(drawn: tuple[bytes, bytes]) -> None:
    patch, data = drawn
    for there in (data, None):
        ours = applied(patch, there)
        if ours is not None:
            assert git_applied(patch, there) == ours


@pytest.mark.skipif(shutil.which("patch") is None, reason="GNU patch is not installed")
@given(mutations())
def test_what_we_accept_gnu_patch_accepts_with_the_same_bytes(drawn: tuple[bytes, bytes]) -> None:
    patch, data = drawn
    ours = applied(patch, data)
    if ours is None:
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f").write_bytes(data)
        options = ["--fuzz=0", "-p1", "--batch", "--forward", "--binary", "-E"]
        done = run(["patch", *options], cwd=folder, data=patch)
        assert done.returncode == 0, (patch, done)
        assert b"offset" not in done.stdout
        left = (folder / "f").read_bytes() if (folder / "f").exists() else None
        assert (left or None) == (ours.data or None)


def test_the_types_are_those_of_the_reader() -> None:
    assert isinstance(read_patch(difflib_diff(b"a\n", b"b\n"), name="p"), Patch)
