"""Whose a receipt is, and when its gates were declared: signatures beside the numbers."""

import json
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support import receipts, runs, statements
from support.private_sigstore import PrivateSigstore

from verifier.evidence.dsse import IN_TOTO, pae, print_envelope

POLICY = """
schema = "policy/v1"
name = "figures"
description = "figures follow, and somebody signed"
[receipt]
demand = ["figures"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document = json.dumps(receipts.sound()).encode()
    (tmp_path / "bare.json").write_bytes(document)
    (tmp_path / "signed.json").write_bytes(envelope(document, "alice"))
    (tmp_path / "policy.toml").write_text(POLICY)
    for name in ("alice", "bob"):
        (tmp_path / f"{name}.pub").write_bytes(statements.public_pem(name))
    return tmp_path


def envelope(payload: bytes, *names: str) -> bytes:
    signatures = []
    for name in names:
        key = statements.key(name)
        assert isinstance(key, Ed25519PrivateKey)
        signatures.append((statements.public(name).id, key.sign(pae(IN_TOTO, payload))))
    return print_envelope(IN_TOTO, payload, signatures)


def judged(folder: Path, *arguments: str) -> tuple[int, set[str], dict[str, str]]:
    before = runs.content(folder)
    command = ["verify", "receipt", *arguments, "--policy", "./policy.toml", "--format", "json"]
    ran = runs.run(command, cwd=folder)
    assert runs.content(folder) == before
    result: dict[str, Any] = json.loads(ran.stdout)["results"][0]
    codes = {finding["code"] for finding in result["findings"]}
    states = {covered["facet"]: covered["state"] for covered in result["coverage"]}
    return ran.exit, codes, states


def test_a_receipt_that_is_signed_by_whom_was_named_is_verified(folder: Path) -> None:
    exit_code, codes, states = judged(folder, "signed.json", "--key", "alice.pub")
    assert (exit_code, states["signed"]) == (0, "held"), codes


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["bare.json"], "receipt-unsigned", 3),
        (["bare.json", "--key", "alice.pub"], "receipt-unsigned", 3),
        (["signed.json"], "receipt-unsigned", 3),
        (["signed.json", "--key", "bob.pub"], "statement-signature", 1),
        (["signed.json", "--key", "alice.pub", "--key", "bob.pub"], "statement-threshold", 3),
    ],
)
def test_others_are_not(folder: Path, arguments: list[str], code: str, exit_code: int) -> None:
    ended, codes, states = judged(folder, *arguments)
    assert code in codes
    assert (ended, states["signed"] == "held") == (exit_code, False)


def test_one_of_two_is_enough_where_that_is_asked_for(folder: Path) -> None:
    keys = ["--key", "alice.pub", "--key", "bob.pub", "--threshold", "1"]
    assert judged(folder, "signed.json", *keys)[0] == 0


@pytest.mark.parametrize("at", range(0, 400, 37))
def test_a_changed_payload_is_not_signed(folder: Path, at: int) -> None:
    document = json.loads((folder / "signed.json").read_bytes())
    payload = bytearray(json.dumps(receipts.sound()).encode())
    payload[-at - 30] ^= 1
    document["payload"] = b64encode(payload).decode()
    (folder / "signed.json").write_text(json.dumps(document))
    command = ["verify", "receipt", "signed.json", "--key", "alice.pub"]
    ran = runs.run([*command, "--policy", "./policy.toml"], cwd=folder)
    assert ran.exit in (1, 4), ran


def sigstore_of_gates(folder: Path, now: datetime) -> None:
    """Write a gate file, a bundle over it and the root that vouches for its time."""
    sigstore = PrivateSigstore(now)
    signer = sigstore.managed_signer()
    gates = b"a gate file"
    (folder / "gates").write_bytes(gates)
    (folder / "gates.bundle").write_text(json.dumps(sigstore.message(gates, signer)))
    (folder / "root.json").write_text(json.dumps(sigstore.trusted_root()))
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = signer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "gates.pub").write_bytes(pem)
    document = receipts.sound()
    import hashlib

    pin = {"sha256": hashlib.sha256(gates).hexdigest()}
    receipts.change(document, "gates.planned", pin)
    receipts.change(document, "gates.judged", pin)
    (folder / "bare.json").write_text(json.dumps(document))


def rules(folder: Path, *more: str) -> dict[str, str]:
    gates = ["--gates", "gates", "--gates-bundle", "gates.bundle", "--gates-key", "gates.pub"]
    command = ["verify", "receipt", "bare.json", *gates, "--trusted-root", "root.json", *more]
    ran = runs.run([*command, "--policy", "./policy.toml", "--format", "json"], cwd=folder)
    study = json.loads(ran.stdout)["results"][0]["study"]
    return {rule["id"]: rule["answer"] for rule in study["rules"]}


def test_a_time_stamp_proves_that_gates_stood_first(folder: Path) -> None:
    sigstore_of_gates(folder, datetime(2026, 11, 19, 11, 0, 5, tzinfo=UTC))
    assert (rules(folder)["G1"], rules(folder)["T1"]) == ("holds", "holds")


def test_a_late_time_stamp_is_told(folder: Path) -> None:
    sigstore_of_gates(folder, datetime(2026, 11, 20, 12, 30, tzinfo=UTC))
    assert (rules(folder)["G1"], rules(folder)["T1"]) == ("broken", "broken")


def test_a_bundle_of_another_file_proves_nothing(folder: Path) -> None:
    sigstore_of_gates(folder, datetime(2026, 11, 19, 11, 0, 5, tzinfo=UTC))
    (folder / "gates").write_bytes(b"a gate filf")
    command = ["bare.json", "--gates", "gates", "--gates-bundle", "gates.bundle"]
    ended, codes, _ = judged(
        folder, *command, "--gates-key", "gates.pub", "--trusted-root", "root.json"
    )
    assert "receipt-gates-unproven" in codes
    assert ended != 0
    assert rules(folder)["G1"] != "holds"


def test_a_bundle_without_its_gate_file_is_a_wrong_call(folder: Path) -> None:
    sigstore_of_gates(folder, datetime(2026, 11, 19, 11, 0, 5, tzinfo=UTC))
    ran = runs.run(["verify", "receipt", "bare.json", "--gates-bundle", "gates.bundle"], cwd=folder)
    assert ran.exit == 2
    ran = runs.run(["verify", "receipt", "bare.json", "--gates-key", "gates.pub"], cwd=folder)
    assert ran.exit == 2
