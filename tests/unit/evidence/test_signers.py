"""Who may sign what, and when: FORMATS §2, signers/v1, rule by rule."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support import statements

from verifier.catalog.entries import signers_format
from verifier.catalog.entries.signers import Revoked, Signer
from verifier.core.strict import write_toml
from verifier.evidence.claim import Claim, Identity
from verifier.evidence.signers import decide, key_of

NOW = datetime(2026, 11, 29, tzinfo=UTC)
DAY = timedelta(days=1)
ROWS = {
    row.name: row
    for row in signers_format.parse(write_toml(statements.signers()), "us.toml").signers
}


def row(**changes: Any) -> Signer:
    own = statements.public("alice")
    return Signer(
        **{
            "name": "alice",
            "project": "us",
            "scheme": own.scheme,
            "spki": own.spki,
            "predicates": (statements.SVR,),
            **changes,
        }
    )


def codes(
    signer: Signer, *, by: str = "alice", at: datetime | None = None, **more: Any
) -> set[str]:
    claim = Claim(keys=frozenset([statements.public(by)]), signed_at=at)
    arguments = {"predicate": statements.SVR, "now": NOW, **more}
    return {finding.code for finding in decide(signer, claim, **arguments)}


def test_the_right_key_in_its_time_counts() -> None:
    assert codes(row()) == set()


@pytest.mark.parametrize("name", ["alice", "p256-carol", "p384-dave", "committer"])
def test_a_row_gives_its_key_back(name: str) -> None:
    assert key_of(ROWS[name]) == statements.public(name)


@pytest.mark.parametrize("by", ["bob", "p256-carol"])
def test_another_key_does_not(by: str) -> None:
    assert codes(row(), by=by) == {"signer-not-this-key"}


def test_no_key_does_not() -> None:
    found = decide(row(), Claim(), predicate=statements.SVR, now=NOW)
    assert [finding.code for finding in found] == ["signer-not-this-key"]


@pytest.mark.parametrize(
    ("issuer", "subject", "good"),
    [
        ("https://id.example", "me@us.example", True),
        ("https://id.example/", "me@us.example", False),
        ("https://id.example", "ME@us.example", False),
        ("https://id.example", "me@us.example ", False),
        ("https://other.example", "me@us.example", False),
        ("https://id.example", "me@us.example.evil", False),
    ],
)
def test_an_identity_is_compared_exactly(issuer: str, subject: str, good: bool) -> None:
    signer = row(scheme=None, spki=None, issuer="https://id.example", subject="me@us.example")
    claim = Claim(identity=Identity(issuer=issuer, subject=subject))
    found = {f.code for f in decide(signer, claim, predicate=statements.SVR, now=NOW)}
    assert found == (set() if good else {"signer-not-this-identity"})


def test_a_key_is_no_identity() -> None:
    signer = row(scheme=None, spki=None, issuer="https://id.example", subject="me@us.example")
    assert codes(signer) == {"signer-not-this-identity"}


def test_an_identity_is_no_key() -> None:
    claim = Claim(identity=Identity(issuer="https://id.example", subject="alice"))
    found = {f.code for f in decide(row(), claim, predicate=statements.SVR, now=NOW)}
    assert found == {"signer-not-this-key"}


@pytest.mark.parametrize("predicate", ["git-commit", "artifact", statements.SVR + "x", ""])
def test_another_type_is_not_allowed(predicate: str) -> None:
    assert codes(row(), predicate=predicate) == {"signer-predicate"}


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (NOW - 2 * DAY - timedelta(seconds=1), {"signer-not-yet"}),
        (NOW - 2 * DAY, set()),
        (NOW - DAY, set()),
        (NOW - DAY + timedelta(seconds=1), {"signer-expired"}),
        (None, {"signer-time-unproven"}),
    ],
)
def test_windows_are_closed_and_judged_when_it_was_signed(
    at: datetime | None, expected: set[str]
) -> None:
    signer = row(valid_from=NOW - 2 * DAY, valid_until=NOW - DAY)
    assert codes(signer, at=at) == expected


def test_without_a_proven_time_the_effective_one_decides() -> None:
    signer = row(valid_from=NOW, valid_until=NOW)
    assert codes(signer) == set()
    assert codes(signer, now=NOW - DAY) == {"signer-not-yet"}
    assert codes(signer, now=NOW + DAY) == {"signer-time-unproven"}


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (NOW - DAY - timedelta(seconds=1), set()),
        (NOW - DAY, {"signer-revoked"}),
        (NOW, {"signer-revoked"}),
        (None, {"signer-revoked"}),
    ],
)
def test_what_was_signed_before_a_revocation_counts_if_that_is_proven(
    at: datetime | None, expected: set[str]
) -> None:
    assert codes(row(revoked=Revoked(at=NOW - DAY, reason="left")), at=at) == expected


def test_a_revocation_to_come_already_asks_for_a_proven_time() -> None:
    signer = row(revoked=Revoked(at=NOW + DAY, reason="leaves"))
    assert codes(signer) == {"signer-revoked"}
    assert codes(signer, at=NOW) == set()


@pytest.mark.parametrize("at", [NOW - 1000 * DAY, NOW, None])
def test_a_compromised_key_never_counts(at: datetime | None) -> None:
    signer = row(revoked=Revoked(at=NOW, reason="stolen", compromised=True))
    assert codes(signer, at=at) == {"signer-compromised"}


def test_every_reason_is_given() -> None:
    signer = row(revoked=Revoked(at=NOW, reason="left"), valid_until=NOW - DAY)
    found = codes(signer, by="bob", predicate="git-tag", at=NOW)
    assert found == {"signer-not-this-key", "signer-predicate", "signer-revoked", "signer-expired"}
