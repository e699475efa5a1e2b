"""Envelopes and other people's code: openssl, securesystemslib, and npm's @sigstore/core.

Each is asked in both directions where it can do both: what we sign it verifies, what it signs we
verify, and what was changed neither does.
"""

import copy
import json
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any, Final

import pytest
from securesystemslib.dsse import Envelope as TheirEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey
from support import runs, statements

from verifier.evidence.dsse import IN_TOTO, Envelope, pae, print_envelope
from verifier.evidence.keys import PublicKey, strict_base64
from verifier.evidence.private_key import load

NAMES: Final = ("alice", "p256-carol", "p384-dave")
HASHES: Final = {"p256-carol": "-sha256", "p384-dave": "-sha384"}
PAYLOADS: Final = (b"", b"x", b"DSSEv1 1 x 1 x", statements.statement(), bytes(range(256)) * 50)
TYPES: Final = (IN_TOTO, "x", "text/plain; charset=utf-8", "ünï/cödé")
PEERS: Final = Path(__file__).parents[1] / "peers" / "node_modules"


# ── openssl ────────────────────────────────────────────────────────────────────────────────────


def openssl(*arguments: str, cwd: Path) -> int:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, check=False)
    return done.returncode


def verified_by_openssl(folder: Path, name: str, data: bytes, signature: bytes) -> bool:
    (folder / "pae").write_bytes(data)
    (folder / "sig").write_bytes(signature)
    (folder / "pub.pem").write_bytes(statements.public_pem(name))
    if name in HASHES:
        command = ["dgst", HASHES[name], "-verify", "pub.pem", "-signature", "sig", "pae"]
    else:
        command = ["pkeyutl", "-verify", "-pubin", "-inkey", "pub.pem", "-rawin"]
        command += ["-in", "pae", "-sigfile", "sig"]
    return openssl(*command, cwd=folder) == 0


@pytest.mark.parametrize("name", NAMES)
def test_openssl_verifies_what_we_sign(tmp_path: Path, name: str) -> None:
    (tmp_path / "s.json").write_bytes(statements.statement())
    (tmp_path / "key.pem").write_bytes(statements.private_pem(name))
    (tmp_path / "key.pem").chmod(0o600)
    command = ["sign", "statement", "s.json", "--key", "key.pem", "--to", "e.json"]
    assert runs.run(command, cwd=tmp_path).exit == 0
    document = json.loads((tmp_path / "e.json").read_bytes())
    signature = strict_base64(document["signatures"][0]["sig"])
    data = pae(document["payloadType"], strict_base64(document["payload"]))
    assert verified_by_openssl(tmp_path, name, data, signature)
    assert not verified_by_openssl(tmp_path, name, data + b" ", signature)


@pytest.mark.parametrize("name", NAMES)
def test_we_verify_what_openssl_signs(tmp_path: Path, name: str) -> None:
    payload = statements.statement()
    (tmp_path / "pae").write_bytes(pae(IN_TOTO, payload))
    (tmp_path / "key.pem").write_bytes(statements.private_pem(name))
    if name in HASHES:
        command = ["dgst", HASHES[name], "-sign", "key.pem", "-out", "sig", "pae"]
    else:
        command = ["pkeyutl", "-sign", "-inkey", "key.pem", "-rawin", "-in", "pae", "-out", "sig"]
    assert openssl(*command, cwd=tmp_path) == 0
    signature = (tmp_path / "sig").read_bytes()
    (tmp_path / "e.json").write_bytes(print_envelope(IN_TOTO, payload, [("", signature)]))
    (tmp_path / "pub.pem").write_bytes(statements.public_pem(name))
    (tmp_path / "built.txt").write_bytes(statements.ARTIFACT)
    command = ["verify", "statement", "e.json", "--key", "pub.pem", "--subject", "built.txt"]
    assert runs.run(command, cwd=tmp_path).exit == 0
    changed = print_envelope(IN_TOTO, payload + b"\n", [("", signature)])
    (tmp_path / "e.json").write_bytes(changed)
    assert runs.run(command, cwd=tmp_path).exit == 1


def test_keys_that_openssl_makes_and_locks_are_read(tmp_path: Path) -> None:
    made = {
        "ed": ["-algorithm", "ed25519"],
        "p256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        "p384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    }
    for name, arguments in made.items():
        lock = ["-aes256", "-pass", "pass:word"]
        command = ["genpkey", *arguments, *lock, "-out", name]
        assert openssl(*command, cwd=tmp_path) == 0
        (tmp_path / name).chmod(0o600)
        private = load(str(tmp_path / name), b"word")
        command = ["pkey", "-in", name, "-passin", "pass:word", "-pubout", "-out", f"{name}.pub"]
        assert openssl(*command, cwd=tmp_path) == 0
        assert private.public == PublicKey.pem((tmp_path / f"{name}.pub").read_bytes())


# ── securesystemslib ───────────────────────────────────────────────────────────────────────────


def their_key(name: str) -> SSlibKey:
    """Return a key as they have it, under the id that we write; they compare ids."""
    key = SSlibKey.from_crypto(statements.key(name).public_key())
    key.keyid = statements.public(name).id
    return key


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_securesystemslib_encodes_the_same(payload: bytes, kind: str) -> None:
    assert TheirEnvelope(payload, kind, {}).pae() == pae(kind, payload)


@pytest.mark.parametrize("name", NAMES)
def test_securesystemslib_verifies_what_we_sign(name: str) -> None:
    document = json.loads(statements.envelope(by=[name]))
    theirs = TheirEnvelope.from_dict(copy.deepcopy(document))
    assert len(theirs.verify([their_key(name)], 1)) == 1
    document["payload"] = b64encode(statements.statement() + b"\n").decode()
    with pytest.raises(VerificationError):
        TheirEnvelope.from_dict(document).verify([their_key(name)], 1)


@pytest.mark.parametrize("name", NAMES)
def test_we_verify_what_securesystemslib_signs(name: str) -> None:
    theirs = TheirEnvelope(statements.statement(), IN_TOTO, {})
    theirs.sign(CryptoSigner(statements.key(name)))
    ours = Envelope.parse(json.dumps(theirs.to_dict()).encode(), what="e")
    assert ours.signers([statements.public(each) for each in NAMES]) == {statements.public(name)}
    assert ours.payload == statements.statement()


def test_one_key_under_two_ids_is_two_for_them_and_one_for_us() -> None:
    """The difference is why thresholds are not left to the library (dependencies.md §3)."""
    document = json.loads(statements.envelope(by=["alice", "alice"]))
    document["signatures"][1]["keyid"] = "another"
    again = their_key("alice")
    again.keyid = "another"
    theirs = TheirEnvelope.from_dict(copy.deepcopy(document))
    assert len(theirs.verify([their_key("alice"), again], 2)) == 2
    ours = Envelope.parse(json.dumps(document).encode(), what="e")
    alice = statements.public("alice")
    assert len(ours.signers([alice, PublicKey.der(alice.spki)])) == 1


# ── npm @sigstore/core ─────────────────────────────────────────────────────────────────────────

SCRIPT: Final = """
const core = require(process.argv[1]);
const rows = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const answers = rows.map((row) => {
  const data = core.dsse.preAuthEncoding(row.type, Buffer.from(row.payload, 'base64'));
  const key = row.key && core.crypto.createPublicKey(row.key);
  const good = key && core.crypto.verify(data, key, Buffer.from(row.sig, 'base64'), row.hash);
  return { pae: data.toString('base64'), good: good || false };
});
console.log(JSON.stringify(answers));
"""


def asked_of_node(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    node, core = shutil.which("node"), PEERS / "@sigstore" / "core"
    if node is None or not core.is_dir():
        pytest.skip("node or npm's @sigstore/core is not installed: npm ci in tests/peers")
    done = subprocess.run(
        [node, "-e", SCRIPT, str(core)],
        input=json.dumps(rows).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def test_npm_encodes_the_same() -> None:
    asked = [(kind, payload) for kind in TYPES for payload in PAYLOADS]
    rows = [{"type": kind, "payload": b64encode(payload).decode()} for kind, payload in asked]
    answers = asked_of_node(rows)
    assert [strict_base64(each["pae"]) for each in answers] == [pae(*each) for each in asked]


def test_npm_verifies_what_we_sign_and_not_what_was_changed() -> None:
    rows = []
    for name in NAMES:
        document = json.loads(statements.envelope(by=[name]))
        row = {
            "type": document["payloadType"],
            "payload": document["payload"],
            "sig": document["signatures"][0]["sig"],
            "key": statements.public_pem(name).decode(),
            "hash": HASHES.get(name, "").removeprefix("-") or None,
        }
        changed = b64encode(statements.statement() + b"\n").decode()
        rows += [row, {**row, "payload": changed}, {**row, "type": "text/plain"}]
    assert [each["good"] for each in asked_of_node(rows)] == [True, False, False] * len(NAMES)
