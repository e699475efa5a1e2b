"""Fetching a registry: from an honest server, and from every kind of liar."""

import json
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from support import kills, runs
from support.maintaining import Team, content
from support.registry import NOW
from support.serving import Server, answer, serving

from verifier.actions.update_registry import update_registry
from verifier.catalog.floor import kept_at
from verifier.catalog.tuf.fetch import Patience, Place
from verifier.core.errors import PinproofError

#: The client of TUF asks the clock of this machine, whatever a run's own clock says.
DAYS = " ".join(
    f"--expires {role}=3600" for role in ("root", "targets", "pinproof", "snapshot", "timestamp")
)
SIGN = f"sign registry reg --key @mine1 --key @mine2 --key @targets --key @online {DAYS}"
RENEW = f"sign registry reg --key @online --renew snapshot --renew timestamp {DAYS}"
HASTY = Patience(silence=0.3, whole=0.6)


class Bench:
    """A registry that is published, an operator with its first root, and a folder of theirs."""

    def __init__(self, place: Path) -> None:
        self.team = Team(place / "team")
        self.team.begin()
        self.team.fill()
        self.team.does(SIGN)
        self.place = place / "operator"
        self.place.mkdir()
        self.root = (self.team.registry / "metadata/1.root.json").read_bytes()
        (self.place / "root.json").write_bytes(self.root)
        self.state = self.place / "state"
        self.to = self.place / "reg"

    def publish(self, server: Server) -> None:
        shutil.rmtree(server.folder, ignore_errors=True)
        shutil.copytree(self.team.registry, server.folder)

    def update(self, server: Server, *, patience: Patience | None = None) -> bool:
        return update_registry(
            server.url,
            str(self.to),
            root=self.root,
            state=self.state,
            now=NOW,
            patience=patience,
        ).newer

    def refused(self, server: Server, *, patience: Patience | None = None) -> str:
        """Update what must be refused and leave everything as it was; return the code."""
        self.state.joinpath("floors").mkdir(parents=True, exist_ok=True)
        before = content(self.place)
        with pytest.raises(PinproofError) as caught:
            self.update(server, patience=patience)
        assert content(self.place) == before
        return caught.value.code

    def floors(self) -> list[Path]:
        return sorted((self.state / "floors").iterdir())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "team").mkdir()
    return Bench(tmp_path)


@pytest.fixture
def server(bench: Bench, tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "published") as given:
        bench.publish(given)
        yield given


# ── an honest server ───────────────────────────────────────────────────────────────────────────


def test_a_registry_is_fetched_whole(bench: Bench, server: Server) -> None:
    assert bench.update(server)
    assert content(bench.to) == content(bench.team.registry)
    assert len(bench.floors()) == 1
    assert not bench.update(server)


def test_an_operator_with_the_old_root_follows_a_rotation(bench: Bench, server: Server) -> None:
    bench.update(server)
    for _ in range(2):
        bench.team.does(f"rotate root reg --key @root1 --key @root2 {DAYS}")
    bench.team.does(RENEW)
    bench.publish(server)
    assert bench.update(server)
    assert content(bench.to) == content(bench.team.registry)
    assert len(bench.floors()) == 3


def test_the_command_line_updates_and_the_next_run_knows_the_floor(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(bench.place / "xdg"))
    trust = ["--registry", "reg", "--root", "root.json"]
    command = ["update", "registry", "--url", server.url, "--to", "reg", "--root", "root.json"]
    ran = runs.run(command, cwd=bench.place, clock=NOW)
    assert ran.exit == 0, ran
    ran = runs.run(["check", "registry", *trust], cwd=bench.place, clock=NOW)
    assert ran.exit == 0, ran
    ran = runs.run(["check", "registry", *trust, "--format", "json"], cwd=bench.place, clock=NOW)
    assert json.loads(ran.stdout)["registry"]["floor"]
    old = content(bench.to)
    bench.team.does(RENEW)
    bench.publish(server)
    assert runs.run(command, cwd=bench.place, clock=NOW).exit == 0
    for path, data in old.items():
        if isinstance(data, bytes):
            (bench.to / path).write_bytes(data)
    ran = runs.run(["check", "registry", *trust], cwd=bench.place, clock=NOW)
    assert ran.exit == 3
    assert b"registry-rolled-back" in ran.stdout


def test_a_floor_of_its_own_is_named_instead_of_the_kept_one(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(bench.place / "xdg"))
    command = ["update", "registry", "--url", server.url, "--to", "reg", "--root", "root.json"]
    assert runs.run(command, cwd=bench.place, clock=NOW).exit == 0
    (kept,) = (bench.place / "xdg/pinproof/floors").iterdir()
    floor = json.loads(kept.read_bytes())
    floor["snapshot"] = {"version": 99, "sha256": "0" * 64}
    (bench.place / "floor.json").write_text(json.dumps(floor))
    trust = ["--registry", "reg", "--root", "root.json"]
    check = ["check", "registry", *trust]
    ran = runs.run([*check, "--floor", "floor.json"], cwd=bench.place, clock=NOW)
    assert ran.exit == 3
    assert runs.run(check, cwd=bench.place, clock=NOW).exit == 0
    kept.write_bytes(b"{")
    ran = runs.run(check, cwd=bench.place, clock=NOW)
    assert ran.exit == 2, "a floor that cannot be read is not a floor that is not there"


@pytest.mark.parametrize("scheme", ["ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384"])
def test_both_clients_take_a_registry_of_ecdsa_keys(tmp_path: Path, scheme: str) -> None:
    def run(command: str) -> None:
        ran = runs.run(command.split(), cwd=tmp_path, clock=NOW)
        assert ran.exit == 0, ran

    for name in ("root", "targets", "online", "mine"):
        run(f"new key {name} --to . --scheme {scheme} --no-passphrase")
    days = DAYS.replace("pinproof", "mine")
    run(
        "new registry reg --root-key root.key --targets-key targets.key --online-key online.key"
        f" --project mine=mine.key {days}"
    )
    run(f"rotate root reg --key root.key {days}")
    root = (tmp_path / "reg/metadata/1.root.json").read_bytes()
    with serving(tmp_path / "reg") as given:
        to, state = tmp_path / "to", tmp_path / "state"
        done = update_registry(given.url, str(to), root=root, state=state, now=NOW)
    assert done.root_version == 2
    assert content(to) == content(tmp_path / "reg")


# ── liars ──────────────────────────────────────────────────────────────────────────────────────

FILES = (
    "metadata/timestamp.json",
    "metadata/snapshot.json",
    "metadata/targets.json",
    "metadata/pinproof.json",
    "targets/index/layout.json",
    "targets/pinproof/helper/example-fair-queue.toml",
)


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("lie", ["cut", "longer", "flipped", "gone", "empty"])
def test_no_byte_is_taken_that_was_not_signed(
    bench: Bench, server: Server, path: str, lie: str
) -> None:
    file = server.folder / path
    data = file.read_bytes()
    changed = {
        "cut": data[:-9],
        "longer": data + b" " * 9,
        "flipped": data[:200] + bytes([data[200] ^ 1]) + data[201:],
        "gone": None,
        "empty": b"",
    }[lie]
    if changed is None:
        file.unlink()
    else:
        assert changed != data
        file.write_bytes(changed)
    if path == "metadata/timestamp.json" and lie == "longer":
        assert bench.update(server), "white space behind a document changes nothing that is signed"
        return
    codes = {"update-refused", "update-unreachable", "update-too-long"}
    assert bench.refused(server) in codes
    bench.publish(server)
    assert bench.update(server), "and the truth is taken after a lie"


def test_a_rollback_is_refused(bench: Bench, server: Server, tmp_path: Path) -> None:
    shutil.copytree(server.folder, tmp_path / "old")
    bench.team.does(RENEW)
    bench.publish(server)
    bench.update(server)
    server.folder = tmp_path / "old"
    assert bench.refused(server) == "update-refused"
    shutil.rmtree(bench.to)  # and the floor remembers what the folder has forgotten
    assert bench.refused(server) == "update-refused"


def test_a_freeze_ends_with_the_expiry(bench: Bench, server: Server) -> None:
    bench.update(server)
    bench.team.does("sign registry reg --key @online --renew timestamp --expires timestamp=1")
    bench.publish(server)
    assert bench.refused(server) == "update-refused"


def test_metadata_of_two_states_is_refused(bench: Bench, server: Server) -> None:
    before = content(server.folder)
    bench.team.does(RENEW)
    bench.publish(server)
    for role in ("snapshot", "timestamp"):
        file = server.folder / f"metadata/{role}.json"
        new = file.read_bytes()
        old = before[f"metadata/{role}.json"]
        assert isinstance(old, bytes)
        assert old != new
        file.write_bytes(old)
        assert bench.refused(server) == "update-refused"
        file.write_bytes(new)
    assert bench.update(server)


def test_a_root_by_somebody_else_is_refused(bench: Bench, server: Server, tmp_path: Path) -> None:
    bench.update(server)
    (tmp_path / "evil").mkdir()
    evil = Team(tmp_path / "evil")
    evil.run(
        "new registry reg --root-key @stranger --targets-key @stranger --online-key @stranger"
        f" --project pinproof=@stranger {DAYS}"
    )
    evil.run(f"rotate root reg --key @stranger {DAYS}")
    shutil.copytree(evil.registry, tmp_path / "two")
    server.folder = tmp_path / "two"
    assert bench.refused(server) == "update-refused"


def test_unsigned_extras_of_a_server_are_never_asked_for(bench: Bench, server: Server) -> None:
    (server.folder / "targets/pinproof/helper/evil.toml").write_bytes(b"")
    assert bench.update(server)
    assert content(bench.to) == content(bench.team.registry)
    assert not [path for path in server.asked if "evil" in path]


def _redirect(path: str, handler: BaseHTTPRequestHandler) -> bool:
    handler.send_response(302)
    port = handler.connection.getsockname()[1]
    handler.send_header("Location", f"http://localhost:{port}{path}?x")
    handler.send_header("Content-Length", "0")
    handler.end_headers()
    return True


def test_no_redirect_is_followed(bench: Bench, server: Server) -> None:
    bench.update(server)
    for part in ("2.root", "timestamp", "example-fair-queue.toml"):
        server.asked.clear()
        server.twist = lambda path, handler, part=part: part in path and _redirect(path, handler)
        bench.team.does(RENEW)
        bench.publish(server)
        assert bench.refused(server) == "update-redirected", part
        assert not [path for path in server.asked if "?" in path]


def _endless(path: str, handler: BaseHTTPRequestHandler) -> bool:
    if not path.endswith(("timestamp.json", "targets.json")):
        return False
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:
        return True


def test_an_endless_file_is_given_up(bench: Bench, server: Server) -> None:
    server.twist = _endless
    assert bench.refused(server) == "update-too-long"


def test_a_server_that_falls_silent_is_given_up(bench: Bench, server: Server) -> None:
    def silent(path: str, handler: BaseHTTPRequestHandler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.wfile.flush()
        server.over.wait(10)
        return True

    server.twist = silent
    assert bench.refused(server, patience=HASTY) == "update-slow"


def test_a_server_that_trickles_is_given_up(bench: Bench, server: Server) -> None:
    def trickling(path: str, handler: BaseHTTPRequestHandler) -> bool:
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not server.over.wait(0.05):
                handler.wfile.write(b"X: y\r\n")
                handler.wfile.flush()
        except OSError:
            pass
        return True

    server.twist = trickling
    assert bench.refused(server, patience=HASTY) == "update-slow"


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_an_error_of_the_server_is_no_registry(bench: Bench, server: Server, status: int) -> None:
    def failing(path: str, handler: BaseHTTPRequestHandler) -> bool:
        answer(handler, b"no", status=status)
        return True

    server.twist = failing
    assert bench.refused(server) == "update-unreachable"


def test_what_is_no_http_is_no_registry(bench: Bench, server: Server) -> None:
    def garbage(path: str, handler: BaseHTTPRequestHandler) -> bool:
        handler.wfile.write(b"SSH-2.0-OpenSSH\r\n")
        return True

    server.twist = garbage
    assert bench.refused(server) == "update-unreachable"


def test_nobody_there(bench: Bench, server: Server) -> None:
    server.url = "http://127.0.0.1:1/"
    assert bench.refused(server) == "update-unreachable"


def test_what_else_is_in_the_folder_is_not_replaced(bench: Bench, server: Server) -> None:
    bench.to.mkdir()
    (bench.to / "thesis.tex").write_text("three years")
    assert bench.refused(server) == "update-folder"
    (bench.to / "thesis.tex").unlink()
    shutil.copytree(bench.team.registry, bench.to, dirs_exist_ok=True)
    file = bench.to / "metadata/snapshot.json"
    file.write_bytes(file.read_bytes() + b" ")
    assert bench.refused(server) == "update-folder"


def test_a_link_in_the_folder_is_not_replaced(bench: Bench, server: Server) -> None:
    bench.update(server)
    (bench.to / "metadata/targets.json").unlink()
    (bench.to / "metadata/targets.json").symlink_to(bench.team.registry / "metadata/targets.json")
    assert bench.refused(server) == "update-folder"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/registry",
        "ftp://127.0.0.1/",
        "file:///etc",
        "https://user:secret@example.org/",
        "https://example.org/?a=b",
        "https://example.org/#top",
        "https:///nowhere",
        "http://127.0.0.1.example.org/",
        "http://localhost.example.org/",
        "https://example.org/a b",
        "https://exam\nple.org/",
        "https://[::1",
        "https://example.org:99999/",
        "registry",
        "",
    ],
)
def test_an_address_that_will_not_do(url: str) -> None:
    with pytest.raises(ValueError, match=r"is no|holds|has a|is not"):
        Place.parse(url)


def test_addresses_that_will_do() -> None:
    for url in (
        "https://example.org",
        "http://[::1]:8080/a",
        "http://localhost/",
        "http://127.9.9.9",
    ):
        assert Place.parse(url).url.endswith("/")


def test_no_proxy_of_the_environment_is_used(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    monkeypatch.delenv("no_proxy", raising=False)
    assert bench.update(server)


def test_no_floor_without_a_place_for_it(bench: Bench, server: Server) -> None:
    with pytest.raises(PinproofError) as caught:
        update_registry(server.url, str(bench.to), root=bench.root, state=None, now=NOW)
    assert caught.value.code == "wrong-call"


@pytest.mark.skipif(kills.unavailable() is not None, reason=kills.unavailable() or "")
def test_an_update_that_is_killed_leaves_the_old_or_the_new(bench: Bench, server: Server) -> None:
    bench.update(server)
    old = content(bench.to)
    shutil.copytree(bench.place, bench.place.parent / "kept")
    bench.team.does(RENEW)
    bench.publish(server)

    def run() -> int:
        return int(not bench.update(server))

    def reset() -> None:
        shutil.rmtree(bench.place)
        shutil.copytree(bench.place.parent / "kept", bench.place)

    assert run() == 0
    new = content(bench.to)
    reset()
    calls, code = kills.trace(run)
    assert code == 0
    names = ("rename", "renameat", "renameat2", "mkdir", "unlink", "unlinkat", "rmdir")
    chosen = [c for c in calls if c.changes and c.name in names and "client" not in c.path]
    finished = set()
    for call in (*chosen[::8], *(c for c in chosen if c.name == "renameat2")):
        reset()
        kills.killed(run, call.number)
        held = content(bench.to)
        assert held in (old, new), call
        finished.add(held == new)
        bench.update(server)
        assert content(bench.to) == new
        kept = kept_at(bench.state, bench.root)
        assert json.loads(kept.read_bytes())["snapshot"]["version"] == 3
    assert finished == {False, True}
