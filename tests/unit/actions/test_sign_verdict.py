"""Signed verdicts: yes as SVR, no as VSA, nothing of anything else, and no word too much."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from support import compositions, hosts, images, runs, statements
from support import registry as registries

from verifier import __version__
from verifier.core.digest import Digest, sha256
from verifier.evidence.dsse import IN_TOTO, Envelope
from verifier.evidence.predicates import svr, vsa
from verifier.evidence.statement import Statement, algorithm_of

CLOCK: Final = registries.NOW
EXTENSION: Final = "urn:pinproof:verdict:v1"


@pytest.fixture
def folder(tmp_path: Path, test_registry: registries.Registry) -> Path:
    place = tmp_path / "inputs"
    place.mkdir()
    (place / "key.pem").write_bytes(statements.private_pem("alice"))
    (place / "key.pem").chmod(0o600)
    (place / "key.pub").write_bytes(statements.public_pem("alice"))
    (place / "v6.py").write_bytes(hosts.host("v6"))
    (place / "v5.py").write_bytes(hosts.host("v5"))
    (place / "bad.py").write_bytes(hosts.host("v5").replace(b"+ 2.0", b"+ 2.7"))
    (place / "else.py").write_bytes(b"print()\n")
    (place / "trust.json").write_text(json.dumps(runs.trusting(test_registry)))
    return place


def judge(folder: Path, *arguments: str, to: str = "v.json", **more: Any) -> runs.Ran:
    trust = json.loads((folder / "trust.json").read_text())
    signing = ["--sign-with", "key.pem", "--sign-to", to]
    return runs.run(["verify", *arguments, *signing, *trust], cwd=folder, clock=CLOCK, **more)


def signed(folder: Path, name: str = "v.json") -> dict[str, Any]:
    """Return the statement, once its signature holds and it reads as one."""
    envelope = Envelope.parse((folder / name).read_bytes(), what="e")
    assert envelope.signers([statements.public("alice")])
    assert isinstance(Statement.of(envelope.payload_type, envelope.payload, what="s"), Statement)
    assert envelope.payload_type == IN_TOTO
    document: dict[str, Any] = json.loads(envelope.payload)
    return document


def policy(folder: Path, text: str) -> list[str]:
    (folder / "p.toml").write_text(
        f'schema = "policy/v1"\nname = "mine"\ndescription = "for a test"\n{text}'
    )
    return ["--policy", "./p.toml"]


def test_verified_says_what_held(folder: Path) -> None:
    ran = judge(folder, "helper", "v6.py")
    assert ran.exit == 0, ran
    assert ran.stderr.startswith(b"signed by ed25519 ")
    document = signed(folder)
    assert document["predicateType"] == svr.TYPE
    assert document["subject"] == [
        {"name": "v6.py", "digest": {"sha256": sha256(hosts.host("v6"))}}
    ]
    predicate = document["predicate"]
    assert predicate["verifier"]["id"] == f"urn:pinproof:verifier:{__version__}"
    assert predicate["timeCreated"] == "2026-11-01T00:00:00Z"
    assert {"PINPROOF_HELPER", "PINPROOF_SCOPE", "PINPROOF_SITES"} <= set(predicate["properties"])
    assert all(re.fullmatch("PINPROOF_[A-Z_]+", each) for each in predicate["properties"])
    names = [each["name"] for each in predicate["verifier"]["policies"]]
    assert names == ["strict", "registry snapshot"]
    more = predicate[EXTENSION]
    assert (more["kind"], more["pastTime"], more["waived"]) == ("helper", False, [])
    assert more["notProven"]
    assert more["identified"] == [{"entry": "example-fair-queue", "version": "v6"}]


def test_it_says_what_the_report_says(folder: Path) -> None:
    ran = judge(folder, "helper", "v6.py", "--format", "json")
    report = json.loads(ran.stdout)
    predicate = signed(folder)["predicate"]
    policies = predicate["verifier"]["policies"]
    assert policies[0]["digest"] == {"sha256": report["policy"]["sha256"]}
    assert policies[1]["digest"] == report["registry"]["snapshot"]
    held = {
        f"PINPROOF_{row['facet'].upper().replace('-', '_')}"
        for row in report["results"][0]["coverage"]
        if row["state"] == "held"
    }
    others = set(predicate["properties"]) - held
    assert held <= set(predicate["properties"])
    assert all(each.endswith("_LENGTH_NOT_PINNED") for each in others)


def test_signing_changes_nothing_that_is_printed(folder: Path) -> None:
    trust = json.loads((folder / "trust.json").read_text())
    for name in ("v6.py", "bad.py", "else.py"):
        plain = runs.run(["verify", "helper", name, *trust], cwd=folder, clock=CLOCK)
        ran = judge(folder, "helper", name, to=f"{name}.json")
        assert (ran.exit, ran.stdout) == (plain.exit, plain.stdout)


def test_a_signed_verdict_is_verified_by_ourselves(folder: Path) -> None:
    judge(folder, "helper", "v6.py")
    asked = ["verify", "statement", "v.json", "--key", "key.pub", "--subject"]
    assert runs.run([*asked, "v6.py"], cwd=folder).exit == 0
    assert runs.run([*asked, "v5.py"], cwd=folder).exit == 1


def test_rejected_says_no_of_what_was_rejected_alone(folder: Path) -> None:
    ran = judge(folder, "helper", "v6.py", "bad.py", "else.py")
    assert ran.exit == 1, ran
    document = signed(folder)
    bad = sha256((folder / "bad.py").read_bytes())
    assert document["predicateType"] == vsa.TYPE
    assert document["subject"] == [{"name": "bad.py", "digest": {"sha256": bad}}]
    predicate = document["predicate"]
    assert predicate["verificationResult"] == "FAILED"
    assert predicate["verifiedLevels"] == ["FAILED"]
    assert predicate["resourceUri"] == f"urn:pinproof:subject:sha256:{bad}"
    assert predicate["policy"]["name"] == "strict"
    assert "helper-drifted" in predicate[EXTENSION]["codes"]
    assert b"PINPROOF_" not in (folder / "v.json").read_bytes()


@pytest.mark.parametrize(
    ("files", "exit_code"),
    [(["else.py"], 3), (["v6.py", "else.py"], 3), (["gone.py"], 4), (["v6.py", "gone.py"], 4)],
)
def test_of_anything_else_nothing_is_signed(
    folder: Path, files: Iterable[str], exit_code: int
) -> None:
    ran = judge(folder, "helper", *files)
    assert ran.exit == exit_code
    assert b"not signed: " in ran.stderr
    assert not (folder / "v.json").exists()


def test_of_several_files_only_what_holds_of_all_is_said(folder: Path) -> None:
    assert judge(folder, "helper", "v6.py", "v5.py").exit == 0
    document = signed(folder)
    assert [each["name"] for each in document["subject"]] == ["v6.py", "v5.py"]
    both = set(document["predicate"]["properties"])
    each = []
    for name in ("v6.py", "v5.py"):
        assert judge(folder, "helper", name, to=f"{name}.json").exit == 0
        each.append(set(signed(folder, f"{name}.json")["predicate"]["properties"]))
    assert both == each[0] & each[1]


def test_a_waived_facet_has_no_property(folder: Path) -> None:
    waiver = (
        '[[waiver]]\ncode = "helper-not-accepted"\nsubject = "v5m.py"\nreason = "r"\nby = "b"\n'
        "until = 2026-12-31T00:00:00Z\n"
    )
    (folder / "v5m.py").write_bytes(hosts.host("v5-main"))
    chosen = policy(folder, f'[helper]\ndemand = ["helper", "sites", "scope"]\n{waiver}')
    assert judge(folder, "helper", "v5m.py", *chosen).exit == 0
    predicate = signed(folder)["predicate"]
    assert predicate[EXTENSION]["waived"] == ["helper-not-accepted"]
    assert "PINPROOF_HELPER" not in predicate["properties"]
    assert "PINPROOF_SITES" in predicate["properties"]


def test_a_past_time_meets_no_demand_for_a_present_one(folder: Path) -> None:
    chosen = policy(folder, 'insecure_past_time = "allow"\n[helper]\ndemand = ["helper"]\n')
    past = ["--effective-time", "2026-10-01T00:00:00Z", "--insecure-past-time"]
    assert judge(folder, "helper", "v6.py", *chosen, *past).exit == 0
    predicate = signed(folder)["predicate"]
    assert predicate["timeCreated"] == "2026-10-01T00:00:00Z"
    assert predicate[EXTENSION]["pastTime"] is True
    assert predicate["properties"]
    assert all(each.startswith("PINPROOF_PAST_TIME_") for each in predicate["properties"])


def test_an_image_has_a_subject_for_each_digest(folder: Path) -> None:
    images.make(folder / "a", {})
    expected = json.loads(judge(folder, "image", "oci:a", "--format", "json", to="x.json").stdout)[
        "results"
    ][0]["subject"]["digests"]
    chosen = ["--expect", next(each for each in expected if each.startswith("manifest:"))]
    assert judge(folder, "image", "oci:a", *chosen).exit == 0
    document = signed(folder)
    assert len(document["subject"]) == len(expected) > 1
    found = {each["digest"]["sha256"] for each in document["subject"]}
    assert found == {each.rpartition(":")[2] for each in expected}
    assert len({each["name"] for each in document["subject"]}) == len(expected)


def test_of_a_file_in_an_image_the_image_is_the_subject(folder: Path) -> None:
    """What was found inside stands in the image's own facets; the file is no second subject."""
    recipe = {"contents": [[["folder", "app", ""], ["host", "app/host.py", "v6"]]]}
    images.make(folder / "a", recipe)
    plain = judge(folder, "image", "oci:a", "--format", "json", to="x.json")
    digests = json.loads(plain.stdout)["results"][0]["subject"]["digests"]
    manifest = next(each for each in digests if each.startswith("manifest:"))
    asked = ["image", "oci:a", "--expect", manifest, "--path", "app/host.py"]
    assert judge(folder, *asked, "--policy", "region").exit == 0
    document = signed(folder)
    assert len(document["subject"]) == len(digests)
    assert sha256(hosts.host("v6")) not in json.dumps(document["subject"])
    told = {"PINPROOF_HELPER", "PINPROOF_GRAPH", "PINPROOF_EXPECTED_LENGTH_NOT_PINNED"}
    assert told <= set(document["predicate"]["properties"])


def test_a_runtime_is_about_the_image_of_each_rank(folder: Path) -> None:
    images.make(folder / "a", {})
    images.make(folder / "b.oci.tar", {})
    ranks = ["--rank", "0=oci:a", "--rank", "1=oci-archive:b.oci.tar"]
    assert judge(folder, "runtime", "lighthouse-pair", *ranks).exit == 0
    document = signed(folder)
    assert document["subject"]
    assert all(set(each["digest"]) == {"sha256"} for each in document["subject"])
    assert "PINPROOF_RANKS" in document["predicate"]["properties"]


def test_a_tree_has_a_digest_of_its_own_name(folder: Path) -> None:
    compositions.make(folder / "tree", {})
    assert judge(folder, "composition", "example-lantern", "--at", "tree").exit == 0
    (subject,) = signed(folder)["subject"]
    assert set(subject["digest"]) == {"pinproofTree1"}
    digest = subject["digest"]["pinproofTree1"]
    asked = ["verify", "statement", "v.json", "--key", "key.pub", "--subject"]
    assert runs.run([*asked, f"tree:sha256:{digest}"], cwd=folder).exit == 0
    assert runs.run([*asked, f"file:sha256:{digest}"], cwd=folder).exit == 1
    assert runs.run([*asked, "v6.py"], cwd=folder).exit == 1
    assert algorithm_of(Digest(kind="tree", hex="0" * 64)) == "pinproofTree1"
    assert algorithm_of(Digest(kind="git-commit", hex="0" * 40)) == "gitCommit"
    assert algorithm_of(Digest(kind="manifest", hex="0" * 64)) == "sha256"


# What is wrong with the call is said before anything is judged, and nothing is written.


def refused(folder: Path, code: str, *arguments: str, exit_code: int) -> None:
    before = runs.content(folder)
    trust = json.loads((folder / "trust.json").read_text())
    ran = runs.run(["verify", "helper", "v6.py", *arguments, *trust], cwd=folder, clock=CLOCK)
    assert f" {code}: ".encode() in ran.stderr, ran
    assert (ran.exit, ran.stdout) == (exit_code, b"")
    assert runs.content(folder) == before


def test_an_older_verdict_is_never_written_over(folder: Path) -> None:
    (folder / "v.json").write_text("an older verdict")
    signing = ["--sign-with", "key.pem", "--sign-to"]
    refused(folder, "cannot-write", *signing, "v.json", exit_code=4)
    refused(folder, "cannot-write", *signing, "v6.py", exit_code=4)
    refused(folder, "cannot-write", *signing, "nowhere/v.json", exit_code=4)


def test_half_a_wish_is_a_wrong_call(folder: Path) -> None:
    refused(folder, "wrong-call", "--sign-with", "key.pem", exit_code=2)
    refused(folder, "wrong-call", "--sign-to", "v.json", exit_code=2)
    refused(folder, "wrong-call", "--sign-passphrase-file", "key.pem", exit_code=2)


def test_a_key_that_cannot_sign_is_found_first(folder: Path) -> None:
    (folder / "key.pem").chmod(0o644)
    signing = ["--sign-with", "key.pem", "--sign-to", "v.json"]
    refused(folder, "signing-key-exposed", *signing, exit_code=4)
    (folder / "key.pem").chmod(0o600)
    (folder / "key.pem").write_bytes(statements.public_pem("alice"))
    refused(folder, "signing-key-malformed", *signing, exit_code=4)


def test_what_cannot_be_written_is_no_success(folder: Path) -> None:
    """The verdict is printed all the same; somebody took the name while it was judged."""
    from verifier.actions.sign_verdict import sign_verdict
    from verifier.core.errors import UnavailableError
    from verifier.evidence import private_key

    key = private_key.load(str(folder / "key.pem"), None)
    (folder / "v.json").write_text("faster")
    from verifier import ask

    trust = json.loads((folder / "trust.json").read_text())
    judging = ask.trust(registry=trust[1], root=trust[3], clock=CLOCK)
    report = ask.verify_helper([str(folder / "v6.py")], trust=judging)
    with pytest.raises(UnavailableError) as error:
        sign_verdict(report, key, to=str(folder / "v.json"))
    assert error.value.code == "cannot-write"
    assert (folder / "v.json").read_text() == "faster"
    assert [p.name for p in folder.iterdir() if p.name.startswith(".v.json")] == []


def test_a_verdict_without_a_digest_is_not_signed(folder: Path) -> None:
    from dataclasses import replace

    from verifier import ask
    from verifier.actions.sign_verdict import sign_verdict
    from verifier.core.errors import UnavailableError
    from verifier.core.outcome import Result, Subject
    from verifier.evidence import private_key

    key = private_key.load(str(folder / "key.pem"), None)
    trust = json.loads((folder / "trust.json").read_text())
    judging = ask.trust(registry=trust[1], root=trust[3], clock=CLOCK)
    report = ask.verify_helper([str(folder / "v6.py")], trust=judging)
    (result,) = report.results
    assert isinstance(result, Result)
    nameless = replace(report, results=(replace(result, subject=Subject(name="x")),))
    with pytest.raises(UnavailableError) as error:
        sign_verdict(nameless, key, to=str(folder / "v.json"))
    assert error.value.code == "signing-no-digest"
    assert not (folder / "v.json").exists()


def test_every_verb_that_judges_can_sign() -> None:
    from click import Context

    from verifier.cli.verbs.verify import SUBJECTS, command

    for name in SUBJECTS:
        verb = command.get_command(Context(command), name)
        assert verb is not None
        options = {option for each in verb.params for option in each.opts}
        assert {"--sign-with", "--sign-to", "--sign-passphrase-file"} <= options, name
