"""Named source digests, against values that were made with shell tools and written down here."""

import hashlib
from typing import Final

import pytest

from verifier.sources.git.tree_id import blob_id
from verifier.sources.source_digests import Unusable, below, source_digest
from verifier.sources.tree import LINK_MODE, TreeEntry, Type

# Made in bash, in a folder `root` with exactly these files:
#   printf 'one\r\ntwo\r' > a.py;  printf '\177ELF\r\n\000' > sub/b.bin;  printf 'z\n' > sub/é
#   printf 'x' > build/hidden;  printf 'y' > sub/c.pyc
FILES: Final = {
    "a.py": b"one\r\ntwo\r",
    "build/hidden": b"x",
    "sub/b.bin": b"\177ELF\r\n\0",
    "sub/c.pyc": b"y",
    "sub/é": b"z\n",
}
# le() { printf "\\$(printf %03o $(($1 % 256)))\\$(printf %03o $(($1 / 256)))\\000\\000"; }
# raw() { perl -0pe 's/\r\n/\n/g' "$1" | sha256sum | cut -c1-64 | sed 's/../\\x&/g'; }
# { printf 'sparkcache-source-tree/v1\000'
#   for p in a.py sub/b.bin sub/é; do
#     le $(printf %s "$p" | wc -c); printf %s "$p"; printf "$(raw "root/$p")"
#   done; } | sha256sum
SPARKCACHE: Final = "53d2cd7545eda0bd884286320d442381e8d935c9de561197525bd3508c9a778f"
# f() { printf '%s:%s' "$(printf %s "$1" | wc -c)" "$1"; }
# cd root; { printf 'pinproof-tree/v1\n'
#   for p in a.py build/hidden sub/b.bin sub/c.pyc sub/é; do
#     f 100644; f "$p"; f "$(wc -c < "$p")"; f "$(sha256sum < "$p" | cut -c1-64)"
#   done; } | sha256sum
PINPROOF: Final = "dfae5191e7637d843412dbb6c21ddfcf13c15d9c4f9a527863bd2eac6bb6b2fa"
# cd root; git init -q .; git add -A -f; git write-tree
GIT: Final = "378c473fe815b23ff96b5dbd9c358089603870ba"


def entry(path: str, data: bytes) -> TreeEntry:
    digest = hashlib.sha256(data).hexdigest()
    return TreeEntry(path.encode(), Type.FILE, 0o100644, len(data), digest, None, blob_id(data))


def link(path: str, target: bytes) -> TreeEntry:
    digest = hashlib.sha256(target).hexdigest()
    return TreeEntry(path.encode(), Type.LINK, LINK_MODE, len(target), digest, target)


def digest(algorithm: str, files: dict[str, bytes], *links: TreeEntry) -> str:
    entries = [*(entry(path, data) for path, data in files.items()), *links]
    return source_digest(algorithm, entries, lambda e: files.get(e.path.decode()))


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [("sparkcache-source-tree/v1", SPARKCACHE), ("pinproof-tree/v1", PINPROOF), ("git-tree", GIT)],
)
def test_values_made_by_other_tools(algorithm: str, expected: str) -> None:
    assert digest(algorithm, FILES) == expected


def test_the_blind_spots_are_where_they_are_said_to_be() -> None:
    for changed in (
        {**FILES, "build/hidden": b"other"},
        {**FILES, "sub/build/deep/x": b"other"},
        {**FILES, "sub/__pycache__/x": b"other", ".pytest_cache/y": b""},
        {**FILES, "sub/c.pyc": b"other", "d.pyo": b""},
        {**FILES, "a.py": b"one\ntwo\r"},
    ):
        assert digest("sparkcache-source-tree/v1", changed) == SPARKCACHE
        assert digest("pinproof-tree/v1", changed) != PINPROOF
    linked = digest("sparkcache-source-tree/v1", FILES, link("there", b"sub"))
    assert linked == SPARKCACHE


@pytest.mark.parametrize(
    "changed",
    [
        {**FILES, "a.py": b"one\r\ntwo\n"},
        {**FILES, "new": b""},
        {**FILES, "build-cuda/x": b""},
        {**FILES, ".pyc": b""},
        {path: data for path, data in FILES.items() if path != "a.py"},
    ],
)
def test_what_it_sees(changed: dict[str, bytes]) -> None:
    assert digest("sparkcache-source-tree/v1", changed) != SPARKCACHE


@pytest.mark.parametrize("target", [b"a.py", b"nowhere", b"/etc", b"../outside", b""])
def test_links_that_the_algorithm_refuses(target: bytes) -> None:
    with pytest.raises(Unusable, match="link"):
        digest("sparkcache-source-tree/v1", FILES, link("there", target))


def test_nothing_has_no_digest() -> None:
    for algorithm in ("git-tree", "pinproof-tree/v1", "sparkcache-source-tree/v1"):
        with pytest.raises(Unusable):
            digest(algorithm, {})
    with pytest.raises(Unusable, match="no file"):
        digest("sparkcache-source-tree/v1", {"build/x": b""})
    with pytest.raises(KeyError):
        digest("another/v1", FILES)


def test_bytes_and_names_that_cannot_be_hashed() -> None:
    with pytest.raises(Unusable, match="not to be had"):
        source_digest("sparkcache-source-tree/v1", [entry("a", b"a")], lambda _: None)
    odd = entry("a", b"a")._replace(path=b"\xff")
    with pytest.raises(Unusable, match="UTF-8"):
        source_digest("sparkcache-source-tree/v1", [odd], lambda _: b"a")
    unread = entry("a", b"a")._replace(sha256=None, blob=None)
    with pytest.raises(Unusable, match="read"):
        source_digest("pinproof-tree/v1", [unread], lambda _: None)
    with pytest.raises(Unusable, match="git id"):
        source_digest("git-tree", [unread], lambda _: None)


def test_below_a_folder() -> None:
    entries = [entry(path, data) for path, data in FILES.items()]
    assert [e.path for e in below(entries, "sub/")] == [b"b.bin", b"c.pyc", "é".encode()]
    assert below(entries, "") == below(entries, "./") == entries
