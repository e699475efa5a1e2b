"""Chains beside in-toto itself: what its tools made, what it says of each lie, and what runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from in_toto.models.metadata import Metadata
from in_toto.verifylib import in_toto_verify
from support import chains, runs, statements
from support import registry as registries

from verifier.checks import chain as checked
from verifier.sources import links

NOW: Final = registries.NOW
OWNERS: Final = ("--key", "owner-1.pem", "--key", "owner-2.pem")
#: Lies that in-toto lets pass, or that are none to it; ours names each by a code of its own.
STRICTER: Final = {
    "layout key twice": "it takes the last of two values",
    "layout by one owner": "as called here it is given only the keys that have signed",
    "link key twice": "it takes the last of two values",
    "no steps": "it demands nothing and is content",
    "threshold 0": "it takes a threshold of nobody",
    "rule of no step": "such a rule takes nothing out, and the next one permits",
    "one builder twice": "one key under two ids counts twice",
    "another command": "it warns",
    "material skipped": "a rule without artifacts holds",
    "product unruled": "what no rule speaks of passes",
    "nothing recorded": "no artifact, no objection",
    "only md5": "any digest will do",
    "digest too short": "any digest will do",
    "below by another command": "it warns",
    "names collide": "names are compared as they are",
    "below 12 times": "it follows layouts as deep as they lie",
    "link of the system": "it follows links of the file system",
    "product changed": "without inspections it looks at no product",
    "product exchanged": "the same",
}

#: In-toto would run something, takes minutes, or knows no clock but the machine's.
NOT_ASKED: Final = ("inspection", "too many", "layout expired")


def ask(folder: Path, registry: registries.Registry, *options: str) -> dict[str, Any]:
    command = ["verify", "chain", "--layout", "layout.json", "--links", "links", *OWNERS]
    command += ["--product", "release/image.tar", *options, "--format", "json"]
    ran = runs.run([*command, *runs.trusting(registry)], cwd=folder, clock=NOW)
    assert b"Traceback" not in ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def in_toto_accepts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Ask in-toto itself; where nothing is signed or parses it raises whatever it likes."""
    monkeypatch.chdir(folder)
    try:
        metadata = Metadata.load(str(folder / "layout.json"))
        signers = [
            each["keyid"]
            for each in json.loads((folder / "layout.json").read_text()).get("signatures", [])
        ]
        keys = {chains.key(name)["keyid"]: chains.key(name) for name in ("owner-1", "owner-2")}
        known = {keyid: keys[keyid] for keyid in signers if keyid in keys}
        in_toto_verify(metadata, known, link_dir_path=str(folder / "links"))
    except Exception:  # noqa: BLE001
        return False
    return True


@pytest.mark.parametrize("lie", [lie for lie in chains.LIES if lie not in NOT_ASKED])
def test_in_toto_is_never_stricter(
    lie: str,
    tmp_path: Path,
    test_registry: registries.Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever in-toto refuses is refused; where it accepts and we do not, there is a reason."""
    chains.make(tmp_path / "chain", {"lies": [lie]})
    ours = ask(tmp_path / "chain", test_registry)["verdict"] == "verified"
    theirs = in_toto_accepts(tmp_path / "chain", monkeypatch)
    assert theirs or not ours
    assert (ours != theirs) == (lie in STRICTER), lie


@pytest.mark.parametrize("form", ["traditional", "dsse"])
def test_every_value_of_a_signed_file_counts(
    form: str, tmp_path: Path, test_registry: registries.Registry
) -> None:
    """One bit of any byte: refused, unless the values that are signed are the same."""
    folder = tmp_path / "chain"
    chains.make(folder, {"form": form})
    assert ask(folder, test_registry)["verdict"] == "verified"
    for path in (folder / "layout.json", *sorted((folder / "links").iterdir())):
        data = path.read_bytes()
        for at in range(5, len(data), max(1, len(data) // 12)):
            changed = bytearray(data)
            changed[at] ^= 1 << at % 8
            path.write_bytes(changed)
            verdict = ask(folder, test_registry)["verdict"]
            assert verdict != "verified" or _values(bytes(changed)) == _values(data), (path, at)
        path.write_bytes(data)


def _values(data: bytes) -> Any:
    document = json.loads(data)
    signatures = [each["sig"] for each in document.pop("signatures")]
    return document, signatures  # a key id is a hint


def test_links_that_in_toto_run_and_record_made(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    """The tools as users run them: one step by in-toto-run, one by in-toto-record."""
    folder, made = tmp_path / "work", tmp_path / "links"
    folder.mkdir()
    made.mkdir()
    (folder / "source.txt").write_text("source\n")
    for name in ("composer", "publisher", "owner-1"):
        (tmp_path / f"{name}.key").write_bytes(statements.private_pem(name))
        (tmp_path / f"{name}.pem").write_bytes(statements.public_pem(name))
    copy = [sys.executable, "-c", "open('made.txt','w').write(open('source.txt').read()*2)"]
    _tool(
        folder,
        "in-toto-run",
        "-n",
        "make",
        "-m",
        "source.txt",
        "-p",
        "made.txt",
        "--use-dsse",
        *("--signing-key", str(tmp_path / "composer.key"), "-d", str(made), "--", *copy),
    )
    recorded = ("-n", "check", "--signing-key", str(tmp_path / "publisher.key"))
    _tool(folder, "in-toto-record", "start", *recorded, "-m", "made.txt")
    (folder / "verdict.txt").write_text("good\n")
    _tool(
        folder,
        "in-toto-record",
        "stop",
        *recorded,
        "-p",
        "made.txt",
        "verdict.txt",
        "-d",
        str(made),
    )
    layout = {
        "_type": "layout",
        "readme": "",
        "expires": chains.EXPIRES,
        "keys": {chains.key(n)["keyid"]: chains.key(n) for n in ("composer", "publisher")},
        "steps": [
            _step("make", "composer", [["ALLOW", "source.txt"]], [["CREATE", "made.txt"]], copy),
            _step(
                "check",
                "publisher",
                [["MATCH", "made.txt", "WITH", "PRODUCTS", "FROM", "make"]],
                [["MATCH", "made.txt", "WITH", "PRODUCTS", "FROM", "make"], ["CREATE", "*"]],
                [],
            ),
        ],
        "inspect": [],
    }
    (tmp_path / "layout.json").write_bytes(
        chains.signed_by_in_toto(layout, ["owner-1"], "traditional")
    )
    command = ["verify", "chain", "--layout", "layout.json", "--links", "links"]
    command += [
        "--key",
        "owner-1.pem",
        "--product",
        "work/verdict.txt",
        "--product",
        "work/made.txt",
    ]
    ran = runs.run([*command, *runs.trusting(test_registry)], cwd=tmp_path, clock=NOW)
    assert ran.exit == 0, ran
    (folder / "made.txt").write_text("other\n")
    ran = runs.run([*command, *runs.trusting(test_registry)], cwd=tmp_path, clock=NOW)
    assert ran.exit == 1
    assert b"chain-product-differs" in ran.stdout


def _tool(folder: Path, name: str, *arguments: str) -> None:
    tool = Path(sys.executable).parent / name
    subprocess.run([tool, *arguments], cwd=folder, check=True, capture_output=True)


def _step(
    name: str, doer: str, materials: list[list[str]], products: list[list[str]], command: list[str]
) -> dict[str, Any]:
    rest = ["DISALLOW", "*"]
    return {
        "_type": "step",
        "name": name,
        "pubkeys": [chains.key(doer)["keyid"]],
        "threshold": 1,
        "expected_command": command,
        "expected_materials": [*materials, rest],
        "expected_products": [*products, rest],
    }


def test_the_walk_of_the_documentation(tmp_path: Path) -> None:
    """Five spoilt copies are refused, each with the exit code that the script expects."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine")
    walk = Path(__file__).parents[3] / "examples" / "chain" / "walk.sh"
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    done = subprocess.run(
        ["sh", walk, tmp_path / "walk"], env={"PATH": path}, capture_output=True, check=False
    )
    assert done.returncode == 0, done
    assert done.stdout.count(b"(exit ") == 6


@pytest.mark.parametrize("lie", ["other curves", "below", "below twice"])
@pytest.mark.parametrize("form", ["traditional", "dsse"])
def test_what_in_toto_s_classes_sign_is_verified(
    form: str, lie: str, tmp_path: Path, test_registry: registries.Registry
) -> None:
    """ECDSA signatures are other bytes each time, so this is no case with fixed output."""
    chains.make(tmp_path / "chain", {"maker": "in-toto", "form": form, "lies": [lie]})
    assert ask(tmp_path / "chain", test_registry)["verdict"] == "verified"


def test_a_layout_and_links_in_different_forms(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    folder = tmp_path / "chain"
    chains.make(folder, {"form": "dsse"})
    chain = chains.Chain()
    (folder / "layout.json").write_bytes(chains.signed(chain.layout, chain.owners, "traditional"))
    assert ask(folder, test_registry)["verdict"] == "verified"


@pytest.mark.parametrize("form", ["traditional", "dsse"])
def test_one_kind_of_metadata_is_none_of_another(
    form: str, tmp_path: Path, test_registry: registries.Registry
) -> None:
    """A link as the layout, a statement as a link: each is signed by whom it should be."""
    folder = tmp_path / "chain"
    chains.make(folder, {"form": form})
    owners = ["owner-1", "owner-2"]
    layout = (folder / "layout.json").read_bytes()
    (folder / "layout.json").write_bytes(chains.signed(chains.link("build"), owners, form))
    assert codes(ask(folder, test_registry)) == ["chain-layout-malformed"]
    (folder / "layout.json").write_bytes(layout)
    measured = folder / chains.MEASURED
    measured.write_bytes(chains.signed(dict(statements.STATEMENT), ["measurer"], form))
    assert codes(ask(folder, test_registry)) == ["chain-link-malformed", "chain-threshold"]
    measured.write_bytes(b'{"signed": {}, "payload": "", "signatures": []}')
    assert codes(ask(folder, test_registry)) == ["chain-link-malformed", "chain-threshold"]


def test_another_payload_type_is_no_metadata(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    folder = tmp_path / "chain"
    chains.make(folder, {})
    payload = json.dumps(chains.layout()).encode()
    made = statements.envelope(payload, by=["owner-1", "owner-2"], kind="application/json")
    (folder / "layout.json").write_bytes(made)
    assert codes(ask(folder, test_registry)) == ["chain-layout-malformed"]


def codes(document: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in document["results"][0]["findings"]]


def test_an_inspection_is_not_run(tmp_path: Path, test_registry: registries.Registry) -> None:
    chains.make(tmp_path / "chain", {"lies": ["inspection"]})
    document = ask(tmp_path / "chain", test_registry)
    assert [f["code"] for f in document["results"][0]["findings"]] == ["chain-inspections"]
    assert not (tmp_path / "chain/ran").exists()


def test_no_process_is_started_and_no_socket_opened(tmp_path: Path) -> None:
    watch = (
        "import sys\n"
        "def watch(event, args):\n"
        "    if event.startswith(('subprocess.', 'os.exec', 'os.fork', 'os.posix_spawn',"
        " 'os.system', 'socket.', 'os.spawn', 'pty.')):\n"
        "        sys.__stderr__.write(f'AUDIT {event}\\n')\n"
        "sys.addaudithook(watch)\n"
        "from verifier.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    for lie in ("below", "inspection"):
        chains.make(tmp_path / lie, {"lies": [lie]})
        command = ["verify", "chain", "--layout", "layout.json", "--links", "links", *OWNERS]
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-c",
                watch,
                *command,
                "--effective-time",
                "2027-05-01T00:00:00Z",
            ],
            cwd=tmp_path / lie,
            capture_output=True,
            check=False,
        )
        assert done.stderr == b""
        assert done.returncode == (0 if lie == "below" else 3)


def test_a_second_opinion_that_differs_is_undecided(
    tmp_path: Path, test_registry: registries.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    chains.make(tmp_path / "chain", {})
    monkeypatch.setattr(checked, "objection", lambda *_: "RuleVerificationError")
    document = ask(tmp_path / "chain", test_registry)
    assert document["verdict"] == "undecided"
    assert [f["code"] for f in document["results"][0]["findings"]] == ["chain-second-opinion"]


def test_in_toto_is_asked_last_and_refuses_by_itself(tmp_path: Path) -> None:
    from verifier.evidence.layout.opinion import objection

    layout = chains.layout()
    told = {name: chains.link(name) for name in chains.DOERS}
    assert objection(layout, told) is None
    told["build"]["materials"]["tree/extra.py"] = chains.OTHER
    assert objection(layout, told) == "RuleVerificationError"
    assert objection({}, told) == "TypeError"


def test_names_of_steps_lead_nowhere_else(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    for name in ("../x", "a/b", "..", ".", "", "a\\b", "\0", "a\n", "/etc", "x" * 200, ".hidden"):
        chain = chains.Chain()
        chain.step("measure")["name"] = name
        folder = tmp_path / "chain"
        chains.make(folder, {}) if not folder.exists() else None
        (folder / "layout.json").write_bytes(chains.signed(chain.layout, chain.owners, "dsse"))
        found = ask(folder, test_registry)["results"][0]["findings"]
        assert [f["code"] for f in found] == ["chain-layout-malformed"], name


def test_more_links_than_are_read(
    tmp_path: Path, test_registry: registries.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    chains.make(tmp_path / "chain", {})
    monkeypatch.setattr(links, "CHAIN_FILES", 4)
    command = ["verify", "chain", "--layout", "layout.json", "--links", "links", *OWNERS]
    ran = runs.run([*command, *runs.trusting(test_registry)], cwd=tmp_path / "chain", clock=NOW)
    assert ran.exit == 4
    assert b"too-large" in ran.stderr


def test_a_folder_that_leads_in_a_circle(
    tmp_path: Path, test_registry: registries.Registry
) -> None:
    """Sublayouts are looked for in folders, never through links to them."""
    folder = tmp_path / "chain"
    chains.make(folder, {"lies": ["below"]})
    below = folder / "links" / chains.place("build", "builder-1").removesuffix(".link")
    (folder / "moved").mkdir()
    below.rename(folder / "moved/it")
    below.symlink_to("../links")
    found = ask(folder, test_registry)["results"][0]["findings"]
    assert [f["code"] for f in found] == ["chain-link-missing"]
