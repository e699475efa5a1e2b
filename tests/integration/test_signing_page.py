"""The commands of docs/signing.md and docs/statements.md run as they stand, in an empty folder."""

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
