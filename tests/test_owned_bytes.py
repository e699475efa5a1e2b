"""The law of owned bytes: one changed bit in any of them is never verified (CHECKS, helper)."""

import hashlib
from typing import Final

import pytest
from support import hosts
from support.lineages import verdict_of

from verifier.core.verdict import Verdict

VERSIONS: Final = ("v1", "v2", "v5", "v6")


def owned(version: str) -> list[int]:
    """Find the owned bytes with the installer's own texts, not with the check."""
    data = hosts.host(version)
    helper, sites = hosts.installer().VERSIONS[version]
    found: set[int] = set()
    for text in (helper, *(site.new for site in sites)):
        assert data.count(text.encode()) == 1
        start = data.index(text.encode())
        found |= set(range(start, start + len(text.encode())))
    assert 300 < len(found) <= 1000
    return sorted(found)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_unchanged_host_is_verified(version: str) -> None:
    assert verdict_of(hosts.host(version)) is Verdict.VERIFIED


def flips(version: str, bits: range | None) -> None:
    data = hosts.host(version)
    digest = hashlib.sha256(data).digest()
    for offset in owned(version):
        for bit in bits or (offset % 8,):
            changed = bytearray(data)
            changed[offset] ^= 1 << bit
            assert hashlib.sha256(changed).digest() != digest
            assert verdict_of(bytes(changed)) is not Verdict.VERIFIED, (version, offset, bit)


@pytest.mark.parametrize("version", VERSIONS)
def test_one_bit_of_every_owned_byte(version: str) -> None:
    flips(version, None)


@pytest.mark.full
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bit", range(8))
def test_every_bit_of_every_owned_byte(version: str, bit: int) -> None:
    flips(version, range(bit, bit + 1))
