"""The laws of the house (ARCHITECTURE §2), each with a test that fails when it is broken."""

import ast
import itertools
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import git_repos, heads, hosts, runs
from support import registry as registries

import verifier
from verifier.core.verdict import Exit, Verdict, exit_of

PACKAGE: Final = Path(verifier.__file__).parent
FUTURE: Final = ("--effective-time", "2036-06-01T00:00:00Z")


def sources() -> list[Path]:
    return [p for p in sorted(PACKAGE.rglob("*.py")) if "_shipped" not in p.parts]


def test_the_suite_runs_on_the_installed_wheel() -> None:
    assert PACKAGE.parent.name == "site-packages", PACKAGE
    assert (PACKAGE / "_shipped" / "registry" / "metadata").is_dir()


def test_a_bare_checkout_has_no_data_and_says_so() -> None:
    """Nothing looks one level up for a registry (ARCHITECTURE §2)."""
    code = "import sys; from verifier.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "list"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 4
    assert "no-shipped-data" in done.stderr.decode()
    assert b"pip install" in done.stderr


# 1. Only success is success.


def test_exit_0_has_one_origin() -> None:
    """`Exit.OK` and literal zero exits occur in core/verdict.py alone (click's own aside)."""
    for path in sources():
        if path.name == "verdict.py":
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Attribute) and node.attr == "OK":
                assert path.name in ("text.py", "outcome.py"), path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                zero = [a for a in node.args if isinstance(a, ast.Constant) and a.value == 0]
                assert not (node.func.attr in ("exit", "Exit") and zero), path


OUTCOMES = st.lists(st.sampled_from([*Verdict, Exit.ENVIRONMENT, Exit.INTERNAL]), max_size=6)


@given(OUTCOMES)
def test_exit_0_only_if_all_are_verified(outcomes: list[Verdict | Exit]) -> None:
    assert (exit_of(outcomes) == 0) == (bool(outcomes) and set(outcomes) == {Verdict.VERIFIED})


def test_nothing_asked_is_no_success(tmp_path: Path) -> None:
    for command in ([], ["verify"], ["verify", "helper"], ["identify"], ["why"], ["check"]):
        ran = runs.run(command, cwd=tmp_path)
        assert ran.exit == 2, (command, ran)


# 2. Same input, same report.

ENVIRONMENTS: Final = {
    "C": {"LC_ALL": "C", "LANG": "C"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "Kathmandu": {"TZ": "Asia/Kathmandu"},
    "seed 1": {"PYTHONHASHSEED": "1"},
    "seed 4242": {"PYTHONHASHSEED": "4242"},
    "warnings": {"PYTHONWARNINGS": "error"},
    "utf8 off": {"PYTHONUTF8": "0", "LC_ALL": "C"},
    "utf8 on": {"PYTHONUTF8": "1"},
    "encoding": {"PYTHONIOENCODING": "latin-1:strict"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
    "digits": {"PYTHONINTMAXSTRDIGITS": "640"},
    "no bytecode": {"PYTHONDONTWRITEBYTECODE": "1"},
    "columns": {"COLUMNS": "20", "TERM": "dumb"},
    "colour": {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"},
    "no home": {"HOME": "/nonexistent", "XDG_STATE_HOME": "/nonexistent"},
    "another OpenSSL": {"OPENSSL_CONF": str(Path(__file__).parent / "support/fips.cnf")},
    "proxy": {"HTTPS_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"},
}


@pytest.fixture(scope="module")
def three_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("hosts")
    files = {
        "v6.py": hosts.host("v6"),
        "drifted.py": hosts.host("v5").replace(b"+ 2.0", b"+ 2.7"),
        "türkçe İı.py": hosts.host("v5-main") + b"# \xc4\xb0\xc4\xb1 \xe2\x80\xae\n",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


@pytest.mark.parametrize("form", ["text", "json"])
def test_same_report_in_any_environment(three_files: list[Path], form: str, tmp_path: Path) -> None:
    command: list[str | Path] = ["verify", "helper", *three_files, "--format", form, *FUTURE]
    if form == "json":  # once is enough for what a run writes beside it
        for each in ("sarif", "junit", "markdown", "github"):
            command += ["--output", f"{each}={tmp_path / each}"]

    def ran(cwd: Path, env: dict[str, str] | None = None) -> tuple[runs.Ran, dict[str, bytes]]:
        done = runs.program(command, cwd=cwd, env=env)
        written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        for path in tmp_path.iterdir():
            path.unlink()
        return done, written

    reference = ran(three_files[0].parent)
    assert reference[0].exit == 1, reference
    assert len(reference[1]) == (4 if form == "json" else 0)
    for name, env in ENVIRONMENTS.items():
        assert ran(Path("/"), env) == reference, name
    old = os.umask(0o077)
    try:
        assert ran(Path("/")) == reference
    finally:
        os.umask(old)


def test_same_report_of_a_head_in_any_environment(tmp_path: Path) -> None:
    made = heads.make(tmp_path, {})
    marker = tmp_path / "ran"
    trap = git_repos.planted(tmp_path / "trap", marker)
    with (tmp_path / "repo" / ".git" / "config").open("a") as config:
        config.write(f"\tfsmonitor = {trap}\n\thooksPath = {tmp_path}\n[gc]\n\tauto = 1\n")
        config.write(f'[merge "own"]\n\tdriver = {trap}\n[gpg]\n\tprogram = {trap}\n')
    command: list[str | Path] = ["verify", "head", "--repo", tmp_path / "repo"]
    command += ["--base", made.ids["base"], "--head", made.ids["head"], "--format", "json"]
    command += ["--policy", "base:policies/own.toml", "--registry", "base:registry"]
    command += ["--bundle", tmp_path / "tests.json", *FUTURE]
    reference = runs.program(command, cwd=tmp_path)
    assert reference.exit == 0, reference
    before = runs.content(tmp_path / "repo")
    for name, env in ENVIRONMENTS.items():
        assert runs.program(command, cwd=Path("/"), env=env) == reference, name
    elsewhere = {"GIT_DIR": "/nonexistent", "GIT_OBJECT_DIRECTORY": "/nonexistent"}
    elsewhere |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor"}
    elsewhere |= {"GIT_CONFIG_VALUE_0": str(trap), "GIT_REPLACE_REF_BASE": "refs/heads/"}
    assert runs.program(command, cwd=tmp_path / "repo", env=elsewhere) == reference
    assert runs.content(tmp_path / "repo") == before
    assert not marker.exists()


# 3. Looking changes nothing; the cases prove it of every verb. Here: not even bytecode or caches.


def test_looking_leaves_home_and_folder_alone(three_files: list[Path], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    before = runs.content(three_files[0].parent)
    ran = runs.program(
        ["verify", "helper", *three_files, *FUTURE],
        cwd=home,
        env={"HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": str(home)},
    )
    assert ran.exit == 1
    assert runs.content(home) == {}
    assert runs.content(three_files[0].parent) == before


# 4. Nothing runs: no process is started, no code of the host is executed.

#: Audit events that would mean that something runs, or that the network is used.
_WATCH = """
import sys
def watch(event, args):
    if event.startswith(("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system",
                         "socket.", "ctypes.", "os.spawn", "pty.")):
        sys.__stderr__.write(f"AUDIT {event} {args}\\n")
sys.addaudithook(watch)
from verifier.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_nothing_runs_and_no_socket_opens(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    data = hosts.host("v6") + f"open({str(trap)!r}, 'w')\n".encode()
    (tmp_path / "host.py").write_bytes(data)
    for verb in (["verify", "helper"], ["why"], ["identify"]):
        done = subprocess.run(
            [sys.executable, "-I", "-c", _WATCH, *verb, tmp_path / "host.py"],
            capture_output=True,
            check=False,
        )
        assert b"AUDIT" not in done.stderr, done.stderr
        assert done.returncode in (0, 3), done
    assert not trap.exists()


# 5. No route but loopback.


def test_the_suite_has_no_route_but_loopback() -> None:
    if not os.environ.get("PINPROOF_OFFLINE"):
        pytest.skip("no network namespace on this machine: tests/offline says so when it starts")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:  # noqa: SIM117
        with pytest.raises(OSError, match="unreachable"):
            handle.connect(("192.0.2.1", 9))


# 6. No third-party text: the registry holds single lines only.


def test_entries_hold_single_lines_only() -> None:
    import tomllib

    shipped = PACKAGE / "_shipped" / "registry" / "targets"
    entries = list(shipped.glob("*/helper/*.toml"))
    assert len(entries) >= 2
    for entry in entries:
        for text in strings(tomllib.loads(entry.read_text())):
            assert text.strip("\n").count("\n") == 0, text
            assert len(text) <= 200, text


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return list(itertools.chain.from_iterable(map(strings, value.values())))
    if isinstance(value, list):
        return list(itertools.chain.from_iterable(map(strings, value)))
    return [value] if isinstance(value, str) else []


# 8. A finding is not an exception: a registry that does not authenticate is a value.


def test_a_refused_registry_is_undecided_with_its_reason(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    (tmp_path / "host.py").write_bytes(hosts.host("v6"))
    folder = tmp_path / "registry"
    registry = registries.make(folder)
    registry.write("metadata/snapshot.json", registry.read("metadata/snapshot.json")[:-9])
    ran = runs.run(
        ["verify", "helper", "host.py", *runs.trusting(registry)],
        cwd=tmp_path,
        clock=registries.NOW,
    )
    assert ran.exit == 3
    assert b"registry-" in ran.stdout
    assert b"carries" not in ran.stdout


# Every environment variable read stands in one table.


def test_environment_is_read_in_one_module() -> None:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_bytes())):
            read = isinstance(node, ast.Attribute) and node.attr in (
                "environ",
                "environb",
                "getenv",
            )
            taken = isinstance(node, ast.ImportFrom) and node.module == "os"
            # `explore` decides by none: it takes all away from GitPython and gives them back.
            allowed = ("environment.py", "explore.py")
            assert not (read or taken) or path.name in allowed, path
