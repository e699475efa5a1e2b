"""Rules P, and the scan: what is found, what is not, and that no secret is ever printed."""

import json
import re
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import receipts

from verifier.checks.receipt.answer import Answer, Broken, Holds, Uncheckable
from verifier.checks.receipt.rules import RULES
from verifier.checks.receipt.rules.applies import DOES_NOT_APPLY
from verifier.checks.receipt.scan import loose
from verifier.checks.receipt.scan.redaction import PLACEHOLDER, found, measured
from verifier.checks.receipt.scan.secrets import Scan

Json = dict[str, Any]


def begin(kind: str) -> str:
    """Return the first line of a key file, put together so that no file holds one."""
    return f"-----{'BEGIN'} {kind}-----"


def made_up(alphabet: str, length: int) -> str:
    """Return text that looks random and is the same each time; no scanner need know this file."""
    return "".join(alphabet[(n * n * 7 + n * 3 + 5) % len(alphabet)] for n in range(length))


LETTERS: Final = "Qw7eR2tY9uI4oP1aS6dF3gH8jK5lZ0xC"
RANDOM: Final = made_up(LETTERS, 40)

SECRETS: Final[list[tuple[str, str]]] = [
    *(
        ("credential", text)
        for text in (
            f"ghp_{made_up(LETTERS, 36)}",
            f"github_pat_{made_up(LETTERS, 40)}",
            f"glpat-{made_up(LETTERS, 20)}",
            f"hf_{made_up(LETTERS, 34)}",
            f"sk-proj-{made_up(LETTERS, 48)}",
            f"sk-ant-api03-{made_up(LETTERS, 40)}",
            f"nvapi-{made_up(LETTERS, 64)}",
            "AKIA" + made_up("QWERTYUIOP234567", 16),
            "AIza" + made_up(LETTERS, 35),
            f"xoxb-{made_up('1234567890', 12)}-{made_up(LETTERS, 24)}",
            f"sk_live_{made_up(LETTERS, 24)}",
            f"npm_{made_up(LETTERS, 36)}",
            f"pypi-AgEIcHlwaS5vcmc{made_up(LETTERS, 60)}",
            f"dckr_pat_{made_up(LETTERS, 27)}",
            f"tskey-auth-{made_up(LETTERS, 20)}",
            f"hvs.{made_up(LETTERS, 30)}",
            f"eyJ{made_up(LETTERS, 20)}.eyJ{made_up(LETTERS, 40)}.{made_up(LETTERS, 40)}",
            "AGE-SECRET-KEY-1" + made_up("QPZRY9X8GF2TVDW0", 58),
            begin("OPENSSH PRIVATE KEY"),
            begin("PRIVATE KEY"),
            begin("PGP PRIVATE KEY BLOCK"),
            f"Authorization: Bearer {RANDOM}",
            f"curl -H 'authorization: Basic {made_up(LETTERS, 24)}=='",
            f"https://bob:{made_up(LETTERS, 12)}@github.com/a/b",
            f"HF_TOKEN={RANDOM}",
            f"--api-key {RANDOM} --port 8000",
            f'"client_secret": "{RANDOM}"',
            "password = hunter2-Bravo",
            "WANDB_API_KEY=" + made_up("0123456789abcdef", 40),
        )
    ),
    *(
        ("host name", text)
        for text in (
            "http://spark1:8000/v1",
            "served at spark-3f2a.local",
            "registry.build.corp:5000/vllm",
            "gpu7.lab.acme-widgets.com",
            "box.tail1234.ts.net",
            "DESKTOP-AB12CD3",
            "Annas-MacBook-Pro",
            "ip-10-0-3-17",
            "anna@spark1:~/runs",
            "dgx-spark-02",
            "http://203.0.113.7:8000",
        )
    ),
    *(
        ("private address", text)
        for text in (
            "10.0.0.12",
            "192.168.001.004",
            "MASTER_ADDR=10.0.0.12",
            "http://192.168.1.7:8000/v1",
            "bind 172.31.4.5",
            "169.254.3.4",
            "100.101.102.103",
            "fd7a:115c:a1e0::1",
            "fe80::1ff:fe23:4567:890a",
        )
    ),
    *(
        ("home path", text)
        for text in (
            "/home/anna/models",
            "/Users/anna/x.json",
            r"C:\Users\anna\x",
            "/root/.cache",
            "PATH=/usr/bin:/home/anna/bin",
            "//home//anna",
            "file:///home/anna/a",
            "--model=/home/anna/m",
        )
    ),
    ("e-mail address", "anna@acme-widgets.com"),
    *(
        ("invisible character", text)
        for text in ("a\u202eb is text", "no\u200bthing", "x\ufeff here", "text\u2066", "a\u200d b")
    ),
]

#: What receipts are full of, and what is no secret.
INNOCENT: Final = [
    "4a" * 20,
    "0f" * 32,
    f"sha256:{'0f' * 32}",
    f"vllm/vllm-openai@sha256:{'ab' * 32}",
    f"ghcr.io/acme/serving@sha256:{'ab' * 32}",
    "https://github.com/MiaAI-Lab/GLM-5.3-Flash-EXL3-2x-DGX-Sparks/pull/171",
    "https://huggingface.co/deepseek-ai/DeepSeek-V3.2",
    "git@github.com:acme/x.git",
    "https://models.test/target",
    "http://localhost:8000/v1",
    "http://HEAD_NODE_IP:8888/v1/models",
    "http://${HOST}:8000/v1",
    "0.11.0rc2.dev145+g4a4a4a4a4",
    "580.95.05",
    "nvidia-curand-cu12==10.3.5.147",
    "driver version 10.2.0.1",
    "8K",
    "8,194 tokens",
    "2 x DGX Spark",
    "two GB10",
    "DGX-2",
    "GLM-5.3-Flash",
    "vllm/v1/core/sched/scheduler.py",
    "tokenizer: deepseek-ai/DeepSeek-V3.2",
    "max_tokens=8192",
    "promptTokens: 8194",
    "HF_TOKEN",
    "token read from $HF_TOKEN",
    "api_key=${OPENAI_API_KEY}",
    "--api-key EMPTY",
    "password: <redacted>",
    "secret=/run/secrets/hf",
    "`persist-credentials: false`.",
    "auth_env GRILL_API_KEY",
    "the first token falls by a quarter at 8,194 tokens",
    "time to first token: lower is better",
    "2026-11-20T08:10:00Z",
    "fd12:34",
    "https://example.com/home/anna",
    "/home/$USER/x",
    "client monotonic, with API and network",
    "https://arxiv.org/abs/2401.00001",
    "import verifier.checks.receipt",
    "torch.nn.functional",
    "a@b",
    "100 % of 10.5",
    "10.0.0",
    PLACEHOLDER,
]


def scanned(value: Any) -> Scan:
    scan = Scan()
    scan.document(value)
    return scan


@pytest.mark.parametrize(("kind", "text"), SECRETS)
def test_found_in_values_keys_and_text_and_never_printed(kind: str, text: str) -> None:
    as_text = Scan()
    as_text.text(f"first line\n{text}\n")
    for scan, where in (
        (scanned({"arms": [{"settings": {"LABEL": text}}]}), "arms[0].settings.LABEL"),
        (scanned({"arms": {text: 1}}), f"arms.<key of {len(text)} characters>"),
        (as_text, "line 2"),
    ):
        if scan is as_text and text == "dgx-spark-02":
            continue  # only a whole key or value is told from words
        assert kind in {hit.kind for hit in scan.hits}, scan.hits
        assert {hit.where for hit in scan.hits} == {where}
        assert all(0 < hit.length <= len(text) for hit in scan.hits)
        assert text not in str(scan.hits)
        assert RANDOM[:12] not in str(scan.hits)


@pytest.mark.parametrize("text", INNOCENT)
def test_not_found(text: str) -> None:
    scan = scanned({"arms": [{"settings": {"LABEL": text}}], text: [text]})
    scan.text(text)
    assert scan.hits == []


#: A key says what its value is.
KEYED: Final = [
    ("prompt or output", {"contentPreview": "Sure, here is"}),
    ("prompt or output", {"prompt": "Write a poem"}),
    ("prompt or output", {"prompts": ["Write a poem"]}),
    ("prompt or output", {"messages": [{"role": "user", "content": "Hello there"}]}),
    ("prompt or output", {"response_text": "Paris"}),
    ("host name", {"host": "anvil"}),
    ("host name", {"machine_info": {"node": "anvil"}}),
    ("host name", {"hosts": ["anvil"]}),
    ("credential", {"password": "hunter2-Bravo"}),
    ("credential", {"admin_password": "swordfish"}),
    ("credential", {"env": {"HF_TOKEN": RANDOM}}),
    ("credential", {"clientSecret": RANDOM}),
    ("credential", {"env": [{"name": "HF_TOKEN", "value": RANDOM}]}),
    ("credential", {"argv": ["serve", "--api-key", RANDOM, "--port", "8000"]}),
    ("no number", {"rate": float("nan")}),
]


@pytest.mark.parametrize(("kind", "value"), KEYED)
def test_found_by_its_key(kind: str, value: Json) -> None:
    scan = scanned(loose.read(json.dumps(value)))
    assert [hit.kind for hit in scan.hits] == [kind]


@pytest.mark.parametrize(
    "value",
    [
        {"response": receipts.digest("x"), "outputs": receipts.digest("y")},
        {"host": "localhost"},
        {"auth_env": "GRILL_API_KEY", "api_key": "VLLM_API_KEY"},
        {"token": "the"},
        {"name": "total_tokens", "value": "8194"},
        {"argv": ["serve", "--api-key", "VLLM_API_KEY", "--tokenizer", "GLM-5.3-Flash"]},
        {"password": "", "admin_password": "redacted", "PASSWORD": "$SECRET"},
        {"tokens": "8194", "totalTokens": 8194},
        {"prompt": None, "output": ""},
        {"nvidia-curand-cu12": "10.3.5.147", "driverVersion": "10.1.2.3"},
        {"secretSha256": "0f" * 32},
    ],
)
def test_not_found_by_its_key(value: Json) -> None:
    assert scanned(value).hits == []


def test_both_values_of_a_key_given_twice_are_seen() -> None:
    scan = scanned(loose.read(f'{{"a": "x", "a": "ghp_{RANDOM}", "a": "y"}}'))
    assert sorted(hit.kind for hit in scan.hits) == [
        "credential",
        "key given twice",
        "key given twice",
    ]


def test_a_secret_that_hides_behind_invisible_characters_is_found() -> None:
    for token in (
        f"gh\u200bp_{RANDOM}",
        f"ghp_{RANDOM[:9]}\u2060{RANDOM[9:]}",
        f"\uff47\uff48\uff50_{RANDOM}",
    ):
        assert "credential" in {hit.kind for hit in scanned([token]).hits}


def test_many_of_one_kind_hide_no_other() -> None:
    scan = scanned([*(f"10.0.{n // 200}.{n % 200}" for n in range(5000)), f"ghp_{RANDOM}"])
    assert scan.hits[-1].kind == "credential"
    assert scan.counted["private address"] == 5000
    assert len(scan.hits) < 1000


HOSTILE: Final = [
    text * (200_000 // len(text))
    for text in (
        *("a", "a.", "a-", "://", "token", "password ", "1:", "fd00:", "-----BEGIN ", "@", "a@"),
        *("eyJ", "eyJaaaaaaaa.", "\u200b", "/home/", "10.0.0.1", "a=", "--token-", "'", "DESKTOP-"),
    )
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
def test_no_text_is_slow(text: str) -> None:
    """Every pattern is linear in its text; a quadratic one would not come to an end here."""
    scanned([text])


@given(st.text())
def test_any_text_can_be_scanned(text: str) -> None:
    scanned({text: text}).text(text)


# ── the rules ──────────────────────────────────────────────────────────────────────────────────


def code(rule: str, answer: Answer) -> str:
    assert isinstance(answer, Broken), answer
    return next(each for each in RULES if each.id == rule).code(answer.condition)


def changed(changes: dict[str, Any]) -> Json:
    document = receipts.sound()
    for path, value in changes.items():
        receipts.change(document, path, value)
    return document


ORIGINAL: Final = {
    "name": "receipt before it was redacted",
    "digest": receipts.digest("original"),
    "bytes": 4096,
    "published": False,
}
REDACTED: Final = {
    "environment.hardware": PLACEHOLDER,
    "sanitisation.redactedFields": ["environment.hardware"],
}
BROKEN: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("P1", "receipt-p1-credentials", {"arms.0.settings.KEY": f"ghp_{RANDOM}"}),
    ("P1", "receipt-p1-credentials", {"claims.0.text": f"with Authorization: Bearer {RANDOM}"}),
    ("P1", "receipt-p1-credentials", {"samples.39.case": f"ghp_{RANDOM}"}),
    ("P1", "receipt-p1-credentials", {"samples.39.values": {f"ghp_{RANDOM}": 1}}),
    ("P1", "receipt-p1-credentials", {"samples.39.checks.0.id": f"ghp_{RANDOM}"}),
    ("P2", "receipt-p2-hosts", {"environment.hardware": "two GB10 at 192.168.7.2"}),
    ("P2", "receipt-p2-hosts", {"scope.measured": {"spark-1f2e": "yes"}}),  # a key
    ("P2", "receipt-p2-hosts", {"arms.0.settings./home/anna/model": "1"}),  # a key
    ("P2", "receipt-p2-hosts", {"reporter": "anna@acme-widgets.com"}),
    ("P2", "receipt-p2-hosts", {"samples.9.response.name": "/home/anna/response.bin"}),
    ("P3", "receipt-p3-prompts", {"arms.0.settings.PROMPT": "Write a poem"}),
    ("P4", "receipt-p4-original", REDACTED),
    ("P4", "receipt-p4-original", {**REDACTED, "summarises": {**ORIGINAL, "bytes": None}}),
    (
        "P4",
        "receipt-p4-original",
        {**REDACTED, "summarises": {**ORIGINAL, "digest": {"sha256": "abc"}}},
    ),
    ("P5", "receipt-p5-whole-fields", {"sanitisation.valuesAltered": True}),
    ("P5", "receipt-p5-whole-fields", {"environment.hardware": PLACEHOLDER}),  # not listed
    ("P5", "receipt-p5-whole-fields", {"sanitisation.redactedFields": ["derived[0].value"]}),
    ("P5", "receipt-p5-whole-fields", {"sanitisation.redactedFields": ["samples[3].timingUs"]}),
    ("P5", "receipt-p5-whole-fields", {"sanitisation.redactedFields": ["arms[0].counts.failed"]}),
    ("P5", "receipt-p5-whole-fields", {"sanitisation.redactedFields": ["environment.driver"]}),
    ("P6", "receipt-p6-characters", {"claims.0.text": "faster \u202e%52 yb"}),
    ("P6", "receipt-p6-characters", {"arms.0.settings.FI\u200bNE": "1"}),
]


@pytest.mark.parametrize(("rule", "expected", "changes"), BROKEN)
def test_broken(rule: str, expected: str, changes: dict[str, Any]) -> None:
    answer = receipts.answer(rule, changed(changes))
    assert code(rule, answer) == expected
    assert RANDOM not in str(answer)


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("P1", {"arms.0.settings.KEY": "VLLM_API_KEY"}),
        ("P4", {**REDACTED, "summarises": ORIGINAL}),
        ("P5", {**REDACTED, "summarises": ORIGINAL}),
        ("P5", {"sanitisation.redactedFields": ["environment.notes"]}),  # taken away
    ],
)
def test_must_not_fire(rule: str, changes: dict[str, Any]) -> None:
    assert isinstance(receipts.answer(rule, changed(changes)), Holds)


def test_the_subjects_of_the_statement_are_looked_at() -> None:
    document = receipts.sound()
    document["subject"].append({"name": "spark-3f2a.local", "digest": receipts.digest("x")})
    answer = receipts.answer("P2", document)
    assert code("P2", answer) == "receipt-p2-hosts"
    assert "spark-3f2a" not in str(answer)


def test_a_credential_behind_a_thousand_hosts_is_told() -> None:
    document = receipts.sound()
    settings = {f"K{n}": f"10.0.{n // 200}.{n % 200}" for n in range(1000)}
    receipts.change(document, "arms.0.settings", {**settings, "Z": f"ghp_{RANDOM}"})
    assert code("P1", receipts.answer("P1", document)) == "receipt-p1-credentials"


LATER: Final[list[tuple[Json, str]]] = [
    ({"response": {**receipts.digest("x"), "name": "/home/anna/r.bin"}}, "home path"),
    ({"request": {**receipts.digest("x"), "name": "spark-3f2a.local"}}, "host name"),
    ({"epoch": {**receipts.digest("x"), "name": "10.1.2.3"}}, "private address"),
    ({"response": {"sha256": f"ghp_{RANDOM}", "name": "r.bin"}}, "credential"),
    ({"values": {"wall": "1.5", "password": "271828"}}, "credential"),
    ({"values": {"wall": "10.1.2.3", "password": None}}, "private address"),
    ({"values": {"wall": "1.5", "ten.1.local": None, "password": None}}, "host name"),
    ({"case": "anna@mail.somewhere.com"}, "e-mail address"),
    ({"finishReason": f"ghp_{RANDOM}"}, "credential"),
    ({"checks": [{"id": f"ghp_{RANDOM}", "passed": True}]}, "credential"),
]


@pytest.mark.parametrize(("spoiled", "kind"), LATER)
def test_what_a_later_row_has_of_its_own_is_found(spoiled: Json, kind: str) -> None:
    """Rows like one that was looked at are not looked at again, but for what is their own."""
    plain = {
        **receipts.samples()[1],
        "values": {"wall": "1.5", "password": None},
        "request": {**receipts.digest("x"), "name": "q.bin"},
    }
    scan = Scan()
    rows = [dict(plain), {**plain, "values": {"wall": "2.5", "password": None}}]
    assert len(list(scan.rows([*rows, {**plain, **spoiled}]))) == 3
    assert [hit.kind for hit in scan.hits] == [kind]
    assert scan.hits[0].where.startswith("samples[2].")


@pytest.mark.parametrize("rule", ["P4", "P5"])
def test_uncheckable(rule: str) -> None:
    assert isinstance(receipts.answer(rule, changed({"sanitisation": ...})), Uncheckable)


def test_sanitising_is_asked_of_every_kind() -> None:
    for excluded in DOES_NOT_APPLY.values():
        assert not [rule for rule in excluded if rule.startswith("P")]


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("samples[3].usage", True),
        ("derived[0].clock", True),
        ("arms[1].startedAt", True),
        ("arms[1].id", True),
        ("outcomes[0].observed", True),
        ("claims[0].margin", True),
        ("claims[0].text", False),
        ("arms[1].settings.HOST", False),
        ("arms[1].reason", False),
        ("environment.hardware", False),
        ("evidence[0].name", False),
        ("evidence[0].digest.sha256", True),
    ],
)
def test_what_is_measured(path: str, answer: bool) -> None:
    assert measured(path) is answer


def test_paths_with_points_in_their_keys_are_found() -> None:
    document = {"a.b": {"c": [1, {"d.e": 2}]}, "a": {"b": 3}}
    assert found(document, "a.b.c[1].d.e") == 2
    assert found(document, "a.b.c[7]") is None
    assert found(document, "x") is None
    assert re.fullmatch(r"\[redacted\]", PLACEHOLDER)
