"""Signed commits and tags beside git and ssh-keygen, and with gpg's keys beside gpgv and sqv."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from support import git_repos, runs, signed_commits, statements
from support import registry as registries
from support.git_repos import Repo

from verifier.evidence import openpgp, openpgp_keys

NOW: Final = registries.NOW


def ask(
    folder: Path, oid: str, *options: str, registry: registries.Registry
) -> tuple[int, list[str], dict[str, Any]]:
    command = ["verify", "commit", f"git:repo@{oid}", *options, "--format", "json"]
    ran = runs.run([*command, *runs.trusting(registry)], cwd=folder, clock=NOW)
    assert ran.stderr == b"", ran
    (result,) = json.loads(ran.stdout)["results"]
    return ran.exit, [f["code"] for f in result["findings"]], result


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"no {program} on this machine")


# ── SSH, beside git and ssh-keygen ─────────────────────────────────────────────────────────────

KINDS: Final = {
    "ed25519": ("-t", "ed25519"),
    "p256": ("-t", "ecdsa", "-b", "256"),
    "p384": ("-t", "ecdsa", "-b", "384"),
    "p521": ("-t", "ecdsa", "-b", "521"),
    "rsa": ("-t", "rsa", "-b", "2048"),
}


def with_key(folder: Path, kind: str, *, sha256: bool = False) -> Repo:
    """Make a repository whose user signs with a key that ssh-keygen made."""
    needs("ssh-keygen")
    repo = git_repos.make(folder / "repo", sha256=sha256)
    key = folder / "key"
    made = ["ssh-keygen", "-q", *KINDS[kind], "-N", "", "-C", "me@example.org", "-f", str(key)]
    subprocess.run(made, check=True)
    allowed = folder / "allowed"
    allowed.write_text(f'author@example.org namespaces="git" {(folder / "key.pub").read_text()}')
    repo.configure(
        f"[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = {key}\n"
        f'[gpg "ssh"]\n\tallowedSignersFile = {allowed}\n'
    )
    (repo.path / "file").write_text("content\n")
    repo.git("add", "file")
    return repo


def head(repo: Repo, name: str = "HEAD") -> str:
    return repo.git("rev-parse", name).decode().strip()


@pytest.mark.parametrize("sha256", [False, True])
@pytest.mark.parametrize("kind", ["ed25519", "p256", "p384"])
def test_what_git_signs_with_ssh_is_verified(
    kind: str, sha256: bool, tmp_path: Path, test_registry: registries.Registry
) -> None:
    repo = with_key(tmp_path, kind, sha256=sha256)
    repo.git("commit", "-q", "-S", "-m", "signed\n\nwith -----BEGIN SSH SIGNATURE----- in it")
    repo.git("tag", "-s", "-m", "a tag", "v1")
    assert repo.ask("verify-commit", "HEAD").returncode == 0
    assert repo.ask("verify-tag", "v1").returncode == 0
    for oid in (head(repo), head(repo, "v1")):
        exit_code, codes, _ = ask(tmp_path, oid, "--ssh-key", "key.pub", registry=test_registry)
        assert (exit_code, codes) == (0, [])


@pytest.mark.parametrize("kind", ["p521", "rsa"])
def test_kinds_that_do_not_count_are_named(
    kind: str, tmp_path: Path, test_registry: registries.Registry
) -> None:
    repo = with_key(tmp_path, kind)
    repo.git("commit", "-q", "-S", "-m", "signed")
    (tmp_path / "alice.pub").write_bytes(signed_commits.public("alice"))
    exit_code, codes, _ = ask(
        tmp_path, head(repo), "--ssh-key", "alice.pub", registry=test_registry
    )
    assert (exit_code, codes) == (3, ["git-signature-unsupported"])
    command = ["verify", "commit", f"git:repo@{head(repo)}", "--ssh-key", "key.pub"]
    ran = runs.run([*command, *runs.trusting(test_registry)], cwd=tmp_path, clock=NOW)
    assert ran.exit == 2


#: Git joins several signatures to one text, of which ssh-keygen takes the first; and it shows
#: merged tags without judging by them.
STRICTER: Final = (
    *("two headers", "two in one header", "unknown header"),
    *("merged a changed tag", "merged a tag of another commit", "merged no tag"),
)


@pytest.mark.parametrize("lie", ["", *signed_commits.LIES])
def test_ours_beside_ssh_keygen(
    lie: str, tmp_path: Path, test_registry: registries.Registry
) -> None:
    """What git itself verifies; where it does and we do not, two readers could differ."""
    needs("ssh-keygen")
    oid = signed_commits.make(tmp_path, {"lies": [lie] if lie else []})
    repo = Repo(tmp_path / "repo", tmp_path / "repo/.git")
    (tmp_path / "allowed").write_bytes(b"a@example.org " + (tmp_path / "alice.pub").read_bytes())
    repo.configure(f'[gpg "ssh"]\n\tallowedSignersFile = {tmp_path / "allowed"}\n')
    theirs = repo.ask("verify-commit", oid).returncode == 0
    exit_code, _, _ = ask(tmp_path, oid, "--ssh-key", "alice.pub", registry=test_registry)
    assert theirs or exit_code != 0
    assert (theirs and exit_code != 0) == (lie in STRICTER), lie


def test_no_program_that_the_repository_names_is_run(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    ran = tmp_path / "ran"
    trap = git_repos.planted(tmp_path / "bin/trap", ran)
    oid = signed_commits.make(tmp_path, {})
    repo = Repo(tmp_path / "repo", tmp_path / "repo/.git")
    repo.configure(
        f'[gpg]\n\tprogram = {trap}\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = {trap}\n'
        f"\tallowedSignersFile = {tmp_path / 'alice.pub'}\n"
        f"[core]\n\tfsmonitor = {trap}\n[log]\n\tshowSignature = true\n"
    )
    assert repo.ask("verify-commit", oid).returncode != 0
    assert ran.exists(), "git itself does run it"
    ran.unlink()
    exit_code, _, _ = ask(tmp_path, oid, "--ssh-key", "alice.pub", registry=test_registry)
    assert exit_code == 0
    assert not ran.exists()


def test_every_bit_of_a_signed_commit_counts(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    oid = signed_commits.make(tmp_path, {})
    repo = Repo(tmp_path / "repo", tmp_path / "repo/.git")
    data = repo.git("cat-file", "commit", oid)
    for at in range(0, len(data), 17):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        other = repo.store("commit", bytes(changed))
        exit_code, codes, _ = ask(tmp_path, other, "--ssh-key", "alice.pub", registry=test_registry)
        assert exit_code != 0, at
        assert codes
        repo.store("commit", bytes(changed), oid=oid)
        _, codes, _ = ask(tmp_path, oid, "--ssh-key", "alice.pub", registry=test_registry)
        assert codes == ["git-object-forged"]


# ── signers of the registry ────────────────────────────────────────────────────────────────────


def row(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": f"git-{name}",
        "ssh": statements.ssh(name),
        "predicates": ["git-commit"],
        **more,
    }


@pytest.fixture(scope="module")
def signers(tmp_path_factory: pytest.TempPathFactory) -> registries.Registry:
    revoked = {"at": "2026-10-01T00:00:00Z", "reason": "left"}
    rows = [
        row("alice"),
        row("bob"),
        {**row("alice", valid_until="2023-12-31T00:00:00Z"), "name": "git-ended"},
        {**row("alice", valid_from="2027-01-01T00:00:00Z"), "name": "git-future"},
        {**row("alice", revoked=revoked), "name": "git-revoked"},
        {**row("mallory", revoked={**revoked, "compromised": True}), "name": "git-stolen"},
    ]
    entry = {"schema": "signers/v1", "name": "git", "project": "neighbour", "signer": rows}
    return statements.registry(tmp_path_factory.mktemp("signers") / "registry", entry)


@pytest.mark.parametrize(
    ("names", "exit_code", "codes"),
    [
        (["git-alice"], 0, []),
        (["git-bob", "git-alice"], 0, []),
        (["git-bob"], 1, ["signer-not-this-key"]),
        (["git-ended"], 3, ["signer-time-unproven"]),
        (["git-future"], 1, ["signer-not-yet"]),
        (["git-revoked"], 1, ["signer-revoked"]),
        (["git-stolen"], 1, ["signer-compromised"]),
        (["git-bob", "git-stolen"], 1, ["signer-compromised"]),
        (["alice"], 1, ["signer-predicate"]),
        (["nobody"], 3, ["entry-unknown"]),
    ],
)
def test_signers_of_the_registry(
    names: list[str], exit_code: int, codes: list[str], tmp_path: Path, signers: registries.Registry
) -> None:
    """The commit says 2023: no window is judged by that (its date is the signer's own word)."""
    oid = signed_commits.make(tmp_path, {"by": "mallory" if "git-stolen" in names else "alice"})
    options = [word for name in names for word in ("--signer", name)]
    found = ask(tmp_path, oid, *options, registry=signers)
    assert found[1] == codes or set(codes) <= set(found[1])
    assert found[0] == exit_code


def test_a_signer_of_commits_signs_no_tags(tmp_path: Path, signers: registries.Registry) -> None:
    oid = signed_commits.make(tmp_path, {"object": "tag"})
    exit_code, codes, _ = ask(tmp_path, oid, "--signer", "git-alice", registry=signers)
    assert (exit_code, codes) == (1, ["signer-predicate"])


# ── OpenPGP ────────────────────────────────────────────────────────────────────────────────────


class Gpg:
    """A home of gpg's with keys that it made."""

    def __init__(self, home: Path) -> None:
        needs("gpg", "gpgv", "gpgconf")
        home.mkdir(mode=0o700)
        self.home = home

    def run(self, *arguments: str, data: bytes = b"", at: str = "") -> bytes:
        faked = ["--faked-system-time", at] if at else []
        done = subprocess.run(
            ["gpg", "--batch", "--quiet", "--no-tty", *faked, *arguments],
            env={"PATH": os.defpath, "GNUPGHOME": str(self.home)},
            input=data,
            capture_output=True,
            check=True,
        )
        return done.stdout

    def key(self, name: str, expires: str = "0", *, at: str = "") -> str:
        who = f"{name} <{name}@example.org>"
        self.run("--passphrase", "", "--quick-gen-key", who, "ed25519", "sign", expires, at=at)
        lines = self.run("--list-keys", "--with-colons", name).decode().splitlines()
        return next(line.split(":")[9] for line in lines if line.startswith("fpr:"))

    def stop(self) -> None:
        subprocess.run(
            ["gpgconf", "--kill", "all"],
            env={"PATH": os.defpath, "GNUPGHOME": str(self.home)},
            check=False,
        )


@pytest.fixture
def gpg(tmp_path: Path) -> Any:
    # gpg's agent listens on a socket in its home, whose path may not be long
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gpg-") as folder:
        made = Gpg(Path(folder) / "h")
        yield made
        made.stop()


def signed_by_gpg(folder: Path, gpg: Gpg, *sign: str, at: str = "") -> str:
    """Write a commit as git would, with gpg's signature; return its id."""
    repo = git_repos.make(folder / "repo")
    first = signed_commits.commit_head(repo.tree({b"file": b"content\n"}))
    signed = first + b"\n" + signed_commits.PAYLOAD
    armor = gpg.run("--armor", "--detach-sign", *sign, data=signed, at=at)
    return repo.store(
        "commit", first + signed_commits.header(b"gpgsig", armor) + b"\n" + signed_commits.PAYLOAD
    )


def test_openpgp_in_both_forms_of_a_keyring(
    tmp_path: Path, gpg: Gpg, test_registry: registries.Registry
) -> None:
    fingerprint = gpg.key("alice")
    oid = signed_by_gpg(tmp_path, gpg)
    (tmp_path / "keys.gpg").write_bytes(gpg.run("--export"))
    (tmp_path / "keys.asc").write_bytes(gpg.run("--armor", "--export"))
    for name in ("keys.gpg", "keys.asc"):
        exit_code, codes, result = ask(tmp_path, oid, "--keyring", name, registry=test_registry)
        assert (exit_code, codes) == (0, [])
        assert fingerprint in result["coverage"][0]["detail"]


def test_a_keyring_that_is_none_is_not_blamed_on_the_signature(tmp_path: Path, gpg: Gpg) -> None:
    gpg.key("alice")
    oid = signed_by_gpg(tmp_path, gpg)
    public, secret = gpg.run("--export"), gpg.run("--export-secret-keys")
    for data in (b"", secret, public + secret, public[:-1], public[200:], b"\xff" * 40):
        (tmp_path / "keys.gpg").write_bytes(data)
        command = ["verify", "commit", f"git:repo@{oid}", "--keyring", "keys.gpg"]
        ran = runs.run(command, cwd=tmp_path, clock=NOW)
        assert ran.exit == 2, data
        assert b"keyring of public keys" in ran.stderr


def test_openpgp_of_others_and_over_other_bytes(
    tmp_path: Path, gpg: Gpg, test_registry: registries.Registry
) -> None:
    alice, bob = gpg.key("alice"), gpg.key("bob")
    oid = signed_by_gpg(tmp_path, gpg, "--local-user", alice)
    (tmp_path / "bob.gpg").write_bytes(gpg.run("--export", bob))
    (tmp_path / "all.gpg").write_bytes(gpg.run("--export"))
    found = ask(tmp_path, oid, "--keyring", "bob.gpg", registry=test_registry)
    assert found[:2] == (1, ["git-signature-signer"])
    repo = Repo(tmp_path / "repo", tmp_path / "repo/.git")
    data = repo.git("cat-file", "commit", oid)
    other = repo.store("commit", data.replace(b"mean what", b"mean that"))
    found = ask(tmp_path, other, "--keyring", "all.gpg", registry=test_registry)
    assert found[:2] == (1, ["git-signature-broken"])
    two = signed_by_gpg(tmp_path / "two", gpg, "--local-user", alice, "--local-user", bob)
    (tmp_path / "two/all.gpg").write_bytes(gpg.run("--export"))
    found = ask(tmp_path / "two", two, "--keyring", "all.gpg", registry=test_registry)
    assert found[:2] == (1, ["git-signature-malformed"])


def test_openpgp_revoked_expired_and_weak(
    tmp_path: Path, gpg: Gpg, test_registry: registries.Registry
) -> None:
    """In the first two cases gpgv ends with exit code 0."""
    revoked = gpg.key("revoked")
    oid = signed_by_gpg(tmp_path, gpg)
    certificate = gpg.home / f"openpgp-revocs.d/{revoked}.rev"
    gpg.run("--import", data=certificate.read_bytes().replace(b":-----BEGIN", b"-----BEGIN"))
    (tmp_path / "keys.gpg").write_bytes(gpg.run("--export"))
    found = ask(tmp_path, oid, "--keyring", "keys.gpg", registry=test_registry)
    assert found[:2] == (1, ["git-signature-revoked"])

    expired = gpg.key("expired", "2021-01-01", at="20200101T000000")
    oid = signed_by_gpg(tmp_path / "b", gpg, "--local-user", expired, at="20200601T000000")
    (tmp_path / "b/keys.gpg").write_bytes(gpg.run("--export"))
    found = ask(tmp_path / "b", oid, "--keyring", "keys.gpg", registry=test_registry)
    assert found[:2] == (3, ["git-signature-expired"])

    weak = gpg.key("weak")
    how = ("--local-user", weak, "--digest-algo", "SHA1")
    oid = signed_by_gpg(tmp_path / "c", gpg, *how)
    (tmp_path / "c/keys.gpg").write_bytes(gpg.run("--export"))
    found = ask(tmp_path / "c", oid, "--keyring", "keys.gpg", registry=test_registry)
    assert found[:2] == (3, ["git-signature-weak"])


def test_text_beside_an_openpgp_signature_is_signed_by_nobody(
    tmp_path: Path, gpg: Gpg, test_registry: registries.Registry
) -> None:
    """gpgv, and git with it, lets it pass; `git show` prints it as if it belonged to the tag."""
    gpg.key("alice")
    (tmp_path / "keys.gpg").write_bytes(gpg.run("--export"))
    repo = Repo(tmp_path / "repo", tmp_path / "repo/.git")
    commit = signed_by_gpg(tmp_path, gpg)
    data = repo.git("cat-file", "commit", commit)
    tag = f"object {commit}\ntype commit\ntag v1\ntagger A <a@x> 1 +0000\n\nv1\n".encode()
    armor = gpg.run("--armor", "--detach-sign", data=tag)
    end, version = b"-----END PGP SIGNATURE-----\n", b"SIGNATURE-----\nVersion: 1\n\n"
    for kind, whole, codes in (
        ("tag", tag + armor, []),
        ("tag", tag + armor + b" \n\n", []),  # as GitHub ends them
        ("tag", tag + armor.replace(b"SIGNATURE-----\n\n", version, 1), []),
        ("tag", tag + armor + b"Reviewed-by: Bob\n", ["git-signature-malformed"]),
        ("tag", tag + armor + end, ["git-signature-malformed"]),
        ("tag", tag + armor.replace(end, b"a b\n" + end), ["git-signature-malformed"]),
        ("commit", data.replace(end, end + b" x\n"), ["git-signature-malformed"]),
    ):
        oid = repo.store(kind, whole)
        found = ask(tmp_path, oid, "--keyring", "keys.gpg", registry=test_registry)
        assert found[:2] == (1 if codes else 0, codes), whole


def test_openpgp_looked_back_at_over_an_expiry(
    tmp_path: Path, gpg: Gpg, test_registry: registries.Registry
) -> None:
    """Of what has expired, gpgv says nothing else that is wrong with it."""
    began, then = "20200101T000000", "20200601T000000"
    key = gpg.key("alice", "2023-01-01", at=began)
    ended, weak = ("--default-sig-expire", "10d"), ("--digest-algo", "SHA1")

    def codes(name: str, year: int, *sign: str) -> list[str]:
        folder = tmp_path / name
        if not folder.exists():
            oids[name] = signed_by_gpg(folder, gpg, *sign, at=then)
        (folder / "keys.gpg").write_bytes(gpg.run("--export"))
        past = ("--effective-time", f"{year}-07-01T00:00:00Z", "--insecure-past-time")
        options = ("--keyring", "keys.gpg", *past)
        return ask(folder, oids[name], *options, registry=test_registry)[1]

    oids: dict[str, str] = {}
    assert codes("good", 2022) == []
    assert codes("good", 2023) == ["git-signature-expired"]
    assert codes("ended", 2022, *ended) == ["git-signature-expired"]
    assert codes("weak", 2022, *weak) == ["git-signature-weak"]
    gpg.run("--passphrase", "", "--quick-add-key", key, "ed25519", "sign", "1y", at=began)
    assert codes("subkey", 2020) == []
    assert codes("subkey", 2022) == ["git-signature-expired"]
    assert codes("good", 2022) == ["git-signature-expired"], "gpgv does not say which of the two"
    certificate = gpg.home / f"openpgp-revocs.d/{key}.rev"
    gpg.run("--import", data=certificate.read_bytes().replace(b":-----BEGIN", b"-----BEGIN"))
    for name in ("good", "subkey", "ended", "weak"):
        assert codes(name, 2020) == ["git-signature-revoked"], name


def test_a_keyring_of_which_revocations_cannot_be_told() -> None:
    key = b"\x98\x06\x04key.."
    fingerprint = hashlib.sha1(b"\x99\x00\x06\x04key..", usedforsecurity=False).hexdigest().upper()
    assert openpgp_keys.revoked(key) == frozenset()
    for packet in (b"\x88\x02\x04\x20", b"\xc2\x02\x04\x20", b"\x89\0\x03\x03\x05\x20"):
        assert openpgp_keys.revoked(key + packet) == frozenset({fingerprint})
    large = b"\xc2\xc0\x00\x04\x20" + bytes(190), b"\xc2\xff\0\0\0\x02\x04\x28"
    assert [openpgp_keys.revoked(key + each) for each in large] == [frozenset({fingerprint})] * 2
    for damaged in (key[:-1], key + b"\x04", b"\x98\x01\x06", key + b"\xc2\xe0\x04", b"\x9b\x04"):
        assert openpgp_keys.revoked(damaged) is None


def test_sqv_agrees_on_what_is_good(tmp_path: Path, gpg: Gpg) -> None:
    needs("sqv")
    gpg.key("alice")
    signed = b"what is signed\n"
    armor, keys = gpg.run("--armor", "--detach-sign", data=signed), gpg.run("--export")
    for name, data in (("sig", armor), ("keys", keys), ("data", signed), ("other", b"other\n")):
        (tmp_path / name).write_bytes(data)
    for name in ("data", "other"):
        sqv = ["sqv", "--keyring", "keys", "sig", name]
        done = subprocess.run(sqv, cwd=tmp_path, capture_output=True, check=False)
        answer = openpgp.check(armor, (tmp_path / name).read_bytes(), keys)
        assert (done.returncode == 0) == (answer.standing == "good")


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ("", "malformed"),
        ("NEWSIG", "malformed"),
        ("NEWSIG|GOODSIG A x", "malformed"),
        ("NEWSIG|GOODSIG A x|VALIDSIG F d 1 0 4 0 22 8 01 P", "malformed"),
        ("NEWSIG|GOODSIG A x|VALIDSIG F d 1 0 4 0 22 8 00 P", "good"),
        ("NEWSIG|GOODSIG A x|VALIDSIG F d 1 0 4 0 22 2 00 P", "weak"),
        ("NEWSIG|GOODSIG A x|GOODSIG B x|VALIDSIG F d 1 0 4 0 22 8 00 P", "malformed"),
        ("NEWSIG|NEWSIG|GOODSIG A x|VALIDSIG F d 1 0 4 0 22 8 00 P", "malformed"),
        ("NEWSIG|BADSIG A x", "broken"),
        ("NEWSIG|ERRSIG A 22 8 00 1 9 F|NO_PUBKEY A", "unknown key"),
        ("NEWSIG|ERRSIG A 22 1 00 1 5 F", "weak"),
        ("NEWSIG|ERRSIG A 99 8 00 1 4 F", "unsupported"),
        ("NEWSIG|EXPSIG A x|VALIDSIG F d 1 0 4 0 22 8 00 P", "expired"),
        ("NEWSIG|REVKEYSIG A x|VALIDSIG F d 1 0 4 0 22 8 00 P", "revoked"),
    ],
)
def test_what_gpgv_says(
    said: str, standing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gpgv"
    lines = "".join(f"echo '[GNUPG:] {line}'\n" for line in said.split("|") if line)
    program.write_text(f"#!/bin/sh\n{lines}exit 0\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setattr(openpgp, "program", lambda: program)
    assert openpgp.check(b"", b"", b"").standing == standing


def test_without_gpgv_nothing_is_said(
    tmp_path: Path, test_registry: registries.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    oid = signed_commits.make(tmp_path, {"lies": ["openpgp"]})
    (tmp_path / "keys.gpg").write_bytes(b"\x98\x01\x04")
    monkeypatch.setattr(openpgp, "program", lambda: None)
    found = ask(tmp_path, oid, "--keyring", "keys.gpg", registry=test_registry)
    assert found[:2] == (3, ["git-signature-program"])


def test_gpgv_is_told_nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No home, no path, no configuration of the user; and it runs in no folder of theirs."""
    program = tmp_path / "gpgv"
    program.write_text(f"#!/bin/sh\n/usr/bin/env > {tmp_path}/env\npwd >> {tmp_path}/env\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setattr(openpgp, "program", lambda: program)
    monkeypatch.setenv("GNUPGHOME", "/somewhere")
    monkeypatch.setenv("LD_PRELOAD_X", "evil")
    openpgp.check(b"", b"", b"")
    told = (tmp_path / "env").read_text()
    assert "somewhere" not in told
    assert "evil" not in told
    assert ".pinproof-" in told.splitlines()[-1]


def test_a_tag_that_git_merged_is_verified_with_the_merge(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    repo = with_key(tmp_path, "ed25519")
    repo.git("commit", "-q", "-S", "-m", "base")
    repo.git("checkout", "-q", "-b", "side")
    repo.git("commit", "-q", "--allow-empty", "-m", "side")
    repo.git("tag", "-s", "-m", "a tag", "v1")
    repo.git("checkout", "-q", "-")
    repo.git("merge", "-q", "--no-ff", "-S", "--no-edit", "v1")
    assert b"\nmergetag object " in repo.git("cat-file", "commit", "HEAD")
    oid = head(repo)
    exit_code, codes, result = ask(tmp_path, oid, "--ssh-key", "key.pub", registry=test_registry)
    assert (exit_code, codes) == (0, [])
    (held,) = (each for each in result["coverage"] if each["facet"] == "signature")
    assert "merged tag v1 by SSH key" in held["detail"]
