"""The facet merge: what is said where no merge could be computed, or where none is needed."""

from verifier.checks.head.objects import Pair, merge
from verifier.core.coverage import State
from verifier.sources.git.merge import Conflict, NotMerged
from verifier.sources.git.objects import Commit


def commit(digit: str) -> Commit:
    return Commit(
        oid=digit * 40,
        tree=digit * 40,
        parents=(),
        author=b"",
        committer=b"",
        headers=(),
        message=b"",
        raw=b"",
    )


PARTED = Pair(base=commit("1"), head=commit("2"), relation=("3" * 40,))


def test_a_merge_that_was_not_computed_is_never_held() -> None:
    part = merge(PARTED, NotMerged(words="this git is older than 2.38"), [], None)
    assert part.covered.state is State.NOT_HELD
    assert [found.code for found in part.findings] == ["head-merge-unknown"]
    assert part.findings[0].got == "this git is older than 2.38"
    assert merge(PARTED, None, [], None).covered.state is State.NOT_CHECKED


def test_conflicts_are_named_as_far_as_a_reader_looks() -> None:
    paths = tuple(b"file-%d" % number for number in range(9))
    (found,) = merge(PARTED, Conflict(paths=paths), [], None).findings
    assert found.code == "head-merge-conflict"
    assert found.got == "conflicts in file-0, file-1, file-2, file-3, file-4 and 4 more"


def test_a_head_that_contains_its_base_is_what_lands() -> None:
    pair = Pair(base=commit("1"), head=commit("2"), relation=("1" * 40,))
    part = merge(pair, None, [], "9" * 40)
    assert part.covered.state is State.HELD
    assert part.not_proven == (f"the forge's merge, whose tree is {'9' * 40}",)
