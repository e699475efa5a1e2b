"""Receipts of what other programs measured, and all that no receipt is made of."""

import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support import grill

from verifier.actions.import_receipt import import_receipt
from verifier.ask import verify_receipt
from verifier.checks.receipt.adapters.hyperfine import hyperfine
from verifier.core.errors import PinproofError
from verifier.core.outcome import Result


def fingerprint(folder: Path) -> str:
    """Compute it as the program does, from the files alone."""

    def pin(name: str) -> str:
        return grill.digest((folder / name).read_bytes())

    history = sha256(
        f"{pin('session-000000/session.json')}settled\0{pin('session-000000/run.json')}"
        "root-present\0".encode()
    ).hexdigest()
    text = f"grill-perf-evidence-v1\0{pin('plan.json')}{pin('workload.json')}"
    for wave in ("wave-000000", "wave-000001"):
        text += f"{pin(f'{wave}/reservation.json')}published\0{pin(f'{wave}/wave.json')}"
    return grill.digest(f"{text}not_started\0{history}".encode())


def test_a_run_becomes_a_receipt_whose_gaps_are_uncheckable(tmp_path: Path) -> None:
    folder = grill.run(tmp_path / "run")
    made = import_receipt("thegrill", str(folder), to=str(tmp_path / "receipt.json"))
    assert made.fingerprint == fingerprint(folder)
    statement = json.loads((tmp_path / "receipt.json").read_bytes())
    assert statement["subject"] == [{"name": "evidence", "digest": {"sha256": made.fingerprint}}]
    predicate = statement["predicate"]
    assert predicate["totals"] == {"core": 2, "warmup": 2}
    assert predicate["arms"][0]["counts"]["notStarted"] == 2
    assert predicate["arms"][0]["state"] == "incomplete"
    assert predicate["samples"][0]["usage"]["cachedTokens"] is None
    result = verify_receipt([str(tmp_path / "receipt.json")]).results[0]
    assert isinstance(result, Result)
    codes = {finding.code for finding in result.findings}
    assert "receipt-uncheckable-exact-head" in codes
    assert "malformed" not in codes


def test_the_workload_of_a_run_is_shown_in_both_forms(tmp_path: Path) -> None:
    folder = grill.run(tmp_path / "run")
    import_receipt("thegrill", str(folder), to=str(tmp_path / "receipt.json"))
    result = verify_receipt([str(tmp_path / "receipt.json")], evidence=str(folder)).results[0]
    assert isinstance(result, Result)
    assert result.study is not None
    answers = {rule.id: rule.answer for rule in result.study.rules}
    assert answers["B10"] == "holds"


def test_a_workload_of_a_later_version_is_not_compared_in_normal_form(tmp_path: Path) -> None:
    folder = grill.run(tmp_path / "run")

    def later(value: Any) -> None:
        value["workload"]["version"] = 4
        value["workload_sha256"] = "0" * 64
        source = grill.write(folder / "workload.json", value["workload"])
        value["source_sha256"] = grill.digest(source)

    grill.edited(folder / "plan.json", later)
    grill.chained(folder)
    import_receipt("thegrill", str(folder), to=str(tmp_path / "receipt.json"))
    result = verify_receipt([str(tmp_path / "receipt.json")], evidence=str(folder)).results[0]
    assert isinstance(result, Result)
    assert result.study is not None
    answers = {rule.id: rule for rule in result.study.rules}
    assert answers["B10"].answer == "uncheckable"
    assert "versions 1, 2, 3" in answers["B10"].detail


def test_a_receipt_is_never_written_over(tmp_path: Path) -> None:
    folder = grill.run(tmp_path / "run")
    (tmp_path / "receipt.json").write_text("mine")
    with pytest.raises(PinproofError) as error:
        import_receipt("thegrill", str(folder), to=str(tmp_path / "receipt.json"))
    assert error.value.code == "cannot-write"
    assert (tmp_path / "receipt.json").read_text() == "mine"


def test_a_wave_taken_away_with_its_summary_changes_the_fingerprint_alone(tmp_path: Path) -> None:
    folder = grill.run(tmp_path / "run")
    before = import_receipt("thegrill", str(folder), to=str(tmp_path / "a.json")).fingerprint
    shutil.rmtree(folder / "wave-000001")
    for name in ("run.json", "session-000000/run.json"):
        grill.edited(
            folder / name,
            lambda v: v.update(published_waves=1, measured_waves=0, eligible_measured_waves=0),
        )
    after = import_receipt("thegrill", str(folder), to=str(tmp_path / "b.json")).fingerprint
    assert before != after


WAVE, RESERVED = "wave-000001/wave.json", "wave-000001/reservation.json"


def remove(name: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).unlink()


def put(name: str, data: bytes) -> Callable[[Path], Any]:
    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        assert not (folder / name).exists() or (folder / name).read_bytes() != data
        (folder / name).write_bytes(data)

    return change


def edit(path: str, **values: Any) -> Callable[[Path], Any]:
    return lambda folder: grill.edited(folder / path, lambda v: v.update(values))


def edit_attempt(**values: Any) -> Callable[[Path], Any]:
    return lambda folder: grill.edited(folder / WAVE, lambda v: v["attempts"][1].update(values))


def linked(folder: Path) -> None:
    (folder / "elsewhere").write_bytes((folder / WAVE).read_bytes())
    (folder / WAVE).unlink()
    (folder / WAVE).symlink_to("../elsewhere")


def replanned(**values: Any) -> Callable[[Path], Any]:
    def change(folder: Path) -> None:
        grill.edited(folder / "plan.json", lambda v: v.update(values))
        grill.chained(folder)

    return change


def lanes(folder: Path) -> None:
    def change(value: Any) -> None:
        value["waves"][2]["lanes"] = [1]

    grill.edited(folder / "plan.json", change)
    grill.chained(folder)


def usage(folder: Path) -> None:
    def change(value: Any) -> None:
        value["attempts"][0]["usage"]["completion_tokens"] = 41

    grill.edited(folder / WAVE, change)


def session(**values: Any) -> Callable[[Path], Any]:
    def change(folder: Path) -> None:
        for name in ("run.json", "session-000000/run.json"):
            grill.edited(folder / name, lambda v: v.update(values))

    return change


SPOILED: list[tuple[Callable[[Path], Any], str]] = [
    (linked, "import-not-a-file"),
    (lambda folder: os.mkfifo(folder / "pipe"), "import-not-a-file"),
    (remove("workload.json"), "import-missing"),
    (remove("plan.json"), "import-missing"),
    (remove("wave-000001/response-0001.bin"), "import-missing"),
    (remove(RESERVED), "import-missing"),
    (lambda folder: shutil.rmtree(folder / "session-000000"), "import-missing"),
    (put("notes.txt", b"mine"), "import-extra"),
    (put("wave-000003/wave.json", b"{}"), "import-extra"),
    (put("wave-000001/response-0002.bin", b"more"), "import-extra"),
    (put("policy.json", b"{}"), "import-extra"),
    (put("wave-000001/response-0000.bin", b"data"), "import-truncated"),
    (put("wave-000001/response-0000.bin", b"data: ONE\n"), "import-contradicts"),
    (edit("workload.json", name="other"), "import-contradicts"),
    (edit("plan.json", model="other"), "import-contradicts"),
    (edit(RESERVED, request_sha256=["0" * 64, "1" * 64]), "import-contradicts"),
    (edit(RESERVED, plan_sha256="0" * 64), "import-contradicts"),
    (edit(WAVE, reservation_sha256="0" * 64), "import-contradicts"),
    (edit(WAVE, elapsed_us=1_999_999), "import-contradicts"),
    (edit(WAVE, completion_tokens=None), "import-contradicts"),
    (edit(WAVE, achieved_completion_tokens_per_second=40.1), "import-contradicts"),
    (edit(WAVE, eligible=False), "import-contradicts"),
    (edit_attempt(lane=0), "import-contradicts"),
    (edit_attempt(http_status=500), "import-contradicts"),
    (edit_attempt(dispatched=False), "import-contradicts"),
    (usage, "import-contradicts"),
    (edit("run.json", status="completed"), "import-contradicts"),
    (session(measured_waves=2), "import-contradicts"),
    (session(published_waves=1, measured_waves=0), "import-contradicts"),
    (session(published_waves=3), "import-contradicts"),
    (session(planned_waves=2), "import-contradicts"),
    (edit("session-000000/session.json", collector_sha256="0" * 64), "import-contradicts"),
    (edit("session-000000/session.json", first_wave=1), "import-contradicts"),
    (put("acquisition-failure.json", b"{}"), "import-contradicts"),
    (replanned(metric_contract=None), "import-contradicts"),
    (replanned(workload_sha256="0" * 64), "import-contradicts"),
    (replanned(version=6), "import-unsupported"),
    (lanes, "import-unsupported"),
    (put("session-000000/run.json", b" " * (5 << 20)), "import-unsupported"),
    (put(WAVE, b'{"version": 1, "version": 1}'), "malformed"),
    (put("plan.json", b"{"), "malformed"),
    (edit("plan.json", waves="none"), "malformed"),
    (edit_attempt(usage=None), "malformed"),
]


@pytest.mark.parametrize(("spoil", "code"), SPOILED)
def test_what_is_spoiled_is_refused_and_nothing_is_written(
    spoil: Callable[[Path], Any], code: str, tmp_path: Path
) -> None:
    folder = grill.run(tmp_path / "run")
    spoil(folder)
    with pytest.raises(PinproofError) as error:
        import_receipt("thegrill", str(folder), to=str(tmp_path / "receipt.json"))
    assert error.value.code == code
    assert not (tmp_path / "receipt.json").exists()


def export(**changes: Any) -> bytes:
    result = {
        "command": "program",
        "mean": 0.2,
        "median": 0.2,
        "min": 0.1,
        "max": 0.3,
        "times": [0.1, 0.3],
        "exit_codes": [0, 0],
        "parameters": {"size": "4"},
        **changes,
    }
    return json.dumps({"results": [result]}).encode()


@pytest.mark.parametrize("renamed", [False, True])
def test_both_versions_of_hyperfine_become_the_same(renamed: bool, tmp_path: Path) -> None:
    data = export()
    if renamed:
        document = {"schema_version": 2, "measurements": json.loads(data)["results"]}
        data = json.dumps(document).encode()
    (tmp_path / "times.json").write_bytes(data)
    import_receipt("hyperfine", str(tmp_path / "times.json"), to=str(tmp_path / "receipt.json"))
    result = verify_receipt([str(tmp_path / "receipt.json")]).results[0]
    assert isinstance(result, Result)
    assert result.study is not None
    study = result.study
    assert [(figure.value, figure.state) for figure in study.figures] == [("200000", "recomputed")]


def test_a_failed_run_is_no_time() -> None:
    made = hyperfine(export(exit_codes=[0, 1]), what="times.json")
    assert [row["status"] for row in made.predicate["samples"]] == ["complete", "failed"]
    assert made.predicate["derived"] == []


def test_seconds_become_microseconds_without_loss() -> None:
    data = export(mean=None, median=None, min=None, max=None).replace(
        b"[0.1, 0.3]", b"[0.1000000001, 2.999999999e-1]"
    )
    values = [row["values"]["wall"] for row in hyperfine(data, what="t").predicate["samples"]]
    assert values == ["100000.0001", "299999.9999"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (export(mean=0.21), "import-contradicts"),
        (export(median=0.1), "import-contradicts"),
        (export(min=0.05), "import-contradicts"),
        (export(max="0.3"), "import-contradicts"),
        (b'{"schema_version": 3, "measurements": []}', "import-unsupported"),
        (b'{"results": []}', "malformed"),
        (export(times=None), "malformed"),
        (export(times=[-0.1, 0.3]), "malformed"),
        (export(times=[True, 0.3]), "malformed"),
        (export(exit_codes=[0]), "malformed"),
        (export(exit_codes=[0, -1]), "malformed"),
        (export(command=3), "malformed"),
        (export(parameters={"size": 4}), "malformed"),
        (export().replace(b"0.3]", b"1e-999999999]"), "malformed"),
        (export().replace(b"0.3]", b"NaN]"), "malformed"),
        (b"[]", "malformed"),
    ],
)
def test_what_is_no_export_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(PinproofError) as error:
        hyperfine(data, what="times.json")
    assert error.value.code == code
