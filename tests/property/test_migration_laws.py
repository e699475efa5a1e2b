"""Laws of migrations: what comes out is a fresh install, or nothing comes out.

The installer's own texts say what a fresh install is; pinproof is not asked.
"""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import hosts, lineages

from verifier.checks.helper.install import Bare, Pieces, as_base, installed_in, put_in, taken_out
from verifier.checks.helper.payload import Search
from verifier.core.finding import Finding

LINEAGE: Final = lineages.example()
VERSIONS: Final = ("v1", "v2", "v5", "v5-main", "v6", "v6-carry")
LAYOUTS: Final = ("{}", "{} then aging", "aging then {}")
INSTALLER: Final = hosts.host("installer")


def searched(version: str, *texts: bytes) -> Search:
    found = LINEAGE.version(version)
    assert found is not None
    assert found.body is not None
    search = Search(LINEAGE, found, found.body)
    for text in texts:
        search.look_at_file(text, python=True)
    return search


def pieces(version: str) -> Pieces:
    return searched(version, INSTALLER).pieces()


def moved(data: bytes, version: str, found: Pieces) -> bytes | Finding:
    body = next(body for v, body in LINEAGE.published if v.id == version)
    installed = installed_in(data, LINEAGE)
    bare = taken_out(data, installed) if installed else Bare(data=data, contexts={})
    return put_in(bare, LINEAGE, body, found)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("new", VERSIONS)
@pytest.mark.parametrize("old", VERSIONS)
def test_from_any_version_to_any_other(old: str, new: str, layout: str) -> None:
    made = moved(hosts.host(layout.format(old)), new, pieces(new))
    assert made == hosts.host(layout.format(new))


@pytest.mark.parametrize("carrier", ["installer", *(f"{{}}{rest}" for rest in ("", " then aging"))])
@pytest.mark.parametrize("version", VERSIONS)
def test_every_carrier_gives_the_same(version: str, carrier: str) -> None:
    found = searched(version, hosts.host(carrier.format(version)))
    assert found.complete
    made = moved(hosts.host("clean"), version, found.pieces())
    assert made == hosts.host(version)


def test_for_versions_with_the_same_sites_the_helper_is_enough() -> None:
    host = hosts.host("v5")
    assert not searched("v6", host).complete
    found = searched("v6", host, hosts.host("text v6"))
    assert found.complete
    assert moved(host, "v6", found.pieces()) == hosts.host("v6")


@pytest.mark.parametrize("version", VERSIONS)
def test_taken_out_it_is_the_base(version: str) -> None:
    host = hosts.host(version)
    installed = installed_in(host, LINEAGE)
    assert installed is not None
    assert as_base(taken_out(host, installed), LINEAGE, LINEAGE.bases[0]) == hosts.host("clean")


#: Lines of the host that an edit may follow: outside of everything that the example owns.
PLACES: Final = (b"import itertools\n", b"    def stats(self)", b"        return item\n")
EDITS: Final = st.text(st.characters(codec="ascii", categories=("L", "N", "Zs")), max_size=40)


@given(
    st.sampled_from(VERSIONS),
    st.sampled_from(VERSIONS),
    st.sampled_from(LAYOUTS),
    st.sampled_from(PLACES),
    EDITS,
)
def test_what_is_not_ours_stays(old: str, new: str, layout: str, place: bytes, edit: str) -> None:
    """The same edit of both hosts, in a comment: a migration leads from one to the other."""

    def edited(version: str) -> bytes:
        data = hosts.host(layout.format(version))
        assert data.count(place) == 1
        at = data.index(place)
        at = at if place.startswith(b"    def") else at + len(place)
        return data[:at] + f"# {edit}\n".encode() + data[at:]

    made = moved(edited(old), new, pieces(new))
    assert made == edited(new)


@given(
    st.sampled_from(VERSIONS),
    st.integers(min_value=0),
    st.integers(min_value=1, max_value=255),
)
def test_a_payload_with_another_byte_gives_the_same_or_nothing(
    version: str, at: int, change: int
) -> None:
    at %= len(INSTALLER)
    spoiled = bytearray(INSTALLER)
    spoiled[at] ^= change
    found = searched(version, bytes(spoiled))
    if found.complete:
        assert moved(hosts.host("clean"), version, found.pieces()) == hosts.host(version)


@given(st.binary(max_size=300), st.sampled_from(VERSIONS))
def test_any_bytes_are_a_payload_that_carries_nothing(noise: bytes, version: str) -> None:
    found = searched(version, noise)
    assert not found.complete
    told = found.missing([noise], looked_at="1 file")
    assert told.code == "migrate-payload"
    assert told.remedy


@pytest.mark.parametrize("times", [0, 2])
def test_a_host_without_one_place_for_the_helper(times: int) -> None:
    needle = hosts.installer().NEEDLE.encode()
    host = hosts.host("clean")
    assert host.count(needle) == 1
    told = moved(host.replace(needle, needle * times), "v6", pieces("v6"))
    assert isinstance(told, Finding)
    assert told.code == "migrate-anchor"
