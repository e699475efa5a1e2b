"""Signed statements: thresholds, signers and subjects, and what is looked at in which order."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from support import registry as registries
from support import runs, statements

from verifier.catalog.entries import signers_format
from verifier.checks.statement import Asked, Given, check
from verifier.core.coverage import State
from verifier.core.demand import FACETS
from verifier.core.outcome import Result, Subject
from verifier.core.strict import write_toml
from verifier.core.verdict import Verdict
from verifier.evidence.signers import key_of
from verifier.policy import judge

BUILT: Final = Given(name="built.txt", digests=statements.digests_of(statements.ARTIFACT))
ROWS: Final = {
    row.name: row
    for row in signers_format.parse(write_toml(statements.signers()), "us.toml").signers
}


def judged(data: bytes, asked: Asked) -> Result:
    outcome = check(data, asked, now=registries.NOW)
    demanded = frozenset(FACETS["bundle"])
    return judge(outcome, subject=Subject(name="e"), demanded=demanded, now=registries.NOW)


def by_keys(
    *names: str, threshold: int | None = None, given: tuple[Given, ...] = (BUILT,)
) -> Asked:
    keys = tuple(statements.public(name) for name in names)
    return Asked(keys=keys, threshold=threshold, given=given)


def by_signers(*names: str, threshold: int | None = None) -> Asked:
    pairs = [(ROWS[name], key_of(ROWS[name])) for name in names]
    signers = tuple((row, key) for row, key in pairs if key is not None)
    keys = tuple({key.spki: key for _, key in signers}.values())
    return Asked(keys=keys, threshold=threshold, signers=signers, given=(BUILT,))


def codes(result: Result) -> set[str]:
    return {finding.code for finding in result.findings}


@pytest.mark.parametrize(
    ("by", "asked", "threshold", "verdict", "code"),
    [
        (["alice"], ["alice", "bob"], 1, Verdict.VERIFIED, None),
        (["alice"], ["alice", "bob"], 2, Verdict.UNDECIDED, "statement-threshold"),
        (["alice"], ["alice", "bob"], None, Verdict.UNDECIDED, "statement-threshold"),
        (["alice", "bob"], ["alice", "bob", "p256-carol"], 2, Verdict.VERIFIED, None),
        (
            ["alice", "bob"],
            ["alice", "bob", "p256-carol"],
            3,
            Verdict.UNDECIDED,
            "statement-threshold",
        ),
        (["alice"] * 5, ["alice", "bob"], 2, Verdict.UNDECIDED, "statement-threshold"),
        (["bob"], ["alice"], None, Verdict.REJECTED, "statement-signature"),
        (["bob", "bob"], ["alice", "p256-carol"], 2, Verdict.REJECTED, "statement-signature"),
    ],
)
def test_thresholds_count_distinct_keys(
    by: list[str], asked: list[str], threshold: int | None, verdict: Verdict, code: str | None
) -> None:
    result = judged(statements.envelope(by=by), by_keys(*asked, threshold=threshold))
    assert result.verdict is verdict
    assert codes(result) == ({code} if code else set())


@pytest.mark.parametrize(
    ("names", "threshold", "expected"),
    [
        (["alice", "bob"], None, set()),
        (["alice", "stolen"], 1, set()),
        (["alice", "stolen"], 2, {"signer-compromised"}),
        (["alice", "stolen"], None, {"signer-compromised"}),
        (
            ["stolen", "revoked", "tester"],
            1,
            {"signer-compromised", "signer-revoked", "signer-predicate"},
        ),
        (["stolen", "revoked", "alice"], 1, set()),
    ],
)
def test_signers_that_do_not_count_are_no_part_of_the_threshold(
    names: list[str], threshold: int | None, expected: set[str]
) -> None:
    result = judged(statements.envelope(by=names), by_signers(*names, threshold=threshold))
    assert codes(result) == expected
    assert (result.verdict is Verdict.VERIFIED) == (not expected)


def test_two_names_of_one_key_are_one_of_two() -> None:
    """Without a threshold each name that is given has to count, whatever its key."""
    old = {**statements.signer("alice"), "name": "old", "valid_until": "2026-01-01T00:00:00Z"}
    entry = {**statements.signers(), "signer": [statements.signer("alice"), old]}
    rows = signers_format.parse(write_toml(entry), "us.toml").signers
    key = statements.public("alice")
    signers = tuple((row, key) for row in rows)
    for threshold, expected in ((None, {"signer-time-unproven"}), (1, set())):
        asked = Asked(keys=(key,), threshold=threshold, signers=signers, given=(BUILT,))
        assert codes(judged(statements.envelope(), asked)) == expected


def test_nothing_is_read_of_what_nobody_signed() -> None:
    """The payload is broken in every way, and not a word of it shows."""
    data = statements.envelope(b'{"_type": "SECRET", "_type": 1}', by=["bob"])
    result = judged(data, by_keys("alice"))
    assert codes(result) == {"statement-signature"}
    assert "SECRET" not in repr(result)
    states = {covered.facet: covered.state for covered in result.coverage}
    assert states["subject"] is State.NOT_CHECKED


def subjects(*rows: dict[str, Any]) -> bytes:
    return statements.envelope(statements.statement({"subject": list(rows)}))


DIGESTS: Final = statements.digests_of(statements.ARTIFACT)
OTHER: Final = statements.digests_of(b"other")


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        ({"sha256": DIGESTS["sha256"]}, set()),
        ({"sha384": DIGESTS["sha384"]}, set()),
        ({"sha512": DIGESTS["sha512"]}, set()),
        (DIGESTS, set()),
        ({"sha256": DIGESTS["sha256"], "md5": "0" * 32}, set()),
        ({"sha256": DIGESTS["sha256"], "elsewhere": "x"}, set()),
        (OTHER, {"statement-subject"}),
        ({"sha256": OTHER["sha256"]}, {"statement-subject"}),
        ({**DIGESTS, "sha512": OTHER["sha512"]}, {"statement-subject-digests"}),
        ({**DIGESTS, "sha256": OTHER["sha256"]}, {"statement-subject-digests"}),
        ({"md5": "0" * 32, "sha1": "0" * 40}, {"statement-subject-weak"}),
        ({"elsewhere": DIGESTS["sha256"]}, {"statement-subject-weak"}),
        ({"gitCommit": "0" * 40}, {"statement-subject"}),
        ({"pinproofTree1": DIGESTS["sha256"], "sha256": OTHER["sha256"]}, {"statement-subject"}),
    ],
)
def test_a_file_is_a_subject_by_every_digest_that_counts(
    digest: dict[str, str], expected: set[str]
) -> None:
    result = judged(subjects({"name": "built.txt", "digest": digest}), by_keys("alice"))
    assert codes(result) == expected


def test_the_name_of_a_subject_decides_nothing() -> None:
    data = subjects({"name": "built.txt", "digest": OTHER}, {"name": "x", "digest": DIGESTS})
    assert judged(data, by_keys("alice")).verdict is Verdict.VERIFIED
    data = subjects({"name": "built.txt", "digest": OTHER})
    assert judged(data, by_keys("alice")).verdict is Verdict.REJECTED


def test_all_that_is_given_has_to_be_a_subject() -> None:
    data = subjects({"digest": DIGESTS}, {"digest": OTHER})
    other, third = (
        Given(name="o", digests=OTHER),
        Given(name="t", digests=statements.digests_of(b"third")),
    )
    assert codes(judged(data, by_keys("alice", given=(BUILT, other)))) == set()
    assert codes(judged(data, by_keys("alice", given=(BUILT, third)))) == {"statement-subject"}
    assert codes(judged(data, by_keys("alice", given=()))) == {"statement-subject-not-given"}


def test_a_no_is_asked_for_by_its_name_or_not_at_all() -> None:
    """A summary that failed, and lists a level all the same, gives no level to whoever asks."""
    summary = {
        "verifier": {"id": "https://verifier.example/v1"},
        "timeVerified": "2026-11-28T12:00:00Z",
        "resourceUri": "pkg:generic/built",
        "policy": {"uri": "https://policy.example"},
        "verificationResult": "FAILED",
        "verifiedLevels": ["SLSA_BUILD_LEVEL_1"],
    }
    kind = "https://slsa.dev/verification_summary/v1"
    data = statements.envelope(statements.statement({"predicateType": kind, "predicate": summary}))
    for says, expected in (
        ((), {"statement-says-no"}),
        (("SLSA_BUILD_LEVEL_1",), {"statement-says-no"}),
        (("PASSED",), {"statement-says-no", "statement-says-otherwise"}),
        (("FAILED",), set()),
    ):
        assert codes(judged(data, replace(by_keys("alice"), says=says))) == expected


def test_what_is_too_much_is_refused_quickly() -> None:
    many = statements.envelope(by=["alice"] * 65)
    assert codes(judged(many, by_keys("alice"))) == {"statement-envelope"}
    deep = statements.envelope(b'{"a":' * 5000 + b"1" + b"}" * 5000)
    assert codes(judged(deep, by_keys("alice"))) == {"statement-malformed"}
    for data in (b"", b"[]", b"null", b"\x00" * 100, b"[" * 100_000):
        assert codes(judged(data, by_keys("alice"))) == {"statement-envelope"}


ENVELOPE: Final = json.loads(statements.envelope())


@pytest.mark.parametrize(
    "change",
    [
        {"payload": None},
        {"payload": ""},
        {"payload": ENVELOPE["payload"] + "\n"},
        {"payload": ENVELOPE["payload"].rstrip("=")},
        {"payload": ENVELOPE["payload"].replace("+", "-").replace("/", "_") + " "},
        {"payloadType": ""},
        {"payloadType": None},
        {"signatures": []},
        {"signatures": {}},
        {"signatures": [{}]},
        {"signatures": [{"sig": ""}]},
        {"signatures": [{"sig": 1}]},
        {"signatures": [{"sig": "AA=="}, {"sig": "AB=="}]},
        {"signatures": [{**ENVELOPE["signatures"][0], "cert": "x"}]},
        {"signatures": [{**ENVELOPE["signatures"][0], "keyid": None}]},
        {"more": 1},
    ],
)
def test_envelopes_that_break_their_format(change: dict[str, Any]) -> None:
    data = json.dumps({**ENVELOPE, **change}).encode()
    result = judged(data, by_keys("alice"))
    assert codes(result) == {"statement-envelope"}
    assert result.verdict is Verdict.REJECTED


def test_a_hint_that_lies_changes_nothing() -> None:
    row = ENVELOPE["signatures"][0]
    bob = statements.public("bob").id
    for changed in ({"sig": row["sig"]}, {**row, "keyid": ""}, {**row, "keyid": bob}):
        data = json.dumps({**ENVELOPE, "signatures": [changed]}).encode()
        assert judged(data, by_keys("alice")).verdict is Verdict.VERIFIED
        assert judged(data, by_keys("bob")).verdict is Verdict.REJECTED


# ── the program ────────────────────────────────────────────────────────────────────────────────


def test_a_statement_pays_for_no_sigstore(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_bytes(statements.envelope())
    (tmp_path / "a.pub").write_bytes(statements.public_pem("alice"))
    (tmp_path / "built.txt").write_bytes(statements.ARTIFACT)
    code = (
        "import sys; from verifier.cli import main; print(main(sys.argv[1:]), file=sys.stderr);"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = ["verify", "statement", "e.json", "--key", "a.pub", "--subject", "built.txt"]
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *command],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    code_line, _, modules = done.stderr.partition("\n")
    assert code_line == "0", done
    tops = {name.split(".")[0] for name in modules.split()}
    assert not tops & {"sigstore", "in_toto", "pydantic", "requests", "rfc3161_client", "git"}


def test_two_signers_of_one_name_are_two(tmp_path: Path) -> None:
    """Each is named with its entry; that one of them has signed is not enough."""
    row = {**statements.signer("bob"), "name": "alice"}
    more = {"schema": "signers/v1", "name": "them", "project": "them", "signer": [row]}
    trust = runs.trusting(statements.registry(tmp_path / "registry", more))
    (tmp_path / "built.txt").write_bytes(statements.ARTIFACT)
    command = ["verify", "statement", "e.json", "--subject", "built.txt", *trust]
    for names in (["us/alice", "them/alice"], ["them/alice", "us/alice"]):
        signers = [argument for name in names for argument in ("--signer", name)]
        for by, expected in ((["alice"], 3), (["bob"], 3), (["alice", "bob"], 0)):
            (tmp_path / "e.json").write_bytes(statements.envelope(by=by))
            ran = runs.run([*command, *signers], cwd=tmp_path, clock=registries.NOW)
            assert ran.exit == expected, (names, by, ran)
    ambiguous = runs.run([*command, "--signer", "alice"], cwd=tmp_path, clock=registries.NOW)
    assert ambiguous.exit == 3
    assert b"signer-ambiguous" in ambiguous.stdout


def test_too_many_keys_are_a_wrong_call(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_bytes(statements.envelope())
    keys: list[str] = []
    for number in range(65):
        (tmp_path / f"{number}.pub").write_bytes(statements.public_pem(f"key {number}"))
        keys += ["--key", f"{number}.pub"]
    ran = runs.run(["verify", "statement", "e.json", *keys], cwd=tmp_path)
    assert ran.exit == 2
    assert b"wrong-call" in ran.stderr


def test_keys_need_no_registry(tmp_path: Path) -> None:
    """What judges is the key; a registry that does not authenticate has no part in it."""
    (tmp_path / "e.json").write_bytes(statements.envelope())
    (tmp_path / "a.pub").write_bytes(statements.public_pem("alice"))
    (tmp_path / "built.txt").write_bytes(statements.ARTIFACT)
    registry = statements.registry(tmp_path / "registry")
    trust = runs.trusting(registry)
    registry.write("metadata/snapshot.json", registry.read("metadata/snapshot.json")[:-9])
    command = ["verify", "statement", "e.json", "--subject", "built.txt", *trust]
    ran = runs.run([*command, "--key", "a.pub"], cwd=tmp_path, clock=registries.NOW)
    assert ran.exit == 0, ran
    ran = runs.run([*command, "--signer", "alice"], cwd=tmp_path, clock=registries.NOW)
    assert ran.exit == 3
    assert b"registry-" in ran.stdout


def test_special_files_do_not_hold_the_run_up(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_bytes(statements.envelope())
    (tmp_path / "a.pub").write_bytes(statements.public_pem("alice"))
    (tmp_path / "built.txt").write_bytes(statements.ARTIFACT)
    os.mkfifo(tmp_path / "fifo")
    whole = ["e.json", "--key", "a.pub", "--subject", "built.txt"]
    assert runs.run(["verify", "statement", *whole], cwd=tmp_path).exit == 0
    for place in (0, 2, 4):
        for odd in ("fifo", ".", "/dev/zero"):
            command = [*whole[:place], odd, *whole[place + 1 :]]
            ran = runs.run(["verify", "statement", *command], cwd=tmp_path)
            assert ran.exit == 4, (command, ran)
