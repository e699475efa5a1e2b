"""The merged root: what layers make together, and what is reported where runtimes differ."""

from pathlib import Path

import pytest
from support.archives import member, pax
from support.layers import codes, file, folder, hard, hides, link, opaque, root, seen

from verifier.core.limits import TREE_DEPTH
from verifier.sources.image.layer import Blob, read_layer
from verifier.sources.image.root import MergedRoot
from verifier.sources.tree import FILE_MODE, PROGRAM_MODE, TreeEntry, Type

A, B, C = file(b"d/a", b"a"), file(b"d/b", b"b"), file(b"d/sub/c", b"c")

#: What layers make together, and what is reported.
MERGED: dict[str, tuple[list[list[bytes]], dict[bytes, bytes], list[str]]] = {
    "layers add": ([[A], [B]], {b"d/a": b"a", b"d/b": b"b"}, []),
    "a file is replaced": ([[A, B], [file(b"d/a", b"2")]], {b"d/a": b"2", b"d/b": b"b"}, []),
    "a whiteout": ([[A, B], [hides(b"d/a")]], {b"d/b": b"b"}, []),
    "a whiteout of a folder": ([[A, B, C], [hides(b"d")]], {}, []),
    "a whiteout of nothing": ([[A], [hides(b"x/y"), hides(b"d/a/x")]], {b"d/a": b"a"}, []),
    "a whiteout and a new file": ([[A], [hides(b"d/a"), file(b"d/a", b"2")]], {b"d/a": b"2"}, []),
    "a whiteout behind its file": (
        [[A], [file(b"d/a", b"2"), hides(b"d/a")]],
        {b"d/a": b"2"},
        ["layer-whiteout-late"],
    ),
    "a whiteout of a parent in the same layer": (
        [[A, C], [B, hides(b"d")]],
        {b"d/b": b"b"},
        ["layer-whiteout-late"],
    ),
    "an opaque marker": ([[A, C], [opaque(b"d"), B]], {b"d/b": b"b"}, []),
    "an opaque marker behind files": ([[A, C], [B, opaque(b"d")]], {b"d/b": b"b"}, []),
    "an opaque marker of the root": ([[A, C], [opaque(b""), B]], {b"d/b": b"b"}, []),
    "an opaque marker below": (
        [[A, C], [opaque(b"d/sub"), file(b"d/sub/e", b"e")]],
        {b"d/a": b"a", b"d/sub/e": b"e"},
        [],
    ),
    "hidden and brought again above": ([[A], [hides(b"d/a")], [A]], {b"d/a": b"a"}, []),
    "a file replaces a folder": ([[A, C], [file(b"d", b"f")]], {b"d": b"f"}, []),
    "a folder replaces a file": ([[file(b"d", b"f")], [folder(b"d")]], {}, []),
    "a file's place becomes a folder": (
        [[file(b"d", b"f")], [A]],
        {b"d/a": b"a"},
        ["layer-file-on-the-way"],
    ),
    "a file's place becomes a folder that is stated": (
        [[file(b"d", b"f")], [folder(b"d"), A]],
        {b"d/a": b"a"},
        [],
    ),
    "a file's place becomes a folder once it is hidden": (
        [[file(b"d", b"f")], [hides(b"d"), A]],
        {b"d/a": b"a"},
        [],
    ),
    "a folder that replaces a link behind what lies below it": (
        [[link(b"l", b"d"), A, B], [file(b"l/a", b"2"), folder(b"l"), hides(b"d/b")]],
        {b"l/a": b"2", b"d/a": b"a"},
        ["layer-file-on-the-way"],
    ),
    "a whiteout behind a link, of what the layer brought": (
        [[link(b"l", b"d"), B], [A, hides(b"l/a")]],
        {b"l": b"-> d", b"d/a": b"a", b"d/b": b"b"},
        ["layer-link-redirects", "layer-whiteout-late"],
    ),
    "a folder replaces a link": ([[link(b"d", b"e")], [folder(b"d"), A]], {b"d/a": b"a"}, []),
    "a folder stays one": ([[A], [folder(b"d", 0o700)]], {b"d/a": b"a"}, []),
    "a link replaces a folder": ([[A], [link(b"d", b"e")]], {b"d": b"-> e"}, []),
    "a hard link in one layer": ([[A, hard(b"h", b"d/a")]], {b"d/a": b"a", b"h": b"a"}, []),
    "a hard link to a lower layer": (
        [[A], [hard(b"h", b"d/a")], [file(b"d/a", b"2")]],
        {b"d/a": b"2", b"h": b"a"},
        [],
    ),
    "a hard link to a link": (
        [[link(b"l", b"d/a"), hard(b"h", b"l")]],
        {b"l": b"-> d/a", b"h": b"-> d/a"},
        [],
    ),
    "a hard link to a hidden file": (
        [[A], [hides(b"d/a"), hard(b"h", b"d/a")]],
        {b"h": b"special"},
        ["layer-hardlink-missing"],
    ),
    "a hard link to a hidden file, the whiteout last": (
        [[A], [hard(b"h", b"d/a"), hides(b"d/a")]],
        {b"h": b"special"},
        ["layer-hardlink-missing"],
    ),
    "a hard link to itself": (
        [[A], [hard(b"d/a", b"d/a")]],
        {b"d/a": b"special"},
        ["layer-hardlink-missing"],
    ),
    "a hard link to a folder": (
        [[A], [hard(b"h", b"d")]],
        {b"d/a": b"a", b"h": b"special"},
        ["layer-hardlink-missing"],
    ),
    "a hard link of another mode": (
        [[A, hard(b"h", b"d/a", 0o755)]],
        {b"d/a": b"a", b"h": b"a"},
        ["tree-hardlink-mode"],
    ),
    "a device hides a file": (
        [[A], [member(b"d/a", kind=b"3")]],
        {b"d/a": b"special"},
        ["tree-special"],
    ),
    "names that fold together": (
        [[A], [file(b"d/A", b"2")]],
        {b"d/a": b"a", b"d/A": b"2"},
        ["tree-name-case"],
    ),
    # Directory links of lower layers.
    "led through a link": (
        [[link(b"l", b"d"), A], [file(b"l/b", b"b")]],
        {b"l": b"-> d", b"d/a": b"a", b"d/b": b"b"},
        ["layer-link-redirects"],
    ),
    "led out of the root and clamped": (
        [[link(b"l", b"../../../d")], [file(b"l/b", b"b")]],
        {b"l": b"-> ../../../d", b"d/b": b"b"},
        ["layer-link-redirects"],
    ),
    "an absolute link is of the root": (
        [[link(b"x/l", b"/d/./sub/..")], [file(b"x/l/b", b"b")]],
        {b"x/l": b"-> /d/./sub/..", b"d/b": b"b"},
        ["layer-link-redirects"],
    ),
    "links through links": (
        [[link(b"l", b"m/n"), link(b"m", b"d")], [file(b"l/b", b"b")]],
        {b"l": b"-> m/n", b"m": b"-> d", b"d/n/b": b"b"},
        ["layer-link-redirects"],
    ),
    "a whiteout behind a link": (
        [[link(b"l", b"d"), A, B], [hides(b"l/a")]],
        {b"l": b"-> d", b"d/b": b"b"},
        ["layer-link-redirects"],
    ),
    "a whiteout below a folder that replaces the link": (
        [[link(b"l", b"d"), A], [folder(b"l"), hides(b"l/a")]],
        {b"d/a": b"a"},
        [],
    ),
    "a whiteout below a link that is hidden too": (
        [[link(b"l", b"d"), A], [hides(b"l/a"), hides(b"l")]],
        {b"d/a": b"a"},
        [],
    ),
    "a hard link through a link": (
        [[link(b"l", b"d"), A], [hard(b"h", b"l/a")]],
        {b"l": b"-> d", b"d/a": b"a", b"h": b"a"},
        ["layer-link-redirects"],
    ),
    "a link to itself": (
        [[link(b"l", b"l")], [file(b"l/b", b"b")]],
        {b"l": b"-> l"},
        ["layer-link-lost"],
    ),
    "two members of one layer in one place": (
        [[link(b"l", b"d")], [file(b"d/a", b"1"), file(b"l/a", b"2")]],
        {b"l": b"-> d", b"d/a": b"2"},
        ["layer-link-redirects", "tree-name-repeated"],
    ),
}
BROKEN = {"layer-hardlink-missing", "layer-link-lost", "tree-name-repeated"}


@pytest.mark.parametrize("what", MERGED)
def test_layers_make_one_root(what: str, tmp_path: Path) -> None:
    layers, expected, findings = MERGED[what]
    tree = root(tmp_path, *layers)
    assert seen(tree) == expected
    assert codes(tree.findings) == findings
    assert tree.complete == BROKEN.isdisjoint(findings)
    assert [e.path for e in tree.entries()] == sorted(expected)
    assert all((f.cause or "").startswith("in layer ") for f in tree.findings) or findings == [
        "tree-name-case"
    ]


def test_it_is_known_which_layer_brought_what(tmp_path: Path) -> None:
    tree = root(tmp_path, [A, B], [hides(b"d/b"), hard(b"h", b"d/a")], [C])
    blobs = [read_layer(Blob(path=tmp_path / f"layer{n}", name="x")).blob.sha256 for n in range(3)]
    assert {e.path: str(tree.origin(e.path)) for e in tree.entries()} == {
        b"d/a": f"layer 1 of 3, layer:sha256:{blobs[0]}",
        b"h": f"layer 2 of 3, layer:sha256:{blobs[1]}",
        b"d/sub/c": f"layer 3 of 3, layer:sha256:{blobs[2]}",
    }
    assert tree.origin(b"d/b") is None
    assert tree.origin(b"d") is None


def test_entries_are_those_of_any_tree(tmp_path: Path) -> None:
    tree = root(tmp_path, [file(b"run", b"#!", 0o4755), file(b"read", b"r", 0o600)])
    assert [(e.path, e.mode) for e in tree.entries()] == [
        (b"read", FILE_MODE),
        (b"run", PROGRAM_MODE),
    ]
    special = root(tmp_path, [member(b"p", kind=b"6")]).entries()
    assert special == [TreeEntry(b"p", Type.SPECIAL, None, None, None)]
    assert tree.read(b"nothing", limit=1) is None
    assert tree.read(b"run/x", limit=1) is None
    assert tree.digests == ()


def test_paths_are_resolved_as_a_runtime_does_and_never_out_of_the_root(tmp_path: Path) -> None:
    tree = root(
        tmp_path,
        [link(b"l", b"/../d"), link(b"final", b"d/a"), A, C, link(b"o", b"o"), link(b"m", b"e")],
        [file(b"m/x", b"x")],
    )
    found = tree.resolve(b"l/sub/c")
    assert found is not None
    assert (found.path, found.links, found.moved) == (b"d/sub/c", (b"l",), False)
    assert tree.resolve(b"o/x") is None
    assert tree.resolve(b"d/a/x") is None
    final = tree.resolve(b"final")
    assert final is not None
    assert (final.path, final.links) == (b"final", ())
    folder_ = tree.resolve_folder(b"l")
    assert folder_ is not None
    assert folder_.path == b"d"
    assert tree.resolve(b"d/a") == (b"d/a", (), False)
    for path in (b"m/x", b"e/x", b"m/other"):
        led = tree.resolve(path)
        assert led is not None
        assert led.moved, path
    assert tree.names(b"l") == [b"a", b"sub"]
    assert tree.names(b"nothing") == tree.names(b"d/a") == []
    assert tree.not_proven == (
        "where container runtimes put members behind links of lower layers (m)",
    )


@pytest.mark.parametrize("segments", [TREE_DEPTH, TREE_DEPTH + 1, 2000])
def test_links_cannot_make_a_folder_too_deep(segments: int, tmp_path: Path) -> None:
    deep = pax((b"linkpath", b"/".join([b"y"] * segments))) + link(b"l", b"y")
    tree = root(tmp_path, [deep], [file(b"l/f", b"")], [hides(b"l")], [hides(b"y")])
    assert ("layer-link-lost" in codes(tree.findings)) == (segments > TREE_DEPTH)
    assert tree.complete == (segments <= TREE_DEPTH)
    assert tree.entries() == []


def test_a_layer_that_was_refused_makes_the_root_incomplete(tmp_path: Path) -> None:
    tree = root(tmp_path, [A], [file(b"a"), file(b"a")])
    assert codes(tree.findings) == ["tree-name-repeated"]
    assert not tree.complete
    cause = tree.findings[0].cause
    assert cause is not None
    assert cause.startswith("in layer 2 of 2, layer:sha256:")


def test_no_layer_is_an_empty_root() -> None:
    tree = MergedRoot((), lambda *_: b"", name="none")
    assert (tree.entries(), tree.complete, tree.findings) == ([], True, ())
