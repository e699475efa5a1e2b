"""Registries in the hands of people: who must sign, in which order, and what is refused."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest
from support.maintaining import BEGIN, Team, content, keyid, later
from support.registry import codes, entries, signer

FAIR = "pinproof/helper/example-fair-queue.toml"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def version(team: Team, role: str) -> int:
    document = json.loads((team.registry / f"metadata/{role}.json").read_bytes())
    number: int = document["signed"]["version"]
    return number


# ── passes ─────────────────────────────────────────────────────────────────────────────────────


def test_a_new_registry_authenticates_without_an_entry(team: Team) -> None:
    team.begin()
    assert team.opened().catalog().check_all() == ()
    assert sorted(path.name for path in team.place.iterdir()) == ["keys", "reg"]


def test_entries_are_signed_and_the_index_follows(team: Team) -> None:
    team.signed()
    catalog = team.opened().catalog()
    assert catalog.check_all() == ()
    assert "example-fair-queue" in catalog.names("helper")
    assert [version(team, role) for role in ("pinproof", "targets", "snapshot", "timestamp")] == [
        2,
        2,
        2,
        2,
    ]


def test_people_sign_one_after_the_other_in_any_order(team: Team) -> None:
    team.begin()
    team.fill()
    team.waits("sign registry reg --key @mine2")
    team.waits("sign registry reg --key @targets")
    ran = team.waits("sign registry reg --key @mine1")
    assert keyid("online").encode() in ran.stdout
    team.does("sign registry reg --key @online")
    assert team.opened().catalog().check_all() == ()


def test_a_beginning_is_signed_by_several(team: Team) -> None:
    command = BEGIN.replace("@root2", "+root2").replace("@mine2", "+mine2")
    team.waits(command)
    shown = team.waits("sign root reg")
    assert keyid("root2").encode() in shown.stdout
    team.waits("sign root reg --key @root2")
    team.waits("sign registry reg --key @mine2")
    team.does("sign registry reg --key @online")
    assert team.opened().catalog().check_all() == ()


def test_the_index_may_lag_behind_a_project(team: Team) -> None:
    team.begin()
    team.fill()
    ran = team.run("sign registry reg --key @mine1 --key @mine2 --key @online")
    assert ran.exit == 0
    assert b"index" in ran.stdout
    catalog = team.opened().catalog()
    assert {f.code for f in catalog.check_all()} == {"registry-index-wrong"}
    assert not isinstance(catalog.helper("example-fair-queue"), tuple)
    team.waits("sign registry reg --key @targets")
    team.does("sign registry reg --key @online")
    assert team.opened().catalog().check_all() == ()


def test_one_timestamp_is_renewed_and_nothing_else(team: Team) -> None:
    team.signed()
    before = content(team.registry)
    team.does("sign registry reg --key @online --renew timestamp", now=later(20))
    after = content(team.registry)
    assert {path for path in before if before[path] != after[path]} == {"metadata/timestamp.json"}
    assert team.opened().catalog(now=later(40)).check_all() == ()
    assert version(team, "timestamp") == 3


def test_what_has_expired_can_be_renewed(team: Team) -> None:
    team.signed()
    assert codes(team.opened().open(now=later(400))) == {"registry-expired"}
    everything = " ".join(
        f"--renew {role}" for role in ("pinproof", "targets", "snapshot", "timestamp")
    )
    team.does(
        f"sign registry reg --key @mine1 --key @mine2 --key @targets --key @online {everything}",
        now=later(400),
    )
    assert team.opened().catalog(now=later(400)).check_all() == ()


def test_an_entry_changed_meanwhile_starts_its_signatures_anew(team: Team) -> None:
    team.begin()
    team.fill()
    team.waits("sign registry reg --key @mine1")
    team.put(FAIR, entries()[FAIR] + b"# reviewed\n")
    ran = team.waits("sign registry reg --key @mine2")
    assert b"anew        pinproof" in ran.stdout
    team.waits("sign registry reg --key @mine1 --key @targets")
    team.does("sign registry reg --key @online")
    assert team.opened().catalog().check_all() == ()


def test_an_entry_taken_out_is_gone(team: Team) -> None:
    team.signed()
    (team.registry / "targets" / FAIR).unlink()
    shutil.rmtree(team.registry / "targets/pinproof/lines", ignore_errors=True)
    team.does("sign registry reg --key @mine1 --key @mine2 --key @targets --key @online")
    assert "example-fair-queue" not in team.opened().catalog().names("helper")


# ── rotation ───────────────────────────────────────────────────────────────────────────────────

ROTATE = "rotate root reg --new-root-key +root3 --drop +root1"


def test_a_root_needs_the_old_and_the_new_threshold(team: Team) -> None:
    team.signed()
    team.waits(f"{ROTATE} --key @root1")
    team.waits("sign root reg --key @root2")  # both old ones; of the new ones root3 is missing
    ran = team.does("sign root reg --key @root3")
    assert b"root 2" in ran.stdout
    assert team.opened(1).catalog().facts.root_version == 2
    assert team.opened(2).catalog().facts.root_version == 2
    assert "metadata/1.root.json" in content(team.registry)


def test_whoever_has_the_old_root_follows_through_two_rotations(team: Team) -> None:
    team.signed()
    shutil.copy(team.registry / "metadata/1.root.json", team.place / "mine.root.json")
    team.does(f"{ROTATE} --key @root1 --key @root2 --key @root3")
    team.does(
        "rotate root reg --threshold 1 --key @root2 --key @root3 --online-key @mine1".replace(
            " --online-key @mine1", ""
        )
    )
    ran = team.run("check registry --registry reg --root mine.root.json")
    assert ran.exit == 0, ran
    assert b"registry 2" in ran.stdout or b"verified" in ran.stdout


def test_keys_of_other_roles_are_replaced_with_what_they_signed(team: Team) -> None:
    team.signed()
    team.waits("rotate root reg --timestamp-key +stranger --key @root1 --key @root2")
    team.does("sign registry reg --key @stranger")
    assert team.opened().catalog().check_all() == ()
    assert f"timestamp {keyid('stranger')}" in team.opened().catalog().facts.signed_by


def test_a_root_without_changes_is_renewed(team: Team) -> None:
    team.signed()
    team.does("rotate root reg --key @root1 --key @root2", now=later(10))
    assert team.opened().catalog(now=later(20)).facts.root_version == 2


def test_a_project_gets_other_keys(team: Team) -> None:
    team.signed()
    change = f"rotate project reg pinproof --new-key +stranger --drop {keyid('mine1')}"
    ran = team.waits(f"{change} --key @targets")
    assert b"new" in ran.stdout
    team.waits("sign registry reg --key @mine2")
    assert team.refused("sign registry reg --key @mine1") == "signing-nothing"
    team.waits("sign registry reg --key @stranger")
    team.does("sign registry reg --key @online")
    catalog = team.opened().catalog()
    assert catalog.check_all() == ()
    assert f"pinproof {keyid('stranger')}" in catalog.facts.signed_by


def test_a_new_project_is_let_in(team: Team) -> None:
    team.signed()
    team.does("rotate project reg other --new-key @stranger --key @targets --key @online")
    assert team.opened().catalog().check_all() == ()


def test_keys_of_projects_are_signed_by_who_names_them(team: Team) -> None:
    team.signed()
    team.waits("rotate project reg other --new-key @stranger")
    assert team.refused("sign registry reg --key @targets") == "signing-nothing"
    other = "rotate project reg another --new-key @stranger --key @targets"
    assert team.refused(other) == "signing-draft-other"


# ── refusals ───────────────────────────────────────────────────────────────────────────────────


def test_one_key_counts_once(team: Team) -> None:
    team.begin()
    team.fill()
    assert team.refused("sign registry reg --key @mine1 --key @mine1") == "signing-key-repeated"
    team.waits("sign registry reg --key @mine1")
    assert team.refused("sign registry reg --key @mine1") == "signing-key-repeated"
    again = BEGIN.replace("new registry reg", "new registry two").replace("@root2", "@root1")
    assert team.refused(again) == "signing-threshold"


@pytest.mark.parametrize(
    ("command", "code"),
    {
        "a stranger's key": ("sign registry reg --key @stranger", "signing-key-unknown"),
        "a key of the root": ("sign registry reg --key @root1", "signing-nothing"),
        "a public key": ("sign registry reg --key +mine1", "signing-key-malformed"),
        "no key": ("sign registry reg", "wrong-call"),
        "an unknown role": ("sign registry reg --key @online --renew nobody", "wrong-call"),
        "a root to renew": ("sign registry reg --key @root1 --renew root", "wrong-call"),
        "days of nothing": ("sign registry reg --key @mine1 --expires timestamp=0", "wrong-call"),
        "too many days": ("sign registry reg --key @mine1 --expires timestamp=9999", "wrong-call"),
        "no number": ("sign registry reg --key @mine1 --expires timestamp=x", "wrong-call"),
        "no proposal": ("sign root reg --key @root1", "signing-nothing"),
        "a threshold of three": ("rotate root reg --threshold 3 --key @root1", "signing-threshold"),
        "drop unknown": (f"rotate root reg --drop {'0' * 64} --key @root1", "signing-threshold"),
        "drop no key": ("rotate root reg --drop @root1 --key @root1", "malformed"),
        "drop too many": (f"rotate root reg --drop {keyid('root1')}", "signing-threshold"),
        "drop online": (f"rotate root reg --drop {keyid('online')}", "signing-threshold"),
        "add one twice": ("rotate root reg --new-root-key @root1", "signing-threshold"),
        "rotate by stranger": ("rotate root reg --key @stranger", "signing-key-unknown"),
        "rotate by project": ("rotate root reg --key @mine1", "signing-nothing"),
        "full": (BEGIN, "signing-folder-full"),
        "project named root": (
            "rotate project reg root --new-key @stranger --key @targets",
            "wrong-call",
        ),
        "project without keys": ("rotate project reg other --key @targets", "signing-threshold"),
        "project by root": (
            "rotate project reg other --new-key +stranger --key @root1",
            "signing-nothing",
        ),
        "project drops too many": (
            f"rotate project reg pinproof --drop {keyid('mine1')} --key @targets",
            "signing-threshold",
        ),
        "project drops unknown": (
            f"rotate project reg pinproof --drop {keyid('root1')} --key @targets",
            "signing-threshold",
        ),
        "no registry": ("sign registry keys --key @mine1", "signing-no-registry"),
        "no folder": ("sign registry nowhere --key @mine1", "cannot-read"),
        "project root": (BEGIN.replace("reg ", "two ").replace("pinproof=", "root="), "wrong-call"),
        "no online": (
            BEGIN.replace("reg ", "two ").replace("--online-key @online", ""),
            "wrong-call",
        ),
    }.values(),
)
def test_what_cannot_be_signed_changes_nothing(team: Team, command: str, code: str) -> None:
    team.signed()
    assert team.refused(command) == code


def test_a_registry_that_was_tampered_with_is_not_signed(team: Team) -> None:
    team.signed()
    kept = content(team.registry)
    for path in ("pinproof", "targets", "snapshot", "timestamp", "1.root"):
        file = team.registry / f"metadata/{path}.json"
        data = file.read_bytes()
        changed = data.replace(b'"expires": "20', b'"expires": "21', 1)
        assert changed != data
        file.write_bytes(changed)
        command = "sign registry reg --key @online --renew timestamp"
        assert team.refused(command) == "signing-registry-refused", path
        file.write_bytes(data)
    assert content(team.registry) == kept


def test_a_root_that_was_skipped_is_named(team: Team) -> None:
    team.signed()
    team.does("rotate root reg --key @root1 --key @root2")
    team.does("rotate root reg --key @root1 --key @root2")
    (team.registry / "metadata/2.root.json").unlink()
    command = "sign registry reg --key @online --renew timestamp"
    assert team.refused(command) == "signing-registry-refused"


def test_links_in_place_of_files_are_not_signed(team: Team) -> None:
    team.signed()
    command = "sign registry reg --key @mine1 --key @mine2"
    entry = team.registry / "targets" / FAIR
    shutil.move(entry, team.place / "elsewhere.toml")
    entry.symlink_to(team.place / "elsewhere.toml")
    assert team.refused(command) == "signing-registry-refused"
    entry.unlink()
    os.mkfifo(entry)
    assert team.refused(command) == "signing-registry-refused"


@pytest.mark.parametrize("data", [b"", b"name =", b'schema = "helper/v1"\n', b"\xff"])
def test_a_malformed_entry_is_not_signed(team: Team, data: bytes) -> None:
    team.begin()
    team.put("pinproof/helper/broken.toml", data)
    assert team.refused("sign registry reg --key @mine1 --key @mine2") == "malformed"


def test_what_is_no_entry_is_not_signed(team: Team) -> None:
    team.begin()
    team.put("pinproof/stray.toml", b"")
    assert team.refused("sign registry reg --key @mine1 --key @mine2") == "malformed"


def test_entries_of_a_project_that_nobody_signs(team: Team) -> None:
    team.begin()
    team.put("other/helper/a.toml", entries()[FAIR])
    assert team.refused("sign registry reg --key @mine1") == "signing-project-unknown"


def test_an_expired_root_signs_nothing(team: Team) -> None:
    team.signed()
    command = "sign registry reg --key @online --renew timestamp --renew snapshot"
    assert team.refused(command, now=later(800)) == "signing-root-expired"
    ran = team.waits("rotate root reg --key @root1 --key @root2", now=later(800))
    assert b"missing     pinproof" in ran.stdout
    team.does(
        "sign registry reg --key @mine1 --key @mine2 --key @targets --key @online", now=later(800)
    )
    assert team.opened().catalog(now=later(800)).facts.root_version == 2


def test_a_draft_of_another_root_is_in_the_way(team: Team) -> None:
    team.signed()
    team.waits(f"{ROTATE} --key @root1")
    assert team.refused("rotate root reg --new-root-key @stranger") == "signing-draft-other"
    team.waits(f"{ROTATE} --key @root2")


def test_a_damaged_draft_is_named(team: Team) -> None:
    team.signed()
    team.waits(f"{ROTATE} --key @root1")
    file = team.draft / "metadata/2.root.json"
    file.write_bytes(file.read_bytes()[:-40])
    assert team.refused("sign root reg --key @root2") == "signing-draft-damaged"
    file.unlink()
    file.symlink_to(team.registry / "metadata/1.root.json")
    assert team.refused("sign root reg --key @root2") == "signing-draft-damaged"


def test_what_is_no_draft_is_not_replaced(team: Team) -> None:
    team.signed()
    command = "sign registry reg --key @mine1 --renew pinproof"
    team.draft.write_text("notes of somebody\n")
    assert team.refused(command) == "signing-draft-damaged"
    team.draft.unlink()
    team.draft.symlink_to(team.registry)
    assert team.refused(command) == "signing-draft-damaged"


def test_days_of_a_role_that_there_is_not(team: Team) -> None:
    assert team.refused(f"{BEGIN} --expires pinprof=7") == "wrong-call"
    team.does(f"{BEGIN} --expires pinproof=7")
    assert team.refused("sign registry reg --key @online --expires tiemstamp=7") == "wrong-call"
    assert team.refused("rotate root reg --key @root1 --expires roots=7") == "wrong-call"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("README.md", b"take what is named out of the folder"),
        ("targets/pinproof/image/My tool.toml", b"give entries plain names"),
        ("metadata/timestamp.json", b"restore its metadata"),
    ],
)
def test_a_stray_file_is_not_blamed_on_the_metadata(team: Team, path: str, told: bytes) -> None:
    team.signed()
    file = team.registry / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x")
    ran = team.run("sign registry reg --key @online --renew snapshot")
    assert ran.exit == 4
    assert told in b" ".join(ran.stderr.split())


def test_a_root_that_is_none_is_named(team: Team) -> None:
    team.signed()
    ran = team.run("sign registry reg --key @online --renew snapshot --root keys/root1.pub")
    assert ran.exit == 4
    assert b"--root" in ran.stderr


def test_a_forged_signature_in_a_draft_does_not_count(team: Team) -> None:
    team.begin()
    team.fill()
    team.waits("sign registry reg --key @mine1")
    file = team.draft / "metadata/pinproof.json"
    document = json.loads(file.read_bytes())
    (signature,) = document["signatures"]
    document["signatures"] = [
        {"keyid": keyid("mine1"), "sig": "00" * 64},
        {**signature, "keyid": keyid("mine2")},
    ]
    file.write_bytes(json.dumps(document).encode())
    ran = team.waits("sign registry reg --key @targets")
    assert b"pinproof: 2 of these keys" in ran.stdout


def test_nobody_signs_a_later_expiry_than_their_own(team: Team) -> None:
    team.begin()
    team.fill()
    team.waits("sign registry reg --key @mine1 --expires pinproof=3600")
    ran = team.waits("sign registry reg --key @mine2")
    assert b"anew        pinproof" in ran.stdout
    assert b"pinproof: 1 of these keys" in ran.stdout
    team.waits("sign registry reg --key @mine1 --expires pinproof=3600")
    team.waits("sign registry reg --key @targets")
    team.does("sign registry reg --key @online")
    assert team.opened().catalog().facts.expires == "2026-12-01T00:00:00Z"


def test_a_root_shows_its_expiry_before_it_is_signed(team: Team) -> None:
    team.signed()
    team.waits("rotate root reg --key @root1 --expires root=3600")
    assert b"expires     2036-09-09T00:00:00Z" in team.waits("sign root reg").stdout
    assert team.refused("rotate root reg --key @root2") == "signing-draft-other"
    team.does("rotate root reg --key @root2 --expires root=3600")


def test_keys_of_a_new_registry_are_shown_to_who_signs_them(team: Team) -> None:
    """A draft that was exchanged on its way: what nobody looked at, nobody signs."""
    team.waits(BEGIN.replace("@targets", "+targets"))
    file = team.draft / "metadata/targets.json"
    document = json.loads(file.read_bytes())
    signed = document["signed"]["delegations"]
    key = signer("stranger").public_key
    signed["keys"] = {key.keyid: key.to_dict()}
    signed["roles"][0].update(keyids=[key.keyid], threshold=1)
    file.write_bytes(json.dumps(document).encode())
    assert team.refused("sign registry reg --key @targets") == "signing-nothing"
    assert b"sign root" in team.run("sign registry reg --key @targets").stderr
    for command in ("sign root reg", "sign root reg --key @targets"):
        assert keyid("stranger").encode() in team.waits(command).stdout


def changed_root(team: Team, name: str, **more: object) -> None:
    """Write another root into the draft, signed by nobody yet."""
    (file,) = (team.draft / "metadata").glob("*.root.json")
    document = json.loads(file.read_bytes())
    document["signed"].update(more)
    document["signatures"] = []
    file.unlink()
    (team.draft / "metadata" / name).write_bytes(json.dumps(document).encode())


def test_a_root_that_is_not_the_next_is_not_signed(team: Team) -> None:
    """Signed ahead, it would count once a root before it has come."""
    team.signed()
    team.waits(f"{ROTATE} --key @root1")
    changed_root(team, "5.root.json", version=5)
    for command in ("sign root reg", "sign root reg --key @root2"):
        assert team.refused(command) == "signing-draft-damaged"


def test_nobody_signs_a_root_that_stands_longer_than_their_own(team: Team) -> None:
    team.signed()
    team.waits(f"{ROTATE} --key @root1")
    changed_root(team, "2.root.json", expires="2036-01-01T00:00:00Z")
    assert team.refused("sign root reg --key @root2") == "signing-draft-other"
    team.waits("sign root reg --key @root2 --expires root=3600")


def test_another_threshold_is_shown(team: Team) -> None:
    team.signed()
    told = b"root        1 of 2 keys, before 2 of 2\n"
    assert told in team.waits("rotate root reg --threshold 1 --key @root1").stdout
    assert told in team.waits("sign root reg").stdout
    shutil.rmtree(team.draft)
    ran = team.waits("rotate project reg pinproof --threshold 1 --key @targets")
    assert b"pinproof    1 of 2 keys, before 2 of 2\n" in ran.stdout


def test_a_draft_that_was_published_since_is_forgotten(team: Team) -> None:
    team.begin()
    team.fill()
    team.waits("sign registry reg --key @mine1")
    kept = content(team.draft)
    team.waits("sign registry reg --key @mine2 --key @targets")
    team.does("sign registry reg --key @online")
    for path, data in kept.items():
        file = team.draft / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, bytes):
            file.write_bytes(data)
    team.does("sign registry reg --key @online --renew timestamp")
    assert team.opened().catalog().check_all() == ()


def test_the_floor_is_respected(team: Team) -> None:
    team.signed()
    (team.place / "floor.json").write_bytes(team.opened().catalog().floor.print())
    shutil.copytree(team.registry, team.place / "old")
    team.does("sign registry reg --key @online --renew timestamp --renew snapshot")
    (team.place / "floor.json").write_bytes(team.opened().catalog().floor.print())
    command = "sign registry old --key @online --renew timestamp --floor floor.json"
    assert team.refused(command) == "signing-registry-refused"


def test_a_key_that_others_may_read_signs_nothing(team: Team) -> None:
    team.signed()
    (team.place / "keys/online.key").chmod(0o640)
    command = "sign registry reg --key @online --renew timestamp"
    assert team.refused(command) == "signing-key-exposed"


def test_what_would_not_authenticate_is_not_published(team: Team) -> None:
    team.begin()
    team.put("pinproof/helper/another-name.toml", entries()[FAIR])
    command = "sign registry reg --key @mine1 --key @mine2 --key @targets --key @online"
    assert team.refused(command) == "signing-unsound"


def test_two_runs_at_once_do_not_lose_a_signature(team: Team) -> None:
    team.signed()
    descriptor = os.open(team.place, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert team.refused("sign registry reg --key @online --renew timestamp") == "signing-busy"
    finally:
        os.close(descriptor)
