"""Inserted lines are found whatever was inserted where, in as few ranges as there can be."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from verifier.checks.helper.pinning.insertions import Otherwise, inserted
from verifier.checks.helper.regions import Remainder

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"    a\n"]), max_size=12)


@given(LINES, st.lists(st.tuples(st.integers(0, 12), LINES), max_size=4))
def test_taking_them_out_gives_what_was_there(
    old: Sequence[bytes], added: Sequence[tuple[int, Sequence[bytes]]]
) -> None:
    new = list(old)
    for at, lines in added:
        place = min(at, len(new))
        new[place:place] = lines
    pristine, patched = b"".join(old), b"".join(new)
    found = inserted(pristine, patched)
    assert not isinstance(found, Otherwise)
    assert Remainder(patched, found).data == pristine
    assert len(found) <= sum(bool(lines) for _, lines in added)
    for start, end in found:
        assert start < end
        assert start == 0 or patched[start - 1 : start] == b"\n"
        assert patched[end - 1 : end] == b"\n"


@given(LINES, LINES)
def test_what_is_no_insertion_says_where(old: Sequence[bytes], new: Sequence[bytes]) -> None:
    pristine, patched = b"".join(old), b"".join(new)
    found = inserted(pristine, patched)
    left = iter(new)
    contained = all(any(line == other for other in left) for line in old)
    assert isinstance(found, Otherwise) is not contained
    if isinstance(found, Otherwise):
        assert 0 <= found.pristine[0] < found.pristine[1] <= len(pristine)
        assert 0 <= found.patched[0] <= found.patched[1] <= len(patched)
        changed = pristine[slice(*found.pristine)], patched[slice(*found.patched)]
        assert changed[0] != changed[1]
