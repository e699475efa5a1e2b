"""Reading signers/v1: TOML to a `SignersEntry`, every mistake by its path.

Keys are taken as bytes and compared as bytes; the three kinds that count have one encoding each
(RFC 8410 §4 for Ed25519, RFC 5480 §2.1.1 and §2.2 for named curves and uncompressed points; RFC
8709 §4 and RFC 5656 §3.1 for what SSH makes of them), so no library is needed to tell them apart.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from verifier.catalog.entries.image_format import NAME, PLAIN
from verifier.catalog.entries.signers import WORDS, Revoked, Signer, SignersEntry
from verifier.core.ed25519 import is_weak
from verifier.core.encoding import base64_in, strict_base64
from verifier.core.table import Table

SCHEMA: Final = "signers/v1"
#: Scheme → the bytes before the key itself in its SubjectPublicKeyInfo, and the key's length.
_SPKI: Final = {
    "ed25519": (bytes.fromhex("302a300506032b6570032100"), 32),
    "ecdsa-sha2-nistp256": (
        bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200"),
        65,
    ),
    "ecdsa-sha2-nistp384": (bytes.fromhex("3076301006072a8648ce3d020106052b81040022036200"), 97),
}
#: What SSH calls a key → its scheme, and the name of its curve.
_SSH: Final = {
    "ssh-ed25519": ("ed25519", None),
    "ecdsa-sha2-nistp256": ("ecdsa-sha2-nistp256", b"nistp256"),
    "ecdsa-sha2-nistp384": ("ecdsa-sha2-nistp384", b"nistp384"),
}
_TYPE: Final = r"[a-z][a-z0-9+.-]*:\S+"
_WAYS: Final = ("key", "ssh", "identity")
_REMEDY: Final = (
    "restore the entry from its release, or correct the paths named above and sign again"
)


def parse(data: bytes, where: str) -> SignersEntry:
    """Read an entry. Raises `MalformedError` naming every mistake."""
    table = Table.toml(data, what=where, remedy=_REMEDY)
    table.text("schema", choices=[SCHEMA])
    project = table.text("project")
    entry = SignersEntry(
        name=table.text("name", pattern=NAME, form=PLAIN),
        project=project,
        signers=tuple(_signer(row, project) for row in table.tables("signer")),
    )
    if not entry.signers:
        table.mistake("signer", "missing: an entry has at least one")
    names = [signer.name for signer in entry.signers if signer.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        table.mistake("signer", f"{name} is given twice")
    for wrong in dict.fromkeys(_half_compromised(entry.signers)):
        table.mistake("signer", wrong)
    table.done()
    return entry


def _half_compromised(signers: tuple[Signer, ...]) -> Iterator[str]:
    """Name keys that one row calls compromised and another does not: it is the key that is."""
    stolen = {s.spki for s in signers if s.spki and s.revoked and s.revoked.compromised}
    for signer in signers:
        if signer.spki in stolen and not (signer.revoked and signer.revoked.compromised):
            yield f"the key of {signer.name} is compromised by another row"


def _signer(row: Table, project: str) -> Signer:
    ways = [way for way in _WAYS if row.has(way)]
    if len(ways) != 1:
        got = " and ".join(ways) or "none"
        row.mistake("", f"expected exactly one of {', '.join(_WAYS)}, got {got}")
    scheme, spki = _key(row) if ways == ["key"] else _ssh(row) if ways == ["ssh"] else (None, None)
    issuer, subject = _identity(row) if ways == ["identity"] else (None, None)
    signer = Signer(
        name=row.text("name", pattern=NAME, form=PLAIN),
        project=row.text("project", default=project),
        scheme=scheme,
        spki=spki,
        issuer=issuer,
        subject=subject,
        predicates=_predicates(row),
        valid_from=_time(row, "valid_from"),
        valid_until=_time(row, "valid_until"),
        revoked=_revoked(row),
    )
    if signer.valid_from and signer.valid_until and signer.valid_from > signer.valid_until:
        row.mistake("valid_until", "is before valid_from")
    row.close()
    return signer


def _key(row: Table) -> tuple[str, bytes]:
    table = row.table("key")
    scheme = table.text("scheme", choices=_SPKI)
    spki = base64_in(table, "public")
    before, length = _SPKI.get(scheme, (b"", 0))
    point = spki.removeprefix(before)
    good = spki.startswith(before) and _is_key(point, length)
    if spki and not good:
        table.mistake("public", f"is no SubjectPublicKeyInfo of scheme {scheme}")
    table.close()
    return scheme, spki


def _ssh(row: Table) -> tuple[str, bytes]:
    """Read `TYPE BASE64` as an authorized_keys file has it, without options or comment."""
    kind, _, text = row.text("ssh").partition(" ")
    if kind not in _SSH:
        row.mistake("ssh", f"is none of {', '.join(_SSH)}, then a space and base64")
        return "", b""
    scheme, curve = _SSH[kind]
    before, length = _SPKI[scheme]
    try:
        parts = _strings(strict_base64(text))
    except ValueError as error:
        row.mistake("ssh", str(error))
        return scheme, b""
    point = parts.pop() if parts else b""
    if parts != [kind.encode(), *([curve] if curve else [])] or not _is_key(point, length):
        row.mistake("ssh", f"is no key of type {kind}, without a comment")
    return scheme, before + point


def _strings(data: bytes) -> list[bytes]:
    """Split what SSH calls strings: each its length in four bytes, then so many (RFC 4251 §5)."""
    parts = []
    while data:
        length = int.from_bytes(data[:4])
        if len(data) < 4 + length:
            raise ValueError("ends within a field")
        parts.append(data[4 : 4 + length])
        data = data[4 + length :]
    return parts


def _is_key(point: bytes, length: int) -> bool:
    """Whether it has the length of a key, and is one that not everybody can sign with.

    Of an ECDSA key that is a point in the uncompressed form.
    """
    if len(point) != length:
        return False
    return point[0] == 4 if length % 2 else not is_weak(point)  # noqa: PLR2004


def _identity(row: Table) -> tuple[str, str]:
    table = row.table("identity")
    issuer, subject = table.text("issuer"), table.text("subject")
    table.close()
    return issuer, subject


def _predicates(row: Table) -> tuple[str, ...]:
    predicates = row.texts("predicates")
    if row.has("predicates") and not predicates:
        row.mistake("predicates", "is empty: a signer that may sign nothing is no signer")
    for predicate in predicates:
        if predicate not in WORDS and not re.fullmatch(_TYPE, predicate):
            row.mistake("predicates", f"a value is no URI and none of {', '.join(WORDS)}")
    return predicates


def _time(row: Table, key: str) -> datetime | None:
    return row.time(key) if row.has(key) else None


def _revoked(row: Table) -> Revoked | None:
    table = row.optional_table("revoked")
    if table is None:
        return None
    revoked = Revoked(
        at=table.time("at"),
        reason=table.text("reason"),
        compromised=table.flag("compromised"),
    )
    table.close()
    return revoked
