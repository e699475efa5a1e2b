"""The signature of a commit or an annotated tag, and the bytes that it is over.

* A *commit* has it in a header: `gpgsig` where ids are SHA-1, `gpgsig-sha256` where they are
  SHA-256. It is over the commit without any header that begins with `gpgsig` (git's
  `parse_signed_commit`). The other header signs another form of the commit, which is not here.
* A *tag* has it behind its body, and it is over all before it (git's `parse_signed_buffer`).

git takes several headers for one signature, and of several armors in a tag the last; both are
refused here: two readers would see two signers.
"""

import re
from typing import Final

from verifier.core.value import frozen
from verifier.sources.git.objects import SHA256_HEX

_HEADERS: Final = {40: b"gpgsig", SHA256_HEX: b"gpgsig-sha256"}
_BEGIN: Final = re.compile(rb"^-----BEGIN ([A-Z ]{3,40})-----", re.MULTILINE)
#: What git knows an armor by (gpg-interface.c), and what it is called here.
KINDS: Final = {
    b"SSH SIGNATURE": "ssh",
    b"PGP SIGNATURE": "openpgp",
    b"PGP MESSAGE": "an OpenPGP message",
    b"SIGNED MESSAGE": "x509",
}


@frozen
class GitSignature:
    """One signature: its kind, its armor, and the bytes that it is over.

    `other_hash` says that there is a signature over the object's form in the other hash, `merged`
    holds the bytes of the tags that a merge brought with it, each with a signature of its own.
    """

    kind: str | None = None
    armor: bytes = b""
    signed: bytes = b""
    other_hash: bool = False
    merged: tuple[bytes, ...] = ()


class SeveralError(ValueError):
    """An object carries more than one signature where one is meant."""


def of_commit(raw: bytes, hex_length: int) -> GitSignature:
    """Take a commit apart. Raises `SeveralError`, or `ValueError` for a header that is none."""
    head, blank, body = raw.partition(b"\n\n")
    ours, armors, kept = _HEADERS[hex_length], [], []
    other = False
    merged: list[bytes] = []
    for name, lines in _headers(head):
        if name == ours:
            armors.append(lines)
        elif name in _HEADERS.values():
            other = True
        elif name.startswith(b"gpgsig"):
            raise ValueError("a header that begins like that of a signature and is none")
        else:
            kept += lines
            if name == b"mergetag":
                first, *rest = lines
                whole = [first.partition(b" ")[2], *(line[1:] for line in rest)]
                merged.append(b"\n".join(whole) + b"\n")
    if len(armors) > 1:
        raise SeveralError(f"{len(armors)} headers with a signature")
    found = GitSignature(other_hash=other, merged=tuple(merged))
    if not armors:
        return found
    first, *rest = armors[0]
    armor = b"\n".join([first[len(ours) + 1 :], *(line[1:] for line in rest)]) + b"\n"
    if len(_BEGIN.findall(armor)) > 1:
        raise SeveralError("several signatures in one header")
    return GitSignature(
        kind=_kind(armor),
        armor=armor,
        signed=b"\n".join(kept) + blank + body,
        other_hash=other,
        merged=tuple(merged),
    )


def of_tag(raw: bytes) -> GitSignature:
    """Take a tag apart. Raises `SeveralError`, or `ValueError` for a header that is none."""
    head, blank, body = raw.partition(b"\n\n")
    kept: list[bytes] = []
    other = False
    for name, lines in _headers(head):
        if name in _HEADERS.values():
            other = True
        elif name.startswith(b"gpgsig"):
            raise ValueError("a header that begins like that of a signature and is none")
        else:
            kept += lines
    found = [match for match in _BEGIN.finditer(body) if match[1] in KINDS]
    if len(found) > 1:
        raise SeveralError(f"{len(found)} signatures in one tag")
    if not found:
        return GitSignature(other_hash=other)
    at = found[0].start()
    armor = body[at:]
    return GitSignature(
        kind=_kind(armor),
        armor=armor,
        signed=b"\n".join(kept) + blank + body[:at],
        other_hash=other,
    )


def _kind(armor: bytes) -> str:
    begin = _BEGIN.match(armor)
    kind = KINDS.get(begin[1]) if begin else None
    if kind is None:
        raise ValueError("no armor that git knows")
    return kind


def _headers(head: bytes) -> list[tuple[bytes, list[bytes]]]:
    """Split headers, each with its lines as they are written."""
    found: list[tuple[bytes, list[bytes]]] = []
    for line in head.split(b"\n"):
        if line.startswith(b" ") and found:
            found[-1][1].append(line)
        else:
            found.append((line.partition(b" ")[0], [line]))
    return found
