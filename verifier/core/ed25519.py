"""Ed25519 keys that anybody can sign with.

Eight points of the curve have an order that divides 8. With one of them as a key, signatures that
verify for many messages, or for all, need no secret; RFC 8032 §5.1.7 does not refuse them, and
neither does OpenSSL (Chalkias, Garillot, Nikolaenko: Taming the many EdDSAs, §2; libsodium keeps
the same list). Such a key looks like any other, and would let everybody be its signer.
"""

from typing import Final

_PRIME: Final = (1 << 255) - 19
_EIGHTH: Final = int.from_bytes(
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"
)
#: Their y-coordinates; the sign of x, the highest bit of an encoding, tells two points apart.
_SMALL: Final = frozenset({0, 1, _PRIME - 1, _EIGHTH, _PRIME - _EIGHTH})


def is_weak(point: bytes) -> bool:
    """Tell whether 32 bytes are the encoding of a point of small order, in any spelling."""
    y = int.from_bytes(point, "little") & ((1 << 255) - 1)
    return y % _PRIME in _SMALL
