"""Writing a migration: what is kept, what is refused, and that a refusal changes nothing."""

import errno
import hashlib
import importlib.util
import json
import os
import py_compile
import signal
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import jsonschema
import pytest
from support import hosts, runs
from support.migrating import OLD_TIME, PAYLOAD, Bench
from support.registry import EXPIRES, Registry

from verifier.actions import durable, migrate, replacing, transaction
from verifier.ask.trusted import trust
from verifier.core.errors import PinproofError, UnavailableError
from verifier.core.verdict import Exit
from verifier.sources import shipped

VERSIONS: Final = ("v1", "v2", "v5", "v6")
LAYOUTS: Final = ("{}", "{} then aging", "aging then {}")


@pytest.fixture
def bench(tmp_path: Path, test_registry: Registry) -> Bench:
    return Bench(tmp_path, test_registry)


@pytest.fixture
def region(tmp_path: Path, test_registry: Registry) -> Bench:
    """For hosts whose rest no base attests."""
    return Bench(tmp_path, test_registry, policy="region")


def command(bench: Bench, host: Path, *more: str) -> list[str]:
    """Return the arguments that write v6."""
    wanted = ["migrate", str(host), "--to", "v6", "--payload", PAYLOAD, "--write"]
    return [*wanted, *more, *runs.trusting(bench.registry)]


def state(tmp_path: Path) -> dict[str, str]:
    """Return the variable that keeps journals below the test's folder."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def refused(bench: Bench, code: str, act: object) -> PinproofError:
    """Call `act`; it must raise that code and change nothing in the folder of hosts."""
    before = runs.content(bench.folder)
    assert callable(act)
    with pytest.raises(PinproofError) as caught:
        act()
    assert caught.value.code == code, caught.value.message
    assert caught.value.remedy
    assert runs.content(bench.folder) == before
    assert ".pending" not in bench.states()
    return caught.value


# ── what is written ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("old", VERSIONS)
@pytest.mark.parametrize("new", VERSIONS)
def test_a_migration_is_a_fresh_install_and_undo_takes_it_back(
    region: Bench, layout: str, old: str, new: str
) -> None:
    host = region.host(layout.format(old))
    planned = region.plan(new, host)
    assert planned.sound
    if old == new:
        assert all(plan is not None and plan.idle for plan in planned.plans)
        return
    done = region.write(planned)
    assert host.read_bytes() == hosts.host(layout.format(new))
    again = region.plan(new, host)
    assert all(plan is not None and plan.idle for plan in again.plans)
    region.undo(done.journal)
    assert host.read_bytes() == hosts.host(layout.format(old))
    assert region.names() == ["host.py"]
    assert region.states() == ["", ".undone"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_bare_base_there_and_back(bench: Bench, version: str) -> None:
    host = bench.host("clean")
    bench.migrate(version, host)
    assert host.read_bytes() == hosts.host(version)
    bench.migrate("base:pinned-clean", host)
    assert host.read_bytes() == hosts.host("clean")


def test_what_is_current_is_left_alone(bench: Bench) -> None:
    host = bench.host("v6")
    planned = bench.plan("v6", host, payload=())
    assert planned.exit is Exit.OK
    assert host.stat().st_mtime == OLD_TIME
    assert bench.states() == []


def test_mode_owner_and_attributes_are_kept_and_time_moves_on(bench: Bench) -> None:
    host = bench.host("v5")
    host.chmod(0o2754)
    if os.geteuid() == 0:
        os.chown(host, 12345, 23456)
        host.chmod(0o2754)
    os.setxattr(host, "user.note", b"kept")
    before = host.stat()
    bench.migrate("v6", host)
    after = host.stat()
    kept = ("st_mode", "st_uid", "st_gid", "st_nlink")
    assert [getattr(after, k) for k in kept] == [getattr(before, k) for k in kept]
    assert os.getxattr(host, "user.note") == b"kept"
    assert after.st_mtime - before.st_mtime >= 2


@pytest.mark.parametrize("ahead", [0, 1, -1])
def test_the_time_is_two_seconds_from_the_old_one(bench: Bench, ahead: int) -> None:
    """A compiled file holds whole seconds of it, and might be taken for the new bytes' own."""
    host = bench.host("v5")
    os.utime(host, ns=(0, host.stat().st_ctime_ns + ahead * 10**9))
    before = host.stat().st_mtime_ns
    done = bench.migrate("v6", host)
    middle = host.stat().st_mtime_ns
    assert abs(middle - before) >= 2 * 10**9
    bench.undo(done.journal)
    assert abs(host.stat().st_mtime_ns - middle) >= 2 * 10**9


def test_compiled_files_of_the_old_bytes_go_and_others_stay(bench: Bench) -> None:
    host = bench.host("v5", "queue_host.py")
    cached = Path(importlib.util.cache_from_source(str(host)))
    py_compile.compile(str(host), doraise=True)
    unchecked = cached.with_name("queue_host.cpython-399.pyc")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(host), str(unchecked), doraise=True, invalidation_mode=mode)
    other = cached.with_name("other_host.cpython-311.pyc")
    other.write_bytes(unchecked.read_bytes())
    stale = cached.with_name("queue_host.cpython-398.pyc")
    stale.write_bytes(cached.read_bytes()[:8] + bytes(8) + cached.read_bytes()[16:])
    done = bench.migrate("v6", host)
    assert set(done.files[0].bytecode) == {f"__pycache__/{p.name}" for p in (cached, unchecked)}
    assert not cached.exists()
    assert not unchecked.exists()
    assert other.exists()
    assert stale.exists()


def test_the_policy_sees_bytecode_as_it_will_be(tmp_path: Path, test_registry: Registry) -> None:
    policy = tmp_path / "own.toml"
    policy.write_text(
        'schema = "policy/v1"\nname = "own"\ndescription = "bytecode too"\n\n[helper]\n'
        'demand = ["helper", "sites", "scope", "whole-file", "bytecode"]\n'
    )
    bench = Bench(tmp_path, test_registry, policy=str(policy))
    host = bench.host("v5")
    py_compile.compile(str(host), doraise=True)
    bench.migrate("v6", host)
    assert host.read_bytes() == hosts.host("v6")
    assert bench.names() == ["__pycache__", "host.py"]


def test_journals_are_for_this_user_alone(bench: Bench) -> None:
    done = bench.migrate("v6", bench.host("v5"))
    (journal,) = bench.journals.iterdir()
    assert journal.name == done.journal
    assert {p.name: stat.S_IMODE(p.stat().st_mode) for p in journal.iterdir()} == {
        "journal.json": 0o600,
        "0.before": 0o600,
        "0.after": 0o600,
    }
    assert stat.S_IMODE(journal.stat().st_mode) == 0o700
    assert (journal / "0.before").read_bytes() == hosts.host("v5")


def test_a_set_is_written_whole(bench: Bench) -> None:
    paths = [bench.host("v1", "a.py"), bench.host("v5", "below/b.py"), bench.host("v6", "c.py")]
    done = bench.migrate("v6", *paths)
    assert [path.read_bytes() for path in paths] == [hosts.host("v6")] * 3
    assert [file.source for file in done.files] == ["v1", "v5"]
    assert paths[2].stat().st_mtime == OLD_TIME
    bench.undo(done.journal)
    assert [p.read_bytes() for p in paths] == [hosts.host(v) for v in ("v1", "v5", "v6")]


def test_a_set_of_which_one_is_refused_is_not_written(bench: Bench) -> None:
    good, bad = bench.host("v5", "a.py"), bench.host("v5", "b.py")
    bad.write_bytes(hosts.mutated({"from": "v5", "replace": [["+ 2.0", "+ 2.1"]]}))
    before = runs.content(bench.folder)
    planned = bench.plan("v6", good, bad)
    assert not planned.sound
    assert planned.exit is Exit.REJECTED
    with pytest.raises(ValueError, match="not sound"):
        bench.write(planned)
    assert runs.content(bench.folder) == before


# ── what is refused ────────────────────────────────────────────────────────────────────────────


def test_a_file_that_changed_since_the_plan(bench: Bench) -> None:
    host = bench.host("v5")
    planned = bench.plan("v6", host)
    host.write_bytes(hosts.host("v2"))
    refused(bench, "migrate-changed", lambda: bench.write(planned))
    host.unlink()
    refused(bench, "cannot-read", lambda: bench.write(planned))


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_file_that_changes_in_the_last_moment(
    bench: Bench, exchanges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program writes between the second reading and the name being taken."""
    host, second = bench.host("v5", "a.py"), bench.host("v5", "b.py")
    planned = bench.plan("v6", host, second)
    other = hosts.host("v2")
    beside = replacing.write_beside

    def then_another_writes(place: replacing.Place, *rest: object) -> object:
        made = beside(place, *rest)  # type: ignore[arg-type]
        if place.name == "b.py":
            (bench.folder / "new").write_bytes(other)
            (bench.folder / "new").rename(second)
        return made

    monkeypatch.setattr(transaction, "write_beside", then_another_writes)
    if not exchanges:
        monkeypatch.setattr(replacing, "exchange", lambda *_: False)
    with pytest.raises(UnavailableError) as caught:
        bench.write(planned)
    assert caught.value.code == "migrate-changed"
    assert host.read_bytes() == hosts.host("v5"), "a mixed set"
    assert second.read_bytes() == other
    assert bench.names() == ["a.py", "b.py"]
    assert bench.states() == []


def test_without_exchange_it_is_renamed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "exchange", lambda *_: False)
    host = bench.host("v5")
    done = bench.migrate("v6", host)
    bench.undo(done.journal)
    assert host.read_bytes() == hosts.host("v5")
    assert bench.names() == ["host.py"]


def test_a_link_is_not_followed(bench: Bench) -> None:
    host = bench.host("v5", "real.py")
    link = bench.folder / "host.py"
    link.symlink_to(host)
    planned = bench.plan("v6", link)
    assert planned.report.results[0].code == "migrate-link"  # type: ignore[union-attr]
    assert planned.exit is Exit.ENVIRONMENT
    sound = bench.plan("v6", host)
    host.rename(bench.folder / "moved.py")
    host.symlink_to(bench.folder / "moved.py")
    refused(bench, "migrate-link", lambda: bench.write(sound))


def test_a_folder_on_the_way_that_became_a_link(bench: Bench) -> None:
    host = bench.host("v5", "below/host.py")
    planned = bench.plan("v6", host)
    done = bench.write(planned)
    (bench.folder / "below").rename(bench.folder / "elsewhere")
    (bench.folder / "below").symlink_to("elsewhere")
    refused(bench, "migrate-link", lambda: bench.undo(done.journal))


def test_hard_links_are_refused_unless_told(bench: Bench) -> None:
    host = bench.host("v5")
    other = bench.folder / "other.py"
    other.hardlink_to(host)
    planned = bench.plan("v6", host)
    assert planned.report.results[0].code == "migrate-hard-link"  # type: ignore[union-attr]
    bench.migrate("v6", host, break_hard_link=True)
    assert other.read_bytes() == hosts.host("v5")
    assert host.read_bytes() == hosts.host("v6")


def access_list(path: Path, name: str = "system.posix_acl_access", *, group: int) -> None:
    """Give a list (acl(5), version 2): owner rw, user 1234 rw, the group, mask rw, others none."""
    none = 0xFFFFFFFF
    rows = [(1, 6, none), (2, 6, 1234), (4, group, none), (16, 6, none), (32, 0, none)]
    packed = b"".join(struct.pack("<HHI", *row) for row in rows)
    try:
        os.setxattr(path, name, struct.pack("<I", 2) + packed)
    except OSError as error:
        pytest.skip(f"this file system has no access lists: {error.strerror}")


@pytest.mark.parametrize(("group", "mode"), [(0, 0o600), (4, 0o640), (6, 0o660)])
def test_access_lists_are_refused_unless_told(bench: Bench, group: int, mode: int) -> None:
    """While there is a list, the group's bits of the mode are its mask, and not the group's."""
    host = bench.host("v5")
    access_list(host, group=group)
    planned = bench.plan("v6", host)
    assert planned.report.results[0].code == "migrate-attributes"  # type: ignore[union-attr]
    done = bench.migrate("v6", host, drop_attributes=True)
    assert "system.posix_acl_access" in done.files[0].notes[0]
    assert os.listxattr(host) == []
    assert stat.S_IMODE(host.stat().st_mode) == mode


@pytest.mark.parametrize("own", [True, False])
def test_a_list_that_the_folder_gives_is_not_taken(bench: Bench, own: bool) -> None:
    host = bench.host("v5")
    host.chmod(0o640)
    if own:
        access_list(host, group=4)
    access_list(bench.folder, "system.posix_acl_default", group=6)
    bench.migrate("v6", host, drop_attributes=True)
    assert os.listxattr(host) == []
    assert stat.S_IMODE(host.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("flags", "code"), [(0x10, "immutable"), (0x20, "append-only"), (0x100000, "verity")]
)
def test_flags_of_the_file_system(
    bench: Bench, flags: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = bench.host("v5")
    told = flags.to_bytes(8, "little")
    monkeypatch.setattr("fcntl.ioctl", lambda *_: told)
    (result,) = bench.plan("v6", host).report.results
    assert result.code == "migrate-attributes"  # type: ignore[union-attr]
    assert code in result.message  # type: ignore[union-attr]


def test_a_really_immutable_file(bench: Bench) -> None:
    host = bench.host("v5")
    done = subprocess.run(["chattr", "+i", host], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"chattr +i is not possible here: {done.stderr.decode().strip()}")
    try:
        (result,) = bench.plan("v6", host).report.results
        assert result.code == "migrate-attributes"  # type: ignore[union-attr]
        assert "chattr -i" in result.remedy  # type: ignore[union-attr]
    finally:
        subprocess.run(["chattr", "-i", host], check=True)


def test_a_mount_point(bench: Bench, tmp_path: Path) -> None:
    host, other = bench.host("v5"), tmp_path / "other.py"
    other.write_bytes(hosts.host("v5"))
    code = (
        "import subprocess, sys\n"
        "mounted = subprocess.run(['mount', '--bind', sys.argv[1], sys.argv[2]])\n"
        "sys.exit(99 if mounted.returncode else subprocess.run(sys.argv[3:]).returncode)\n"
    )
    shown = [str(runs.PROGRAM), *command(bench, host)]
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", code, str(other), str(host), *shown],
        capture_output=True,
        env={**os.environ, **state(tmp_path)},
        check=False,
    )
    if done.returncode in (1, 99) and b"migrate-mount" not in done.stdout + done.stderr:
        pytest.skip(f"no mount is possible here: {done.stderr.decode().strip()}")
    assert done.returncode == 4, done
    assert b"migrate-mount" in done.stdout + done.stderr
    assert bench.names() == ["host.py"]
    assert not (tmp_path / "state").exists()


def test_two_at_once(bench: Bench) -> None:
    host = bench.host("v5")
    planned = bench.plan("v6", host)
    with durable.opened(bench.folder) as folder, durable.locked(folder, shown="x"):
        refused(bench, "migrate-busy", lambda: bench.write(planned))
    bench.write(planned)
    refused(bench, "migrate-changed", lambda: bench.write(planned))


def test_a_race_of_processes_has_one_winner(bench: Bench, tmp_path: Path) -> None:
    host = bench.host("v5")
    shared = ["migrate", str(host), "--payload", PAYLOAD, "--write"]
    shared += ["--lineage", "example-fair-queue"]
    shared += runs.trusting(bench.registry)
    targets = ("v6", "v2", "v1", "base:pinned-clean")
    running = [
        subprocess.Popen(
            [str(runs.PROGRAM), *shared, "--to", to],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **state(tmp_path)},
        )
        for to in targets
    ]
    ended = [(process.communicate(), process.returncode) for process in running]
    wrote = [to for to, (_, code) in zip(targets, ended, strict=True) if code == 0]
    assert wrote, ended
    for (out, err), code in ended:
        codes = (b"migrate-busy", b"migrate-changed", b"changed-while-read")
        assert code == 0 or (code == 4 and any(c in out + err for c in codes)), (out, err)
    finals = [hosts.host("clean" if to.startswith("base") else to) for to in wrote]
    assert host.read_bytes() in finals
    assert bench.names() == ["host.py"]


def test_a_folder_that_may_not_be_written_to(bench: Bench, tmp_path: Path) -> None:
    host = bench.host("v5")
    bench.folder.chmod(0o555)
    ran = runs.program(command(bench, host), env=state(tmp_path), unprivileged=True)
    bench.folder.chmod(0o755)
    assert ran.exit == 4, ran
    assert b"cannot-write" in ran.stderr
    assert host.read_bytes() == hosts.host("v5")
    assert list((tmp_path / "state/pinproof/journals").iterdir()) == []


@pytest.mark.parametrize("room", [0, 100, 2970, 3500, 6000])
def test_no_room(bench: Bench, tmp_path: Path, room: int) -> None:
    """A limit on the size of files stands for a full disk: a write comes back short, then fails."""
    host = bench.host("v5")
    before = runs.content(bench.folder)
    code = (
        "import os, resource, sys; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); "
        "os.execv(sys.argv[2], sys.argv[2:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(room), str(runs.PROGRAM), *command(bench, host)],
        capture_output=True,
        env={**os.environ, **state(tmp_path)},
        check=False,
    )
    if room < 3000:
        assert done.returncode == 4, done
        assert runs.content(bench.folder) == before
    else:
        assert done.returncode == 0, done
        assert host.read_bytes() == hosts.host("v6")


def test_no_state_folder(bench: Bench, tmp_path: Path) -> None:
    host = bench.host("v5")
    before = runs.content(bench.folder)
    ran = runs.program(command(bench, host), env={"HOME": "", "XDG_STATE_HOME": "relative"})
    assert ran.exit == 2, ran
    (tmp_path / "file").write_text("in the way")
    ran = runs.program(command(bench, host), env={"XDG_STATE_HOME": str(tmp_path / "file")})
    assert ran.exit == 4, ran
    assert b"cannot-write" in ran.stderr
    assert runs.content(bench.folder) == before


def test_a_signal_is_heeded_before_the_name_is_taken(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = bench.host("v5")
    planned = bench.plan("v6", host)
    before = runs.content(bench.folder)
    beside = replacing.write_beside

    def interrupted(*arguments: object) -> object:
        signal.raise_signal(signal.SIGINT)
        return beside(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(transaction, "write_beside", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench.write(planned)
    assert runs.content(bench.folder) == before
    assert bench.states() == []
    assert threading.current_thread() is threading.main_thread()


def test_a_signal_that_comes_too_late_is_no_failure(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = bench.host("v5")
    take = replacing.take_name

    def interrupted(*arguments: object) -> None:
        take(*arguments)  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(transaction, "take_name", interrupted)
    bench.migrate("v6", host)
    assert host.read_bytes() == hosts.host("v6")
    assert bench.states() == [""]


# ── undo ───────────────────────────────────────────────────────────────────────────────────────


def test_undo_only_what_is_still_there(bench: Bench) -> None:
    host = bench.host("v5")
    done = bench.migrate("v6", host)
    host.write_bytes(hosts.host("v6") + b"# edited\n")
    refused(bench, "migrate-changed", lambda: bench.undo(done.journal))


def test_undo_once(bench: Bench) -> None:
    done = bench.migrate("v6", bench.host("v5"))
    back = bench.undo(done.journal)
    refused(bench, "journal-unknown", lambda: bench.undo(done.journal))
    bench.undo(back.journal)
    assert (bench.folder / "host.py").read_bytes() == hosts.host("v6")


@pytest.mark.parametrize("name", ["", "nothing", "20261129T000000Z-00000000", "../x", "/", "."])
def test_undo_of_nothing(bench: Bench, name: str) -> None:
    bench.migrate("v6", bench.host("v5"))
    refused(bench, "journal-unknown", lambda: bench.undo(name))


def test_undo_writes_only_what_authenticates(bench: Bench) -> None:
    """A journal whose own pins say that anything at all was there before."""
    done = bench.migrate("v6", bench.host("v5"))
    folder = bench.journals / done.journal
    other = b"import os\n"
    document = json.loads((folder / "journal.json").read_text())
    pin = {"sha256": hashlib.sha256(other).hexdigest(), "length": len(other)}
    document["files"][0]["before"] = pin
    (folder / "journal.json").write_text(json.dumps(document))
    (folder / "0.before").write_bytes(other)
    refused(bench, "journal-unauthentic", lambda: bench.undo(done.journal))


@pytest.mark.parametrize("spoiled", ["blob", "document", "path", "temporary", "bytecode", "mode"])
def test_a_damaged_journal(bench: Bench, spoiled: str) -> None:
    done = bench.migrate("v6", bench.host("v5"))
    folder = bench.journals / done.journal
    document = json.loads((folder / "journal.json").read_text())
    row = document["files"][0]
    match spoiled:
        case "blob":
            (folder / "0.before").write_bytes(hosts.host("v2"))
        case "document":
            document["more"] = 1
        case "path":
            row["path"] = "host.py"
        case "temporary":
            row["temporary"] = "../host.py"
        case "bytecode":
            row["bytecode"] = ["../x.pyc"]
        case _:
            folder.chmod(0o777)
    if spoiled not in ("blob", "mode"):
        (folder / "journal.json").write_text(json.dumps(document))
    refused(bench, "journal-damaged", lambda: bench.undo(done.journal))


def test_undo_needs_a_registry_that_authenticates(bench: Bench) -> None:
    done = bench.migrate("v6", bench.host("v5"))
    registry = bench.registry.folder
    expired = trust(
        registry=str(registry),
        root=runs.trusting(bench.registry)[-1],
        effective_time=EXPIRES,
        clock=EXPIRES,
    )

    def undo() -> None:
        request = bench.request("any")
        migrate.undo(done.journal, expired, request, journals=bench.journals, now=EXPIRES)

    error = refused(bench, "journal-unauthentic", undo)
    assert "registry-expired" in error.message


# ── what is left unfinished ────────────────────────────────────────────────────────────────────


def left_pending(bench: Bench, *names: str, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Leave a migration of some hosts as a kill before the last exchange leaves it."""
    paths = [bench.host("v5", name) for name in names]
    planned = bench.plan("v6", *paths)
    take = replacing.take_name

    class Killed(BaseException):
        """Stands for SIGKILL: nothing is put back."""

    def killed(place: replacing.Place, *rest: object) -> None:
        if place.name == Path(names[-1]).name:
            raise Killed
        take(place, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(transaction, "take_name", killed)
        patched.setattr(transaction, "_put_back", lambda *_: None)
        with pytest.raises(Killed):
            bench.write(planned)
    return paths


def test_a_half_written_set_is_seen_by_whoever_comes_next(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, two = left_pending(bench, "one.py", "two.py", monkeypatch=monkeypatch)
    assert (one.read_bytes(), two.read_bytes()) == (hosts.host("v6"), hosts.host("v5"))
    for host in (one, two):
        ran = runs.program(command(bench, host), env=state(tmp_path))
        assert ran.exit == 4
        assert b"migrate-unfinished" in ran.stderr
    (ended,) = bench.recover()
    assert ended.word == "finished"
    assert [path.read_bytes() for path in (one, two)] == [hosts.host("v6")] * 2
    assert bench.names() == ["one.py", "two.py"]


def test_recovery_goes_back_where_somebody_else_was_quicker(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = left_pending(bench, "one.py", "two.py", monkeypatch=monkeypatch)
    other = left_pending(bench, "third.py", "fourth.py", monkeypatch=monkeypatch)
    two.write_bytes(b"edited\n")
    recovered = bench.recovered()
    assert [failed.code for failed in recovered.failed] == ["migrate-changed"]
    assert recovered.exit is Exit.ENVIRONMENT
    assert one.read_bytes() == hosts.host("v5")
    assert two.read_bytes() == b"edited\n"
    assert [path.read_bytes() for path in other] == [hosts.host("v6")] * 2
    assert bench.names() == ["fourth.py", "one.py", "third.py", "two.py"]
    assert bench.states() == ["", ".given-up"]
    (given_up,) = bench.journals.glob("*.given-up")
    with pytest.raises(UnavailableError, match="given up"):
        bench.undo(given_up.stem)


def test_recovery_of_a_file_that_is_gone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = left_pending(bench, "one.py", monkeypatch=monkeypatch)
    one.unlink()
    (failed,) = bench.recovered().failed
    assert "is gone" in failed.message
    assert bench.names() == []


def test_a_folder_that_is_gone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old release folders are removed; what of the set is left goes back."""
    left_pending(bench, "two.py", "below/one.py", monkeypatch=monkeypatch)
    left_pending(bench, "three.py", monkeypatch=monkeypatch)
    (bench.folder / "below").rename(bench.folder / "away")
    recovered = bench.recovered()
    assert [failed.code for failed in recovered.failed] == ["migrate-changed"]
    assert "is gone" in recovered.failed[0].message
    assert [ended.word for ended in recovered.ended] == ["restored"]
    assert (bench.folder / "two.py").read_bytes() == hosts.host("v5")
    assert bench.states() == [".given-up"]


def test_a_damaged_journal_keeps_no_other_from_being_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_pending(bench, "one.py", monkeypatch=monkeypatch)
    (damaged,) = bench.journals.iterdir()
    (two,) = left_pending(bench, "two.py", monkeypatch=monkeypatch)
    (damaged / "journal.json").write_text("{")
    recovered = bench.recovered()
    assert [failed.code for failed in recovered.failed] == ["journal-damaged"]
    assert [ended.word for ended in recovered.ended] == ["restored"]
    planned = bench.plan("v6", two)
    with pytest.raises(UnavailableError) as caught:
        bench.write(planned)
    assert caught.value.code == "journal-damaged", "nobody can tell which files it is about"


def test_a_read_only_file_system(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    host = bench.host("v5")
    planned = bench.plan("v6", host)

    def read_only(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    unlink = os.unlink
    monkeypatch.setattr(replacing, "create", read_only)
    monkeypatch.setattr(
        "os.unlink",
        lambda path, **k: (read_only if ".pinproof" in str(path) else unlink)(path, **k),
    )
    refused(bench, "cannot-write", lambda: bench.write(planned))
    assert bench.states() == []


# ── the command line ───────────────────────────────────────────────────────────────────────────


def test_a_report_that_cannot_be_written_says_what_was(bench: Bench, tmp_path: Path) -> None:
    host = bench.host("v5")
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [str(runs.PROGRAM), *command(bench, host)],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, **state(tmp_path)},
            check=False,
        )
    (journal,) = bench.journals.iterdir()
    assert done.returncode == 4
    assert journal.name.encode() in done.stderr
    assert host.read_bytes() == hosts.host("v6")


@pytest.mark.parametrize(
    ("where", "code"), [("xml=report.xml", 2), ("json={}/nowhere/report.json", 4), ("json={}", 4)]
)
def test_an_output_that_cannot_be_is_refused_before_anything_is_written(
    bench: Bench, tmp_path: Path, where: str, code: int
) -> None:
    host = bench.host("v5")
    ran = runs.program(command(bench, host, "--output", where.format(host)), env=state(tmp_path))
    assert ran.exit == code
    assert host.read_bytes() == hosts.host("v5")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("other", ["host.py", "./host.py", "../hosts/host.py"])
def test_a_file_named_twice(bench: Bench, other: str) -> None:
    host = bench.host("v5")
    refused(bench, "wrong-call", lambda: bench.plan("v6", host, bench.folder / other))


def test_linked_caches_are_refused_by_the_plan(bench: Bench) -> None:
    host = bench.host("v5")
    py_compile.compile(str(host), doraise=True)
    (bench.folder / "__pycache__").rename(bench.folder / "cache")
    (bench.folder / "__pycache__").symlink_to("cache")
    (result,) = bench.plan("v6", host).report.results
    assert result.code == "migrate-link"  # type: ignore[union-attr]


def test_what_is_written_undone_and_ended_follows_its_schema(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    schema = jsonschema.Draft202012Validator(
        json.loads(shipped.read("schemas", "migration.v1.schema.json"))
    )
    host = bench.host("v5")
    form, env = ("--format", "json"), state(tmp_path)
    written = runs.program(command(bench, host, *form), env=env)
    journal = json.loads(written.stdout)["journal"]
    trusting = runs.trusting(bench.registry)
    undone = runs.program(["migrate", "--undo", journal, *form, *trusting], env=env)
    left_pending(bench, "one.py", "two.py", monkeypatch=monkeypatch)
    (bench.folder / "two.py").unlink()
    left_pending(bench, "three.py", monkeypatch=monkeypatch)
    recovered = runs.program(["migrate", "--recover", *form], env=env)
    assert [ran.exit for ran in (written, undone, recovered)] == [0, 0, 4]
    documents = [json.loads(ran.stdout) for ran in (written, undone, recovered)]
    assert [document["state"] for document in documents] == ["written", "undone", "recovered"]
    assert len(documents[2]["ended"]) == len(documents[2]["failed"]) == 1
    for document in documents:
        schema.validate(document)


# ── somebody else at work ──────────────────────────────────────────────────────────────────────


def around_exchange(
    monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], object], *, before: bool
) -> None:
    """Do something right before or after the exchange of that number."""
    done = [0]

    def exchanged(*names: object) -> bool:
        done[0] += 1
        if before and done[0] == number:
            act()
        made = durable.exchange(*names)  # type: ignore[arg-type]
        if not before and done[0] == number:
            act()
        return made

    monkeypatch.setattr(replacing, "exchange", exchanged)


@pytest.mark.parametrize("what", ["mode", "attribute", "owner"])
def test_who_may_read_it_changes_in_the_last_moment(
    bench: Bench, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = bench.host("v5")
    planned = bench.plan("v6", host)

    def act() -> None:
        match what:
            case "mode":
                host.chmod(0o600)
            case "attribute":
                os.setxattr(host, "user.note", b"new")
            case _:
                os.chown(host, os.geteuid(), 12345)

    if what == "owner" and os.geteuid():
        pytest.skip("only root gives files away")
    around_exchange(monkeypatch, 1, act, before=True)
    with pytest.raises(UnavailableError) as caught:
        bench.write(planned)
    assert caught.value.code == "migrate-changed"
    status = host.stat()
    assert host.read_bytes() == hosts.host("v5")
    assert (status.st_mode & 0o777 == 0o600) == (what == "mode")
    assert (status.st_gid == 12345) == (what == "owner")
    assert os.listxattr(host) == (["user.note"] if what == "attribute" else [])
    assert bench.names() == ["host.py"]


def test_an_edit_right_after_the_exchange_is_kept_and_so_are_the_bytes_from_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench.host("v5", "a.py"), bench.host("v5", "b.py")
    planned = bench.plan("v6", one, two)

    def edit() -> None:
        one.write_bytes(one.read_bytes() + b"# precious\n")

    around_exchange(monkeypatch, 1, edit, before=False)
    with pytest.raises(UnavailableError, match="given up") as caught:
        bench.write(planned)
    assert "nothing was written" not in caught.value.remedy
    assert one.read_bytes() == hosts.host("v6") + b"# precious\n"
    assert two.read_bytes() == hosts.host("v5")
    (kept,) = bench.journals.glob("*.given-up")
    assert (kept / "0.before").read_bytes() == hosts.host("v5")
    assert bench.names() == ["a.py", "b.py"]


@pytest.mark.parametrize("saved", ["in place", "by rename"])
def test_an_edit_while_files_are_put_back_is_kept(
    bench: Bench, saved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench.host("v5", "a.py"), bench.host("v5", "b.py")
    planned = bench.plan("v6", one, two)

    def edit() -> None:
        if saved == "in place":
            one.write_bytes(b"precious\n")
        else:
            (bench.folder / "new").write_bytes(b"precious\n")
            (bench.folder / "new").rename(one)

    take = replacing.take_name

    def failing(place: replacing.Place, *rest: object) -> None:
        if place.name == "b.py":
            raise OSError(errno.EIO, "Input/output error")
        take(place, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(transaction, "take_name", failing)
    around_exchange(monkeypatch, 2, edit, before=True)
    with pytest.raises(UnavailableError, match="given up"):
        bench.write(planned)
    assert one.read_bytes() == b"precious\n"
    assert two.read_bytes() == hosts.host("v5")
    assert bench.states() == [".given-up"]


@pytest.mark.parametrize("link", [False, True])
def test_the_folder_is_replaced_meanwhile(
    bench: Bench, link: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = bench.host("v5", "one/host.py")
    bench.host("v5", "two/host.py")
    (bench.folder / "current").symlink_to("one")
    planned = bench.plan("v6", bench.folder / "current" / "host.py" if link else real)

    def act() -> None:
        if link:
            (bench.folder / "current").unlink()
            (bench.folder / "current").symlink_to("two")
        else:
            (bench.folder / "one").rename(bench.folder / "three")
            (bench.folder / "two").rename(bench.folder / "one")

    around_exchange(monkeypatch, 1, act, before=True)
    with pytest.raises(UnavailableError) as caught:
        bench.write(planned)
    assert caught.value.code == "migrate-changed"
    for path in bench.folder.rglob("host.py"):
        assert path.read_bytes() == hosts.host("v5"), path


def test_recovery_takes_no_option_that_nobody_gave(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = left_pending(bench, "one.py", "two.py", monkeypatch=monkeypatch)
    (bench.folder / "other.py").hardlink_to(two)
    (ended,) = bench.recover()
    assert ended.word == "restored"
    assert [path.read_bytes() for path in (one, two)] == [hosts.host("v5")] * 2
    assert two.stat().st_nlink == 2


def test_recovery_writes_only_what_authenticates(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = left_pending(bench, "one.py", "two.py", monkeypatch=monkeypatch)
    (folder,) = bench.journals.iterdir()
    document = json.loads((folder / "journal.json").read_text())
    other = b"evil = True\n"
    pin = {"sha256": hashlib.sha256(other).hexdigest(), "length": len(other)}
    document["files"][1]["after"] = pin
    (folder / "journal.json").write_text(json.dumps(document))
    (folder / "1.after").write_bytes(other)
    (ended,) = bench.recover()
    assert ended.word == "restored"
    assert [path.read_bytes() for path in (one, two)] == [hosts.host("v5")] * 2


def test_a_file_that_only_has_the_name_of_ours_is_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_pending(bench, "one.py", monkeypatch=monkeypatch)
    (temporary,) = bench.folder.glob(".pinproof-*")
    temporary.write_bytes(b"somebody else's\n")
    bench.recover()
    assert bench.names() == [temporary.name, "one.py"]


def test_what_a_waiver_let_through_can_be_undone(tmp_path: Path, test_registry: Registry) -> None:
    policy = tmp_path / "own.toml"
    text = (
        'schema = "policy/v1"\nname = "own"\ndescription = "a note may stay"\n\n[helper]\n'
        'demand = ["helper", "sites"]\n\n[[waiver]]\ncode = "helper-tag-elsewhere"\n'
        'subject = "{}"\nreason = "a note"\nby = "us"\nuntil = 2030-01-01T00:00:00Z\n'
    )
    policy.write_text(text.format(tmp_path / "hosts/host.py"))
    bench = Bench(tmp_path, test_registry, policy=str(policy))
    host = bench.host("v5")
    noted = hosts.host("v5") + b"# see [example-fair-queue:v5]\n"
    host.write_bytes(noted)
    done = bench.migrate("v6", host)
    bench.trust = Bench(tmp_path, test_registry).trust
    bench.undo(done.journal)
    assert host.read_bytes() == noted


def test_compiled_files_that_cannot_be_looked_at_or_removed(bench: Bench, tmp_path: Path) -> None:
    host = bench.host("v5")
    py_compile.compile(str(host), doraise=True)
    cache = bench.folder / "__pycache__"
    for mode in (0o111, 0o555):
        cache.chmod(mode)
        before = host.stat().st_mtime_ns
        ran = runs.program(command(bench, host), env=state(tmp_path), unprivileged=True)
        cache.chmod(0o755)
        assert ran.exit == 4, ran
        assert b"__pycache__" in ran.stdout + ran.stderr
        assert (host.read_bytes(), host.stat().st_mtime_ns) == (hosts.host("v5"), before)


def test_a_folder_to_which_names_can_only_be_added(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = bench.host("v5")
    folder = bench.folder.stat().st_ino

    def flags(descriptor: int, *_: object) -> bytes:
        return (0x20 if os.fstat(descriptor).st_ino == folder else 0).to_bytes(8, "little")

    monkeypatch.setattr("fcntl.ioctl", flags)
    (result,) = bench.plan("v6", host).report.results
    assert result.code == "migrate-attributes"  # type: ignore[union-attr]
    assert "folder" in result.message  # type: ignore[union-attr]


def test_journals_in_a_folder_of_others(bench: Bench) -> None:
    host = bench.host("v5")
    planned = bench.plan("v6", host)
    bench.journals.mkdir(parents=True)
    bench.journals.chmod(0o777)
    refused(bench, "journal-damaged", lambda: bench.write(planned))
    bench.journals.rmdir()
    (bench.folder.parent / "elsewhere").mkdir(mode=0o700)
    bench.journals.symlink_to(bench.folder.parent / "elsewhere")
    refused(bench, "journal-damaged", lambda: bench.write(planned))


def test_rests_of_journals_that_are_no_folders(bench: Bench) -> None:
    bench.journals.mkdir(parents=True, mode=0o700)
    (bench.journals / "20261101T000000Z-00000001.new").write_text("a file")
    (bench.journals / "20261101T000000Z-00000002.new").symlink_to(bench.folder)
    bench.host("v5")
    assert bench.recover() == ()
    assert bench.states() == []
    assert bench.names() == ["host.py"]


def test_another_lineage_that_rejects_the_file(region: Bench) -> None:
    """Whichever lineage is to be migrated, `verify helper` would reject the result."""
    host = region.host("v5")
    host.write_bytes(hosts.host("v5") + b"# [example-aging:v1]\n")
    (result,) = region.plan("v6", host, lineage=None).report.results
    codes = {finding.code for finding in result.findings}  # type: ignore[union-attr]
    assert result.verdict == "rejected"  # type: ignore[union-attr]
    assert "helper-missing" in codes
