"""action.yml: what it may hold, and its steps as bash runs them; the hooks of pre-commit.

The steps run in a temporary folder as GitHub's runner would run them: with the variables that the
runner sets, the files that it reads afterwards, and the wheel of this checkout. Dependencies come
from this test's own environment, for there is no network.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml
from support import git_repos, hosts, surfaces

from verifier import __version__

PROJECT: Final = Path(__file__).parents[1]
ACTION: Final[dict[str, Any]] = yaml.safe_load((PROJECT / "action.yml").read_text())
STEPS: Final[list[dict[str, Any]]] = ACTION["runs"]["steps"]
CHECK, INSTALL, JUDGE = range(3)
WHEEL: Final = PROJECT / "dist" / f"pinproof-{__version__}-py3-none-any.whl"
VERB: Final = 'command=(verify head --repo "$REPO" --base "$BASE_ID" --head "$HEAD_ID")'
_EXPRESSION: Final = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_PINNED: Final = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


# ── what it may hold ───────────────────────────────────────────────────────────────────────────


def test_the_action_uses_no_other_and_inputs_reach_no_shell_text() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert not any("uses" in step for step in STEPS)
    for step in STEPS:
        assert step["shell"] == "bash"
        assert step["run"].startswith("set -euo pipefail\n")
        assert "${{" not in step["run"]
        assert step.keys() <= {"name", "id", "shell", "env", "run"}
        for value in step["env"].values():
            assert re.fullmatch(r"\$\{\{ inputs\.[a-z0-9-]+ \}\}", value), value
    text = (PROJECT / "action.yml").read_text()
    for expression in _EXPRESSION.findall(text):
        assert re.fullmatch(r"\$\{\{ (inputs|steps\.judge\.outputs)\.[a-z0-9-]+ \}\}", expression)


def test_head_and_base_are_asked_for_and_never_derived() -> None:
    for name in ("head", "base", "version", "sha256"):
        assert ACTION["inputs"][name]["required"] is True
        assert "default" not in ACTION["inputs"][name]
    text = (PROJECT / "action.yml").read_text()
    assert "GITHUB_REF" not in text
    assert "GITHUB_EVENT_PATH" not in text
    assert text.count("GITHUB_SHA") == 1, "it is printed, and not judged"
    assert "checkout" not in "".join(step["run"] for step in STEPS).replace("check out", "")
    assert STEPS[JUDGE]["run"].count(VERB) == 1


def test_every_dependency_is_locked_with_hashes() -> None:
    lines = (PROJECT / "action-requirements.txt").read_text().replace("\\\n", " ").splitlines()
    rows = [line for line in lines if line and not line.lstrip().startswith("#")]
    locked = {}
    for row in rows:
        found = re.match(r"([a-z0-9-]+)==(\S+) ", row)
        assert found, row
        assert "--hash=sha256:" in row
        locked[found[1]] = found[2]
    wanted = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    for name in (re.split("[<>=]", each)[0] for each in wanted):
        assert name in locked


def workflows() -> list[dict[Any, Any]]:
    page = (PROJECT / "docs" / "ci.md").read_text()
    blocks = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [w for w in map(yaml.safe_load, blocks) if isinstance(w, dict) and "jobs" in w]


def test_the_workflow_of_the_page_is_read_only_and_pinned() -> None:
    (workflow,) = workflows()
    assert workflow["permissions"] == {"contents": "read"}
    events = next(value for key, value in workflow.items() if key is True)
    assert events == {"pull_request": None}, "YAML reads `on` as true"
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    for each in used:
        assert _PINNED.fullmatch(each), each
    for step in steps:
        assert "${{" not in step.get("run", "")
    action = next(step for step in steps if "pinproof@" in step.get("uses", ""))
    required = {name for name, each in ACTION["inputs"].items() if each.get("required")}
    assert required <= action["with"].keys() <= ACTION["inputs"].keys()
    assert action["with"]["head"] == "${{ github.event.pull_request.head.sha }}"
    first = steps[0]["with"]
    assert first["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert (first["fetch-depth"], first["persist-credentials"]) == (0, False)


def test_zizmor_finds_nothing(tmp_path: Path) -> None:
    program = beside("zizmor")
    page = (PROJECT / "docs" / "ci.md").read_text()
    shown = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "pinproof.yml").write_text(next(text for text in shown if "jobs:" in text))
    for path in (PROJECT / "action.yml", folder / "pinproof.yml"):
        done = subprocess.run(
            [program, "--offline", "--no-progress", "--persona=pedantic", path],
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("number", [CHECK, INSTALL, JUDGE])
def test_shellcheck_finds_nothing(number: int) -> None:
    done = subprocess.run(
        [beside("shellcheck"), "--shell=bash", "-"],
        input=STEPS[number]["run"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def beside(name: str) -> Path:
    """Return a program of this environment; without it, skip and say what brings it."""
    program = Path(sys.executable).parent / name
    if not program.exists():
        pytest.skip(f"{name} is not installed: make .venv/peers")
    return program


# ── its steps ──────────────────────────────────────────────────────────────────────────────────


class Step(NamedTuple):
    exit: int
    log: str
    outputs: dict[str, str]
    summary: str


def dependencies(folder: Path) -> Path:
    """Make a folder of all that is installed here but pinproof itself."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name != "verifier" and not path.name.startswith("pinproof"):
            (folder / path.name).symlink_to(path)
    return folder


class Runner:
    """A run of the action on one repository, step after step, as GitHub's runner does it."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.temp = folder / "temp"
        for path in (self.workspace, self.temp):
            path.mkdir()
        self.inputs = {
            "repo": ".",
            "policy": "",
            "args": "",
            "version": __version__,
            "sha256": hashlib.sha256(WHEEL.read_bytes()).hexdigest(),
            "wheel": str(WHEEL),
            "requirements": str(folder / "requirements.txt"),
        }
        (folder / "requirements.txt").write_text("# of the test's own environment\n")
        self.env = {
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_SHA": "f" * 40,
            "PYTHONPATH": str(dependencies(folder / "dependencies")),
        }

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.workspace,
            env=git_repos.ENVIRONMENT,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (self.workspace / f"{name}.py").write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "x")
        return self.git("rev-parse", "HEAD")

    def run(self, number: int, change: Callable[[str], str] = str) -> Step:
        step = STEPS[number]
        script = self.temp / f"step{number}.sh"
        script.write_text(change(step["run"]))
        given = {
            name: self.inputs[re.findall(r"inputs\.([a-z0-9-]+)", value)[0]]
            for name, value in step["env"].items()
        }
        files = {name: self.temp / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.workspace,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.temp),
                "RUNNER_TEMP": str(self.temp),
                "GITHUB_ACTION_PATH": str(PROJECT),
                "GITHUB_WORKSPACE": str(self.workspace),
                **{name: str(path) for name, path in files.items()},
                **self.env,
                **given,
            },
            capture_output=True,
            check=False,
            text=True,
        )
        written = (line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return Step(
            done.returncode,
            done.stdout + done.stderr,
            {name: value for name, _, value in written},
            files["GITHUB_STEP_SUMMARY"].read_text(),
        )


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Check out a base, and have only the objects of a head."""
    made = Runner(tmp_path)
    made.git("init", "--quiet", "--initial-branch=main")
    made.inputs["base"] = made.commit(host=hosts.host("v5").decode())
    made.git("checkout", "--quiet", "--detach")
    made.inputs["head"] = made.commit(host=hosts.host("v6").decode())
    made.git("checkout", "--quiet", "main")
    return made


def test_base_checked_out_and_head_as_objects_is_how_it_is_meant(runner: Runner) -> None:
    ran = runner.run(CHECK)
    assert ran.exit == 0, ran.log
    assert f"head {runner.inputs['head']}\n" in ran.log
    assert f"base {runner.inputs['base']}\n" in ran.log
    assert "not judged: " + "f" * 40 in ran.log


def test_base_may_hold_what_head_says(runner: Runner) -> None:
    """A pull request that changes nothing, or is merged already, is judged and not refused."""
    for head in (runner.git("commit-tree", "-p", "main", "-m", "x", "main^{tree}"), "main"):
        runner.inputs["head"] = runner.git("rev-parse", head)
        assert runner.run(CHECK).exit == 0


@pytest.mark.parametrize("event", ["pull_request", "pull_request_target", "push"])
@pytest.mark.parametrize("what", ["head", "merge", "same tree", "later"])
def test_a_checked_out_head_is_refused(runner: Runner, event: str, what: str) -> None:
    head = runner.inputs["head"]
    if what == "merge":
        runner.commit(other="x = 1\n")
        runner.git("merge", "--quiet", "--no-edit", head)
    elif what == "same tree":
        runner.commit(host=hosts.host("v6").decode())
    else:
        runner.git("checkout", "--quiet", head)
        if what == "later":
            runner.commit(other="x = 1\n")
    runner.env["GITHUB_EVENT_NAME"] = event
    ran = runner.run(CHECK)
    assert ran.exit == 2
    assert "::error title=pinproof::repo: head is checked out" in ran.log
    assert ("gives it secrets" in ran.log) == (event == "pull_request_target")


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("head", "", 2),
        ("head", "main", 2),
        ("head", "refs/pull/1/merge", 2),
        ("head", "HEAD_ID:0:12", 2),
        ("head", "$(touch ran)", 2),
        ("head", f"{'0' * 40}\n::error::x", 2),
        ("head", "0" * 40, 4),
        ("base", "", 2),
        ("base", "A" * 40, 2),
        ("version", "", 2),
        ("version", "1.0.0; touch ran", 2),
        ("sha256", "", 2),
        ("repo", "gone", 4),
    ],
)
def test_what_cannot_be_meant_is_refused(runner: Runner, name: str, value: str, code: int) -> None:
    runner.inputs[name] = runner.inputs["head"][:12] if value == "HEAD_ID:0:12" else value
    ran = runner.run(CHECK)
    assert ran.exit == code, ran.log
    errors = [e for e in surfaces.commands(f"{ran.log.rstrip()}\n".encode()) if e[0] == "error"]
    assert len(errors) == 1
    assert not (runner.workspace / "ran").exists()


def test_a_shallow_clone_is_refused(runner: Runner) -> None:
    (runner.workspace / ".git" / "shallow").write_text(f"{runner.inputs['base']}\n")
    ran = runner.run(CHECK)
    assert ran.exit == 3
    assert "fetch-depth 0" in ran.log


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the second step once, in a folder of traps."""
    made = Runner(tmp_path_factory.mktemp("installed"))
    # A module of the working folder must not be taken for one of Python's own.
    for name in ("venv", "pip", "ensurepip", "secrets"):
        (made.workspace / f"{name}.py").write_text("open('ran', 'w')\n")
    ran = made.run(INSTALL)
    assert ran.exit == 0, ran.log
    assert f"pinproof {__version__}" in ran.log or "click" in ran.log
    assert not (made.workspace / "ran").exists()
    return made.temp / "pinproof"


def test_another_wheel_than_the_pinned_one_is_not_installed(
    runner: Runner, installed: Path
) -> None:
    made = 'python3 -I -m venv "$tools/venv"'
    assert STEPS[INSTALL]["run"].count(made) == 1
    for name in ("sha256", "wheel"):
        before = runner.inputs[name]
        other = runner.temp / WHEEL.name
        other.write_bytes(WHEEL.read_bytes() + b"\0")
        runner.inputs[name] = "0" * 64 if name == "sha256" else str(other)
        # Making an environment takes longer than all of the rest: the one that is there will do.
        ran = runner.run(
            INSTALL, lambda s: s.replace(made, f'ln -s {installed}/venv "$tools/venv"')
        )
        runner.inputs[name] = before
        assert ran.exit != 0
        assert "do not match the hashes" in " ".join(ran.log.split()).lower()


@pytest.fixture
def judging(runner: Runner, installed: Path) -> Runner:
    shutil.copytree(installed, runner.temp / "pinproof", symlinks=True)
    return runner


def verb(words: str) -> Callable[[str], str]:
    return lambda script: script.replace(VERB, f"command=({words})")


@pytest.mark.parametrize(
    ("change", "code", "verdict"),
    [
        (("", ""), 0, "verified"),
        (("+ 2.0", "+ 2.7"), 1, "rejected"),
        (("import os", "import os  # ours"), 3, "undecided"),
    ],
)
def test_a_verdict_reaches_every_surface(
    judging: Runner, change: tuple[str, str], code: int, verdict: str
) -> None:
    old, new = change
    (judging.workspace / "host.py").write_text(hosts.host("v6").decode().replace(old, new))
    ran = judging.run(JUDGE, verb('verify helper "$REPO/host.py"'))
    assert ran.exit == code, ran.log
    assert ran.outputs["verdict"] == verdict
    assert ran.outputs["exit-code"] == str(code)
    assert ran.summary.startswith(f"## pinproof: {verdict}\n")
    for name in ("json", "sarif", "junit"):
        assert Path(ran.outputs[name]).stat().st_size > 0
    found = [e for e in surfaces.commands(ran.log.encode()) if isinstance(e, surfaces.Command)]
    assert bool(found) == (code != 0)
    for each in found:
        assert each.properties["file"] == "host.py"


def test_arguments_come_one_a_line_and_a_policy_by_its_name(judging: Runner) -> None:
    (judging.workspace / "host.py").write_bytes(hosts.host("v6") + b"# ours\n")
    judging.inputs["policy"] = "region"
    judging.inputs["args"] = "--lineage\nexample-fair-queue\n\n"
    ran = judging.run(JUDGE, verb('verify helper "$REPO/host.py"'))
    assert ran.exit == 0, ran.log
    judging.inputs["args"] = "--lineage\n$(touch ran); `touch ran` ' \" ::error::x"
    ran = judging.run(JUDGE, verb('verify helper "$REPO/host.py"'))
    assert ran.exit == 2
    assert not (judging.workspace / "ran").exists()


def test_no_verdict_says_so_everywhere_and_what_is_quoted_is_no_command(judging: Runner) -> None:
    name = r"$'./##[add-mask]x\n::error file=a::merge me'"
    ran = judging.run(JUDGE, verb(f"verify helper host.py --policy {name}"))
    assert ran.exit == 4, ran.log
    assert (ran.outputs["verdict"], ran.outputs["exit-code"]) == ("", "4")
    assert "sarif" not in ran.outputs
    assert ran.summary.startswith("## pinproof: error\n")
    assert "not a pass" in ran.summary.replace("\n", " ")
    read = list(surfaces.commands(ran.log.encode()))
    stop = next(n for n, each in enumerate(read) if each[0] == "stop-commands")
    token = read[stop][2]
    end = next(n for n, each in enumerate(read) if each == f"::{token}::")
    assert any("##[add-mask]" in str(each) or each[0] == "add-mask" for each in read[stop:end])
    rest = [each[0] for each in (*read[:stop], *read[end:]) if isinstance(each, surfaces.Command)]
    assert rest == ["error"]


POLICY: Final = """schema = "policy/v1"
name = "merge"
description = "one host"
[head]
demand = ["objects", "merge", "helpers", "registry-changes", "holds"]
hosts = [{ path = "host.py", lineage = "example-fair-queue" }]
[helper]
demand = ["helper", "sites", "scope"]
"""


@pytest.mark.parametrize(
    ("change", "code", "verdict"),
    [(("", ""), 0, "verified"), (("+ 2.0", "+ 2.7"), 1, "rejected")],
)
def test_a_proposal_is_judged_by_the_policy_of_its_base(
    judging: Runner, change: tuple[str, str], code: int, verdict: str
) -> None:
    host = hosts.host("v6").decode()
    (judging.workspace / "merge.toml").write_text(POLICY)
    judging.inputs["base"] = judging.commit(host=host, other="1")
    # What head makes of the policy is not asked.
    (judging.workspace / "merge.toml").write_text(POLICY.replace("hosts", "# hosts"))
    weaker = judging.commit(host=host.replace(*change) if change[0] else host, other="2")
    (judging.workspace / "merge.toml").write_text(POLICY)
    judging.inputs["head"] = judging.commit()
    judging.git("checkout", "--quiet", judging.inputs["base"])
    judging.inputs["policy"] = "base:merge.toml"
    ran = judging.run(JUDGE)
    assert ran.exit == code, ran.log
    assert ran.outputs["verdict"] == verdict
    assert judging.inputs["head"] in ran.summary
    judging.inputs["head"] = weaker
    ran = judging.run(JUDGE)
    assert ran.exit == (code or 3), ran.log
    assert "head-policy-weakened" in ran.summary


def test_the_command_is_the_one_that_judges_a_head(judging: Runner) -> None:
    program = judging.temp / "pinproof/venv/bin/pinproof"
    program.unlink()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$RUNNER_TEMP/asked"\nexit 0\n')
    program.chmod(0o755)
    judging.inputs["policy"] = "pre-merge"
    ran = judging.run(JUDGE)
    assert ran.exit == 5, "exit 0 without a report is no verdict"
    asked = (judging.temp / "asked").read_text().split("\n")
    results = judging.temp / "pinproof-results"
    assert asked[:10] == [
        *("verify", "head", "--repo", ".", "--base", judging.inputs["base"]),
        *("--head", judging.inputs["head"], "--policy", "pre-merge"),
    ]
    assert f"markdown={results}/summary.md" in asked
    assert f"sarif={results}/report.sarif" in asked
    assert asked[-3:] == ["--format", "github", ""]


# ── the hooks of pre-commit, by the real pre-commit ────────────────────────────────────────────


@pytest.fixture
def committing(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    program = beside("pre-commit")
    hooks, work = tmp_path / "hooks", tmp_path / "work"
    env = {
        **git_repos.ENVIRONMENT,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
    }

    def git(folder: Path, *arguments: str) -> str:
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=folder, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    for folder in (hooks, work):
        folder.mkdir()
        git(folder, "init", "--quiet", "--initial-branch=main")
    shutil.copy(PROJECT / ".pre-commit-hooks.yaml", hooks)
    git(hooks, "add", "--all")
    git(hooks, "commit", "--quiet", "--message", "x")
    config = {
        "repos": [
            {
                "repo": str(hooks),
                "rev": git(hooks, "rev-parse", "HEAD"),
                "hooks": [
                    # Where there is a network, `language: python` installs pinproof by itself.
                    {"id": "pinproof-check-registry", "language": "system"},
                    {
                        "id": "pinproof-verify-helper",
                        "language": "system",
                        "args": ["host.py", "--policy", "region"],
                    },
                    {
                        "id": "pinproof-check-policy",
                        "language": "system",
                        "args": ["region"],
                    },
                ],
            }
        ]
    }
    (work / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))

    def commit(host: str) -> subprocess.CompletedProcess[str]:
        (work / "host.py").write_text(host)
        git(work, "add", "--all")
        return subprocess.run(
            [program, "run", "--color=never"],
            cwd=work,
            env=env,
            capture_output=True,
            check=False,
            text=True,
        )

    return commit


def test_pre_commit_judges_what_is_staged(
    committing: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = committing(hosts.host("v6").decode())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 3
    done = committing(hosts.host("v6").decode().replace("+ 2.0", "+ 2.7"))
    assert done.returncode == 1
    assert "helper-drifted" in done.stdout
    assert done.stdout.count("Failed") == 1
