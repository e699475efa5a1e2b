"""Signed commits and tags for tests: by our own hand, byte for byte, with every lie.

A recipe (a `[signed_repo."<folder>"]` table of a case) makes a repository with one object to ask
about: `object` is `commit` or `tag`, `sha256` its kind of ids, `by` whose key signs (keys are those
of support.statements), `lies` of LIES. Beside it lie
a `.pub` for each of alice, bob, p256-carol and p384-dave. Everything is fixed: ids are constants.
"""

import base64
import hashlib
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384

from support import git_repos
from support.git_repos import WHO, Repo
from support.statements import key, ssh

PAYLOAD: Final = b"Sign what you mean\n\nand mean what you sign\n"


def public(name: str) -> bytes:
    """Write a public key as OpenSSH does, with a comment."""
    return f"{ssh(name)} {name}@example.org\n".encode()


def field(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def mpint(value: int) -> bytes:
    return field(value.to_bytes(value.bit_length() // 8 + 1))


def sshsig(
    name: str, message: bytes, *, namespace: bytes = b"git", hashed: str = "sha512"
) -> bytes:
    """Sign as `ssh-keygen -Y sign` does (PROTOCOL.sshsig)."""
    digest = hashlib.new(hashed, message).digest()
    inner = b"".join(map(field, (namespace, b"", hashed.encode(), digest)))
    kind, blob, *_ = public(name).split(b" ")
    private, signed = key(name), b"SSHSIG" + inner
    if isinstance(private, Ed25519PrivateKey):
        value = private.sign(signed)
    else:
        using = SHA256() if name.startswith("p256") else SHA384()
        der = private.sign(signed, ECDSA(using, deterministic_signing=True))
        value = b"".join(map(mpint, decode_dss_signature(der)))
    parts = (base64.b64decode(blob), namespace, b"", hashed.encode(), field(kind) + field(value))
    return armored(b"SSHSIG" + struct.pack(">I", 1) + b"".join(map(field, parts)))


def armored(data: bytes) -> bytes:
    text = base64.b64encode(data)
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    begin, end = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
    return b"\n".join([begin, *lines, end]) + b"\n"


def commit_head(tree: str) -> bytes:
    return b"tree %s\nauthor %s\ncommitter %s\n" % (tree.encode(), WHO, WHO)


def header(name: bytes, armor: bytes) -> bytes:
    return name + b" " + armor.rstrip(b"\n").replace(b"\n", b"\n ") + b"\n"


def make(folder: Path, recipe: Mapping[str, Any]) -> str:
    """Write a repository by its recipe; return the id that is asked about."""
    repo = git_repos.make(folder / "repo", sha256=recipe.get("sha256", False))
    for name in ("alice", "bob", "p256-carol", "p384-dave"):
        (folder / f"{name}.pub").write_bytes(public(name))
    tree = repo.tree({b"file": b"content\n"})
    make_one = _tag if recipe.get("object") == "tag" else _commit
    return make_one(repo, tree, recipe.get("by", "alice"), recipe.get("lies", []))


def _commit(repo: Repo, tree: str, by: str, lies: list[str]) -> str:
    name = b"gpgsig-sha256" if repo.sha256 else b"gpgsig"
    head, body = commit_head(tree), PAYLOAD
    armor = sshsig(by, head + b"\n" + body)
    signature = header(name, armor)
    for lie in lies:
        head, signature, body = LIES[lie](head, signature, body, by)
    oid = repo.store("commit", head + signature + b"\n" + body)
    repo.point("refs/heads/main", oid)
    return oid


def _tag(repo: Repo, tree: str, by: str, lies: list[str]) -> str:
    target = repo.commit_of(tree)
    head = f"object {target}\ntype commit\ntag v1\ntagger {WHO.decode()}\n".encode()
    body = PAYLOAD
    signature = sshsig(by, head + b"\n" + body)
    for lie in lies:
        head, signature, body = TAG_LIES[lie](head, signature, body, by)
    tag = repo.store("tag", head + b"\n" + body + signature)
    repo.point("refs/tags/v1", tag)
    return tag


# ── lies ───────────────────────────────────────────────────────────────────────────────────────

Parts = tuple[bytes, bytes, bytes]
Lie = Callable[[bytes, bytes, bytes, str], Parts]


def _swap(old: bytes, new: bytes, part: int) -> Lie:
    """Change bytes of the head, the signature or the body, after signing."""

    def lie(head: bytes, signature: bytes, body: bytes, by: str) -> Parts:
        parts = [head, signature, body]
        assert old in parts[part], (old, parts[part])
        parts[part] = parts[part].replace(old, new, 1)
        return parts[0], parts[1], parts[2]

    return lie


def _signature(make: Callable[[bytes, bytes, str], bytes]) -> Lie:
    """Write another signature; `make` takes what is signed, the old one, and whose it is."""
    return lambda head, old, body, by: (head, make(head + b"\n" + body, old, by), body)


def _hardware(message: bytes, old: bytes, by: str) -> bytes:
    kind = b"sk-ssh-ed25519@openssh.com"
    blob = field(kind) + field(bytes(32)) + field(b"ssh:")
    inner = field(kind) + field(bytes(64)) + b"\x01" + bytes(4)
    parts = b"".join(map(field, (blob, b"git", b"", b"sha512", inner)))
    return header(b"gpgsig", armored(b"SSHSIG" + struct.pack(">I", 1) + parts))


def _other_armor(begin: bytes) -> Lie:
    armor = b"-----BEGIN %s-----\nMIIBhg==\n-----END %s-----\n" % (begin, begin)
    return _signature(lambda _message, _old, _by: header(b"gpgsig", armor))


def _of_bob(message: bytes, old: bytes, by: str) -> bytes:
    """Bob's signature with alice's key written in."""
    theirs = base64.b64decode(b"".join(sshsig("bob", message).split(b"\n")[1:-2]))
    bobs, alices = [base64.b64decode(public(name).split(b" ")[1]) for name in ("bob", "alice")]
    return header(b"gpgsig", armored(theirs.replace(bobs, alices)))


def merging(tag: bytes, *, parent: bytes = b"1" * 40) -> Lie:
    """Make it a merge of a tag, whose copy is `tag`, and sign it so."""

    def lie(head: bytes, _signature: bytes, body: bytes, by: str) -> Parts:
        parents = b"parent %s\nparent %s\nauthor " % (b"2" * 40, parent)
        copied = b"mergetag " + tag.rstrip(b"\n").replace(b"\n", b"\n ") + b"\n"
        merged = head.replace(b"author ", parents, 1) + copied
        return merged, header(b"gpgsig", sshsig(by, merged + b"\n" + body)), body

    return lie


def signed_tag(by: str | None = None, *, said: bytes = b"m\n") -> bytes:
    """Return a tag called v0 of the commit 1111…, signed over `m` but saying `said`."""
    head = b"object %s\ntype commit\ntag v0\ntagger %s\n\n" % (b"1" * 40, WHO)
    return head + said + (sshsig(by, head + b"m\n") if by else b"")


LIES: Final[dict[str, Lie]] = {
    "unsigned": _signature(lambda _message, _old, _by: b""),
    "message changed": _swap(b"mean what", b"mean that", 2),
    "committer changed": _swap(b"committer A U Thor", b"committer A N Other", 0),
    "signature changed": _swap(b"U1NIU0lH", b"U1NIU0lG", 1),
    "another namespace": _signature(
        lambda message, _old, by: header(b"gpgsig", sshsig(by, message, namespace=b"file"))
    ),
    "sha256 inside": _signature(
        lambda message, _old, by: header(b"gpgsig", sshsig(by, message, hashed="sha256"))
    ),
    "two headers": _signature(lambda _message, old, _by: old + old),
    "two in one header": _signature(
        lambda message, _old, by: header(b"gpgsig", sshsig(by, message) + sshsig("bob", message))
    ),
    "other hash alone": _signature(
        lambda message, _old, by: header(b"gpgsig-sha256", sshsig(by, message))
    ),
    "other hash too": _signature(
        lambda _message, old, by: old + header(b"gpgsig-sha256", sshsig(by, b"its other form"))
    ),
    "unknown header": _signature(lambda _message, old, _by: old + b"gpgsig-sha3 x\n"),
    "hardware": _signature(_hardware),
    "gitsign": _other_armor(b"SIGNED MESSAGE"),
    "pgp message": _other_armor(b"PGP MESSAGE"),
    "openpgp": _other_armor(b"PGP SIGNATURE"),
    "no armor": _signature(lambda _message, _old, _by: b"gpgsig yes\n"),
    "carriage returns": _swap(b"-----\n", b"-----\r\n", 1),
    "key of another": _signature(_of_bob),
    "merged a tag": merging(signed_tag()),
    "merged a signed tag": merging(signed_tag("alice")),
    "merged a tag of bob": merging(signed_tag("bob")),
    "merged a changed tag": merging(signed_tag("bob", said=b"n\n")),
    "merged a tag of another commit": merging(signed_tag("alice"), parent=b"3" * 40),
    "merged no tag": merging(b"object 1\n\nm\n"),
}
TAG_LIES: Final[dict[str, Lie]] = {
    "unsigned": _signature(lambda _message, _old, _by: b""),
    "message changed": LIES["message changed"],
    "retargeted": _swap(b"type commit", b"type tree", 0),
    "two signatures": _signature(
        lambda message, _old, by: sshsig("bob", message) + sshsig(by, message)
    ),
    "text behind it": _signature(lambda _message, old, _by: old + b"and more\n"),
}
