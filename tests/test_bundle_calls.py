"""Calls of verify bundle as a whole: many at once, any environment, nothing kept, nothing heavy."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP384R1, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support import bundles, runs
from support.transparency import b64, sha256

from verifier.ask import shared_work

AT: Final = ("--effective-time", "2036-06-01T00:00:00Z")
SHAPE: Final = "message-rekor2-certificate"


def results(ran: runs.Ran) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ran.stdout)["results"]
    return found


def many(folder: Path, count: int) -> list[str]:
    """Write bundles, every seventh of them of another file; return what judges them all."""
    made = bundles.make(SHAPE)
    made.write(folder)
    asked: list[str] = []
    for number in range(count):
        name = f"{number:03}"
        data = bundles.ARTIFACT + (b"." if number % 7 == 0 else b"")
        (folder / name).write_bytes(data)
        asked.append(name)
    at = made.command.index("artifact")
    return [*made.command[:at], *asked, *made.command[at + 1 :], "--format", "json"]


def test_two_processes_say_what_one_says_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = many(tmp_path, 70)
    two = runs.run(command, cwd=tmp_path, clock=bundles.NOW)
    assert two.exit == 1, two.stderr
    assert [r["subject"]["name"] for r in results(two)] == [f"{n:03}" for n in range(70)]
    rejected = [n for n, r in enumerate(results(two)) if r["verdict"] == "rejected"]
    assert rejected == list(range(0, 70, 7))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert runs.run(command, cwd=tmp_path, clock=bundles.NOW) == two


def test_what_a_worker_does_not_return_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()

    def work(piece: int) -> int:
        if os.getpid() != parent and piece == 99:
            os._exit(9)
        return piece * 2

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert shared_work.done_by_two(work, range(200)) == [piece * 2 for piece in range(200)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold a bundle of each kind of signer."""
    base = tmp_path_factory.mktemp("bundles")
    for name, shape in (("certificate", SHAPE), ("key", "statement-rekor2-key")):
        bundles.make(shape).write(base / name)
    return base


ENVIRONMENTS: Final = {
    "proxy": dict.fromkeys(
        ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy"), "http://127.0.0.1:1"
    ),
    "empty home": {"HOME": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""},
    "no home": {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"},
    "warnings": {"PYTHONWARNINGS": "error"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0"},
    "Kathmandu": {"TZ": "Asia/Kathmandu"},
    "seed": {"PYTHONHASHSEED": "7"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
    "another OpenSSL": {"OPENSSL_CONF": str(Path(__file__).parent / "support/fips.cnf")},
    "sigstore's own variables": {
        "SIGSTORE_CERT_IDENTITY": "somebody",
        "SIGSTORE_OFFLINE": "false",
        "SIGSTORE_STAGING": "true",
        "TUF_ROOT": "/nonexistent",
    },
}


@pytest.mark.parametrize("kind", ["certificate", "key"])
def test_same_report_in_any_environment(folder: Path, kind: str) -> None:
    command = [*bundles.make(SHAPE if kind == "certificate" else "statement-rekor2-key").command]
    reference = runs.program([*command, *AT], cwd=folder / kind)
    assert reference.exit == 0, reference
    assert not reference.stderr
    for name, env in ENVIRONMENTS.items():
        assert runs.program([*command, *AT], cwd=folder / kind, env=env) == reference, name


def test_no_cache_of_the_user_is_read_or_written(folder: Path, tmp_path: Path) -> None:
    """A cache that holds the root of the bundle must not make the shipped root know it."""
    made = bundles.make(SHAPE)
    for host in ("tuf-repo-cdn.sigstore.dev", "tuf-repo-cdn.sigstage.dev"):
        cache = tmp_path / ".cache" / "sigstore-python" / "tuf" / f"https%3A%2F%2F{host}"
        cache.mkdir(parents=True)
        (cache / "trusted_root.json").write_text(json.dumps(made.root))
    before = runs.content(tmp_path)
    at = made.command.index("--trusted-root")
    command = [*made.command[:at], *made.command[at + 2 :]]
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    ran = runs.program([*command, *AT], cwd=folder / "certificate", env=env)
    assert ran.exit == 3, ran
    assert b"bundle-log-unknown" in ran.stdout
    assert runs.content(tmp_path) == before


#: What is opened for writing, run, made or reached. urllib3, which comes with sigstore, binds a
#: socket to ::1 as it is imported to see whether there is IPv6; nothing is sent through it.
_WATCH: Final = """
import sys
def watch(event, args):
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if writes or event.startswith(("subprocess.", "os.exec", "os.posix_spawn", "os.system",
        "socket.connect", "socket.sendto", "socket.getaddrinfo", "os.mkdir", "os.rename", "pty.")):
        sys.__stderr__.write(f"AUDIT {event} {args}\\n")
sys.addaudithook(watch)
from verifier.cli import main
code = main(sys.argv[1:])
loaded = {name.split(".")[0] for name in sys.modules}
print("LOADED", *sorted(loaded & {"sigstore", "sigstore_models", "requests", "pydantic"}),
      file=sys.stderr)
sys.exit(code)
"""


def watched(made: bundles.Made, folder: Path) -> subprocess.CompletedProcess[str]:
    made.write(folder)
    return subprocess.run(
        [sys.executable, "-I", "-B", "-c", _WATCH, *made.command, *AT],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.mark.parametrize("shape", bundles.SHAPES)
def test_nothing_runs_and_nothing_is_written_or_reached(shape: str, tmp_path: Path) -> None:
    done = watched(bundles.make(shape), tmp_path)
    assert done.returncode == 0, done
    assert "AUDIT" not in done.stderr
    loaded = done.stderr.split("LOADED", 1)[1].split()
    assert ("sigstore" in loaded) == shape.endswith("certificate"), "a key needs no sigstore"
    if shape.endswith("key"):
        assert not loaded


def test_a_read_only_place_changes_nothing(folder: Path) -> None:
    command = bundles.make(SHAPE).command
    reference = runs.program([*command, *AT], cwd=folder / "certificate")
    base = folder / "certificate"
    base.chmod(0o555)
    try:
        ran = runs.program(
            [*command, *AT],
            cwd=base,
            env={"HOME": str(base), "TMPDIR": str(base)},
            unprivileged=True,
        )
    finally:
        base.chmod(0o755)
    assert ran == reference


# Managed keys of the other kinds.


def message(folder: Path, key: Any, signature: bytes, **digest: str) -> list[str]:
    """Write a message bundle without a log entry, and its key."""
    stated = {"messageDigest": digest} if digest else {}
    document = {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": ""}},
        "messageSignature": {**stated, "signature": b64(signature)},
    }
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "artifact").write_bytes(bundles.ARTIFACT)
    (folder / "bundle.json").write_text(json.dumps(document))
    (folder / "key.pub").write_bytes(public)
    return ["--bundle", "bundle.json", "--key", "key.pub"]


DIGEST: Final = f"sha256:{sha256(bundles.ARTIFACT).hex()}"


def test_an_ed25519_key_signs_the_file_and_needs_it(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    given = message(tmp_path, key, key.sign(bundles.ARTIFACT))
    ran = runs.run(["verify", "bundle", "artifact", *given], cwd=tmp_path, clock=bundles.NOW)
    assert ran.exit == 0, ran
    ran = runs.run(["verify", "bundle", DIGEST, *given], cwd=tmp_path, clock=bundles.NOW)
    assert ran.exit == 3
    assert b"bundle-unsupported" in ran.stdout
    (tmp_path / "artifact").write_bytes(bundles.ARTIFACT + b".")
    ran = runs.run(["verify", "bundle", "artifact", *given], cwd=tmp_path, clock=bundles.NOW)
    assert ran.exit == 1
    assert b"bundle-signature" in ran.stdout


@pytest.mark.parametrize(("digest", "exit_code"), [(SHA384(), 0), (SHA256(), 1)])
def test_p384_counts_with_sha384_alone(
    tmp_path: Path, digest: SHA256 | SHA384, exit_code: int
) -> None:
    key = derive_private_key(1 << 200, SECP384R1())
    given = message(tmp_path, key, key.sign(bundles.ARTIFACT, ECDSA(digest)))
    ran = runs.run(["verify", "bundle", "artifact", *given], cwd=tmp_path, clock=bundles.NOW)
    assert ran.exit == exit_code, ran
    ran = runs.run(["verify", "bundle", DIGEST, *given], cwd=tmp_path, clock=bundles.NOW)
    assert ran.exit == 3


def test_what_is_spelled_like_a_digest_is_one_whatever_lies_in_the_folder(tmp_path: Path) -> None:
    """Otherwise who can put a file there says "verified" of any digest that is asked about."""
    made = bundles.make("message-rekor2-key")
    made.write(tmp_path)
    name = f"sha256:{'0' * 64}"
    (tmp_path / name).write_bytes(bundles.ARTIFACT)
    for asked, exit_code in ((name, 1), (f"./{name}", 0), (DIGEST, 0)):
        command = [asked if each == "artifact" else each for each in made.command]
        ran = runs.run(command, cwd=tmp_path, clock=bundles.NOW)
        assert ran.exit == exit_code, ran
        assert (b"bundle-subject" in ran.stdout) == (exit_code == 1)


def test_the_outer_index_of_rekor_2_is_bound_to_nothing_and_not_told(tmp_path: Path) -> None:
    made = bundles.make(SHAPE)
    made.entry["logIndex"] = "987654"
    made.write(tmp_path)
    ran = runs.run([*made.command, "--format", "json"], cwd=tmp_path, clock=bundles.NOW)
    assert ran.exit == 0, ran
    assert b"987654" not in ran.stdout
    assert b"entry 5 of 6" in ran.stdout


def test_the_shipped_root_is_what_the_library_ships() -> None:
    """The dated copy is that of the installed sigstore, or docs/bundles.md says which it is."""
    page = (Path(__file__).parents[1] / "docs" / "bundles.md").read_text()
    root = Path(__file__).parents[1] / "trust" / "trusted_root.json"
    assert sha256(root.read_bytes()).hex() in page
