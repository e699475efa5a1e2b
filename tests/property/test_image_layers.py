"""Random stacks of layers against a model that knows no tree: a set of paths and four rules.

The model works on whole paths, as the specification words its rules, and shares nothing with the
code under test. Links lie only where no name leads through them; what happens there is a table in
`tests/unit/sources/test_merged_root.py`.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from support.layers import file, folder, hard, hides, link, opaque, root, seen

#: What a layer does: a word, a path, and a content or target.
Change = tuple[str, str, str]
FOLDERS = ("a", "b", "a/c", "a/c/d")
NAMES = ("a", "b", "c", "d", "f")
PATHS = tuple(f"{above}/{name}".lstrip("/") for above in ("", *FOLDERS) for name in NAMES)
#: Names that no path leads through.
ENDS = ("l", "a/l", "a/c/l", "x/l")


def above(path: str) -> list[str]:
    """Return the folders above a path."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]


def consistent(changes: Sequence[Change]) -> list[Change]:
    """Leave out what one layer may not say: a name twice, or a name below a file."""
    kept: dict[tuple[bool, str], Change] = {}
    for change in changes:
        what, path, _ = change
        mark = what in ("hide", "opaque")
        taken = {p for (is_mark, p), c in kept.items() if not is_mark and c[0] != "folder"}
        used = {p for (is_mark, p) in kept if not is_mark}
        used |= {p for (_, q) in kept for p in above(q)} | {
            q for (_, q), c in kept.items() if c[0] == "opaque"
        }
        if taken & set(above(path)) or (what == "opaque" and path in taken):
            continue
        if not mark and path in used and not (what == "folder" and path not in taken):
            continue
        kept.setdefault((mark, f"{path}" if what != "opaque" else path), change)
    return list(kept.values())


def modelled(layers: Sequence[Sequence[Change]]) -> dict[str, str] | None:
    """Return path → content or target, folders left out; None for a hard link to nothing."""
    state: dict[str, str] = {}
    for changes in layers:
        hidden = {path for what, path, _ in changes if what == "hide"}
        emptied = {path for what, path, _ in changes if what == "opaque"}
        brought = {path for what, path, _ in changes if what not in ("hide", "opaque")}
        in_the_way = {path for what, path, _ in changes if what in ("file", "link", "hard")}
        folders = {path for what, path, _ in changes if what == "folder"}
        # Whatever has a member below it is a folder from now on.
        folders |= {p for path in brought for p in above(path)}
        below = {
            path: told
            for path, told in state.items()
            if not (hidden & {path, *above(path)})
            and not (emptied & {"", *above(path)})
            and not (in_the_way & {path, *above(path)})
            and path not in folders
        }
        # A hard link names what is there when its turn comes: replaced files go one by one.
        for what, path, told in changes:
            if what in ("file", "link"):
                below[path] = told if what == "file" else f"-> {told}"
            elif what == "hard":
                if told == path or told not in below:
                    return None
                below[path] = below[told]
        state = below
    return state


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("file"), st.sampled_from(PATHS), st.sampled_from(("1", "2", ""))),
        st.tuples(st.just("folder"), st.sampled_from(PATHS), st.just("")),
        st.tuples(st.just("link"), st.sampled_from(ENDS), st.sampled_from(("a", "../b"))),
        st.tuples(st.just("hide"), st.sampled_from((*PATHS, *ENDS)), st.just("")),
        st.tuples(st.just("opaque"), st.sampled_from(("", *FOLDERS)), st.just("")),
    ),
    max_size=7,
).map(consistent)
STACKS = st.lists(CHANGES, min_size=1, max_size=4)


def written(change: Change) -> bytes:
    what, path, told = change
    name, data = path.encode(), told.encode()
    return {
        "file": lambda: file(name, data),
        "folder": lambda: folder(name),
        "link": lambda: link(name, data),
        "hard": lambda: hard(name, data),
        "hide": lambda: hides(name),
        "opaque": lambda: opaque(name),
    }[what]()


def merged(layers: Sequence[Sequence[Change]]) -> dict[str, str]:
    with TemporaryDirectory() as place:
        tree = root(Path(place), *([written(change) for change in layer] for layer in layers))
        assert tree.complete, tree.findings
        return {path.decode(): data.decode() for path, data in seen(tree).items()}


@settings(max_examples=300, deadline=None)
@given(STACKS)
def test_the_root_is_what_the_model_says(layers: list[list[Change]]) -> None:
    assert merged(layers) == modelled(layers)


@settings(max_examples=100, deadline=None)
@given(STACKS, st.randoms(use_true_random=False))
def test_the_place_of_markers_and_files_in_a_layer_is_no_matter(
    layers: list[list[Change]], chance: object
) -> None:
    shuffled = [sorted(layer, key=lambda _: chance.random()) for layer in layers]  # type: ignore[attr-defined]
    assert merged(shuffled) == merged(layers)


@settings(max_examples=100, deadline=None)
@given(STACKS, st.data())
def test_a_hard_link_carries_the_bytes_of_its_moment(
    layers: list[list[Change]], data: st.DataObject
) -> None:
    before = modelled(layers)
    assert before is not None
    if before:
        target = data.draw(st.sampled_from(sorted(before)))
        last: list[Change] = [("hard", "linked", target)]
        later: list[Change] = [("hide", target, "")]
        expected = modelled([*layers, last, later])
        assert merged([*layers, last, later]) == expected
        assert expected is not None
        assert expected["linked"] == before[target]


def test_the_model_knows_the_rules_by_heart() -> None:
    base: list[Change] = [("file", "a/b", "1"), ("file", "a/c/d", "2")]
    assert modelled([base, [("hide", "a/b", "")]]) == {"a/c/d": "2"}
    assert modelled([base, [("opaque", "a", ""), ("file", "a/f", "3")]]) == {"a/f": "3"}
    assert modelled([base, [("file", "a", "4")]]) == {"a": "4"}
    assert modelled([base, [("folder", "a/b", "")]]) == {"a/c/d": "2"}
    assert modelled([base, [("hide", "a/b", ""), ("hard", "h", "a/b")]]) is None
