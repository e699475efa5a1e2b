"""`show trust`: every input is named, with where it comes from, its digest and its end."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import bundles, runs, statements
from support.maintaining import Team, keyid
from support.registry import NOW

from verifier.core.digest import sha256

TRUST = "show trust --registry reg --root root.json"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    team = Team(tmp_path).signed()
    (team.place / "root.json").write_bytes((team.registry / "metadata/1.root.json").read_bytes())
    return team


def inputs(ran: runs.Ran) -> dict[str, Any]:
    return {answer["name"]: answer for answer in json.loads(ran.stdout)["answers"]}


def test_every_input_has_a_source(team: Team) -> None:
    ran = team.run(f"{TRUST} --format json")
    assert ran.exit == 0, ran
    found = inputs(ran)
    assert list(found) == ["registry root", "registry", "floor", "policy", "Sigstore root"]
    root = (team.place / "root.json").read_bytes()
    assert found["registry root"]["data"]["sha256"] == sha256(root)
    assert found["registry root"]["data"]["source"] == "root.json"
    assert found["registry"]["data"]["expires"] == "2026-12-01T00:00:00Z"
    roles = {role["role"]: role for role in found["registry"]["data"]["roles"]}
    assert roles["root"]["threshold"] == 2
    assert roles["pinproof"]["keys"] == sorted([keyid("mine1"), keyid("mine2")])
    assert roles["timestamp"]["signed"] == [keyid("online")]
    assert found["floor"]["data"]["source"] == "none"
    assert found["policy"]["data"]["source"].startswith("shipped")


def test_the_floor_and_the_policy_of_the_caller_are_named(team: Team) -> None:
    (team.place / "floor.json").write_bytes(team.opened().catalog().floor.print())
    (team.place / "mine.toml").write_text(
        'schema = "policy/v1"\nname = "mine"\ndescription = "ours"\n[registry]\nmin_snapshot = 1\n'
        '[helper]\ndemand = ["helper"]\n'
    )
    ran = team.run(f"{TRUST} --floor floor.json --policy mine.toml --format json")
    found = inputs(ran)
    floor = (team.place / "floor.json").read_bytes()
    assert found["floor"]["data"]["sha256"] == sha256(floor)
    assert found["floor"]["data"]["source"] == "floor.json"
    assert found["policy"]["data"]["source"] == "mine.toml"
    found = inputs(team.run(f"{TRUST} --policy mine.toml --format json"))
    assert found["floor"]["data"]["source"] == "policy mine: snapshot 1"


def test_the_shipped_sigstore_root_is_named_because_bundles_count_by_it(team: Team) -> None:
    found = inputs(team.run(f"{TRUST} --format json"))["Sigstore root"]
    root = (Path(__file__).parents[3] / "trust" / "trusted_root.json").read_bytes()
    assert found["data"]["sha256"] == sha256(root)
    assert found["data"]["source"].startswith("shipped")
    assert any("https://rekor.sigstore.dev" in row["text"] for row in found["rows"])


def test_a_sigstore_root_of_the_caller_is_named_with_its_keys_and_its_next_end(team: Team) -> None:
    document = bundles.make("message-rekor1-key").root
    retired, current, last = (dict(document["certificateAuthorities"][0]) for _ in range(3))
    start = "2021-01-12T00:00:00Z"
    retired["validFor"] = {"start": start, "end": "2022-01-01T00:00:00Z"}
    current["validFor"] = {"start": start, "end": "2027-01-01T00:00:00Z"}
    document["certificateAuthorities"] = [retired, current, last]
    (team.place / "sigstore.json").write_text(json.dumps(document))
    found = inputs(team.run(f"{TRUST} --trusted-root sigstore.json --format json"))["Sigstore root"]
    assert found["data"]["expires"] == "2027-01-01T00:00:00Z"
    assert found["data"]["source"] == "sigstore.json"
    rows = [row["text"] for row in found["rows"]]
    assert f"{retired['uri']} · {start} until 2022-01-01T00:00:00Z" in rows


def test_what_bundles_would_refuse_as_a_root_is_not_shown_as_one(team: Team) -> None:
    document = bundles.make("message-rekor1-key").root
    del document["tlogs"][0]["publicKey"]["validFor"]["start"]
    (team.place / "sigstore.json").write_text(json.dumps(document))
    assert team.refused(f"{TRUST} --trusted-root sigstore.json") == "malformed"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tlogs": 1, "tlogs": 2}', "no"])
def test_what_is_no_sigstore_root_is_not_shown_as_one(team: Team, text: str) -> None:
    (team.place / "sigstore.json").write_text(text)
    assert team.refused(f"{TRUST} --trusted-root sigstore.json") == "malformed"


def test_a_registry_that_is_refused_is_no_trust(team: Team) -> None:
    file = team.registry / "metadata/snapshot.json"
    file.write_bytes(file.read_bytes() + b" ")
    ran = team.run(TRUST)
    assert ran.exit == 3
    assert b"registry-tampered" in ran.stdout
    assert b"policy: shipped" in ran.stdout


def test_an_entry_has_no_policy(team: Team) -> None:
    command = "show example-fair-queue --registry reg --root root.json --policy strict"
    assert team.refused(command) == "wrong-call"
    assert team.run(command.removesuffix(" --policy strict"), now=NOW).exit == 0


def test_every_signer_is_shown_with_what_it_may_sign(tmp_path: Path) -> None:
    registry = statements.registry(tmp_path / "registry")
    ran = runs.run(
        ["show", "trust", "--format", "json", *runs.trusting(registry)], cwd=tmp_path, clock=NOW
    )
    entry = statements.signers()
    found = inputs(ran)[f"signers {entry['name']}"]
    rows = {row["name"]: row for row in found["data"]["signers"]}
    assert rows.keys() == {row["name"] for row in entry["signer"]}
    for row in entry["signer"]:
        assert rows[row["name"]]["predicates"] == row["predicates"]
    assert any(row["revoked"] for row in rows.values())
