"""Bundles that hold are verified, and each fault is found for what it is.

The faults are those of sigstore-conformance (a73de49) and what mutation of its reference client
found open; `support.bundle_faults` lists them. A class of the public suite counts as here if a
fault names it; `test_every_class_of_the_public_suite_is_here` holds the list against its 49 cases.
"""

import json
import re
from pathlib import Path
from typing import Final

import pytest
from support import bundles, runs
from support.bundle_faults import FAULTS, HARMLESS, Fault

#: Directories of sigstore-conformance's assets that a client has to refuse.
PUBLIC: Final = frozenset(
    [
        "bundle-empty-certificate-chain",
        "bundle-from-wrong-instance",
        "bundle-invalid-base64-signature",
        "bundle-malformed-json",
        "bundle-negative-log-index",
        "bundle-unknown-version",
        "bundle-with-root-cert",
        "checkpoint-bad-keyhint",
        "checkpoint-wrong-roothash",
        "dsse-invalid-sig",
        "dsse-mismatch-envelope",
        "dsse-mismatch-sig",
        "inclusion-proof-corrupted-hash",
        "incorrect-public-key",
        "integrated-time-in-future",
        "intoto-expired-certificate",
        "intoto-log-entry-mismatch",
        "intoto-missing-inclusion-proof",
        "intoto-set-outside-signing-cert-validity",
        "intoto-tsa-timestamp-outside-cert-validity",
        "invalid-checkpoint-signature",
        "invalid-ct-key",
        "invalid-inclusion-proof",
        "managed-key-no-key",
        "managed-key-wrong-key",
        "message-digest-mismatch",
        "rekor2-checkpoint-missing-log-signature",
        "rekor2-checkpoint-missing-origin",
        "rekor2-checkpoint-missing-root-hash",
        "rekor2-checkpoint-missing-size",
        "rekor2-checkpoint-no-matching-signature",
        "rekor2-dsse-invalid-sig",
        "rekor2-dsse-mismatch-envelope",
        "rekor2-dsse-mismatch-sig",
        "rekor2-no-inclusion-proof",
        "rekor2-no-timestamp",
        "rekor2-timestamp-outside-trust-root-tsa-validity",
        "rekor2-timestamp-outside-tsa-cert-validity",
        "rekor2-timestamp-payload-mismatch",
        "rekor2-timestamp-untrusted-tsa-with-embedded-cert",
        "rekor2-timestamp-untrusted-tsa-without-embedded-cert",
        "rekor2-timestamp-with-incorrect-time",
        "set-invalid-signature",
        "signature-mismatch",
        "trust-root-tlog-missing-validity-start",
        "wrong-hashedrekord-artifact",
        "wrong-hashedrekord-cert-and-sig",
        "wrong-hashedrekord-entry",
        "wrong-material",
    ]
)
GIVEN: Final = [(fault, shape) for fault in FAULTS for shape in fault.shapes()]
HOLDING: Final = [
    (name, shape)
    for name, (_, fits) in HARMLESS.items()
    for shape in bundles.SHAPES
    if set(fits.split()) <= set(shape.split("-"))
]


def judged(made: bundles.Made, folder: Path) -> tuple[runs.Ran, set[str]]:
    """Judge a bundle in a folder of its own; nothing there may change."""
    made.write(folder)
    before = runs.content(folder)
    ran = runs.run([*made.command, "--format", "json"], cwd=folder, clock=bundles.NOW)
    assert runs.content(folder) == before
    assert b"Traceback" not in ran.stdout + ran.stderr
    if not ran.stdout:
        return ran, {line.split(b":")[0].strip().decode() for line in ran.stderr.split(b"\n")[1:]}
    (result,) = json.loads(ran.stdout)["results"]
    return ran, {finding["code"] for finding in result["findings"]}


@pytest.mark.parametrize(("name", "shape"), HOLDING, ids=str)
def test_what_holds_is_verified(name: str, shape: str, tmp_path: Path) -> None:
    made = bundles.make(shape)
    HARMLESS[name][0](made)
    ran, codes = judged(made, tmp_path)
    assert (ran.exit, codes) == (0, set()), ran


@pytest.mark.parametrize(("fault", "shape"), GIVEN, ids=lambda v: getattr(v, "name", str(v)))
def test_a_fault_is_found_for_what_it_is(fault: Fault, shape: str, tmp_path: Path) -> None:
    made = bundles.make(shape)
    before = made.content()
    fault.change(made)
    assert made.content() != before, "nothing changed"
    ran, codes = judged(made, tmp_path)
    assert ran.exit == fault.exit, ran
    assert fault.code in codes, codes
    if fault.code != "bundle-certificate":
        assert "bundle-certificate" not in codes, "a fault taken for another"


def test_every_class_of_the_public_suite_is_here() -> None:
    here = {name.removesuffix("_fail") for fault in FAULTS for name in fault.public}
    assert here == PUBLIC
    assert len(GIVEN) > 4 * len(HOLDING), "refusals outnumber passes"


#: Where a change may change no verdict: the outer index of Rekor v2, the hint that goes with a key,
#: and of a timestamp what no signature of its authority is over, such as names of algorithms.
UNBOUND: Final = (
    rb'"logIndex": "\d+", "logId"',
    rb'"hint": "[^"]*"',
    rb'"signedTimestamp": "[^"]*"',
)


@pytest.mark.parametrize("shape", bundles.SHAPES)
@pytest.mark.parametrize("stride", [61, pytest.param(1, marks=pytest.mark.full)])
def test_no_bit_of_a_bundle_can_be_flipped(shape: str, stride: int, tmp_path: Path) -> None:
    """Every so many bytes one bit, none of them where nothing is bound."""
    made = bundles.make(shape)
    made.write(tmp_path)
    data = made.data
    free = {at for rule in UNBOUND for m in re.finditer(rule, data) for at in range(*m.span())}
    names = []
    for at in sorted(set(range(0, len(data), stride)) - free):
        name = tmp_path / f"{at}.json"
        name.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        names += ["--bundle", str(name)]
    count = len(names) // 2
    who = made.command[made.command.index("--trusted-root") :]
    command = ["verify", "bundle", *["artifact"] * count, *names, *who, "--format", "json"]
    ran = runs.run(command, cwd=tmp_path, clock=bundles.NOW)
    results = json.loads(ran.stdout)["results"]
    assert len(results) == count > 20
    assert not ran.stderr
    passed = [n for n, r in zip(names[1::2], results, strict=True) if r["verdict"] == "verified"]
    assert not passed
    assert all(result["verdict"] for result in results), "an error, or a fault of ours"
