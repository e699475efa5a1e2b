"""Files that are not what they should be: exit 4 with a remedy, never a traceback, never a hang."""

import os
import socket
import sys
import threading
from pathlib import Path

import pytest
from support import hosts, runs
from support import registry as registries

from verifier.core.errors import UnavailableError
from verifier.sources import file

LIMIT = 1 << 20


def refused(arguments: list[str], cwd: Path, *, exit_code: int = 4) -> str:
    ran = runs.run(["verify", "helper", *arguments], cwd=cwd)
    assert ran.exit == exit_code, ran
    text = (ran.stdout + ran.stderr).decode()
    assert "Traceback" not in text
    assert "you may" in text
    return text


def test_fifo_does_not_hold_the_run_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "host.py")
    assert "a FIFO" in refused(["host.py"], tmp_path)


def test_device(tmp_path: Path) -> None:
    assert "character device" in refused(["/dev/zero"], tmp_path)
    assert "character device" in refused(["/dev/null"], tmp_path)


def test_socket(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "host.py"))
        text = refused(["host.py"], tmp_path)
    assert "host.py" in text


def test_folder(tmp_path: Path) -> None:
    assert "a folder" in refused(["."], tmp_path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "no/such/file"])
def test_impossible_names(name: str, tmp_path: Path) -> None:
    refused([name], tmp_path)


def test_broken_and_circular_links(tmp_path: Path) -> None:
    (tmp_path / "broken.py").symlink_to("gone.py")
    (tmp_path / "circle.py").symlink_to("circle.py")
    refused(["broken.py"], tmp_path)
    refused(["circle.py"], tmp_path)


def test_a_link_is_followed_and_named(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_bytes(hosts.host("v6"))
    (tmp_path / "host.py").symlink_to("real.py")
    ran = runs.run(["verify", "helper", "host.py"], cwd=tmp_path)
    assert ran.exit == 0
    assert b"leads to real.py" in ran.stdout


def test_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    path.write_bytes(hosts.host("v6"))
    path.chmod(0)
    ran = runs.program(["verify", "helper", path], unprivileged=True)
    assert ran.exit == 4, ran
    assert b"permission denied" in b" ".join(ran.stdout.split())
    assert b"you may" in ran.stdout


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    path.write_bytes(b"x" * LIMIT)
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as out:
            while not stop.is_set():
                out.write(b"y")

    thread = threading.Thread(target=grow)
    thread.start()
    codes = set()
    try:
        for _ in range(200):
            try:
                file.read(str(path), limit=1 << 30)
            except UnavailableError as error:
                codes.add(error.code)
    finally:
        stop.set()
        thread.join()
    assert codes == {"changed-while-read"}


def test_size_limit_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    path.write_bytes(b"x" * 100)
    assert len(file.read(str(path), limit=100).data) == 100
    with pytest.raises(UnavailableError, match="at most 99 bytes, got 100"):
        file.read(str(path), limit=99)


def test_endless_standard_input_is_cut_off(tmp_path: Path) -> None:
    ran = runs.run(["verify", "helper", "-", "--max-size", "10"], cwd=tmp_path, stdin=b"x" * 11)
    assert ran.exit == 4
    assert b"expected at most 10 bytes, got more" in ran.stdout


@pytest.mark.parametrize(
    "source",
    [
        b"(" * 200_000,
        b"x = " + b"-" * 200_000 + b"1\n",
        b"x = " + b"1 + " * 100_000 + b"1\n",
        b"x = " + b"9" * 100_000 + b"\n",
        b"if x:\n" + b"".join(b" " * n + b"if x:\n" for n in range(1, 120)),
        b"f'" + b"{f'" * 200 + b"'}" * 200 + b"'\n",
        b"\\\n" * 50_000,
        b"class C:\n" + b"    x = 1\n" * 100_000,
    ],
    ids=["brackets", "minus", "sum", "digits", "depth", "f-strings", "backslashes", "long"],
)
def test_hostile_python_has_an_answer(source: bytes, tmp_path: Path) -> None:
    (tmp_path / "host.py").write_bytes(hosts.host("v6") + b"\n\n" + source)
    ran = runs.program(["verify", "helper", tmp_path / "host.py"])
    assert ran.exit in (1, 3), (ran.exit, ran.stdout[-500:], ran.stderr[-500:])
    assert b"Traceback" not in ran.stderr


def test_a_flood_of_markers_has_an_answer(tmp_path: Path) -> None:
    flood = b"# [example-fair-queue:v6]\n" * 100_000
    (tmp_path / "host.py").write_bytes(hosts.host("v6") + flood)
    ran = runs.run(["verify", "helper", "host.py"], cwd=tmp_path)
    assert ran.exit == 1


def test_full_disk_under_standard_output_is_no_success(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    import subprocess

    (tmp_path / "host.py").write_bytes(hosts.host("v6"))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [runs.PROGRAM, "verify", "helper", tmp_path / "host.py"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 4, done
    assert b"Traceback" not in done.stderr


def test_output_is_written_whole_or_not_at_all(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    (tmp_path / "host.py").write_bytes(hosts.host("v6"))
    command = ["verify", "helper", "host.py", *runs.trusting(test_registry)]
    ran = runs.run(
        [*command, "--output", "json=out.json", "--output", "text=out.txt"], cwd=tmp_path
    )
    assert ran.exit == 0
    assert (tmp_path / "out.txt").read_bytes() == ran.stdout
    assert (tmp_path / "out.json").read_bytes().startswith(b"{")
    before = sorted(path.name for path in tmp_path.iterdir())
    for bad in ("json=gone/out.json", "json=.", "yaml=out.yaml", "json=", "out.json"):
        ran = runs.run([*command, "--output", bad], cwd=tmp_path)
        assert ran.exit in (2, 4), bad
        assert b"you may" in ran.stderr
        assert any(f"{code}: ".encode() in ran.stderr for code in ("cannot-write", "wrong-call"))
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_interrupt_is_130(tmp_path: Path) -> None:
    import signal
    import subprocess
    import time

    child = subprocess.Popen(
        [runs.PROGRAM, "verify", "helper", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=20)
    assert child.returncode == 130, err
    assert b"Traceback" not in err


def test_a_fault_of_ours_is_5_and_shows_where_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    module = sys.modules.get("verifier.ask.helper") or __import__(
        "verifier.ask.helper", fromlist=["x"]
    )
    monkeypatch.setattr(module, "verify_helper", broken)
    ran = runs.run(["verify", "helper", "x.py"], cwd=tmp_path)
    assert ran.exit == 5
    assert b"Traceback" not in ran.stderr + ran.stdout
    assert b"a fault of pinproof" in ran.stderr
    assert "internal" in ran.stderr.decode()
    ran = runs.run(["--debug", "verify", "helper", "x.py"], cwd=tmp_path)
    assert ran.exit == 5
    assert b"ZeroDivisionError: boom" in ran.stderr


#: Each was once quadratic in its length; a stall of the suite is how it would show again.
STALLS = {
    "spaces": b"#" + b" " * 300_000,
    "brackets": b"[" * 300_000,
    "imports": b'x = "' + b"import " * 60_000 + b'"\n',
    "dots": b'x = "' + b"Queue." * 60_000 + b'"\n',
    "markers": b"# [example-fair-queue" * 20_000 + b"\n",
    "rebindings": b"\nQueue = 1" * 40_000 + b"\n",
    "reflections": b"exec;exec = 1\n" * 8_000,
}


@pytest.mark.parametrize("name", STALLS)
def test_no_input_costs_the_square_of_its_length(name: str, tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    for data in (STALLS[name], hosts.host("v6") + b"\n\n" + STALLS[name]):
        path.write_bytes(data)
        assert runs.program(["verify", "helper", path, "--policy", "region"]).exit in (0, 1, 3)


def shell(command: str, cwd: Path) -> int:
    import subprocess

    return subprocess.run(
        ["bash", "-c", command.replace("PINPROOF", str(runs.PROGRAM))],
        cwd=cwd,
        check=False,
        stderr=subprocess.DEVNULL,
    ).returncode


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("(sleep 0.3; PINPROOF verify helper host.py; echo $? > code) | true; exit $(cat code)", 4),
        ("(sleep 0.3; PINPROOF explain; echo $? > code) | true; exit $(cat code)", 4),
        ("PINPROOF verify helper host.py >&-", 4),
        ("PINPROOF verify helper host.py >&- 2>&-", 4),
        ("PINPROOF verify helper host.py --output json=out.json >&-", 4),
        ("PINPROOF verify helper host.py <&- >/dev/null", 0),
        ("PINPROOF verify helper - <&- >/dev/null", 4),
        ("PINPROOF verify helper host.py --policy nope 2>&-", 2),
        ("PINPROOF verify helper host.py --policy nope 2>/dev/full", 2),
        ("PINPROOF --help >/dev/full", 4),
    ],
)
def test_streams_that_are_closed_or_full(command: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "host.py").write_bytes(hosts.host("v6"))
    assert shell(command, tmp_path) == code


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "input"])
def test_output_replaces_nothing_but_a_plain_file_of_its_own(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    path.write_bytes(hosts.host("v6"))
    out = tmp_path / ("host.py" if kind == "input" else "out")
    if kind == "link":
        out.symlink_to("elsewhere")
    elif kind == "fifo":
        os.mkfifo(out)
    elif kind == "folder":
        out.mkdir()
    before = runs.content(tmp_path)
    ran = runs.run(["verify", "helper", "host.py", "--output", f"json={out}"], cwd=tmp_path)
    assert ran.exit == 4
    assert b"cannot-write" in ran.stderr
    assert b"verified" not in ran.stdout
    assert runs.content(tmp_path) == before


def test_a_lineage_that_the_index_omits_is_judged_all_the_same(tmp_path: Path) -> None:
    import json

    targets = {**registries.entries()}
    index = registries.index_of(targets)
    layout = json.loads(index["index/layout.json"])
    layout["helpers"] = [h for h in layout["helpers"] if h["lineage"] != "example-aging"]
    index["index/layout.json"] = json.dumps(layout).encode()
    registry = registries.make(tmp_path / "registry", targets={**targets, **index})
    whole = hosts.host("v6 then aging")
    drifted = whole.replace(b"return time.monotonic() - self.born", b"return 0.0")
    assert drifted != whole
    (tmp_path / "host.py").write_bytes(drifted)
    command = ["verify", "helper", "host.py", "--policy", "region", *runs.trusting(registry)]
    assert runs.run(command, cwd=tmp_path, clock=registries.NOW).exit == 1
