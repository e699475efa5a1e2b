"""Laws of the helper check, and a machine that looks for the exception.

The installer's own texts say what is owned and how an install goes; the check is not asked.
"""

from typing import Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import hosts, lineages

from verifier.checks.helper import check
from verifier.checks.helper.why import explained
from verifier.core.verdict import Verdict

VERSIONS: Final = ("v1", "v2", "v5", "v6")
LAYOUTS: Final = ("{}", "{} then aging", "aging then {}")


def reinstalled(data: bytes, version: str) -> bytes | None:
    """Take a version out and put it back as an installer does; None where it would refuse."""
    helper, sites = hosts.installer().VERSIONS[version]
    if data.count(helper.encode()) != 1:
        return None
    at = data.index(helper.encode())
    clean: bytes = data.replace(helper.encode(), b"")
    for site in sites:
        if clean.count(site.new.encode()) != 1:
            return None
        clean = clean.replace(site.new.encode(), site.old.encode())
    for site in sites:
        if clean.count(site.old.encode()) != 1:
            return None
        clean = clean.replace(site.old.encode(), site.new.encode())
    whole: bytes = clean[:at] + helper.encode() + clean[at:]
    return whole


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_layout_of_every_version_is_verified(layout: str, version: str) -> None:
    data = hosts.host(layout.format(version))
    assert lineages.verdict_of(data) is Verdict.VERIFIED
    assert reinstalled(data, version) == data


EDITS = st.lists(
    st.tuples(
        st.integers(0, 3000),
        st.integers(0, 40),
        st.sampled_from(
            (
                *(b"", b"\n", b" ", b"#", b"'''", b'"', b"\\\n", b"\t", b"(", b"\xc2\xa0"),
                *(b"@x\n", b"def f(): pass\n", b"x = 1\n", b"class Queue: pass\n", b"return\n"),
                *(b"import os\n", b"if 0:\n    ", b"        return n\n", b"_FAIRQ"),
                b"# [example-fair-queue:v6]\n",
            )
        ),
    ),
    min_size=1,
    max_size=3,
)


def edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for offset, length, text in edits:
        at = offset % (len(data) + 1)
        data = data[:at] + text + data[at + length :]
    return data


@given(st.sampled_from(VERSIONS), st.sampled_from(LAYOUTS), EDITS)
def test_what_is_verified_reinstalls_to_itself(
    version: str, layout: str, edits: list[tuple[int, int, bytes]]
) -> None:
    data = edited(hosts.host(layout.format(version)), edits)
    outcome = check(data, lineages.example(), demand=lineages.REGION)
    if lineages.verdict(outcome) is Verdict.VERIFIED:
        assert [found.version for found in outcome.identified] == [version]
        assert reinstalled(data, version) == data


@given(st.sampled_from(VERSIONS), st.data())
def test_a_changed_run_of_owned_bytes_is_never_verified(version: str, data: st.DataObject) -> None:
    host = hosts.host(version)
    helper, sites = hosts.installer().VERSIONS[version]
    text = data.draw(st.sampled_from([helper, *(site.new for site in sites)])).encode()
    start = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(1, len(text) - start))
    new = data.draw(st.binary(max_size=length + 2))
    changed = text[:start] + new + text[start + length :]
    assume(changed != text)
    damaged = host.replace(text, changed)
    assume(damaged != host)
    outcome = check(damaged, lineages.example(), demand=lineages.REGION)
    if lineages.verdict(outcome) is Verdict.VERIFIED:
        # cutting a run and its equal neighbour gives the same bytes elsewhere: still an install
        assert reinstalled(damaged, outcome.identified[0].version) == damaged


@given(st.sampled_from(("v5", "v6")), st.data())
@settings(max_examples=60)
def test_a_changed_character_is_found_and_named(version: str, data: st.DataObject) -> None:
    host = hosts.host(version)
    helper = hosts.installer().VERSIONS[version][0].encode()
    begin = host.index(helper)
    at = data.draw(st.integers(helper.index(b"end"), helper.index(b"_FAIRQ = ") - 4))
    assume(helper[at : at + 1].isalnum())
    letter = data.draw(st.sampled_from("abcXYZ789")).encode()
    assume(letter != helper[at : at + 1])
    damaged = host[: begin + at] + letter + host[begin + at + 1 :]
    outcome = check(damaged, lineages.example(), demand=lineages.REGION)
    prefixes = prefix_digests(version, helper)
    (finding,) = explained(outcome, damaged, lineages.example(), prefixes).findings
    line = damaged.count(b"\n", 0, begin + at) + 1
    column = begin + at - damaged.rfind(b"\n", 0, begin + at)
    assert finding.where.line == line
    assert finding.cause is not None
    assert f"column {column}:" in finding.cause


def prefix_digests(version: str, helper: bytes) -> dict[str, list[str]]:
    import hashlib

    lines = helper.splitlines(keepends=True)
    return {
        version: [
            hashlib.sha256(b"".join(lines[: n + 1])).digest()[:8].hex() for n in range(len(lines))
        ]
    }


@given(st.binary(max_size=400))
def test_any_bytes_have_an_answer(data: bytes) -> None:
    for host in (data, hosts.host("v6") + data, data + hosts.host("v6")):
        lineages.verdict_of(host)
