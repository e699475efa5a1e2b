"""Private keys: what is written is read again, by openssl too, and nothing half open is used."""

import subprocess
from pathlib import Path

import pytest

from verifier.core.errors import PinproofError
from verifier.evidence import private_key
from verifier.evidence.keys import SCHEMES, PublicKey

SECRET = b"correct horse"


def write(path: Path, data: bytes, mode: int = 0o600) -> str:
    path.write_bytes(data)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("passphrase", [None, SECRET])
def test_a_key_is_read_as_it_was_written(
    scheme: str, passphrase: bytes | None, tmp_path: Path
) -> None:
    made = private_key.generate(scheme)
    path = write(tmp_path / "k", made.pem(passphrase))
    read = private_key.load(path, passphrase)
    assert read.public == made.public == PublicKey.pem(made.public_pem())
    assert read.public.scheme == scheme
    assert read.public.verifies(read.sign(b"data"), b"data")
    assert not read.public.verifies(read.sign(b"data"), b"datA")
    assert "BEGIN" not in repr(read)
    assert "object" not in repr(read)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_openssl_reads_it(scheme: str, tmp_path: Path) -> None:
    made = private_key.generate(scheme)
    path = write(tmp_path / "k", made.pem(SECRET))
    phrase = write(tmp_path / "p", SECRET + b"\n")
    command = ["openssl", "pkey", "-in", path, "-passin", f"file:{phrase}", "-pubout"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == made.public_pem()


def refused(path: str, passphrase: bytes | None = None) -> str:
    with pytest.raises(PinproofError) as caught:
        private_key.load(path, passphrase)
    assert SECRET.decode() not in caught.value.message
    return caught.value.code


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644])
def test_a_key_that_others_may_reach_is_refused(mode: int, tmp_path: Path) -> None:
    path = write(tmp_path / "k", private_key.generate("ed25519").pem(None), mode)
    assert refused(path) == "signing-key-exposed"


def test_a_passphrase_is_needed_and_must_be_right(tmp_path: Path) -> None:
    path = write(tmp_path / "k", private_key.generate("ed25519").pem(SECRET))
    assert refused(path) == refused(path, b"correct horsE") == "signing-passphrase"


def test_only_one_whole_pkcs8_block_of_a_known_kind_is_read(tmp_path: Path) -> None:
    pem = private_key.generate("ed25519").pem(None)
    made = private_key.generate("ecdsa-sha2-nistp256")
    write(tmp_path / "ec", made.pem(None))
    older = subprocess.run(
        ["openssl", "ec", "-in", tmp_path / "ec"], capture_output=True, check=True
    ).stdout
    rsa = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "RSA"], capture_output=True, check=True
    ).stdout
    k1 = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
        capture_output=True,
        check=True,
    ).stdout
    x25519 = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "X25519"], capture_output=True, check=True
    ).stdout
    texts = [older, rsa, k1, x25519, b"", pem + pem, b"x" + pem, pem[:-40], made.public_pem()]
    texts.append(pem.replace(b"M", b"N", 1))
    for number, text in enumerate(texts):
        assert refused(write(tmp_path / str(number), text)) == "signing-key-malformed", number


def test_what_is_no_file_is_no_key(tmp_path: Path) -> None:
    assert refused(str(tmp_path)) == "not-a-file"
    assert refused(str(tmp_path / "none")) == "cannot-read"


@pytest.mark.parametrize("text", [b"", b"\n", b"a\nb\n", b"x" * 1024, b"a\0b"])
def test_a_passphrase_is_one_line(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(PinproofError) as caught:
        private_key.passphrase_in(write(tmp_path / "p", text))
    assert caught.value.code == "signing-passphrase"
    assert private_key.passphrase_in(write(tmp_path / "q", b"a b\r\n")) == b"a b"
