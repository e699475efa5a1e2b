"""Where two trees differ: as reading both whole and comparing path by path would say."""

import tempfile
from pathlib import Path
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st
from support import git_repos

from verifier.sources.git.objects import FOLDER_MODE, Item
from verifier.sources.git.reader import Reader
from verifier.sources.git.repository import Repository
from verifier.sources.git.trees import Change, Trees

_NAMES: Final = st.sampled_from([b"a", b"b", b"a.b", b"a-b", b"a0", b"A", b"\xff", b"x\ny"])
_LEAVES: Final = st.tuples(
    st.sampled_from([b"100644", b"100755", b"120000"]), st.sampled_from([b"", b"1", b"2"])
) | st.tuples(st.just(b"160000"), st.sampled_from([b"1" * 40, b"2" * 40]))
_TREES: Final = st.recursive(
    _LEAVES, lambda below: st.dictionaries(_NAMES, below, min_size=1, max_size=4), max_leaves=12
).filter(lambda found: isinstance(found, dict))


def flat(trees: Trees, reader: Reader, oid: str, below: bytes = b"") -> dict[bytes, Item]:
    """List every path that is no folder, with what lies there."""
    found: dict[bytes, Item] = {}
    trees.read(reader, [oid])
    for item in trees.items(oid):
        path = below + item.name
        if item.mode == FOLDER_MODE:
            found |= flat(trees, reader, item.oid, path + b"/")
        else:
            found[path] = item
    return found


@settings(max_examples=12)
@given(pairs=st.lists(st.tuples(_TREES, _TREES), min_size=6, max_size=6))
def test_as_both_read_whole(pairs: list[tuple[git_repos.Tree, git_repos.Tree]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = git_repos.make(Path(folder) / "repo")
        roots = [tuple(map(repo.tree, pair)) for pair in pairs]
        with Repository(repo.path, hex_length=40) as opened:
            for one, other in roots:
                whole = [flat(Trees(), opened.reader, oid) for oid in (one, other)]
                expected = [
                    Change(path, whole[0].get(path), whole[1].get(path))
                    for path in sorted(whole[0].keys() | whole[1].keys())
                    if whole[0].get(path) != whole[1].get(path)
                ]
                trees = Trees()
                assert trees.changes(opened.reader, one, other) == expected
                turned = [Change(path, after, before) for path, before, after in expected]
                assert trees.changes(opened.reader, other, one) == turned
                assert trees.changes(opened.reader, one, one) == []
