"""signers/v1: what is read, all mistakes at once, and one meaning for a name."""

import tomllib
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support import registry as registries
from support import runs, statements

from verifier.actions import seal
from verifier.catalog.entries import signers_format
from verifier.catalog.entries.signers import Signer, SignersEntry
from verifier.catalog.refused import Refused
from verifier.core.errors import WrongCallError
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError
from verifier.evidence.keys import SCHEMES, PublicKey
from verifier.evidence.signers import key_of

SPKI: Final = b64encode(statements.public("alice").spki).decode()
ROW: Final = f"""
[[signer]]
name = "alice"
key = {{ scheme = "ed25519", public = "{SPKI}" }}
predicates = ["https://in-toto.io/attestation/svr/v0.2", "git-tag"]
"""
HEAD: Final = 'schema = "signers/v1"\nname = "us"\nproject = "us"\n'


def parse(text: str) -> SignersEntry:
    return signers_format.parse(text.encode(), "us.toml")


def mistakes(text: str) -> list[str]:
    with pytest.raises(MalformedError) as refused:
        parse(text)
    return list(refused.value.mistakes)


def test_a_row_is_read_whole() -> None:
    more = (
        'project = "them"\nvalid_from = 2026-01-01T00:00:00Z\nvalid_until = 2026-12-31T00:00:00Z\n'
        'revoked = { at = 2026-06-01T00:00:00Z, reason = "left", compromised = true }\n'
    )
    (signer,) = parse(HEAD + ROW + more).signers
    assert signer.spki == statements.public("alice").spki
    assert (signer.name, signer.project) == ("alice", "them")
    assert signer.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
    assert signer.revoked is not None
    assert signer.revoked.compromised


def test_a_row_belongs_to_its_entry_s_project_and_has_no_ends() -> None:
    (signer,) = parse(HEAD + ROW).signers
    assert (signer.project, signer.valid_from, signer.valid_until) == ("us", None, None)
    assert signer.revoked is None


def test_the_schemes_are_those_of_the_evidence() -> None:
    """Two floors name them: entries are read without a library for keys."""
    assert tuple(signers_format._SPKI) == SCHEMES


def encodings() -> list[tuple[str, bytes]]:
    """Keys of every kind, from many seeds, as the library encodes them."""
    return [
        (statements.public(f"{curve}{number}").scheme, statements.public(f"{curve}{number}").spki)
        for curve in ("", "p256-", "p384-")
        for number in range(20)
    ]


def test_every_key_of_the_library_is_one_here() -> None:
    for scheme, spki in encodings():
        text = ROW.replace(SPKI, b64encode(spki).decode()).replace('"ed25519"', f'"{scheme}"')
        (signer,) = parse(HEAD + text).signers
        assert signer.spki == spki
        assert key_of(signer) == PublicKey.der(spki)


def in_ssh(line: str) -> str:
    return f'[[signer]]\nname = "x"\nssh = "{line}"\npredicates = ["git-tag"]\n'


@pytest.mark.parametrize("name", ["alice", "p256-carol", "p384-dave"])
def test_a_key_of_ssh_is_the_same_key(name: str) -> None:
    text = (
        HEAD + f'[[signer]]\nname = "x"\nssh = "{statements.ssh(name)}"\npredicates = ["git-tag"]\n'
    )
    (signer,) = parse(text).signers
    assert signer.spki == statements.public(name).spki
    assert signer.scheme == statements.public(name).scheme


def spki(key: Any) -> bytes:
    encoded: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return encoded


def other_keys() -> list[bytes]:
    return [
        spki(rsa.generate_private_key(65537, 2048).public_key()),
        spki(ec.generate_private_key(ec.SECP521R1()).public_key()),
        spki(ec.generate_private_key(ec.SECP256K1()).public_key()),
        spki(x25519.X25519PrivateKey.generate().public_key()),
    ]


def test_other_kinds_of_keys_are_none() -> None:
    good = statements.public("alice").spki
    for other in (*other_keys(), good[:-1], good + b"\0", b"\x30" + good[1:-1], good[12:]):
        found = mistakes(HEAD + ROW.replace(SPKI, b64encode(other).decode()))
        assert found == ["signer[0].key.public: is no SubjectPublicKeyInfo of scheme ed25519"]


def test_a_compressed_point_is_a_second_encoding_and_none() -> None:
    key = statements.key("p256-carol").public_key()
    assert not isinstance(key, ed25519.Ed25519PublicKey)
    short = key.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    spki = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200") + short
    text = ROW.replace(SPKI, b64encode(spki).decode()).replace('"ed25519"', '"ecdsa-sha2-nistp256"')
    assert "is no SubjectPublicKeyInfo" in mistakes(HEAD + text)[0]


def test_a_point_off_its_curve_never_signed_anything() -> None:
    spki = bytearray(statements.public("p256-carol").spki)
    spki[-1] ^= 1
    text = ROW.replace(SPKI, b64encode(spki).decode()).replace('"ed25519"', '"ecdsa-sha2-nistp256"')
    (signer,) = parse(HEAD + text).signers
    assert key_of(signer) is None


SSH: Final = statements.ssh("alice")
ENDED: Final = "valid_until = 2026-01-01T00:00:00Z"
ALLOWED: Final = 'predicates = ["https://in-toto.io/attestation/svr/v0.2", "git-tag"]'
AT: Final = "at = 2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "us"', 'name = "Us"', "name"),
        ('schema = "signers/v1"', 'schema = "signers/v2"', "schema"),
        (ROW, "", "signer: missing"),
        (ROW, ROW + ROW, "signer: alice is given twice"),
        ("ed25519", "rsa", "key.scheme"),
        ("ed25519", "ecdsa-sha2-nistp256", "key.public"),
        (SPKI, SPKI[:-1], "key.public: is not standard base64"),
        (SPKI, SPKI.replace("+", "-").replace("/", "_") + "A", "key.public"),
        ('["https', '["svr", "https', "predicates"),
        ('["https', '["", "https', "predicates"),
        ('"git-tag"', '"git-tag", "git-tag"', "predicates"),
        (ALLOWED, "predicates = []", "is empty"),
        (ALLOWED, "", "predicates: missing"),
        (
            "[[signer]]",
            f'[[signer]]\nssh = "{SSH}"',
            "exactly one of key, ssh, identity, got key and ssh",
        ),
        (
            "[[signer]]",
            '[[signer]]\nidentity = { issuer = "a", subject = "b" }',
            "got key and identity",
        ),
        ("key = {", "kee = {", "got none"),
        ("[[signer]]", "[[signer]]\nexpires = 2026-01-01T00:00:00Z", "expires: unknown key"),
        (
            "[[signer]]",
            "[[signer]]\nvalid_from = 2027-01-01T00:00:00Z\n" + ENDED,
            "is before valid_from",
        ),
        ("[[signer]]", '[[signer]]\nvalid_from = "2026-01-01"', "valid_from"),
        ("[[signer]]", f"[[signer]]\nrevoked = {{ {AT} }}", "revoked.reason: missing"),
        ("[[signer]]", '[[signer]]\nrevoked = { reason = "x" }', "revoked.at: missing"),
        (
            "[[signer]]",
            f'[[signer]]\nrevoked = {{ {AT}, reason = "x", compromised = "yes" }}',
            "compromised",
        ),
        ("[[signer]]", "[[signer]]\nrevoked = true", "revoked"),
    ],
)
def test_mistakes_are_named_by_their_path(old: str, new: str, said: str) -> None:
    text = (HEAD + ROW).replace(old, new)
    assert text != HEAD + ROW
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)


@pytest.mark.parametrize(
    "line",
    [
        SSH + " me@here",
        SSH + " ",
        "restrict " + SSH,
        SSH.replace(" ", "  "),
        SSH.replace("ssh-ed25519", "ecdsa-sha2-nistp256"),
        SSH.replace("ssh-ed25519", "ssh-rsa"),
        SSH.replace("ssh-ed25519", "sk-ssh-ed25519@openssh.com"),
        SSH[:-4],
        statements.ssh("p256-carol").replace("nistp256 ", "nistp384 "),
        "ssh-ed25519",
    ],
)
def test_lines_of_ssh_that_are_no_plain_key(line: str) -> None:
    text = HEAD + in_ssh(line)
    assert any("ssh" in mistake for mistake in mistakes(text))


def test_a_compromised_key_is_compromised_in_every_row() -> None:
    gone = 'revoked = { at = 2026-06-01T00:00:00Z, reason = "x", compromised = true }\n'
    again = ROW.replace('"alice"', '"old"')
    found = mistakes(HEAD + ROW + again + gone)
    assert found == ["signer: the key of alice is compromised by another row"]
    assert len(parse(HEAD + ROW + gone + again + gone).signers) == 2
    assert len(parse(HEAD + ROW + again + gone.replace("true", "false")).signers) == 2


def test_all_mistakes_at_once() -> None:
    bad = ROW.replace("ed25519", "rsa").replace("git-tag", "tag") + "more = 1\n"
    assert len(mistakes(HEAD.replace('"us"', '"U S"', 1) + bad)) >= 4


# ── in a registry ──────────────────────────────────────────────────────────────────────────────


def entry(name: str, *signers: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "signers/v1", "name": name, "project": "them", "signer": list(signers)}


def codes(answer: Signer | Refused) -> set[str]:
    return {finding.code for finding in answer.findings} if isinstance(answer, Refused) else set()


def test_a_row_is_found_by_its_name(tmp_path: Path) -> None:
    catalog = statements.registry(
        tmp_path / "r", entry("them", statements.signer("erin"))
    ).catalog()
    assert catalog.names("signers") == ("them", "us")
    for name in ("erin", "them/erin"):
        signer = catalog.signer(name)
        assert isinstance(signer, Signer)
        assert signer.spki == statements.public("erin").spki
    for name in ("us/erin", "erin/", "/erin", "them", "erim", "them/", "x/them/erin"):
        assert codes(catalog.signer(name)) == {"entry-unknown"}, name
    assert catalog.check_all() == ()


def test_a_name_that_two_entries_give_means_neither(tmp_path: Path) -> None:
    registry = statements.registry(tmp_path / "r", entry("them", statements.signer("alice")))
    catalog = registry.catalog()
    assert codes(catalog.signer("alice")) == {"signer-ambiguous"}
    assert isinstance(catalog.signer("us/alice"), Signer)
    assert isinstance(catalog.signer("bob"), Signer)
    assert {finding.code for finding in catalog.check_all()} == {"signer-ambiguous"}


def test_an_entry_that_cannot_be_read_stands_in_the_way_of_every_name(tmp_path: Path) -> None:
    text = write_toml(entry("them", statements.signer("erin"))).replace(b"ed25519", b"rsa")
    catalog = with_entry(tmp_path, text).catalog()
    assert codes(catalog.signer("alice")) == {"registry-entry-malformed"}
    assert isinstance(catalog.signer("us/alice"), Signer)


def test_a_newer_entry_stands_in_the_way_of_what_is_nowhere_else(tmp_path: Path) -> None:
    text = write_toml({**entry("them", statements.signer("erin")), "schema": "signers/v2"})
    catalog = with_entry(tmp_path, text).catalog()
    assert isinstance(catalog.signer("alice"), Signer)
    assert codes(catalog.signer("erin")) == {"entry-newer"}


def test_what_one_entry_calls_compromised_is_so_under_every_name(tmp_path: Path) -> None:
    gone = {"at": "2026-11-20T00:00:00Z", "reason": "stolen", "compromised": True}
    theirs = statements.signer("alice") | {"name": "erin", "revoked": gone}
    account = statements.signers()["signer"][-1] | {"name": "robot", "revoked": gone}
    catalog = statements.registry(tmp_path / "r", entry("them", theirs, account)).catalog()
    for name in ("alice", "us/alice", "builder", "us/builder"):
        found = catalog.signer(name)
        assert isinstance(found, Signer)
        assert found.revoked is not None
        assert found.revoked.compromised
        assert found.revoked.reason.startswith("stolen (says them/")
    for name in ("bob", "committer"):
        found = catalog.signer(name)
        assert isinstance(found, Signer)
        assert found.revoked is None
    assert catalog.check_all() == (), "a theft can be published before all have agreed"


def test_a_key_that_another_entry_only_revokes_counts(tmp_path: Path) -> None:
    gone = {"at": "2026-11-20T00:00:00Z", "reason": "left"}
    theirs = statements.signer("alice") | {"name": "erin", "revoked": gone}
    catalog = statements.registry(tmp_path / "r", entry("them", theirs)).catalog()
    found = catalog.signer("alice")
    assert isinstance(found, Signer)
    assert found.revoked is None
    assert catalog.check_all() == ()


def with_entry(folder: Path, text: bytes) -> registries.Registry:
    """Sign an entry that the index of the seal would refuse."""
    signed = {path: d for path, d in registries.entries().items() if not path.startswith("index/")}
    signed["neighbour/signers/us.toml"] = write_toml(statements.signers())
    signed |= registries.index_of(signed)
    signed["neighbour/signers/them.toml"] = text
    return registries.make(folder / "r", targets=signed)


def test_signers_are_sealed_and_listed(tmp_path: Path) -> None:
    place = tmp_path / "r" / "targets" / "them" / "signers"
    place.mkdir(parents=True)
    (place / "them.toml").write_bytes(write_toml(entry("them", statements.signer("erin"))))
    sealed = seal.seal(tmp_path / "r", now=registries.NOW)
    assert sealed.entries == ("them/signers/them.toml",)
    trust = ["--registry", "r", "--root", "r/metadata/1.root.json"]
    ran = runs.run(["list", *trust], cwd=tmp_path, clock=registries.NOW)
    assert ran.exit == 0
    assert b"signers them" in ran.stdout
    assert b"erin" in ran.stdout


def test_a_seal_refuses_one_name_for_two(tmp_path: Path) -> None:
    place = tmp_path / "r" / "targets" / "them" / "signers"
    place.mkdir(parents=True)
    for name in ("one", "two"):
        text = write_toml(entry(name, statements.signer("erin")))
        (place / f"{name}.toml").write_bytes(text)
    before = runs.content(tmp_path)
    with pytest.raises(WrongCallError, match="two signers of one name"):
        seal.seal(tmp_path / "r", now=registries.NOW)
    assert {path for path in runs.content(tmp_path) if "metadata" in path} == set()
    assert before.keys() <= runs.content(tmp_path).keys()


def test_the_registry_that_ships_has_no_invented_signers() -> None:
    targets = Path(__file__).parents[3] / "registry" / "targets"
    for path in targets.glob("*/signers/*.toml"):
        assert "example" not in tomllib.loads(path.read_text())["name"]
