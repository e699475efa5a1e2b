"""What a keyring of OpenPGP's holds, and which of its keys are revoked (RFC 4880 §4.2, §5.2.1).

`gpgv` names one thing that is wrong with a signature, and an expiry comes before a revocation (its
`check_sig_and_print`). So where it says *expired*, the keyring is asked for revocations too. They
are not verified here: whoever named the keyring vouches for what it holds, and a revocation only
ever makes a key count for less.
"""

import hashlib
from collections.abc import Iterator
from typing import Final

_SIGNATURE: Final = 2
_PRIMARY, _SUBKEY = 6, 14
_SECRET: Final = (5, 7)
_OF_PRIMARY, _OF_SUBKEY = 0x20, 0x28
_VERSION: Final = 4
#: Lengths of one, two and five octets begin so; what lies between is the first part of several.
_TWO, _PARTS, _FIVE = 192, 224, 255


def holds_public_keys(keyring: bytes) -> bool:
    """Tell whether a keyring is whole, begins with a public key, and holds no secret one."""
    try:
        kinds = [kind for kind, _ in _packets(keyring)]
    except (IndexError, ValueError):
        return False
    return kinds[:1] == [_PRIMARY] and not any(kind in _SECRET for kind in kinds)


def revoked(keyring: bytes) -> frozenset[str] | None:
    """Return the fingerprints of its revoked keys, in upper case as `gpgv` prints them.

    None for a keyring of which that cannot be told: damaged, or with keys of another version.
    """
    found: set[str] = set()
    primary = key = ""
    try:
        for kind, body in _packets(keyring):
            if kind in (_PRIMARY, _SUBKEY):
                key = _fingerprint(body)
                primary = key if kind == _PRIMARY else primary
            elif kind == _SIGNATURE:
                found |= {_OF_PRIMARY: {primary}, _OF_SUBKEY: {key}}.get(_type(body), set())
    except (IndexError, ValueError):
        return None
    return frozenset(found)


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Take a keyring apart. Raises `IndexError` or `ValueError` where it is damaged."""
    at = 0
    while at < len(data):
        kind, start, length = _header(data, at)
        at = start + length
        if at > len(data):
            raise ValueError("ends within a packet")
        yield kind, data[start:at]


def _header(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the kind of the packet at `at`, where its body starts, and how long that is."""
    first, length = data[at], data[at + 1]
    if not first & 0x80:
        raise ValueError("is no packet")
    if not first & 0x40:  # the old form: the length's size is in the lowest two bits
        size = 1 << (first & 3)
        if size > 4:  # noqa: PLR2004
            raise ValueError("has a packet without an end")
        start = at + 1 + size
        return first >> 2 & 0xF, start, int.from_bytes(data[at + 1 : start])
    if length < _TWO:
        return first & 0x3F, at + 2, length
    if length < _PARTS:
        return first & 0x3F, at + 3, ((length - _TWO) << 8) + data[at + 2] + _TWO
    if length < _FIVE:
        raise ValueError("has a packet in parts")
    return first & 0x3F, at + 6, int.from_bytes(data[at + 2 : at + 6])


def _fingerprint(body: bytes) -> str:
    if body[0] != _VERSION:
        raise ValueError("holds a key of another version")
    framed = b"\x99" + len(body).to_bytes(2) + body
    return hashlib.sha1(framed, usedforsecurity=False).hexdigest().upper()


def _type(body: bytes) -> int:
    """Return the type of a signature: its second octet, from version 4 on."""
    return body[1] if body[0] >= _VERSION else body[2]
