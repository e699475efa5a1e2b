"""FORMATS §1, points 1 to 10: each has attacks, each attack its code, none changes a byte."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)
from securesystemslib.formats import encode_canonical
from support.registry import (
    EXPIRES,
    KEYS,
    NOW,
    Registry,
    codes,
    ecdsa_signer,
    entries,
    make,
    signer,
)

from verifier.catalog.floor import Floor
from verifier.catalog.open import Catalog, Refused
from verifier.catalog.tuf.publish import RoleKeys, Signers
from verifier.core.codes import CODES
from verifier.core.digest import sha256
from verifier.core.limits import DELEGATIONS, METADATA_BYTES, ROOT_STEPS

ENTRY = "targets/pinproof/helper/example-fair-queue.toml"
OTHER = "targets/neighbour/helper/example-aging.toml"
SIGNED = "pinproof/helper/example-fair-queue.toml"

Attack = Callable[[Registry], object]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return make(tmp_path / "registry")


def test_a_sound_registry_authenticates(registry: Registry) -> None:
    catalog = registry.catalog()
    assert catalog.check_all() == ()
    assert catalog.facts.root_version == 1
    assert catalog.facts.expires == "2036-11-01T00:00:00Z"
    assert catalog.facts.floor is None
    assert {line.split()[0] for line in catalog.facts.signed_by} == KEYS.keys()
    assert sum(line.startswith("pinproof ") for line in catalog.facts.signed_by) == 2


# ── attacks on the signed metadata, by people without and with keys ────────────────────────


def _set(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda signed: signed.update(fields)


def _record(name: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(signed: dict[str, Any]) -> None:
        signed["meta" if "meta" in signed else "targets"][name].update(fields)

    return change


def _without(name: str, field: str) -> Callable[[dict[str, Any]], None]:
    def change(signed: dict[str, Any]) -> None:
        del signed["meta" if "meta" in signed else "targets"][name][field]

    return change


def _delegation(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(signed: dict[str, Any]) -> None:
        roles = signed["delegations"]["roles"]
        next(role for role in roles if role["name"] == "pinproof").update(fields)

    return change


def _lists(path: str, data: bytes = b"evil\n") -> Callable[[dict[str, Any]], None]:
    record = {"length": len(data), "hashes": {"sha256": sha256(data)}}
    return lambda signed: signed["targets"].update({path: record})


def _resign(role: str, change: Callable[[dict[str, Any]], None], **how: Any) -> Attack:
    return lambda registry: registry.resign(role, change, **how)


def _rewrite(path: str, change: Callable[[bytes], bytes]) -> Attack:
    return lambda registry: registry.write(path, change(registry.read(path)))


def _signatures(role: str, change: Callable[[list[dict[str, Any]]], object]) -> Attack:
    """Change signatures; whoever can do that has the keys of the roles above."""
    return _resign(
        role, _set(x_note="again"), envelope=lambda document: change(document["signatures"])
    )


def _by(role: str, *names: str) -> RoleKeys:
    return {**KEYS, role: Signers(signers=tuple(map(signer, names)))}


def _deep(data: bytes) -> bytes:
    return data.replace(b'"signed": {', b'"signed": {"x": ' + b"[" * 99 + b"]" * 99 + b",", 1)


def _twice(data: bytes) -> bytes:
    return data.replace(b'"version": 1\n', b'"version": 1,\n  "version": 2\n', 1)


def _slip_in(registry: Registry) -> None:
    registry.write("metadata/evil.json", registry.read("metadata/pinproof.json"))
    registry.resign(
        "snapshot", lambda s: s["meta"].update({"evil.json": s["meta"]["pinproof.json"]})
    )


ATTACKS: dict[str, tuple[Attack, set[str]]] = {
    # 1: form
    "a later specification": (
        _resign("timestamp", _set(spec_version="2.0.0")),
        {"registry-malformed"},
    ),
    "version true": (_resign("timestamp", _set(version=True)), {"registry-malformed"}),
    "version 0": (_resign("timestamp", _set(version=0)), {"registry-malformed"}),
    "version 1.5": (
        _rewrite(
            "metadata/timestamp.json", lambda d: d.replace(b'"version": 1', b'"version": 1.5')
        ),
        {"registry-malformed"},
    ),
    "a time that does not print back": (
        _resign("timestamp", _set(expires="2036-11-1T00:00:00Z")),
        {"registry-malformed"},
    ),
    "a key given twice": (
        _rewrite("metadata/timestamp.json", _twice),
        {"registry-duplicate-key"},
    ),
    "nested too deep": (_rewrite("metadata/timestamp.json", _deep), {"registry-malformed"}),
    "nested far too deep": (
        _rewrite("metadata/timestamp.json", lambda _: b"[" * 100_000),
        {"registry-truncated"},
    ),
    "not JSON": (_rewrite("metadata/timestamp.json", lambda _: b"{}}"), {"registry-malformed"}),
    "null": (_rewrite("metadata/timestamp.json", lambda _: b"null"), {"registry-malformed"}),
    "a list": (
        _rewrite("metadata/timestamp.json", lambda d: b'{"signed": [' + d + b"]}"),
        {"registry-malformed"},
    ),
    "not UTF-8": (
        _rewrite("metadata/timestamp.json", lambda d: d.replace(b"1.0", b"\xff.0")),
        {"registry-malformed"},
    ),
    "a timestamp cut short": (
        _rewrite("metadata/timestamp.json", lambda d: d[:200]),
        {"registry-truncated"},
    ),
    "an empty timestamp": (
        _rewrite("metadata/timestamp.json", lambda _: b""),
        {"registry-truncated"},
    ),
    "another role's file": (
        lambda r: r.write("metadata/timestamp.json", r.read("metadata/snapshot.json")),
        {"registry-wrong-role"},
    ),
    "larger than metadata may be": (
        _rewrite("metadata/timestamp.json", lambda d: d + b" " * METADATA_BYTES),
        {"registry-too-large"},
    ),
    "key ids as one string": (_resign("targets", _delegation(keyids="ab")), {"registry-malformed"}),
    "threshold true": (_resign("targets", _delegation(threshold=True)), {"registry-malformed"}),
    "threshold 0": (_resign("targets", _delegation(threshold=0)), {"registry-malformed"}),
    "no terminating": (
        _resign("targets", lambda s: s["delegations"]["roles"][0].pop("terminating")),
        {"registry-malformed"},
    ),
    "hash-prefix delegation": (
        _resign("targets", lambda s: s["delegations"].update(succinct_roles={})),
        {"registry-malformed"},
    ),
    "signatures that are no list": (
        _resign("timestamp", _set(x=1), envelope=lambda d: d.update(signatures={})),
        {"registry-malformed"},
    ),
    "a signature in upper case": (
        _signatures("timestamp", lambda s: s[0].update(sig=s[0]["sig"].upper())),
        {"registry-malformed"},
    ),
    "two signatures by one key": (
        _signatures("timestamp", lambda s: s.append(s[0])),
        {"registry-malformed"},
    ),
    "consistent snapshots": (
        _resign("root", _set(consistent_snapshot=True)),
        {"registry-malformed"},
    ),
    "a fifth top-level role": (
        _resign("root", lambda s: s["roles"].update(evil={"keyids": [], "threshold": 1})),
        {"registry-malformed"},
    ),
    # 3: keys and thresholds
    "threshold above the number of keys": (
        _resign("targets", _delegation(threshold=3)),
        {"registry-threshold"},
    ),
    "a key id without a key": (
        _resign("targets", lambda s: s["delegations"]["roles"][0]["keyids"].append("ab")),
        {"registry-malformed"},
    ),
    # 4 and 5: timestamp and snapshot
    "timestamp not signed": (_signatures("timestamp", list.clear), {"registry-unsigned"}),
    "timestamp with an empty signature": (
        _signatures("timestamp", lambda s: s[0].update(sig="")),
        {"registry-unsigned"},
    ),
    "timestamp changed after signing": (
        _rewrite("metadata/timestamp.json", lambda d: d.replace(b"2036", b"2037")),
        {"registry-wrongly-signed"},
    ),
    "timestamp signed by an attacker": (
        _resign("timestamp", _set(x=1), keys=_by("timestamp", "attacker")),
        {"registry-wrongly-signed"},
    ),
    "timestamp signed by the snapshot key": (
        _resign("timestamp", _set(x=1), keys=_by("timestamp", "snapshot")),
        {"registry-wrongly-signed"},
    ),
    "snapshot record with MD5 only": (
        _resign("timestamp", _record("snapshot.json", hashes={"md5": "0" * 32})),
        {"registry-weak-digest"},
    ),
    "snapshot record without length": (
        _resign("timestamp", _without("snapshot.json", "length")),
        {"registry-weak-digest"},
    ),
    "snapshot of another version": (
        _resign("timestamp", _record("snapshot.json", version=2)),
        {"registry-version"},
    ),
    "snapshot changed": (
        _rewrite("metadata/snapshot.json", lambda d: d.replace(b"2036", b"2037")),
        {"registry-tampered"},
    ),
    "snapshot cut short": (
        _rewrite("metadata/snapshot.json", lambda d: d[:-1]),
        {"registry-truncated"},
    ),
    "snapshot signed by an attacker": (
        _resign("snapshot", _set(x=1), keys=_by("snapshot", "attacker")),
        {"registry-wrongly-signed"},
    ),
    "role record without digest": (
        _resign("snapshot", _without("pinproof.json", "hashes")),
        {"registry-weak-digest"},
    ),
    "role record gone": (
        _resign("snapshot", lambda s: s["meta"].pop("pinproof.json")),
        {"registry-missing"},
    ),
    # 6: targets and delegated roles
    "role changed": (
        _rewrite("metadata/pinproof.json", lambda d: d.replace(b"2036", b"2037")),
        {"registry-tampered"},
    ),
    "role cut short": (
        _rewrite("metadata/pinproof.json", lambda d: d[:99]),
        {"registry-truncated"},
    ),
    "one role's file for another's": (
        lambda r: r.write("metadata/pinproof.json", r.read("metadata/neighbour.json")),
        {"registry-swapped"},
    ),
    "role of another version": (
        _resign("snapshot", _record("pinproof.json", version=2)),
        {"registry-version"},
    ),
    "role signed by one of the two that must": (
        _resign("pinproof", _set(x=1), keys=_by("pinproof", "pinproof 1")),
        {"registry-threshold"},
    ),
    "role signed by another project's keys": (
        _resign("pinproof", _set(x=1), keys=_by("pinproof", "neighbour 1", "neighbour 2")),
        {"registry-wrongly-signed"},
    ),
    "role signed by the top-level key only": (
        _resign("pinproof", _set(x=1), keys=_by("pinproof", "targets")),
        {"registry-wrongly-signed"},
    ),
    "role not signed": (_signatures("pinproof", list.clear), {"registry-unsigned"}),
    # 7: delegations
    "a role lists another project's path": (
        _resign("neighbour", _lists("pinproof/helper/evil.toml")),
        {"registry-outside-paths"},
    ),
    "a role lists an entry of another project": (
        _resign("neighbour", _lists(SIGNED)),
        {"registry-outside-paths"},
    ),
    "a role lists an index file": (
        _resign("neighbour", _lists("index/evil.json")),
        {"registry-outside-paths"},
    ),
    "a role lists a deeper path": (
        _resign("neighbour", _lists("neighbour/helper/deep/evil.toml")),
        {"registry-outside-paths"},
    ),
    "the top-level role lists an entry": (
        _resign("targets", _lists(SIGNED)),
        {"registry-outside-paths"},
    ),
    "a delegation for other paths": (
        _resign("targets", _delegation(paths=["pinproof/image/*"])),
        {"registry-outside-paths"},
    ),
    "a delegation without paths": (
        _resign("targets", _delegation(paths=[])),
        {"registry-malformed"},
    ),
    "a reserved name for a project": (
        _resign("targets", _delegation(name="index")),
        {"registry-malformed"},
    ),
    # 8: names
    "a target named with dots": (
        _resign("neighbour", _lists("../../evil.toml")),
        {"registry-name-unsafe"},
    ),
    "an absolute target": (
        _resign("neighbour", _lists("/etc/passwd")),
        {"registry-name-unsafe"},
    ),
    "a target with a backslash": (
        _resign("neighbour", _lists("neighbour/helper/a\\b.toml")),
        {"registry-name-unsafe"},
    ),
    "a target in upper case": (
        _resign("neighbour", _lists("neighbour/helper/A.toml")),
        {"registry-name-unsafe"},
    ),
    "a target with an empty segment": (
        _resign("neighbour", _lists("neighbour//a.toml")),
        {"registry-name-unsafe"},
    ),
    "a role named with dots": (
        _resign("targets", _delegation(name="..")),
        {"registry-name-unsafe"},
    ),
    "a target record with MD5 only": (
        _resign("pinproof", _record(SIGNED, hashes={"md5": "0" * 32})),
        {"registry-weak-digest"},
    ),
    "a target record without length": (
        _resign("pinproof", _without(SIGNED, "length")),
        {"registry-weak-digest"},
    ),
    "a digest in upper case": (
        _resign("pinproof", _record(SIGNED, hashes={"sha256": "A" * 64})),
        {"registry-malformed"},
    ),
    # 9: what is there and what was signed
    "a target without a record": (
        lambda r: r.write("targets/pinproof/helper/evil.toml", b"evil\n"),
        {"registry-unlisted"},
    ),
    "a record without a target": (
        lambda r: (r.folder / ENTRY).unlink(),
        {"registry-missing"},
    ),
    "metadata that nothing lists": (
        lambda r: r.write("metadata/evil.json", b"{}"),
        {"registry-unlisted"},
    ),
    "a role that nothing delegates to": (
        _slip_in,
        {"registry-unreachable-role"},
    ),
    "a delegation taken away": (
        _resign("targets", lambda s: s["delegations"]["roles"].pop(0)),
        {"registry-unreachable-role", "registry-unlisted"},
    ),
    "a file beside metadata and targets": (
        lambda r: r.write("evil", b"evil\n"),
        {"registry-unlisted"},
    ),
    "a folder beside metadata and targets": (
        lambda r: (r.folder / "evil").mkdir(),
        {"registry-unlisted"},
    ),
    "no timestamp": (
        lambda r: (r.folder / "metadata/timestamp.json").unlink(),
        {"registry-missing"},
    ),
    "no snapshot": (
        lambda r: (r.folder / "metadata/snapshot.json").unlink(),
        {"registry-missing"},
    ),
    "no role": (
        lambda r: (r.folder / "metadata/pinproof.json").unlink(),
        {"registry-missing"},
    ),
    # 10: time
    "timestamp expired": (
        _resign("timestamp", _set(expires="2026-11-01T00:00:00Z")),
        {"registry-expired"},
    ),
    "snapshot expired": (
        _resign("snapshot", _set(expires="2026-10-31T23:59:59Z")),
        {"registry-expired"},
    ),
    "targets expired": (
        _resign("targets", _set(expires="2026-10-31T23:59:59Z")),
        {"registry-expired"},
    ),
    "role expired": (
        _resign("pinproof", _set(expires="2026-10-31T23:59:59Z")),
        {"registry-expired"},
    ),
    "root expired": (
        _resign("root", _set(expires="2026-10-31T23:59:59Z")),
        {"registry-expired"},
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_with_its_code(registry: Registry, name: str) -> None:
    attack, expected = ATTACKS[name]
    sound = registry.content()
    registry.catalog()
    attack(registry)
    assert registry.content() != sound
    result = registry.open()
    assert codes(result) == expected
    assert isinstance(result, Refused)
    for finding in result.findings:
        assert finding.row.facet == "registry"
        assert finding.row.outcome == "undecided"
        assert finding.where.path
        assert finding.got
        assert finding.remedy


def test_every_code_of_opening_has_an_attack() -> None:
    tried = {code for _, expected in ATTACKS.values() for code in expected}
    elsewhere = {
        "registry-untrusted-root",
        "registry-link",
        "registry-key-repeated",
        "registry-key-id",
        "registry-key-type",
        "registry-rolled-back",
        "registry-replaced",
        "registry-entry-malformed",
        "registry-index-wrong",
        "registry-name-repeated",
        "registry-resealed",
    }
    known = {code for code in CODES if code.startswith("registry-")}
    assert known == tried | elsewhere


def test_all_independent_problems_are_told_at_once(registry: Registry) -> None:
    registry.write("metadata/pinproof.json", b"{}")
    registry.write("metadata/neighbour.json", registry.read("metadata/neighbour.json") + b"\n")
    (registry.folder / "targets/link").symlink_to("index")
    assert codes(registry.open()) == {
        "registry-truncated",
        "registry-tampered",
        "registry-link",
    }


def test_no_bit_of_the_timestamp_can_be_changed_to_effect(registry: Registry) -> None:
    """The only metadata that nothing else records: whatever still opens says the same."""
    path = "metadata/timestamp.json"
    data = registry.read(path)
    sound = registry.catalog().facts
    for offset in range(0, len(data), 3):
        changed = bytearray(data)
        changed[offset] ^= 1 << offset % 8
        (registry.folder / path).write_bytes(changed)
        result = registry.open()
        if isinstance(result, Catalog):
            assert json.loads(changed)["signed"] == json.loads(data)["signed"]
            assert result.facts == sound


# ── 2: the root chain ──────────────────────────────────────────────────────────────────────


def _next_root(
    registry: Registry,
    version: int,
    *,
    keys: RoleKeys = KEYS,
    by: tuple[str, ...] = ("root",),
    change: Callable[[dict[str, Any]], object] = dict.copy,
) -> None:
    document = json.loads(registry.read("metadata/1.root.json"))
    signed = document["signed"]
    signed["version"] = version
    signed["keys"] = {
        s.public_key.keyid: s.public_key.to_dict()
        for role in ("root", "snapshot", "targets", "timestamp")
        for s in keys[role].signers
    }
    for role in signed["roles"]:
        signed["roles"][role]["keyids"] = keys[role].keyids
        signed["roles"][role]["threshold"] = keys[role].threshold
    change(signed)
    payload = str(encode_canonical(signed)).encode()
    document["signatures"] = [signer(name).sign(payload).to_dict() for name in by]
    registry.write(f"metadata/{version}.root.json", json.dumps(document).encode())


def test_a_new_root_is_signed_by_the_old_and_the_new_keys(registry: Registry) -> None:
    new = _by("root", "root 2")
    _next_root(registry, 2, keys=new, by=("root", "root 2"))
    catalog = registry.catalog()
    assert catalog.facts.root_version == 2
    assert catalog.facts.root_sha256 == sha256(registry.read("metadata/2.root.json"))


@pytest.mark.parametrize(
    ("by", "code"),
    [
        (("root",), "registry-wrongly-signed"),
        (("root 2",), "registry-wrongly-signed"),
        ((), "registry-unsigned"),
        (("attacker",), "registry-wrongly-signed"),
    ],
)
def test_a_new_root_without_both_is_refused(
    registry: Registry, by: tuple[str, ...], code: str
) -> None:
    _next_root(registry, 2, keys=_by("root", "root 2"), by=by)
    assert codes(registry.open()) == {code}


def test_only_the_last_root_must_be_unexpired(registry: Registry) -> None:
    past = _set(expires="2020-01-01T00:00:00Z")
    _next_root(registry, 2, change=past)
    assert codes(registry.open()) == {"registry-expired"}
    _next_root(registry, 3)
    assert registry.catalog().facts.root_version == 3


def test_a_root_of_another_version_than_its_name_is_refused(registry: Registry) -> None:
    _next_root(registry, 2, change=_set(version=3))
    assert codes(registry.open()) == {"registry-version"}


def test_a_gap_in_the_chain_is_refused(registry: Registry) -> None:
    _next_root(registry, 3)
    assert codes(registry.open()) == {"registry-missing"}


def test_a_later_root_may_be_the_trusted_one(registry: Registry) -> None:
    for version in (2, 3):
        _next_root(registry, version)
    second = registry.read("metadata/2.root.json")
    catalog = registry.open(root=second)
    assert isinstance(catalog, Catalog)
    assert catalog.facts.root_version == 3
    (registry.folder / "metadata/2.root.json").unlink()
    assert isinstance(registry.open(root=second), Catalog)


def test_a_chain_has_at_most_256_steps(registry: Registry) -> None:
    for version in range(2, ROOT_STEPS + 2):
        _next_root(registry, version)
    assert registry.catalog().facts.root_version == ROOT_STEPS + 1
    _next_root(registry, ROOT_STEPS + 2)
    assert codes(registry.open()) == {"registry-too-large"}


def test_a_registry_of_another_root_needs_that_root_named(
    registry: Registry, tmp_path: Path
) -> None:
    keys = {role: Signers(signers=(signer(f"other {role}"),)) for role in KEYS}
    other = make(tmp_path / "other", keys=keys)
    root = other.root
    other.root = registry.root
    assert codes(other.open()) == {"registry-untrusted-root"}
    assert isinstance(other.open(root=root), Catalog)
    assert codes(other.open(root=registry.root)) == {"registry-untrusted-root"}


def test_a_registry_without_the_shipped_root_is_refused(registry: Registry) -> None:
    (registry.folder / "metadata/1.root.json").unlink()
    assert codes(registry.open()) == {"registry-untrusted-root"}
    assert isinstance(registry.open(root=registry.root), Catalog)


def test_a_root_file_cut_short_is_told_from_another_root(registry: Registry) -> None:
    registry.write("metadata/1.root.json", registry.root[:500])
    assert codes(registry.open()) == {"registry-truncated"}


def test_a_trusted_root_that_is_none_is_refused(registry: Registry) -> None:
    timestamp = registry.read("metadata/timestamp.json")
    for root, code in (
        (b"", "registry-truncated"),
        (b"{}", "registry-malformed"),
        (timestamp, "registry-wrong-role"),
        (registry.root.replace(b"2036", b"2037"), "registry-wrongly-signed"),
    ):
        assert codes(registry.open(root=root)) == {code}


def test_the_timestamp_is_signed_by_the_last_roots_keys(registry: Registry) -> None:
    _next_root(registry, 2, keys=_by("timestamp", "timestamp 2"))
    assert codes(registry.open()) == {"registry-wrongly-signed"}
    registry.resign("timestamp", _set(x=1), keys=_by("timestamp", "timestamp 2"))
    registry.catalog()


# ── 3: keys ────────────────────────────────────────────────────────────────────────────────


def _keyid(key: dict[str, Any]) -> str:
    named = {name: key[name] for name in ("keytype", "scheme", "keyval")}
    return sha256(str(encode_canonical(named)).encode())


def _noted(key: dict[str, Any]) -> dict[str, Any]:
    """Give the same key another digest."""
    return {**key, "keyval": {**key["keyval"], "note": "another digest, the same key"}}


def _root_with_key(key: dict[str, Any], keyid: str | None = None) -> Attack:
    """Add a key to the timestamp role; the root that says so is the trusted one."""

    def change(signed: dict[str, Any]) -> None:
        name = keyid or _keyid(key)
        signed["keys"][name] = key
        signed["roles"]["timestamp"]["keyids"].append(name)
        signed["roles"]["timestamp"]["threshold"] = 2

    return _resign("root", change)


def _compressed_pem() -> str:
    """Encode the P-256 key of `ecdsa_signer("ec")` again, its point written in the other way."""
    public = load_pem_public_key(str(_ec_key()["keyval"]["public"]).encode())
    assert isinstance(public, EllipticCurvePublicKey)
    point = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    head = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200")
    text = base64.encodebytes(head + point).decode()
    return f"-----BEGIN PUBLIC KEY-----\n{text}-----END PUBLIC KEY-----\n"


def _ec_key(pem: str | None = None) -> dict[str, Any]:
    key = ecdsa_signer("ec").public_key.to_dict()
    return {**key, "keyval": {"public": pem}} if pem else key


def test_one_ecdsa_key_in_two_encodings_is_one_key(registry: Registry) -> None:
    original = str(_ec_key()["keyval"]["public"])
    for pem in (_compressed_pem(), original.replace("\n", "\r\n"), original.rstrip("\n")):
        assert pem != original

        def change(signed: dict[str, Any], pem: str = pem) -> None:
            ids = []
            for key in (_ec_key(), _ec_key(pem)):
                signed["keys"][_keyid(key)] = key
                ids.append(_keyid(key))
            assert len(set(ids)) == 2
            signed["roles"]["timestamp"].update(keyids=ids, threshold=2)

        spoiled = make(registry.folder.parent / sha256(pem.encode()))
        spoiled.resign("root", change)
        assert codes(spoiled.open()) == {"registry-key-repeated"}


def test_one_ed25519_key_under_two_ids_is_refused(registry: Registry) -> None:
    key = _noted(KEYS["timestamp"].signers[0].public_key.to_dict())
    _root_with_key(key)(registry)
    assert codes(registry.open()) == {"registry-key-repeated"}


def test_one_key_under_two_ids_in_a_delegation_is_refused(registry: Registry) -> None:
    def change(signed: dict[str, Any]) -> None:
        key = _noted(KEYS["pinproof"].signers[0].public_key.to_dict())
        signed["delegations"]["keys"][_keyid(key)] = key
        role = next(r for r in signed["delegations"]["roles"] if r["name"] == "pinproof")
        role["keyids"] = [role["keyids"][0], _keyid(key)]

    registry.resign("targets", change)
    assert codes(registry.open()) == {"registry-key-repeated"}


def test_a_key_id_that_is_not_the_digest_of_its_key_is_refused(registry: Registry) -> None:
    _root_with_key(signer("new").public_key.to_dict(), keyid="ab" * 32)(registry)
    assert codes(registry.open()) == {"registry-key-id"}


@pytest.mark.parametrize(
    ("keytype", "scheme"),
    [
        ("rsa", "rsassa-pss-sha256"),
        ("sigstore-oidc", "Fulcio"),
        ("eddsa", "pgp+eddsa-ed25519"),
        ("ecdsa", "ecdsa-sha2-nistp521"),
        ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"),
        ("ed25519", "ecdsa-sha2-nistp256"),
        ("mldsa", "ml-dsa-44/1"),
        ("unheard-of", "unheard-of"),
        (None, None),
        ([], {}),
    ],
)
def test_other_kinds_of_key_are_refused(registry: Registry, keytype: Any, scheme: Any) -> None:
    key = {"keytype": keytype, "scheme": scheme, "keyval": {"public": "ab"}}
    _root_with_key(key)(registry)
    assert codes(registry.open()) == {"registry-key-type"}


@pytest.mark.parametrize("value", [{}, {"public": "AB" * 32}, {"public": 5}, [], "x", None])
@pytest.mark.parametrize("kind", ["ed25519", "ecdsa-sha2-nistp256"])
def test_what_is_no_public_key_is_refused(registry: Registry, kind: str, value: Any) -> None:
    key = {"keytype": kind.partition("-")[0], "scheme": kind, "keyval": value}
    _root_with_key(key)(registry)
    assert codes(registry.open()) == {"registry-malformed"}


def test_a_key_of_another_curve_than_its_scheme_is_refused(registry: Registry) -> None:
    _root_with_key({**_ec_key(), "scheme": "ecdsa-sha2-nistp384"})(registry)
    assert codes(registry.open()) == {"registry-malformed"}


def test_an_ecdsa_key_signs(tmp_path: Path) -> None:
    keys = {**KEYS, "neighbour": Signers(signers=(ecdsa_signer("ec"),))}
    assert make(tmp_path / "registry", keys=keys).catalog().check_all() == ()


def test_a_threshold_counts_keys_and_not_signatures(registry: Registry) -> None:
    """Signatures by keys that the role has not add nothing."""
    names = ("pinproof 1", "neighbour 1", "neighbour 2", "targets", "root")
    registry.resign("pinproof", _set(x=1), keys=_by("pinproof", *names))
    assert codes(registry.open()) == {"registry-threshold"}


def test_a_surplus_signature_that_is_wrong_does_no_harm(registry: Registry) -> None:
    """As TUF says: what counts is that enough are right, or one signer could lock out all."""
    wrong = [{"keyid": KEYS["neighbour"].keyids[1], "sig": "ab" * 64}]
    registry.resign(
        "neighbour",
        _set(x=1),
        keys=_by("neighbour", "neighbour 1"),
        envelope=lambda d: d["signatures"].extend(wrong),
    )
    registry.catalog()


# ── 4 and 5: the floor ─────────────────────────────────────────────────────────────────────


def test_a_registry_at_its_own_floor_authenticates(registry: Registry) -> None:
    floor = registry.catalog().floor
    catalog = registry.catalog(floor=floor, min_snapshot=1)
    assert catalog.facts.floor == (
        "root 1, timestamp 1, snapshot 1, neighbour 1, pinproof 1, targets 1"
    )


@pytest.mark.parametrize(
    "floor",
    [
        Floor(root=2),
        Floor(timestamp=2),
        Floor(snapshot=2),
        Floor(roles={"targets": 2}),
        Floor(roles={"pinproof": 2}),
        Floor(roles={"gone": 1}),
    ],
)
def test_below_the_floor_is_rolled_back(registry: Registry, floor: Floor) -> None:
    assert codes(registry.open(floor=floor)) == {"registry-rolled-back"}


def test_below_min_snapshot_is_rolled_back(registry: Registry) -> None:
    assert codes(registry.open(min_snapshot=2)) == {"registry-rolled-back"}


def test_an_old_registry_is_rolled_back_and_a_new_one_is_not(tmp_path: Path) -> None:
    versions = dict.fromkeys(set(KEYS) - {"root"}, 2)
    old, new = make(tmp_path / "old"), make(tmp_path / "new", versions=versions)
    assert codes(old.open(floor=new.catalog().floor)) == {"registry-rolled-back"}
    new.catalog(floor=old.catalog().floor)


def test_the_same_version_with_other_bytes_is_replaced(registry: Registry) -> None:
    floor = registry.catalog().floor
    registry.resign("snapshot", _set(x=1))
    assert codes(registry.open(floor=floor)) == {"registry-replaced"}


# ── 7: delegations below delegations ───────────────────────────────────────────────────────


def _delegate(
    registry: Registry,
    delegator: str,
    name: str,
    paths: list[str],
    *,
    targets: dict[str, bytes] | None = None,
    terminating: bool = False,
    write: bool = True,
) -> None:
    """Let `delegator` delegate to `name`, whose key is its name's, with its own targets."""
    key = signer(name).public_key
    role = {
        "name": name,
        "keyids": [key.keyid],
        "threshold": 1,
        "terminating": terminating,
        "paths": paths,
    }

    def change(signed: dict[str, Any]) -> None:
        below = signed.setdefault("delegations", {"keys": {}, "roles": []})
        below["keys"][key.keyid] = key.to_dict()
        below["roles"].append(role)

    keys = {**KEYS, delegator: KEYS.get(delegator) or Signers(signers=(signer(delegator),))}
    registry.resign(delegator, change, keys=keys)
    if not write:
        return
    listed: dict[str, Any] = {}
    document = json.loads(registry.read("metadata/neighbour.json"))
    for path, data in (targets or {}).items():
        listed[path] = {"length": len(data), "hashes": {"sha256": sha256(data)}}
        (registry.folder / "targets" / path).parent.mkdir(parents=True, exist_ok=True)
        (registry.folder / "targets" / path).write_bytes(data)
    document["signed"].update(targets=listed)
    document["signed"].pop("delegations", None)
    registry.write(f"metadata/{name}.json", json.dumps(document).encode())
    registry.resign(name, _set(x=name), keys={**KEYS, name: Signers(signers=(signer(name),))})


def test_a_project_may_delegate_its_own_paths(registry: Registry) -> None:
    entry = entries()["neighbour/helper/example-aging.toml"]
    _delegate(
        registry,
        "neighbour",
        "part",
        ["neighbour/other/*"],
        targets={"neighbour/other/a.toml": entry},
    )
    catalog = registry.catalog()
    assert catalog.names("other") == ("a",)
    assert catalog.entry_bytes("other", "a") == entry


def test_every_step_has_to_match(registry: Registry) -> None:
    """What the project was not given, it cannot give on."""
    _delegate(registry, "neighbour", "part", ["*/image/*"], targets={"pinproof/image/a.toml": b"x"})
    assert codes(registry.open()) == {"registry-outside-paths"}


def test_a_terminating_delegation_ends_the_search(registry: Registry) -> None:
    entry = {"pinproof/image/a.toml": b"x"}
    _delegate(registry, "targets", "late", ["pinproof/image/*"], targets=entry)
    assert codes(registry.open()) == {"registry-outside-paths"}


def test_an_earlier_role_answers_before_a_later_one(registry: Registry) -> None:
    paths = ["neighbour/other/*"]
    _delegate(registry, "neighbour", "one", paths, targets={"neighbour/other/a.toml": b"1"})
    _delegate(registry, "neighbour", "two", paths, targets={"neighbour/other/b.toml": b"2"})
    assert registry.catalog().names("other") == ("a", "b")
    registry.resign(
        "two",
        _lists("neighbour/other/a.toml", b"1"),
        keys={**KEYS, "two": Signers(signers=(signer("two"),))},
    )
    assert codes(registry.open()) == {"registry-outside-paths"}


def test_roles_that_delegate_to_each_other_end(registry: Registry) -> None:
    _delegate(registry, "neighbour", "one", ["neighbour/other/*"])
    _delegate(registry, "one", "two", ["neighbour/other/*"])
    _delegate(registry, "two", "one", ["neighbour/other/*"], write=False)
    registry.catalog()


def test_every_delegator_of_a_role_must_vouch_for_it(registry: Registry) -> None:
    _delegate(registry, "neighbour", "one", ["neighbour/other/*"])

    def change(signed: dict[str, Any]) -> None:
        key = signer("another").public_key
        signed["delegations"]["keys"][key.keyid] = key.to_dict()
        role = {**signed["delegations"]["roles"][0], "name": "one", "keyids": [key.keyid]}
        signed["delegations"]["roles"].append({**role, "threshold": 1})

    registry.resign("targets", change)
    assert codes(registry.open()) == {"registry-wrongly-signed"}


def test_at_most_32_delegations_are_followed(registry: Registry) -> None:
    for number in range(DELEGATIONS - 2):
        _delegate(registry, "targets", f"role{number}", [f"role{number}/*/*"])
    registry.catalog()
    _delegate(registry, "targets", "one-more", ["one-more/*/*"])
    assert codes(registry.open()) == {"registry-too-large"}


# ── 10: one time ───────────────────────────────────────────────────────────────────────────


def test_the_second_of_expiry_is_expired(registry: Registry) -> None:
    registry.catalog(now=EXPIRES - timedelta(seconds=1))
    result = registry.open(now=EXPIRES)
    assert codes(result) == {"registry-expired"}
    assert isinstance(result, Refused)
    assert len(result.findings) == len(KEYS)
    finding = next(f for f in result.findings if f.where.path == "metadata/pinproof.json")
    assert finding.got == "role pinproof expired at 2036-11-01T00:00:00Z"


def test_unknown_fields_are_allowed(registry: Registry) -> None:
    for role in ("root", *(role for role in KEYS if role != "root")):
        registry.resign(role, _set(x_unknown={"of": ["later", 1, True, None]}))
    assert registry.catalog().check_all() == ()
    assert NOW < EXPIRES
