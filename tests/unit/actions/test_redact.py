"""Redacting: nothing measured is altered, what cannot be published is refused, nothing leaks."""

import copy
import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
from support import receipts, runs

from verifier.actions.redact import redact
from verifier.ask.scan import scan_receipts
from verifier.checks.receipt.answer import Holds
from verifier.checks.receipt.document.reading import PREDICATE
from verifier.checks.receipt.scan.redaction import PLACEHOLDER
from verifier.core.errors import PinproofError, UnavailableError, WrongCallError
from verifier.core.table import MalformedError
from verifier.core.verdict import Exit

Json = dict[str, Any]
#: What a sound receipt may hold in many places and must not publish.
SPOILT: Final = {
    "environment.hardware": "two GB10 at 192.168.7.2",
    "arms.0.settings.spark-3f2a.local": "head",
    "arms.1.settings.ADMIN_PASSWORD": "hunter2-Bravo",
    "claims.0.text": "as anna@acme-widgets.com says",
    "scope.notClaimed": ["contexts above /home/anna/long", "several requests at once"],
    "evidence.0.name": "/home/anna/capture.tar",
}
FIELDS: Final = (
    "arms[0].settings.<key of 16 characters>",
    "arms[1].settings.ADMIN_PASSWORD",
    "claims[0].text",
    "environment.hardware",
    "evidence[0].name",
    "scope.notClaimed",
)
MEASURED: Final = ("samples", "derived", "outcomes", "totals", "sampleCount", "gates", "design")


def spoilt(**changes: Any) -> Json:
    document = receipts.sound()
    for path, value in (changes or SPOILT).items():
        *above, last = path.replace("__", ".").split(".", 3 if path.startswith("arms") else -1)
        place: Any = document["predicate"]
        for name in above:
            place = place[int(name)] if isinstance(place, list) else place[name]
        place[int(last) if isinstance(place, list) else last] = copy.deepcopy(value)
    assert document != receipts.sound(), "nothing was changed"
    return document


def written(document: Json, folder: Path) -> Path:
    path = folder / "study.json"
    path.write_text(json.dumps(document))
    return path


def made(document: Json, folder: Path, *fields: str) -> Json:
    path = written(document, folder)
    redact(str(path), to=str(folder / "public.json"), fields=fields)
    read: Json = json.loads((folder / "public.json").read_text())
    return read


def test_everything_that_the_scan_finds_is_gone(tmp_path: Path) -> None:
    document = spoilt()
    public = made(document, tmp_path)
    data = (tmp_path / "study.json").read_bytes()
    after = public["predicate"]
    assert tuple(after["sanitisation"]["redactedFields"]) == FIELDS
    assert after["sanitisation"]["valuesAltered"] is False
    assert after["summarises"]["digest"]["sha256"] == sha256(data).hexdigest()
    assert after["summarises"]["bytes"] == len(data)
    assert after["environment"]["hardware"] == PLACEHOLDER
    assert after["scope"]["notClaimed"] == [PLACEHOLDER]
    assert "spark-3f2a.local" not in after["arms"][0]["settings"]
    assert scan_receipts([str(tmp_path / "public.json")]).exit == Exit.OK
    text = (tmp_path / "public.json").read_text()
    for secret in ("192.168", "spark-3f2a", "hunter2", "anna", "acme"):
        assert secret not in text


def test_nothing_else_is_altered(tmp_path: Path) -> None:
    document = spoilt()
    public = made(document, tmp_path)
    before, after = document["predicate"], public["predicate"]
    for name in MEASURED:
        assert json.dumps(after[name]) == json.dumps(before[name])
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {
        *("environment", "arms", "claims", "scope", "evidence", "sanitisation", "receiptId")
    }
    assert public["subject"] == document["subject"]


@pytest.mark.parametrize("rule", [f"P{n}" for n in range(1, 7)])
def test_the_rules_of_sanitising_hold_of_the_result(rule: str, tmp_path: Path) -> None:
    assert isinstance(receipts.answer(rule, made(spoilt(), tmp_path)), Holds)


def test_fields_that_are_named(tmp_path: Path) -> None:
    fields = ("environment.hardware", "predicate.arms[2].settings.DEPTH", "environment.driver")
    after = made(receipts.sound(), tmp_path, *fields)["predicate"]
    assert after["environment"]["hardware"] == after["environment"]["driver"] == PLACEHOLDER
    assert after["arms"][2]["settings"]["DEPTH"] == PLACEHOLDER
    assert "arms[2].settings.DEPTH" in after["sanitisation"]["redactedFields"]


def test_redacted_twice_lists_both_and_pins_the_last(tmp_path: Path) -> None:
    made(receipts.sound(), tmp_path, "environment.driver")
    first = tmp_path / "public.json"
    redact(str(first), to=str(tmp_path / "again.json"), fields=["reporter"])
    after = json.loads((tmp_path / "again.json").read_text())["predicate"]
    assert after["sanitisation"]["redactedFields"] == ["environment.driver", "reporter"]
    assert after["summarises"]["digest"]["sha256"] == sha256(first.read_bytes()).hexdigest()


@pytest.mark.parametrize("bundled", [False, True])
def test_an_envelope_is_opened_and_its_signatures_are_not_kept(
    tmp_path: Path, *, bundled: bool
) -> None:
    envelope: Json = {
        "payloadType": "application/vnd.in-toto+json",
        "payload": b64encode(json.dumps(spoilt()).encode()).decode(),
        "signatures": [{"keyid": "", "sig": "AAAA"}],
    }
    whole = {"mediaType": "x", "dsseEnvelope": envelope} if bundled else envelope
    public = made(whole, tmp_path)
    assert public["_type"] == "https://in-toto.io/Statement/v1"
    data = (tmp_path / "study.json").read_bytes()
    assert public["predicate"]["summarises"]["digest"]["sha256"] == sha256(data).hexdigest()
    assert "signatures" not in public


REFUSED: Final[list[tuple[Json, tuple[str, ...], str]]] = [
    (receipts.sound(), (), "nothing is found"),
    (receipts.sound(), ("environment.nothing",), "there is no field"),
    *(
        (receipts.sound(), (path,), "was measured")
        for path in (
            *("derived[0].value", "samples[3].usage", "samples", "totals.core", "sampleCount"),
            *("arms[0].counts", "arms[0].restarts", "arms[0].startedAt", "arms[0]", "arms"),
            *("outcomes[0].observed", "claims[0].figures", "runtime.dirtyTree", "runtime"),
            *("collector.executable", "arms[0].id", "verdictAt", "sanitisation", "gates.planned"),
        )
    ),
    (receipts.sound(), ("scope.notClaimed[0]",), "part of a list"),
    (receipts.sound(), ("collector.name", "models[0].uri", "kind"), "was measured"),
    (spoilt(), ("environment.hardware",), "still holds a"),
    (spoilt(samples__3__case="spark-3f2a.local"), (), "was measured"),
    (spoilt(arms__0__id="spark-3f2a.local"), (), "was measured"),
]


@pytest.mark.parametrize(("document", "fields", "why"), REFUSED)
def test_refused_and_nothing_is_written(
    document: Json, fields: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    path = written(document, tmp_path)
    with pytest.raises(WrongCallError) as caught:
        redact(str(path), to=str(tmp_path / "public.json"), fields=fields)
    assert why in caught.value.message
    assert "spark-3f2a" not in caught.value.message
    assert "192.168" not in caught.value.message
    assert "nothing was written" in caught.value.remedy
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"no JSON",
        b'{"predicateType": "urn:other", "predicate": {}}',
        b'{"predicateType": "%s", "predicate": []}' % PREDICATE.encode(),
        b'{"predicateType": "%s", "predicate": {}, "subject": [1]}' % PREDICATE.encode(),
        b'{"payload": "!", "payloadType": "x", "signatures": []}',
        b'{"a": 1, "a": 2}',
    ],
)
def test_what_is_no_receipt_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(data)
    with pytest.raises(MalformedError):
        redact(str(path), to=str(tmp_path / "public.json"))
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_mistake_that_quotes_a_secret_is_withheld(tmp_path: Path) -> None:
    document = receipts.sound()
    document["predicate"]["kind"] = "hunter anna@acme-widgets.com"
    document["predicate"]["/home/anna/x"] = 1
    with pytest.raises(MalformedError) as caught:
        redact(str(written(document, tmp_path)), to=str(tmp_path / "public.json"))
    assert "anna" not in caught.value.message
    assert "withheld" in caught.value.message


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = written(spoilt(), tmp_path)
    before = path.read_bytes()
    with pytest.raises(UnavailableError):
        redact(str(path), to=str(path))
    with pytest.raises(PinproofError):
        redact(str(tmp_path / "gone.json"), to=str(tmp_path / "public.json"))
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_verb_says_what_it_did(tmp_path: Path) -> None:
    written(spoilt(), tmp_path)
    ran = runs.run(["redact", "study.json", "--to", "public.json"], cwd=tmp_path)
    assert ran.exit == 0, ran
    told = ran.stdout.decode()
    assert told.startswith("redacted   public.json: 6 fields")
    assert all(path in told for path in FIELDS)
    assert "anna" not in told
    assert runs.run(["scan", "receipt", "public.json"], cwd=tmp_path).exit == 0
    assert runs.run(["scan", "receipt", "study.json"], cwd=tmp_path).exit == 1
    assert runs.run(["redact", "study.json", "--to", "public.json"], cwd=tmp_path).exit == 4
