"""New keys: two files, for those who may read them, and never in place of anything."""

import os
import stat
from pathlib import Path

import pytest
from support import runs

from verifier.evidence.keys import SCHEMES, PublicKey
from verifier.evidence.private_key import load


def refused(tmp_path: Path, command: str) -> str:
    before = runs.content(tmp_path)
    ran = runs.run(command.split(), cwd=tmp_path)
    assert ran.exit in (2, 4), ran
    assert runs.content(tmp_path) == before
    return next(w for w in ran.stderr.decode().split() if w.endswith(":") and "-" in w)[:-1]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_both_halves_are_written(tmp_path: Path, scheme: str, umask: int) -> None:
    (tmp_path / "phrase").write_bytes(b"six words\n")
    (tmp_path / "phrase").chmod(0o600)
    command = f"new key me --to . --scheme {scheme} --passphrase-file phrase"
    before = os.umask(umask)
    try:
        ran = runs.run(command.split(), cwd=tmp_path)
    finally:
        os.umask(before)
    assert ran.exit == 0, ran
    made = load(str(tmp_path / "me.key"), b"six words").public
    assert made == PublicKey.pem((tmp_path / "me.pub").read_bytes())
    assert made.id.encode() in ran.stdout
    assert stat.S_IMODE((tmp_path / "me.key").stat().st_mode) == 0o600
    assert b"ENCRYPTED" in (tmp_path / "me.key").read_bytes()
    assert b"six words" not in ran.stdout + ran.stderr
    again = runs.run(command.split(), cwd=tmp_path)
    assert again.exit == 4


@pytest.mark.parametrize("name", ["me.key", "me.pub"])
def test_nothing_is_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"years of trust\n")
    assert refused(tmp_path, "new key me --to . --no-passphrase") == "cannot-write"


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "me.key").symlink_to(tmp_path / "elsewhere")
    assert refused(tmp_path, "new key me --to . --no-passphrase") == "cannot-write"


@pytest.mark.parametrize("name", ["-", ".", "..", "a/b", "Me", "a b", "é", ".hidden"])
def test_a_name_is_plain(tmp_path: Path, name: str) -> None:
    ran = runs.run(["new", "key", "--to", ".", "--no-passphrase", "--", name], cwd=tmp_path)
    assert ran.exit == 2, ran
    assert not list(tmp_path.iterdir())


def test_a_folder_is_needed(tmp_path: Path) -> None:
    assert refused(tmp_path, "new key me --to nowhere --no-passphrase") == "cannot-write"


def test_one_word_on_passphrases_is_needed(tmp_path: Path) -> None:
    (tmp_path / "phrase").write_bytes(b"six words\n")
    (tmp_path / "phrase").chmod(0o600)
    assert refused(tmp_path, "new key me --to .") == "wrong-call"
    both = "new key me --to . --no-passphrase --passphrase-file phrase"
    assert refused(tmp_path, both) == "wrong-call"


def test_a_passphrase_that_others_may_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "phrase").write_bytes(b"six words\n")
    (tmp_path / "phrase").chmod(0o644)
    command = "new key me --to . --passphrase-file phrase"
    assert refused(tmp_path, command) == "signing-key-exposed"
