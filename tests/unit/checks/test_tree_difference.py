"""Two trees against each other: every way to differ, and what did it."""

import hashlib

import pytest

from verifier.checks.tree_difference import compare, why_different
from verifier.core.coverage import State
from verifier.sources.tree import TreeEntry, Type

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"1" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(
    ("one", "other", "cause"),
    [
        (b"a\nb\n", b"a\r\nb\r\n", "CRLF in the second"),
        (b"a\r\nb\r\n", b"a\nb\n", "CRLF in the first"),
        (b"a\n", b"\xef\xbb\xbfa\n", "byte order mark was put in front in the second"),
        (b"a\n", b"a", "one more final newline in the first"),
        (b"a\nb\n", b"a  \nb\t\n", "white space at line ends in the second"),
        (b"$Id$\n", b"$Id: 12ab $\n", "$Id$ was expanded (ident) in the second"),
        (b"v $Format:%H$\n", b"v 12ab\n", "export-subst) in the second"),
        (b"real content\n", POINTER, "the second is a pointer of Git LFS"),
    ],
)
def test_known_changes_are_named(one: bytes, other: bytes, cause: str) -> None:
    found = why_different(one, other)
    assert found is not None
    assert cause in found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"a\n", b"b\n"),
        (b"a\nb\n", b"a\r\nc\r\n"),
        (b"$Id$ a\n", b"$Id: 1 $ b\n"),
        (b"v $Format:%H$\n", b"w 12ab\n"),
        (b"a", None),
        (POINTER, POINTER.replace(b"12345", b"12346")),
    ],
)
def test_other_changes_have_no_known_cause(one: bytes, other: bytes | None) -> None:
    assert why_different(one, other) is None


def entry(path: str, data: bytes = b"", mode: int | None = 0o100644) -> TreeEntry:
    digest = hashlib.sha256(data).hexdigest()
    return TreeEntry(path.encode(), Type.FILE, mode, len(data), digest)


LINK = TreeEntry(b"a", Type.LINK, 0o120000, 1, hashlib.sha256(b"x").hexdigest(), b"x")


@pytest.mark.parametrize(
    ("left", "right", "codes", "content", "modes"),
    [
        ([entry("a")], [entry("a")], set(), State.HELD, State.HELD),
        ([entry("a")], [], {"diff-missing"}, State.NOT_HELD, State.HELD),
        ([], [entry("a")], {"diff-added"}, State.NOT_HELD, State.HELD),
        ([entry("a", b"1")], [entry("a", b"2")], {"diff-content"}, State.NOT_HELD, State.HELD),
        ([entry("a", b"x")], [LINK], {"diff-type"}, State.NOT_HELD, State.HELD),
        ([LINK], [LINK._replace(target=b"y")], {"diff-content"}, State.NOT_HELD, State.HELD),
        (
            [entry("a")],
            [entry("a", mode=0o100755)],
            {"diff-mode"},
            State.HELD,
            State.NOT_HELD,
        ),
        ([entry("a")], [entry("a", mode=None)], {"diff-mode-unknown"}, State.HELD, State.NOT_HELD),
    ],
)
def test_differences(
    left: list[TreeEntry],
    right: list[TreeEntry],
    codes: set[str],
    content: State,
    modes: State,
) -> None:
    outcome = compare(left, right, lambda _: (None, None))
    assert {finding.code for finding in outcome.findings} == codes
    states = {covered.facet: covered.state for covered in outcome.coverage}
    assert states == {"content": content, "modes": modes}
