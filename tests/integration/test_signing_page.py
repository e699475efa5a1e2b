"""The commands of signing.md, statements.md and pinning.md run as they stand in an empty folder."""

from pathlib import Path

from support.pages import walk


def test_a_statement_is_made_signed_and_verified(tmp_path: Path) -> None:
    printed = walk("statements.md", 1, tmp_path)
    assert 'about "built.txt" sha256 c7a84752ea6e' in printed
    assert "verified   envelope.json is signed by key" in printed


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    printed = walk("signing.md", 6, tmp_path)
    assert printed.count("\nwaiting ") == 2
    assert "root 2" in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "first",
        "keys",
        "operator.root.json",
    ]
    private = sorted((tmp_path / "keys").glob("*.key"))
    assert len(private) == 6
    assert {path.stat().st_mode & 0o777 for path in private} == {0o600}
    # Signing with discarded keys would make the first root another one.
    first = (tmp_path / "first/metadata/1.root.json").read_bytes()
    assert first == (tmp_path / "operator.root.json").read_bytes()


def test_five_commits_become_a_signed_registry(tmp_path: Path) -> None:
    printed = walk("pinning.md", 10, tmp_path)
    assert "pinned     lamp-gate: wrote first/targets/mine/helper/lamp-gate.toml" in printed
    assert "pin-body-drifted: another body under the same marker and name" in printed
    assert "v2, v2-main have the same marker and length and different bodies" in printed
    assert "verified   V3.py carries lamp-gate v3, the current version" in printed
    assert "undecided  V2_MAIN.py carries lamp-gate v2-main: authentic, not accepted" in printed
    assert "4 confirmed" in printed
    assert "every field is what the recipe derives" in printed
    assert "v2-main was authentic and is supported now" in printed
    assert printed.count("\nexit 1\n") == 2
    assert printed.count("\nexit 3\n") == 1
