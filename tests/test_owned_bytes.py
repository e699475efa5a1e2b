"""The law of owned bytes: one changed bit in any of them is never verified (CHECKS, helper)."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from support import hosts
from support.registry import NOW

from verifier.catalog.entries.helper import Lineage
from verifier.catalog.entries.helper_format import parse
from verifier.checks.helper import check
from verifier.core.demand import HelperDemand
from verifier.core.outcome import Subject
from verifier.core.verdict import Verdict
from verifier.policy import judge

ENTRY: Final = (
    Path(__file__).parents[1] / "registry/targets/pinproof/helper/example-fair-queue.toml"
)
VERSIONS: Final = ("v1", "v2", "v5", "v6")
REGION: Final = HelperDemand(facets=frozenset({"helper", "sites", "scope"}))


@cache
def lineage() -> Lineage:
    return parse(ENTRY.read_bytes(), "example-fair-queue")


def verdict(data: bytes) -> Verdict:
    outcome = check(data, lineage(), demand=REGION)
    subject = Subject(name="host.py")
    return judge(outcome, subject=subject, demanded=REGION.facets, now=NOW).verdict


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
    assert verdict(hosts.host(version)) is Verdict.VERIFIED


def flips(version: str, bits: range | None) -> None:
    data = hosts.host(version)
    digest = hashlib.sha256(data).digest()
    for offset in owned(version):
        for bit in bits or (offset % 8,):
            changed = bytearray(data)
            changed[offset] ^= 1 << bit
            assert hashlib.sha256(changed).digest() != digest
            assert verdict(bytes(changed)) is not Verdict.VERIFIED, (version, offset, bit)


@pytest.mark.parametrize("version", VERSIONS)
def test_one_bit_of_every_owned_byte(version: str) -> None:
    flips(version, None)


@pytest.mark.full
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bit", range(8))
def test_every_bit_of_every_owned_byte(version: str, bit: int) -> None:
    flips(version, range(bit, bit + 1))
