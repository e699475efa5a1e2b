"""Which changes count as documentation, and which never do."""

from typing import Final

import pytest

from verifier.checks.head.documentation import difference
from verifier.core.demand import HeadDemand
from verifier.sources.git.objects import Item
from verifier.sources.git.trees import Change

FILE, PROGRAM, LINK, MODULE = 0o100644, 0o100755, 0o120000, 0o160000
DEMAND: Final = HeadDemand(
    facets=frozenset({"objects"}),
    documentation=("README.md", "docs/", "a/b.md", ".gitattributes", ".github/", "vendor/"),
)


def change(path: bytes, before: int | None = FILE, after: int | None = FILE) -> Change:
    name = path.rpartition(b"/")[2]
    return Change(
        path,
        None if before is None else Item(before, name, "1" * 40),
        None if after is None else Item(after, name, "2" * 40),
    )


def sort(one: Change) -> str:
    found = difference([one], DEMAND, lambda path: path.startswith(b"vendor/"))
    if found.documentation:
        assert found.harmless
        return "documentation"
    assert not found.harmless
    return found.unfit[0][1] if found.unfit else "other"


@pytest.mark.parametrize(
    "one",
    [
        change(b"README.md"),
        change(b"docs/a"),
        change(b"docs/a/b/c.md"),
        change(b"a/b.md"),
        change(b"docs/new.md", None),
        change(b"docs/old.md", FILE, None),
        change(b"docs/run", PROGRAM, PROGRAM),
        change(b"docs/\xff\n"),
    ],
)
def test_a_listed_file_that_stays_a_file(one: Change) -> None:
    assert sort(one) == "documentation"


@pytest.mark.parametrize(
    "path",
    [
        b"README.md.py",
        b"README.MD",
        b"readme.md",
        b"sub/README.md",
        b"docs",
        b"docs.py",
        b"docs-x/a",
        b"Docs/a",
        b"xdocs/a",
        b"a/b.md/c",
        b"a/b",
        b"a",
        b"/docs/a",
        b"",
    ],
)
def test_what_only_looks_listed(path: bytes) -> None:
    assert sort(change(path)) == "other"


@pytest.mark.parametrize(
    "path",
    [
        *(b".gitattributes", b"docs/.gitattributes", b"docs/.gitmodules", b"docs/.GitAttributes"),
        *(b".github/workflows/x.yml", b"docs/x/.gitmodules"),
    ],
)
def test_what_steers_git_or_the_forge(path: bytes) -> None:
    assert "git or the forge" in sort(change(path))


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (change(b"docs/a", FILE, PROGRAM), "from 100644 to 100755"),
        (change(b"docs/a", PROGRAM, FILE), "from 100755 to 100644"),
        (change(b"docs/a", FILE, LINK), "no regular file"),
        (change(b"docs/a", LINK, FILE), "no regular file"),
        (change(b"docs/a", LINK, LINK), "no regular file"),
        (change(b"docs/a", None, LINK), "no regular file"),
        (change(b"docs/a", MODULE, None), "no regular file"),
        (change(b"docs/a", FILE, MODULE), "no regular file"),
        (change(b"docs/a", None, PROGRAM), "a program is added"),
        (change(b"docs/a", PROGRAM, None), "a program is added or taken away"),
        (change(b"vendor/a"), "scope of a composition"),
    ],
)
def test_what_is_listed_and_may_not_count(one: Change, why: str) -> None:
    assert why in sort(one)


def test_without_a_list_nothing_counts() -> None:
    bare = HeadDemand(facets=frozenset({"objects"}))
    for demand in (None, bare):
        assert difference([change(b"README.md")], demand, lambda _: False).others == ("README.md",)


def test_names_are_shown_and_never_steer_a_terminal() -> None:
    found = difference([change(b"x\x1b[2J\n")], DEMAND, lambda _: False)
    assert found.others[0].isprintable()
