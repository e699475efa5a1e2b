"""Another Sigstore, in both directions: @sigstore/verify 4.1.3 judges, @sigstore/mock signs.

It judges every bundle that holds and every fault of `support.bundle_faults`, and signs bundles that
pinproof judges. Both agree, or the difference is in `DIFFERENCES` (and docs/bundles.md) with its
reason. The peers are installed by `npm ci` in tests/peers; where they are not, these tests are
skipped and say so, and in `.ci/run` a missing one is a failure (PINPROOF_BUNDLE_PEERS).
"""

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from support import bundles, runs
from support.bundle_faults import FAULTS, HARMLESS

PEERS: Final = Path(__file__).parents[1] / "peers"
NODE: Final = shutil.which("node")
_THERE: Final = NODE is not None and (PEERS / "node_modules" / "@sigstore" / "verify").is_dir()

pytestmark = pytest.mark.skipif(
    not _THERE and "PINPROOF_BUNDLE_PEERS" not in os.environ,
    reason="not installed: node with the packages of tests/peers (npm ci)",
)

_STRICT: Final = "reads JSON as JavaScript does, and protobuf's JSON loosely"
_SUBJECT: Final = "verifies the envelope; what the payload says is left to its caller"
#: Faults that the peer accepts, for some shapes at least, and why that is no fault of ours.
DIFFERENCES: Final = {
    "media_type_twice": _STRICT,
    "payload_twice": _STRICT,
    "unknown_key": _STRICT,
    "two_contents": _STRICT,
    "timestamp_with_line_breaks": _STRICT,
    "negative_index": f"{_STRICT}; nothing binds the outer index of Rekor v2",
    "index_with_a_sign": f"{_STRICT}; nothing binds the outer index of Rekor v2",
    "fraction_of_an_index": _STRICT,
    "numbers_for_counts": f"{_STRICT}; protobuf allows it, no client writes it",
    "root_with_an_unknown_key": _STRICT,
    "file_of_no_subject": _SUBJECT,
    "text_in_an_envelope": _SUBJECT,
    "link_in_an_envelope": _SUBJECT,
    "statement_with_a_key_twice": _SUBJECT,
    "statement_about_nothing": _SUBJECT,
    "another_of_two_digests": _SUBJECT,
    "entry_that_says_more": "reads the members of a log entry's body that it knows",
    "logged_tomorrow": "has no time of a run",
    "stamped_tomorrow": "has no time of a run",
    "timestamp_with_a_certificate_of_no_version": "takes the root's copy of the certificate",
    "log_retired": "does not enforce the period of a Rekor v2 log",
    "log_of_tomorrow": "does not enforce the period of a Rekor v2 log",
    "root_with_a_period_turned_round": "does not enforce the period of a Rekor v2 log",
    "root_without_a_start": "takes a missing start as the beginning of time",
}


def peer(*arguments: str, stdin: bytes = b"") -> bytes:
    assert NODE is not None
    done = subprocess.run(
        [NODE, *arguments], cwd=PEERS, input=stdin, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def question(made: bundles.Made, folder: Path) -> dict[str, str]:
    """Write a bundle and everything with it, and return what the peer is asked."""
    made.write(folder)
    who = {"identity": made.identity, "issuer": made.issuer}
    if made.key is not None:
        who = {"key": str(folder / "key.pub")}
    files = {"bundle": "bundle.json", "root": "root.json", "artifact": "artifact"}
    return {**{name: str(folder / file) for name, file in files.items()}, **who}


def answers(questions: list[dict[str, str]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        peer("verify.mjs", stdin=json.dumps(questions).encode())
    )
    assert len(found) == len(questions)
    return found


def test_the_peer_accepts_what_holds(tmp_path: Path) -> None:
    names, questions = [], []
    for name, (change, fits) in HARMLESS.items():
        for shape in bundles.SHAPES:
            if set(fits.split()) <= set(shape.split("-")):
                made = bundles.make(shape)
                change(made)
                names.append(f"{name}: {shape}")
                questions.append(question(made, tmp_path / str(len(names))))
    found = answers(questions)
    refused = [(n, a["why"]) for n, a in zip(names, found, strict=True) if not a["accepted"]]
    assert not refused


def test_the_peer_refuses_what_is_refused_but_for_known_differences(tmp_path: Path) -> None:
    names, questions = [], []
    for fault in FAULTS:
        for shape in fault.shapes():
            made = bundles.make(shape)
            fault.change(made)
            names.append(fault.name)
            questions.append(question(made, tmp_path / str(len(names))))
    found = answers(questions)
    accepted = {name for name, a in zip(names, found, strict=True) if a["accepted"]}
    assert accepted == set(DIFFERENCES)


@pytest.fixture(scope="module")
def produced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("produced")
    peer("produce.mjs", str(folder), "https://ci.mock/build@main", "https://oidc.mock")
    return folder


@pytest.mark.parametrize("content", ["message", "statement"])
@pytest.mark.parametrize("who", ["certificate", "key"])
@pytest.mark.parametrize("time", ["logged", "stamped"])
def test_what_the_peer_signs_is_verified(produced: Path, content: str, who: str, time: str) -> None:
    name = f"{content}-{who}-{time}"
    signer = ["--certificate-identity", "https://ci.mock/build@main"]
    signer += ["--certificate-oidc-issuer", "https://oidc.mock"]
    if who == "key":
        signer = ["--key", f"{name}.pub"]
    given = ["--bundle", f"{name}.json", "--trusted-root", "root.json", *signer]
    clock = datetime.now(UTC) + timedelta(minutes=1)
    ran = runs.run(["verify", "bundle", "artifact", *given], cwd=produced, clock=clock)
    assert ran.exit == 0, ran
    (produced / "other").write_bytes(b"another file")
    ran = runs.run(["verify", "bundle", "other", *given], cwd=produced, clock=clock)
    assert ran.exit == 1, ran
    assert b"is not what was signed" in ran.stdout
