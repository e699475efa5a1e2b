"""Every other value of every owned byte of the example's versions is refused (make soak)."""

import pytest
from support import hosts
from support.lineages import verdict_of

from verifier.core.verdict import Verdict

BLOCKS = 16


@pytest.mark.parametrize("version", ["v1", "v2", "v5", "v6"])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_value_of_every_owned_byte(version: str, block: int) -> None:
    data = hosts.host(version)
    helper, sites = hosts.installer().VERSIONS[version]
    owned: set[int] = set()
    for text in (helper, *(site.new for site in sites)):
        start = data.index(text.encode())
        owned |= set(range(start, start + len(text.encode())))
    tried = 0
    for offset in sorted(owned)[block::BLOCKS]:
        for value in range(256):
            if value != data[offset]:
                changed = data[:offset] + bytes([value]) + data[offset + 1 :]
                assert verdict_of(changed) is not Verdict.VERIFIED, (offset, value)
                tried += 1
    assert tried == 255 * len(sorted(owned)[block::BLOCKS]) > 0
