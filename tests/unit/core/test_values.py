"""Digests, pins, times, findings, exit codes: one accepted spelling each."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.core.clock import parse_time, print_time
from verifier.core.codes import CODES
from verifier.core.digest import Digest, Pin
from verifier.core.finding import Finding, Where, in_order
from verifier.core.limits import FINDINGS_PER_CODE
from verifier.core.verdict import Exit, Verdict, exit_of

HEX = hashlib.sha256(b"x").hexdigest()
GOOD = [f"file:sha256:{HEX}", f"diff-id:sha256:{HEX}", f"sha256:{HEX}", HEX[:40]]
GOOD += [f"git-commit:{HEX}", f"git-tree:{HEX[:40]}"]


@pytest.mark.parametrize("text", GOOD)
def test_digest_prints_back(text: str) -> None:
    assert str(Digest.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEX[:63],
        HEX + "0",
        HEX.upper(),
        f"sha256:{HEX[:40]}",
        f"SHA256:{HEX}",
        f"sha512:{HEX}",
        f"file:{HEX}",
        f"files:sha256:{HEX}",
        f"git-commit:sha256:{HEX}",
        f"git-commit:{HEX[:39]}",
        f" {HEX}",
        f"{HEX}\n",
        f"file:sha256:{HEX}\n",
        HEX.replace("a", "\u0430", 1),
        "\u0660" * 64,
    ],
)
def test_other_spellings_are_no_digest(text: str) -> None:
    assert Digest.parse(text) is None


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_pin_matches_its_own_bytes_only(data: bytes, other: bytes) -> None:
    pin = Pin.of(data)
    assert pin.matches(data)
    assert pin.matches(other) == (data == other)
    assert Pin(sha256=pin.sha256, length=None).matches(data)
    assert not Pin(sha256=pin.sha256, length=len(data) + 1).matches(data)
    assert not Pin(sha256="0" * 64, length=len(data)).matches(data)


@pytest.mark.parametrize("text", ["2026-11-29T00:00:00Z", "0001-01-01T00:00:00Z"])
def test_time_prints_back(text: str) -> None:
    time = parse_time(text)
    assert time is not None
    assert print_time(time) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-29",
        "2026-11-29T00:00:00",
        "2026-11-29 00:00:00Z",
        "2026-11-29T00:00:00z",
        "2026-11-29T00:00:00+00:00",
        "2026-11-29T00:00:00.0Z",
        "2026-11-29T24:00:00Z",
        "2026-02-30T00:00:00Z",
        "20261129T000000Z",
        "2026-W48-7T00:00:00Z",
        "2026-11-29T00:00Z",
        "٢٠٢٦-11-29T00:00:00Z",
    ],
)
def test_other_times_are_refused(text: str) -> None:
    assert parse_time(text) is None


def test_a_finding_needs_a_row_in_the_table() -> None:
    with pytest.raises(KeyError):
        Finding(code="helper-invented", remedy="none")


def test_every_row_has_one_known_outcome_and_a_lower_case_title() -> None:
    for code, row in CODES.items():
        assert row.outcome in ("rejected", "undecided", "error"), code
        assert row.title
        assert not row.title.endswith(".")


def test_findings_are_sorted_and_counted() -> None:
    many = [
        Finding(code="helper-invisible", remedy="look", where=Where(byte_offset=n))
        for n in range(FINDINGS_PER_CODE + 7)
    ]
    first = Finding(code="helper-drifted", remedy="restore")
    ordered = in_order([*reversed(many), first, first], "host.py")
    assert ordered[0].code == "helper-drifted"
    assert len(ordered) == 1 + FINDINGS_PER_CODE
    assert ordered[-1].cause is not None
    assert "7 more" in ordered[-1].cause
    assert {finding.where.path for finding in ordered} == {"host.py"}


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], Exit.INTERNAL),
        ([Verdict.VERIFIED], Exit.OK),
        ([Verdict.VERIFIED, Verdict.UNDECIDED], Exit.UNDECIDED),
        ([Verdict.UNDECIDED, Exit.ENVIRONMENT], Exit.ENVIRONMENT),
        ([Exit.ENVIRONMENT, Exit.INTERNAL], Exit.INTERNAL),
        ([Exit.INTERNAL, Verdict.REJECTED, Exit.ENVIRONMENT], Exit.REJECTED),
    ],
)
def test_the_gravest_outcome_decides(outcomes: list[Verdict | Exit], code: Exit) -> None:
    assert exit_of(outcomes) is code
