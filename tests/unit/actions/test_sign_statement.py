"""Signing statements: the very bytes, by distinct keys, into new files, with keys kept private."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from support import runs, statements

from verifier.evidence.dsse import IN_TOTO, Envelope
from verifier.evidence.statement import Statement

NAMES = ("alice", "p256-carol", "p384-dave")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s.json").write_bytes(statements.statement())
    (tmp_path / "built.txt").write_bytes(statements.ARTIFACT)
    for name in (*NAMES, "bob"):
        private(tmp_path, name)
        (tmp_path / f"{name}.pub").write_bytes(statements.public_pem(name))
    return tmp_path


def private(folder: Path, name: str, *, mode: int = 0o600, locked_by: str | None = None) -> None:
    path = folder / f"{name}.pem"
    path.write_bytes(statements.private_pem(name, locked_by))
    path.chmod(mode)


def sign(folder: Path, *arguments: str) -> runs.Ran:
    return runs.run(["sign", "statement", *arguments], cwd=folder)


def refused(folder: Path, code: str, *arguments: str, exit_code: int = 2) -> None:
    """Sign in vain: the code is the right one, and nothing was written or changed."""
    before = runs.content(folder)
    ran = sign(folder, *arguments)
    assert f" {code}: ".encode() in ran.stderr, ran
    assert ran.exit == exit_code, ran
    assert ran.stdout == b""
    assert runs.content(folder) == before


@pytest.mark.parametrize("name", NAMES)
def test_what_is_signed_is_verified(folder: Path, name: str) -> None:
    ran = sign(folder, "s.json", "--key", f"{name}.pem", "--to", "e.json")
    assert ran.exit == 0, ran
    envelope = Envelope.parse((folder / "e.json").read_bytes(), what="e")
    assert envelope.payload == (folder / "s.json").read_bytes()
    assert envelope.payload_type == IN_TOTO
    assert envelope.signers([statements.public(n) for n in NAMES]) == {statements.public(name)}
    judged = ["verify", "statement", "e.json", "--key", f"{name}.pub", "--subject", "built.txt"]
    assert runs.run(judged, cwd=folder).exit == 0


def test_the_same_bytes_get_the_same_envelope(folder: Path) -> None:
    keys = [argument for name in NAMES for argument in ("--key", f"{name}.pem")]
    assert sign(folder, "s.json", *keys, "--to", "one.json").exit == 0
    assert sign(folder, "s.json", *keys, "--to", "two.json").exit == 0
    one = (folder / "one.json").read_bytes()
    assert one == (folder / "two.json").read_bytes() == statements.envelope(by=NAMES)


def test_a_second_person_adds_a_signature(folder: Path) -> None:
    assert sign(folder, "s.json", "--key", "alice.pem", "--to", "1.json").exit == 0
    first = (folder / "1.json").read_bytes()
    for arguments in (["--add-to", "1.json"], ["s.json", "--add-to", "1.json"]):
        (folder / "2.json").unlink(missing_ok=True)
        ran = sign(folder, *arguments, "--key", "p256-carol.pem", "--to", "2.json")
        assert ran.exit == 0, ran
        assert (folder / "2.json").read_bytes() == statements.envelope(by=("alice", "p256-carol"))
    assert (folder / "1.json").read_bytes() == first
    judged = ["verify", "statement", "--subject", "built.txt", "--key", "alice.pub"]
    judged += ["--key", "p256-carol.pub"]
    assert runs.run([*judged, "2.json"], cwd=folder).exit == 0
    assert runs.run([*judged, "1.json"], cwd=folder).exit == 3


def test_hints_of_others_are_kept(folder: Path) -> None:
    document = json.loads(statements.envelope())
    document["signatures"][0]["keyid"] = "whoever"
    (folder / "1.json").write_text(json.dumps(document))
    assert sign(folder, "--add-to", "1.json", "--key", "bob.pem", "--to", "2.json").exit == 0
    rows = json.loads((folder / "2.json").read_bytes())["signatures"]
    assert [row["keyid"] for row in rows] == ["whoever", statements.public("bob").id]
    assert rows[0] == document["signatures"][0]


def test_nothing_is_written_over(folder: Path) -> None:
    (folder / "e.json").write_text("mine")
    refused(folder, "cannot-write", "s.json", "--key", "bob.pem", "--to", "e.json", exit_code=4)
    (folder / "link.json").symlink_to("nowhere")
    refused(folder, "cannot-write", "s.json", "--key", "bob.pem", "--to", "link.json", exit_code=4)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--key", "bob.pem"], "wrong-call"),
        (["s.json", "--key", "bob.pem", "--key", "bob.pem"], "wrong-call"),
        (["s.json"], "wrong-call"),
        (["s.json", "--key", "bob.pub"], "signing-key-malformed"),
        (["--add-to", "s.json", "--key", "bob.pem"], "malformed"),
        (["built.txt", "--key", "bob.pem"], "malformed"),
        (["built.txt", "--add-to", "e1.json", "--key", "bob.pem"], "wrong-call"),
        (["--add-to", "e1.json", "--key", "alice.pem"], "wrong-call"),
        (["--add-to", "text.json", "--key", "bob.pem"], "wrong-call"),
    ],
)
def test_wrong_calls_sign_nothing(folder: Path, arguments: list[str], code: str) -> None:
    (folder / "e1.json").write_bytes(statements.envelope())
    (folder / "text.json").write_bytes(statements.envelope(kind="text/plain"))
    exit_code = 4 if code.startswith("signing-key") else 2
    refused(folder, code, *arguments, "--to", "e.json", exit_code=exit_code)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o601, 0o777, 0o440])
def test_a_key_that_others_may_touch_is_refused(folder: Path, mode: int) -> None:
    private(folder, "bob", mode=mode)
    open_key = ["s.json", "--key", "bob.pem", "--to", "e.json"]
    refused(folder, "signing-key-exposed", *open_key, exit_code=4)


def test_a_key_may_be_even_more_private(folder: Path) -> None:
    private(folder, "bob", mode=0o400)
    assert sign(folder, "s.json", "--key", "bob.pem", "--to", "e.json").exit == 0


def write_private(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


def test_other_kinds_of_keys_are_refused(folder: Path) -> None:
    key = rsa.generate_private_key(65537, 2048)
    write_private(
        folder / "rsa.pem", key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    old = statements.key("p256-carol").private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    )
    write_private(folder / "sec1.pem", old)
    write_private(folder / "pub.pem", statements.public_pem("bob"))
    write_private(folder / "cut.pem", statements.private_pem("bob")[:60])
    write_private(folder / "empty.pem", b"")
    for name in ("rsa", "sec1", "pub", "cut", "empty"):
        wrong = ["s.json", "--key", f"{name}.pem", "--to", "e.json"]
        refused(folder, "signing-key-malformed", *wrong, exit_code=4)


def test_encrypted_keys_take_a_passphrase_from_a_file(folder: Path) -> None:
    private(folder, "p384-dave", locked_by="tick tock")
    write_private(folder / "pass", b"tick tock\n")
    locked = ["s.json", "--key", "p384-dave.pem", "--to", "e.json"]
    assert sign(folder, *locked, "--passphrase-file", "pass").exit == 0
    (folder / "e.json").unlink()
    refused(folder, "signing-passphrase", *locked, exit_code=4)
    for wrong in (b"tick  tock\n", b"\ntick tock\n", b"tick tock\nsecond line\n", b"\n"):
        write_private(folder / "pass", wrong)
        refused(folder, "signing-passphrase", *locked, "--passphrase-file", "pass", exit_code=4)
    write_private(folder / "pass", b"tick tock\n")
    (folder / "pass").chmod(0o644)
    refused(folder, "signing-key-exposed", *locked, "--passphrase-file", "pass", exit_code=4)


def test_no_error_shows_what_is_secret(folder: Path) -> None:
    private(folder, "p384-dave", locked_by="tick tock")
    write_private(folder / "pass", b"wrong secret\n")
    locked = ["s.json", "--key", "p384-dave.pem", "--to", "e.json", "--passphrase-file", "pass"]
    ran = sign(folder, *locked)
    assert b"wrong secret" not in ran.stdout + ran.stderr
    lines = statements.private_pem("bob").splitlines()[1:-1]
    write_private(folder / "cut.pem", statements.private_pem("bob").replace(b"-----END", b"-----"))
    ran = sign(folder, "s.json", "--key", "cut.pem", "--to", "e.json")
    assert ran.exit == 4
    assert not any(line in ran.stdout + ran.stderr for line in lines)


def test_statements_are_read_before_they_are_signed(folder: Path) -> None:
    (folder / "s.json").write_bytes(statements.statement({"subject": []}))
    refused(folder, "malformed", "s.json", "--key", "bob.pem", "--to", "e.json")


def test_the_payload_reads_back(folder: Path) -> None:
    assert sign(folder, "s.json", "--key", "bob.pem", "--to", "e.json").exit == 0
    envelope = Envelope.parse((folder / "e.json").read_bytes(), what="e")
    read = Statement.of(envelope.payload_type, envelope.payload, what="s")
    assert isinstance(read, Statement)
    assert read.payload == statements.statement()
