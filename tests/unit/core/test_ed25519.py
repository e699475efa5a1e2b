"""Keys that anybody can sign with: all of them are known, and none is taken for a key."""

from base64 import b64encode
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support import statements

from verifier.catalog.entries import signers_format
from verifier.catalog.tuf.keys import key_findings
from verifier.core.ed25519 import is_weak
from verifier.core.strict import write_toml
from verifier.core.table import MalformedError
from verifier.evidence.keys import PublicKey

P: Final = (1 << 255) - 19
D: Final = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]


def added(one: Point, other: Point) -> Point:
    """Add two points of the curve (RFC 8032 §5.1.4, in affine coordinates)."""
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def encoded(point: Point, *, more: int = 0) -> bytes:
    return (point[1] + more | (point[0] & 1) << 255).to_bytes(32, "little")


def roots(y: int) -> list[int]:
    """Return every x with which y is a point, by -x² + y² = 1 + d x² y²."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    candidates = {x, x * pow(2, (P - 1) // 4, P) % P}
    return sorted({s * c % P for c in candidates if c * c % P == square for s in (1, -1)})


def small() -> list[Point]:
    """Walk the group of order 8 from one of its generators."""
    y = int.from_bytes(
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
    )
    generator = (roots(y)[0], y)
    points, here = [], generator
    for _ in range(8):
        points.append(here)
        here = added(here, generator)
    assert here == generator
    return points


SMALL: Final = small()
#: The same points written with y + p, where that has room: readers take both spellings.
SPELLINGS: Final = [
    *map(encoded, SMALL),
    *(encoded(point, more=P) for point in SMALL if point[1] + P < 1 << 255),
]


def test_there_are_eight() -> None:
    assert len(set(SMALL)) == 8
    assert (0, 1) in SMALL
    assert len(SPELLINGS) > 8


@pytest.mark.parametrize("point", SPELLINGS, ids=bytes.hex)
def test_none_of_them_is_a_key(point: bytes) -> None:
    assert is_weak(point)
    spki = bytes.fromhex("302a300506032b6570032100") + point
    with pytest.raises(ValueError, match="no public key"):
        PublicKey.der(spki)
    row = {"name": "x", "predicates": ["git-tag"]}
    key = {"scheme": "ed25519", "public": b64encode(spki).decode()}
    wire = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + point
    for way in ({"key": key}, {"ssh": f"ssh-ed25519 {b64encode(wire).decode()}"}):
        entry = {**statements.signers(), "signer": [{**row, **way}]}
        with pytest.raises(MalformedError):
            signers_format.parse(write_toml(entry), "us.toml")
    given = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": point.hex()}}
    assert {f.code for f in key_findings({"0" * 64: given}, "root")} == {"registry-malformed"}


def test_why_the_library_would_let_anybody_sign() -> None:
    """The identity as key and as R, with S = 0, is a signature over everything."""
    point = encoded((0, 1))
    key = Ed25519PublicKey.from_public_bytes(point)
    key.verify(point + bytes(32), b"anything")
    key.verify(point + bytes(32), b"anything else")
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(ValueError, match="no PEM public key"):
        PublicKey.pem(pem)


@pytest.mark.parametrize("number", range(50))
def test_keys_that_are_made_are_not_weak(number: int) -> None:
    assert not is_weak(statements.public(str(number)).spki[-32:])


def test_a_file_of_two_keys_is_none() -> None:
    one, other = statements.public_pem("alice"), statements.public_pem("bob")
    assert PublicKey.pem(b"release key of alice\n" + one) == statements.public("alice")
    with pytest.raises(ValueError, match="not one PEM"):
        PublicKey.pem(one + other)
